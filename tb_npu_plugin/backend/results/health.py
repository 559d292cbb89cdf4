"""Results of health: findings, and what each view can show."""

from __future__ import annotations

from typing import Literal

import msgspec

from tb_npu_plugin.backend.results.base import Finding, Meta

#: ``reading``: not known before its file is read. ``missing``: not captured, or lost since. ``none``:
#: nothing that such a capture could have.
CapabilityStatus = Literal["available", "partial", "missing", "reading", "none"]


class CapabilityCase(msgspec.Struct):
    """What holds for some captures alike. ``where``: file or table that is, or would be, the source."""

    status: CapabilityStatus
    where: str
    reason: str = ""
    remedy: str = ""
    ranks: list[int | None] = []
    capture_ids: list[str] = []


class Capability(msgspec.Struct):
    """One thing that a view can show, merged over the selected captures: ``partial`` where they differ.

    ``cases``: the captures by what holds for them, the poorest first.
    """

    key: str
    view: str
    label: str
    status: CapabilityStatus
    cases: list[CapabilityCase]


PointStatus = Literal["ok", "missed", "none"]


class Point(msgspec.Struct):
    """One point that a good capture fulfils. ``none``: it does not apply to this capture."""

    key: str
    label: str
    status: PointStatus
    capture_id: str
    rank: int | None
    file: str | None = None
    message: str = ""
    remedy: str = ""


class Health(msgspec.Struct):
    findings: list[Finding]
    capabilities: list[Capability] = []


class HealthReply(msgspec.Struct):
    data: Health
    meta: Meta
