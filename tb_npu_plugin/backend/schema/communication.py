"""Communication: operations, what they moved over each link type, and between which ranks.

Sources count sizes in MB of 10^6 bytes, times in ms and rates in GB/s of 10^9 bytes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tb_npu_plugin.backend.schema.fields import Field, TableSchema

#: What the sources mean by MB and GB.
MEGABYTE = 1_000_000

_NAME = Field("name", "VARCHAR", "name", "Operation", "通信算子")
_TYPE = Field("type", "VARCHAR", "text", "Type", "类型",
              about_en="allreduce, allgather, send …, from the operation's name",
              about_zh="由算子名得出：allreduce、allgather、send 等")  # fmt: skip
_KIND = Field("kind", "VARCHAR", "text", "Kind", "类别", shown=False,
              about_en="collective, or p2p (send, receive)",
              about_zh="集合通信（collective）或点对点（p2p）")  # fmt: skip
_GROUP = Field("comm_group", "VARCHAR", "id", "Group id", "通信域 ID", shown=False,
               about_en="Hash of the communication group's full name",
               about_zh="通信域全名的哈希值")  # fmt: skip
_STEP = Field("step", "BIGINT", "step", "Step", "Step")
_LINK = Field("link", "VARCHAR", "text", "Link", "链路",
              about_en="Link type: HCCS, PCIE, SIO, RDMA …; SDMA is HCCS + PCIE + SIO",
              about_zh="链路类型：HCCS、PCIE、SIO、RDMA 等；SDMA 为 HCCS + PCIE + SIO 之和")  # fmt: skip

COMM_OPS = TableSchema(
    "comm_ops",
    (
        _NAME, _TYPE, _KIND, _GROUP, _STEP,
        Field("start_ns", "BIGINT", "time", "Start", "开始"),
        Field("elapse_ns", "DOUBLE", "duration", "Elapse", "总耗时", concept="communication",
              about_en="Start to end of the operation = transit + wait + idle",
              about_zh="算子从开始到结束的时间 = 传输 + 等待 + 空闲"),
        Field("transit_ns", "DOUBLE", "duration", "Transit", "传输",
              about_en="Moving data to or from other ranks, on the main plane",
              about_zh="主平面上与其他卡收发数据的时间"),
        Field("wait_ns", "DOUBLE", "duration", "Wait", "等待",
              about_en="Waiting for other ranks (Notify_Wait), on the main plane",
              about_zh="主平面上等待其他卡（Notify_Wait）的时间"),
        Field("synchronization_ns", "DOUBLE", "duration", "Synchronization", "同步",
              about_en="The part of the wait that lies before the first transit",
              about_zh="首次传输之前的等待，包含在等待之内"),
        Field("idle_ns", "DOUBLE", "duration", "Idle", "空闲",
              about_en="Elapse without transit and wait", about_zh="总耗时减去传输与等待"),
        Field("size_bytes", "DOUBLE", "bytes", "Size", "数据量",
              about_en="Sum over the link types (SDMA, itself a sum, is not added again)",
              about_zh="各链路类型之和（SDMA 本身是合计，不重复计入）"),
        Field("links", "VARCHAR", "text", "Links", "链路",
              about_en="Link types that moved data", about_zh="传输了数据的链路类型"),
    ),
    MEGABYTE,
)  # fmt: skip

COMM_LINKS = TableSchema(
    "comm_links",
    (
        _NAME, _TYPE, _KIND, _GROUP, _STEP, _LINK,
        Field("size_bytes", "DOUBLE", "bytes", "Size", "数据量"),
        Field("time_ns", "DOUBLE", "duration", "Time", "时间",
              about_en="Transit time over all planes; may pass the operation's own",
              about_zh="所有平面的传输时间之和，可能大于算子的传输时间"),
        Field("bandwidth_bytes_per_s", "DOUBLE", "rate", "Bandwidth", "带宽",
              about_en="Size over time", about_zh="数据量除以时间"),
        Field("large_packet_ratio", "DOUBLE", "ratio", "Large packets", "大包占比",
              about_en="Packets above 32 MB (RDMA: 0.5 MB)",
              about_zh="大于 32 MB（RDMA 为 0.5 MB）的包的占比"),
        Field("packets", "BIGINT", "int", "Packets", "包数"),
        Field("is_sum", "BIGINT", "int", "Sum of others", "为其他链路之和", shown=False,
              about_en="1: the sum of other rows of the operation, never to be added to them",
              about_zh="1：同一算子其他行之和，不可再与其相加"),
    ),
    MEGABYTE,
)  # fmt: skip

COMM_PACKETS = TableSchema(
    "comm_packets",
    (
        _NAME, _TYPE, _KIND, _GROUP, _STEP, _LINK,
        Field("packet_bytes", "DOUBLE", "bytes", "Packet size", "包大小"),
        Field("packets", "BIGINT", "int", "Packets", "包数"),
        Field("time_ns", "DOUBLE", "duration", "Time", "时间"),
    ),
    MEGABYTE,
)  # fmt: skip

COMM_MATRIX = TableSchema(
    "comm_matrix",
    (
        Field("src", "BIGINT", "int", "From", "源",
              about_en="Position in the communication group", about_zh="在通信域内的位置"),
        Field("dst", "BIGINT", "int", "To", "目的",
              about_en="Position in the communication group", about_zh="在通信域内的位置"),
        Field("transport", "VARCHAR", "text", "Transport", "传输方式",
              about_en="LOCAL is a copy on the chip itself", about_zh="LOCAL 为芯片内拷贝"),
        Field("size_bytes", "DOUBLE", "bytes", "Size", "数据量"),
        Field("time_ns", "DOUBLE", "duration", "Time", "时间"),
        Field("bandwidth_bytes_per_s", "DOUBLE", "rate", "Bandwidth", "带宽",
              about_en="Size over time", about_zh="数据量除以时间"),
        Field("operation", "VARCHAR", "name", "Operation", "通信算子",
              about_en="The operation the link's figures are of; sums have none",
              about_zh="该链路数据所属的算子；合计行没有"),
        Field("key", "VARCHAR", "text", "Key", "键", shown=False),
        _TYPE,
        Field("pick", "VARCHAR", "text", "Part", "取值",
              about_en="total, or the operation by bandwidth of the link: top1, middle, bottom1-3; "
                       "op: every operation (old versions)",
              about_zh="total 为合计；top1、middle、bottom1-3 按该链路带宽取的算子；op 为逐个算子（旧版本）"),
        _KIND, _GROUP, _STEP,
    ),
    MEGABYTE,
)  # fmt: skip

#: Made of kernels when they are read, so it is there at Level0, too, which has no ``comm_ops``.
OVERLAP_SUMMARY = TableSchema(
    "overlap_summary",
    (
        _NAME, _TYPE, _STEP,
        Field("device", "BIGINT", "device", "Device", "设备"),
        Field("start_ns", "BIGINT", "time", "Start", "开始"),
        Field("elapse_ns", "DOUBLE", "duration", "Elapse", "总耗时", concept="communication",
              about_en="Of the kernel's row", about_zh="取自 Kernel 行"),
        Field("not_overlapped_ns", "DOUBLE", "duration", "Not overlapped", "未掩盖",
              concept="communication_not_overlapped",
              about_en="What it cost the step: the time within it in which nothing computes. Operations "
                       "that are open at the same time share it evenly, so it adds up to the step's",
              about_zh="对 Step 的代价：算子期间没有任何计算的时间。同时进行的多个算子平分，"
                       "因此总和等于 Step 的未掩盖通信"),
        Field("nth", "BIGINT", "int", "Occurrence", "第几次", shown=False,
              about_en="Among those of its name, in order of start", about_zh="同名算子中按开始时刻的序号"),
        Field("alike", "BIGINT", "int", "Of that name", "同名个数", shown=False),
    ),
)  # fmt: skip

_WORD = re.compile(r"^[a-z]+$")
#: Longest first: ``allreduce`` before ``reduce``.
_TYPES = (
    "batchsendrecv", "reducescatterv", "reducescatter", "alltoallvc", "alltoallv", "alltoall",
    "allgatherv", "allgather", "allreduce", "broadcast", "barrier", "receive", "scatter", "gather",
    "reduce", "send", "recv",
)  # fmt: skip


@lru_cache(maxsize=4096)
def type_of(name: str) -> str:
    """``hcom_allReduce__586_0_1`` -> ``allreduce``. Unknown types: the text before ``__``."""
    text = name.split("__", 1)[0].lower()
    for prefix in ("hcom_", "hccl_", "hcom", "hccl"):
        text = text.removeprefix(prefix)
    if _WORD.match(text):
        return text
    return next((known for known in _TYPES if known in text), text)


def type_sql(name: str) -> str:
    """:func:`type_of` of the SQL expression ``name``."""
    text = (
        f"regexp_replace(lower(split_part({name}, '__', 1)), '^(hcom_)?(hccl_)?(hcom)?(hccl)?', '')"
    )
    known = " ".join(f"WHEN contains({text}, '{word}') THEN '{word}'" for word in _TYPES)
    return f"CASE WHEN regexp_full_match({text}, '[a-z]+') THEN {text} {known} ELSE {text} END"
