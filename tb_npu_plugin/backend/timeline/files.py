"""The traces of a selection: which files, their tracks, and how both are numbered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.ranges import Ranges, parse_ranges
from tb_npu_plugin.backend.readers.base import end_sql as end_sql
from tb_npu_plugin.backend.readers.base import parquet
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.slice_index import SliceIndex, open_index
from tb_npu_plugin.backend.store import Store

TABLES = ("tracks", "slices", "flows", "counters")
#: Captures shown together; tracks of one capture.
MAX_PARTS = 64
MAX_TRACKS = 10_000
#: A capture's further files (slices of one export) number their rows from here on.
_FILE = 1 << 40
_FLOWS = (
    "SELECT dense_rank() OVER (ORDER BY coalesce(cat, '')) AS kind, from_track, from_ns, to_track, "
    "to_ns FROM "
)


@dataclass(frozen=True)
class Track:
    """A track of one file. ``number``: within the file; ``id``: within the selection."""

    id: int
    number: int
    kind: str
    device: int | None
    process: str
    label: str
    depths: int
    slices: int
    points: int
    start_ns: int
    end_ns: int

    @property
    def where(self) -> str:
        return f"{self.process} · {self.label}" if self.process else self.label


@dataclass(frozen=True)
class TraceFile:
    """One trace that was read. ``paths``: table -> Parquet file."""

    part: int
    ordinal: int
    capture: Capture
    rank_label: str
    store: Store
    paths: dict[str, Path]
    tracks: tuple[Track, ...]
    first_ns: int | None
    """The earliest event; None where there is none."""
    all_tracks: int
    device_tracks: frozenset[int]
    """Numbers of the device's tracks, also of those beyond :data:`MAX_TRACKS`."""
    whole: bool = True
    """Read in full. Else more slices, tracks and other row numbers are to come."""

    @property
    def index(self) -> SliceIndex:
        return open_index(str(self.paths["slices"]))

    def sql(self, table: str) -> str:
        """Table expression over one of its tables, with ``file_row_number``."""
        return parquet(str(self.paths[table]))

    def slice_id(self, row: int) -> str:
        return f"{self.part}.{self.ordinal * _FILE + row}"

    def track(self, number: int) -> Track | None:
        return next((t for t in self.tracks if t.number == number), None)

    def ids(self) -> dict[int, int]:
        """Number within the file -> id."""
        return {t.number: t.id for t in self.tracks}


def trace_files(sel: Selected) -> list[TraceFile]:
    """The traces of the first :data:`MAX_PARTS` captures, as far as they are read."""
    found = []
    for part, capture in enumerate(sel.captures[:MAX_PARTS]):
        offset = 0
        for ordinal, (tables, whole) in enumerate(_tables(sel, capture)):
            paths = {table: path for table in TABLES if (path := tables.get(table))}
            if len(paths) < len(TABLES) or not paths["slices"].exists():
                continue
            tracks, first_ns, count, device = _tracks(sel.store, str(paths["tracks"]), part, offset)
            offset += len(tracks)
            label = sel.rank_label(capture)
            found.append(TraceFile(
                part, ordinal, capture, label, sel.store, paths, tracks, first_ns, count, device, whole
            ))  # fmt: skip
    if found:
        sel.parts("slices")  # told as provenance
    return found


def _tables(sel: Selected, capture: Capture) -> list[tuple[dict[str, Path], bool]]:
    """(tables, whether they hold the whole file) of a capture's traces."""
    states = [state for _, state, _ in sel.store.parts([capture], "tracks", sel.prefer)]
    if states:
        return [(state.tables, True) for state in states]
    states = sel.store.sources([capture], ["tracks"], sel.prefer)
    return [(state.so_far, False) for state in states if state.so_far]


