"""What a capture will lack, told when it is recorded and still cheap to change."""

from __future__ import annotations

from typing import Any, Callable, List, Mapping, Optional

LEVEL_REMEDY = (
    "use experimental_config=torch_npu.profiler._ExperimentalConfig("
    "profiler_level=torch_npu.profiler.ProfilerLevel.Level1, "
    "aic_metrics=torch_npu.profiler.AiCMetrics.PipeUtilization)"
)


def of_settings(config: Mapping[str, Any], has_device_data: Optional[bool]) -> List[str]:
    """Sentences about the profiler's settings (``common_config``, ``experimental_config``).

    ``has_device_data``: whether a ``PROF_*`` folder was written; ``None`` when not looked for.
    """
    common = config.get("common_config") or {}
    extra = config.get("experimental_config") or {}
    activities = [str(name).rpartition(".")[2] for name in common.get("activities") or []]
    found: List[str] = []
    if activities and "NPU" not in activities:
        found.append(
            "only the host was recorded: add ProfilerActivity.NPU to see kernels and steps"
        )
    elif has_device_data is False:
        found.append(
            "NPU activity was asked for but CANN wrote no PROF_* data, so there are no kernels: "
            "check that the driver and CANN are set up (tb-npu doctor)"
        )
    if "NPU" in activities:
        found.extend(
            _of_level(str(extra.get("_profiler_level", "")), str(extra.get("_aic_metrics", "")))
        )
    if common.get("record_shapes") is False:
        found.append("operators have no shapes: record_shapes=True")
    if common.get("with_stack") is True:
        found.append("with_stack=True slows the host, so host times are longer than in a plain run")
    return found


def _of_level(level: str, metrics: str) -> List[str]:
    if level in ("Level0", "Level_none"):
        lacks = "kernels" if level == "Level_none" else "kernel shapes, communication detail"
        return [
            "{} was recorded, so no {} or pipe utilisation; {}".format(level, lacks, LEVEL_REMEDY)
        ]
    if level in ("Level1", "Level2") and metrics.endswith("NONE"):
        return ["no AI Core metrics were recorded, so no pipe utilisation; " + LEVEL_REMEDY]
    return []


def of_window(
    schedule: Optional[Callable[[int], Any]], steps_called: int, ended_by_stop: bool
) -> List[str]:
    """Sentences about the schedule: a window cut short, or no steps at all.

    ``steps_called``: how often ``prof.step()`` was called; ``ended_by_stop``: the profiler was
    stopped, not stepped past its last recorded step.
    """
    if schedule is None or _always_records(schedule):
        return [
            "no schedule, so no steps can be told apart: pass schedule=... and call prof.step()"
        ]
    if not ended_by_stop:
        return []
    needed = steps_needed(schedule, steps_called)
    if needed is None or needed <= steps_called:
        return []
    return [
        "the window was cut short: prof.step() was called {} times, the schedule needs {}".format(
            steps_called, needed
        )
    ]


def is_inside_window(schedule: Optional[Callable[[int], Any]], steps_called: int) -> bool:
    """Whether the profiler was stopped inside its window: the step before was not its last."""
    if schedule is None or steps_called < 1:
        return True
    return action_name(schedule(steps_called - 1)) != "RECORD_AND_SAVE"


def steps_needed(schedule: Callable[[int], Any], steps_called: int) -> Optional[int]:
    """How many calls of ``prof.step()`` end the window that step ``steps_called`` lies in."""
    for step in range(steps_called, steps_called + 10000):
        if action_name(schedule(step)) == "RECORD_AND_SAVE":
            return step + 1
    return None


def action_name(action: Any) -> str:
    return str(getattr(action, "name", action)).rpartition(".")[2]


def _always_records(schedule: Callable[[int], Any]) -> bool:
    return all(action_name(schedule(step)) == "RECORD" for step in range(64))
