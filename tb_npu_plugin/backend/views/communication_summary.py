"""What each rank spent in communication and moved over which links."""

from __future__ import annotations

from typing import Any

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.communication_operations import from_kernels, operations_source
from tb_npu_plugin.backend.views.communication_tables import BANDWIDTH, LARGE_PACKETS

#: More ranks than this and the page compares them in the Ranks view; the reply stays bounded.
MAX_RANKS = 1024
#: An operation whose parts are all known.
_WHOLE = (
    "elapse_ns IS NOT NULL AND transit_ns IS NOT NULL AND wait_ns IS NOT NULL "
    "AND idle_ns IS NOT NULL"
)


def rank_sums(sel: Selected) -> tuple[list[results.CommunicationRank], int]:
    """Sums per capture in the order of ranks, and how many captures there are."""
    if not sel.paths("comm_ops"):
        return [], 0
    source = operations_source(sel)
    sums = ", ".join(
        f"sum({key}) FILTER ({_WHOLE})"
        for key in ("elapse_ns", "transit_ns", "wait_ns", "idle_ns", "synchronization_ns")
    )
    rows: list[tuple[Any, ...]] = sel.rows(
        "SELECT part, any_value(rank), any_value(capture), count(*), "
        f"count(*) FILTER (NOT ({_WHOLE})), {sums}, sum(size_bytes), sum(not_overlapped_ns) "
        f"FROM {source} GROUP BY part ORDER BY part"
    )
    moved = _links(sel)
    found = [_rank(row, moved.get(row[0], [])) for row in rows[:MAX_RANKS]]
    return found, len(rows)


def _rank(row: tuple[Any, ...], links: list[results.LinkTraffic]) -> results.CommunicationRank:
    _, rank, label, count, incomplete, elapse, transit, wait, idle, sync, size, alone = row
    share = wording.share
    return results.CommunicationRank(
        rank=rank,
        label=label,
        operations=count,
        incomplete=incomplete,
        elapse_ns=elapse,
        transit_ns=transit,
        wait_ns=wait,
        idle_ns=idle,
        # Sums of doubles: a rest below a thousandth of a ns is none.
        rest_ns=None
        if elapse is None or transit is None
        else round(elapse - transit - wait - idle, 3) or 0.0,
        synchronization_ns=sync,
        transit_of_elapse_ratio=share(transit, elapse),
        wait_of_elapse_ratio=share(wait, elapse),
        idle_of_elapse_ratio=share(idle, elapse),
        wait_ratio=_against(wait, transit),
        synchronization_ratio=_against(sync, transit),
        size_bytes=size,
        not_overlapped_ns=alone,
        links=links,
    )


def _of_kernels(sel: Selected) -> list[results.CommunicationRank]:
    """Per capture what its kernels tell of communication, where that is all there is (Level0)."""
    source = operations_source(sel) if from_kernels(sel) else None
    if source is None:
        return []
    nothing = (None,) * 4
    return [
        _rank((part, rank, label, count, 0, elapse, *nothing, None, alone), [])
        for part, rank, label, count, elapse, alone in sel.rows(
            "SELECT part, any_value(rank), any_value(capture), count(*), sum(elapse_ns), "
            f"sum(not_overlapped_ns) FROM {source} GROUP BY part ORDER BY part"
        )
    ]


def _against(part: float | None, transit: float | None) -> float | None:
    if part is None or transit is None:
        return None
    return wording.share(part, part + transit)


def _links(sel: Selected) -> dict[int, list[results.LinkTraffic]]:
    """Ordinal of the capture -> its link types, most bytes first, the sum of others last."""
    source = sel.source("comm_links", devices=False)
    if source is None:
        return {}
    rows = sel.rows(
        f"SELECT part, link, sum(size_bytes) AS size, sum(time_ns), {BANDWIDTH}, "
        f"{LARGE_PACKETS}, sum(packets), max(is_sum) AS is_sum FROM {source} "
        "GROUP BY part, link ORDER BY part, is_sum, size DESC NULLS LAST, link"
    )
    found: dict[int, list[results.LinkTraffic]] = {}
    for part, link, size, time, rate, large, packets, is_sum in rows:
        found.setdefault(part, []).append(
            results.LinkTraffic(
                link, size, time, rate, large, None if packets is None else int(packets),
                bool(is_sum),
            )
        )  # fmt: skip
    return found


def communication_line(sel: Selected) -> str:
    """Communication in one sentence, of the rank with the longest elapse; "" if nothing is known.

    ``4 operations on Rank 0, the longest of 2: 106 ms = 3.68 ms transit + 5.94 ms wait + 96.4 ms
    idle; for 102 ms nothing computes; 428 MB over HCCS.``
    """
    ranks, total = rank_sums(sel)
    ranks = ranks or _of_kernels(sel)
    if not ranks:
        return ""
    total = total or len(ranks)
    longest = max(ranks, key=lambda r: r.elapse_ns or -1.0)
    w, text = sel.word, wording.duration
    who = longest.label
    if total > 1:
        who += w(f", the longest of {total}", f"（{total} 个中最长）")
    count = longest.operations
    line = w(f"{count:,} operation{'s' if count != 1 else ''} on {who}",
             f"{who}：{count:,} 个通信算子")  # fmt: skip
    if longest.elapse_ns is not None and longest.transit_ns is None:
        line += w(f": {text(longest.elapse_ns)}", f"，{text(longest.elapse_ns)}")
    elif longest.elapse_ns is not None:
        parts = (text(longest.transit_ns), text(longest.wait_ns), text(longest.idle_ns))
        line += w(
            ": {} = {} transit + {} wait + {} idle", "，{} = 传输 {} + 等待 {} + 空闲 {}"
        ).format(text(longest.elapse_ns), *parts)
    if longest.not_overlapped_ns is not None:
        line += w("; for {} nothing computes", "；其间 {} 没有任何计算").format(
            text(longest.not_overlapped_ns)
        )
    if longest.incomplete:
        line += w(f" ({longest.incomplete} with unknown times left out)",
                  f"（另有 {longest.incomplete} 个时间未知，未计入）")  # fmt: skip
    over = [link.link for link in longest.links if link.size_bytes and not link.sum_of_others]
    if over and longest.size_bytes:
        line += w("; {0} over {1}", "；通过 {1} 传输 {0}").format(
            wording.traffic(longest.size_bytes), ", ".join(over)
        )
    return line + w(".", "。")
