"""What lies in a range of time: slices summed up by name, and how busy each track is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.slice_index import INSTANTS
from tb_npu_plugin.backend.timeline.files import (
    TraceFile,
    Track,
    base_of,
    chosen,
    parse_shifts,
    trace_files,
)
from tb_npu_plugin.backend.timeline.nesting import Lane, nested
from tb_npu_plugin.backend.timeline.places import union_ns
from tb_npu_plugin.backend.timeline.windows import touching

OPTIONS = ("from", "to", "tracks", "shift")


@dataclass(frozen=True)
class Range:
    """Absolute ns, and the tracks within it. ``shifts``: part -> ns that its times are moved by."""

    begin: int
    end: int
    base: int
    tracks: list[tuple[TraceFile, Track]]
    shifts: dict[int, int]

    def of(self, file: TraceFile) -> tuple[int, int]:
        """The range in a file's own times."""
        shift = self.shifts.get(file.part, 0)
        return self.begin - shift, self.end - shift


@dataclass
class NameSum:
    """Slices of one name: time is what of them lies in the range; ``self``: less what is nested."""

    count: int = 0
    total: int = 0
    self: int = 0
    longest: int = 0


def range_of(sel: Selected) -> Range | None:
    """The range that the options ``from``, ``to`` (ns after the base), ``tracks``, ``shift`` give.

    None where nothing is read. Raises RequestError 400 for options that are no such thing.
    """
    files = trace_files(sel)
    base = base_of(files)
    if base is None:
        return None
    tracks = [(f, t) for f, t in chosen(files, sel.options.get("tracks")) if t.slices]
    last = max((t.end_ns for f in files for t in f.tracks), default=base)
    begin = base + _number(sel, "from", 0)
    end = base + _number(sel, "to", last - base + 1)
    if end <= begin:
        raise RequestError(400, "bad-window", "from must lie before to.", "Both in ns.")
    return Range(begin, end, base, tracks, parse_shifts(sel.options.get("shift")))


def _number(sel: Selected, key: str, default: int) -> int:
    text = sel.options.get(key)
    if text is None:
        return default
    try:
        value = int(float(text))
    except (ValueError, OverflowError):
        raise RequestError(400, "bad-window", f"{key} must be a number of ns.") from None
    return max(-(2**61), min(2**61, value))


def lanes_in(wanted: Range, file: TraceFile, track: Track) -> Iterator[Lane]:
    """A track's lanes, cut to the range; instants left out."""
    index = file.index
    begin, end = wanted.of(file)
    for lane in index.lanes_of(track.number):
        if lane["depth"] == INSTANTS:
            continue
        low, high = touching(index, lane, begin, end)
        if high > low:
            starts = np.maximum(index.starts[low:high], begin)
            yield lane, low, high, starts, np.minimum(index.ends[low:high], end)


def sums_by_name(wanted: Range) -> dict[str, NameSum]:
    """Slices in the range by name."""
    found: dict[str, NameSum] = {}
    for file, track in wanted.tracks:
        index = file.index
        calls = nested(index, list(lanes_in(wanted, file, track)))
        total = calls.ends - calls.starts
        different, where = np.unique(calls.codes, return_inverse=True)
        where = where.reshape(-1)
        longest = np.zeros(len(different), dtype=np.int64)
        np.maximum.at(longest, where, total)
        columns = (
            different,
            np.bincount(where),
            np.bincount(where, weights=total),
            np.bincount(where, weights=calls.selves()),
            longest,
        )
        for code, count, whole, own, most in zip(*(c.tolist() for c in columns), strict=True):
            entry = found.setdefault(index.names[code], NameSum())
            entry.count += count
            entry.total += int(whole)
            entry.self += int(own)
            entry.longest = max(entry.longest, most)
    return found


def busy_ns(wanted: Range, file: TraceFile, track: Track) -> int:
    """For how long of the range there is a slice on the track."""
    parts = list(lanes_in(wanted, file, track))
    return union_ns([p[3] for p in parts], [p[4] for p in parts])
