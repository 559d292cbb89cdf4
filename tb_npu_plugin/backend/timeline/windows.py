"""What of a lane is drawn in a window: single slices, and runs of slices narrower than a pixel.

Cost goes by pixels, not by slices: blocks of slices (:mod:`slice_index`) that are narrower than a
pixel are taken whole, and only wider ones are opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_npu_plugin.backend.slice_index import BLOCK, LEVELS, Ints, SliceIndex


@dataclass(frozen=True)
class Items:
    """Drawn items of one lane, in order, never overlapping. Times are ns, as in the index.

    ``busy``: the sum of the durations of the ``count`` slices that begin at row ``first``;
    ``longest``: the row of the longest of them.
    """

    starts: Ints
    ends: Ints
    busy: Ints
    first: Ints
    count: Ints
    longest: Ints

    def __len__(self) -> int:
        return len(self.starts)


def items(index: SliceIndex, lane: Any, begin: int, end: int, pixel_ns: float) -> Items:
    """Every slice of ``lane`` that touches [begin, end), each alone or in a run.

    A slice of at least a pixel stands alone. Neighbours that are narrower and begin in one pixel are
    one run, so that for any window the busy time of the items is that of the slices, and the longest
    slice is always drawn.
    """
    low, high = touching(index, lane, begin, end)
    first, count, level = _atoms(index, lane, low, high, pixel_ns)
    if not len(first):
        empty = np.zeros(0, dtype=np.int64)
        return Items(empty, empty, empty, empty, empty, empty)
    starts, ends, busy, longest = _values(index, lane, first, count, level)
    wide = (ends - starts >= pixel_ns) & (count == 1)
    pixel = ((starts - begin) / pixel_ns).astype(np.int64)
    new = np.ones(len(first), dtype=bool)
    new[1:] = (pixel[1:] != pixel[:-1]) | wide[1:] | wide[:-1]
    runs = np.flatnonzero(new)
    if len(runs) == len(first):
        return Items(starts, ends, busy, first, count, longest)
    last = np.append(runs[1:], len(first)) - 1
    own = index.ends[longest] - index.starts[longest]
    most = np.maximum.reduceat(own, runs)
    places = np.flatnonzero(own == np.repeat(most, last - runs + 1))
    return Items(
        starts[runs],
        ends[last],
        np.add.reduceat(busy, runs),
        first[runs],
        np.add.reduceat(count, runs),
        longest[places[np.searchsorted(places, runs)]],
    )


def touching(index: SliceIndex, lane: Any, begin: int, end: int) -> tuple[int, int]:
    """Rows [low, high) of the lane that touch the window; an instant at its beginning does."""
    first, count = int(lane["first"]), int(lane["count"])
    starts, ends = index.starts[first : first + count], index.ends[first : first + count]
    low = int(np.searchsorted(ends, begin, side="right"))
    # Slices without length that lie at the very beginning end there, too.
    low = min(low, int(np.searchsorted(starts, begin, side="left")))
    return first + low, first + max(low, int(np.searchsorted(starts, end, side="left")))


def _atoms(
    index: SliceIndex, lane: Any, low: int, high: int, pixel_ns: float
) -> tuple[Ints, Ints, Ints]:
    """Rows [low, high) as (first row, rows, level) of slices and of blocks within a pixel, in order."""
    lane_first, lane_end = int(lane["first"]), int(lane["first"] + lane["count"])
    found_first: list[Ints] = []
    found_count: list[Ints] = []
    found_level: list[Ints] = []
    size = BLOCK**LEVELS
    # Where fewer are wanted than a coarse block holds, no coarse block can help.
    level = LEVELS
    while level and high - low < 4 * size:
        level, size = level - 1, size // BLOCK
    numbers = np.arange((low - lane_first) // size, -(-(high - lane_first) // size))
    while level:
        block = index.blocks[level - 1][int(lane[f"block{level}"]) + numbers]
        first = lane_first + numbers * size
        last = np.minimum(first + size, lane_end)
        opened = (block["end"] - block["start"] > pixel_ns) | (first < low) | (last > high)
        whole = ~opened
        found_first.append(first[whole])
        found_count.append((last - first)[whole])
        found_level.append(np.full(int(whole.sum()), level))
        below = (numbers[opened][:, None] * BLOCK + np.arange(BLOCK)).ravel()
        level, size = level - 1, size // BLOCK
        at = lane_first + below * size
        numbers = below[(at < min(high, lane_end)) & (at + size > low)]
    rows = lane_first + numbers
    rows = rows[(rows >= low) & (rows < high)]
    if not found_first:
        return rows, np.ones(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    first = np.concatenate([*found_first, rows])
    count = np.concatenate([*found_count, np.ones(len(rows), dtype=np.int64)])
    levels = np.concatenate([*found_level, np.zeros(len(rows), dtype=np.int64)])
    order = np.argsort(first, kind="stable")
    return first[order], count[order], levels[order]


def _values(
    index: SliceIndex, lane: Any, first: Ints, count: Ints, level: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """(starts, ends, busy, longest) of atoms."""
    single = level == 0
    if single.all():
        # Neighbours in the file: a slice of the map is read faster than single rows.
        plain = int(first[-1]) - int(first[0]) + 1 == len(first)
        at: Any = slice(int(first[0]), int(first[-1]) + 1) if plain else first
        starts, ends = np.asarray(index.starts[at]), np.asarray(index.ends[at])
        return starts, ends, ends - starts, first
    starts, ends = np.empty_like(first), np.empty_like(first)
    busy, longest = np.empty_like(first), first.copy()
    rows = first[single]
    starts[single], ends[single] = index.starts[rows], index.ends[rows]
    busy[single] = ends[single] - starts[single]
    for lvl in range(1, LEVELS + 1):
        here = level == lvl
        if not here.any():
            continue
        numbers = int(lane[f"block{lvl}"]) + (first[here] - int(lane["first"])) // BLOCK**lvl
        block = index.blocks[lvl - 1][numbers]
        starts[here], ends[here] = block["start"], block["end"]
        busy[here], longest[here] = block["busy"], block["longest"]
    return starts, ends, busy, longest


def hits_in(found: Items, rows: NDArray[np.int64]) -> Ints:
    """How many of ``rows`` (sorted) lie in each item."""
    ends = np.searchsorted(rows, found.first + found.count)
    return np.asarray(ends - np.searchsorted(rows, found.first), dtype=np.int64)
