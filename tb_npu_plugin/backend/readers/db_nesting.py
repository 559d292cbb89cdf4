"""Host and device times of operators that nest by time on their threads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tb_npu_plugin.backend.readers.trace_nesting import Nesting

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Times:
    """Per operator: host and device times in ns, and whether it runs in one of its own name."""

    host_self: Floats
    host_total: Floats
    device: Floats
    aicore: Floats
    same_name: npt.NDArray[np.bool_]


def nested(
    start: Ints, end: Ints, thread: Ints, name: Ints, device: Floats, aicore: Floats
) -> Times:
    """Times of operators; ``device`` and ``aicore`` are what each launched itself.

    >>> one, two = np.array([0, 2]), np.array([10, 6])
    >>> nested(one, two, one * 0, one, one * 1.0, one * 0.0).host_self.tolist()
    [6.0, 4.0]
    """
    order = np.lexsort((np.arange(len(start)), -end, start, thread))
    depth, parent = _parents(start[order], end[order], thread[order])
    total = (end - start).astype(np.float64)
    inner = total[order]
    child = parent >= 0
    taken = np.bincount(parent[child], weights=inner[child], minlength=len(order))
    out = np.empty_like(total)
    out[order] = inner - taken
    same = np.zeros(len(order), dtype=bool)
    same[order] = _same_name(parent, name[order])
    sums = []
    for own in (device, aicore):
        summed = np.empty_like(total)
        summed[order] = _summed(own[order], depth, parent)
        sums.append(summed)
    return Times(out, total, sums[0], sums[1], same)


def _parents(start: Ints, end: Ints, thread: Ints) -> tuple[Ints, Ints]:
    """Depth, and the row that each runs in (−1: none). Rows by thread, start, longest first."""
    depth = np.empty(len(start), dtype=np.int64)
    edges = [0, *(np.flatnonzero(np.diff(thread)) + 1).tolist(), len(start)]
    # A zero-length operator still has to end after it begins to lie in something.
    ends = np.maximum(end, start + 1)
    for low, high in pairwise(edges):
        depth[low:high] = Nesting().depths(start[low:high], ends[low:high])
    parent = np.full(len(start), -1, dtype=np.int64)
    levels = [np.flatnonzero(depth == level) for level in range(int(depth.max(initial=-1)) + 1)]
    for level in range(1, len(levels)):
        left = levels[level]
        # What overlaps without nesting may lie below something that does not hold it.
        for above in reversed(levels[:level]):
            at = np.searchsorted(above, left) - 1
            held = above[np.maximum(at, 0)]
            holds = (at >= 0) & (end[held] >= end[left]) & (ends[held] > start[left])
            holds &= thread[held] == thread[left]
            parent[left[holds]] = held[holds]
            left = left[~holds]
            if not len(left):
                break
    return depth, parent


def _same_name(parent: Ints, name: Ints) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(parent), dtype=bool)
    rows, above = np.arange(len(parent)), parent
    while len(rows := rows[keep := above >= 0]):
        above = above[keep]
        found[rows] |= name[above] == name[rows]
        above = parent[above]
    return found


def _summed(own: Floats, depth: Ints, parent: Ints) -> Floats:
    """Each row's own value and those of all rows inside it."""
    total: Floats = own.copy()
    for level in range(int(depth.max(initial=0)), 0, -1):
        rows = np.flatnonzero((depth == level) & (total != 0) & (parent >= 0))
        np.add.at(total, parent[rows], total[rows])
    return total
