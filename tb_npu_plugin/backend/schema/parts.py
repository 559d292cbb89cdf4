"""What each view is made of: the table, where sources keep it, and the settings that record it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tb_npu_plugin.backend.wording import of_framework

Words = tuple[str, str]
"""English, Chinese."""


@dataclass(frozen=True)
class Need:
    """A setting of torch_npu's profiler: ``option`` (of ``Options``) must be at least ``least``.

    ``setting``: the argument that switches it on, ``experimental`` ones inside _ExperimentalConfig.
    """

    option: str
    least: int
    setting: str
    off: Words
    experimental: bool = False


@dataclass(frozen=True)
class Part:
    """One thing that a view can show. ``file`` and ``database`` name where sources keep it.

    ``table``: the canonical table. ``columns``: columns that may be empty, and what would fill them.
    ``torch``: a trace of torch.profiler can hold it too. ``graph``: only static graphs have it.
    """

    key: str
    view: str
    label: Words
    table: str
    file: str
    database: str | None
    needs: tuple[Need, ...]
    columns: tuple[tuple[str, Words, Need], ...] = ()
    torch: bool = False
    graph: bool = False
    mindspore: tuple[Need, ...] = ()
    """What MindSpore needs besides."""

    def needs_of(self, framework: str) -> tuple[Need, ...]:
        """The settings that record it in a capture of ``framework``."""
        return self.needs + (self.mindspore if framework == "mindspore" else ())


_PROFILER = "torch_npu.profiler"
CPU = Need("cpu", 1, f"activities=[{_PROFILER}.ProfilerActivity.CPU, {_PROFILER}.ProfilerActivity.NPU]",
           ("the CPU was not recorded", "没有采集 CPU"))  # fmt: skip
NPU = Need("npu", 1, CPU.setting, ("only the CPU was recorded", "只采集了 CPU"))
_LEVEL1 = f"profiler_level={_PROFILER}.ProfilerLevel.Level1"
LEVEL0 = Need("level", 0, _LEVEL1, ("the level was Level_none", "采集级别为 Level_none"), True)
LEVEL1 = Need("level", 1, _LEVEL1, ("the level was below Level1", "采集级别低于 Level1"), True)
METRICS = Need("metrics", 1, f"aic_metrics={_PROFILER}.AiCMetrics.PipeUtilization",
               ("aic_metrics was off", "未启用 aic_metrics"), True)  # fmt: skip
L2 = Need("l2_cache", 1, "l2_cache=True", ("l2_cache was off", "未启用 l2_cache"), True)
MEMORY = Need(
    "profile_memory", 1, "profile_memory=True", ("profile_memory was off", "未启用 profile_memory")
)
SHAPES = Need(
    "record_shapes", 1, "record_shapes=True", ("record_shapes was off", "未启用 record_shapes")
)
STACK = Need("with_stack", 1, "with_stack=True", ("with_stack was off", "未启用 with_stack"))

TEXT = Need(
    "text", 1, f"export_type=[{_PROFILER}.ExportType.Text, {_PROFILER}.ExportType.Db]",
    ("text was not exported", "未导出文本"), True,
)  # fmt: skip

_TYPES = ("types and cores", "类型与核类型")
_SHAPES = ("input shapes", "输入 Shape")
_STACKS = ("call stacks", "调用栈")
#: Stands for any hardware counter, whose columns differ by what was asked for.
COUNTER = "counter"

PARTS: tuple[Part, ...] = (
    Part("step", "step", ("Step time", "Step 时间"), "steps", "step_trace_time.csv",
         "StepTraceTime (analysis.db) or STEP_TIME", (NPU, LEVEL0), torch=True),
    Part("operator", "operator", ("Operators", "算子"), "operators", "operator_details.csv",
         "PYTORCH_API", (CPU,),
         (("input_shapes", _SHAPES, SHAPES), ("stack", _STACKS, STACK)), torch=True,
         mindspore=(SHAPES,)),
    Part("kernel", "kernel", ("Kernels", "Kernel"), "kernels", "kernel_details.csv", "TASK",
         (NPU, LEVEL0), (("type", _TYPES, LEVEL1), ("input_shapes", _SHAPES, LEVEL1)), torch=True),
    Part("kernel.counters", "kernel", ("Kernels: hardware counters", "Kernel：硬件计数器"), "kernels",
         "kernel_details.csv", "TASK_PMU_INFO", (NPU, LEVEL1, METRICS),
         ((COUNTER, ("hardware counters", "硬件计数器"), METRICS),)),
    Part("kernel.statistic", "kernel", ("Kernels: sums by type", "Kernel：按类型汇总"), "op_statistics",
         "op_statistic.csv", "COMPUTE_TASK_INFO", (NPU, LEVEL1)),
    Part("kernel.l2", "kernel", ("Kernels: L2 cache", "Kernel：L2 Cache"), "l2_cache", "l2_cache.csv",
         None, (NPU, L2)),
    Part("api", "api", ("Host API", "Host API"), "api_statistics", "api_statistic.csv", "CANN_API",
         (NPU, LEVEL1)),
    Part("memory.curves", "memory", ("Memory: curves", "内存：曲线"), "memory_points",
         "memory_record.csv", "MEMORY_RECORD", (MEMORY,), torch=True),
    Part("memory.allocations", "memory", ("Memory: allocations", "内存：分配"), "memory_blocks",
         "operator_memory.csv", "OP_MEMORY", (MEMORY,)),
    Part("memory.modules", "memory", ("Memory: CANN's modules", "内存：CANN 模块"), "module_memory",
         "npu_module_mem.csv", "NPU_MODULE_MEM", (NPU, LEVEL0)),
    Part("memory.static", "memory", ("Memory: static graphs", "内存：静态图"), "static_memory",
         "static_op_mem.csv", None, (), graph=True),
    Part("communication.ops", "communication", ("Communication: operations", "通信：算子"), "comm_ops",
         "communication.json", "COMMUNICATION_OP", (NPU, LEVEL1), torch=True),
    Part("communication.links", "communication", ("Communication: links", "通信：链路"), "comm_links",
         "communication.json", "CommAnalyzerBandwidth (analysis.db)", (NPU, LEVEL1)),
    Part("communication.matrix", "communication", ("Communication: matrix", "通信：矩阵"),
         "comm_matrix", "communication_matrix.json", "CommAnalyzerMatrix (analysis.db)",
         (NPU, LEVEL1)),
    Part("timeline", "timeline", ("Trace", "Trace"), "slices", "trace_view.json", "TASK", (),
         torch=True),
)  # fmt: skip

#: Option -> the words for it being off.
OFF: dict[str, Words] = {n.option: n.off for n in (SHAPES, STACK, L2, MEMORY, METRICS)}


def recording(needs: Iterable[Need], framework: str = "") -> str:
    """The call of the framework's profiler that switches ``needs`` on."""
    chosen = list(needs)
    plain = dict.fromkeys(n.setting for n in chosen if not n.experimental)
    inner = dict.fromkeys(n.setting for n in chosen if n.experimental)
    words = ["...", *plain]
    if inner:
        words.append(
            f"experimental_config=torch_npu.profiler._ExperimentalConfig({', '.join(inner)})"
        )
    return of_framework(f"torch_npu.profiler.profile({', '.join(words)})", framework)
