"""The answer to a search: how many slices match, where, and which come next."""

from __future__ import annotations

import heapq

import numpy as np

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.results.timeline import Search, TrackMatches
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.slice_index import Ints
from tb_npu_plugin.backend.timeline.files import (
    TraceFile,
    base_of,
    by_file,
    chosen,
    slice_at,
    trace_files,
)
from tb_npu_plugin.backend.timeline.places import reference
from tb_npu_plugin.backend.timeline.search import matching_rows

MAX_MATCHES = 1000


def search(
    sel: Selected, find: str, at: float, tracks: str | None, limit: int, after: str | None = None
) -> Search:
    """Slices that match ``find`` (:func:`search.matching_rows`); ``at``: ns after the base.

    Next and previous go by start, then by capture and row; of those that begin at ``at`` the ones
    behind the slice ``after`` are next, so that none is passed over. Raises RequestError 400 for a
    bad expression, limit or slice.
    """
    if not 1 <= limit <= MAX_MATCHES:
        raise RequestError(400, "bad-page", f"limit is 1 to {MAX_MATCHES}.")
    files = trace_files(sel)
    base = base_of(files) or 0
    moment = int(at) + base
    mark = _marked(files, after) if after else None
    result = Search(0, 0, 0, [], [], None, None)
    longest: list[tuple[int, int, TraceFile, int]] = []
    before: list[tuple[int, int, int, TraceFile]] = []
    behind: list[tuple[int, int, int, TraceFile]] = []
    for number, (file, shown) in enumerate(by_file(chosen(files, tracks))):
        rows = matching_rows(file, find)
        if not len(rows):
            continue
        ids = {track.number: track.id for track in shown}
        index = file.index
        lanes = np.searchsorted(index.lanes["first"], rows, side="right") - 1
        numbers = index.lanes["track"][lanes]
        inside = np.isin(numbers, list(ids))
        rows, numbers = rows[inside], numbers[inside]
        result.names += len(np.unique(index.codes[rows]))
        different, counts = np.unique(numbers, return_counts=True)
        result.tracks += [
            TrackMatches(ids[int(t)], int(n)) for t, n in zip(different, counts, strict=True)
        ]
        starts = index.starts[rows]
        lengths = index.ends[rows] - starts
        result.total += len(rows)
        top = np.argsort(-lengths, kind="stable")[:limit]
        longest += [(-int(lengths[i]), number, file, int(rows[i])) for i in top]
        same = starts == moment
        earlier, later = starts < moment, starts > moment
        if mark is not None:
            place = _behind(file, rows, *mark)
            earlier |= same & (place < 0)
            later |= same & (place > 0)
        result.before += int(earlier.sum())
        if earlier.any():
            i = np.flatnonzero(earlier)[np.lexsort((rows[earlier], starts[earlier]))[-1]]
            before.append((int(starts[i]), number, int(rows[i]), file))
        if later.any():
            i = np.flatnonzero(later)[np.lexsort((rows[later], starts[later]))[0]]
            behind.append((int(starts[i]), number, int(rows[i]), file))
    for found in heapq.nsmallest(limit, longest, key=lambda f: (f[0], f[1], f[3])):
        ref = reference(found[2], found[3], base)
        if ref:
            result.matches.append(ref)
    if before:
        _, _, row, file = max(before, key=lambda f: f[:3])
        result.previous = reference(file, row, base)
    if behind:
        _, _, row, file = min(behind, key=lambda f: f[:3])
        result.next = reference(file, row, base)
    return result


def _behind(file: TraceFile, rows: Ints, other: TraceFile, row: int) -> Ints:
    """Whether slices come before (< 0) or behind (> 0) slice ``row`` of another file or this one."""
    own, marked = (file.part, file.ordinal), (other.part, other.ordinal)
    return rows - row if own == marked else np.full(len(rows), 1 if own > marked else -1)


def _marked(files: list[TraceFile], name: str) -> tuple[TraceFile, int] | None:
    """The slice to go on from; None where another selection no longer has it."""
    try:
        return slice_at(files, name)
    except RequestError:
        return None
