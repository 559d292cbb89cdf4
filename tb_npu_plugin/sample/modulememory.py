"""npu_module_mem.csv: what each component of the driver and runtime holds, every 20 ms."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .lines import Line, with_device
from .text import Appender, us_list

COLUMNS = "Component,Timestamp(us),Total Reserved(MB),Device\n"
SAMPLE_NS = 20_000_000

COMPONENTS = {
    "SLOG": 0.0, "HCCL": 404.0625, "FMK": 0.0, "DVPP": 0.0, "RUNTIME": 62.375, "CCE": 0.0,
    "HDC": 0.0, "DRV": 21.5, "DEVMM": 3.25, "KERNEL": 0.0, "ROS": 0.0, "HCCP": 18.0, "ROCE": 0.0,
    "PROFILING": 48.5, "DP": 0.0, "APP": 0.0, "TS": 0.5, "AICPU": 12.0, "TDT": 2.125, "FE": 0.0,
    "GE": 72.0, "ASCENDCL": 4.0, "TBE": 0.0, "FFTS": 1.0, "OP": 9.75, "SYSMONITOR": 0.0,
}  # fmt: skip


def write_module_memory(folder: Path, line: Line, device: int, window: tuple[int, int]) -> None:
    """All samples of one component, then those of the next."""
    lead = f"{device}," if line.device_id else ""
    file = Appender(folder / "npu_module_mem.csv", with_device(line, COLUMNS))
    for number, (component, held) in enumerate(COMPONENTS.items()):
        times = np.arange(window[0] + 1_000_000 + number * 410, window[1], SAMPLE_NS)
        # What a component takes it takes in the first samples, and then keeps.
        values = np.where(np.arange(len(times)) < 2, held * 0.75, held).tolist()
        file.add_lines(
            f"{lead}{component},{t}\t,{v!r},NPU:{device}\n"
            for t, v in zip(us_list(times), values, strict=True)
        )
