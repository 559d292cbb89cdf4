"""How far the clocks of ranks are apart, by the ends of the collectives that they share.

Ranks leave a collective together. So what a rank's ends lie behind the median end of a group is its
clock, less what the median of that group is off: in a group of two, half of the difference falls on
each. Ranks that meet in several groups tell both apart: ``late = clock - group`` is solved for all of
them at once, by least squares with the number of collectives as weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_npu_plugin.backend.listed import listed
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.collectives import collectives_source, matched_source

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Far more than it takes: as many as groups lie between the two farthest ranks, in exact arithmetic.
_ROUNDS = 1000
_EXACT_NS = 0.001
#: How much later than the median rank a rank ends a collective, by the clocks.
_LATE = "m.start_ns - c.start_ns + m.elapse_ns - c.lasts_ns"


def clocks_source(sel: Selected) -> str | None:
    """Table expression: per ``part`` its ``clock_ns``, ahead of the median rank's, and ``clock_error_ns``:
    the median of what its collectives end off from that. None where no two ranks met."""
    matched, collectives = matched_source(sel), collectives_source(sel)
    if matched is None or collectives is None:
        return None
    pairs = f"{matched} m JOIN {collectives} c USING (group_id, k)"
    rows = sel.once("clocks", sel.steps.text, make=lambda: _clocks(sel, pairs))
    if not rows:
        return None
    return listed({"part": "BIGINT", "clock_ns": "DOUBLE", "clock_error_ns": "DOUBLE"}, rows)


def aligned_source(sel: Selected) -> str | None:
    """:func:`collectives_source` with ``aligned_spread_ns``: first to last start, clocks put right."""
    matched, collectives, clocks = matched_source(sel), collectives_source(sel), clocks_source(sel)
    if matched is None or collectives is None or clocks is None:
        return None
    start = "m.start_ns - CAST(round(clocks.clock_ns) AS BIGINT)"
    return (
        "(SELECT c.*, a.aligned_spread_ns FROM "
        f"{collectives} c LEFT JOIN (SELECT group_id, k, max({start}) - min({start}) "
        f"AS aligned_spread_ns FROM {matched} m JOIN {clocks} clocks "
        "USING (part) GROUP BY group_id, k) a USING (group_id, k))"
    )


def _clocks(sel: Selected, pairs: str) -> list[tuple[int, float, float]]:
    found = sel.rows(
        f"SELECT group_id, m.part, median({_LATE}), count(*) FROM {pairs} "
        "WHERE m.elapse_ns IS NOT NULL GROUP BY group_id, m.part ORDER BY ALL"
    )
    if not found:
        return []
    names, parts, late, weights = zip(*found, strict=True)
    groups: Ints = np.unique(np.array(names), return_inverse=True)[1].astype(np.int64)
    ranks, numbers = np.unique(np.array(parts, np.int64), return_inverse=True)
    lates = np.array(late, np.float64)
    clock, base = solve(numbers, groups, lates, np.array(weights, np.float64))
    expected = listed(
        {"group_id": "VARCHAR", "part": "BIGINT", "expected_ns": "DOUBLE"},
        zip(names, parts, (clock[numbers] - base[groups]).tolist(), strict=True),
    )
    errors: dict[Any, Any] = dict(
        sel.query(
            lambda cursor: cursor.execute(
                f"SELECT m.part, median(abs({_LATE} - e.expected_ns)) FROM {pairs} "
                f"JOIN {expected} e ON e.group_id = m.group_id AND e.part = m.part GROUP BY m.part"
            ).fetchall()
        )
    )
    return [
        (int(part), float(at), float(errors.get(part) or 0.0))
        for part, at in zip(ranks, clock, strict=True)
    ]


def solve(ranks: Ints, groups: Ints, late: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """(clock of each rank, what each group's median is off), ns, so that ``clock - group`` comes as near
    to ``late`` as can be. The clocks of ranks that are linked by groups have a median of 0.

    Each of the four holds one row per rank of a group. With the best ``group`` put in, what remains is a
    symmetric system over the ranks, solved by conjugate gradients.
    """

    def against_groups(values: Floats) -> Floats:
        far = values - _mean(groups, values, weights)[groups]
        found: Floats = np.bincount(ranks, weights * far).astype(np.float64)
        return found

    scale = np.bincount(ranks, weights)
    clock = np.zeros(len(scale))
    rest = against_groups(late)
    step = rest / scale
    size = float(rest @ step)
    for _ in range(_ROUNDS):
        if np.abs(rest / scale).max() < _EXACT_NS:
            break
        moved = against_groups(step[ranks])
        length = size / float(step @ moved)
        clock, rest = clock + length * step, rest - length * moved
        before, size = size, float(rest @ (rest / scale))
        step = rest / scale + size / before * step
    linked = _linked(ranks, groups, len(clock), groups.max() + 1)
    for each in np.unique(linked):
        clock[linked == each] -= np.median(clock[linked == each])
    return clock, _mean(groups, clock[ranks] - late, weights)


def _mean(of: Ints, values: Floats, weights: Floats) -> Floats:
    """The weighted mean for each number in ``of``."""
    found: Floats = np.bincount(of, weights * values) / np.bincount(of, weights)
    return found


def _linked(ranks: Ints, groups: Ints, count: int, group_count: int) -> Ints:
    """A number per rank: the same for ranks that meet, directly or through others."""
    mark: Ints = np.arange(count, dtype=np.int64)
    while True:
        lowest = np.full(group_count, count)
        np.minimum.at(lowest, groups, mark[ranks])
        after: Ints = mark.copy()
        np.minimum.at(after, ranks, lowest[groups])
        if bool((after == mark).all()):
            return after
        mark = after
