"""One rank's capture: what every chunk adds to its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .apis import count_apis
from .communication import Communication
from .dbcapture import Databases
from .groups import Layout
from .kernels import KernelDetails
from .lines import Line
from .manifest import profiler_info, profiler_metadata, write_info, write_metadata
from .memory import Memory
from .modulememory import write_module_memory
from .operators import OperatorDetails
from .parts import Pieces, Sweep
from .pieces import LAYER_PARAMETERS
from .plan import Chunk, layers_of
from .rows import DeviceRows, Sorter, TaskIds, rank_chunk
from .schedule import Times
from .specs import FREQ_MHZ, SLOW_MHZ
from .statistics import Statistics, add_kernels, write_api_statistic, write_op_statistic
from .steps import write_steps
from .tasktables import TaskTables
from .trace import Trace
from .traceids import trace_ids
from .truth import RankTruth, StepTruth

ALL_FILES = frozenset(
    {
        "kernel_details.csv",
        "step_trace_time.csv",
        "op_statistic.csv",
        "api_statistic.csv",
        "operator_details.csv",
        "operator_memory.csv",
        "memory_record.csv",
        "npu_module_mem.csv",
        "l2_cache.csv",
        "data_preprocess.csv",
        "communication.json",
        "communication_matrix.json",
        "trace_view.json",
    }
)
MODULES = "npu_module_mem.csv"
MEMORY_FILES = {"operator_memory.csv", "memory_record.csv"}
COMMUNICATION_FILES = {"communication.json", "communication_matrix.json"}
STATE_BYTES = 16  # per parameter: weight, gradient, master weight, two moments


@dataclass(frozen=True)
class Settings:
    """What all captures of a job share."""

    line: Line
    level: int
    seed: int
    steps: int
    first_step: int
    memory_leak: bool
    files: frozenset[str]
    layout: Layout
    chunks: list[Chunk]
    export: tuple[str, ...] = ("text",)
    slow_clock: int | None = None

    def mhz(self, rank: int) -> int:
        """The clock of a rank's cores."""
        return SLOW_MHZ if rank == self.slow_clock else FREQ_MHZ

    @property
    def databases(self) -> bool:
        """Whether databases are written."""
        return "db" in self.export

    def writes(self, *names: str) -> bool:
        """Whether one of these files is wanted."""
        return bool(self.files.intersection(names))


