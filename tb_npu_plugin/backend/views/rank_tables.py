"""The tables of the ranks view: every rank, groups of ranks, matched collectives."""

from __future__ import annotations

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.listed import listed
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.schema.fields import DType
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query
from tb_npu_plugin.backend.views import rank_differences, rank_groups
from tb_npu_plugin.backend.views.clocks import aligned_source
from tb_npu_plugin.backend.views.collectives import collectives_source
from tb_npu_plugin.backend.views.communication_operations import has_overlap
from tb_npu_plugin.backend.views.pipeline_pairs import has_pairs
from tb_npu_plugin.backend.views.rank_measures import Measures

_HEADINGS = {"host": ("Host", "主机"), "device": ("Device", "设备"), "pp": ("Stage", "阶段")}
#: What the mean of a count is.
_MEANS: dict[results.Kind, results.Kind] = {"int": "number"}


def groups_of(sel: Selected) -> list[str]:
    found = ["", *rank_groups.groupings(sel)]
    if len(sel.captures) > 1:
        found += [g for g, (table, *_) in rank_differences.GROUPS.items() if sel.paths(table)]
    if sel.paths("comm_ops") and len(sel.captures) > 1:
        found.append("collective")
        if has_pairs(sel):
            found.append("pair")
    return found


def ranks_table(sel: Selected, group: str, found: Measures) -> Query:
    source, columns = _grouped(sel, group, found) if group else _each(sel, found)
    for measure in found.all.values():
        whole = measure.kind == "int" and not group
        kind = measure.kind if whole else _MEANS.get(measure.kind, measure.kind)
        sql = f"CAST({ident(measure.key)} AS {'BIGINT' if whole else 'DOUBLE'})"
        columns.append(Col(measure.key, kind, measure.label, sql, measure.about,
                           measure.shown, measure.concept))  # fmt: skip
    search, default = ("label", "place") if group else ("capture", "rank,capture")
    return Query(source, columns, search, default, [], group, groups_of(sel))


def _each(sel: Selected, found: Measures) -> tuple[str, list[Col]]:
    """One row per capture."""
    w = sel.word
    unknown = any(c.rank is None for c in sel.captures)
    several = len({c.host for c in sel.captures}) > 1
    columns = [
        Col("rank", "rank", "Rank", "rank", shown=not unknown),
        Col("capture", "text", w("Capture", "采集"), "capture", shown=unknown),
        Col("host", "text", w("Host", "主机"), "host", shown=several),
    ]
    types: dict[str, DType] = {
        "part": "BIGINT", "rank": "BIGINT", "capture": "VARCHAR", "host": "VARCHAR"
    }  # fmt: skip
    rows = (
        (
            part,
            c.rank,
            sel.rank_label(c),
            c.host or "",
            *(m.values[part] for m in found.all.values()),
        )
        for part, c in enumerate(sel.captures)
    )
    return listed(types | dict.fromkeys(found.all, "DOUBLE"), rows), columns


def _grouped(sel: Selected, group: str, found: Measures) -> tuple[str, list[Col]]:
    """One row per group of ranks, with the means over them."""
    w = sel.word
    en, zh = _HEADINGS.get(group, (group.upper(), group.upper()))
    columns = [
        Col("label", "text", w(en, zh), "label"),
        Col("place", "int", w("Place", "序号"), "place", shown=False),
        Col("ranks", "text", w("Ranks", "卡"), "ranks"),
        Col("count", "int", w("Count", "卡数"), "count"),
        Col("longest", "text", w("Computes longest", "计算最久"), "longest",
            w("The rank of the group with the longest computing, and by how much beyond the group's "
              "mean", "组内计算时间最长的卡，及其超出组内平均的比例")),
    ]  # fmt: skip
    groups = rank_groups.rank_groups(sel, group)
    values = [rank_groups.means(found.values(key), groups) for key in found.all]
    types: dict[str, DType] = {
        "label": "VARCHAR", "place": "BIGINT", "ranks": "VARCHAR", "count": "BIGINT",
        "longest": "VARCHAR",
    }  # fmt: skip
    rows = (
        (each.label, at, each.ranks, len(each.parts), rank_groups.longest(sel, found, each),
         *(column[at] for column in values))
        for at, each in enumerate(groups)
    )  # fmt: skip
    return listed(types | dict.fromkeys(found.all, "DOUBLE"), rows), columns


