"""Ranks side by side: what each spends on a kernel type, a shape or an operator, and who differs."""

from __future__ import annotations

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.schema import is_communication
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query

#: Up to so many ranks have a column each.
MAX_COLUMNS = 8
_COMPUTES = f"NOT coalesce({is_communication('core')}, false)"
#: Group word -> (table, columns that are compared, calls, time, what is counted).
GROUPS = {
    "type": ("kernel_summary", ("type", "core"), "sum(count)", "sum(total_ns)", _COMPUTES),
    "shape": ("kernels", ("type", "input_shapes"), "count(*)",
              "sum(dur_ns) FILTER (dur_ns >= 0)", _COMPUTES),
    "operator": ("operator_summary", ("name",), "sum(count)", "sum(host_self_ns)", "TRUE"),
}  # fmt: skip


def differences(sel: Selected, group: str) -> Query | None:
    """One row per kernel type, per type and input shapes, or per operator of the host, the most
    different first. Kernels: time per step, without communication; operators: own time on the host
    in the whole capture. What a rank does not have counts as 0. None while nothing has been read.
    """
    table, keys, calls, time, where = GROUPS[group]
    source = sel.source(table)
    if source is None:
        return None
    w = sel.word
    kernels = table != "operator_summary"
    steps = "greatest(count(DISTINCT step), 1)" if kernels else "1"
    names = ", ".join(keys)
    ranks = f"(SELECT part, any_value(capture) AS capture, {steps} AS steps FROM {source} GROUP BY part)"
    sums = (
        f"(SELECT part, {names}, {calls} AS calls, {time} AS time "
        f"FROM {source} WHERE {where} AND {keys[0]} IS NOT NULL GROUP BY part, {names})"
    )
    same = " AND ".join(f"s.{key} IS NOT DISTINCT FROM k.{key}" for key in keys)
    rows = (
        f"(WITH s AS MATERIALIZED {sums}, r AS MATERIALIZED {ranks}, "
        f"k AS (SELECT DISTINCT {names} FROM s) "
        f"SELECT {', '.join(f'k.{key}' for key in keys)}, r.part, r.capture, "
        "coalesce(s.calls, 0) / r.steps AS calls, coalesce(s.time, 0) / r.steps AS time "
        f"FROM k CROSS JOIN r LEFT JOIN s ON s.part = r.part AND {same})"
    )
    columns = [_key(sel, key) for key in keys]

    def add(key: str, kind: results.Kind, en: str, zh: str, sql: str, about: str = "",
            about_zh: str = "", *, shown: bool = True) -> None:  # fmt: skip
        columns.append(Col(key, kind, w(en, zh), sql, w(about, about_zh), shown, aggregate=True))

    few = len(sel.captures) <= MAX_COLUMNS
    add("spread_ns", "duration", "Most − least", "最大 − 最小", "max(time) - min(time)",
        "Per step" if kernels else "In the whole capture", "每 Step" if kernels else "整段采集")  # fmt: skip
    add("spread_ratio", "ratio", "Of the median", "占中位数",
        "(max(time) - min(time)) / nullif(median(time), 0)", "Most − least, as a share of the median",
        "最大与最小之差占中位数的比例")  # fmt: skip
    add("most", "text", "Most on", "最大的卡", "arg_max(capture, time)")
    add("least", "text", "Least on", "最小的卡", "arg_min(capture, time)", shown=not few)
    add("median_ns", "duration", "Median", "中位数", "median(time)", shown=not few)
    add("most_ns", "duration", "Most", "最大", "max(time)", shown=not few)
    add("least_ns", "duration", "Least", "最小", "min(time)", shown=not few)
    if few:
        for part, capture in enumerate(sel.captures):
            label = sel.rank_label(capture)
            add(f"part{part}_ns", "duration", label, label, f"max(time) FILTER (part = {part})")
    add("ranks", "int", "On ranks", "涉及卡数", "count(*) FILTER (calls > 0)")
    add("calls_least", "number", "Calls, least", "调用次数，最少", "min(calls)", shown=False)
    add("calls_most", "number", "Calls, most", "调用次数，最多", "max(calls)", shown=False)
    add("calls_differ", "text", "Calls", "调用次数",
        f"CASE WHEN max(calls) > min(calls) THEN {quote(w('differ', '不同'))} "
        f"ELSE {quote(w('alike', '相同'))} END",
        "Whether all ranks call it equally often", "各卡的调用次数是否相同")  # fmt: skip
    return Query(rows, columns, keys[0], f"spread_ns:desc,{keys[0]}", list(keys), group)


def _key(sel: Selected, key: str) -> Col:
    en, zh, kind = {
        "type": ("Type", "类型", "text"),
        "core": ("Core", "核心", "text"),
        "input_shapes": ("Input shapes", "输入 Shape", "shape"),
        "name": ("Operator", "算子", "name"),
    }[key]
    return Col(key, kind, sel.word(en, zh), key)  # type: ignore[arg-type]
