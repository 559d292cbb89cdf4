"""Read one capture into a store. A plain function of plain values, so any executor can run it."""

from __future__ import annotations

import resource
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tb_npu_plugin import __version__
from tb_npu_plugin.backend import summaries
from tb_npu_plugin.backend.cache import Cache, Ingested
from tb_npu_plugin.backend.capture import Capture, describe
from tb_npu_plugin.backend.description import (
    VERSION,
    Description,
    StoredFile,
    Unknown,
    decode,
    encode,
)
from tb_npu_plugin.backend.discovery import Found
from tb_npu_plugin.backend.file_state import FileState, file_state, job_of
from tb_npu_plugin.backend.findings import render
from tb_npu_plugin.backend.ingest import ingest
from tb_npu_plugin.backend.readers import reader_name, readers_for, source_kind
from tb_npu_plugin.backend.readers.communication_group import of_analysis
from tb_npu_plugin.backend.shared_store import Directory, SharedStore, fetch, open_store

#: Set in a process that was told to end: the database makes an error of that, which is none of the
#: file's.
ENDING = threading.Event()
#: Kinds of sources that fill the views without a trace.
_ENOUGH = ("text", "db", "msprof")
#: Findings that come with an error of reading.
_FAILED = ("permission-denied", "file-unreadable", "reader-failed")


@dataclass(frozen=True)
class Task:
    """A capture to read. ``store``: a store's place, or a cache directory with ``private``;
    ``timeline``: also traces of captures whose other views need none."""

    found: Found
    store: str
    private: bool
    timeline: bool
    memory: str
    threads: int


@dataclass
class Outcome:
    """What became of a capture. ``state``: ``read``, ``there`` (nothing was left to read),
    ``growing`` (still being recorded) or ``failed``; ``errors``: ``file: reason``.

    ``files`` were read now, ``files_there`` before, ``files_left`` left out. ``read_bytes`` of raw
    files, ``written_bytes`` of entries; ``cpu_s`` and ``peak_bytes`` of the process that did it.
    """

    path: str
    run: str = ""
    name: str = ""
    rank: int | None = None
    state: str = "there"
    files: int = 0
    files_there: int = 0
    files_left: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    peak_bytes: int = 0
    host: str = ""
    errors: list[str] = field(default_factory=list)
    again: bool = False
    """Whether trying once more may help: the disk or the network failed, not the content."""


def ingest_capture(task: Task) -> Outcome:
    """Read every file of a capture that its store does not hold, then write its description.

    Can be repeated at any time, and by several processes at once. A file that cannot be read is an
    error of the outcome; the others are read. Raises OSError where store or capture are not there,
    Cancelled where the process was told to end.
    """
    started, cpu = time.monotonic(), time.process_time()
    if not task.found.path.exists():
        raise FileNotFoundError(f"{task.found.path} is not there on {socket.gethostname()}")
    capture = describe(task.found)
    out = Outcome(str(capture.path), capture.run, capture.name, capture.rank)
    out.host = socket.gethostname()
    told = capture.manifest
    if told and told.unfinished and not told.interrupted():
        out.state = "growing"
        return out
    with _target(task) as (store, cache):
        before = {} if task.private else store.read([capture.capture_id])
        reading = _Reading(task, store, cache, out, _known(before.get(capture.capture_id)))
        files = reading.files(capture)
        described = b"" if task.private else _describe(capture, files)
        if described and described != before.get(capture.capture_id):
            store.write(capture.capture_id, described)
            out.state = "read"
    if out.errors:
        out.state = "failed"
    elif out.files:
        out.state = "read"
    out.seconds = round(time.monotonic() - started, 3)
    out.cpu_s = round(time.process_time() - cpu, 3)
    out.peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return out


