"""What every view can show, and why not: the real captures, and one small capture per reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_captures import KERNEL_HEADER, KERNELS, STEPS, info, write_capture

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.views.capabilities import capabilities
from tb_npu_plugin.backend.views.registry import VIEWS
from tb_npu_plugin.frames import Captures

LEVEL1 = "profiler_level=torch_npu.profiler.ProfilerLevel.Level1"


def by_key(captures: Captures, **selection: Any) -> dict[str, results.Capability]:
    return {c.key: c for c in capabilities(captures.select(**selection))}


def test_a_full_capture_has_everything_but_a_static_graph(level1: Captures) -> None:
    found = by_key(level1)
    assert {k for k, c in found.items() if c.status != "available"} == {"memory.static"}
    assert found["kernel"].cases[0].ranks == [0, 1]
    assert found["overview"].cases[0].ranks == [0, 1]


def test_level0_names_the_setting_that_fills_each_view(level0: Captures) -> None:
    found = by_key(level0)
    assert [k for k, c in found.items() if c.status == "available"] == [
        "overview", "step", "operator", "kernel.l2", "memory.curves", "memory.allocations",
        "memory.modules", "timeline",
    ]  # fmt: skip
    assert found["kernel"].status == "partial"
    assert "types and cores, input shapes" in found["kernel"].cases[0].reason
    for key in ("kernel", "kernel.counters", "kernel.statistic", "api", "communication.ops",
                "communication.links", "communication.matrix"):  # fmt: skip
        (case,) = found[key].cases
        assert "below Level1" in case.reason
        assert LEVEL1 in case.remedy
    assert "AiCMetrics.PipeUtilization" in found["kernel.counters"].cases[0].remedy
    assert found["api"].cases[0].where == "api_statistic.csv"


def test_databases_merge_over_ranks_although_their_names_differ(
    shared: Path, opened: Callable[[Path], Captures]
) -> None:
    found = by_key(opened(shared / "captures/db_level1"))
    (case,) = found["kernel"].cases
    assert case.ranks == [0, 1]
    assert case.where.endswith("ascend_pytorch_profiler_*.db")
    assert {k for k, c in found.items() if c.status != "available"} == {
        "kernel.l2", "memory.static",
    }  # fmt: skip


def settings(level: str = "Level1", **common: Any) -> dict[str, Any]:
    out = info(0, level=level)
    activities = ["ProfilerActivity.CPU", "ProfilerActivity.NPU"]
    out["config"]["common_config"] = {"activities": activities, **common}
    return out


OPERATORS = (
    "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"
    "Device Self Duration(us),Device Total Duration(us)\r\naten::add,,,1,1,1,1\r\n"
)


@pytest.mark.parametrize(
    ("key", "common", "files", "reason", "remedy"),
    [
        ("memory.curves", {"profile_memory": False}, {}, "profile_memory was off",
         "torch_npu.profiler.profile(..., profile_memory=True)"),
        ("memory.curves", {"profile_memory": True}, {}, "although all that it needs", "tb-npu analyse"),
        ("operator", {"with_stack": False, "record_shapes": False},
         {"operator_details": OPERATORS}, "record_shapes was off; with_stack was off",
         "torch_npu.profiler.profile(..., record_shapes=True, with_stack=True)"),
        ("kernel", {"activities": ["ProfilerActivity.CPU"]}, {}, "only the CPU was recorded",
         "ProfilerActivity.NPU]"),
        ("communication.ops", {}, {"kernel_details": KERNELS},
         "no communication operation ran", "Nothing to do for a job of one device"),
        ("kernel", {}, {"kernel_details": f"{KERNEL_HEADER}\r\n"}, "holds 0 kernels", "schedule"),
        ("kernel", {}, {"kernel_details": b""}, "0 bytes", "analyse"),
    ],
)  # fmt: skip
def test_each_reason(
    tmp_path: Path, opened: Callable[[Path], Captures], key: str, common: dict[str, Any],
    files: dict[str, str | bytes], reason: str, remedy: str,
) -> None:  # fmt: skip
    write_capture(tmp_path / "cap", settings(**common), step_trace_time=STEPS, **files)
    (case,) = by_key(opened(tmp_path))[key].cases
    assert case.status in ("missing", "partial")
    assert reason in case.reason
    assert remedy in case.remedy


def test_ranks_that_differ_make_a_part_partial(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    window = {"start_ns": 10**18, "end_ns": 10**18 + 10**9}
    write_capture(tmp_path / "a", info(0, **window), step_trace_time=STEPS, kernel_details=KERNELS)
    write_capture(tmp_path / "b", info(1, **window), step_trace_time=STEPS)
    found = by_key(opened(tmp_path))["kernel"]
    assert found.status == "partial"
    assert [(c.status, c.ranks) for c in found.cases] == [("missing", [1]), ("partial", [0])]


def test_every_part_belongs_to_a_view_and_speaks_chinese(level0: Captures) -> None:
    for part in capabilities(level0.select(lang="zh")):
        assert part.view in {*VIEWS, "timeline"}
        for case in part.cases:
            assert not case.reason or any("\u4e00" <= c <= "\u9fff" for c in case.reason)


def test_the_frame_is_the_view(level0: Captures) -> None:
    frame = level0.capabilities()
    (row,) = frame[frame.part == "api"].to_dict("records")
    assert (row["status"], row["ranks"], row["where"]) == ("missing", [0, 1], "api_statistic.csv")
