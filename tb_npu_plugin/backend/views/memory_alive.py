"""What was alive at a moment: blocks, who holds them, and what the capture did not see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.schema import MEMORY_BLOCKS
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, col
from tb_npu_plugin.backend.views.memory_sources import (
    Options,
    base_ns,
    offset,
    options,
    source,
    totals_source,
)

#: Operators and blocks listed for each device.
LARGEST = 12


@dataclass(frozen=True)
class Instant:
    """A moment of one component of one device (absolute ns) and its totals then."""

    part: int
    device: int | None
    at: int
    total: float | None
    reserved: float | None


@dataclass(frozen=True)
class Seen:
    """What of an instant's total belongs to blocks in the file. ``unseen`` is the rest of it;
    None where the total is unknown or less than the blocks, which cannot be."""

    size: float
    count: int
    operators: int
    unseen: float | None


def instants(sel: Selected, wanted: Options) -> list[Instant]:
    """The moment for every device: ``wanted.at``, or the peak of what the component allocated."""
    totals = totals_source(sel)
    if totals is None:
        return []
    if wanted.at is not None:
        sql = _at(totals, wanted)
    else:
        # The curve keeps the peak and its moment, and is small; the record there gives the rest.
        sql = _peak(source(sel, "memory_curve"), totals, wanted)
    rows = sel.rows(sql)
    return [Instant(*row) for row in rows]


def _at(totals: str, wanted: Options) -> str:
    at = wanted.at
    last = f'max(row(time_ns, "row", allocated_bytes, reserved_bytes)) FILTER (time_ns <= {at})'
    return (
        f"SELECT part, device, CAST({at} AS BIGINT), ({last})[3], ({last})[4] FROM {totals} "
        f"WHERE component = {quote(wanted.component)} GROUP BY part, device ORDER BY part, device NULLS FIRST"
    )


def _peak(curve: str | None, totals: str, wanted: Options) -> str:
    component = quote(wanted.component)
    allocated = (
        "SELECT part, device, component, time_ns, allocated_bytes FROM "
        f"{totals} WHERE allocated_bytes IS NOT NULL"
    )
    if curve:
        allocated = (
            "SELECT part, device, component, time_ns, value_bytes AS allocated_bytes "
            f"FROM {curve} WHERE measure = 'allocated' UNION ALL SELECT * FROM ({allocated}) "
            f"WHERE part NOT IN (SELECT part FROM {curve})"
        )
    return (
        "WITH peaks AS (SELECT part, device, -(max(row(allocated_bytes, -time_ns))[2]) AS moment, "
        f"max(allocated_bytes) AS total FROM ({allocated}) WHERE component = {component} "
        "GROUP BY part, device) "
        "SELECT p.part, p.device, moment, any_value(total), max(t.reserved_bytes) FROM peaks p "
        f"LEFT JOIN {totals} t ON t.part = p.part AND t.device IS NOT DISTINCT FROM p.device "
        f"AND t.time_ns = p.moment AND t.component = {component} "
        "GROUP BY p.part, p.device, moment ORDER BY p.part, p.device NULLS FIRST"
    )


def alive_source(sel: Selected, moments: list[Instant], component: str) -> str | None:
    """The blocks alive at each device's moment, with ``total_bytes`` of the component then.

    A block is alive from its allocation (or the capture's begin) to its release (or its end).
    """
    blocks = source(sel, "memory_blocks")
    if blocks is None or not moments:
        return None
    values = ", ".join(
        f"({m.part}, CAST({_number(m.device)} AS BIGINT), CAST({m.at} AS BIGINT), "
        f"CAST({_number(m.total)} AS DOUBLE))"
        for m in moments
    )
    return (
        "(SELECT b.* REPLACE (abs(b.size_bytes) AS size_bytes), i.at_ns, i.total_bytes "
        f"FROM {blocks} b JOIN (VALUES {values}) i(part, device, at_ns, total_bytes) "
        "ON b.part = i.part AND b.device IS NOT DISTINCT FROM i.device "
        f"WHERE b.component IN ({_owners(component)}) AND b.state <> 'unknown' "
        "AND coalesce(b.alloc_ns <= i.at_ns, TRUE) AND coalesce(b.release_ns > i.at_ns, TRUE))"
    )


def _owners(component: str) -> str:
    """The components whose blocks a total is made of; a sum's are those of its parts."""
    return ", ".join(quote(name) for name in component.split("+"))


def _number(value: float | None) -> str:
    return "NULL" if value is None else repr(value)


def seen(sel: Selected, moments: list[Instant], blocks: str | None) -> list[Seen]:
    """For each moment what its blocks sum up to."""
    sums: dict[tuple[int, int | None], tuple[float, int, int]] = {}
    if blocks:
        rows = sel.rows(
            "SELECT part, device, coalesce(sum(size_bytes), 0), count(*), "
            # An operator without a name is one too.
            "count(DISTINCT coalesce('n' || name, '')) "
            f"FROM {blocks} GROUP BY part, device"
        )
        sums = {(part, device): tuple(rest) for part, device, *rest in rows}
    out = []
    for m in moments:
        size, count, operators = sums.get((m.part, m.device), (0.0, 0, 0))
        rest = None if m.total is None else m.total - size
        out.append(Seen(size, count, operators, rest if rest is not None and rest >= 0 else None))
    return out


def alive(sel: Selected, parts: list[int], wanted: Options) -> list[results.MemoryAlive]:
    """What each device of the captures ``parts`` held at its moment."""
    moments = [m for m in instants(sel, wanted) if m.part in parts]
    blocks = alive_source(sel, moments, wanted.component)
    base = base_ns(sel)
    holders = _holders(sel, blocks)
    largest = _largest(sel, blocks, base)
    return [
        results.MemoryAlive(
            sel.captures[m.part].rank, sel.rank_label(sel.captures[m.part]), m.device,
            wanted.component, m.at - (base or 0), wanted.at is None, m.total, m.reserved,
            known.size, known.count, known.unseen,
            holders.get((m.part, m.device), []), known.operators,
            largest.get((m.part, m.device), []),
        )
        for m, known in zip(moments, seen(sel, moments, blocks), strict=True)
    ]  # fmt: skip


def _holders(
    sel: Selected, blocks: str | None
) -> dict[tuple[int, int | None], list[results.MemoryHolder]]:
    out: dict[tuple[int, int | None], list[results.MemoryHolder]] = {}
    for part, device, name, count, size in _top(
        sel,
        f"(SELECT part, device, name, count(*) AS n, coalesce(sum(size_bytes), 0) AS size_bytes "
        f"FROM {blocks} GROUP BY part, device, name)" if blocks else None,
        "name, n, size_bytes", "name",
    ):  # fmt: skip
        out.setdefault((part, device), []).append(results.MemoryHolder(name, count, size))
    return out


def _largest(
    sel: Selected, blocks: str | None, base: int | None
) -> dict[tuple[int, int | None], list[results.MemoryBlock]]:
    out: dict[tuple[int, int | None], list[results.MemoryBlock]] = {}
    for part, device, name, size, begin, end, state, row in _top(
        sel, blocks, 'name, size_bytes, alloc_ns, release_ns, state, "row"', '"row"'
    ):
        out.setdefault((part, device), []).append(
            results.MemoryBlock(name, size or 0.0, offset(begin, base), offset(end, base), state,
                                row)
        )  # fmt: skip
    return out


def _top(sel: Selected, rows: str | None, columns: str, tie: str) -> list[tuple[Any, ...]]:
    """The largest rows of each device, largest first."""
    if rows is None:
        return []
    return sel.rows(
        f"SELECT part, device, {columns} FROM {rows} QUALIFY row_number() OVER ("
        f"PARTITION BY part, device ORDER BY size_bytes DESC NULLS LAST, {tie}) <= {LARGEST} "
        f"ORDER BY part, device, size_bytes DESC NULLS LAST, {tie}"
    )


def alive_query(sel: Selected, group: str) -> Query | None:
    """The blocks alive at the moment (``alive``), or what each operator held (``alive_operator``).

    Each device adds a row for what was allocated before the capture began, or not seen.
    """
    wanted = options(sel)
    moments = instants(sel, wanted)
    blocks = alive_source(sel, moments, wanted.component)
    if blocks is None:
        return None
    rows = f"SELECT * FROM {blocks}"
    unseen = [
        f"({m.part}, CAST({_number(sel.captures[m.part].rank)} AS BIGINT), "
        f"{quote(sel.rank_label(sel.captures[m.part]))}, CAST({_number(m.device)} AS BIGINT), "
        f"CAST({m.at} AS BIGINT), CAST({_number(m.total)} AS DOUBLE), "
        f"CAST({_number(known.unseen)} AS DOUBLE))"
        for m, known in zip(moments, seen(sel, moments, blocks), strict=True)
        if known.unseen
    ]
    if unseen:
        name = sel.word("(allocated before the capture began, or not seen)",
                        "（采集开始前已分配，或未记录）")  # fmt: skip
        rows += (
            f" UNION ALL BY NAME SELECT *, {quote(name)} AS name, 'unseen' AS state, "
            f"{quote(wanted.component)} AS component FROM (VALUES {', '.join(unseen)}) "
            "u(part, rank, capture, device, at_ns, total_bytes, size_bytes)"
        )
    total = sum(m.total for m in moments if m.total is not None) or None
    columns = _operators(sel, total) if group == "alive_operator" else _blocks(sel)
    keys = ["name"] if group == "alive_operator" else []
    return Query(f"({rows})", columns, "name", "size_bytes:desc", keys, group,
                 base_ns=base_ns(sel))  # fmt: skip


def _blocks(sel: Selected) -> list[Col]:
    columns = [
        col(f, sel.lang) for f in MEMORY_BLOCKS.fields
        if f.key not in ("component", "alloc_allocated_bytes")
    ]  # fmt: skip
    share = Col(
        "total_ratio", "ratio", sel.word("Share", "占比"), "size_bytes / nullif(total_bytes, 0)",
        sel.word("Of what the component had allocated at that moment", "占该组件当时已分配总量的比例"),
    )  # fmt: skip
    columns[2:2] = [share]
    columns.insert(1, Col("rank", "rank", "Rank", "rank", shown=len(sel.captures) > 1))
    columns.append(Col("at_ns", "time", sel.word("Moment", "时刻"), "at_ns", shown=False))
    columns.append(Col("row", "int", sel.word("Row", "行"), '"row"', shown=False))
    return columns


def _operators(sel: Selected, total: float | None) -> list[Col]:
    w = sel.word
    name = MEMORY_BLOCKS.get("name")
    assert name is not None
    return [
        col(name, sel.lang),
        Col("count", "int", w("Blocks", "块数"), "count(*) FILTER (state <> 'unseen')",
            aggregate=True),
        Col("size_bytes", "bytes", w("Held", "占用"), "sum(size_bytes)", aggregate=True),
        Col("total_ratio", "ratio", w("Share", "占比"),
            f"sum(size_bytes) / CAST({_number(total)} AS DOUBLE)",
            w("Of all that was allocated at the moment", "占当时已分配总量的比例"), aggregate=True),
        Col("max_bytes", "bytes", w("Largest", "最大块"), "max(size_bytes)", aggregate=True),
    ]  # fmt: skip
