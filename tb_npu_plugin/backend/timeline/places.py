"""Slices found by time: the one at a moment, its neighbours, what is nested in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_npu_plugin.backend.results.timeline import SliceRef
from tb_npu_plugin.backend.slice_index import INSTANTS, Ints, SliceIndex
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
    """The slice that ``row`` is part of, by the rule of :func:`nesting.nested`."""
    lane, start, end = index.lane_at(row), int(index.starts[row]), int(index.ends[row])
    found: list[tuple[bool, int, int, int]] = []
    for other in index.lanes_of(int(lane["track"])):
        if other["depth"] in (INSTANTS, lane["depth"]):
            continue
        at = at_moment(index, other, start)
        if at is None or index.ends[at] <= start:
            continue
        begin, until = int(index.starts[at]), int(index.ends[at])
        if begin == start and until <= end and other["depth"] > lane["depth"]:
            continue  # it is within this one
        found.append((until >= end, begin, -until, at))
    return max(found)[3] if found else None


def nested_ns(index: SliceIndex, row: int) -> int:
    """How much of a slice is covered by the slices within it."""
    lane, begin, end = index.lane_at(row), int(index.starts[row]), int(index.ends[row])
    starts, ends = [], []
    for other in index.lanes_of(int(lane["track"])):
        if other["depth"] in (INSTANTS, lane["depth"]):
            continue
        first, count = int(other["first"]), int(other["count"])
        low, high = first + np.searchsorted(index.starts[first : first + count], [begin, end])
        part = slice(int(low), int(high))
        inside = np.ones(part.stop - part.start, dtype=bool)
        if other["depth"] < lane["depth"]:  # what begins with it and is drawn above is around it
            inside = index.starts[part] > begin
        starts.append(index.starts[part][inside])
        ends.append(np.minimum(index.ends[part], end)[inside])
    return union_ns(starts, ends)


def union_ns(starts: list[Ints], ends: list[Ints]) -> int:
    """For how long there is any of these spans."""
    if not starts:
        return 0
    begin, end = np.concatenate(starts), np.concatenate(ends)
    if not len(begin):
        return 0
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.maximum.accumulate(end[order])
    begin[1:] = np.maximum(begin[1:], end[:-1])
    return int(np.maximum(end - begin, 0).sum())


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
