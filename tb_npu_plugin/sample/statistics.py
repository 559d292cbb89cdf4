"""Running statistics of durations, and the two files made of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .lines import Line, with_device
from .rows import DeviceRows
from .specs import Kernel
from .text import Appender, Ints
from .truth import Tally

BIG = np.iinfo(np.int64).max


class Statistics:
    """Count, sum, sum of squares and extremes per key, exactly."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], list[int]] = {}

    def add(
        self, key: tuple[str, str], count: int, total: int, squares: int, low: int, high: int
    ) -> None:
        """Add an already reduced lot."""
        if not count:
            return
        old = self._of.setdefault(key, [0, 0, 0, BIG, 0])
        old[0] += count
        old[1] += total
        old[2] += squares
        old[3] = min(old[3], low)
        old[4] = max(old[4], high)

    def add_all(self, key: tuple[str, str], durations: Ints) -> None:
        """Add durations in ns that are multiples of 10."""
        if not len(durations):
            return
        units = durations // 10  # so that squares of a block of them fit into 64 bits
        self.add(
            key,
            len(durations),
            int(durations.sum()),
            int((units * units).sum()) * 100,
            int(durations.min()),
            int(durations.max()),
        )

    def tallies(self) -> dict[tuple[str, str], Tally]:
        """The numbers without the squares."""
        return {k: Tally(v[0], v[1], v[3], v[4]) for k, v in self._of.items()}

    def variance_us2(self, key: tuple[str, str]) -> float:
        """Population variance in µs²."""
        count, total, squares = self._of[key][:3]
        return max(0, squares * count - total * total) / (count * count) / 1e6


def add_kernels(statistics: Statistics, rows: DeviceRows, kernels: tuple[Kernel, ...]) -> None:
    """Count kernels by (type, core)."""
    order = np.argsort(rows.spec, kind="stable")
    spec, duration = rows.spec[order], rows.duration[order]
    begin = int(np.searchsorted(spec, 0))
    spec, duration = spec[begin:], duration[begin:]
    if not len(spec):
        return
    present, first = np.unique(spec, return_index=True)
    counts = np.diff(np.append(first, len(spec)))
    sums = np.add.reduceat(duration, first)
    lows, highs = np.minimum.reduceat(duration, first), np.maximum.reduceat(duration, first)
    for i, count, total, low, high in zip(
        present.tolist(),
        counts.tolist(),
        sums.tolist(),
        lows.tolist(),
        highs.tolist(),
        strict=True,
    ):
        statistics.add((kernels[i].type, kernels[i].core), count, total, 0, low, high)


def _three(value: float) -> str:
    return repr(round(value, 3))


def write_op_statistic(folder: Path, line: Line, device: int, statistics: Statistics) -> None:
    """op_statistic.csv: kernels by type and core, longest first; communication is not in it."""
    tallies = sorted(statistics.tallies().items(), key=lambda item: -item[1].total_ns)
    whole = sum(tally.total_ns for _, tally in tallies) or 1
    header = with_device(
        line,
        "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n",
    )
    lead = f"{device}," if line.device_id else ""
    Appender(folder / "op_statistic.csv", header).add_lines(
        f"{lead}{type_},{core},{t.count},{t.total_ns / 1000!r},{t.min_ns / 1000!r},"
        f"{_three(t.total_ns / 1000 / t.count)},{t.max_ns / 1000!r},"
        f"{_three(t.total_ns / whole * 100)}\n"
        for (type_, core), t in tallies
    )


def write_api_statistic(folder: Path, line: Line, statistics: Statistics) -> None:
    """api_statistic.csv: host APIs by level and name; its Device_id is the word host."""
    header = with_device(line, "Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n")
    lead = "host," if line.device_id else ""
    Appender(folder / "api_statistic.csv", header).add_lines(
        f"{lead}{level},{name},{t.total_ns / 1000!r},{t.count},"
        f"{_three(t.total_ns / 1000 / t.count)},{t.min_ns / 1000!r},{t.max_ns / 1000!r},"
        f"{_three(statistics.variance_us2((level, name)))}\n"
        for (level, name), t in sorted(statistics.tallies().items())
    )
