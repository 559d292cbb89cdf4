"""profiler_info_<rank>.json and profiler_metadata.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .groups import Layout
from .lines import Line

START_COUNT = 4_200_000_000_000
FREQ = 100  # MHz: the host's counter

ENVIRONMENT = (
    "ASCEND_GLOBAL_LOG_LEVEL",
    "HCCL_RDMA_TC",
    "HCCL_RDMA_SL",
    "ACLNN_CACHE_LIMIT",
    "HOST_CACHE_CAPACITY",
    "ASCEND_ENHANCE_ENABLE",
    "PYTORCH_NPU_ALLOC_CONF",
    "ASCEND_LAUNCH_BLOCKING",
)


def profiler_info(
    line: Line,
    level: int,
    rank: int,
    steps: int,
    first_step: int,
    window: tuple[int, int],
    export: tuple[str, ...] = ("text",),
) -> dict[str, Any]:
    """The manifest of a capture whose window is (start, end) in epoch ns."""
    start, end = window
    # The monotonic clock began when the host booted; its distance to the epoch is one constant.
    boot = start - 172_000_000_000_000 - rank * 1_000
    experimental: dict[str, Any] = {
        "_profiler_level": f"Level{level}",
        "_aic_metrics": "ACL_AICORE_NONE" if level == 0 else "ACL_AICORE_PIPE_UTILIZATION",
        "_l2_cache": True,
        "_msprof_tx": False,
        "_data_simplification": True,
        "record_op_args": False,
        "_export_type": list(export) if line.extra_config else ",".join(export),
        "_op_attr": False,
        "_gc_detect_threshold": None,
    }
    if line.mstx:
        experimental["_mstx"] = False
    if line.extra_config:
        experimental |= {
            "_host_sys": [],
            "_mstx_domain_include": [],
            "_mstx_domain_exclude": [],
            "_sys_io": False,
            "_sys_interconnection": False,
        }
    info: dict[str, Any] = {
        "config": {
            "common_config": {
                "activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
                "schedule": {
                    "wait": 0,
                    "active": steps,
                    "warmup": min(2, first_step),
                    "repeat": 1,
                    "skip_first": max(0, first_step - 2),
                },
                "record_shapes": True,
                "profile_memory": True,
                "with_stack": True,
                "with_flops": False,
                "with_modules": False,
            },
            "experimental_config": experimental,
        },
        "start_info": {
            "syscnt_enable": True,
            "freq": FREQ,
            "start_cnt": START_COUNT + rank * 137,
            "start_monotonic": start - boot,
        },
        "end_info": {"collectionTimeEnd": end, "MonotonicTimeEnd": end - boot},
    }
    if line.torch_npu_version:
        info["torch_npu_version"] = line.torch_npu_version
        info["cann_version"] = line.cann_version
    info["rank_id"] = rank
    return info


def profiler_metadata(layout: Layout, rank: int) -> dict[str, Any]:
    """Environment, groups this rank is in, and the job's parallel sizes."""
    groups = {}
    for axis in layout.axes.values():
        group = axis.groups[int(axis.of_rank[rank])]
        groups[group.name] = {
            "group_name": group.group_name,
            "group_rank": int(axis.place[rank]),
            "global_ranks": list(group.ranks),
        }
    return {
        "ENV_VARIABLES": dict.fromkeys(ENVIRONMENT, ""),
        "parallel_group_info": groups,
        "distributed_args": {
            "tensor_model_parallel_size": layout.tp,
            "pipeline_model_parallel_size": 1,
            "data_parallel_size": layout.world // layout.tp,
            "context_parallel_size": 1,
            "expert_model_parallel_size": 1,
            "sequence_parallel": False,
            "rank": rank,
            "world_size": layout.world,
        },
    }


def write_info(folder: Path, rank: int, info: dict[str, Any]) -> None:
    """profiler_info_<rank>.json, indented as torch_npu does."""
    text = json.dumps(info, indent=4)
    (folder / f"profiler_info_{rank}.json").write_text(text, encoding="utf-8")


def write_metadata(folder: Path, metadata: dict[str, Any]) -> None:
    """profiler_metadata.json, on one line."""
    text = json.dumps(metadata, ensure_ascii=False)
    (folder / "profiler_metadata.json").write_text(text, encoding="utf-8")
