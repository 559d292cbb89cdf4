"""Clocks of ranks from the collectives they share: what is planted comes out, whatever the groups."""

from __future__ import annotations

import numpy as np
import pytest

from tb_npu_plugin.backend.views.clocks import solve


def solved(offsets: list[float], groups: list[list[int]], noise: float = 0.0) -> list[float]:
    """Clocks of ranks with ``offsets`` that end the collectives of ``groups`` at the same moments."""
    random = np.random.default_rng(1)
    ranks, numbers, late = [], [], []
    for number, members in enumerate(groups):
        ends = np.array([offsets[m] for m in members]) + random.normal(0, noise, len(members))
        ranks += members
        numbers += [number] * len(members)
        late += list(ends - np.median(ends))
    clock, _ = solve(np.array(ranks), np.array(numbers), np.array(late), np.ones(len(ranks)))
    return list(clock)


def test_a_pair_alone_cannot_tell_whose_clock_it_is() -> None:
    assert solved([0, 10], [[0, 1]]) == pytest.approx([-5, 5])


def test_pairs_and_columns_of_a_job_tell_it() -> None:
    """tp = 2, dp = 4: the pairs say 1 ms each way, the columns say 2 ms and none."""
    pairs, columns = [[i, i + 1] for i in (0, 2, 4, 6)], [[0, 2, 4, 6], [1, 3, 5, 7]]
    offsets = [0.0] * 5 + [2e6] + [0.0] * 2
    assert solved(offsets, pairs + columns) == pytest.approx(offsets, abs=1)


def test_a_chain_of_pairs_is_followed_to_its_end() -> None:
    offsets = [100.0 * i for i in range(33)]
    found = solved(offsets, [[i, i + 1] for i in range(32)])
    assert found == pytest.approx([o - 1600 for o in offsets], abs=2)


def test_ranks_that_never_meet_have_a_median_each() -> None:
    offsets = [0.0, 0.0, 30.0, 500.0, 500.0, 560.0]
    found = solved(offsets, [[0, 1, 2], [3, 4, 5]])
    assert found == pytest.approx([0, 0, 30, 0, 0, 60], abs=1)


def test_1024_ranks_with_noise() -> None:
    random = np.random.default_rng(2)
    offsets = list(random.normal(0, 50_000, 1024))
    tp = [list(range(i, i + 8)) for i in range(0, 1024, 8)]
    dp = [list(range(i, 1024, 8)) for i in range(8)]
    found = np.array(solved(offsets, [*tp, *dp, list(range(1024))], noise=100))
    wanted = np.array(offsets) - np.median(offsets)
    assert np.abs(found - wanted).max() < 500