class CaptureWriter:
    """Writes one capture; everything arrives in the order of time."""

    def __init__(
        self, folder: Path, scratch: Path, rank: int, pid: int, settings: Settings
    ) -> None:
        self.rank, self._folder, self._settings = rank, folder, settings
        s, layout = settings, settings.layout
        self._device = layout.device(rank)
        self._output = output = folder / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        scratch.mkdir()
        ids = trace_ids(s.line, s.level, rank, layout, pid, s.mhz(rank))
        self._databases = Databases(output, rank, ids, layout) if s.databases else None
        # What databases are made of is written as text too, elsewhere if nobody wants to see it.
        self._memory_folder = output if s.writes(*MEMORY_FILES, MODULES) else scratch
        kernels = output if s.writes("kernel_details.csv") else scratch
        self._ids = TaskIds(1000)
        self._sorter = Sorter()
        self._kernels = KernelDetails(
            kernels, s.line, s.level, self._device, s.mhz(rank), [s.seed, 3, rank]
        )
        self._tables = TaskTables(output, s.line, self._device, [s.seed, 4, rank])
        self._operators = OperatorDetails(output) if "operator_details.csv" in s.files else None
        held = layers_of(s.chunks) * LAYER_PARAMETERS // layout.tp * STATE_BYTES
        self._memory = (
            Memory(
                self._memory_folder,
                scratch,
                s.line,
                self._device,
                held,
                s.files | MEMORY_FILES if s.databases else s.files,
            )
            if s.databases or s.writes(*MEMORY_FILES)
            else None
        )
        self._communication = (
            Communication(output, rank, layout, s.files, self._databases)
            if s.level > 0 and (s.databases or s.writes(*COMMUNICATION_FILES))
            else None
        )
        self._trace = Trace(output, scratch, ids, layout) if "trace_view.json" in s.files else None
        self._counts_apis = s.level > 0 and "api_statistic.csv" in s.files
        self._types, self._apis = Statistics(), Statistics()
        self._steps: list[StepTruth] = []
        self._sweep = Sweep()
        self._step, self._host_begin = 0, 0
        self._counts = [0, 0]
        self._fresh = False  # no chunk of this step has come yet

    def begin_step(self, step: int, host_begin: int, loader_ns: int) -> None:
        """A step's host range opens; the data loader runs first."""
        self._step, self._host_begin, self._fresh = step, host_begin, True
        self._sweep, self._counts = Sweep(), [0, 0]
        if self._operators is not None:
            self._operators.begin_step(loader_ns)
        if self._trace is not None:
            self._trace.begin_step(host_begin, loader_ns)
        if self._databases is not None:
            self._databases.begin_step(host_begin, loader_ns)

    def add(self, times: Times, before: int) -> None:
        """A timed chunk; nothing later will start before the moment `before` on this rank."""
        s = self._settings
        part = rank_chunk(self.rank, self._step, times, self._ids)
        if self._operators is not None:
            self._operators.add(part)
        if self._memory is not None:
            self._memory.add(part, s.memory_leak and self._fresh)
        self._fresh = False
        if self._counts_apis:
            count_apis(self._apis, part, s.line, s.level)
        if self._trace is not None:
            self._trace.add(part)
        if self._databases is not None:
            self._databases.add(part)
        self._sorter.add(part)
        self._take(self._sorter.take(before), times.chunk)
        self._overlap(self._sweep.advance(before))

    def _overlap(self, slices: dict[str, Pieces]) -> None:
        if self._trace is not None:
            self._trace.overlap(slices)

    def _take(self, rows: DeviceRows, chunk: Chunk) -> None:
        s, kernels = self._settings, chunk.kernels
        if s.databases or s.writes("kernel_details.csv"):
            self._kernels.write(self._step, rows, kernels)
        if self._databases is not None:
            self._databases.device(rows, kernels, self._kernels.counters)
        if "l2_cache.csv" in s.files:
            self._tables.l2_cache(rows, kernels)
        if s.level == 2 and "data_preprocess.csv" in s.files:
            self._tables.ai_cpu(rows, kernels)
        add_kernels(self._types, rows, kernels)
        if self._communication is not None:
            self._communication.add(self._step, rows.shares)
        self._sweep.add(rows.start, rows.start + rows.duration, rows.is_comm)
        self._counts[0] += len(rows.start) - len(rows.shares)
        self._counts[1] += len(rows.shares)

    def end_step(self, host_ready: int, host_end: int) -> None:
        """The host was done at host_ready and then waited for the device."""
        self._take(self._sorter.take(None), self._settings.chunks[-1])
        self._overlap(self._sweep.finish())
        if self._memory is not None:
            self._memory.end_step(host_ready, host_end)
        if self._communication is not None:
            self._communication.end_step()
        if self._counts_apis:
            waited = np.array([host_end - host_ready], dtype=np.int64)
            self._apis.add_all(("acl", "aclrtSynchronizeStreamWithTimeout"), waited)
        if self._trace is not None:
            self._trace.end_step(self._step, self._host_begin, host_ready, host_end)
        if self._databases is not None:
            self._databases.end_step(self._step, self._host_begin, host_ready, host_end)
        tracks = self._sweep.tracks
        self._steps.append(
            StepTruth(
                self._step,
                self._host_begin,
                host_end,
                self._sweep.first or 0,
                self._sweep.last,
                tracks["Computing"].total,
                tracks["Communication"].total,
                tracks["Communication(Not Overlapped)"].total,
                self._sweep.bubble,
                *self._counts,
            )
        )

    def finish(self, window: tuple[int, int]) -> RankTruth:
        """Write what is only known at the end."""
        s, output, device = self._settings, self._output, self._device
        write_info(
            self._folder,
            self.rank,
            profiler_info(s.line, s.level, self.rank, s.steps, s.first_step, window, s.export),
        )
        metadata = profiler_metadata(s.layout, self.rank)
        if s.files:
            write_metadata(self._folder, metadata)
        if "step_trace_time.csv" in s.files:
            write_steps(output, s.line, device, self._steps)
        if s.level > 0 and "op_statistic.csv" in s.files:
            write_op_statistic(output, s.line, device, self._types)
        if self._counts_apis:
            write_api_statistic(output, s.line, self._apis)
        if s.databases or s.writes(MODULES):
            write_module_memory(self._memory_folder, s.line, device, window)
        memory = None if self._memory is None else self._memory.finish(window)
        if self._communication is not None:
            self._communication.finish()
        if self._trace is not None:
            self._trace.finish(window)
        if self._databases is not None:
            self._databases.finish(window, self._steps, metadata, self._memory_folder)
        if s.line.analyse_done:
            (output / "analyse.done").touch()
        return RankTruth(
            self.rank,
            device,
            self._folder,
            *window,
            tuple(self._steps),
            sum(step.kernels + step.comm_ops for step in self._steps),
            self._types.tallies(),
            () if self._communication is None else tuple(self._communication.truths),
            0 if self._operators is None else self._operators.rows,
            {} if self._operators is None else dict(self._operators.counts),
            self._apis.tallies(),
            memory,
        )
