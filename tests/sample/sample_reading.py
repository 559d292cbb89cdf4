"""Reads a written capture with csv, json and decimals only, sharing nothing with the generator."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

csv.field_size_limit(1 << 28)
Interval = tuple[int, int]


def output(capture: Path) -> Path:
    return capture / "ASCEND_PROFILER_OUTPUT"


def rows(capture: Path, name: str) -> list[dict[str, str]]:
    with open(output(capture) / name, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, strict=True)
        found = list(reader)
    for row in found:
        assert None not in {*row, *row.values()}, f"{name}: ragged row {row}"
    return found


def load(capture: Path, name: str) -> Any:
    return json.loads((output(capture) / name).read_text(encoding="utf-8"))


def ns(text: str) -> int:
    """µs as text to whole ns; fails where the text is not exact."""
    value = Decimal(text.strip()) * 1000
    assert value == int(value), text
    return int(value)


def nearest_ns(value: str | float, unit: int = 1000) -> int:
    """A float of µs (unit 1000) or ms (unit 1000000) to the ns it stands for."""
    exact = float(value) * unit
    assert abs(exact - round(exact)) < 1e-2, value
    return round(exact)


def nbytes(mb: float) -> int:
    return nearest_ns(mb, 1_000_000)


def union(intervals: Iterable[Interval]) -> list[Interval]:
    joined: list[Interval] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def length(intervals: Iterable[Interval]) -> int:
    return sum(end - start for start, end in intervals)


def common(left: Iterable[Interval], right: Iterable[Interval]) -> int:
    """Length of the intersection of two unions."""
    a, b = union(left), union(right)
    total = i = j = 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


def is_comm(kernel: dict[str, str]) -> bool:
    return kernel["Accelerator Core"] in ("HCCL", "COMMUNICATION")


def interval(kernel: dict[str, str]) -> Interval:
    start = ns(kernel["Start Time(us)"])
    return start, start + nearest_ns(kernel["Duration(us)"])


def column(row: dict[str, str], *names: str) -> str:
    """A cell under whichever of its names the file has."""
    return next(row[name] for name in names if name in row)
