"""Results of /captures and /progress."""

from __future__ import annotations

from typing import Literal

import msgspec

from tb_npu_plugin.backend.results.base import Meta, State


class CaptureInfo(msgspec.Struct):
    capture_id: str
    name: str
    path: str
    worker: str
    rank: int | None
    devices: list[int]
    state: State
    progress: float
    level: str | None
    bytes: int
    label: str
    """``Rank 3``, or the worker where the rank is unknown."""


class RecordingInfo(msgspec.Struct):
    recording: str
    label: str
    started_ns: str | None
    ranks: list[int | None]
    world_size: int | None
    devices: list[int]
    steps: list[int]
    """Known step ids in order (empty until read)."""
    outside_steps: bool
    """Some rows lie outside any step (``step=none`` selects them)."""
    captures: list[CaptureInfo]


class RunInfo(msgspec.Struct):
    run: str
    recordings: list[RecordingInfo]
    """Newest first."""


class Captures(msgspec.Struct):
    runs: list[RunInfo]
    scanning: bool
    searched: list[str]
    """The directories searched, as the user gave them."""
    version: int
    """Grows whenever anything in this reply changes."""


class Job(msgspec.Struct):
    """A file that is being read. ``label``: its capture, as in :class:`CaptureInfo`."""

    capture_id: str
    label: str
    file: str
    bytes: int
    progress: float


class Progress(msgspec.Struct):
    version: int
    state: Literal["scanning", "ingesting", "idle"]
    progress: float
    jobs: list[Job]


class CapturesReply(msgspec.Struct):
    data: Captures
    meta: Meta


class ProgressReply(msgspec.Struct):
    data: Progress
    meta: Meta
