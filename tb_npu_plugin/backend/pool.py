"""Worker processes that ingest files, most urgent first."""

from __future__ import annotations

import heapq
import itertools
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from tb_npu_plugin.backend.cache import Ingested
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.ingest import Job
from tb_npu_plugin.backend.process import start_worker

#: A worker without work ends after this time and gives its memory back.
IDLE_SECONDS = 5.0
#: When more jobs than this wait, one worker more helps, with small files only: many ranks are many
#: small files, of which one process reads 100 a second, and it takes little memory for them.
HELPER_FROM = 50
SMALL_BYTES = 4 << 20

Listener = Callable[[Job, dict[str, Any]], None]


class Pool:
    """``workers`` threads, each driving one worker process. ``listener`` gets every event:
    ``started``, ``progress`` (0..1), ``early`` (tables, whole), ``done`` (result: Ingested),
    ``cancelled``."""

    def __init__(
        self,
        workers: int,
        listener: Listener,
        first: subprocess.Popen[bytes] | None = None,
        *,
        helper: bool = True,
    ) -> None:
        """``first``: a worker process that was started ahead of time. ``helper``: one more may
        help with many small files."""
        self._small: list[tuple[int, int, Job]] = []
        self._big: list[tuple[int, int, Job]] = []
        self._count = itertools.count()
        self._listener = listener
        self._workers = workers
        self._helper = helper
        self._threads: list[threading.Thread] = []
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._running: dict[Job, subprocess.Popen[bytes]] = {}
        self._cancelled: set[Job] = set()
        self._closed = False
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        if first:
            self._processes.add(first)
            with self._lock:
                self._add_thread(first)

    def submit(self, job: Job, priority: int) -> None:
        """Queue ``job``; a lower ``priority`` is served first. A job may be queued again with a
        more urgent one: what is in the cache by then costs nothing."""
        with self._lock:
            waiting = self._small if job.size <= SMALL_BYTES else self._big
            heapq.heappush(waiting, (priority, next(self._count), job))
            self._arrived.notify_all()
            if len(self._threads) < self._workers and not self._closed:
                self._add_thread(None)

    def _call_helper(self) -> None:
        """Called when a job is done: the first files of a page are not held up by its start."""
        with self._lock:
            many = len(self._small) + len(self._big) > HELPER_FROM
            if self._helper and many and len(self._threads) == self._workers and not self._closed:
                self._add_thread(None)

    def _add_thread(self, process: subprocess.Popen[bytes] | None) -> None:
        number = len(self._threads)
        thread = threading.Thread(
            target=self._serve,
            args=(process, number >= self._workers),
            name=f"npu-ingest-{number}",
            daemon=True,
        )
        self._threads.append(thread)
        thread.start()

    def cancel(self, job: Job) -> None:
        """Drop a queued job, or end the process that works on it; nothing of it is kept."""
        with self._lock:
            self._cancelled.add(job)
            process = self._running.get(job)
            if process:
                process.terminate()

    def close(self) -> None:
        """End the workers; jobs that run are cut short (their entries are not published)."""
        with self._lock:
            self._closed = True
            self._arrived.notify_all()
            for process in self._processes:
                process.kill()

    def _take(self, small_only: bool, timeout: float | None) -> Job | None:
        """The most urgent job, off the list; None after ``timeout`` or when the pool is closed."""

        waiting = (self._small,) if small_only else (self._small, self._big)
        with self._lock:
            self._arrived.wait_for(lambda: self._closed or any(waiting), timeout)
            there = [] if self._closed else [heap for heap in waiting if heap]
            return heapq.heappop(min(there))[2] if there else None

    def _serve(self, process: subprocess.Popen[bytes] | None, small_only: bool) -> None:
        while not self._closed:
            job = self._take(small_only, IDLE_SECONDS if process else None)
            if job is None:
                self._end(process)
                process = None
                continue
            if self._take_cancelled(job):
                self._listener(job, {"event": "cancelled"})
                continue
            try:
                if process is None or process.poll() is not None:
                    self._end(process)
                    process = None
                    process = self._start()
                self._listener(job, {"event": "started"})
                event = self._run(process, job)
            except Exception as error:  # whatever it is, the next job gets its turn
                self._end(process)
                process = None
                event = _failed(job, str(error))
            if self._take_cancelled(job):
                self._end(process)
                process = None
                if event["result"].error:
                    event = {"event": "cancelled"}
            try:
                self._listener(job, event)
            except Exception as error:
                self._listener(job, _failed(job, str(error)))
            self._call_helper()
        self._end(process)

    def _take_cancelled(self, job: Job) -> bool:
        """Whether the job was cancelled; says so once."""
        with self._lock:
            found = job in self._cancelled
            self._cancelled.discard(job)
        return found

    def _start(self) -> subprocess.Popen[bytes]:
        process = start_worker()
        with self._lock:
            self._processes.add(process)
        return process

    def _end(self, process: subprocess.Popen[bytes] | None) -> None:
        if process is None:
            return
        with self._lock:
            self._processes.discard(process)
        if process.stdin:
            with suppress(OSError):  # it is gone already, and with it what it was not yet told
                process.stdin.close()
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()

    def _run(self, process: subprocess.Popen[bytes], job: Job) -> dict[str, Any]:
        """Have ``process`` do the job; returns its last event, which the listener has not got yet."""
        assert process.stdin is not None
        assert process.stdout is not None
        with self._lock:
            self._running[job] = process
            if job in self._cancelled:
                process.terminate()
        try:
            with suppress(BrokenPipeError):  # its output tells that it ended
                process.stdin.write(msgspec.json.encode(job) + b"\n")
                process.stdin.flush()
            for line in process.stdout:
                event: dict[str, Any] = msgspec.json.decode(line)
                if event["event"] == "done":
                    event["result"] = msgspec.convert(event["result"], Ingested)
                elif event["event"] == "failed":
                    event = _failed(job, event["error"])
                if event["event"] == "done":
                    return event
                self._listener(job, event)
            code = process.wait()
            raise OSError(f"the reading process ended early (exit code {code}, out of memory?)")
        finally:
            with self._lock:
                self._running.pop(job, None)


def _failed(job: Job, error: str) -> dict[str, Any]:
    note = Note("reader-failed", job.rel, None, {"error": error[:300]})
    return {"event": "done", "result": Ingested(job.reader, {}, [note], 0.0, error)}
