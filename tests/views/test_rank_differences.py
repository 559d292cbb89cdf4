"""Ranks side by side, and sends with their receives."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.ranks import ranks
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample

Opener = Callable[[Path], Captures]


def rows(captures: Captures, group: str, **selection: Any) -> list[dict[str, Any]]:
    sel = captures.select(**selection)
    sel.options = {"only": "table"}
    table = ranks(sel, TableRequest(group=group, limit=1000)).table
    return [
        {key: column[at] for key, column in table.values.items()}
        for at in range(len(next(iter(table.values.values()), [])))
    ]


def kernel_times(capture: Path, **where: str) -> float:
    """Summed microseconds of a capture's kernels, from its file."""
    path = next(capture.glob("ASCEND_PROFILER_OUTPUT/kernel_details.csv"))
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return sum(
            float(row["Duration(us)"])
            for row in csv.DictReader(stream)
            if all(row[key.replace("_", " ")].strip() == value for key, value in where.items())
        )


def test_the_real_ranks_side_by_side(level1: Captures, shared: Path) -> None:
    """One step each, so a rank's time per step is the sum of its file."""
    found = {row["type"]: row for row in rows(level1, "type")}
    times = {}
    for info in (shared / "captures/text_level1").glob("*/profiler_info_*.json"):
        rank = int(info.stem.rsplit("_", 1)[1])
        times[rank] = kernel_times(info.parent, Type="MatMulV2") * 1000
    row = found["MatMulV2"]
    assert (row["part0_ns"], row["part1_ns"]) == pytest.approx((times[0], times[1]))
    assert row["spread_ns"] == pytest.approx(abs(times[0] - times[1]))
    assert (row["most"], row["ranks"], row["calls_differ"]) == ("Rank 1", 2, "alike")
    assert not any("hcom" in str(name).lower() for name in found)
    spreads = [row["spread_ns"] for row in found.values()]
    assert spreads == sorted(spreads, reverse=True)


def test_a_kernel_that_one_rank_lacks_counts_as_nothing(tmp_path: Path, opened: Opener) -> None:
    write_sample(tmp_path / "job", ranks=3, steps=1, kernels_per_step=60, seed=1)
    first = min((tmp_path / "job").glob("*_ascend_pt"))
    path = first / "ASCEND_PROFILER_OUTPUT/kernel_details.csv"
    lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if ",MatMulV2," not in line))
    (row,) = [row for row in rows(opened(tmp_path / "job"), "type") if row["type"] == "MatMulV2"]
    assert row["ranks"] == 2
    assert sorted(row[f"part{part}_ns"] for part in range(3))[0] == 0
    assert row["spread_ns"] == max(row[f"part{part}_ns"] for part in range(3))
    assert row["calls_differ"] == "differ"


def test_shapes_and_operators_and_many_ranks(tmp_path: Path, opened: Opener) -> None:
    write_sample(tmp_path / "job", ranks=9, steps=2, kernels_per_step=60, seed=2, straggler=4)
    captures = opened(tmp_path / "job")
    shapes = rows(captures, "shape")
    assert {row["most"] for row in shapes if row["median_ns"] > 50_000} == {"Rank 4"}
    assert not any(key.startswith("part") for key in shapes[0])
    operators = {row["name"]: row for row in rows(captures, "operator", rank="0-2")}
    assert operators["aten::mm"]["ranks"] == 3
    assert "part2_ns" in operators["aten::mm"]


def operation(start_us: float, elapse_ms: float, wait_ms: float, size_mb: float = 8) -> Any:
    return {
        "Communication Time Info": {
            "Start Timestamp(us)": start_us, "Elapse Time(ms)": elapse_ms,
            "Transit Time(ms)": 0.2, "Wait Time(ms)": wait_ms,
            "Synchronization Time(ms)": wait_ms, "Idle Time(ms)": elapse_ms - wait_ms - 0.2,
            "Wait Time Ratio": 0, "Synchronization Time Ratio": 0,
        },
        "Communication Bandwidth Info": {
            "HCCS": {"Transit Size(MB)": size_mb, "Transit Time(ms)": 0.2, "Bandwidth(GB/s)": 40,
                     "Large Packet Ratio": 0, "Size Distribution": {str(size_mb): [1, 0.2]}},
        },
    }  # fmt: skip


def write_pipeline(job: Path, rank: int, operations: dict[str, Any]) -> None:
    folder = job / f"worker{rank}_1_20250101000000000_ascend_pt"
    (folder / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    info = {"rank_id": rank, "start_info": {"start_monotonic": 10},
            "end_info": {"collectionTimeEnd": 10**18, "MonotonicTimeEnd": 20}}  # fmt: skip
    (folder / f"profiler_info_{rank}.json").write_text(json.dumps(info))
    (folder / "ASCEND_PROFILER_OUTPUT/communication.json").write_text(
        json.dumps({"step1": {"p2p": operations, "collective": {}}})
    )


def test_sends_are_paired_with_receives(tmp_path: Path, opened: Opener) -> None:
    """Stage 0 sends two micro-batches to stage 1, which waits 3 and 1 ms, and gets one back."""
    t = 1_736_000_000_000_000.0
    write_pipeline(tmp_path / "job", 0, {
        "hcom_send__11_0@11": operation(t + 3000, 0.3, 0.1),
        "hcom_send__11_1@11": operation(t + 6000, 0.3, 0.1),
        "hcom_receive__11_2@11": operation(t + 7000, 2.2, 2.0, 4),
    })  # fmt: skip
    write_pipeline(tmp_path / "job", 1, {
        "hcom_receive__11_0@11": operation(t, 3.3, 3.0),
        "hcom_receive__11_1@11": operation(t + 5000, 1.3, 1.0),
        "hcom_send__11_2@11": operation(t + 9000, 0.2, 0.0, 4),
        "hcom_send__99_0@99": operation(t + 9500, 0.2, 0.0),  # to a stage that is not here
    })  # fmt: skip
    found = rows(opened(tmp_path / "job"), "pair")
    assert [(r["sender"], r["receiver"], r["count"]) for r in found] == [
        ("Rank 0", "Rank 1", 2), ("Rank 1", "Rank 0", 1),
    ]  # fmt: skip
    down, up = found
    assert down["receive_ns"] == pytest.approx(4_600_000)
    assert down["receive_wait_ns"] == pytest.approx(4_000_000)
    assert down["send_wait_ns"] == pytest.approx(200_000)
    assert down["size_bytes"] == pytest.approx(16_000_000)
    assert down["late_ns"] == pytest.approx(2_000_000)  # of 3 ms and 1 ms
    assert (up["receive_wait_ns"], up["late_ns"]) == pytest.approx((2_000_000, 2_000_000))
