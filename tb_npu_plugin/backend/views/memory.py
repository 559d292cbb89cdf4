"""Memory: curves to scale in time, peaks, who held what at the peak, allocations, modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.schema import BLOCK_STATES
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Query, TableRequest, empty_table, page
from tb_npu_plugin.backend.views import memory_tables as tables
from tb_npu_plugin.backend.views.memory_alive import alive, alive_query
from tb_npu_plugin.backend.views.memory_curves import series
from tb_npu_plugin.backend.views.memory_peaks import memory_line, peak_query, peaks, shown_parts
from tb_npu_plugin.backend.views.memory_sources import (
    OPTIONS,
    TABLES,
    base_ns,
    component_order,
    options,
    source,
)

__all__ = ["GROUPS", "OPTIONS", "TABLES", "memory", "memory_line", "memory_query"]

#: Group word -> (the table it needs, the query).
_QUERIES: dict[str, tuple[str, Callable[[Selected], Query | None]]] = {
    "": ("memory_blocks", tables.block_query),
    "operator": ("memory_blocks", tables.operator_query),
    "alive": ("memory_blocks", lambda sel: alive_query(sel, "alive")),
    "alive_operator": ("memory_blocks", lambda sel: alive_query(sel, "alive_operator")),
    "peak": ("memory_curve", peak_query),
    "module": ("module_memory", tables.module_query),
    "static": ("static_memory", tables.static_query),
}
GROUPS: tuple[str, ...] = tuple(_QUERIES)


def memory(sel: Selected, request: TableRequest) -> results.Memory:
    """Curves, peaks and what was alive at the peak of the selected captures, and a table page.

    Parameters of its own (``sel.options``): see :func:`memory_sources.options`. With ``only=table``
    everything but ``base_ns`` and the table is left empty: paging need not send curves again.
    """
    wanted = options(sel)
    base = base_ns(sel)
    query = memory_query(sel, request.group)
    table = page(sel.store, query, request) if query else empty_table(_groups(sel))
    reply = results.Memory(
        note="", base_ns=None if base is None else str(base), components=[],
        component=wanted.component, ranks_shown=0, ranks_total=0, points=wanted.points, series=[],
        peaks=[], alive=[], states=[], table=table,
    )  # fmt: skip
    if wanted.only_table:
        return reply
    parts, reply.ranks_total = shown_parts(sel)
    reply.ranks_shown = len(parts)
    reply.series, reply.points = series(sel, parts, wanted)
    reply.peaks = peaks(sel, parts)
    reply.alive = alive(sel, parts, wanted)
    reply.states = states(sel)
    reply.components = _components(sel)
    reply.note = _note(sel, reply)
    return reply


def memory_query(sel: Selected, group: str) -> Query | None:
    """The table of the selection; None while nothing of it has been read.

    Raises RequestError 400 for an unknown group.
    """
    if group not in _QUERIES:
        raise RequestError(400, "bad-group", f"Memory cannot be grouped by {group!r}.",
                           f"Groups: {', '.join(g for g in GROUPS if g)}")  # fmt: skip
    query = _QUERIES[group][1](sel)
    if query:
        query.group, query.groups = group, _groups(sel)
    return query


def _groups(sel: Selected) -> list[str]:
    there = {table: bool(sel.paths(table)) for table, _ in _QUERIES.values()}
    return [group for group, (table, _) in _QUERIES.items() if there[table]]


def states(sel: Selected) -> list[results.MemoryState]:
    """How many blocks were never released, allocated before the capture, …"""
    blocks = source(sel, "memory_blocks")
    if blocks is None:
        return []
    rows = sel.rows(
        f"SELECT state, count(*), coalesce(sum(abs(size_bytes)), 0) FROM {blocks} GROUP BY state"
    )
    found = {state: (count, size) for state, count, size in rows}
    return [
        results.MemoryState(key, sel.word(*BLOCK_STATES[key]), *found[key])
        for key in BLOCK_STATES
        if key in found
    ]


def _components(sel: Selected) -> list[str]:
    names: set[str] = set()
    for table in ("memory_curve", "memory_blocks"):
        rows = source(sel, table)
        if rows is None:
            continue
        sql = f"SELECT DISTINCT component FROM {rows}"
        names |= {r[0] for r in sel.query(_all(sql)) if r[0]}
    return sorted(names, key=component_order)


def _all(sql: str) -> Callable[[duckdb.DuckDBPyConnection], list[Any]]:
    return lambda cursor: cursor.execute(sql).fetchall()


def _note(sel: Selected, reply: results.Memory) -> str:
    """The peaks, and who held the highest, in sentences."""
    told = [memory_line(sel)] if memory_line(sel) else []
    known = [a for a in reply.alive if a.total_bytes is not None]
    if known:
        top = max(known, key=lambda a: a.total_bytes or 0.0)
        told.append(_alive_sentence(sel, top))
    if reply.ranks_shown < reply.ranks_total:
        told.append(sel.word(
            f"Curves of the {reply.ranks_shown} ranks with the highest peaks of "
            f"{reply.ranks_total}; choose ranks to see others",
            f"显示峰值最高的 {reply.ranks_shown} 张卡（共 {reply.ranks_total} 张）；可选择其他卡",
        ))  # fmt: skip
    return "".join(f"{text}{sel.word('. ', '。')}" for text in told).strip()


def _alive_sentence(sel: Selected, top: results.MemoryAlive) -> str:
    size = wording.memory
    where = f", {top.capture}" if len(sel.captures) > 1 else ""
    moment = wording.duration(top.at_ns)
    if top.at_peak:
        text = sel.word(
            f"At the {top.component} peak ({moment}{where}), ",
            f"{top.component} 峰值时刻（{moment}{where}），",
        )
    else:
        text = sel.word(f"At {moment}{where}, ", f"{moment}{where} 时，")
    text += sel.word(
        f"{size(top.seen_bytes)} of {size(top.total_bytes)} belong to {top.seen_count:,} blocks seen",
        f"{size(top.total_bytes)} 中有 {size(top.seen_bytes)} 属于已记录的 {top.seen_count:,} 个块",
    )
    if top.unseen_bytes is None:
        return text
    return text + sel.word(
        f"; {size(top.unseen_bytes)} were allocated before the capture began, or not seen",
        f"；{size(top.unseen_bytes)} 在采集开始前分配或未记录",
    )