@contextmanager
def _target(task: Task) -> Iterator[tuple[SharedStore, Cache]]:
    """The store, and the cache that files are read into: the store itself where that is one."""
    store = Directory(Path(task.store)) if task.private else open_store(task.store)
    if not (task.private or store.exists()):
        raise FileNotFoundError(f"there is no store at {store.url} on {socket.gethostname()}")
    if isinstance(store, Directory):
        if store.cache.temporary:
            raise PermissionError(f"{store.url} cannot be written on {socket.gethostname()}")
        yield store, store.cache
        return
    with tempfile.TemporaryDirectory(prefix="tb-npu-ingest-") as scratch:
        yield store, Cache(scratch)


def _known(data: bytes | None) -> dict[str, Ingested]:
    """Fingerprint -> what is in the store, by an earlier description."""
    try:
        files = decode(data).files if data else []
    except Unknown:
        return {}
    return {f.fingerprint: f.done for f in files if f.done and not f.done.error}


@dataclass
class _Reading:
    """Reading the files of one capture; ``known``: what is in the store already."""

    task: Task
    store: SharedStore
    cache: Cache
    out: Outcome
    known: dict[str, Ingested]

    def files(self, capture: Capture) -> list[StoredFile]:
        """Every file with each of its readers; what is derived after its origin, if that is there."""
        every = [(s, reader) for s in capture.files for reader in readers_for(s.name)]
        enough = any(
            source_kind(reader, source.rel) in _ENOUGH and reader_name(reader) != "other"
            for source, reader in every
        )
        found: list[StoredFile] = []
        origins: dict[str, tuple[FileState, Ingested | None]] = {}
        for source, reader in every:
            origin, gave = origins.get(source.rel, (None, None))
            if origin and not (gave and gave.tables):
                continue
            state = file_state(capture, source, reader, origin)
            done = self._read(state, left_out=enough and state.lazy and not self.task.timeline)
            origins.setdefault(source.rel, (state, done))
            found.append(
                StoredFile(source, state.reader, summaries.version(reader), state.fingerprint,
                           origin.fingerprint if origin else "", done)
            )  # fmt: skip
        return found

    def _read(self, state: FileState, *, left_out: bool) -> Ingested | None:
        """What a file holds; None where it is left out."""
        rel, key = state.source.rel, (state.capture_id, state.fingerprint)
        if state.state == "failed":  # it cannot be opened
            return self._failed(rel, Ingested(state.reader, {}, state.notes, 0.0, "not opened"))
        local = isinstance(self.store, Directory)
        done = (None if local else self.known.get(state.fingerprint)) or self.store.load(*key)
        if done:
            self.out.files_there += 1
            return done
        if left_out:
            self.out.files_left += 1
            return None
        if state.origin and self.cache.load(state.capture_id, state.origin.fingerprint) is None:
            place = self.store.entry(state.capture_id, state.origin.fingerprint)
            fetch(place, self.cache, state.capture_id, state.origin.fingerprint)
        job = job_of(state, self.cache, self.task.memory, self.task.threads)
        done = ingest(job, cancelled=ENDING.is_set)
        self.out.files += 1
        self.out.read_bytes += 0 if state.origin else state.source.bytes
        if done.error:
            return self._failed(rel, done)
        self.out.written_bytes += self.store.publish(self.cache, *key)
        return done

    def _failed(self, rel: str, done: Ingested) -> Ingested:
        note = next((n for n in reversed(done.notes) if n.code in _FAILED), None)
        error = note.params.get("error") if note else done.error
        reason = error or render(note, "en", None, None).message if note else error
        self.out.errors.append(f"{rel}: {reason}")
        self.out.again = self.out.again or bool(note and note.code == "file-unreadable")
        return done


def _describe(capture: Capture, files: list[StoredFile]) -> bytes:
    """The description, with the groups of an analysis that lies beside the capture."""
    groups = tuple(
        group
        for group in of_analysis(capture.path.parent)
        if capture.rank is None or not group.ranks or capture.rank in group.ranks
    )
    capture = replace(capture, groups=groups)
    return encode(Description(VERSION, __version__, capture, files))
