"""What MindSpore's profiler_info_<rank>.json tells, under the names that torch_npu gives it.

MindSpore keeps its settings flat in ``profiler_parameters``, with words of its own, and no window:
when the capture was taken only its files tell. Its file is named by the rank, also in a job of one
process. No real file was at hand: the keys are those of MindSpore's sources (2.4 to 2.7).
"""

from __future__ import annotations

from typing import Any

#: The member of the file that torch_npu does not write.
PARAMETERS = "profiler_parameters"
_COMMON = ("activities", "schedule", "record_shapes", "profile_memory", "with_stack")
#: ``aic_metrics`` -> the value that torch_npu writes.
_METRICS = {
    "None": "ACL_AICORE_NONE",
    "PipeUtilization": "ACL_AICORE_PIPE_UTILIZATION",
    "ArithmeticUtilization": "ACL_AICORE_ARITHMETIC_UTILIZATION",
    "Memory": "ACL_AICORE_MEMORY_BANDWIDTH",
    "MemoryL0": "ACL_AICORE_L0B_AND_WIDTH",
    "MemoryUB": "ACL_AICORE_MEMORY_UB",
    "ResourceConflictRatio": "ACL_AICORE_RESOURCE_CONFLICT_RATIO",
    "L2Cache": "ACL_AICORE_L2_CACHE",
    "MemoryAccess": "ACL_AICORE_MEMORY_ACCESS",
}
_LEVELS = {"LevelNone": "Level_none"}


def config(info: dict[str, Any]) -> dict[str, Any]:
    """The settings in the shape of torch_npu's ``config``; empty where the file has none."""
    told = info.get(PARAMETERS)
    if not isinstance(told, dict):
        return {}
    common = {key: told[key] for key in _COMMON if key in told}
    experimental = {f"_{key}": value for key, value in told.items() if key not in _COMMON}
    for key, words in (("_profiler_level", _LEVELS), ("_aic_metrics", _METRICS)):
        value = experimental.get(key)
        if isinstance(value, str):
            experimental[key] = words.get(value, value)
    return {"common_config": common, "experimental_config": experimental}
