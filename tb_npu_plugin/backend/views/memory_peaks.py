"""The highest totals of each component and device, with their moments."""

from __future__ import annotations

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.results import Kind
from tb_npu_plugin.backend.schema import MEASURES
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query
from tb_npu_plugin.backend.views.memory_sources import (
    MAX_CAPTURES,
    base_ns,
    component_order,
    in_parts,
    offset,
    parts_with,
    source,
)

_KEYS = ["part", "rank", "capture", "device", "component"]


def _peak(measure: str) -> tuple[str, str]:
    """SQL of a total's highest value and of its first moment."""
    highest = f"max(row(value_bytes, -time_ns)) FILTER (measure = '{measure}')"
    return f"max(value_bytes) FILTER (measure = '{measure}')", f"-(({highest})[2])"


def _edge(aggregate: str) -> str:
    """SQL of the total allocated at the first (``min``) or last (``max``) record."""
    return f"({aggregate}(row(time_ns, \"row\", value_bytes)) FILTER (measure = 'allocated'))[3]"


def peaks(sel: Selected, parts: list[int]) -> list[results.MemoryPeak]:
    """A row per component and device of the captures ``parts``."""
    curves = source(sel, "memory_curve")
    if curves is None:
        return []
    items = ", ".join(
        [*(sql for m in ("reserved", "allocated", "active") for sql in _peak(m)),
         _edge("min"), _edge("max"), "max(source_rows)"]
    )  # fmt: skip
    rows = sel.rows(
        f"SELECT part, device, component, {items} FROM {curves} WHERE {in_parts(parts)} "
        "GROUP BY part, device, component"
    )
    base = base_ns(sel)
    rows = sorted(
        rows, key=lambda r: (r[0], -1 if r[1] is None else r[1], component_order(r[2] or ""))
    )
    return [
        results.MemoryPeak(
            sel.captures[part].rank, sel.rank_label(sel.captures[part]), device, component or "",
            reserved, offset(reserved_at, base), allocated, offset(allocated_at, base),
            active, offset(active_at, base), start, end, int(count),
        )
        for (part, device, component, reserved, reserved_at, allocated, allocated_at, active,
             active_at, start, end, count) in rows
    ]  # fmt: skip


def peak_query(sel: Selected) -> Query | None:
    """The peaks of every capture of the selection as a table."""
    curves = source(sel, "memory_curve")
    if curves is None:
        return None
    w = sel.word
    several = len(sel.captures) > 1
    columns = [
        Col("component", "name", w("Component", "组件"), "component"),
        Col("rank", "rank", "Rank", "rank", shown=several),
        Col("capture", "text", w("Capture", "采集"), "capture", shown=False),
        Col("device", "device", w("Device", "设备"), "device"),
    ]

    def add(key: str, kind: Kind, label: str, sql: str, shown: bool = True) -> None:
        columns.append(Col(key, kind, label, sql, shown=shown, aggregate=True))

    words = {
        "reserved": ("reserved", "预留"),
        "active": ("active", "占用"),
        "allocated": ("allocated", "已分配"),
    }
    for measure in MEASURES:
        en, zh = words[measure]
        value, moment = _peak(measure)
        shown = measure != "active"
        add(f"{measure}_bytes", "bytes", w(f"Peak {en}", f"峰值{zh}"), value, shown)
        add(f"{measure}_at_ns", "time", w(f"Peak {en} at", f"峰值{zh}时刻"), moment, shown)
    add("start_bytes", "bytes", w("Allocated at start", "起始已分配"), _edge("min"))
    add("end_bytes", "bytes", w("Allocated at end", "结束已分配"), _edge("max"))
    add("growth_bytes", "bytes", w("Growth", "增长"), f"{_edge('max')} - {_edge('min')}")
    add("rows", "int", w("Records", "记录数"), "max(source_rows)", shown=False)
    return Query(
        curves, columns, "component", "reserved_bytes:desc", list(_KEYS), "peak",
        base_ns=base_ns(sel),
    )  # fmt: skip


def shown_parts(sel: Selected) -> tuple[list[int], int]:
    """The captures to draw (those with the highest peaks, in order of rank), and how many have
    memory at all."""
    having = sorted({*parts_with(sel, "memory_curve"), *parts_with(sel, "memory_blocks")})
    curves = source(sel, "memory_curve")
    if len(having) <= MAX_CAPTURES or curves is None:
        return having[:MAX_CAPTURES], len(having)
    rows = sel.rows(
        f"SELECT part FROM {curves} GROUP BY part ORDER BY "
        "max(value_bytes) FILTER (measure = 'allocated') DESC NULLS LAST, part "
        f"LIMIT {MAX_CAPTURES}"
    )
    return sorted(int(r[0]) for r in rows), len(having)


def memory_line(sel: Selected) -> str:
    """``Peak reserved 2.06 GiB (APP), peak allocated 1.23 GiB (PTA+GE)``; "" without memory."""
    curves = source(sel, "memory_curve")
    if curves is None:
        return ""
    rows = sel.rows(
        f"SELECT measure, max(row(value_bytes, -part, component)) FROM {curves} GROUP BY measure"
    )
    highest = {measure: best for measure, best in rows if best is not None}
    told = []
    for measure, en, zh in (
        ("reserved", "peak reserved", "峰值预留"),
        ("allocated", "peak allocated", "峰值已分配"),
    ):
        if measure not in highest:
            continue
        value, part, component = highest[measure]
        where = component
        if len(sel.captures) > 1:
            where += sel.word(", ", ",") + sel.rank_label(sel.captures[-part])
        told.append(f"{sel.word(en, zh)} {wording.memory(value)} ({where})")
    line = sel.word(", ", ",").join(told)
    return line[:1].upper() + line[1:]
