"""Memory: blocks, the totals over time and their curves, what CANN's modules and graphs hold.

Sizes are bytes (sources mean KB = 1024, MB = 2^20), instants int64 ns.
"""

from __future__ import annotations

from tb_npu_plugin.backend.results import BlockState
from tb_npu_plugin.backend.schema.fields import Field, TableSchema

_DEVICE = Field(
    "device", "BIGINT", "device", "Device", "设备", ("Device Type", "Device", "Device_id")
)
_COMPONENT = Field(
    "component", "VARCHAR", "text", "Component", "组件", ("Component",),
    "PTA: PyTorch's caching allocator; GE: CANN's graph engine; PTA+GE: their sum; APP: the "
    "process as the driver sees it",
    "PTA:PyTorch 缓存分配器；GE:CANN 图引擎；PTA+GE：两者之和；APP：驱动看到的进程总量",
)  # fmt: skip

#: What became of a block, by :func:`block_state_sql`: word -> (English, Chinese).
BLOCK_STATES: dict[BlockState, tuple[str, str]] = {
    "held": ("Never released in the capture (leak candidate)", "采集期间未释放（疑似泄漏）"),
    "before": ("Released, but allocated before the capture", "已释放，但在采集开始前分配"),
    "zero": ("Zero lifetime", "生命周期为零"),
    "released": ("Allocated and released in the capture", "采集期间分配并释放"),
    "unknown": ("Neither allocation nor release known", "分配与释放时间均未知"),
}

MEMORY_BLOCKS = TableSchema(
    "memory_blocks",
    (
        Field("name", "VARCHAR", "name", "Operator", "算子", ("Name",),
              "The operator that allocated the block", "分配该内存块的算子"),
        Field("component", "VARCHAR", "text", "Component", "组件", (), _COMPONENT.about_en,
              _COMPONENT.about_zh),
        Field("size_bytes", "DOUBLE", "bytes", "Size", "大小", ("Size",),
              "Negative where only the release was seen", "仅记录到释放时为负值"),
        Field("state", "VARCHAR", "text", "State", "状态", (),
              "released, held (never released in the capture: leak candidate), before (released, "
              "but allocated before the capture), zero (zero lifetime), unknown",
              "released 已释放；held 采集期间未释放（疑似泄漏）；before 已释放但在采集开始前分配；"
              "zero 生命周期为零；unknown 未知"),
        Field("alloc_ns", "BIGINT", "time", "Allocated", "分配时间", ("Allocation Time",)),
        Field("release_ns", "BIGINT", "time", "Released", "释放时间", ("Release Time",),
              "Given back by the tensor", "张量释放该块的时间"),
        Field("active_release_ns", "BIGINT", "time", "Reusable", "可复用时间",
              ("Active Release Time",), "When streams are done with it and it can be reused",
              "各流使用完毕、可被复用的时间", shown=False),
        Field("dur_ns", "DOUBLE", "duration", "Lifetime", "生命周期", ("Duration",),
              "Allocation to release", "从分配到释放"),
        Field("active_dur_ns", "DOUBLE", "duration", "Active lifetime", "占用时长",
              ("Active Duration",), "Allocation to reusable", "从分配到可复用", shown=False),
        Field("alloc_allocated_bytes", "DOUBLE", "bytes", "Total allocated then", "分配时已分配总量",
              ("Allocation Total Allocated",), "Of the component, just after the allocation",
              "该组件在分配之后的总量"),
        Field("alloc_reserved_bytes", "DOUBLE", "bytes", "Total reserved then", "分配时预留总量",
              ("Allocation Total Reserved",), shown=False),
        Field("alloc_active_bytes", "DOUBLE", "bytes", "Total active then", "分配时占用总量",
              ("Allocation Total Active",), shown=False),
        Field("release_allocated_bytes", "DOUBLE", "bytes", "Total allocated after release",
              "释放后已分配总量", ("Release Total Allocated",), shown=False),
        Field("release_reserved_bytes", "DOUBLE", "bytes", "Total reserved after release",
              "释放后预留总量", ("Release Total Reserved",), shown=False),
        Field("release_active_bytes", "DOUBLE", "bytes", "Total active after release",
              "释放后占用总量", ("Release Total Active",), shown=False),
        Field("stream_ptr", "VARCHAR", "id", "Stream pointer", "流指针", ("Stream Ptr",),
              "A key, not a stream id", "仅作标识，不是流 ID", shown=False),
        _DEVICE,
    ),
)  # fmt: skip

