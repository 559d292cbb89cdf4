"""Framework operators: by name, by name and shape, by call stack, or every call."""

from __future__ import annotations

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.results import Kind
from tb_npu_plugin.backend.schema import OPERATORS
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, TableRequest, col, empty_table, page

TABLES = ("operators", "operator_nested")
#: Group word -> grouping columns.
GROUPS: dict[str, tuple[str, ...]] = {
    "": (),
    "name": ("name",),
    "shape": ("name", "input_shapes"),
    "stack": ("name", "stack"),
    "rank": ("rank",),
}
_SUMS = ("host_self_ns", "device_self_ns", "aicore_self_ns")
#: Totals contain the operators called, so a row inside one of its own name is left out of them.
_TOTALS = ("host_total_ns", "device_total_ns", "aicore_total_ns")


def operator(sel: Selected, request: TableRequest) -> results.Operator:
    """A page of operators. Empty while nothing was read (``meta.findings`` says why)."""
    query = operator_query(sel, request.group)
    if query is None:
        return results.Operator(empty_table(GROUPS), "")
    return results.Operator(page(sel.store, query, request), operator_note(sel))


def operator_query(sel: Selected, group: str) -> Query | None:
    """The operator table of the selection; None while no operators have been read.

    Raises RequestError 400 for an unknown group.
    """
    if group not in GROUPS:
        known = ", ".join(g for g in GROUPS if g)
        raise RequestError(400, "bad-group", f"Operators cannot be grouped by {group!r}.",
                           f"Groups: {known}")  # fmt: skip
    source = operators_source(sel)
    if source is None:
        return None
    keys = list(GROUPS[group])
    groups = [g for g in GROUPS if g != "rank" or len(sel.captures) > 1]
    columns = _grouped(sel, keys, source) if keys else _calls(sel)
    return Query(
        source,
        columns,
        keys[0] if keys else "name",
        "device_self_ns:desc,host_self_ns:desc" if keys else "device_self_ns:desc",
        keys,
        group,
        groups,
        two_stage=not keys,
    )


def operators_source(sel: Selected) -> str | None:
    """Operators with ``nested``: whether the row runs inside an operator of the same name."""
    rows = sel.source("operators", steps=False)
    if rows is None:
        return None
    inner = sel.source("operator_nested", steps=False)
    if inner is None:
        return f"(SELECT *, FALSE AS nested FROM {rows})"
    return (
        f"(SELECT o.*, n.nested_row IS NOT NULL AS nested FROM {rows} o LEFT JOIN "
        f"(SELECT part, nested_row FROM {inner}) n ON n.part = o.part AND n.nested_row = o.row)"
    )


def operator_note(sel: Selected) -> str:
    """Calls, host and device time, in a sentence."""
    source = operators_source(sel)
    if source is None:  # the capture was deleted a moment ago
        return ""
    row = sel.row(
        "SELECT count(*), count(DISTINCT name), sum(host_self_ns), sum(device_self_ns) "
        f"FROM {source}"
    )
    calls, names, host, device = row or (0, 0, None, None)
    return sel.word(
        f"{calls:,} calls of {names:,} operators: {wording.duration(host)} on the host, "
        f"{wording.duration(device)} on the device (sums of self times; the whole capture)",
        f"{names:,} 个算子共调用 {calls:,} 次：主机 {wording.duration(host)}，"
        f"设备 {wording.duration(device)}（自身耗时之和，整段采集）",
    )


def operator_line(sel: Selected) -> str:
    """The three operators with the most device time of their own, in a sentence; "" without any."""
    source = sel.source("operator_summary")
    if source is None:
        return ""
    rows = sel.rows(
        f"SELECT name, sum(device_self_ns) AS total, sum(total) OVER () FROM {source} "
        "GROUP BY name ORDER BY total DESC NULLS LAST, name LIMIT 3"
    )
    parts = [
        f"{name} {wording.duration(total)} ({wording.percent(wording.share(total, whole))})"
        for name, total, whole in rows
        if total
    ]
    if not parts:
        return sel.word("No operator has device time.", "没有算子有设备耗时。")
    return sel.word("Most device time: ", "设备耗时最多：") + sel.word(", ", "、").join(parts)


def _calls(sel: Selected) -> list[Col]:
    columns = [col(f, sel.lang) for f in OPERATORS.fields]
    columns.insert(1, Col("rank", "rank", "Rank", "rank", shown=len(sel.captures) > 1))
    columns.append(Col("row", "int", sel.word("Row", "行"), "row",
                       sel.word("Order of start", "按开始时间的顺序"), shown=False))  # fmt: skip
    return columns


def _grouped(sel: Selected, keys: list[str], source: str) -> list[Col]:
    w = sel.word
    columns: list[Col] = []
    for key in keys:
        f = OPERATORS.get(key)
        columns.append(col(f, sel.lang, shown=True) if f else Col(key, "rank", "Rank", ident(key)))

    def add(
        key: str, kind: Kind, label: str, sql: str, about: str = "", concept: str | None = None,
        shown: bool = True,
    ) -> None:  # fmt: skip
        columns.append(Col(key, kind, label, sql, about, shown, concept, aggregate=True))

    add("count", "int", w("Calls", "调用次数"), "count(*)")
    for key in ("device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns"):
        f = OPERATORS.get(key)
        assert f is not None
        base = col(f, sel.lang)
        add(key, "duration", base.label, _sum(key), base.description, f.concept)
        if key.endswith("self_ns"):
            whole = f"(SELECT sum({key}) FROM {source})"
            side = w("device", "设备") if key.startswith("device") else w("host", "主机")
            add(key.replace("_ns", "_ratio"), "ratio", f"{base.label} %",
                f"sum({key}) / nullif({whole}, 0)",
                w(f"Share of all {side} self time", f"占全部{side}自身耗时"), f.concept)  # fmt: skip
    add("device_avg_ns", "duration", w("Device avg", "设备平均"),
        "sum(device_self_ns) / nullif(count(*), 0)", shown=False)  # fmt: skip
    add("host_avg_ns", "duration", w("Host avg", "主机平均"),
        "sum(host_self_ns) / nullif(count(*), 0)", shown=False)  # fmt: skip
    for key in ("aicore_self_ns", "aicore_total_ns"):
        f = OPERATORS.get(key)
        assert f is not None
        base = col(f, sel.lang)
        add(key, "duration", base.label, _sum(key), base.description, shown=key == "aicore_self_ns")
    add("aicore_self_ratio", "ratio", w("AI Core of device self", "AI Core 占设备自身"),
        "sum(aicore_self_ns) / nullif(sum(device_self_ns), 0)")  # fmt: skip
    return columns


def _sum(key: str) -> str:
    return f"sum({key})" if key in _SUMS else f"sum({key}) FILTER (NOT nested)"