def collectives_table(sel: Selected) -> Query | None:
    """The collectives that at least two ranks recorded, those that cost most first."""
    collectives = collectives_source(sel)
    if collectives is None:
        return None
    source = aligned_source(sel) or f"(SELECT *, NULL AS aligned_spread_ns FROM {collectives})"
    row = sel.row(f"SELECT min(start_ns) FROM {collectives}")
    w = sel.word

    def c(key: str, kind: results.Kind, en: str, zh: str, about: str = "", about_zh: str = "",
          *, shown: bool = True) -> Col:  # fmt: skip
        return Col(key, kind, w(en, zh), key, w(about, about_zh), shown)

    columns = [
        c("name", "name", "Operation", "通信算子"),
        c("type", "text", "Type", "类型", shown=False),
        c("comm_group", "id", "Group id", "通信域 ID", shown=False),
        c("step", "step", "Step", "Step"),
        c("ranks", "int", "Ranks", "卡数", "Ranks of the selection that recorded it",
          "所选范围内记录了它的卡数"),
        c("start_ns", "time", "Start", "开始", "Of the first rank, by its own clock",
          "最先到达的卡的开始时刻（按该卡时钟）"),
        c("spread_ns", "duration", "Arrival spread", "到达时间差",
          "From the first rank's start to the last one's, by their clocks",
          "首个与最后一个卡开始时刻之差（按各卡时钟）"),
        c("aligned_spread_ns", "duration", "Spread, clocks aligned", "到达时间差（时钟已对齐）",
          "The same with the offsets of the ranks' clocks taken away (see Clock of the ranks)",
          "扣除各卡时钟偏差后的到达时间差（见多卡的“时钟偏差”列）", shown=False),
        c("last", "text", "Last to join", "最后到达",
          "The rank that synchronises least; empty where all wait, so that the last is not here",
          "同步时间最短的卡；若所有卡都在等待则为空，即最后到达者不在其中"),
        c("cost_ns", "duration", "Cost", "代价",
          "Synchronisation of the other ranks beyond that of the last, in sum",
          "其他卡的同步时间超出最后到达者的部分之和"),
        c("not_overlapped_ns", "duration", "Not overlapped", "未掩盖",
          "What it cost the step: the time within it in which nothing computes, mean of the ranks",
          "对 Step 的代价：算子期间没有任何计算的时间，各卡平均", shown=has_overlap(sel)),
        c("most_ns", "duration", "Longest wait", "最长等待"),
        c("least_ns", "duration", "Shortest wait", "最短等待", shown=False),
        c("passed_ns", "duration", "Held up before", "此前被拖慢",
          "How much longer the last to join was in communication of other groups before, compared "
          "with the rank that waited longest",
          "最后到达的卡此前在其他通信域中比等待最久的卡多用的时间", shown=False),
        c("transit_ns", "duration", "Transit", "传输", "Median of the ranks", "各卡的中位数"),
        c("elapse_ns", "duration", "Longest elapse", "最长总耗时", shown=False),
        c("size_bytes", "bytes", "Size", "数据量", "Most of a rank", "单卡最大值"),
        c("skew", "number", "Size skew", "数据量不均衡度",
          "Most of a rank over the mean of the ranks: of an all-to-all, how unevenly experts are used",
          "单卡最大值 / 各卡平均：对 all-to-all 而言即专家负载的不均衡程度", shown=False),
        c("largest", "text", "Largest on", "数据量最大的卡", shown=False),
    ]  # fmt: skip
    base = int(row[0]) if row and row[0] is not None else None
    return Query(source, columns, "name", "cost_ns:desc", [], "collective",
                 groups_of(sel), base)  # fmt: skip
