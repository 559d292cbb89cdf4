"""Sends matched with their receives: what goes from stage to stage, and who waits for whom."""

from __future__ import annotations

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query

#: Point-to-point operations with their place among those of their step, direction and group. The
#: framework makes a group of two ranks for each pair that sends, so a group tells the partner.
_P2P = (
    "(SELECT *, row_number() OVER (PARTITION BY part, group_id, type, step ORDER BY start_ns, row) "
    "AS k FROM (SELECT *, coalesce(comm_group, '') AS group_id FROM {source}) "
    "WHERE kind = 'p2p' AND type IN ('send', 'receive') AND group_id IN ("
    "SELECT coalesce(comm_group, '') FROM {source} WHERE kind = 'p2p' GROUP BY ALL "
    "HAVING count(DISTINCT part) = 2))"
)


def has_pairs(sel: Selected) -> bool:
    """Whether the selection holds sends or receives of more than one capture."""
    source = sel.source("comm_ops", devices=False)
    if source is None or len(sel.captures) < 2:
        return False
    row = sel.row(
        f"SELECT count(DISTINCT part) FROM {source} WHERE kind = 'p2p' "
        "AND type IN ('send', 'receive')"
    )
    return bool(row and row[0] > 1)


def pairs(sel: Selected) -> Query | None:
    """One row per sender and receiver, the longest waits first; times are means per step.

    The k-th send of a step in a group of two ranks is taken for the k-th receive of the partner.
    None while nothing has been read.
    """
    source = sel.source("comm_ops", devices=False)
    if source is None:
        return None
    p2p = _P2P.format(source=source)
    matched = (
        f"(WITH p AS MATERIALIZED {p2p} SELECT s.capture AS sender, r.capture AS receiver, "
        "s.part AS from_part, r.part AS to_part, s.step, s.start_ns AS sent_ns, r.start_ns AS "
        "asked_ns, s.elapse_ns AS send_ns, r.elapse_ns AS receive_ns, s.wait_ns AS send_wait_ns, "
        "r.wait_ns AS receive_wait_ns, r.transit_ns, s.size_bytes "
        "FROM p s JOIN p r ON s.group_id = r.group_id AND s.step IS NOT DISTINCT FROM r.step "
        "AND s.k = r.k AND s.part <> r.part WHERE s.type = 'send' AND r.type = 'receive')"
    )
    w = sel.word
    steps = "greatest(count(DISTINCT step), 1)"
    columns = [
        Col("sender", "text", w("Sender", "发送方"), "sender"),
        Col("receiver", "text", w("Receiver", "接收方"), "receiver"),
        Col("from_part", "int", w("Sender, place", "发送方序号"), "from_part", shown=False),
        Col("to_part", "int", w("Receiver, place", "接收方序号"), "to_part", shown=False),
    ]

    def add(key: str, kind: results.Kind, en: str, zh: str, sql: str, about: str = "",
            about_zh: str = "") -> None:  # fmt: skip
        columns.append(Col(key, kind, w(en, zh), sql, w(about, about_zh), aggregate=True))

    add("count", "number", "Messages", "消息数", f"count(*) / {steps}", "Per step", "每 Step")
    add(
        "size_bytes", "bytes", "Size", "数据量", f"sum(size_bytes) / {steps}", "Per step", "每 Step"
    )
    add("receive_ns", "duration", "Receives", "接收耗时", f"sum(receive_ns) / {steps}",
        "Elapse of the receives, per step: the pipeline's bubble counts it",
        "每 Step 接收的总耗时，即流水线气泡")  # fmt: skip
    add("receive_wait_ns", "duration", "Receiver waits", "接收方等待",
        f"sum(receive_wait_ns) / {steps}", "Per step, for the sender", "每 Step 等待发送方")  # fmt: skip
    add("send_wait_ns", "duration", "Sender waits", "发送方等待", f"sum(send_wait_ns) / {steps}",
        "Per step, for the receiver", "每 Step 等待接收方")  # fmt: skip
    add("transit_ns", "duration", "Median transit", "传输中位数", "median(transit_ns)",
        "Of one message", "单条消息")  # fmt: skip
    add("late_ns", "duration", "Sender later by", "发送方晚到", "median(sent_ns - asked_ns)",
        "Median of start of the send − start of the receive, by the ranks' own clocks",
        "发送开始 − 接收开始的中位数（按各卡时钟）")  # fmt: skip
    return Query(matched, columns, "sender", "receive_wait_ns:desc,from_part,to_part",
                 ["sender", "receiver", "from_part", "to_part"], "pair")  # fmt: skip
