"""Idle gaps of the device's tracks in a window: where nothing of a track runs, at any of its depths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb_npu_plugin.backend.slice_index import INSTANTS, Ints, SliceIndex
from tb_npu_plugin.backend.timeline.windows import Items

#: A narrower gap is only the space between neighbours; a shorter one a launch like any other.
LEAST_PIXELS = 12
LEAST_NS = 10_000


def gaps(
    index: SliceIndex, track: int, found: Sequence[Items], begin: int, end: int, pixel_ns: float
) -> tuple[Ints, Ints]:
    """(starts, ends) of the gaps worth a mark that touch [begin, end), whole and in order.

    ``found``: what is drawn of each lane of the track. Before its first slice and after its last
    a track is not idle: nothing tells that it should have run.
    """
    starts = [items.starts for items in found]
    ends = [items.ends for items in found]
    for lane in index.lanes_of(track):
        if lane["depth"] == INSTANTS:
            continue
        # The neighbours outside: a gap may begin or end beyond the window.
        first, last = int(lane["first"]), int(lane["first"] + lane["count"])
        own = index.starts[first:last]
        before = first + int(np.searchsorted(own, begin, side="left")) - 1
        after = first + int(np.searchsorted(own, end, side="left"))
        rows = [row for row in (before, after) if first <= row < last]
        starts.append(np.asarray(index.starts[rows]))
        ends.append(np.asarray(index.ends[rows]))
    if not starts:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    start, until = np.concatenate(starts), np.concatenate(ends)
    order = np.argsort(start, kind="stable")
    start, busy = start[order], np.maximum.accumulate(until[order])
    idle_from, idle_to = busy[:-1], start[1:]
    shown = np.minimum(idle_to, end) - np.maximum(idle_from, begin)
    worth = (idle_to - idle_from >= LEAST_NS) & (shown >= LEAST_PIXELS * pixel_ns)
    return idle_from[worth], idle_to[worth]
