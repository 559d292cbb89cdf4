"""What is part of what: by time, also where slices overlap without nesting."""

from __future__ import annotations

import numpy as np

from tb_npu_plugin.backend.timeline import nesting
from tb_npu_plugin.backend.timeline.nesting import Nested, nested
from tests.timeline.small_index import index_of


def look(*slices: tuple[int, int, int, str]) -> Nested:
    """(depth, start, end, name), by depth and start."""
    index = index_of(slices)
    lanes = [
        (lane, first, last, index.starts[first:last], index.ends[first:last])
        for lane in index.lanes
        for first, last in [(int(lane["first"]), int(lane["first"] + lane["count"]))]
    ]
    return nested(index, lanes)


def test_calls_that_nest() -> None:
    found = look((0, 0, 100, "a"), (1, 10, 40, "b"), (1, 50, 90, "c"), (2, 60, 70, "d"))
    assert found.parents.tolist() == [-1, 0, 0, 2]
    assert found.levels.tolist() == [0, 1, 1, 2]
    assert found.selves().tolist() == [30, 30, 30, 10]


def test_a_marker_that_overlaps_the_frame_it_began_in() -> None:
    """train() calls step() at 10, which opens a step at 15 and returns at 20; the step ends at 90."""
    found = look(
        (0, 0, 100, "train"), (1, 10, 20, "step()"), (2, 15, 90, "Step"), (3, 30, 60, "op")
    )
    assert found.parents.tolist() == [-1, 0, 0, 2], "the step is part of train(), not of step()"
    assert found.selves().tolist() == [20, 10, 45, 30]


def test_depths_and_time_agree_where_everything_nests() -> None:
    seed = np.random.default_rng(3)
    slices: list[tuple[int, int, int, str]] = []

    def fill(depth: int, low: int, high: int) -> None:
        at = low
        while depth < 6 and high - at > 8:
            begin = at + int(seed.integers(0, (high - at) // 3))
            end = begin + 1 + int(seed.integers(1, max(2, (high - begin) // 2)))
            slices.append((depth, begin, end, f"n{depth}"))
            fill(depth + 1, begin, end)
            at = end

    fill(0, 0, 4000)
    slices.sort()
    fast = look(*slices)
    starts, ends = fast.starts, fast.ends
    parents, levels, inner = nesting._one_by_one(starts, ends)
    assert fast.inner.tolist() == inner.tolist()
    assert fast.parents.tolist() == parents.tolist()
    assert fast.levels.tolist() == levels.tolist() == [s[0] for s in slices]
