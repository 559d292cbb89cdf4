"""What lies in a range of time: slices summed up by name, and how busy each track is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.slice_index import INSTANTS, Ints, SliceIndex
from tb_npu_plugin.backend.timeline.files import TraceFile, Track, base_of, chosen, trace_files
from tb_npu_plugin.backend.timeline.windows import touching

OPTIONS = ("from", "to", "tracks")


@dataclass(frozen=True)
class Range:
    """Absolute ns, and the tracks within it."""

    begin: int
    end: int
    base: int
    tracks: list[tuple[TraceFile, Track]]


@dataclass
class NameSum:
    """Slices of one name: time is what of them lies in the range; ``self``: less what is nested."""

    count: int = 0
    total: int = 0
    self: int = 0
    longest: int = 0


def range_of(sel: Selected) -> Range | None:
    """The range that the options ``from``, ``to`` (ns after the base) and ``tracks`` give.

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
    return Range(begin, end, base, tracks)


def _number(sel: Selected, key: str, default: int) -> int:
    text = sel.options.get(key)
    if text is None:
        return default
    try:
        value = int(float(text))
    except (ValueError, OverflowError):
        raise RequestError(400, "bad-window", f"{key} must be a number of ns.") from None
    return max(-(2**61), min(2**61, value))


def lanes_in(
    wanted: Range, file: TraceFile, track: Track
) -> Iterator[tuple[Any, int, int, Ints, Ints]]:
    """(lane, low, high, starts, ends) of a track's lanes, cut to the range; instants left out."""
    index = file.index
    for lane in index.lanes_of(track.number):
        if lane["depth"] == INSTANTS:
            continue
        low, high = touching(index, lane, wanted.begin, wanted.end)
        if high > low:
            starts = np.maximum(index.starts[low:high], wanted.begin)
            yield lane, low, high, starts, np.minimum(index.ends[low:high], wanted.end)


def sums_by_name(wanted: Range) -> dict[str, NameSum]:
    """Slices in the range by name."""
    found: dict[str, NameSum] = {}
    for file, track in wanted.tracks:
        index = file.index
        lanes = list(lanes_in(wanted, file, track))
        for i, (lane, low, high, starts, ends) in enumerate(lanes):
            total = ends - starts
            inner = next(
                (below for below in lanes[i + 1 :] if below[0]["depth"] == lane["depth"] + 1), None
            )
            own = total - _nested(index, low, high, inner)
            codes = index.codes[low:high]
            different, where = np.unique(codes, return_inverse=True)
            where = where.reshape(-1)
            longest = np.zeros(len(different), dtype=np.int64)
            np.maximum.at(longest, where, total)
            columns = zip(
                different.tolist(),
                np.bincount(where).tolist(),
                np.bincount(where, weights=total).tolist(),
                np.bincount(where, weights=own).tolist(),
                longest.tolist(),
                strict=True,
            )
            for code, count, whole, itself, most in columns:
                entry = found.setdefault(index.names[code], NameSum())
                entry.count += count
                entry.total += int(whole)
                entry.self += int(itself)
                entry.longest = max(entry.longest, most)
    return found


def _nested(index: SliceIndex, low: int, high: int, inner: Any) -> Ints | int:
    """Time in the range of the slices nested directly in rows [low, high)."""
    if inner is None:
        return 0
    _, first, last, starts, ends = inner
    cumulative = np.append(0, np.cumsum(ends - starts))
    begins = index.starts[first:last]
    at = np.searchsorted(begins, index.starts[low:high], side="left")
    until = np.searchsorted(begins, index.ends[low:high], side="left")
    nested: Ints = cumulative[until] - cumulative[at]
    return nested


def busy_ns(wanted: Range, file: TraceFile, track: Track) -> int:
    """For how long of the range there is a slice on the track."""
    parts = [(starts, ends) for _, _, _, starts, ends in lanes_in(wanted, file, track)]
    if not parts:
        return 0
    starts = np.concatenate([p[0] for p in parts])
    ends = np.concatenate([p[1] for p in parts])
    if len(parts) > 1:
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
        covered: NDArray[np.int64] = np.maximum.accumulate(ends)
        starts = np.maximum(starts, np.append(starts[0], covered[:-1]))
        return int(
            np.maximum(covered - starts, 0)[np.append(True, covered[1:] > covered[:-1])].sum()
        )
    return int((ends - starts).sum())
