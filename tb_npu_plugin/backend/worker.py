"""A process that ingests files: jobs as JSON lines on stdin, events as JSON lines on stdout.

A process of its own, because parsing inside the server would hold requests up (GIL), and not one
of multiprocessing, which would import TensorBoard again in every worker. It ends when its stdin
does, so it never outlives the server.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import duckdb
import msgspec

from tb_npu_plugin.backend.ingest import Cancelled, Job, ingest

NICENESS = 10
PROGRESS_SECONDS = 0.25


def main() -> int:
    """Serve until stdin ends."""
    with suppress(BrokenPipeError, KeyboardInterrupt):
        _serve()
    return 0


def _serve() -> None:
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    # A job is cancelled by ending its process: leave through the blocks that tidy up. Where the
    # database turns the exit into an error of its own, leave after the job.
    told_to_end = threading.Event()

    def end(*_: object) -> None:
        told_to_end.set()
        sys.exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not mix with the events
    lock = threading.Lock()

    def send(**event: Any) -> None:
        with lock:
            out.write(msgspec.json.encode(event) + b"\n")
            out.flush()

    for line in sys.stdin.buffer:
        job = msgspec.json.decode(line, type=Job)
        with _watcher(send) as watch:
            try:
                done = ingest(
                    job,
                    lambda tables, whole: send(
                        event="early",
                        tables={table: os.fspath(path) for table, path in tables.items()},
                        whole=whole,
                    ),
                    watch.connection,
                    watch.progress,
                    told_to_end.is_set,
                )
                send(event="done", result=done)
            except Cancelled:
                return
            except Exception as error:  # the cache itself failed: report, stay alive
                send(event="failed", error=f"{type(error).__name__}: {error}")
        if told_to_end.is_set():
            return


class _Watch:
    """Reports a job's progress four times a second: what its reader tells, else its query's."""

    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._told: float | None = None

    def connection(self, con: duckdb.DuckDBPyConnection) -> None:
        """Watch the queries of ``con``."""
        self._threads.append(threading.Thread(target=self._poll, args=(con,), daemon=True))
        self._threads[-1].start()

    def progress(self, done: float) -> None:
        """What the reader tells; from now on its queries count for nothing."""
        self._told = done

    def _poll(self, con: duckdb.DuckDBPyConnection) -> None:
        while not self._stop.wait(PROGRESS_SECONDS):
            done = self._told
            if done is None:
                with suppress(duckdb.Error):  # closed meanwhile
                    percent = con.query_progress()
                    done = percent / 100 if percent is not None and percent >= 0 else None
            if done is not None:
                self._send(event="progress", progress=round(done, 3))

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


@contextmanager
def _watcher(send: Callable[..., None]) -> Iterator[_Watch]:
    """A watch that ends with the block."""
    watch = _Watch(send)
    try:
        yield watch
    finally:
        watch.close()
