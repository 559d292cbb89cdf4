"""Where captures are read: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tb_npu_plugin import __version__
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.ingest_capture import ENDING
from tb_npu_plugin.backend.shared_store import EXTRA

#: A cluster is given so long to answer, and to have its first worker.
CONNECT_SECONDS = 30
#: A process that is told to end has so long to leave through the blocks that tidy up.
_TIDY_SECONDS = 2.0
_END_SECONDS = 5


@dataclass(frozen=True)
class Workers:
    """``executor(count)`` starts executors, of ``count`` processes where they are ours; ``flight``
    captures are given out at a time. ``stop`` ends what an executor runs."""

    executor: Callable[[int], Executor]
    count: int
    flight: int
    stop: Callable[[Executor], None] = lambda executor: executor.shutdown(wait=False)


@contextmanager
def processes(count: int) -> Iterator[Workers]:
    """``count`` processes of this machine. They end with the block, or with this process."""
    context = multiprocessing.get_context("spawn")  # a fork would copy the database's threads

    def executor(count: int) -> Executor:
        return ProcessPoolExecutor(count, mp_context=context, initializer=_serve)

    # As many as there are processes: of a process that dies it is known what it may have read.
    yield Workers(executor, count, count, _end_children)


def _serve() -> None:
    """In a process of the pool: leave interrupts to the parent, and end when it does."""

    def end(*_: object) -> None:
        ENDING.set()
        # The pool takes the exit for the task's result and waits for the next one.
        hard = threading.Timer(_TIDY_SECONDS, os._exit, [128 + signal.SIGTERM])
        hard.daemon = True
        hard.start()
        sys.exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, end)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, daemon=True).start()


def _end_children(executor: Executor) -> None:
    children = multiprocessing.active_children()
    for child in children:
        child.terminate()
    for child in children:
        child.join(_END_SECONDS)
        if child.is_alive():
            child.kill()
    executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def cluster(address: str) -> Iterator[Workers]:
    """The workers of a Dask scheduler. Raises RequestError where they cannot be used."""
    try:
        from distributed import Client
        from distributed.comm import resolve_address
    except ImportError:
        raise RequestError(400, "no-dask", "--dask needs Dask, which is not installed.",
                           EXTRA) from None  # fmt: skip
    try:
        resolve_address(address)  # a client of a strange one ends no sooner than after a minute
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RequestError(502, "no-scheduler", f"No Dask scheduler answers at {address}: {error}",
                           "Start one: dask scheduler; then on each machine: "
                           f"dask worker {address} --nthreads 1 --nworkers N") from error  # fmt: skip
    with client:
        _check(client, address)
        count = sum(client.nthreads().values())
        # Results are outcomes, not values: nothing may answer a second try from the first.
        yield Workers(lambda _: client.get_executor(pure=False), count, sys.maxsize)


def _check(client: Any, address: str) -> None:
    """Workers must be there, and have this version."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        found = client.run(_version)
    except (TimeoutError, asyncio.TimeoutError):
        raise RequestError(502, "no-workers", f"The scheduler at {address} has no workers.",
                           f"On each machine: dask worker {address} --nthreads 1 --nworkers N"
                           ) from None  # fmt: skip
    except Exception as error:  # the function cannot even be imported there
        raise RequestError(502, "bad-workers", f"The workers of {address} cannot read captures: "
                           f"{error}", f"On each of them: {EXTRA}") from error  # fmt: skip
    other = {worker: version for worker, version in found.items() if version != __version__}
    if other:
        worker, version = next(iter(other.items()))
        raise RequestError(502, "other-version", f"{worker} has tb-npu-plugin {version}, here is "
                           f"{__version__}.", "Install one version everywhere.")  # fmt: skip


def _version() -> str:
    return __version__
