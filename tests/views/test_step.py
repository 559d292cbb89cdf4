"""The step view: rows, means, shares, bars."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_captures import STEP_HEADER, info, write_capture

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.results import Step
from tb_npu_plugin.backend.tables import TableRequest, rows_csv
from tb_npu_plugin.backend.views.step import step, step_query
from tb_npu_plugin.frames import Captures

Opener = Callable[[Path], Captures]


def look(captures: Captures, group: str = "", sort: str = "", **selection: Any) -> Step:
    return step(captures.select(**selection), TableRequest(group=group, sort=sort))


def test_the_real_job(level1: Captures) -> None:
    view = look(level1)
    values = view.table.values
    assert values["rank"] == [0, 1]
    assert values["stage_ns"] == [136581000.0, 131912500.0]
    assert values["computing_ratio"] == pytest.approx([8873.756 / 136581, 8878.295 / 131912.5])
    assert [b.label for b in view.bars] == ["Step 50 · Rank 0", "Step 50 · Rank 1"]
    assert view.bars[0].computing_only_ns == pytest.approx(8873756.0 - 4028675.0)


def test_devices_and_steps(cases: Path, opened: Opener) -> None:
    """C20."""
    captures = opened(cases / "C20-step-trace-device-first")
    view = look(captures)
    assert sorted(zip(view.table.values["step"], view.table.values["device"], strict=True)) == [
        (10, 0), (10, 1), (11, 0), (11, 1),
    ]  # fmt: skip
    assert all("NPU" in b.label for b in view.bars)
    assert look(captures, device=1).table.values["computing_ns"] == [90e3, 95e3]
    assert look(captures, device="0-1", step="11").table.total == 2
    by_step = look(captures, "step")
    assert by_step.table.values["step"] == [10, 11]
    assert by_step.table.values["computing_ns"] == [95e3, 102.5e3]
    by_rank = look(captures, "rank")
    assert by_rank.table.total == 2, "one row a device"


@pytest.mark.parametrize("form", ["new", "old"])
def test_no_step_markers(cases: Path, opened: Opener, form: str) -> None:
    """C21."""
    captures = opened(cases / "C21-step-trace-empty-step" / form)
    view = look(captures)
    assert view.table.values["step"] == [None]
    assert "whole capture" in view.bars[0].label
    assert look(captures, step="none").table.total == 1
    assert look(captures, step="1").table.total == 0
    assert (view.bars[0].preparing_ns is None) == (form == "old")


def test_groups_agree_with_pandas(level1: Captures, tmp_path: Path, opened: Opener) -> None:
    rows = "".join(
        f"{d},{s},{100 + 7 * s + d},20,{s},25,30,{150 + 10 * s},0,20,3\n"
        for d in (0, 1) for s in range(1, 30)
    )  # fmt: skip
    write_capture(tmp_path / "cap", info(0), step_trace_time=f"{STEP_HEADER}\n{rows}")
    captures = opened(tmp_path)
    frame = captures.steps()
    by_step = look(captures, "step").table.values
    means = frame.groupby("step")["computing_ns"].mean()
    assert by_step["step"] == means.index.tolist()
    assert by_step["computing_ns"] == pytest.approx(means.tolist())
    assert by_step["count"] == [2] * 29
    shares = frame.groupby("step")["computing_ns"].sum() / frame.groupby("step")["stage_ns"].sum()
    assert by_step["computing_ratio"] == pytest.approx(shares.tolist())
    by_rank = look(captures, "rank", "device").table.values
    assert by_rank["stage_ns"] == pytest.approx(frame.groupby("device")["stage_ns"].mean().tolist())


def test_a_stage_of_zero_has_no_shares(tmp_path: Path, opened: Opener) -> None:
    rows = "0,1,0,0,0,0,10.0,0,0,0,0\n"  # C13 c
    write_capture(tmp_path / "cap", info(0), step_trace_time=f"{STEP_HEADER}\n{rows}")
    for group in ("", "rank", "step"):
        captures = opened(tmp_path)
        values = look(captures, group).table.values
        assert values["stage_ns"] == [0.0]
        assert values["computing_ratio"] == [None], "undefined, not infinite and not 0"
        sel = captures.select()
        query = step_query(sel, group)
        assert query is not None
        exported = "".join(rows_csv(sel.store, query, TableRequest()))
        assert not re.search(r"\b(inf|nan)\b", exported)


def test_pages_of_equal_rows_do_not_overlap(tmp_path: Path, opened: Opener) -> None:
    rows = "".join(f"{d},{s},100,20,5,25,30,150,0,20,3\n" for d in range(8) for s in range(20))
    write_capture(tmp_path / "cap", info(0), step_trace_time=f"{STEP_HEADER}\n{rows}")
    sel = opened(tmp_path).select()
    seen = []
    for offset in range(0, 160, 9):
        found = step(sel, TableRequest("computing_ns", "", "", (), offset, 9)).table.values
        seen += zip(found["device"], found["step"], strict=True)
    assert len(set(seen)) == len(seen) == 160


def test_an_unknown_group(level1: Captures) -> None:
    with pytest.raises(RequestError) as caught:
        look(level1, "core")
    assert caught.value.status == 400


def test_before_anything_is_read(tmp_path: Path, opened: Opener) -> None:
    write_capture(tmp_path / "cap", info(0))
    view = look(opened(tmp_path))
    assert (view.bars, view.table.total, view.table.columns) == ([], 0, [])
