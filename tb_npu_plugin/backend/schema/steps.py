"""Steps: where the time of each step went."""

from __future__ import annotations

from tb_npu_plugin.backend.schema.fields import Field, TableSchema

STEPS = TableSchema(
    "steps",
    (
        Field("step", "BIGINT", "step", "Step", "Step", ("Step",)),
        Field("device", "BIGINT", "device", "Device", "设备", ("Device_id",)),
        Field("computing_ns", "DOUBLE", "duration", "Computing", "计算", ("Computing",),
              "Union of the compute kernels", "计算 Kernel 时间的并集", concept="computing"),
        Field("communication_not_overlapped_ns", "DOUBLE", "duration",
              "Communication, not overlapped", "未掩盖通信", ("Communication(Not Overlapped)",),
              "Communication while nothing computes", "没有被计算掩盖的通信时间",
              concept="communication"),
        Field("overlapped_ns", "DOUBLE", "duration", "Overlapped", "重叠", ("Overlapped",),
              "Communication hidden behind computing", "被计算掩盖的通信时间",
              concept="overlapped"),
        Field("communication_ns", "DOUBLE", "duration", "Communication", "通信",
              ("Communication",), "Union of the communication operations", "通信算子时间的并集"),
        Field("free_ns", "DOUBLE", "duration", "Free", "空闲", ("Free",),
              "Between the first and the last device work, covered by neither",
              "首末设备任务之间既无计算也无通信的时间", concept="free"),
        Field("stage_ns", "DOUBLE", "duration", "Stage", "Stage", ("Stage",),
              "First to last device work, less bubble", "首个到末个设备任务的时间，不含 Bubble"),
        Field("bubble_ns", "DOUBLE", "duration", "Bubble", "Bubble", ("Bubble",),
              "Receive operations of a pipeline", "流水线并行中 receive 的等待时间",
              concept="bubble"),
        Field("communication_exclude_receive_ns", "DOUBLE", "duration",
              "Not overlapped, without receive", "未掩盖通信（不含 receive）",
              ("Communication(Not Overlapped and Exclude Receive)",), shown=False),
        Field("preparing_ns", "DOUBLE", "duration", "Preparing", "准备", ("Preparing",),
              "Host time before the first device work; lies before the stage",
              "首个设备任务之前的主机时间，位于 Stage 之前", concept="preparing"),
    ),
)  # fmt: skip
