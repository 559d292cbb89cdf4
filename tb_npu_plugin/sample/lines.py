"""What a release line of torch_npu (with the CANN of its time) writes differently."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """Names and columns of one release line."""

    name: str
    torch_npu_version: str  # "" where the line does not write it
    cann_version: str
    device_id: bool  # a Device_id column, and "NPU <n>" as process label
    block: str  # "Dim" before 26.0, "Num" since
    comm_core: str  # Accelerator Core of communication rows
    comm_process: str  # process name in the trace
    comm_api: str  # prefix of the host events, and the level in api_statistic
    extra_config: bool  # the 7.1 switches (host_sys, sys_io, …) in profiler_info
    mstx: bool  # the 7.2 ones
    analyse_done: bool

    @property
    def comm_level(self) -> str:
        """Level of the communication APIs: hccl or communication."""
        return self.comm_api.lower()


_NEW = {"comm_core": "COMMUNICATION", "comm_process": "Communication", "comm_api": "Communication"}
LINES: dict[str, Line] = {
    "2025": Line(
        "2025",
        "",
        "",
        device_id=False,
        block="Dim",
        comm_core="HCCL",
        comm_process="HCCL",
        comm_api="Hccl",
        extra_config=False,
        mstx=False,
        analyse_done=False,
    ),
    "7.1": Line(
        "7.1",
        "2.6.0",
        "8.2.RC1",
        device_id=True,
        block="Dim",
        **_NEW,
        extra_config=True,
        mstx=False,
        analyse_done=False,
    ),
    "26.0": Line(
        "26.0",
        "2.9.0",
        "8.5.0",
        device_id=True,
        block="Num",
        **_NEW,
        extra_config=True,
        mstx=True,
        analyse_done=True,
    ),
}
"""By name: 2025 (torch_npu 6.0/7.0 with CANN 8.0), 7.1, and 26.0 (the default)."""


def kernel_header(line: Line, level: int) -> list[str]:
    """Columns of kernel_details.csv (PipeUtilization group at levels 1 and 2)."""
    block = f"Block {line.block}"
    head = ["Step Id"] + (["Device_id"] if line.device_id else [])
    times = ["Start Time(us)", "Duration(us)", "Wait Time(us)"]
    if level == 0:
        return [*head, "Name", "Type", "Accelerator Core", *times, block]
    aic = ["mac", "scalar", "mte1", "mte2", "fixpipe"]
    aiv = ["vec", "scalar", "mte2", "mte3"]
    return [
        *head,
        *("Model ID", "Task ID", "Stream ID", "Name", "Type", "OP State", "Accelerator Core"),
        *times,
        *(block, f"Mix {block}", "HF32 Eligible"),
        *("Input Shapes", "Input Data Types", "Input Formats"),
        *("Output Shapes", "Output Data Types", "Output Formats", "Context ID"),
        *("aicore_time(us)", "aic_total_cycles"),
        *(f"aic_{stage}_{kind}" for stage in aic for kind in ("time(us)", "ratio")),
        "aic_icache_miss_rate",
        *("aiv_time(us)", "aiv_total_cycles"),
        *(f"aiv_{stage}_{kind}" for stage in aiv for kind in ("time(us)", "ratio")),
        *("aiv_icache_miss_rate", "cube_utilization(%)"),
    ]


def with_device(line: Line, columns: str) -> str:
    """A header with Device_id in front where the line writes it."""
    return f"Device_id,{columns}" if line.device_id else columns
