"""Which slice is part of which: by time, since depths only say where a slice is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tb_npu_plugin.backend.slice_index import INSTANTS, Ints, SliceIndex
from tb_npu_plugin.backend.timeline.windows import touching

#: (lane, first row, row behind the last, starts, ends), the times cut to a range.
Lane = tuple[Any, int, int, Ints, Ints]
#: Slices of a track that are looked at one by one where they overlap without nesting. Where there
#: are more, depths decide, and some callers may be missing.
MAX_ONE_BY_ONE = 2_000_000


@dataclass(frozen=True)
class Nested:
    """Slices of one track, by row. ``parents``: places in these arrays, -1 for none; ``levels``: how
    many slices a slice is within."""

    rows: Ints
    starts: Ints
    ends: Ints
    codes: Ints
    parents: Ints
    levels: Ints
    inner: Ints
    """How much of each is covered by what is directly within it."""

    def selves(self) -> Ints:
        """Time of each less that of what is nested directly in it."""
        left: Ints = np.maximum(self.ends - self.starts - self.inner, 0)
        return left


def nested(index: SliceIndex, lanes: list[Lane], most: int = MAX_ONE_BY_ONE) -> Nested:
    """The slices of a track's lanes with what each is part of: the innermost that is around it.

    Slices may overlap without nesting (markers of steps among Python's frames). One that nothing is
    around counts as part of what is still open when it begins.
    """
    empty = [np.zeros(0, dtype=np.int64)]
    rows = np.concatenate([np.arange(low, high) for _, low, high, _, _ in lanes] or empty)
    starts = np.concatenate([lane[3] for lane in lanes] or empty)
    ends = np.concatenate([lane[4] for lane in lanes] or empty)
    if len(rows) > most or _nested_by_depth(lanes):
        parents, levels = _by_depth(lanes)
        within = np.flatnonzero(parents >= 0)
        above = parents[within]
        shared = np.minimum(ends[within], ends[above]) - starts[within]
        # Slices of one depth never overlap: their sum is what they cover.
        inner = np.bincount(above, weights=shared, minlength=len(rows)).astype(np.int64)
    else:
        parents, levels, inner = _one_by_one(starts, ends)
    return Nested(rows, starts, ends, index.codes[rows].astype(np.int64), parents, levels, inner)


def _nested_by_depth(lanes: list[Lane]) -> bool:
    """Whether every slice lies within one of the depth before it."""
    for outer, inner in pairwise(lanes):
        at = np.searchsorted(outer[3], inner[3], side="right") - 1
        if (at < 0).any() or (outer[4][at] < inner[4]).any():
            return False
    return True


def _by_depth(lanes: list[Lane]) -> tuple[Ints, Ints]:
    parents: list[Ints] = []
    levels: list[Ints] = []
    before = 0
    for lane, (_, _, _, starts, _) in enumerate(lanes):
        above = np.full(len(starts), -1, dtype=np.int64)
        level = np.zeros(len(starts), dtype=np.int64)
        if lane:
            outer = lanes[lane - 1]
            at = np.searchsorted(outer[3], starts, side="right") - 1
            inside = (at >= 0) & (outer[4][np.maximum(at, 0)] > starts)
            above[inside] = before + at[inside]
            level[inside] = levels[-1][at[inside]] + 1
            before += len(outer[3])
        parents.append(above)
        levels.append(level)
    if not parents:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.concatenate(parents), np.concatenate(levels)


def _one_by_one(starts: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """(parents, levels, how much of each its children cover), in one walk by time."""
    parents, levels, inner = [-1] * len(starts), [0] * len(starts), [0] * len(starts)
    order = np.lexsort((-ends, starts))
    open_: list[tuple[int, int]] = []
    covered: dict[int, int] = {}
    until = ends.tolist()
    columns = (order.tolist(), starts[order].tolist(), ends[order].tolist())
    for at, start, end in zip(*columns, strict=True):
        while open_ and open_[-1][0] <= start:
            open_.pop()
        if open_:
            # The innermost one around all of it; else the innermost that is still open.
            parent = next((p for last, p in reversed(open_) if last >= end), open_[-1][1])
            parents[at] = parent
            levels[at] = levels[parent] + 1
            last = min(end, until[parent])
            inner[parent] += max(0, last - max(start, covered.get(parent, start)))
            covered[parent] = max(last, covered.get(parent, start))
        open_.append((end, at))
    return tuple(np.array(c, dtype=np.int64) for c in (parents, levels, inner))  # type: ignore[return-value]


def self_ns(index: SliceIndex, row: int, most: int = 200_000) -> int:
    """Duration of one slice less what is covered by the slices directly within it."""
    start, end = int(index.starts[row]), int(index.ends[row])
    lanes: list[Lane] = []
    for lane in index.lanes_of(int(index.lane_at(row)["track"])):
        # What is around it is needed, too: it may be around what outlives this slice.
        low, high = touching(index, lane, start, max(end, start + 1))
        if lane["depth"] != INSTANTS and high > low:
            at = slice(low, high)
            lanes.append(
                (lane, low, high, np.asarray(index.starts[at]), np.asarray(index.ends[at]))
            )
    found = nested(index, lanes, most)
    return int(found.selves()[np.searchsorted(found.rows, row)])
