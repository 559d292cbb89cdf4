"""Rank against rank: every measure of every rank, who stands out, and who waits for whom."""

from __future__ import annotations

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Query, TableRequest, empty_table, page
from tb_npu_plugin.backend.views import rank_differences, rank_groups
from tb_npu_plugin.backend.views.communication_groups import world_of_matrix
from tb_npu_plugin.backend.views.parallel_groups import axes, shape_text
from tb_npu_plugin.backend.views.pipeline_pairs import pairs
from tb_npu_plugin.backend.views.rank_grid import rank_grid
from tb_npu_plugin.backend.views.rank_measures import Measures, measures
from tb_npu_plugin.backend.views.rank_scores import LEAST_RANKS
from tb_npu_plugin.backend.views.rank_suspects import suspects
from tb_npu_plugin.backend.views.rank_tables import collectives_table, groups_of, ranks_table

TABLES = (
    "steps", "comm_ops", "comm_matrix", "kernel_summary", "kernels", "operator_summary",
    "memory_curve", "overlap_summary",
)  # fmt: skip
GROUPS = ("", *rank_groups.GROUPS, *rank_differences.GROUPS, "collective", "pair")
#: ``only=table``: the page of the table alone. ``shape``: how the job is cut, ``tp=8,pp=2``.
#: ``measure``: the one that the picture shows step by step.
OPTIONS = ("only", "shape", "measure")


def ranks(sel: Selected, request: TableRequest) -> results.Ranks:
    """The comparison, and a page of its table (``group=collective``: of matched collectives)."""
    if sel.options.get("only", "table") != "table":
        raise RequestError(400, "bad-option", "only can be: table.")
    if "only" in sel.options:
        query = ranks_query(sel, request.group)
        nothing = results.RankGrid([], [], 0, "", "", [])
        return results.Ranks(_note(sel), "", [], "", nothing, _page(sel, query, request))
    found = measures(sel)
    query = ranks_query(sel, request.group, found)
    named = suspects(sel, found)
    verdict = "" if named else _verdict(sel, found)
    grid, table = rank_grid(sel, found, request), _page(sel, query, request)
    return results.Ranks(_note(sel), shape_text(axes(sel)), named, verdict, grid, table)


def _page(sel: Selected, query: Query | None, request: TableRequest) -> results.Table:
    return page(sel.store, query, request) if query else empty_table(groups_of(sel))


def ranks_query(sel: Selected, group: str, found: Measures | None = None) -> Query | None:
    """The table of a grouping; None while nothing has been read. ``found``: if known already.

    Raises RequestError 400 for an unknown group.
    """
    if group not in GROUPS:
        raise RequestError(400, "bad-group", f"Ranks cannot be grouped by {group!r}.",
                           f"Groups: {', '.join(g for g in GROUPS if g)}")  # fmt: skip
    if group == "collective":
        return collectives_table(sel)
    if group == "pair" or group in rank_differences.GROUPS:
        query = pairs(sel) if group == "pair" else rank_differences.differences(sel, group)
        if query:
            query.groups = groups_of(sel)
        return query
    found = found or measures(sel)
    return ranks_table(sel, group, found) if found.all else None


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
    world = sel.recording.world_size or world_of_matrix(sel) or 0
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
