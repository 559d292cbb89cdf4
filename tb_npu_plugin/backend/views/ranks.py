"""Rank against rank: every measure of every rank, who stands out, and who waits for whom."""

from __future__ import annotations

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.listed import listed
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.schema.fields import DType
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, TableRequest, empty_table, page
from tb_npu_plugin.backend.views.collectives import collectives_source
from tb_npu_plugin.backend.views.communication_groups import world_of_matrix
from tb_npu_plugin.backend.views.rank_measures import Measure, Measures, measures
from tb_npu_plugin.backend.views.rank_scores import LEAST_RANKS, middle, scores
from tb_npu_plugin.backend.views.rank_suspects import suspects

TABLES = ("steps", "comm_ops", "comm_matrix", "kernel_summary", "operator_summary", "memory_curve")
GROUPS = ("", "host", "collective")
#: ``only=table``: the page of the table alone.
OPTIONS = ("only",)
#: More rows than this are no picture; the table holds them all.
MAX_RANKS = 2048


def ranks(sel: Selected, request: TableRequest) -> results.Ranks:
    """The comparison, and a page of its table (``group=collective``: of matched collectives)."""
    if sel.options.get("only", "table") != "table":
        raise RequestError(400, "bad-option", "only can be: table.")
    if sel.options:
        query = ranks_query(sel, request.group)
        return results.Ranks(
            _note(sel), [], "", results.RankGrid([], [], 0), _page(sel, query, request)
        )
    found = measures(sel)
    query = ranks_query(sel, request.group, found)
    order = _order(sel, found, "" if request.group else request.sort)
    named = suspects(sel, found)
    verdict = "" if named else _verdict(sel, found)
    grid, table = _grid(sel, found, order), _page(sel, query, request)
    return results.Ranks(_note(sel), named, verdict, grid, table)


def _page(sel: Selected, query: Query | None, request: TableRequest) -> results.Table:
    return page(sel.store, query, request) if query else empty_table(_groups(sel))


def ranks_query(sel: Selected, group: str, found: Measures | None = None) -> Query | None:
    """The table of a grouping; None while nothing has been read. ``found``: if known already.

    Raises RequestError 400 for an unknown group.
    """
    if group not in GROUPS:
        raise RequestError(400, "bad-group", f"Ranks cannot be grouped by {group!r}.",
                           f"Groups: {', '.join(g for g in GROUPS if g)}")  # fmt: skip
    if group == "collective":
        return _collectives(sel)
    found = found or measures(sel)
    return _table(sel, group, found) if found.all else None


def _groups(sel: Selected) -> list[str]:
    found = [""]
    if len({c.host for c in sel.captures}) > 1:
        found.append("host")
    if sel.paths("comm_ops") and len(sel.captures) > 1:
        found.append("collective")
    return found


def _table(sel: Selected, group: str, found: Measures) -> Query:
    keys = list(found.all)
    types: dict[str, DType] = {
        "part": "BIGINT",
        "rank": "BIGINT",
        "capture": "VARCHAR",
        "host": "VARCHAR",
    }
    source = listed(
        types | dict.fromkeys(keys, "DOUBLE"),
        (
            (part, capture.rank, sel.rank_label(capture), capture.host or "",
             *(found.all[key].values[part] for key in keys))
            for part, capture in enumerate(sel.captures)
        ),
    )  # fmt: skip
    w = sel.word
    unknown = any(c.rank is None for c in sel.captures)
    hosts = len({c.host for c in sel.captures}) > 1
    if group:
        columns = [
            Col("host", "text", w("Host", "主机"), "host"),
            Col("count", "int", w("Ranks", "卡数"), "count(*)", aggregate=True),
        ]
    else:
        columns = [
            Col("rank", "rank", "Rank", "rank", shown=not unknown),
            Col("capture", "text", w("Capture", "采集"), "capture", shown=unknown),
            Col("host", "text", w("Host", "主机"), "host", shown=hosts),
        ]
    for key in keys:
        measure = found.all[key]
        sql = f"CAST({ident(key)} AS {'BIGINT' if measure.kind == 'int' else 'DOUBLE'})"
        columns.append(
            Col(key, measure.kind, measure.label, f"avg({sql})" if group else sql, measure.about,
                measure.shown, measure.concept, aggregate=bool(group))
        )  # fmt: skip
    search = "host" if group else "capture"
    default = "host" if group else "rank,capture"
    return Query(source, columns, search, default, [group] if group else [], group, _groups(sel))


