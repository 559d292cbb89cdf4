"""The tables of the communication view, by grouping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.i18n import pick
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.schema import (
    COMM_LINKS,
    COMM_MATRIX,
    COMM_OPS,
    COMM_PACKETS,
    OVERLAP_SUMMARY,
    Field,
)
from tb_npu_plugin.backend.schema.fields import TableSchema
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, col
from tb_npu_plugin.backend.views.communication_groups import (
    communication_source,
    matrix_source,
)
from tb_npu_plugin.backend.views.communication_operations import TOLD, from_kernels, has_overlap
from tb_npu_plugin.backend.views.communication_sizes import message_sizes
from tb_npu_plugin.backend.views.link_peaks import link_peaks, peak_sql

#: Group word -> grouping columns of comm_ops.
_OPERATION_KEYS = {
    "type": ["type"],
    "group": ["comm_group", "group_name", "group_ranks"],
    "step": ["step"],
    "rank": ["rank", "capture"],
}
_SPLIT = ("transit_ns", "wait_ns", "synchronization_ns", "idle_ns")


def operations(sel: Selected) -> Query | None:
    """Every operation."""
    source = communication_source(sel, "comm_ops")
    if source is None:
        return None
    w = sel.word
    brief = from_kernels(sel)
    columns = []
    for f in COMM_OPS.fields:
        if brief and f.key not in TOLD:
            continue
        columns.append(col(f, sel.lang))
        if f.key == "comm_group":
            columns.append(_group_name(sel))
        elif f.key == "elapse_ns":
            columns += _overlap(
                sel, "not_overlapped_ns", "not_overlapped_ns / nullif(elapse_ns, 0)"
            )
    place = next(i for i, c in enumerate(columns) if c.key == "step")
    columns[place + 1 : place + 1] = _who(sel)
    columns += [] if brief else [
        _rate(sel, "size_bytes / nullif(elapse_ns, 0) * 1e9", aggregate=False),
        Col("wait_ratio", "ratio", w("Wait share", "等待占比"),
            "wait_ns / nullif(wait_ns + transit_ns, 0)", w("Wait / (wait + transit)",
            "等待 / （等待 + 传输）"), shown=False),
        Col("synchronization_ratio", "ratio", w("Synchronization share", "同步占比"),
            "synchronization_ns / nullif(synchronization_ns + transit_ns, 0)",
            w("Synchronization / (synchronization + transit)", "同步 / （同步 + 传输）"),
            shown=False),
    ]  # fmt: skip
    columns.append(Col("row", "int", w("Row", "行"), "row", shown=False))
    return Query(source, columns, "name", "elapse_ns:desc", base_ns=_base_ns(sel, source),
                 two_stage=True)  # fmt: skip


def grouped(sel: Selected, group: str) -> Query | None:
    """Operations summed up by type, group, step or rank."""
    source = communication_source(sel, "comm_ops")
    if source is None:
        return None
    keys = _OPERATION_KEYS[group]
    brief = from_kernels(sel)
    w = sel.word
    columns: list[Col] = []
    for key in keys:
        if key == "group_name":
            columns.append(_group_name(sel))
        elif key == "group_ranks":
            columns.append(Col(key, "text", w("Ranks", "卡"), key,
                               w("Ranks of the group, in its order", "通信域内的卡")))  # fmt: skip
        elif key in ("rank", "capture"):
            unknown = any(c.rank is None for c in sel.captures)
            columns += [
                replace(c, shown=unknown == (key == "capture")) for c in _who(sel) if c.key == key
            ]
        else:
            columns.append(col(_field(COMM_OPS, key), sel.lang))
    whole = f"(SELECT sum(elapse_ns) FROM {source})"
    elapse = _field(COMM_OPS, "elapse_ns")

    def add(key: str, kind: results.Kind, en: str, zh: str, sql: str, about: str = "",
            shown: bool = True) -> None:  # fmt: skip
        columns.append(Col(key, kind, pick(sel.lang, en, zh), sql, about, shown, aggregate=True))

    add("count", "int", "Operations", "算子数", "count(*)")
    if group == "group":
        add("captures", "int", "Captures", "采集数", "count(DISTINCT part)")
    columns.append(
        Col("elapse_ns", "duration", pick(sel.lang, elapse.en, elapse.zh), "sum(elapse_ns)",
            pick(sel.lang, elapse.about_en, elapse.about_zh), concept=elapse.concept,
            aggregate=True)
    )  # fmt: skip
    add("elapse_ratio", "ratio", "Share", "占比", f"sum(elapse_ns) / nullif({whole}, 0)",
        w("Share of the elapse of the selection", "占所选范围内总耗时的比例"))  # fmt: skip
    columns += [
        replace(c, aggregate=True, shown=True)
        for c in _overlap(sel, "sum(not_overlapped_ns)", _ratio("not_overlapped_ns", "elapse_ns"))
    ]
    for key in () if brief else _SPLIT:
        f = _field(COMM_OPS, key)
        add(key, "duration", f.en, f.zh, f"sum({key})", pick(sel.lang, f.about_en, f.about_zh))
    if not brief:
        add("wait_ratio", "ratio", "Wait share", "等待占比",
            _ratio("wait_ns", "wait_ns + transit_ns"), w("Wait / (wait + transit)",
            "等待 / （等待 + 传输）"), shown=False)  # fmt: skip
        add("synchronization_ratio", "ratio", "Synchronization share", "同步占比",
            _ratio("synchronization_ns", "synchronization_ns + transit_ns"),
            w("Synchronization / (synchronization + transit)", "同步 / （同步 + 传输）"),
            shown=False)  # fmt: skip
    for key, en, zh in (("avg", "Avg", "平均"), ("min", "Min", "最小"), ("max", "Max", "最大")):
        add(f"{key}_ns", "duration", en, zh, f"{key}(elapse_ns)",
            w("Of the elapse", "总耗时的统计值"))  # fmt: skip
    if not brief:
        f = _field(COMM_OPS, "size_bytes")
        add("size_bytes", "bytes", f.en, f.zh, "sum(size_bytes)",
            pick(sel.lang, f.about_en, f.about_zh))  # fmt: skip
        columns.append(_rate(sel, _ratio("size_bytes", "elapse_ns") + " * 1e9", aggregate=True))
    default = {"step": "step", "rank": "rank"}.get(group, "elapse_ns:desc")
    name = {"group": "group_name", "rank": "capture"}.get(group, keys[0])
    return Query(source, columns, name, default, keys, group)


def links(sel: Selected) -> Query | None:
    """Sums per link type."""
    source = communication_source(sel, "comm_links")
    if source is None:
        return None
    w = sel.word
    whole = f"(SELECT sum(size_bytes) FROM {source} WHERE is_sum = 0)"
    peaks = link_peaks(sel)
    peak = peak_sql(peaks, "link")
    columns = [
        col(_field(COMM_LINKS, "link"), sel.lang),
        *(
            _sum(COMM_LINKS, key, sel, sql)
            for key, sql in (
                ("size_bytes", "sum(size_bytes)"),
                ("time_ns", "sum(time_ns)"),
                ("bandwidth_bytes_per_s", BANDWIDTH),
                ("packets", "sum(packets)"),
                ("large_packet_ratio", LARGE_PACKETS),
            )
        ),
        Col("peak_bytes_per_s", "rate", w("Peak of a link", "单链路峰值"), f"any_value({peak})",
            w("One link in one direction: of the chip, or as set", "单链路单向峰值：取自芯片型号或用户设置"),
            shown=bool(peaks), aggregate=True),
        Col("of_peak_ratio", "ratio", w("Of the peak", "占峰值"),
            f"{BANDWIDTH} / nullif(any_value({peak}), 0)",
            w("Bandwidth over the peak of one link: sizes and times are summed over planes, so this "
              "is the mean of the links", "带宽 / 单链路峰值：数据量与时间为各平面之和，故为各链路的平均"),
            shown=bool(peaks), aggregate=True),
        Col("size_ratio", "ratio", w("Share of size", "数据量占比"),
            f"CASE WHEN max(is_sum) = 0 THEN sum(size_bytes) / nullif({whole}, 0) END",
            w("Of all link types; a sum of others has none", "占所有链路类型的比例；合计行没有"),
            aggregate=True),
        Col("count", "int", w("Operations", "算子数"), "count(*) FILTER (size_bytes > 0)",
            w("Operations that moved data over it", "通过该链路传输了数据的算子数"),
            aggregate=True),
        Col("made_of", "text", w("Made of", "组成"),
            "CASE WHEN max(is_sum) = 1 THEN 'HCCS + PCIE + SIO' END",
            w("A sum of other rows: not to be added to them", "其他行之和，不可再相加"),
            aggregate=True),
    ]  # fmt: skip
    return Query(source, columns, "link", "size_bytes:desc,link", ["link"], "link")


def packet_sizes(sel: Selected) -> Query | None:
    """Packets by link type and size."""
    source = communication_source(sel, "comm_packets")
    if source is None:
        return None
    w = sel.word
    whole = f"(SELECT sum(packets) FROM {source})"
    total = "sum(packet_bytes * packets)"
    columns = [
        col(_field(COMM_PACKETS, "link"), sel.lang),
        col(_field(COMM_PACKETS, "packet_bytes"), sel.lang),
        _sum(COMM_PACKETS, "packets", sel, "sum(packets)"),
        Col("packets_ratio", "ratio", w("Share of packets", "包数占比"),
            f"sum(packets) / nullif({whole}, 0)", aggregate=True),
        Col("size_bytes", "bytes", w("Size", "数据量"), total,
            w("Packets times their size", "包数乘以包大小"), aggregate=True),
        _sum(COMM_PACKETS, "time_ns", sel, "sum(time_ns)"),
        Col("bandwidth_bytes_per_s", "rate", w("Bandwidth", "带宽"), f"{total} FILTER (time_ns > 0)"
            " / nullif(sum(time_ns), 0) * 1e9", w("Size over time", "数据量除以时间"),
            aggregate=True),
    ]  # fmt: skip
    return Query(source, columns, "link", "link,packet_bytes", ["link", "packet_bytes"], "size")


def matrix_rows(sel: Selected) -> Query | None:
    """Every link of the matrix file: between which ranks, of which operation."""
    source = matrix_source(sel)
    if source is None:
        return None
    w = sel.word
    words = " ".join(
        f"WHEN {quote(key)} THEN {quote(text)}"
        for key, text in (
            ("rank", w("ranks", "卡号")),
            ("assumed", w("ranks (assumed)", "卡号（推定）")),
            ("local", w("local rank, no global mapping", "域内序号，无法映射到全局卡号")),
        )
    )
    columns = []
    for f in COMM_MATRIX.fields:
        columns.append(col(f, sel.lang))
        if f.key in ("src", "dst"):
            columns[-1] = Col(f.key, "rank", pick(sel.lang, f.en, f.zh), f.key,
                              w("Rank, or position in the group: see Numbering",
                                "卡号，或在通信域内的序号：见“编号”"))  # fmt: skip
        if f.key == "comm_group":
            columns.append(_group_name(sel))
    columns.append(
        Col("numbering", "text", w("Numbering", "编号"), f"CASE numbering {words} END",
            w("What From and To count: assumed where each capture's own position is its rank, "
              "though no file tells the group's ranks",
              "“源”“目的”的含义：若各采集自身的序号与卡号一致但没有文件说明通信域的卡号，则为推定"))
    )  # fmt: skip
    columns += [*_who(sel, shown=False),
                Col("row", "int", w("Row", "行"), "row", shown=False)]  # fmt: skip
    return Query(source, columns, "operation", "pick:desc,size_bytes:desc", group="matrix",
                 two_stage=True)  # fmt: skip


#: Group word -> its query.
QUERIES: dict[str, Callable[[Selected], Query | None]] = {
    "": operations,
    "type": lambda sel: grouped(sel, "type"),
    "group": lambda sel: grouped(sel, "group"),
    "link": links,
    "size": packet_sizes,
    "message": message_sizes,
    "matrix": matrix_rows,
    "step": lambda sel: grouped(sel, "step"),
    "rank": lambda sel: grouped(sel, "rank"),
}

#: Large packets over packets, of the rows that tell both.
LARGE_PACKETS = (
    "sum(large_packet_ratio * packets) / "
    "nullif(sum(packets) FILTER (large_packet_ratio IS NOT NULL), 0)"
)


#: Bytes per s over the rows with a time: what moved in time 0 has no bandwidth to average in.
MOVED = "sum(size_bytes) FILTER (time_ns > 0)"
TIMED = "sum(time_ns) FILTER (size_bytes IS NOT NULL)"
BANDWIDTH = f"{MOVED} / nullif({TIMED}, 0) * 1e9"


def _ratio(part: str, whole: str) -> str:
    """``part / whole`` summed over the rows that tell both."""
    known = f"FILTER ({part} IS NOT NULL AND {whole} IS NOT NULL)"
    return f"sum({part}) {known} / nullif(sum({whole}) {known}, 0)"


def _rate(sel: Selected, sql: str, *, aggregate: bool) -> Col:
    return Col("bandwidth_bytes_per_s", "rate", sel.word("Size / elapse", "数据量 / 总耗时"), sql,
               sel.word("Whatever the algorithm moves how often: not the bandwidth of a link",
                        "与算法无关，不是链路带宽"), aggregate=aggregate)  # fmt: skip


def _overlap(sel: Selected, sql: str, share: str) -> list[Col]:
    """What operations cost their step, where the kernels tell it."""
    if not has_overlap(sel):
        return []
    f = _field(OVERLAP_SUMMARY, "not_overlapped_ns")
    return [
        replace(col(f, sel.lang), sql=sql),
        Col("not_overlapped_ratio", "ratio", sel.word("Not overlapped %", "未掩盖 %"), share,
            sel.word("Of the elapse", "占总耗时的比例"), shown=False, concept=f.concept),
    ]  # fmt: skip


def _group_name(sel: Selected) -> Col:
    return Col("group_name", "text", sel.word("Group", "通信域"), "group_name",
               sel.word("The communication group's name, else the hash that stands for it",
                        "通信域名称；未知时为其哈希值"))  # fmt: skip


def _who(sel: Selected, *, shown: bool = True) -> list[Col]:
    several = len(sel.captures) > 1 and shown
    unknown = any(c.rank is None for c in sel.captures)
    return [
        Col("rank", "rank", "Rank", "rank", shown=several and not unknown),
        Col("capture", "text", sel.word("Capture", "采集"), "capture", shown=several and unknown),
    ]


def _sum(schema: TableSchema, key: str, sel: Selected, sql: str) -> Col:
    f = _field(schema, key)
    return Col(f.key, f.kind, pick(sel.lang, f.en, f.zh), sql,
               pick(sel.lang, f.about_en, f.about_zh), aggregate=True)  # fmt: skip


def _field(schema: TableSchema, key: str) -> Field:
    found = schema.get(key)
    if found is None:
        raise KeyError(f"{schema.name} has no {key}")
    return found


def _base_ns(sel: Selected, source: str) -> int | None:
    """Origin of the page's times: the earliest operation, whatever steps are chosen."""
    whole = sel.source("comm_ops", steps=False, devices=False, told=False)
    if whole is None:
        whole = sel.source("overlap_summary", steps=False, devices=False, told=False) or source
    row = sel.row(f"SELECT min(start_ns) FROM {whole}")
    return int(row[0]) if row and row[0] is not None else None
