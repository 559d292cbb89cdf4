"""A process that ingests files: jobs as JSON lines on stdin, events as JSON lines on stdout.

A process of its own, because parsing inside the server would hold requests up (GIL), and not one
of multiprocessing, which would import TensorBoard again in every worker. It ends when its stdin
does, so it never outlives the server.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import duckdb
import msgspec

from tb_npu_plugin.backend.ingest import Job, ingest

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
                done = ingest(job, lambda table: send(event="early", table=table), watch)
                send(event="done", result=done)
            except Exception as error:  # the cache itself failed: report, stay alive
                send(event="failed", error=f"{type(error).__name__}: {error}")


@contextmanager
def _watcher(
    send: Callable[..., None],
) -> Iterator[Callable[[duckdb.DuckDBPyConnection], None]]:
    """A function that, given a connection, reports its progress until the block ends."""
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def poll(con: duckdb.DuckDBPyConnection) -> None:
        while not stop.wait(PROGRESS_SECONDS):
            with suppress(duckdb.Error):  # closed meanwhile
                percent = con.query_progress()
                if percent is not None and percent >= 0:
                    send(event="progress", progress=round(percent / 100, 3))

    def watch(con: duckdb.DuckDBPyConnection) -> None:
        threads.append(threading.Thread(target=poll, args=(con,), daemon=True))
        threads[-1].start()

    try:
        yield watch
    finally:
        stop.set()
        for thread in threads:
            thread.join()

