"""Slices found by time: the one at a moment, its neighbours, what is nested in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_npu_plugin.backend.results.timeline import SliceRef
from tb_npu_plugin.backend.slice_index import INSTANTS, SliceIndex
from tb_npu_plugin.backend.timeline.files import TraceFile


def at_moment(index: SliceIndex, lane: Any, moment: int) -> int | None:
    """The row of the lane's slice that a moment falls into (its end included, if none begins there)."""
    first, count = int(lane["first"]), int(lane["count"])
    at = int(np.searchsorted(index.starts[first : first + count], moment, side="right")) - 1
    if at < 0:
        return None
    row = first + at
    return row if index.ends[row] >= moment else None


def deepest(index: SliceIndex, track: int, moment: int) -> int | None:
    """The row of the innermost slice of a track at a moment."""
    for lane in index.lanes_of(track)[::-1]:
        if lane["depth"] != INSTANTS and (row := at_moment(index, lane, moment)) is not None:
            return row
    return None


def parent_of(index: SliceIndex, row: int) -> int | None:
    """The slice that ``row`` is nested in."""
    lane = index.lane_at(row)
    if int(lane["depth"]) < 1:
        return None
    start = int(index.starts[row])
    for outer in index.lanes_of(int(lane["track"]))[::-1]:
        if INSTANTS < int(outer["depth"]) < int(lane["depth"]):
            found = at_moment(index, outer, start)
            if found is not None and index.ends[found] >= index.ends[row]:
                return found
    return None


def nested_ns(index: SliceIndex, row: int) -> int:
    """How much of a slice is covered by the slices nested directly in it."""
    lane = index.lane_at(row)
    for inner in index.lanes_of(int(lane["track"])):
        if int(inner["depth"]) == int(lane["depth"]) + 1:
            low, high = span(index, inner, int(index.starts[row]), int(index.ends[row]))
            return int((index.ends[low:high] - index.starts[low:high]).sum())
    return 0


def span(index: SliceIndex, lane: Any, begin: int, end: int) -> tuple[int, int]:
    """Rows [low, high) of the slices that begin within [begin, end)."""
    first, count = int(lane["first"]), int(lane["count"])
    starts = index.starts[first : first + count]
    low, high = np.searchsorted(starts, [begin, end], side="left")
    return first + int(low), first + int(high)


def reference(file: TraceFile, row: int | None, base: int) -> SliceRef | None:
    """What leads to a slice; None for none, or one on a track that is not shown."""
    if row is None:
        return None
    index, lane = file.index, file.index.lane_at(row)
    track = file.track(int(lane["track"]))
    if track is None:
        return None
    start = int(index.starts[row])
    return SliceRef(
        file.slice_id(row), track.id, max(0, int(lane["depth"])), index.names[index.codes[row]],
        start - base, float(index.ends[row] - start), f"{file.rank_label} · {track.where}",
    )  # fmt: skip
