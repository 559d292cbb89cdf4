"""kernel_details.csv: one line per kernel and per communication operation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .lines import Line, kernel_header
from .rows import MAIN_STREAM, SIDE_STREAM, DeviceRows
from .specs import CUBE_CORES, VECTOR_CORES, Kernel
from .text import CRLF, NO_MODEL, Appender, Floats, Ints, thousandths, us_list

RATIOS = [repr(i / 1000) for i in range(1001)]
AIC_STAGES, AIV_STAGES = 5, 4
NO_AIC = "0.0,0," + "0.0,0.0," * AIC_STAGES + "0.0,"
NO_AIV = "0.0,0," + "0.0,0.0," * AIV_STAGES + "0.0,"


def quoted(text: str) -> str:
    """A shape cell: the exporter puts quotes into the value, which CSV then doubles."""
    return f'"""{text}"""' if text else "N/A"


Core = tuple[Floats, Ints, Floats, Floats]


@dataclass(frozen=True)
class Counters:
    """Counters of the rows ``at``: (time µs, cycles, stage ratios, cache misses) of each core;
    None where the kernels do not use it."""

    at: Ints
    aic: Core | None
    aiv: Core | None


class KernelDetails:
    """Writes one rank's kernel_details.csv, block by block."""

    def __init__(
        self, folder: Path, line: Line, level: int, device: int, mhz: int, seed: list[int]
    ) -> None:
        header = kernel_header(line, level)
        self._file = Appender(folder / "kernel_details.csv", ",".join(header) + CRLF)
        self._line, self._level = line, level
        self._device = f"{device}," if line.device_id else ""
        self._mhz = mhz
        self._rng = np.random.Generator(np.random.SFC64(seed))
        self._columns = len(header)
        self._heads: dict[Kernel, tuple[str, str]] = {}
        self.rows = 0
        self.counters: list[Counters] = []  # of what was written last

    def write(self, step: int, rows: DeviceRows, kernels: tuple[Kernel, ...]) -> None:
        """Append rows of one step."""
        self.rows += len(rows.start)
        self.counters = []
        starts = us_list(rows.start)
        durations = (rows.duration / 1000).tolist()
        waits = (rows.wait / 1000).tolist()
        if self.rows == len(rows.start) and waits:
            waits[0] = 0
        if self._level == 0:
            self._file.add_lines(self._short(step, rows, kernels, starts, durations, waits))
            return
        heads, tails = zip(*[self._around(k) for k in kernels], strict=True)
        pmu = self._pmu(rows, kernels)
        shares = iter(rows.shares)
        lead = f"{step},{self._device}{NO_MODEL},"
        lines = []
        for spec, task, start, duration, wait, counters in zip(
            rows.spec.tolist(), rows.task_id.tolist(), starts, durations, waits, pmu, strict=True
        ):
            if spec >= 0:
                lines.append(
                    f"{lead}{task},{heads[spec]}{start}\t,{duration},{wait},{tails[spec]}{counters}"
                )
            else:
                lines.append(lead + self._comm(next(shares).name, start, duration, wait))
        self._file.add_lines(lines)

    def _around(self, kernel: Kernel) -> tuple[str, str]:
        """The constant parts of a kernel's line: before the times, and from them to the PMU."""
        if kernel not in self._heads:
            stream = SIDE_STREAM if kernel.side_stream else MAIN_STREAM
            inputs, outputs = kernel.inputs, kernel.outputs
            described = [
                cell
                for side in (inputs, outputs)
                for cell in (
                    quoted(side.shape_text()),
                    side.dtype_text() or "N/A",
                    side.format_text() or "N/A",
                )
            ]
            context = "0" if kernel.core.startswith("MIX") else "N/A"
            hf32 = "YES" if kernel.core == "AI_CORE" else "NO"
            self._heads[kernel] = (
                f"{stream},{kernel.name},{kernel.type},dynamic,{kernel.core},",
                f"{kernel.blocks},{kernel.mix_blocks},{hf32},{','.join(described)},{context},",
            )
        return self._heads[kernel]

    def _comm(self, name: str, start: str, duration: float, wait: float) -> str:
        type_ = name.split("__")[0] + "_"
        blank = ",N/A" * (self._columns - 12 - self._line.device_id)
        return (
            f"N/A,N/A,{name},{type_},N/A,{self._line.comm_core},"
            f"{start}\t,{duration},{wait},0{blank}{CRLF}"
        )

    def _short(
        self,
        step: int,
        rows: DeviceRows,
        kernels: tuple[Kernel, ...],
        starts: list[str],
        durations: list[float],
        waits: list[float],
    ) -> list[str]:
        """Level 0: no type, no core except communication's, no blocks."""
        lead = f"{step},{self._device}"
        core = self._line.comm_core
        shares = iter(rows.shares)
        names = [f"{k.name},N/A,N/A" for k in kernels]
        return [
            f"{lead}{names[spec] if spec >= 0 else f'{next(shares).name},N/A,{core}'}"
            f",{start}\t,{duration},{wait},0{CRLF}"
            for spec, start, duration, wait in zip(
                rows.spec.tolist(), starts, durations, waits, strict=True
            )
        ]

    def _pmu(self, rows: DeviceRows, kernels: tuple[Kernel, ...]) -> list[str]:
        """The counters' part of every line (empty for communication)."""
        text = np.full(len(rows.spec), "", dtype=object)
        kinds = np.array([_kind(k) for k in kernels] + [4])[rows.spec]
        stages = np.zeros((len(kernels) + 1, AIC_STAGES + AIV_STAGES))
        blocks = np.array([(k.blocks, k.mix_blocks) for k in kernels] + [(0, 0)])
        for i, kernel in enumerate(kernels):
            stages[i, : len(kernel.aic)] = kernel.aic
            stages[i, AIC_STAGES : AIC_STAGES + len(kernel.aiv)] = kernel.aiv
        none = "N/A," * (2 * (AIC_STAGES + AIV_STAGES) + 6) + "N/A" + CRLF
        for kind in range(4):
            at = np.flatnonzero(kinds == kind)
            if not len(at):
                continue
            if kind == 3:
                text[at] = none
                continue
            spec, duration = rows.spec[at], rows.duration[at]
            cube = self._core(duration, blocks[spec, 0], CUBE_CORES, stages[spec, :AIC_STAGES])
            on_vector = blocks[spec, 1] if kind == 2 else blocks[spec, 0]
            aiv = self._core(duration, on_vector, VECTOR_CORES, stages[spec, AIC_STAGES:])
            self.counters.append(
                Counters(at, None if kind == 1 else cube, None if kind == 0 else aiv)
            )
            aic_text = _core_text(cube, AIC_STAGES) if kind != 1 else [NO_AIC] * len(at)
            aiv_text = _core_text(aiv, AIV_STAGES) if kind != 0 else [NO_AIV] * len(at)
            use: list[float] | list[int] = [0] * len(at)
            if kind != 1:
                use = thousandths(cube[1] / (self._mhz * CUBE_CORES * duration / 1000) * 100)
            text[at] = [f"{a}{v}{u}{CRLF}" for a, v, u in zip(aic_text, aiv_text, use, strict=True)]
        counters: list[str] = text.tolist()
        return counters

    def _core(self, duration: Ints, blocks: Ints, cores: int, stages: Floats) -> Core:
        """(core time µs, total cycles, stage ratios, instruction cache miss rate)."""
        count = len(duration)
        rounds = np.ceil(blocks / cores)
        wanted = duration / 1000 * self._rng.uniform(0.92, 0.99, count)
        cycles = np.rint(wanted * self._mhz * blocks / rounds).astype(np.int64)
        time = cycles / (self._mhz * blocks) * rounds
        ratios = np.clip(stages * self._rng.uniform(0.93, 1.07, stages.shape), 0.0, 1.0)
        return time, cycles, ratios, 0.001 + 0.09 * self._rng.random(count) ** 2


def _kind(kernel: Kernel) -> int:
    """0 cube, 1 vector, 2 both, 3 neither."""
    if kernel.aic and kernel.aiv:
        return 2
    return 0 if kernel.aic else 1 if kernel.aiv else 3


def _core_text(core: Core, stages: int) -> list[str]:
    """A core's columns, from its time to its cache misses."""
    time, cycles, ratios, misses = core
    columns: list[list[object]] = [list(thousandths(time)), cycles.tolist()]
    for stage in range(stages):
        ratio = ratios[:, stage]
        columns.append(list(thousandths(ratio * time)))
        columns.append([RATIOS[i] for i in np.rint(ratio * 1000).astype(int).tolist()])
    columns.append([RATIOS[i] for i in np.rint(misses * 1000).astype(int).tolist()])
    form = "%s,%d," + "%s,%s," * stages + "%s,"
    return list(map(form.__mod__, zip(*columns, strict=True)))