def _collectives(sel: Selected) -> Query | None:
    """The collectives that at least two ranks recorded, those that cost most first."""
    collectives = collectives_source(sel)
    if collectives is None:
        return None
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
        c("last", "text", "Last to join", "最后到达",
          "The rank that synchronises least; empty where all wait, so that the last is not here",
          "同步时间最短的卡；若所有卡都在等待则为空，即最后到达者不在其中"),
        c("cost_ns", "duration", "Cost", "代价",
          "Synchronisation of the other ranks beyond that of the last, in sum",
          "其他卡的同步时间超出最后到达者的部分之和"),
        c("most_ns", "duration", "Longest wait", "最长等待"),
        c("least_ns", "duration", "Shortest wait", "最短等待", shown=False),
        c("passed_ns", "duration", "Held up before", "此前被拖慢",
          "How much longer the last to join was in communication of other groups before, compared "
          "with the rank that waited longest",
          "最后到达的卡此前在其他通信域中比等待最久的卡多用的时间", shown=False),
        c("transit_ns", "duration", "Transit", "传输", "Median of the ranks", "各卡的中位数"),
        c("elapse_ns", "duration", "Longest elapse", "最长总耗时", shown=False),
        c("size_bytes", "bytes", "Size", "数据量", "Most of a rank", "单卡最大值"),
    ]  # fmt: skip
    base = int(row[0]) if row and row[0] is not None else None
    return Query(collectives, columns, "name", "cost_ns:desc", [], "collective",
                 _groups(sel), base)  # fmt: skip


def _order(sel: Selected, found: Measures, sort: str) -> list[int]:
    """Ordinals of the captures in the order of the table, the unknown last."""
    order = list(range(len(sel.captures)))
    for word in reversed(sort.split(",")):
        key, _, direction = word.strip().partition(":")
        if key == "rank" and direction == "desc":
            order.reverse()
        if key not in found.all:
            continue
        values = found.values(key)
        sign = -1.0 if direction == "desc" else 1.0
        order.sort(key=lambda p: _sort_key(values[p], sign))
    return order


def _sort_key(value: float | None, sign: float) -> tuple[bool, float]:
    return (value is None, sign * value if value is not None else 0.0)


def _grid(sel: Selected, found: Measures, order: list[int]) -> results.RankGrid:
    shown = order[:MAX_RANKS]
    captures = [sel.captures[p] for p in shown]
    return results.RankGrid(
        ranks=[results.RankName(sel.rank_label(c), c.rank, c.capture_id) for c in captures],
        measures=[_measure(m, shown) for m in found.all.values() if m.shown],
        total_ranks=len(order),
    )


def _measure(m: Measure, shown: list[int]) -> results.RankMeasure:
    known = [v for v in m.values if v is not None]
    scored = scores(m.values)
    return results.RankMeasure(
        key=m.key, label=m.label, kind=m.kind, description=m.about, concept=m.concept, view=m.view,
        median=middle(m.values), least=min(known, default=None), most=max(known, default=None),
        values=[m.values[p] for p in shown],
        scores=[_rounded(scored[p]) for p in shown],
    )  # fmt: skip


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 2)


def _verdict(sel: Selected, found: Measures) -> str:
    """What it means that there are no suspects; "" for one rank, or while nothing has been read."""
    if found.count < 2 or not found.all:
        return ""
    w = sel.word
    waits, many = "delay_ns" in found.all, found.count >= LEAST_RANKS
    if waits:
        return w("No rank and no link stands out: nobody computes, idles or comes late so much longer "
                 "than the others that it costs 3 % of a step.",
                 "没有突出的卡或链路：没有卡的计算、空闲或迟到比其他卡多出一个 Step 的 3 %。")  # fmt: skip
    unknown = w("who comes late is unknown, because waits in communication were not recorded (they are "
                "from profiler_level=Level1 on).",
                "未记录通信等待（profiler_level=Level1 起才有），无法得知谁迟到。")  # fmt: skip
    if many:
        return (
            w("No rank stands out by computing or idling; ", "没有卡的计算或空闲突出；") + unknown
        )
    return w("This cannot be judged: with so few ranks only waits tell, and ",
             "无法判断：卡数过少时只能依据等待，而") + unknown  # fmt: skip


def _note(sel: Selected) -> str:
    """How many ranks are compared, and how many of the job are not there."""
    count = len(sel.captures)
    w = sel.word
    told = max((c.info.world_size or 0 for c in sel.recording.captures), default=0)
    world = told or world_of_matrix(sel) or 0
    text = w(f"{count} rank{'s' if count != 1 else ''}", f"{count} 卡")
    if world > count:
        text += w(f" of {world}", f"，共 {world} 卡")
    text += w(". ", "。")
    if count == 1:
        return text + w("One rank has nobody to be compared with.", "仅一卡，无法比较。")
    if count < LEAST_RANKS:
        return text + w("Too few to tell which is the odd one: differences only, no scores.",
                        "卡数过少，无法判断谁异常：只显示差异，不打分。")  # fmt: skip
    return text + w(
        "Colour: distance from the median in units of 1.4826 MAD (at least 1 % of the median).",
        "颜色：与中位数的距离，以 1.4826 倍 MAD（不小于中位数的 1 %）为单位。",
    )
