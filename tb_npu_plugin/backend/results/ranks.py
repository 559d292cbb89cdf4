"""Results of the ranks view."""

from __future__ import annotations

import msgspec

from tb_npu_plugin.backend.results.base import Kind, Meta, Severity, Table


class RankMeasure(msgspec.Struct):
    """One column of the comparison, with a value and a score per row of :class:`RankGrid`."""

    key: str
    label: str
    kind: Kind
    description: str
    concept: str | None
    view: str
    """Where the rows behind it are."""
    median: float | None
    least: float | None
    most: float | None
    quartiles: list[float] | None
    """The values below which a quarter and three quarters lie; ``None`` with fewer than 4."""
    values: list[float | None]
    scores: list[float | None]
    """(value - median) / max(1.4826 MAD, 1 % of the median); ``None`` with fewer than 4 ranks."""


class RankChoice(msgspec.Struct):
    """A measure that is known step by step (parameter ``measure``)."""

    key: str
    label: str


class RankName(msgspec.Struct):
    """One row of the comparison: a rank, or a group of them."""

    label: str
    rank: int | None
    """``None`` for groups, and where it is unknown."""
    capture_id: str
    """"" for groups."""
    ranks: str
    """The row's ranks as the ``rank`` parameter takes them."""


class RankGrid(msgspec.Struct):
    """Ranks, or groups of them with their means, by measures, in the order of the table's sort."""

    ranks: list[RankName]
    measures: list[RankMeasure]
    total_ranks: int
    """Rows there are; ``ranks`` holds the first of them where they are too many."""
    group: str
    """What the rows are put together by: ``host``, ``device``, ``tp`` …; "" for ranks."""
    measure: str
    """The measure that ``measures`` hold step by step, with the step as their key; "" for all
    measures over all chosen steps."""
    choices: list[RankChoice]


class Suspect(msgspec.Struct):
    """A rank or link that holds the others up, and what that rests on."""

    severity: Severity
    rank: int | None
    """``None``: a link, or a rank that is not among the captures."""
    label: str
    headline: str
    evidence: list[str]
    view: str
    """Where to look next, with ``group`` and ``filter``."""
    group: str
    filter: str


class Ranks(msgspec.Struct):
    note: str
    shape: str
    """How the job is cut, ``tp=8 dp=4 pp=2``; "" where that is unknown."""
    suspects: list[Suspect]
    verdict: str
    """Where there are no suspects, what that means: that nobody stands out, or that nobody can tell."""
    grid: RankGrid
    table: Table


class RanksReply(msgspec.Struct):
    data: Ranks
    meta: Meta
