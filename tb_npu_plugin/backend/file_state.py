"""How far one file of one capture has got, and the tables it gave."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Literal

from tb_npu_plugin.backend import summaries
from tb_npu_plugin.backend.cache import Cache, combined, fingerprint
from tb_npu_plugin.backend.capture import Capture, SourceFile
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.ingest import Job
from tb_npu_plugin.backend.readers import (
    SOURCES,
    is_lazy,
    reader_name,
    reader_rank,
    source_kind,
)
from tb_npu_plugin.backend.readers.profiler_info import permission_note

#: Findings of a file that lost some of its rows.
DAMAGE = ("file-cut", "pack-cut", "json-cut", "database-cut", "database-damaged")
#: The two kinds of sources that an analysis writes, each with everything in it.
WHOLE = ("text", "db")
#: Files of lazy readers (traces) that are larger are read only when a view asks.
LAZY_BYTES = 32 << 20
#: How many times larger a packed trace is than its file.
PACKING = 12


@dataclass(slots=True)
class FileState:
    """One file of one capture and its tables in the cache (table -> Parquet file). ``path``: empty
    where the file is not here, but read into a store."""

    capture_id: str
    source: SourceFile
    path: Path
    reader: str
    fingerprint: str
    state: Literal["waiting", "queued", "running", "ready", "failed"] = "waiting"
    progress: float = 0.0
    tables: dict[str, Path] = field(default_factory=dict)
    so_far: dict[str, Path] = field(default_factory=dict)
    """Tables of the part that was read, while the rest is: for views that say so."""
    rows: dict[str, int] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    provides: tuple[str, ...] = ()
    kind: str = "text"
    order: int = 0
    """Place of its reader in the registry."""
    lazy: bool = False
    origin: FileState | None = None
    """The state of the same file whose tables these are derived from, if they are."""
    job: Job | None = None
    cancelled: bool = False
    store: str = ""
    """Where its entry lies in a shared store, which is then read in the file's place."""

    @property
    def more(self) -> tuple[tuple[bytes, str], ...]:
        """(path, rel) of the files that are read with it."""
        folder = str(self.path).removesuffix(self.source.rel)
        return tuple((os.fsencode(f"{folder}{f.rel}"), f.rel) for f in self.source.more)

    def lacks(self, table: str) -> bool:
        """Read, here or into a store, and without any row of ``table``."""
        return (self.state == "ready" or bool(self.store)) and not self.rows.get(table)

    @property
    def stored(self) -> bool:
        """Read into a store; its tables are fetched when a view asks."""
        return bool(self.store) and self.state == "waiting"

    @property
    def damaged(self) -> bool:
        """Read, and known to hold less than was written."""
        return any(note.code in DAMAGE for note in self.notes)


def state_of(
    capture: Capture, source: SourceFile, reader: ModuleType, origin: FileState | None, path: Path
) -> FileState:
    """The state of a file that nothing has been read of; its fingerprint is not known yet."""
    name = reader_name(reader)
    kind = source_kind(reader, source.rel)
    return FileState(
        capture.capture_id,
        source,
        path,
        name,
        "",
        provides=summaries.provided(reader),
        kind=kind,
        order=reader_rank(kind, name)[1],
        lazy=is_lazy(reader) or hasattr(reader, "FROM"),
        origin=origin,
    )


def file_state(
    capture: Capture, source: SourceFile, reader: ModuleType, origin: FileState | None
) -> FileState:
    """The same with its fingerprint; ``failed``, with the finding, where it cannot be opened."""
    state = state_of(capture, source, reader, origin, capture.folder / source.rel)
    version = summaries.version(reader)
    try:
        state.fingerprint = combined(
            fingerprint(capture.folder / f.rel, f.rel, f.size, f.mtime_ns, state.reader, version)
            for f in source.whole
        )
    except OSError as error:
        state.state = "failed"
        denied = isinstance(error, PermissionError)
        state.notes = [
            permission_note(state.path, source.rel) if denied
            else Note("file-unreadable", source.rel, None, {"error": str(error)})
        ]  # fmt: skip
    return state


def job_of(state: FileState, cache: Cache, memory: str, threads: int) -> Job:
    """What a reading process is told."""
    return Job(
        state.capture_id, os.fsencode(state.path), state.source.rel, state.reader,
        state.fingerprint, state.source.bytes, str(cache.root.parent), memory, threads,
        state.origin.fingerprint if state.origin else "", state.more, state.store,
    )  # fmt: skip


def place(
    states: list[FileState], table: str, prefer: str | None
) -> tuple[bool, bool, int, bool, int]:
    """What ``table`` is taken from first: the least. ``states``: files of one kind of source, each a
    part of the table; ``prefer``: a kind that was asked for.

    What has rows before what has none; then the order of :data:`~readers.SOURCES`, but of a
    capture's two whole forms, text and database, an undamaged one before one that was cut.
    """
    kind = states[0].kind
    whole = kind in WHOLE
    return (
        kind != prefer,
        all(s.lacks(table) for s in states),
        0 if whole else SOURCES.index(kind),
        whole and any(s.damaged for s in states),
        SOURCES.index(kind),
    )


def file_key(rel: str, reader: str, derived: bool) -> str:
    """Of a file's state within its capture; what is derived from the file is one of its own."""
    return f"{rel}\0{reader}" if derived else rel


def takes_long(source: SourceFile) -> bool:
    """Whether a file of a lazy reader is read only when a view asks."""
    packed = source.name.endswith(".gz")
    return source.bytes * (PACKING if packed else 1) > LAZY_BYTES


def readable(path: Path) -> bool:
    return os.access(path, os.R_OK)
