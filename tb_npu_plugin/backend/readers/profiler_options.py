"""What the profiler was asked to record, from the settings in profiler_info*.json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LEVELS = {"Level_none": -1, "Level0": 0, "Level1": 1, "Level2": 2}
#: The value that switches AI Core counters off.
_NO_METRICS = "ACL_AICORE_NONE"
#: The counters that fill kernel_details.csv at Level1.
_PIPES = "ACL_AICORE_PIPE_UTILIZATION"


@dataclass(frozen=True)
class Options:
    """Switches as 0 and 1, ``level`` from −1 (none) to 2; None: the capture does not tell."""

    cpu: int | None = None
    npu: int | None = None
    level: int | None = None
    metrics: int | None = None
    pipes: int | None = None
    record_shapes: int | None = None
    profile_memory: int | None = None
    with_stack: int | None = None
    l2_cache: int | None = None
    active: int | None = None
    """Steps that one cycle of the schedule records."""


def options(config: dict[str, Any]) -> Options:
    """The options in ``config`` of a profiler_info file. What is not of the expected kind is unknown."""
    common, experimental = _dict(config, "common_config"), _dict(config, "experimental_config")
    asked = common.get("activities")
    activities = [str(a) for a in asked] if isinstance(asked, list) else None
    level = experimental.get("_profiler_level")
    metrics = experimental.get("_aic_metrics")
    metrics = metrics if isinstance(metrics, str) and metrics else None
    schedule = _dict(common, "schedule")
    active = schedule.get("active", schedule.get("_active"))

    def switch(holder: dict[str, Any], key: str) -> int | None:
        value = holder.get(key)
        return int(value) if isinstance(value, bool) else None

    return Options(
        cpu=None if activities is None else int(any("CPU" in a for a in activities)),
        npu=None if activities is None else int(any("NPU" in a for a in activities)),
        level=LEVELS.get(level) if isinstance(level, str) else None,
        metrics=None if metrics is None else int(metrics != _NO_METRICS),
        pipes=None if metrics is None else int(metrics == _PIPES),
        record_shapes=switch(common, "record_shapes"),
        profile_memory=switch(common, "profile_memory"),
        with_stack=switch(common, "with_stack"),
        l2_cache=switch(experimental, "_l2_cache"),
        active=active if isinstance(active, int) and 0 < active < 1 << 31 else None,
    )


def _dict(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}
