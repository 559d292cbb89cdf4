"""step_trace_time.csv: one line per step."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .lines import Line, with_device
from .text import CRLF, Appender, us_float
from .truth import StepTruth

COLUMNS = (
    "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing"
)


def write_steps(folder: Path, line: Line, device: int, steps: Iterable[StepTruth]) -> None:
    """Write the file from the steps' parts."""
    lead = f"{device}," if line.device_id else ""
    lines = []
    for step in steps:
        values = (
            step.computing_ns,
            step.not_overlapped_ns,
            step.overlapped_ns,
            step.communication_ns,
            step.free_ns,
            step.stage_ns,
            step.bubble_ns,
            max(step.not_overlapped_ns - step.bubble_ns, 0),
            step.preparing_ns,
        )
        cells = ",".join("0" if v == 0 else us_float(v) for v in values)
        lines.append(f"{lead}{step.step},{cells}{CRLF}")
    path = folder / "step_trace_time.csv"
    Appender(path, with_device(line, COLUMNS) + CRLF).add_lines(lines)
