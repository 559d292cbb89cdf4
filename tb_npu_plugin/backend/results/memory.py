"""Results of the memory view. Instants are ns after ``Memory.base_ns``; sizes are bytes."""

from __future__ import annotations

from typing import Literal

import msgspec

from tb_npu_plugin.backend.results.base import Meta, Table

Measure = Literal["reserved", "active", "allocated"]
BlockState = Literal["held", "before", "zero", "released", "unknown"]


class MemorySeries(msgspec.Struct):
    """One total of one component over time: a step function, to be drawn to scale in time.

    ``values[i]`` bytes hold from ``times_ns[i]`` to the next. Instants ascend; where two are equal,
    the last one holds.
    """

    rank: int | None
    capture: str
    device: int | None
    component: str
    measure: Measure
    times_ns: list[int]
    values: list[int]
    rows: int
    """Records of the capture behind the curve."""
    exact: bool
    """Every change is in it; else the first, last, lowest and highest of each span of time."""


class MemoryPeak(msgspec.Struct):
    """The highest totals of one component of one device, each with its first moment.

    ``start`` and ``end`` are the totals allocated when the curve begins and ends.
    """

    rank: int | None
    capture: str
    device: int | None
    component: str
    reserved_bytes: float | None
    reserved_at_ns: int | None
    allocated_bytes: float | None
    allocated_at_ns: int | None
    active_bytes: float | None
    active_at_ns: int | None
    start_bytes: float | None
    end_bytes: float | None
    rows: int


class MemoryHolder(msgspec.Struct):
    """What one operator held at a moment. ``name`` is None for blocks without one."""

    name: str | None
    count: int
    size_bytes: float


class MemoryBlock(msgspec.Struct):
    """One block alive at a moment. ``row`` is its row in the allocations (group "")."""

    name: str | None
    size_bytes: float
    alloc_ns: int | None
    release_ns: int | None
    state: BlockState
    row: int


class MemoryAlive(msgspec.Struct):
    """What one component of one device held at one moment: its allocated peak, or ``at``.

    ``total_bytes`` = ``seen_bytes`` (blocks whose allocation or release was recorded)
    + ``unseen_bytes`` (allocated before the capture began, or not seen).
    """

    rank: int | None
    capture: str
    device: int | None
    component: str
    at_ns: int
    at_peak: bool
    total_bytes: float | None
    reserved_bytes: float | None
    seen_bytes: float
    seen_count: int
    unseen_bytes: float | None
    operators: list[MemoryHolder]
    """Those that held most, at most 12 of ``operator_count``."""
    operator_count: int
    blocks: list[MemoryBlock]
    """The largest blocks, at most 12 of ``seen_count``."""


class MemoryState(msgspec.Struct):
    """How many blocks of the selection ended in a state; filter the table by ``state=<key>``."""

    key: BlockState
    label: str
    count: int
    size_bytes: float


class Memory(msgspec.Struct):
    note: str
    base_ns: str | None
    """Origin of every instant of this result and of its table."""
    components: list[str]
    """Of the selection, most telling first (PTA+GE, PTA, GE, APP, WORKSPACE, then by name)."""
    component: str
    """The one that ``alive`` is about."""
    ranks_shown: int
    """Captures with series, peaks and alive lists: those with the highest peaks."""
    ranks_total: int
    """Captures with memory in the selection."""
    points: int
    """Most points of a series here; fewer than asked for where there are many series."""
    series: list[MemorySeries]
    peaks: list[MemoryPeak]
    alive: list[MemoryAlive]
    states: list[MemoryState]
    table: Table


class MemoryReply(msgspec.Struct):
    data: Memory
    meta: Meta
