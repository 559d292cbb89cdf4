"""Operations by how much they move: which sizes there are, and what bandwidth each reaches."""

from __future__ import annotations

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.schema import COMM_OPS
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, col
from tb_npu_plugin.backend.views.communication_groups import communication_source, group_sizes

#: The lower end of an operation's class of sizes: powers of two, 0 for nothing.
_FROM = (
    "CASE WHEN size_bytes >= 1 THEN 2 ** floor(log2(size_bytes)) WHEN size_bytes >= 0 THEN 0 END"
)
#: How often the payload moves, as a share of it, by type and ranks of the group (n): the least that
#: any algorithm needs. Of real all-reduces of 8 ranks the files count 1.75 times count x data type.
_MOVED = (
    "CASE WHEN ranks > 1 AND type = 'allreduce' THEN 2 * (ranks - 1) / ranks "
    "WHEN ranks > 1 AND type IN ('allgather', 'reducescatter', 'alltoall', 'alltoallv', 'alltoallvc') "
    "THEN (ranks - 1) / ranks END"
)


def message_sizes(sel: Selected) -> Query | None:
    """Operations by type and size, each size class from a power of two to the next."""
    source = communication_source(sel, "comm_ops")
    if source is None:
        return None
    rows = (
        f"(SELECT *, {_FROM} AS from_bytes, size_bytes / ({_MOVED}) AS payload "
        f"FROM (SELECT *, CAST({_ranks(sel)} AS DOUBLE) AS ranks FROM {source}))"
    )
    w = sel.word
    type_ = COMM_OPS.get("type")
    assert type_ is not None
    columns = [col(type_, sel.lang)]

    def add(key: str, kind: results.Kind, en: str, zh: str, sql: str, about: str = "",
            about_zh: str = "", *, shown: bool = True) -> None:  # fmt: skip
        columns.append(Col(key, kind, w(en, zh), sql, w(about, about_zh), shown, aggregate=True))

    columns.append(
        Col("from_bytes", "bytes", w("Size from", "数据量起"), "from_bytes",
            w("Operations that move so much or more, and less than twice as much",
              "数据量不小于此值且小于其两倍的算子"))
    )  # fmt: skip
    add("count", "int", "Operations", "算子数", "count(*)")
    add("size_bytes", "bytes", "Size", "数据量", "sum(size_bytes)")
    add("elapse_ns", "duration", "Elapse", "总耗时", "sum(elapse_ns)")
    add("elapse_ratio", "ratio", "Share", "占比",
        f"sum(elapse_ns) / nullif((SELECT sum(elapse_ns) FROM {source}), 0)",
        "Share of the elapse of the selection", "占所选范围内总耗时的比例")  # fmt: skip
    add("median_ns", "duration", "Median elapse", "总耗时中位数", "median(elapse_ns)")
    add("transit_ns", "duration", "Median transit", "传输中位数", "median(transit_ns)")
    add("bus_bytes_per_s", "rate", "Bus bandwidth", "总线带宽", _rate("size_bytes", "transit_ns"),
        "What a rank moves over all its links, over the transit of the main plane",
        "单卡经所有链路传输的数据量 / 主平面传输时间")  # fmt: skip
    add("algorithm_bytes_per_s", "rate", "Algorithm bandwidth", "算法带宽",
        _rate("payload", "transit_ns"),
        "Payload over transit: the size divided by 2(n-1)/n for all-reduce, (n-1)/n for all-gather, "
        "reduce-scatter and all-to-all of n ranks; empty where n is unknown. Too high for small messages, "
        "which are sent whole to everybody",
        "有效数据量 / 传输时间：allreduce 的数据量除以 2(n-1)/n，allgather、reducescatter、alltoall "
        "除以 (n-1)/n；卡数 n 未知时为空。小消息会整份发给每张卡，此时该值偏高")  # fmt: skip
    add("bandwidth_bytes_per_s", "rate", "Size / elapse", "数据量 / 总耗时",
        _rate("size_bytes", "elapse_ns"), "With waiting and idling", "含等待与空闲")  # fmt: skip
    return Query(rows, columns, "type", "type,from_bytes", ["type", "from_bytes"], "message")


def _ranks(sel: Selected) -> str:
    """How many ranks a group has: as listed, else as many as its matrix links."""
    linked = " ".join(f"WHEN {quote(g)} THEN {n}" for g, n in group_sizes(sel).items())
    return (
        f"coalesce(group_size, CASE coalesce(comm_group, '') {linked} END)"
        if linked
        else "group_size"
    )


def _rate(size: str, time: str) -> str:
    known = f"FILTER ({size} IS NOT NULL AND {time} > 0)"
    return f"sum({size}) {known} / nullif(sum({time}) {known}, 0) * 1e9"
