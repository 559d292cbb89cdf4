"""Results of overview, step, kernel and files."""

from __future__ import annotations

import msgspec

from tb_npu_plugin.backend.results.base import Finding, Meta, Table


class Fact(msgspec.Struct):
    """One labelled fact, e.g. ``profiler level: Level1``."""

    key: str
    label: str
    value: str
    note: str = ""


class Card(msgspec.Struct):
    """One headline figure. ``ratio`` is the share of ``of``."""

    key: str
    label: str
    value_ns: float | None
    ratio: float | None
    of: str
    note: str
    concept: str | None = None


class StepBar(msgspec.Struct):
    """Where the time of one bar went, ns; segments before the stage first, in drawing order.

    They add up: communication leaves out its receive part, which is the bubble. The stage leaves
    out the bubble too, so the segments after preparing sum to stage + bubble.

    ``label`` names the bar. An unknown part is ``None``.
    """

    label: str
    rank: int | None
    device: int | None
    steps: int
    preparing_ns: float | None
    computing_only_ns: float | None
    overlapped_ns: float | None
    communication_not_overlapped_ns: float | None
    free_ns: float | None
    bubble_ns: float | None
    stage_ns: float | None


class Overview(msgspec.Struct):
    headline: str
    cards: list[Card]
    bars: list[StepBar]
    bars_note: str
    facts: list[Fact]
    lines: list[Fact]
    """One sentence about each further view; ``key`` is the view's id."""
    top_kernels: Table | None
    findings: list[Finding]
    """The three that matter most."""


class Step(msgspec.Struct):
    bars: list[StepBar]
    """One per row of the table page, in its order."""
    table: Table


class Kernel(msgspec.Struct):
    table: Table
    note: str
    """What the table covers, in a sentence (rows, kernel time, what the level leaves out)."""


class Operator(msgspec.Struct):
    table: Table
    note: str


class Api(msgspec.Struct):
    table: Table
    note: str


class Files(msgspec.Struct):
    """``table``: the files, or the rows of ``file``. ``others``: files that can be shown like that."""

    table: Table
    settings: list[Fact]
    file: str = ""
    others: list[str] = []


class OverviewReply(msgspec.Struct):
    data: Overview
    meta: Meta


class StepReply(msgspec.Struct):
    data: Step
    meta: Meta


class KernelReply(msgspec.Struct):
    data: Kernel
    meta: Meta


class OperatorReply(msgspec.Struct):
    data: Operator
    meta: Meta


class ApiReply(msgspec.Struct):
    data: Api
    meta: Meta


class FilesReply(msgspec.Struct):
    data: Files
    meta: Meta
