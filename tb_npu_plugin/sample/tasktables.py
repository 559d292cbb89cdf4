"""Small tables per kernel: l2_cache.csv, and data_preprocess.csv of AI CPU operators."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .lines import Line, with_device
from .rows import MAIN_STREAM, SIDE_STREAM, DeviceRows
from .specs import Kernel
from .text import Appender, us

L2_COLUMNS = "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n"
AI_CPU_COLUMNS = (
    "Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),"
    "Total_time(us),Stream ID,Task ID\n"
)


class TaskTables:
    """Writes both files of one rank."""

    def __init__(self, folder: Path, line: Line, device: int, seed: list[int]) -> None:
        self._l2 = Appender(folder / "l2_cache.csv", with_device(line, L2_COLUMNS))
        self._ai_cpu = Appender(folder / "data_preprocess.csv", with_device(line, AI_CPU_COLUMNS))
        self._lead = f"{device}," if line.device_id else ""
        self._rng = np.random.Generator(np.random.SFC64(seed))
        self._first = True

    def l2_cache(self, rows: DeviceRows, kernels: tuple[Kernel, ...]) -> None:
        """One row per cube, vector or mixed kernel, but none for the capture's very first."""
        counted = np.array([bool(k.blocks) for k in kernels] + [False])[rows.spec]
        if self._first and len(counted):
            counted[0] = self._first = False
        at = np.flatnonzero(counted)
        victims = np.rint(self._rng.random(len(at)) ** 3 * 0.3e6).astype(int).tolist()
        heads = [f"{self._lead}{_stream(k)}," for k in kernels]
        self._l2.add_lines(
            f"{heads[spec]}{task},N/A,{victim / 1e6!r},{kernels[spec].name}\n"
            for spec, task, victim in zip(
                rows.spec[at].tolist(), rows.task_id[at].tolist(), victims, strict=True
            )
        )

    def ai_cpu(self, rows: DeviceRows, kernels: tuple[Kernel, ...]) -> None:
        """One row per AI CPU operator: dispatch, copy and computing make up its duration."""
        on_cpu = np.array([k.core == "AI_CPU" for k in kernels] + [False])[rows.spec]
        lines = []
        for i in np.flatnonzero(on_cpu).tolist():
            kernel, total = kernels[int(rows.spec[i])], int(rows.duration[i])
            dispatch, copy = total // 9, total // 7
            compute = total - dispatch - copy
            parts = (compute, copy, compute + copy, dispatch, total)
            cells = ",".join(repr(part / 1000) for part in parts)
            lines.append(
                f"{self._lead}{us(int(rows.start[i]))}\t,{kernel.name},{cells},"
                f"{_stream(kernel)},{int(rows.task_id[i])}\n"
            )
        self._ai_cpu.add_lines(lines)


def _stream(kernel: Kernel) -> int:
    return SIDE_STREAM if kernel.side_stream else MAIN_STREAM
