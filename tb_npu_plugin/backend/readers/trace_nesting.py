"""Depth of slices: the row within their track in which they are drawn and never overlap."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def ends_of(start_ns: Ints, dur_ns: Floats) -> Ints:
    """Ends for :class:`Nesting`: fractions of a ns cut off, at least 1 ns after the start."""
    whole = np.nan_to_num(np.floor(dur_ns), nan=0.0, posinf=0.0)
    lengths: Ints = np.clip(whole, 1, 2.0**62).astype(np.int64)
    return np.minimum(start_ns, 2**62 - 1) + np.minimum(lengths, 2**62)


class Nesting:
    """Depths of one track's slices, which come in order of (start, -duration), in any portions.

    Nested slices lie below what they are nested in; where slices overlap without nesting, each
    takes the first row that is free. ``rows``: the ends of what was last put in each row.

    >>> Nesting().depths(np.array([0, 1, 5]), np.array([10, 4, 9])).tolist()
    [0, 1, 1]
    """

    def __init__(self) -> None:
        self.rows: list[int] = []

    def depths(self, starts: Ints, ends: Ints) -> Ints:
        carried = len(self.rows)
        if any(a < b for a, b in zip(self.rows, self.rows[1:], strict=False)):
            return self._one_by_one(starts, ends)
        low = np.iinfo(np.int64).min
        every_start = np.concatenate((np.full(carried, low), starts))
        every_end = np.concatenate((np.array(self.rows, dtype=np.int64), ends))
        depth: Ints = np.arange(len(every_start)) - np.searchsorted(
            np.sort(every_end), every_start, side="right"
        )
        wrong = _crossings(depth, every_end)
        if wrong is None:
            last = _last_per_row(depth)
            self.rows = every_end[last].tolist()
            return depth[carried:]
        # Nothing is open where the depth is 0: only the stretches with a crossing are done again.
        begins = np.flatnonzero(depth == 0)
        spans = np.unique(np.searchsorted(begins, wrong, side="right") - 1)
        for span in spans.tolist():
            begin = int(begins[span])
            end = int(begins[span + 1]) if span + 1 < len(begins) else len(depth)
            if begin < carried:
                again = Nesting()
                again.rows = self.rows
                depth[carried:end] = again._one_by_one(
                    every_start[carried:end], every_end[carried:end]
                )
            else:
                again = Nesting()
                depth[begin:end] = again._one_by_one(every_start[begin:end], every_end[begin:end])
            if end == len(depth):
                self.rows = again.rows
        if int(begins[-1]) not in [int(begins[s]) for s in spans[-1:]]:
            tail = int(begins[-1])
            self.rows = every_end[tail:][_last_per_row(depth[tail:])].tolist()
        return depth[carried:]

    def _one_by_one(self, starts: Ints, ends: Ints) -> Ints:
        rows = self.rows
        out = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            while rows and rows[-1] <= start:
                rows.pop()
            if rows and min(rows) <= start:
                row = next(i for i, until in enumerate(rows) if until <= start)
                rows[row] = end
            else:
                row = len(rows)
                rows.append(end)
            out.append(row)
        return np.array(out, dtype=np.int64)


def _crossings(depth: Ints, ends: Ints) -> Ints | None:
    """Where a slice ends after the one it should be nested in; None if nowhere."""
    found = []
    above = np.flatnonzero(depth == 0)
    for row in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == row)
        parent = np.searchsorted(above, here) - 1
        wrong = parent < 0
        wrong |= ends[above[np.maximum(parent, 0)]] < ends[here] if len(above) else True
        if wrong.any():
            found.append(here[wrong])
        above = here
    return np.concatenate(found) if found else None


def _last_per_row(depth: Ints) -> Ints:
    """Index of the last slice of each row that may still be open: rows up to the last one's."""
    if not len(depth):
        return depth
    backwards = depth[::-1]
    rows, first = np.unique(backwards, return_index=True)
    last: Ints = (len(depth) - 1 - first)[rows <= depth[-1]]
    return last
