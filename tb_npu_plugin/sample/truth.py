"""What write_sample knows about the captures it wrote: the numbers tests compare with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class StepTruth:
    """One step of one rank, all times in integer ns (device clock = host epoch)."""

    step: int
    host_start_ns: int
    host_end_ns: int
    first_ns: int
    last_ns: int
    computing_ns: int
    communication_ns: int
    not_overlapped_ns: int
    bubble_ns: int
    kernels: int
    comm_ops: int

    @property
    def overlapped_ns(self) -> int:
        return self.communication_ns - self.not_overlapped_ns

    @property
    def stage_ns(self) -> int:
        return self.last_ns - self.first_ns - self.bubble_ns

    @property
    def free_ns(self) -> int:
        return self.last_ns - self.first_ns - self.computing_ns - self.not_overlapped_ns

    @property
    def preparing_ns(self) -> int:
        return self.first_ns - self.host_start_ns


@dataclass(frozen=True)
class Tally:
    """Count, sum and extremes of some durations."""

    count: int
    total_ns: int
    min_ns: int
    max_ns: int


@dataclass(frozen=True)
class CommTruth:
    """Sums over the communication operations of one rank and step (master plane, §5.6)."""

    step: int
    ops: int
    elapse_ns: int
    transit_ns: int
    wait_ns: int
    synchronization_ns: int
    link_bytes: dict[str, int]  # by link type, over all planes
    link_ns: dict[str, int]

    @property
    def idle_ns(self) -> int:
        return self.elapse_ns - self.transit_ns - self.wait_ns


@dataclass(frozen=True)
class MemoryTruth:
    """The caching allocator (PTA) and the graph engine (GE) of one rank, in bytes."""

    before_bytes: int  # allocated before the capture began
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    end_allocated_bytes: int
    blocks: int  # rows of operator_memory.csv that PyTorch allocated
    never_released: int
    never_released_bytes: int
    ge_blocks: int


@dataclass(frozen=True)
class RankTruth:
    """One capture."""

    rank: int
    device: int
    path: Path
    window_start_ns: int
    window_end_ns: int
    steps: tuple[StepTruth, ...]
    kernel_rows: int  # rows of kernel_details.csv, communication included
    types: dict[tuple[str, str], Tally]  # (Type, Accelerator Core), communication not included
    comm: tuple[CommTruth, ...] = ()
    operator_rows: int = 0
    operators: dict[str, int] = field(default_factory=dict)  # calls by operator name
    apis: dict[tuple[str, str], Tally] = field(default_factory=dict)  # (level, API Name)
    memory: MemoryTruth | None = None


@dataclass(frozen=True)
class SampleTruth:
    """Everything one write_sample call wrote."""

    out: Path
    world_size: int
    ranks: tuple[RankTruth, ...]
    groups: dict[str, tuple[int, ...]]  # full communicator name -> global ranks
    straggler: int | None = None
    slow_clock: int | None = None
    slow_host: int | None = None
    slow_link: tuple[int, int] | None = None
    memory_leak: bool = False
