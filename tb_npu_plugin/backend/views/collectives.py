"""Collectives of several ranks matched with each other: who came last, and what that cost.

Sources number operations from the start of a capture, and captures do not start at the same one.
So the k-th collective of a group on one rank is the (k + shift)-th on another; the shift comes from
the steps where they are known, else from the order of types and sizes, else from the clocks.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.store import Store

#: Captures of one job start at most so many collectives of a group apart.
MAX_SHIFT = 200
#: Types in the same order in at least this share of what two ranks have in common: the same sequence.
ALIKE = 0.9
#: All ranks wait for somebody who is not there: the least of their waits is at least this share of
#: the longest, and this long. (20 us is what a handshake takes.)
ABSENT_RATIO = 0.25
ABSENT_NS = 20_000.0
#: A rank whose other communication explains at least this share of its lateness passes it on only.
PASSED_RATIO = 0.5


@dataclass(frozen=True)
class Sequence:
    """The collectives of one group on one rank, in order. ``sizes``: NaN where unknown; ``steps``:
    -1 where unknown; ``ends``: ns."""

    types: NDArray[np.int64]
    sizes: NDArray[np.float64]
    steps: NDArray[np.int64]
    ends: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.types)


def shift_of(other: Sequence, reference: Sequence) -> int | None:
    """How much to add to positions in ``other`` to get those in ``reference``; None if no order fits."""
    by_step = _shift_by_step(other, reference)
    if by_step is not None and _fit(other, reference, by_step)[0] >= ALIKE:
        return by_step
    low = max(-MAX_SHIFT, 1 - len(other))
    high = min(MAX_SHIFT, len(reference) - 1)
    best: tuple[float, float, float, int] | None = None
    for shift in range(low, high + 1):
        alike, equal, apart = _fit(other, reference, shift)
        if alike < ALIKE:
            continue
        # A longer overlap is no merit of its own: a clock is better evidence than one row more.
        rank = (-round(alike, 2), -round(equal, 2), apart, abs(shift))
        if best is None or rank < (*best[:3], abs(best[3])):
            best = (*rank[:3], shift)
    return best[3] if best else None


def _shift_by_step(other: Sequence, reference: Sequence) -> int | None:
    """From the first step that both have from its start to its end, with as many collectives."""
    mine, first, count = np.unique(other.steps, return_index=True, return_counts=True)
    theirs = {
        step: (at, n)
        for step, at, n in zip(
            *np.unique(reference.steps, return_index=True, return_counts=True), strict=True
        )
    }
    for step, at, n in zip(mine, first, count, strict=True):
        if step >= 0 and step in theirs and theirs[step][1] == n:
            return int(theirs[step][0] - at)
    return None


def _fit(other: Sequence, reference: Sequence, shift: int) -> tuple[float, float, float]:
    """(share of equal types, share of equal sizes, median distance of the ends) of what overlaps.

    (0, 0, inf) where less than half of the shorter one overlaps.
    """
    low, high = max(0, -shift), min(len(other), len(reference) - shift)
    if high - low < max(1, min(len(other), len(reference)) / 2):
        return 0.0, 0.0, float("inf")
    mine, theirs = slice(low, high), slice(low + shift, high + shift)
    alike = float(np.mean(other.types[mine] == reference.types[theirs]))
    equal = float(np.mean(other.sizes[mine] == reference.sizes[theirs]))
    apart = float(np.median(np.abs(other.ends[mine] - reference.ends[theirs])))
    return alike, equal, apart


def matched_source(sel: Selected) -> str | None:
    """Collectives with ``k``: those of one group and one ``k`` belong together. None: nothing read.

    ``step`` selection applied. Point-to-point operations have two partners and are left out.
    """
    source = sel.source("comm_ops", steps=False, devices=False)
    if source is None:
        return None
    found = shifts(sel)
    if not found:
        return None
    rows = ", ".join(f"({part}, {quote(group)}, {shift})" for (part, group), shift in found)
    return (
        f"(SELECT o.*, o.ordinal + s.shift AS k FROM {_numbered(source)} o "
        f"JOIN (VALUES {rows}) s(part, id, shift) ON s.part = o.part AND s.id = o.group_id "
        f"WHERE {sel.steps.sql('step')})"
    )


def _numbered(source: str) -> str:
    """Collectives with ``ordinal``, their place in their group on their rank, and ``between_ns``:
    communication in other groups since the one before it in its own."""
    return (
        "(SELECT * EXCLUDE (before_ns), row_number() OVER own - 1 AS ordinal, "
        "before_ns - coalesce(lag(before_ns + coalesce(elapse_ns, 0)) OVER own, 0) AS between_ns "
        "FROM (SELECT *, coalesce(comm_group, '') AS group_id, coalesce(sum(elapse_ns) OVER "
        "(PARTITION BY part ORDER BY start_ns, row ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), "
        f"0) AS before_ns FROM {source} WHERE start_ns IS NOT NULL) "
        "WHERE kind IS DISTINCT FROM 'p2p' "
        "WINDOW own AS (PARTITION BY part, group_id ORDER BY start_ns, row))"
    )


def shifts(sel: Selected) -> tuple[tuple[tuple[int, str], int], ...]:
    """((ordinal of the capture, group), shift) for every sequence that could be matched."""
    source = sel.source("comm_ops", steps=False, devices=False)
    if source is None:
        return ()
    return _shifts(sel.store, sel.paths("comm_ops"), source)


@lru_cache(maxsize=64)
def _shifts(
    store: Store, _paths: tuple[str, ...], source: str
) -> tuple[tuple[tuple[int, str], int], ...]:
    with closing(store.cursor()) as cursor:
        rows = cursor.execute(
            "SELECT part, group_id, type, size_bytes, coalesce(step, -1) AS step, "
            f"start_ns + coalesce(elapse_ns, 0) AS end_ns FROM {_numbered(source)} "
            "ORDER BY group_id, part, ordinal"
        ).fetchnumpy()
    groups: dict[str, dict[int, Sequence]] = {}
    types = np.unique(np.ma.filled(rows["type"], "").astype(str), return_inverse=True)[1]
    sizes = np.ma.filled(rows["size_bytes"].astype(float), np.nan)
    steps = np.ma.filled(rows["step"], -1).astype(np.int64)
    ends = np.ma.filled(rows["end_ns"], np.nan).astype(np.float64)
    names, parts = np.ma.filled(rows["group_id"], "").astype(str), np.asarray(rows["part"])
    if not len(parts):
        return ()
    new = np.flatnonzero((names[1:] != names[:-1]) | (parts[1:] != parts[:-1])) + 1
    for low, high in zip([0, *new], [*new, len(parts)], strict=True):
        at = slice(low, high)
        sequence = Sequence(types[at], sizes[at], steps[at], ends[at])
        groups.setdefault(str(names[low]), {})[int(parts[low])] = sequence
    found = []
    for group, members in groups.items():
        reference = max(members.values(), key=len)
        for part, sequence in members.items():
            shift = 0 if sequence is reference else shift_of(sequence, reference)
            if shift is not None:
                found.append(((part, group), shift))
    return tuple(found)


def collectives_sql(matched: str) -> str:
    """One row per collective that at least two ranks recorded.

    ``least_ns`` .. ``most_ns``: the shortest and longest synchronisation (the wait before the first
    transfer). The last to arrive hardly synchronises: ``last_part`` is it, or NULL where nobody waits
    or all do; then the last is not among them (``absent``). ``cost_ns``: what the others waited beyond
    the last. ``passed_ns``: how much longer the last was held up by communication in other groups
    than the one that waited longest. ``origin_part``: the last, where that does not explain it.
    """
    least, most = "min(synchronization_ns)", "max(synchronization_ns)"
    here = f"{most} > {least} AND {least} <= greatest({ABSENT_NS}, {ABSENT_RATIO} * {most})"
    absent = f"{least} > greatest({ABSENT_NS}, {ABSENT_RATIO} * {most})"
    passed = "arg_min(between_ns, synchronization_ns) - arg_max(between_ns, synchronization_ns)"
    return (
        "(SELECT *, CASE WHEN coalesce(passed_ns, 0) < "
        f"{PASSED_RATIO} * (most_ns - least_ns) THEN last_part END AS origin_part FROM ("
        "SELECT group_id, k, any_value(comm_group) AS comm_group, min(name) AS name, "
        "min(type) AS type, min(step) AS step, count(*) AS ranks, "
        "min(start_ns) AS start_ns, max(start_ns) - min(start_ns) AS spread_ns, "
        f"{least} AS least_ns, {most} AS most_ns, "
        f"CASE WHEN {here} THEN arg_min(part, synchronization_ns) END AS last_part, "
        f"CASE WHEN {here} THEN arg_min(capture, synchronization_ns) END AS last, "
        f"coalesce({absent}, false) AS absent, {passed} AS passed_ns, "
        f"sum(synchronization_ns) - count(synchronization_ns) * {least} AS cost_ns, "
        "median(transit_ns) AS transit_ns, max(elapse_ns) AS elapse_ns, "
        "min(elapse_ns) AS least_elapse_ns, max(size_bytes) AS size_bytes, "
        "median(start_ns + elapse_ns) AS end_ns "
        f"FROM {matched} GROUP BY group_id, k HAVING count(*) > 1))"
    )
