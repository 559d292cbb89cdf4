"""Kernels: one row per device task or communication operation, and their hardware counters."""

from __future__ import annotations

import re

from tb_npu_plugin.backend.schema.fields import Field, TableSchema, split_unit

KERNELS = TableSchema(
    "kernels",
    (
        Field("name", "VARCHAR", "name", "Name", "名称", ("Name", "Op Name")),
        Field("type", "VARCHAR", "text", "Type", "类型", ("Type", "OP Type")),
        Field(
            "core", "VARCHAR", "core", "Core", "核类型", ("Accelerator Core", "Task Type"),
            "Which unit ran it: cube (AI_CORE), vector, mixed, AI CPU or communication",
            "执行单元：Cube(AI_CORE)、Vector、混合、AI CPU 或通信",
        ),
        Field("step", "BIGINT", "step", "Step", "Step", ("Step Id",)),
        Field("device", "BIGINT", "device", "Device", "设备", ("Device_id",), shown=False),
        Field("start_ns", "BIGINT", "time", "Start", "开始", ("Start Time", "Task Start Time")),
        Field(
            "dur_ns", "DOUBLE", "duration", "Duration", "耗时", ("Duration", "Task Duration"),
            "Scheduling, execution and response of the task on the device",
            "任务在设备上的调度、执行与响应时间",
        ),
        Field(
            "wait_ns", "DOUBLE", "duration", "Wait", "等待", ("Wait Time", "Task Wait Time"),
            "Gap to the end of the previous row over all streams, at least 0",
            "与上一行（所有流）结束时间的间隔，最小为 0",
        ),
        Field("stream", "BIGINT", "id", "Stream", "流", ("Stream ID",)),
        Field("task", "BIGINT", "id", "Task", "任务", ("Task ID",), shown=False),
        Field("model", "BIGINT", "id", "Model", "模型", ("Model ID",), shown=False),
        Field("context", "BIGINT", "id", "Context", "Context", ("Context ID",), shown=False),
        Field(
            "blocks", "BIGINT", "int", "Blocks", "核数", ("Block Dim", "Block Num"),
            "Launched blocks; may pass the number of physical cores",
            "下发的 Block 数，可能超过物理核数",
        ),
        Field("mix_blocks", "BIGINT", "int", "Mix blocks", "Mix 核数",
              ("Mix Block Dim", "Mix Block Num"), shown=False),
        Field("input_shapes", "VARCHAR", "shape", "Input shapes", "输入 Shape", ("Input Shapes",)),
        Field("input_types", "VARCHAR", "text", "Input types", "输入类型",
              ("Input Data Types",), shown=False),
        Field("input_formats", "VARCHAR", "text", "Input formats", "输入格式",
              ("Input Formats",), shown=False),
        Field("output_shapes", "VARCHAR", "shape", "Output shapes", "输出 Shape",
              ("Output Shapes",), shown=False),
        Field("output_types", "VARCHAR", "text", "Output types", "输出类型",
              ("Output Data Types",), shown=False),
        Field("output_formats", "VARCHAR", "text", "Output formats", "输出格式",
              ("Output Formats",), shown=False),
        Field("op_state", "VARCHAR", "text", "OP state", "算子状态", ("OP State",), shown=False),
        Field("hf32", "VARCHAR", "text", "HF32 eligible", "HF32", ("HF32 Eligible",), shown=False),
    ),
)  # fmt: skip

