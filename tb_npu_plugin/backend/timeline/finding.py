"""The answer to a search: how many slices match, where, and which come next."""

from __future__ import annotations

import heapq

import numpy as np

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.results.timeline import Search, SliceRef
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.timeline.files import TraceFile, base_of, chosen, trace_files
from tb_npu_plugin.backend.timeline.places import reference
from tb_npu_plugin.backend.timeline.search import matching_names, matching_rows

MAX_MATCHES = 1000


def search(sel: Selected, find: str, at: float, tracks: str | None, limit: int) -> Search:
    """Slices that match ``find`` (:func:`search.matching_rows`); ``at``: ns after the base.

    Next and previous go by start, then by row. Raises RequestError 400 for a bad expression or limit.
    """
    if not 1 <= limit <= MAX_MATCHES:
        raise RequestError(400, "bad-page", f"limit is 1 to {MAX_MATCHES}.")
    files = trace_files(sel)
    base = base_of(files) or 0
    wanted: dict[tuple[int, int], dict[int, int]] = {}
    for file, track in chosen(files, tracks):
        wanted.setdefault((file.part, file.ordinal), {})[track.number] = track.id
    moment = int(at) + base
    result = Search(0, 0, 0, [], [], None, None)
    longest: list[tuple[int, int, TraceFile, int]] = []
    before: list[tuple[int, int, TraceFile, int]] = []
    after: list[tuple[int, int, TraceFile, int]] = []
    for number, file in enumerate(files):
        ids = wanted.get((file.part, file.ordinal))
        rows = matching_rows(file, find) if ids else np.zeros(0, dtype=np.int64)
        if not ids or not len(rows):
            continue
        index = file.index
        result.names += matching_names(file, find)
        lanes = np.searchsorted(index.lanes["first"], rows, side="right") - 1
        numbers = index.lanes["track"][lanes]
        inside = np.isin(numbers, list(ids))
        rows, numbers = rows[inside], numbers[inside]
        different, counts = np.unique(numbers, return_counts=True)
        result.tracks += [(ids[int(t)], int(n)) for t, n in zip(different, counts, strict=True)]
        starts = index.starts[rows]
        lengths = index.ends[rows] - starts
        result.total += len(rows)
        result.before += int((starts < moment).sum())
        top = np.argsort(-lengths, kind="stable")[:limit]
        longest += [(-int(lengths[i]), number, file, int(rows[i])) for i in top]
        earlier, later = starts < moment, starts > moment
        if earlier.any():
            i = np.flatnonzero(earlier)[np.argmax(starts[earlier])]
            before.append((-int(starts[i]), number, file, int(rows[i])))
        if later.any():
            i = np.flatnonzero(later)[np.argmin(starts[later])]
            after.append((int(starts[i]), number, file, int(rows[i])))
    for found in heapq.nsmallest(limit, longest, key=lambda f: (f[0], f[1], f[3])):
        ref = reference(found[2], found[3], base)
        if ref:
            result.matches.append(ref)
    result.previous, result.next = _first(before, base), _first(after, base)
    return result


def _first(found: list[tuple[int, int, TraceFile, int]], base: int) -> SliceRef | None:
    if not found:
        return None
    _, _, file, row = min(found, key=lambda f: (f[0], f[1], f[3]))
    return reference(file, row, base)
