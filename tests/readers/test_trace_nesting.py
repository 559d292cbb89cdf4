"""Depths of slices: in any portions the same, and never two on one place."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_npu_plugin.backend.readers.trace_nesting import Nesting, ends_of


def free_rows(slices: list[tuple[int, int]]) -> list[int]:
    """Each slice in the first row that is free, one by one."""
    rows: list[int] = []
    out = []
    for start, end in slices:
        row = next((i for i, until in enumerate(rows) if until <= start), len(rows))
        rows[row : row + 1] = [end]
        out.append(row)
    return out


def depths(slices: list[tuple[int, int]], *cuts: int) -> list[int]:
    nesting = Nesting()
    bounds = [0, *sorted(cuts), len(slices)]
    out: list[int] = []
    for low, high in pairwise(bounds):
        part = np.array(slices[low:high], dtype=np.int64).reshape(-1, 2)
        out += nesting.depths(part[:, 0], part[:, 1]).tolist()
    return out


@pytest.mark.parametrize(
    ("slices", "wanted"),
    [
        ([(0, 10), (1, 4), (2, 3), (5, 9), (10, 12)], [0, 1, 2, 1, 0]),
        ([(0, 10), (5, 15), (11, 14), (20, 21)], [0, 1, 0, 0]),
        ([(0, 4), (0, 2), (2, 4), (4, 5)], [0, 1, 1, 0]),
        ([], []),
    ],
)
def test_by_hand(slices: list[tuple[int, int]], wanted: list[int]) -> None:
    assert depths(slices) == wanted


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 15)), max_size=40),
    st.lists(st.integers(0, 40), max_size=3),
)
def test_in_any_portions_the_first_free_row(pairs: list[tuple[int, int]], cuts: list[int]) -> None:
    slices = sorted(((a, a + n) for a, n in pairs), key=lambda s: (s[0], -s[1]))
    wanted = free_rows(slices)
    assert depths(slices, *(min(c, len(slices)) for c in cuts)) == wanted
    rows: dict[int, int] = {}
    for (start, end), row in zip(slices, wanted, strict=True):
        assert rows.get(row, 0) <= start
        rows[row] = end


def test_ends_are_after_starts() -> None:
    start = np.array([5, 5, 5, 5, 2**62], dtype=np.int64)
    ends = ends_of(start, np.array([0.0, 0.4, 3.9, np.nan, 1e300]))
    assert ends.tolist()[:4] == [6, 6, 8, 6]
    assert ends[4] > 2**62 - 1