#: Sums of kernels, made when they are read; of a big file there long before all its rows are.
KERNEL_SUMMARY = TableSchema(
    "kernel_summary",
    (
        Field("type", "VARCHAR", "text", "Type", "类型"),
        Field("name", "VARCHAR", "name", "Name", "名称",
              about_en="Of kernels without a type (Level0)", about_zh="仅用于没有类型的 Kernel（Level0）"),
        Field("core", "VARCHAR", "core", "Core", "核类型"),
        Field("step", "BIGINT", "step", "Step", "Step"),
        Field("device", "BIGINT", "device", "Device", "设备"),
        Field("count", "BIGINT", "int", "Count", "次数"),
        Field("total_ns", "DOUBLE", "duration", "Total", "总耗时"),
        Field("min_ns", "DOUBLE", "duration", "Min", "最小"),
        Field("max_ns", "DOUBLE", "duration", "Max", "最大"),
        Field("wait_ns", "DOUBLE", "duration", "Wait", "等待"),
        Field("first_ns", "BIGINT", "time", "First start", "最早开始"),
        Field("last_ns", "BIGINT", "time", "Last start", "最晚开始"),
        Field("clock_mhz", "DOUBLE", "frequency", "Core clock", "核心频率",
              about_en="Median of cycles / (core time x blocks) over its kernels",
              about_zh="其 Kernel 的 cycles /（核心耗时 × 核数）的中位数"),
        Field("clocked", "BIGINT", "int", "Kernels with a clock", "有核心频率的 Kernel 数"),
    ),
)  # fmt: skip

# ---- hardware counters of kernels (aic_metrics) ---------------------------------------------

_PIPES = "vec|mac|scalar|mte1|mte2|mte3|fixpipe"
_PMU = re.compile(
    rf"^(?:aic_|aiv_)?(?:(?:{_PIPES})_(?:time|ratio)|icache_miss_rate|memory_bound|total_cycles"
    r"|mac_(?:fp16|int8)_ratio|vec_(?:fp32|fp16|int32|misc)_ratio|cube_fops|vector_fops"
    r"|(?:ub|l1|l2|main_mem|l0a|l0b|l0c)_(?:read|write)_bw(?:_cube|_vector|_scalar)?"
    r"|ub_fixp2ub_write_bw|vec_(?:bankgroup|bank|resc)_cflt_ratio"
    r"|write_cache_hit|write_cache_miss_allocate|r[01]_read_cache_(?:hit|miss_allocate)"
    r"|(?:read|write)_local_l2_(?:hit|miss|victim)"
    r"|(?:read|write)_main_memory_datas|(?:gm|l0c|ub)_to_(?:l1|gm|ub)_datas"
    r"|cube_utilization)$|^(?:aicore|aiv|aic|aiv_total|aic_total)_time$"
)


def pmu_field(header: str) -> Field | None:
    """The canonical column of a hardware-counter header, or None if it is not one.

    ``aic_mac_time(us)`` -> ``aic_mac_time_ns``; ``cube_utilization(%)`` ->
    ``cube_utilization_ratio``; ``aic_main_mem_read_bw(GB/s)`` -> ``…_bytes_per_s``.
    """
    text, _unit = split_unit(header)
    name = text.strip().lower()
    if not _PMU.match(name):
        return None
    label = name.replace("_", " ")
    if name.endswith("_time"):
        return Field(f"{name}_ns", "DOUBLE", "duration", label, label, shown=False)
    if "_bw" in name:
        return Field(f"{name}_bytes_per_s", "DOUBLE", "rate", label, label, shown=False)
    if name.endswith("_datas"):
        return Field(f"{name[:-6]}_bytes", "DOUBLE", "bytes", label, label, shown=False)
    if name == "cube_utilization":
        return Field("cube_utilization_ratio", "DOUBLE", "ratio", "cube utilisation",
                     "Cube 利用率", shown=False)  # fmt: skip
    if name.endswith(("_ratio", "_rate")):
        return Field(name, "DOUBLE", "ratio", label, label, shown=False)
    return Field(name, "DOUBLE", "number", label, label, shown=False)


#: The unit counters have where their header names none.
PMU_DEFAULT_UNIT = {"rate": "GB/s", "duration": "us", "bytes": "KB"}


def is_communication(core: str) -> str:
    """SQL predicate: the kernel row is a communication operation (both spellings in use)."""
    return f"upper({core}) IN ('HCCL', 'COMMUNICATION')"
