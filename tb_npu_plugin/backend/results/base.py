"""Parts that every result is made of: columns, tables, findings, the envelope, errors."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

#: How a value is to be read and drawn. ``duration``: ns. ``time``: ns after the table's
#: ``base_ns``. ``ratio``: 0..1. ``rate``: bytes per second. ``frequency``: MHz.
Kind = Literal[
    "text", "name", "core", "shape", "id", "rank", "device", "step", "int", "number",
    "duration", "time", "bytes", "ratio", "rate", "frequency",
]  # fmt: skip
Severity = Literal["error", "warning", "info"]
#: ``growing``: still being written. ``ingesting``: being read. ``partial``: some of it can be
#: shown. ``ready``: all of it. ``failed``: nothing of it could be read. ``empty``: no readable file.
State = Literal["growing", "ingesting", "partial", "ready", "failed", "empty"]


class Column(msgspec.Struct):
    """One column of a table. ``group`` names the concept whose colour the column wears, if any."""

    key: str
    label: str
    kind: Kind
    description: str = ""
    shown: bool = True
    sortable: bool = True
    concept: str | None = None
    """``computing | communication | overlapped | free | preparing | bubble | host``"""


class Table(msgspec.Struct):
    """One page of a table, by columns: ``values[column.key][i]`` is row ``offset + i``.

    Only shown columns have values. ``total`` counts the rows after the filter,
    ``unfiltered`` those before it. ``base_ns`` is the origin of the ``time`` columns.
    """

    columns: list[Column]
    values: dict[str, list[Any]]
    total: int
    unfiltered: int
    offset: int
    sort: str
    group: str = ""
    groups: list[str] = []
    """Groupings that this data allows, e.g. ``["name", "type", "core"]``."""
    base_ns: str | None = None


class Finding(msgspec.Struct):
    """Something missing, broken or suspicious, and what to do about it.

    What several captures share to the word is one finding: ``ranks`` lists them, and ``rank`` and
    ``capture_id`` are those of the first.
    """

    id: str
    code: str
    severity: Severity
    message: str
    remedy: str
    capture_id: str | None = None
    rank: int | None = None
    ranks: list[int | None] = []
    file: str | None = None
    place: str | None = None
    views: list[str] = []


class Selection(msgspec.Struct):
    """What a reply is about, after defaults were filled in."""

    run: str
    recording: str
    ranks: list[int | None]
    devices: list[int] | None
    """``None``: all."""
    step: str
    """``all``, or the selected steps as the user wrote them (``50``, ``10-20``, ``none``)."""
    source: str = "auto"
    """The kind of source asked for where a capture has several: ``text | db | trace | …``."""


class Meta(msgspec.Struct):
    selection: Selection | None = None
    provenance: dict[str, str] = {}
    """table -> the file or files its rows came from."""
    sources: list[str] = []
    """Kinds of sources the view's tables could be taken from, the shown one first."""
    findings: list[Finding] = []
    """Those that touch this view."""
    counts: dict[str, int] = {}
    """view id -> rows in the selection, for the navigation; ``health``: findings."""
    state: State = "ready"
    progress: float = 1.0
    step_picker: str | None = None
    """Why the step selection has no effect on this view, if it has none."""
    schema: int = 1


class ErrorBody(msgspec.Struct):
    """``position`` is the character in the filter or parameter that is at fault, from 0."""

    code: str
    message: str
    hint: str = ""
    position: int | None = None


class ErrorReply(msgspec.Struct):
    error: ErrorBody
