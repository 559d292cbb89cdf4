"""Framework operators, host API statistics and operator statistics."""

from __future__ import annotations

from tb_npu_plugin.backend.schema.fields import Field, TableSchema

OPERATORS = TableSchema(
    "operators",
    (
        Field("name", "VARCHAR", "name", "Operator", "算子", ("Name",)),
        Field(
            "input_shapes", "VARCHAR", "shape", "Input shapes", "输入 Shape", ("Input Shapes",)
        ),
        Field("stack", "VARCHAR", "text", "Call stack", "调用栈", ("Call Stack",),
              "Innermost frame first", "最内层帧在前", shown=False),
        Field("host_self_ns", "DOUBLE", "duration", "Host self", "主机自身",
              ("Host Self Duration",),
              "On the host, without the operators it called", "主机侧耗时，不含其调用的算子",
              concept="host"),
        Field("host_total_ns", "DOUBLE", "duration", "Host total", "主机总计",
              ("Host Total Duration",),
              "On the host, with the operators it called", "主机侧耗时，含其调用的算子",
              concept="host"),
        Field("device_self_ns", "DOUBLE", "duration", "Device self", "设备自身",
              ("Device Self Duration",),
              "Sum of the device tasks it launched itself", "由该算子自身下发的设备任务耗时之和",
              concept="computing"),
        Field("device_total_ns", "DOUBLE", "duration", "Device total", "设备总计",
              ("Device Total Duration",),
              "Device tasks launched by it and by the operators it called; a sum, not a union",
              "该算子及其调用的算子所下发的设备任务耗时之和（非并集）", concept="computing"),
        Field("aicore_self_ns", "DOUBLE", "duration", "AI Core self", "AI Core 自身",
              ("Device Self Duration With AICore",),
              "Tasks that the trace labels AI_CORE (cube and vector kernels)",
              "trace 中标记为 AI_CORE 的任务（Cube 与 Vector）"),
        Field("aicore_total_ns", "DOUBLE", "duration", "AI Core total", "AI Core 总计",
              ("Device Total Duration With AICore",), shown=False),
    ),
)  # fmt: skip

#: Sums of operators, made when they are read.
OPERATOR_SUMMARY = TableSchema(
    "operator_summary",
    (
        Field("name", "VARCHAR", "name", "Operator", "算子"),
        Field("count", "BIGINT", "int", "Calls", "次数"),
        Field("host_self_ns", "DOUBLE", "duration", "Host self", "主机自身"),
        Field("device_self_ns", "DOUBLE", "duration", "Device self", "设备自身"),
    ),
)

#: Ordinals of operator rows that run inside an operator of the same name.
OPERATOR_NESTED = TableSchema(
    "operator_nested", (Field("nested_row", "BIGINT", "int", "Row", "行"),)
)

OP_STATISTICS = TableSchema(
    "op_statistics",
    (
        Field("type", "VARCHAR", "name", "Type", "类型", ("OP Type",)),
        Field("core", "VARCHAR", "core", "Core", "核类型", ("Core Type",)),
        Field("count", "BIGINT", "int", "Count", "次数", ("Count",)),
        Field("total_ns", "DOUBLE", "duration", "Total", "总耗时", ("Total Time",)),
        Field("total_ratio", "DOUBLE", "ratio", "Share", "占比", ("Ratio",),
              "Of the listed types; communication is not listed", "占所列类型之和；不含通信"),
        Field("avg_ns", "DOUBLE", "duration", "Avg", "平均", ("Avg Time",)),
        Field("min_ns", "DOUBLE", "duration", "Min", "最小", ("Min Time",)),
        Field("max_ns", "DOUBLE", "duration", "Max", "最大", ("Max Time",)),
        Field("device", "BIGINT", "device", "Device", "设备", ("Device_id",), shown=False),
        Field("model", "VARCHAR", "text", "Model", "模型", ("Model Name",), shown=False),
    ),
)  # fmt: skip

API_STATISTICS = TableSchema(
    "api_statistics",
    (
        Field("name", "VARCHAR", "name", "API", "API", ("API Name",)),
        Field("level", "VARCHAR", "text", "Level", "层级", ("Level",),
              "acl, node, model, hccl (communication), runtime", "acl、node、model、hccl（通信）、runtime"),
        Field("count", "BIGINT", "int", "Count", "次数", ("Count",)),
        Field("total_ns", "DOUBLE", "duration", "Total", "总耗时", ("Time",), concept="host"),
        Field("avg_ns", "DOUBLE", "duration", "Avg", "平均", ("Avg",)),
        Field("min_ns", "DOUBLE", "duration", "Min", "最小", ("Min",)),
        Field("max_ns", "DOUBLE", "duration", "Max", "最大", ("Max",)),
        Field("variance_us2", "DOUBLE", "number", "Variance (µs²)", "方差（µs²）", ("Variance",),
              "Population variance", "总体方差", shown=False),
        Field("device", "VARCHAR", "text", "Device", "设备", ("Device_id",), shown=False),
    ),
)  # fmt: skip

L2_CACHE = TableSchema(
    "l2_cache",
    (
        Field("stream", "BIGINT", "id", "Stream", "流", ("Stream Id",)),
        Field("task", "BIGINT", "id", "Task", "任务", ("Task Id",)),
        Field("name", "VARCHAR", "name", "Name", "名称", ("Op Name",)),
        Field("l2_hit_ratio", "DOUBLE", "ratio", "L2 hit", "L2 命中率", ("Hit Rate",),
              "Not measured on A2/A3", "A2/A3 上不测量"),
        Field("l2_victim_ratio", "DOUBLE", "ratio", "L2 victim", "L2 替换率", ("Victim Rate",),
              "May pass 100 %", "可能超过 100 %"),
        Field("device", "BIGINT", "device", "Device", "设备", ("Device_id",)),
    ),
)  # fmt: skip

AI_CPU = TableSchema(
    "ai_cpu",
    (
        Field("name", "VARCHAR", "name", "Node", "节点", ("Node",)),
        Field("start_ns", "BIGINT", "time", "Time", "时间", ("Timestamp",)),
        Field("compute_ns", "DOUBLE", "duration", "Compute", "计算", ("Compute_time",)),
        Field("memcpy_ns", "DOUBLE", "duration", "Memcpy", "拷贝", ("Memcpy_time",)),
        Field("task_ns", "DOUBLE", "duration", "Task", "任务", ("Task_time",)),
        Field("dispatch_ns", "DOUBLE", "duration", "Dispatch", "下发", ("Dispatch_time",)),
        Field("total_ns", "DOUBLE", "duration", "Total", "总耗时", ("Total_time",)),
        Field("stream", "BIGINT", "id", "Stream", "流", ("Stream ID",)),
        Field("task", "BIGINT", "id", "Task", "任务", ("Task ID",)),
        Field("device", "BIGINT", "device", "Device", "设备", ("Device_id",), shown=False),
    ),
)  # fmt: skip
