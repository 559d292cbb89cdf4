"""Arrows between slices: those of one slice, and those in a window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tb_npu_plugin.backend.results.timeline import Flows, SliceFlow, TimelineFlow
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.timeline.drawing import Window
from tb_npu_plugin.backend.timeline.files import (
    TraceFile,
    base_of,
    by_file,
    chosen,
    flows_of,
    trace_files,
)
from tb_npu_plugin.backend.timeline.places import deepest, reference

#: Arrows of one slice that are looked at, and that are listed.
_LOOKED_AT, LISTED = 5000, 100
MAX_FLOWS = 2000


def flows_of_slice(file: TraceFile, row: int, base: int) -> tuple[list[SliceFlow], int]:
    """The arrows that begin or end in a slice itself (not in one nested in it), and their number.

    Of an outer slice with very many only the first are looked at.
    """
    index, flows = file.index, flows_of(file.store, str(file.paths["flows"]))
    found: list[SliceFlow] = []
    total = 0
    for forward in (False, True):
        there = "to" if forward else "from"
        for n in _own(file, flows, forward, row):
            other = deepest(index, int(flows[f"{there}_track"][n]), int(flows[f"{there}_ns"][n]))
            to = reference(file, other, base)
            total += 1
            if to and len(found) < LISTED:
                found.append(SliceFlow(flows["kinds"][flows["kind"][n]], forward, to))
    return found, total


def launches(file: TraceFile, row: int) -> list[tuple[int, int]]:
    """(track, moment) at which the arrows to a slice itself begin, the earliest first."""
    flows = flows_of(file.store, str(file.paths["flows"]))
    found = [
        (int(flows["from_ns"][n]), int(flows["from_track"][n]))
        for n in _own(file, flows, False, row)
    ]
    return [(of, moment) for moment, of in sorted(found) if file.track(of)]


def _own(file: TraceFile, flows: dict[str, Any], forward: bool, row: int) -> Iterator[int]:
    """The arrows that begin (``forward``) or end in a slice itself."""
    index, track = file.index, int(file.index.lane_at(row)["track"])
    moments = flows["from_ns" if forward else "to_ns"]
    ends = _ends_in(flows, forward, track, int(index.starts[row]), int(index.ends[row]))
    for n in ends[:_LOOKED_AT].tolist():
        if deepest(index, track, int(moments[n])) == row:
            yield n


def _ends_in(flows: dict[str, Any], forward: bool, track: int, begin: int, end: int) -> Any:
    """Arrows that begin (``forward``) or end on a track within [begin, end], by that time."""
    if forward:
        low = np.searchsorted(flows["from_ns"], begin, side="left")
        high = np.searchsorted(flows["from_ns"], end, side="right")
        at = np.arange(low, high)
        return at[flows["from_track"][at] == track]
    ordered = flows["to_ns"][flows["by_end"]]
    low = np.searchsorted(ordered, begin, side="left")
    high = np.searchsorted(ordered, end, side="right")
    at = flows["by_end"][low:high]
    return at[flows["to_track"][at] == track]


def flows_in(sel: Selected, wanted: Window, limit: int) -> Flows:
    """Arrows with an end in the window and both ends on the wanted tracks, the longest first."""
    wanted.check()
    files = trace_files(sel)
    base = base_of(files) or 0
    found: list[tuple[int, TraceFile, dict[str, Any], int, int]] = []
    total = 0
    for file, tracks in by_file(chosen(files, wanted.tracks)):
        flows = flows_of(file.store, str(file.paths["flows"]))
        shift = wanted.shifts.get(file.part, 0)
        low, high = wanted.begin + base - shift, wanted.end + base - shift
        start, end = flows["from_ns"], flows["to_ns"]
        numbers = [track.number for track in tracks]
        mask = ((start >= low) & (start < high)) | ((end >= low) & (end < high))
        mask &= np.isin(flows["from_track"], numbers) & np.isin(flows["to_track"], numbers)
        at = np.flatnonzero(mask)
        total += len(at)
        lengths = np.abs(end[at] - start[at])
        top = np.argsort(-lengths, kind="stable")[:limit]
        found += [(int(lengths[i]), file, flows, int(at[i]), shift) for i in top]
    found.sort(key=lambda f: -f[0])
    return Flows([_flow(*f[1:], base) for f in found[:limit]], total)


def _flow(file: TraceFile, flows: dict[str, Any], n: int, shift: int, base: int) -> TimelineFlow:
    index, ids = file.index, file.ids()
    ends: list[tuple[int, int, int]] = []
    for side in ("from", "to"):
        track, moment = int(flows[f"{side}_track"][n]), int(flows[f"{side}_ns"][n])
        row = deepest(index, track, moment)
        depth = 0 if row is None else max(0, int(index.lane_at(row)["depth"]))
        ends.append((ids[track], depth, moment - base + shift))
    kind = flows["kinds"][flows["kind"][n]]
    return TimelineFlow(kind, *ends[0], *ends[1])
