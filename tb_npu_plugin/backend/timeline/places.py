"""Slices found by time: the one at a moment, its neighbours, what is nested in it."""

from __future__ import annotations

from collections.abc import Iterator
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


def callers(index: SliceIndex, row: int) -> Iterator[int]:
    """What a slice is part of, from the inside out, by the rule of :func:`nesting.nested`."""
    own, more = _place(index, row), True
    while more:
        before = sorted(_open_before(index, own), reverse=True)
        more = False
        for other in before:
            if other[1] <= own[1]:  # around all of it
                yield other[3]
                own, more = other, True
        if not more and before:  # the innermost that was still open
            yield before[0][3]
            own, more = before[0], True


def parent_of(index: SliceIndex, row: int) -> int | None:
    """The slice that ``row`` is part of."""
    return next(callers(index, row), None)


#: (start, -end, depth, row): slices in the order in which they are nested.
_Place = tuple[int, int, int, int]


def _place(index: SliceIndex, row: int) -> _Place:
    depth = int(index.lane_at(row)["depth"])
    return int(index.starts[row]), -int(index.ends[row]), depth, row


def _open_before(index: SliceIndex, own: _Place) -> list[_Place]:
    """Slices of the same track that are open when a slice begins, and are not within it."""
    found = []
    for lane in index.lanes_of(int(index.lane_at(own[3])["track"])):
        at = None if lane["depth"] == INSTANTS else at_moment(index, lane, own[0])
        if at is not None and index.ends[at] > own[0]:
            other = (int(index.starts[at]), -int(index.ends[at]), int(lane["depth"]), at)
            if other < own:
                found.append(other)
    return found


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
