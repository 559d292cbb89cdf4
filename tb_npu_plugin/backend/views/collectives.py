"""Collectives of several ranks matched with each other: who came last, and what that cost.

Sources number operations from the start of a capture, and captures do not start at the same one.
So the k-th collective of a group on one rank is the (k + shift)-th on another; the shift comes from
the steps where they are known, else from the order of types and sizes, else from the clocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.communication_operations import operations_source

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

    def cut(self, low: int, length: int) -> Sequence:
        at = slice(low, low + length)
        return Sequence(self.types[at], self.sizes[at], self.steps[at], self.ends[at])


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
    source = operations_source(sel, steps=False, brief=False)
    if source is None:
        return None
    matched = sel.store.answers.value("matched", source, lambda: _matched(sel, source))
    if matched is None:
        return None
    kept = sel.kept("matched", matched, "comm_ops", "overlap_summary")
    return kept if sel.steps.everything else f"(SELECT * FROM {kept} WHERE {sel.steps.sql('step')})"


def _matched(sel: Selected, source: str) -> str | None:
    """The query of :func:`matched_source` without the choice of steps; None if nothing matches."""
    found = _shifts(sel, source)
    if not found:
        return None
    rows = ", ".join(f"({part}, {quote(group)}, {shift})" for (part, group), shift in found)
    return (
        f"SELECT o.*, o.ordinal + s.shift AS k FROM {_numbered(source)} o "
        f"JOIN (VALUES {rows}) s(part, id, shift) ON s.part = o.part AND s.id = o.group_id"
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


def _shifts(sel: Selected, source: str) -> list[tuple[tuple[int, str], int]]:
    """((ordinal of the capture, group), shift) for every sequence that could be matched."""
    rows = sel.query(
        lambda cur: cur.execute(
            "SELECT part, group_id, type, size_bytes, coalesce(step, -1) AS step, "
            f"start_ns + coalesce(elapse_ns, 0) AS end_ns FROM {_numbered(source)} "
            "ORDER BY group_id, part, ordinal"
        ).fetchnumpy()
    )
    types = np.unique(np.ma.filled(rows["type"], "").astype(str), return_inverse=True)[1]
    names, parts = np.ma.filled(rows["group_id"], "").astype(str), np.asarray(rows["part"])
    if not len(parts):
        return []
    every = Sequence(
        types,
        np.ma.filled(rows["size_bytes"].astype(float), np.nan),
        np.ma.filled(rows["step"], -1).astype(np.int64),
        np.ma.filled(rows["end_ns"], np.nan).astype(np.float64),
    )
    other_group = np.concatenate(([True], names[1:] != names[:-1]))
    first = np.flatnonzero(other_group | np.concatenate(([True], parts[1:] != parts[:-1])))
    lengths = np.diff(np.append(first, len(parts)))
    references = _references(np.cumsum(other_group[first]) - 1, lengths)
    quick = shifts_by_step(every, first, lengths, references)
    found = []
    for i, (low, reference) in enumerate(zip(first, references, strict=True)):
        shift = (
            quick[i]
            if quick[i] is not None
            else shift_of(
                every.cut(int(low), int(lengths[i])),
                every.cut(int(first[reference]), int(lengths[reference])),
            )
        )
        if shift is not None:
            found.append(((int(parts[low]), str(names[low])), shift))
    return found


def _references(groups: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each sequence the first of the longest of its group. ``groups``: rising numbers."""
    order = np.lexsort((np.arange(len(groups)), -lengths, groups))
    begins = np.flatnonzero(np.diff(groups[order], prepend=-1))
    best: NDArray[np.int64] = order[begins][groups]
    return best


