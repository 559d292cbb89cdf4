"""What other files say of the kernels: L2 cache rates, CANN's statistics, AI CPU details."""

from __future__ import annotations

from dataclasses import replace

from tb_npu_plugin.backend.schema import AI_CPU, L2_CACHE, OP_STATISTICS
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, col

_L2_KEYS = ("stream", "task", "name")


def l2_columns(sel: Selected, present: dict[str, bool]) -> list[Col]:
    """L2 hit and victim rates of each kernel, joined by capture, stream, task and name.

    None where there is no l2_cache.csv, or where kernels carry no stream and task (Level0). Not
    every kernel has a row there: communication never, some mixed kernels not.
    """
    source = sel.source("l2_cache", steps=False, devices=False)
    if source is None or not all(present.get(key) for key in _L2_KEYS):
        return []
    match = " AND ".join(f"l2.{key} = t.{key}" for key in ("part", *_L2_KEYS))
    columns = []
    for key in ("l2_hit_ratio", "l2_victim_ratio"):
        f = L2_CACHE.get(key)
        assert f is not None
        # 16-bit task ids wrap in long captures: several rows of one key give their mean.
        sql = f"(SELECT avg(l2.{key}) FROM {source} l2 WHERE {match})"
        columns.append(col(f, sel.lang, sql, shown=False))
    return columns


def l2_note(sel: Selected, present: dict[str, bool]) -> str:
    """Why the L2 rates that were recorded cannot be shown beside the kernels, if so."""
    if sel.source("l2_cache") is None or all(present.get(key) for key in _L2_KEYS):
        return ""
    return sel.word(
        " L2 cache rates were recorded, but at Level0 kernels carry no stream and task to join "
        "them by: see the group “l2”.",
        "已采集 L2 Cache 数据，但 Level0 下 Kernel 没有流与任务号，无法关联：见分组“l2”。",
    )


def statistic_columns(sel: Selected, keys: list[str]) -> list[Col]:
    """CANN's own count and total beside groups by type, to hold ours against."""
    source = sel.source("op_statistics", steps=False, devices=False)
    if source is None or keys != ["type", "core"] or not sel.steps.everything:
        return []
    about = sel.word("As CANN's op_statistic.csv has it (whole capture)",
                     "CANN op_statistic.csv 中的值（整段采集）")  # fmt: skip
    columns = []
    for key, name in (("count", "statistic_count"), ("total_ns", "statistic_total_ns")):
        f = OP_STATISTICS.get(key)
        assert f is not None
        sql = (
            f"(SELECT sum(s.{key}) FROM {source} s WHERE s.type = any_value(t.type) "
            "AND s.core = any_value(t.core))"
        )
        base = col(f, sel.lang)
        columns.append(Col(name, f.kind, f"{base.label} (CANN)", sql, about, False, aggregate=True))
    return columns


def statistic_query(sel: Selected) -> Query | None:
    """op_statistic.csv as it stands."""
    source = sel.source("op_statistics", steps=False, devices=False)
    if source is None:
        return None
    columns = [col(f, sel.lang) for f in OP_STATISTICS.fields]
    columns.insert(2, Col("rank", "rank", "Rank", "rank", shown=len(sel.captures) > 1))
    return Query(source, columns, "type", "total_ns:desc")


def l2_query(sel: Selected) -> Query | None:
    """l2_cache.csv as it stands."""
    source = sel.source("l2_cache", steps=False, devices=False)
    if source is None:
        return None
    order = ("name", "l2_hit_ratio", "l2_victim_ratio", "stream", "task", "device")
    fields = [f for key in order if (f := L2_CACHE.get(key))]
    columns = [replace(col(f, sel.lang), shown=f.key != "device") for f in fields]
    columns.insert(1, Col("rank", "rank", "Rank", "rank", shown=len(sel.captures) > 1))
    return Query(source, columns, "name", "l2_victim_ratio:desc", two_stage=True)


def ai_cpu_query(sel: Selected) -> Query | None:
    """data_preprocess.csv as it stands: operators on the AI CPU (Level2)."""
    source = sel.source("ai_cpu", steps=False, devices=False)
    if source is None:
        return None
    columns = [col(f, sel.lang) for f in AI_CPU.fields]
    columns.insert(1, Col("rank", "rank", "Rank", "rank", shown=len(sel.captures) > 1))
    row = sel.row(f"SELECT min(start_ns) FROM {source}")
    base = int(row[0]) if row and row[0] is not None else None
    return Query(source, columns, "name", "total_ns:desc", base_ns=base, two_stage=True)
