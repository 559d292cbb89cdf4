"""What views return and the API sends: typed results, one shape for HTTP, CLI and Python.

The frontend's TypeScript types are generated from these structs (``make types``).
Times are nanoseconds, sizes bytes, shares 0..1; ``None`` is "unknown", never 0.
"""

from __future__ import annotations

from tb_npu_plugin.backend.results.base import (
    Column,
    ErrorBody,
    ErrorReply,
    Finding,
    Kind,
    Meta,
    Selection,
    Severity,
    State,
    Table,
)
from tb_npu_plugin.backend.results.captures import (
    CaptureInfo,
    Captures,
    CapturesReply,
    Job,
    Progress,
    ProgressReply,
    RecordingInfo,
    RunInfo,
)
from tb_npu_plugin.backend.results.views import (
    Api,
    ApiReply,
    Card,
    Fact,
    Files,
    FilesReply,
    Health,
    HealthReply,
    Kernel,
    KernelReply,
    Operator,
    OperatorReply,
    Overview,
    OverviewReply,
    Step,
    StepBar,
    StepReply,
)

#: Everything the API can answer; the frontend's types follow it.
REPLIES = (
    CapturesReply, ProgressReply, OverviewReply, StepReply, KernelReply, OperatorReply,
    ApiReply, HealthReply, FilesReply,
    ErrorReply,
)  # fmt: skip

__all__ = [
    "REPLIES",
    "Api",
    "ApiReply",
    "CaptureInfo",
    "Captures",
    "CapturesReply",
    "Card",
    "Column",
    "ErrorBody",
    "ErrorReply",
    "Fact",
    "Files",
    "FilesReply",
    "Finding",
    "Health",
    "HealthReply",
    "Job",
    "Kernel",
    "KernelReply",
    "Kind",
    "Meta",
    "Operator",
    "OperatorReply",
    "Overview",
    "OverviewReply",
    "Progress",
    "ProgressReply",
    "RecordingInfo",
    "RunInfo",
    "Selection",
    "Severity",
    "State",
    "Step",
    "StepBar",
    "StepReply",
    "Table",
]
