"""The overview: hand-computed figures of the real job, and captures that lack things."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_captures import KERNEL_HEADER, KERNELS, STEP_HEADER, STEPS, info, write_capture

from tb_npu_plugin.backend.results import Overview
from tb_npu_plugin.backend.views.overview import overview
from tb_npu_plugin.frames import Captures

Opener = Callable[[Path], Captures]


def look(captures: Captures, **selection: Any) -> Overview:
    return overview(captures.select(**selection))


def facts(view: Overview) -> dict[str, str]:
    return {f.key: f.value for f in view.facts}


def test_the_real_job(level1: Captures) -> None:
    view = look(level1)
    assert [b.label for b in view.bars] == ["Rank 0", "Rank 1"]
    assert view.bars_note == "Step 50"
    cards = {c.key: c for c in view.cards}
    assert cards["stage"].value_ns == 136581000.0
    assert "Rank 0" in cards["stage"].label, "the longest of the two"
    assert cards["computing"].value_ns == 8873756.0
    assert cards["communication_not_overlapped"].value_ns == 101963203.0
    assert cards["communication_not_overlapped"].ratio == pytest.approx(101963.203 / 136581)
    assert cards["overlapped"].ratio == pytest.approx(4028.675 / 105991.878)
    assert cards["free"].value_ns == 25744050.0
    assert "74.7 %" in view.headline
    assert "137 ms" in view.headline
    found = facts(view)
    assert (found["rank"], found["steps"], found["level"]) == ("0-1", "50", "Level1")
    assert found["aic_metrics"] == "PIPE_UTILIZATION"
    assert "record_shapes" in found["options"]


def test_bars_add_up_to_the_stage(level1: Captures, level0: Captures) -> None:
    for captures in (level1, level0):
        for bar in look(captures).bars:
            parts = (bar.computing_only_ns, bar.overlapped_ns, bar.free_ns, bar.bubble_ns,
                     bar.communication_not_overlapped_ns)  # fmt: skip
            assert sum(p or 0 for p in parts) == pytest.approx(
                (bar.stage_ns or 0) + (bar.bubble_ns or 0), abs=250
            )


def test_top_kernels_are_the_computing_ones(level1: Captures) -> None:
    table = look(level1, rank=0).top_kernels
    assert table is not None
    kernels = level1.kernels(rank=0)
    computing = kernels[kernels["core"] != "HCCL"]
    sums = computing.groupby(["type", "core"])["dur_ns"].sum().sort_values(ascending=False)
    assert table.values["total_ns"] == pytest.approx(sums.head(8).tolist())
    assert table.values["total_ratio"][0] == pytest.approx(sums.iloc[0] / computing["dur_ns"].sum())
    assert "HCCL" not in table.values["core"]


def test_level0_has_names_for_types(level0: Captures) -> None:
    table = look(level0, rank=0).top_kernels
    assert table is not None
    kernels = level0.kernels(rank=0)
    sums = kernels[kernels["core"].isna()].groupby("name")["dur_ns"].sum()
    assert table.values["total_ns"][0] == pytest.approx(sums.max())
    assert table.values["name"][0] == sums.idxmax()


def test_negative_durations_are_left_out_of_sums(tmp_path: Path, opened: Opener) -> None:
    rows = "10,a,T,AI_CORE,1,-900,0,8,2\n10,b,T,AI_CORE,2,100,0,8,2\n"
    write_capture(tmp_path / "cap", info(0), kernel_details=f"{KERNEL_HEADER}\n{rows}",
                  step_trace_time=STEPS)  # fmt: skip
    table = look(opened(tmp_path)).top_kernels
    assert table is not None
    assert (table.values["total_ns"], table.values["min_ns"]) == ([100e3], [100e3])
    assert table.values["total_ratio"] == [1.0]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_without_steps_the_split_is_unknown_not_zero(
    tmp_path: Path, opened: Opener, lang: str
) -> None:
    write_capture(tmp_path / "cap", info(0), kernel_details=KERNELS)
    view = look(opened(tmp_path), lang=lang)
    assert (view.bars, view.cards) == ([], [])
    assert view.top_kernels is not None
    assert "steps-missing" in [f.code for f in view.findings]
    assert view.headline


def test_without_anything(tmp_path: Path, opened: Opener) -> None:
    write_capture(tmp_path / "cap")
    view = look(opened(tmp_path))
    assert view.top_kernels is None
    assert facts(view)["rank"] == "unknown"


def test_an_unknown_part_is_not_a_zero(tmp_path: Path, opened: Opener) -> None:
    write_capture(tmp_path / "cap", info(0), step_trace_time="Step,Computing,Free\n1,100,50\n")
    (bar,) = look(opened(tmp_path)).bars
    assert (bar.stage_ns, bar.overlapped_ns, bar.preparing_ns) == (None, None, None)
    assert bar.free_ns == 50e3
    cards = {c.key: c for c in look(opened(tmp_path)).cards}
    assert cards["computing"].value_ns == 100e3
    assert cards["computing"].ratio is None
    assert cards["overlapped"].value_ns is None


def test_the_mean_of_several_steps(tmp_path: Path, opened: Opener) -> None:
    rows = "0,1,100,20,5,25,30,150,0,20,3\n0,2,200,20,5,25,30,250,0,20,3\n"
    write_capture(tmp_path / "cap", info(0), step_trace_time=f"{STEP_HEADER}\n{rows}")
    captures = opened(tmp_path)
    view = look(captures)
    assert view.bars_note == "mean of 2 steps"
    assert view.bars[0].stage_ns == 200e3
    assert look(captures, step=2).bars[0].stage_ns == 250e3
    assert facts(view)["steps"] == "1 – 2 (2)"


def test_ranks_that_are_not_there_are_told(tmp_path: Path, opened: Opener) -> None:
    path = write_capture(tmp_path / "cap", info(0), kernel_details=KERNELS, step_trace_time=STEPS)
    (path / "profiler_metadata.json").write_text(
        '{"distributed_args": {"rank": 0, "world_size": 8}}'
    )
    view = look(opened(tmp_path))
    assert next(f.note for f in view.facts if f.key == "rank") == "of 8"
    assert "ranks-missing" in opened(tmp_path).findings()["code"].tolist()
