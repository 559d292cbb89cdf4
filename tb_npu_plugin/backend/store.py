"""The store: what was found, what has been read, and the tables of it. State lives here only.

A background thread scans the logdir; worker processes read files into the cache; views ask for
tables and get those that are there, at once. Captures that appear, change or vanish show without
a restart.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from tb_npu_plugin.backend import discovery, settings
from tb_npu_plugin.backend import recordings as recordings_module
from tb_npu_plugin.backend.answers import Answers
from tb_npu_plugin.backend.cache import Cache, Ingested
from tb_npu_plugin.backend.capture import Capture, describe
from tb_npu_plugin.backend.discovery import Found, Root
from tb_npu_plugin.backend.file_state import (
    FileState,
    file_key,
    file_state,
    job_of,
    place,
    readable,
    takes_long,
)
from tb_npu_plugin.backend.ingest import Job
from tb_npu_plugin.backend.pool import Pool
from tb_npu_plugin.backend.readers import SOURCES, reader_name, readers_for
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.recordings import Recording
from tb_npu_plugin.backend.stored import StoredCaptures, stores_of

logger = logging.getLogger(__name__)

SCAN_SECONDS = 5.0
#: A capture that changed counts as being written until it was quiet for so long.
QUIET_SECONDS = 10.0
#: Larger files are read when a view asks, or when they belong to the newest recording.
SMALL_BYTES = 4 << 20

_SOON, _NEWEST, _ASKED = 1, 2, 0
_PENDING = ("waiting", "queued", "running")


@dataclass
class _Seen:
    found: Found
    changed: float
    settled: bool


class Store:
    """Everything known about one logdir. Thread-safe; queries never wait for ingest."""

    def __init__(
        self,
        roots: list[Root],
        cache: Cache | None = None,
        *,
        workers: int | None = None,
        memory: str | None = None,
        quiet_seconds: float = QUIET_SECONDS,
        worker: subprocess.Popen[bytes] | None = None,
    ) -> None:
        """``worker``: a reading process that was started ahead of time."""
        cores = os.cpu_count() or 1
        self.roots = roots
        self.cache = cache or Cache()
        told = workers or settings.workers()
        self.workers = max(1, told or cores - 1)
        wanted = memory or os.environ.get("TB_NPU_MEMORY") or ""
        self.memory = settings.memory(wanted or settings.DEFAULT_MEMORY)
        self.ingest_memory = settings.ingest_memory(wanted, self.workers)
        self.threads = max(1, min(4, cores // self.workers))
        self.quiet_seconds = quiet_seconds
        self.version = 0
        self.scanned = False
        self.scan_result = discovery.Scan()
        self._captures: dict[str, Capture] = {}
        self._runs: dict[str, list[Recording]] = {}
        self._files: dict[str, dict[str, FileState]] = {}
        self._seen: dict[str, _Seen] = {}
        self._described: dict[Found, Capture] = {}
        self._denied: list[str] = []
        self.stored = StoredCaptures()
        self._scanning = threading.Lock()
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._pool = Pool(self.workers, self._on_event, worker, helper=not told)
        self._connection: duckdb.DuckDBPyConnection | None = None
        self.answers = Answers(self.cursor)

    # ---- life ---------------------------------------------------------------------------

    def start(self) -> None:
        """Scan now and again in a background thread."""
        self._thread = threading.Thread(target=self._scan_loop, name="npu-scan", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._wake.set()
        self._pool.close()
        if self._thread:
            self._thread.join(timeout=5)
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def closed(self, timeout: float) -> bool:
        """Whether :meth:`close` was called, at the latest after ``timeout`` s."""
        return self._stop.wait(timeout)

    def _scan_loop(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                self.rescan()
            except Exception:
                logger.exception("Searching %s failed", ", ".join(str(r.path) for r in self.roots))
            took = time.monotonic() - began
            self._wake.wait(max(SCAN_SECONDS, 10 * took))
            self._wake.clear()

    def look_again(self) -> None:
        """Files of the cache are gone: nothing is as it was looked up."""
        with self._lock:
            self._bump()

    def wake(self) -> None:
        """Scan soon (TensorBoard's reload button)."""
        self._wake.set()

    # ---- what there is --------------------------------------------------------------------

    @property
    def runs(self) -> dict[str, list[Recording]]:
        """run -> recordings, newest first; runs by name."""
        with self._lock:
            return dict(self._runs)

    def captures(self) -> list[Capture]:
        with self._lock:
            return list(self._captures.values())

    def files(self, capture_id: str) -> list[FileState]:
        with self._lock:
            return list(self._files.get(capture_id, {}).values())

    def growing(self, capture_id: str) -> bool:
        with self._lock:
            capture = self._captures.get(capture_id)
            seen = self._seen.get(str(capture.path)) if capture else None
            return bool(seen and not seen.settled)

    def rescan(self) -> None:
        """Search the roots once, and queue what has to be read.

        Files are looked at without the lock, so that listings never wait for a slow disk.
        """
        with self._scanning:
            first = not self.scanned
            result = discovery.scan(self.roots)
            before = self._described
            described = {f: self._describe(f) for f in result.found}
            seen = self._look(described, first)
            more = self.stored.look(stores_of(result.stores))
            changed = (
                first
                or more
                or described != before
                or self._settled(seen) != self._settled(self._seen)
                or self._denied != result.denied
                or self._can_be_read_now()
            )
            self._described, self._denied = described, result.denied
            if changed:
                captures = _with_own_ids([*described.values(), *self._only_stored(described)])
                folded = recordings_module.fold_runs(captures)
                files = {c.capture_id: self._file_states(c, seen) for c in folded}
                runs = _runs(folded)
            with self._lock:
                self._seen = seen
                self.scan_result = result
                if changed:
                    self._captures = {c.capture_id: c for c in folded}
                    self._runs, self._files = runs, files
                    self._queue()
                self.scanned = True
                if changed:
                    self._bump()

    def _only_stored(self, described: dict[Found, Capture]) -> list[Capture]:
        """Captures of shared stores whose raw files are not in the logdir."""
        ids = {c.capture_id for c in described.values()}
        paths = {c.path for c in described.values()}
        return [c for c in self.stored.captures if c.capture_id not in ids and c.path not in paths]

    def _describe(self, found: Found) -> Capture:
        known = self._described.get(found)
        if known and not any(n.code == "permission-denied" for n in known.notes):
            # A manifest's process may have ended without a word, which no file's time shows.
            told = known.manifest
            if told is None or not told.unfinished or told.interrupted() == _is_interrupted(known):
                return known
        return describe(found)

    def _look(self, described: dict[Found, Capture], first: bool) -> dict[str, _Seen]:
        """Which captures changed since the last scan, and which were quiet for long enough."""
        now = time.monotonic()
        seen: dict[str, _Seen] = {}
        for found, capture in described.items():
            old = self._seen.get(str(found.path))
            if old is None:
                # What lies there at start-up is taken as finished; later arrivals may not be.
                state = _Seen(found, now, settled=first or capture.done_marker)
            elif old.found != found:
                state = _Seen(found, now, settled=False)
            else:
                quiet = now - old.changed >= self.quiet_seconds
                state = _Seen(found, old.changed, old.settled or quiet or capture.done_marker)
            if capture.manifest:  # its word decides
                state.settled = not capture.manifest.unfinished or _is_interrupted(capture)
            seen[str(found.path)] = state
        return seen

    @staticmethod
    def _settled(seen: dict[str, _Seen]) -> set[str]:
        return {path for path, state in seen.items() if state.settled}

    def _can_be_read_now(self) -> bool:
        """A file that could not be opened has got other permissions, which its time does not show;
        a store that could not be reached answers again."""
        return any(
            state.state == "failed"
            and (
                (state.store and not self.stored.problems)
                or (not state.fingerprint and state.path != Path() and readable(state.path))
            )
            for states in self._files.values()
            for state in states.values()
        )

    def _queue(self) -> None:
        """Have small files read, and big ones of the newest recording. Call with the lock."""
        newest = max(
            (r for recordings in self._runs.values() for r in recordings[:1]),
            key=lambda r: (r.started_ns or 0, r.recording),
            default=None,
        )
        fresh = {c.capture_id for c in newest.captures} if newest else set()
        settled = [
            state
            for capture_id in self._captures
            if not self.growing(capture_id)
            for state in self._files[capture_id].values()
        ]
        # Small ones first: an idle worker takes the first at once, and would keep a big one. Big
        # ones in the readers' order, which is that of the questions people ask first.
        for state in sorted(settled, key=lambda s: s.source.bytes > SMALL_BYTES and 1 + s.order):
            size, newest_one = state.source.bytes, state.capture_id in fresh
            if state.origin or state.cancelled or state.store:
                continue
            if state.lazy:
                if newest_one and not takes_long(state.source):
                    self._submit(state, _NEWEST)
            elif size <= SMALL_BYTES:
                self._submit(state, _SOON)
            elif newest_one:
                self._submit(state, _NEWEST)

    def _file_states(self, capture: Capture, seen: dict[str, _Seen]) -> dict[str, FileState]:
        old = self._files.get(capture.capture_id, {})
        if capture.store:
            return self._stored_states(capture, old)
        states: dict[str, FileState] = {}
        every = ((source, r) for source in capture.files for r in readers_for(source.name))
        for source, reader in every:
            derived = hasattr(reader, "FROM")
            key = file_key(source.rel, reader_name(reader), derived)
            origin = states.get(source.rel) if derived else None
            before = old.get(key)
            path = capture.folder / source.rel
            known = before and before.path == path and (before.fingerprint or not readable(path))
            if before and before.source == source and known:
                before.origin = origin
                states[key] = before
                continue
            if before and not seen[str(capture.path)].settled:
                states[key] = before  # what was read of it stays until it is quiet
                continue
            state = file_state(capture, source, reader, origin)
            if state.fingerprint:
                done = self.cache.load(capture.capture_id, state.fingerprint)
                if done:
                    self._finish(state, done)
                else:
                    self.stored.fill(state)
            states[key] = state
        return states

    def _stored_states(self, capture: Capture, old: dict[str, FileState]) -> dict[str, FileState]:
        """Those of a shared store's capture; what was fetched before is there."""
        states = self.stored.states(capture)
        for key, state in states.items():
            before = old.get(key)
            if before and before.store == state.store and before.state != "failed":
                before.origin = state.origin
                states[key] = before
            elif state.stored:
                done = self.cache.load(capture.capture_id, state.fingerprint)
                if done:
                    self._finish(state, done)
        return states

    # ---- ingest -----------------------------------------------------------------------------

    def request(
        self, captures: Iterable[Capture], tables: Iterable[str], prefer: str | None = None
    ) -> None:
        """Have the files read, soon, that ``tables`` of ``captures`` are taken from. Returns at once."""
        with self._lock:
            for state in self.sources(captures, tables, prefer):
                self._submit(state, _ASKED)

    def fetch(
        self,
        captures: Iterable[Capture],
        tables: Iterable[str],
        prefer: str | None = None,
        timeout: float | None = None,
    ) -> bool:
        """:meth:`request`, and wait until they are there; True when done. For scripts."""
        chosen, names = list(captures), list(tables)

        def done() -> bool:
            pending = [s for s in self.sources(chosen, names, prefer) if s.state in _PENDING]
            for state in pending:  # another source, where the first turned out to have nothing
                self._submit(state, _ASKED)
            return not pending

        with self._lock:
            return self._changed.wait_for(done, timeout)

    def read(self, states: Iterable[FileState]) -> None:
        """Have these very files read, soon. Returns at once."""
        with self._lock:
            for state in states:
                self._submit(state, _ASKED)

    def wait_for(self, states: Iterable[FileState], timeout: float | None = None) -> bool:
        """:meth:`read`, and wait until they are there; True when done. For scripts."""
        chosen = list(states)
        self.read(chosen)
        with self._lock:
            return self._changed.wait_for(
                lambda: not any(s.state in _PENDING for s in chosen), timeout
            )

    def sources(
        self, captures: Iterable[Capture], tables: Iterable[str], prefer: str | None = None
    ) -> list[FileState]:
        """The files that ``tables`` are taken from, or will be once they are read.

        Per capture and table those of one kind: ``prefer`` if the capture has it, else the first of
        :func:`~file_state.place` that has the table or may still turn out to have it.
        """
        names = list(tables)
        found: dict[int, FileState] = {}
        with self._lock:
            for capture in captures:
                states = list(self._files.get(capture.capture_id, {}).values())
                for table in names:
                    kinds: dict[str, list[FileState]] = {}
                    for state in states:
                        if table in state.provides and (
                            table in state.tables or state.state in _PENDING
                        ):
                            kinds.setdefault(state.kind, []).append(state)
                    if kinds:
                        first = min(kinds.values(), key=lambda s: place(s, table, prefer))
                        found.update((id(state), state) for state in first)
        return list(found.values())

    def cancel(self, capture_id: str) -> None:
        """Stop reading the files of a capture; they are read again when a view asks."""
        with self._lock:
            jobs = [
                state.job
                for state in self._files.get(capture_id, {}).values()
                if state.state in ("queued", "running") and state.job
            ]
        for job in jobs:
            self._pool.cancel(job)

    def _submit(self, state: FileState, priority: int) -> None:
        if state.state != "waiting":
            return
        state.state = "queued"
        state.job = job_of(state, self.cache, self.ingest_memory, self.threads)
        self._pool.submit(state.job, priority)

    def _on_event(self, job: Job, event: dict[str, Any]) -> None:
        with self._lock:
            key = file_key(job.rel, job.reader, bool(job.origin))
            state = self._files.get(job.capture_id, {}).get(key)
            if state is None or state.fingerprint != job.fingerprint:
                return
            kind = event["event"]
            if kind == "started":
                state.state = "running"
            elif kind == "progress":
                state.progress = event["progress"]
                return
            elif kind == "early":
                tables = {table: Path(path) for table, path in event["tables"].items()}
                if event["whole"]:
                    state.tables |= tables
                else:
                    state.so_far = tables
            elif kind == "cancelled":
                state.state, state.progress, state.cancelled = "waiting", 0.0, True
                state.so_far = {}
            elif kind == "done":
                self._finish(state, event["result"])
                origin = state.origin
                if origin and origin.state == "waiting":  # it was read on the way
                    done = self.cache.load(origin.capture_id, origin.fingerprint)
                    if done:
                        self._finish(origin, done)
            self._bump()

    def _finish(self, state: FileState, done: Ingested) -> None:
        entry = self.cache.entry(state.capture_id, state.fingerprint)
        state.tables = {table: entry / f"{table}.parquet" for table in done.tables}
        state.rows = dict(done.tables)
        state.so_far = {}
        state.notes = list(done.notes)
        state.state = "failed" if done.error or not done.tables else "ready"
        state.progress = 1.0

    def _bump(self) -> None:
        self.version += 1
        self._changed.notify_all()

    def wait(self, captures: Iterable[Capture] | None = None, timeout: float | None = None) -> bool:
        """Read every file of ``captures`` (default: all); True when done. For scripts.

        But for big files of lazy readers and what is derived from them: :meth:`fetch` their tables.
        """
        chosen = list(captures if captures is not None else self.captures())

        def done() -> bool:
            pending = [s for s in self._due(chosen) if s.state in _PENDING]
            for state in pending:
                self._submit(state, _ASKED)
            return not pending

        with self._lock:
            return self._changed.wait_for(done, timeout)

    def _due(self, captures: list[Capture]) -> list[FileState]:
        states = [
            s for c in captures for s in self._files.get(c.capture_id, {}).values()
            if not s.store and (not s.lazy or not takes_long(s.source))
        ]  # fmt: skip
        derived = {table for s in states if s.origin for table in s.provides}
        wanted = {id(s) for s in self.sources(captures, sorted(derived))}
        return [s for s in states if not s.origin or id(s) in wanted]

    def reading(self, captures: Iterable[Capture]) -> bool:
        """Whether files of ``captures`` are being read now, or wait for their turn."""
        with self._lock:
            return any(
                state.state in ("queued", "running")
                for capture in captures
                for state in self._files.get(capture.capture_id, {}).values()
            )

    # ---- tables -----------------------------------------------------------------------------

    def settled(
        self, captures: Iterable[Capture], tables: Iterable[str], prefer: str | None = None
    ) -> bool:
        """Whether all that ``tables`` of ``captures`` are taken from was read and is finished."""
        chosen = list(captures)
        with self._lock:
            return not any(self.growing(c.capture_id) for c in chosen) and not any(
                s.state in _PENDING for s in self.sources(chosen, tables, prefer)
            )

    def parts(
        self, captures: Iterable[Capture], table: str, prefer: str | None = None
    ) -> list[tuple[Capture, FileState, Path]]:
        """The Parquet files that hold ``table`` of ``captures``, as far as they are there.

        Of several kinds of sources (:data:`~readers.SOURCES`) one is taken: ``prefer`` if the
        capture has it, else by :func:`~file_state.place`; of several readers of that kind the
        first. Several files of one reader are slices of one table.
        """
        out = []
        with self._lock:
            for capture in captures:
                found: dict[tuple[str, int], list[FileState]] = {}
                for state in self._files.get(capture.capture_id, {}).values():
                    path = state.tables.get(table)
                    if path is None:
                        continue
                    if not path.exists():  # the cache was cleared meanwhile
                        state.tables.pop(table)
                        if state.state == "ready":
                            state.state = "waiting"
                            self._submit(state, _ASKED)
                        continue
                    found.setdefault((state.kind, state.order), []).append(state)
                if found:
                    first = min(found.values(),
                                key=lambda s: (place(s, table, prefer), s[0].order))  # fmt: skip
                    filled = [s for s in first if not s.lacks(table)] or first
                    out += [(capture, state, state.tables[table]) for state in filled]
        return out

    def kinds(self, captures: Iterable[Capture], table: str) -> list[str]:
        """The kinds of sources in which ``table`` of ``captures`` is there."""
        with self._lock:
            found = {
                state.kind
                for capture in captures
                for state in self._files.get(capture.capture_id, {}).values()
                if table in state.tables
                or (state.lazy and table in state.provides and state.state in _PENDING)
            }
        return sorted(found, key=SOURCES.index)

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A cursor for one request; close it after use."""
        with self._lock:
            if self._connection is None:
                self._connection = duckdb.connect()
                self._connection.execute("SET threads=2")
                self._connection.execute(f"SET memory_limit={quote(self.memory)}")
                # Else what does not fit into memory goes to the directory it was started in.
                spill = quote(str(self.cache.spill()))
                self._connection.execute(f"SET temp_directory={spill}")
                self._connection.execute("SET enable_external_file_cache=false")
                self._connection.execute("SET parquet_metadata_cache=true")
            with suppress(OSError):  # the cache may be cleared at any time
                self.cache.spill().parent.mkdir(mode=0o700, exist_ok=True)
            return self._connection.cursor()


def _runs(captures: list[Capture]) -> dict[str, list[Recording]]:
    by_run: dict[str, list[Capture]] = {}
    for capture in captures:
        by_run.setdefault(capture.run, []).append(capture)
    return {run: recordings_module.recordings(by_run[run]) for run in sorted(by_run)}


def _with_own_ids(captures: Iterable[Capture]) -> list[Capture]:
    """Two logdirs may hold captures of one name in runs of one name: the later gets its own id."""
    taken: set[str] = set()
    out = []
    for capture in captures:
        if capture.capture_id in taken:
            identity = os.fsencode(f"{capture.capture_id}|{capture.path}")
            capture = replace(capture, capture_id=hashlib.sha256(identity).hexdigest()[:12])
        taken.add(capture.capture_id)
        out.append(capture)
    return out


def _is_interrupted(capture: Capture) -> bool:
    return any(note.code == "interrupted" for note in capture.notes)