@lru_cache(maxsize=512)
def _tracks(
    store: Store, path: str, part: int, offset: int
) -> tuple[tuple[Track, ...], int | None, int, frozenset[int]]:
    with closing(store.cursor()) as cursor:
        result = cursor.execute(f"SELECT * FROM {parquet(path)} ORDER BY track")
        names = [d[0] for d in result.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    first = part * MAX_TRACKS + offset
    tracks = tuple(_track(first + i, row) for i, row in enumerate(rows[: MAX_TRACKS - offset]))
    begin = min((t.start_ns for t in tracks if t.slices or t.points), default=None)
    device = frozenset(int(row["track"]) for row in rows if row["kind"] == "hardware")
    return tracks, begin, len(rows), device


def _track(number: int, row: dict[str, Any]) -> Track:
    process, device = row["process"] or "", row["device"]
    heading = process or f"pid {row['pid']}"
    if device is not None:
        heading = f"{heading} (NPU {device})" if process else f"NPU {device}"
    label = row["thread"] or (process if row["points"] and not row["slices"] else f"{row['tid']}")
    return Track(
        number, int(row["track"]), row["kind"], device, heading, label, row["depths"] or 0,
        row["slices"] or 0, row["points"] or 0, row["start_ns"] or 0, row["end_ns"] or 0,
    )  # fmt: skip


def base_of(files: list[TraceFile]) -> int | None:
    """The earliest event of all; None where there is none."""
    return min((f.first_ns for f in files if f.first_ns is not None), default=None)


def chosen(files: list[TraceFile], text: str | None) -> Iterator[tuple[TraceFile, Track]]:
    """The tracks whose ids ``text`` lists (``0-4,9``), in order; all where it is empty.

    Raises RequestError 400 for a text that lists none.
    """
    wanted = parse_ranges(text, "tracks", "none") if text else Ranges("all")
    for file in files:
        first = file.part * MAX_TRACKS
        near = any(low < first + MAX_TRACKS and high >= first for low, high in wanted.spans)
        for track in file.tracks if near or wanted.everything else ():
            if wanted.holds(track.id):
                yield file, track


def by_file(tracks: Iterable[tuple[TraceFile, Track]]) -> list[tuple[TraceFile, list[Track]]]:
    """The tracks of each file together, in order."""
    found: dict[tuple[int, int], tuple[TraceFile, list[Track]]] = {}
    for file, track in tracks:
        found.setdefault((file.part, file.ordinal), (file, []))[1].append(track)
    return list(found.values())


def parse_shifts(text: str | None) -> dict[int, int]:
    """``0:0,1:-3498000`` -> {0: 0, 1: -3498000}: ns to add to the times of each part.

    Raises RequestError 400.
    """
    found: dict[int, int] = {}
    for word in text.split(",") if text else ():
        part, _, ns = word.partition(":")
        try:
            found[int(part)] = max(-(2**61), min(2**61, int(float(ns))))
        except (ValueError, OverflowError):
            raise RequestError(400, "bad-shift", f"shift cannot be {word!r}.",
                               "Use part:ns,part:ns.") from None  # fmt: skip
    return found


def slice_at(files: list[TraceFile], name: str) -> tuple[TraceFile, int]:
    """The file and row that the id of a slice names. Raises RequestError 400 or 404."""
    part, dot, row = name.partition(".")
    if not (dot and name.isascii() and part.isdecimal() and row.isdecimal() and len(name) < 30):
        raise RequestError(400, "bad-slice", f"A slice cannot be {name!r}.", "Use 0.1234.")
    ordinal, number = divmod(int(row), _FILE)
    for file in files:
        if file.part != int(part) or file.ordinal != ordinal or number >= len(file.index.starts):
            continue
        if not file.whole:
            raise RequestError(404, "still-reading", "The trace is still being read.",
                               "A slice can be looked at as soon as all of it is there.")  # fmt: skip
        if file.track(int(file.index.lane_at(number)["track"])):
            return file, number
    raise RequestError(404, "no-such-slice", f"There is no slice {name} (yet).",
                       "It may be read still, or the selection is another one.")  # fmt: skip


@lru_cache(maxsize=32)
def flows_of(store: Store, path: str) -> dict[str, Any]:
    """The columns of a file's arrows as arrays, by their beginning; ``kinds`` names ``kind``."""
    with closing(store.cursor()) as cursor:
        rows = cursor.execute(f"{_FLOWS} {parquet(path)}").fetchnumpy()
        names = cursor.execute(
            f"SELECT DISTINCT coalesce(cat, '') AS cat FROM {parquet(path)} ORDER BY cat"
        ).fetchall()
    kinds, kind = [name for (name,) in names], rows.pop("kind") - 1
    found: dict[str, Any] = {k: np.ma.filled(v, 0).astype(np.int64) for k, v in rows.items()}
    order = np.argsort(found["from_ns"], kind="stable")
    found = {k: v[order] for k, v in found.items()}
    found["kind"], found["kinds"] = kind[order], kinds
    found["by_end"] = np.argsort(found["to_ns"], kind="stable")
    return found