def shifts_by_step(
    every: Sequence,
    first: NDArray[np.int64],
    lengths: NDArray[np.int64],
    references: NDArray[np.int64],
) -> list[int | None]:
    """What :func:`shift_of` finds by the steps, for all sequences at once; None where that fails.

    ``every``: all sequences one after the other, from ``first`` on, ``lengths`` long. ``references``:
    for each the one that it is compared with.
    """
    of = np.repeat(np.arange(len(first)), lengths)
    ordinal = np.arange(len(of)) - first[of]
    # A row per sequence and step: how many collectives, and the first of them.
    order = np.lexsort((ordinal, every.steps, of))
    own, step = of[order], every.steps[order]
    begins = np.flatnonzero(np.diff(own, prepend=-1) | np.diff(step, prepend=-2))
    own, step, at = own[begins], step[begins], ordinal[order][begins]
    count = np.diff(np.append(begins, len(order)))
    # The same step of the reference: both lists are sorted by (sequence, step).
    names = np.unique(step, return_inverse=True)[1]
    key = own * (len(step) + 1) + names
    theirs = np.searchsorted(key, references[own] * (len(step) + 1) + names)
    theirs = np.minimum(theirs, len(key) - 1)
    same = (own[theirs] == references[own]) & (step[theirs] == step)
    fits = np.flatnonzero(same & (count[theirs] == count) & (step >= 0))
    told, where = np.unique(own[fits], return_index=True)
    shift = np.zeros(len(first), np.int64)
    shift[told] = at[theirs[fits[where]]] - at[fits[where]]
    known = np.zeros(len(first), bool)
    known[told] = True
    place = ordinal + shift[of]
    over = (place >= 0) & (place < lengths[references][of])
    beside = np.where(over, first[references][of] + place, 0)
    overlap = np.bincount(of, over, len(first))
    alike = np.bincount(of, over & (every.types == every.types[beside]), len(first))
    shorter = np.minimum(lengths, lengths[references])
    known &= (overlap >= np.maximum(1, shorter / 2)) & (alike >= ALIKE * overlap)
    known |= references == np.arange(len(first))
    return [int(s) if k else None for s, k in zip(shift, known, strict=True)]


def collectives_source(sel: Selected) -> str | None:
    """:func:`collectives_sql` of the selection; None while nothing was read."""
    matched = matched_source(sel)
    return (
        None
        if matched is None
        else sel.kept("collectives", collectives_sql(matched), "comm_ops", "overlap_summary")
    )


def collectives_sql(matched: str) -> str:
    """One row per collective that at least two ranks recorded.

    ``least_ns`` .. ``most_ns``: the shortest and longest synchronisation (the wait before the first
    transfer). The last to arrive hardly synchronises: ``last_part`` is it, or NULL where nobody waits
    or all do; then the last is not among them (``absent``). ``cost_ns``: what the others waited beyond
    the last. ``passed_ns``: how much longer the last was held up by communication in other groups
    than the one that waited longest. ``lasts_ns``: from the first start to the median end.
    ``origin_part``: the last, where that does not explain it.
    """
    least, most = "min(synchronization_ns)", "max(synchronization_ns)"
    here = f"{most} > {least} AND {least} <= greatest({ABSENT_NS}, {ABSENT_RATIO} * {most})"
    absent = f"{least} > greatest({ABSENT_NS}, {ABSENT_RATIO} * {most})"
    passed = "arg_min(between_ns, synchronization_ns) - arg_max(between_ns, synchronization_ns)"
    return (
        "SELECT *, CASE WHEN coalesce(passed_ns, 0) < "
        f"{PASSED_RATIO} * (most_ns - least_ns) THEN last_part END AS origin_part FROM ("
        "SELECT group_id, k, any_value(comm_group) AS comm_group, min(name) AS name, "
        "min(type) AS type, min(step) AS step, count(*) AS ranks, "
        "min(start_ns) AS start_ns, max(start_ns) - min(start_ns) AS spread_ns, "
        f"{least} AS least_ns, {most} AS most_ns, "
        f"CASE WHEN {here} THEN arg_min(part, synchronization_ns) END AS last_part, "
        f"CASE WHEN {here} THEN arg_min(capture, synchronization_ns) END AS last, "
        f"coalesce({absent}, false) AS absent, {passed} AS passed_ns, "
        f"sum(synchronization_ns) - count(synchronization_ns) * {least} AS cost_ns, "
        "avg(not_overlapped_ns) AS not_overlapped_ns, "
        "median(transit_ns) AS transit_ns, max(elapse_ns) AS elapse_ns, "
        "min(elapse_ns) AS least_elapse_ns, max(size_bytes) AS size_bytes, "
        "max(size_bytes) / nullif(avg(size_bytes), 0) AS skew, arg_max(capture, size_bytes) AS largest, "
        # From the first start on: a double holds epoch times only to 250 ns.
        "median(start_ns - first_ns + elapse_ns) AS lasts_ns "
        "FROM (SELECT *, min(start_ns) OVER (PARTITION BY group_id, k) AS first_ns "
        f"FROM {matched}) GROUP BY group_id, k HAVING count(*) > 1)"
    )