MEMORY_POINTS = TableSchema(
    "memory_points",
    (
        _COMPONENT,
        Field("time_ns", "BIGINT", "time", "Time", "时间", ("Timestamp",)),
        Field("allocated_bytes", "DOUBLE", "bytes", "Allocated", "已分配", ("Total Allocated",),
              "In use by tensors", "张量正在使用"),
        Field("reserved_bytes", "DOUBLE", "bytes", "Reserved", "预留", ("Total Reserved",),
              "Taken from the device by the component", "组件向设备申请的总量"),
        Field("active_bytes", "DOUBLE", "bytes", "Active", "占用", ("Total Active",),
              "Allocated, or released and still used by a stream", "已分配，或已释放但仍被流使用"),
        Field("stream_ptr", "VARCHAR", "id", "Stream pointer", "流指针", ("Stream Ptr",),
              shown=False),
        _DEVICE,
    ),
)  # fmt: skip

#: The three totals a component has, in the order of size.
MEASURES = ("reserved", "active", "allocated")

#: Down-sampled ``memory_points``, made when the file is read: a page never scans them all.
MEMORY_CURVE = TableSchema(
    "memory_curve",
    (
        _COMPONENT,
        Field("measure", "VARCHAR", "text", "Measure", "指标"),
        Field("time_ns", "BIGINT", "time", "Time", "时间"),
        Field("value_bytes", "DOUBLE", "bytes", "Value", "值"),
        Field("source_rows", "BIGINT", "int", "Rows behind the curve", "原始行数"),
        _DEVICE,
    ),
)

MODULE_MEMORY = TableSchema(
    "module_memory",
    (
        Field("component", "VARCHAR", "name", "Module", "模块", ("Component",),
              "A module of CANN or the driver (HCCL, RUNTIME, …)", "CANN 或驱动的模块（HCCL、RUNTIME 等）"),
        Field("time_ns", "BIGINT", "time", "Time", "时间", ("Timestamp",)),
        Field("reserved_bytes", "DOUBLE", "bytes", "Reserved", "预留", ("Total Reserved",)),
        _DEVICE,
    ),
)  # fmt: skip

STATIC_MEMORY = TableSchema(
    "static_memory",
    (
        Field("name", "VARCHAR", "name", "Operator", "算子", ("Op Name",)),
        Field("size_bytes", "DOUBLE", "bytes", "Size", "大小", ("Size",)),
        Field("model", "VARCHAR", "text", "Model", "模型", ("Model Name",)),
        Field("graph", "VARCHAR", "id", "Graph", "图", ("Graph ID",)),
        Field("node_start", "BIGINT", "id", "First node", "起始节点", ("Node Index Start",),
              "Node indexes are logical times", "节点序号为逻辑时间"),
        Field("node_end", "BIGINT", "id", "Last node", "结束节点", ("Node Index End",)),
        Field("device", "BIGINT", "device", "Device", "设备", ("Device_id",), shown=False),
    ),
)  # fmt: skip


def block_state_sql(alloc: str = "alloc_ns", release: str = "release_ns") -> str:
    """SQL expression of a block's state from its instants; a word of :data:`BLOCK_STATES`."""
    return (
        f"CASE WHEN {alloc} IS NULL AND {release} IS NULL THEN 'unknown' "
        f"WHEN {release} IS NULL THEN 'held' WHEN {alloc} IS NULL THEN 'before' "
        f"WHEN {release} <= {alloc} THEN 'zero' ELSE 'released' END"
    )
