"""Steps, kernels and operators from the trace: they agree with the files that torch_npu wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_captures import OUTPUT

from tb_npu_plugin.backend.readers.trace_unions import covered
from tb_npu_plugin.frames import Captures, load

#: Durations of kernels have three decimals of µs in the file and more in the trace.
ROUNDING_NS = 2.0
#: Instants that went through a double of epoch-µs before they were subtracted.
DOUBLE_NS = 250.0


@pytest.fixture(scope="module", params=["text_level1", "text_level0"])
def job(request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    cache = tmp_path_factory.mktemp("cache")
    with load(shared / "captures" / request.param, cache=cache, workers=1) as captures:
        yield captures


@pytest.fixture(scope="module", params=[0, 1])
def rank(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def test_steps_agree(job: Captures, rank: int) -> None:
    text, trace = job.steps(rank=rank), job.steps(rank=rank, source="trace")
    assert list(trace["step"]) == [50]
    for key in ("computing_ns", "communication_not_overlapped_ns", "overlapped_ns",
                "communication_ns", "free_ns", "bubble_ns", "communication_exclude_receive_ns"):  # fmt: skip
        assert list(trace[key]) == list(text[key]), key
    for key in ("stage_ns", "preparing_ns"):
        assert trace[key].iloc[0] == pytest.approx(text[key].iloc[0], abs=DOUBLE_NS)
    row = trace.iloc[0]
    parts = row["computing_ns"] + row["communication_not_overlapped_ns"] + row["free_ns"]
    assert parts == pytest.approx(row["stage_ns"], abs=1)


def test_kernels_agree(job: Captures, rank: int) -> None:
    text, trace = job.kernels(rank=rank), job.kernels(rank=rank, source="trace")
    assert (len(text), len(trace)) == (191, 191)
    text = text.sort_values(["start_ns", "name"], ignore_index=True)
    trace = trace.sort_values(["start_ns", "name"], ignore_index=True)
    assert list(trace["name"]) == list(text["name"])
    assert list(trace["step"]) == list(text["step"])
    moving = text["core"] == "HCCL"
    assert moving.sum() == 4
    assert list(trace["core"].dropna()) == ["HCCL"] * 4, "the trace tells no other core"
    assert (trace["start_ns"] - text["start_ns"])[~moving].abs().max() == 0
    assert (trace["start_ns"] - text["start_ns"])[moving].abs().max() <= 1
    assert (trace["dur_ns"] - text["dur_ns"]).abs().max() < ROUNDING_NS
    assert (trace["wait_ns"] - text["wait_ns"]).abs().max() < ROUNDING_NS
    if text["stream"].notna().any():  # Level1
        assert list(trace["stream"].fillna(-1)) == list(text["stream"].fillna(-1))
        assert list(trace["task"].fillna(-1)) == list(text["task"].fillna(-1))
    assert trace["x_task_type"].value_counts().to_dict() == {
        "AI_CORE": 172, "MIX_AIV": 13, "DSA_SQE": 2,
    }  # fmt: skip


def test_operators_agree(job: Captures, rank: int) -> None:
    text, trace = job.operators(rank=rank), job.operators(rank=rank, source="trace")
    assert len(trace) == 859
    pd.testing.assert_frame_equal(trace, text, rtol=0, atol=1e-4)


def test_the_same_operators_are_nested(job: Captures, rank: int) -> None:
    rows = [list(job._frame("operator_nested", {"rank": rank, "source": source})["nested_row"])
            for source in ("text", "trace")]  # fmt: skip
    assert rows[0] == rows[1]
    assert len(rows[0]) == 4


def test_nothing_is_derived_before_it_is_asked_for(shared: Path, cache_dir: Path) -> None:
    with load(shared / "captures/text_level1", cache=cache_dir) as captures:
        states = captures._store.files(captures.captures[0].capture_id)
        assert {s.state for s in states if s.origin} == {"waiting"}
        assert {s.state for s in states if not s.origin} == {"ready"}
        assert captures._store.kinds(captures._store.captures(), "steps") == ["text", "trace"]


def test_missing_files_are_replaced_by_the_trace(
    shared: Path, tmp_path: Path, cache_dir: Path
) -> None:
    source = shared / "captures/text_level1/rank0_ascend_pt" / OUTPUT
    target = tmp_path / "logdir/cap" / OUTPUT
    target.mkdir(parents=True)
    for name in ("trace_view.json", "operator_details.csv"):
        shutil.copy(source / name, target)
    with load(tmp_path / "logdir", cache=cache_dir, workers=1) as captures:
        assert len(captures.kernels()) == 191
        assert captures.steps()["computing_ns"].iloc[0] == 8873756.0
        sel = captures.select()
        parts = {t: sel.parts(t)[0][1].kind for t in ("kernels", "steps", "operators")}
        assert parts == {"kernels": "trace", "steps": "trace", "operators": "text"}
        assert sel.state("kernels", "steps", "operators") == ("ready", 1.0)


def write_trace(folder: Path, events: list[dict[str, object]]) -> None:
    (folder / OUTPUT).mkdir(parents=True)
    (folder / OUTPUT / "trace_view.json").write_text(json.dumps(events))


def named(pid: int, name: str, label: str, *threads: str) -> list[dict[str, object]]:
    events: list[dict[str, object]] = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}},
        {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": label}},
    ]
    for tid, thread in enumerate(threads):
        events.append(
            {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": thread}}
        )
    return events


def span(
    pid: int, tid: int, name: str, start: float, end: float, **more: object
) -> dict[str, object]:
    return {
        "ph": "X",
        "pid": pid,
        "tid": tid,
        "name": name,
        "ts": str(start),
        "dur": end - start,
        **more,
    }


def test_devices_and_steps_are_told_apart(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    """Two devices in one capture, two steps whose device ranges overlap, a receive, a lone step."""
    events = named(1, "Python", "CPU", "Thread 0")
    for step, (low, high) in {7: (0, 100), 8: (100, 200), 9: (200, 300)}.items():
        events.append(span(1, 0, f"ProfilerStep#{step}", low, high, cat="cpu_op"))
    events += named(10, "Overlap Analysis", "NPU 0", "Computing", "Communication",
                    "Communication(Not Overlapped)", "Free")  # fmt: skip
    events += named(20, "Ascend Hardware", "NPU 0", "Stream 0")
    events += named(21, "Ascend Hardware", "NPU 1", "Stream 0")
    events += named(30, "Communication", "NPU 0", "Group x Communication", "Plane 0")
    launches = [(10, 20, 50, 90), (60, 20, 120, 180), (110, 20, 190, 260)]
    for host, pid, low, high in launches:
        events.append(span(1, 0, "aten::mm", host, host + 5, cat="cpu_op"))
        events.append(span(pid, 0, "MatMul", low, high, args={"Task Type": "AI_CORE"}))
        ends = {"id": low, "name": "torch_to_npu", "cat": "async_npu"}
        events.append({"ph": "s", "pid": 1, "tid": 0, "ts": str(host), **ends})
        events.append({"ph": "f", "pid": pid, "tid": 0, "ts": str(low), **ends})
        events.append(span(10, 0, "Computing", low, high))
    events.append(span(21, 0, "Add", 130, 140, args={"Task Type": "AI_CORE"}))
    events.append(span(20, 0, "MEMCPY_ASYNC", 182, 184, args={"Task Type": "SDMA_SQE"}))
    events.append(span(30, 0, "hcom_receive__1_0_1", 90, 100))
    events.append(span(30, 1, "Notify_Wait", 90, 95))
    events.append(span(10, 1, "Communication", 90, 100))
    events.append(span(10, 2, "Communication(Not Overlapped)", 90, 100))
    events.append(span(10, 3, "Free", 100, 120))
    write_trace(tmp_path / "logdir/cap", events)
    captures = opened(tmp_path / "logdir")
    steps = captures.steps()
    assert list(steps["step"]) == [7, 8], "step 9 launched nothing"
    assert list(steps["device"]) == [0, 0]
    first = steps.iloc[0]
    assert first["computing_ns"] == 100_000.0
    assert first["bubble_ns"] == 10_000.0
    assert first["stage_ns"] == 120_000.0, "130 µs from first start to last end, less the bubble"
    assert first["communication_exclude_receive_ns"] == 0.0
    assert first["preparing_ns"] == 50_000.0
    kernels = captures.kernels()
    assert list(zip(kernels["name"], kernels["device"], kernels["step"], strict=True)) == [
        ("MatMul", 0, 7), ("hcom_receive__1_0_1", 0, 7), ("MatMul", 0, 7), ("Add", 1, 7),
        ("MatMul", 0, 8),
    ]  # fmt: skip
    assert list(kernels["wait_ns"]) == [0.0, 0.0, 20_000.0, 0.0, 10_000.0]
    assert list(kernels["core"].fillna("")) == ["", "COMMUNICATION", "", "", ""]


def test_without_markers_there_is_one_unnamed_step(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    events = named(1, "Python", "CPU", "Thread 0")
    events.append(span(1, 0, "aten::mm", 4, 9, cat="cpu_op"))
    events += named(10, "Overlap Analysis", "NPU", "Computing")
    events.append(span(10, 0, "Computing", 10, 30))
    write_trace(tmp_path / "logdir/cap", events)
    steps = opened(tmp_path / "logdir").steps()
    assert len(steps) == 1
    row = steps.iloc[0]
    assert pd.isna(row["step"])
    assert pd.isna(row["device"])
    assert (row["computing_ns"], row["stage_ns"], row["preparing_ns"]) == (
        20_000.0,
        20_000.0,
        6_000.0,
    )


def test_a_trace_of_the_host_alone_gives_operators(
    cases: Path, tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    shutil.copytree(cases / "C01-trace-no-closing-bracket", tmp_path / "logdir/cap")
    captures = opened(tmp_path / "logdir")
    assert list(captures.operators()["name"]) == ["aten::add", "aten::mul"]
    assert len(captures.kernels()) == 0
    assert len(captures.steps()) == 0


def test_covered() -> None:
    assert covered(np.array([0.0, 1.0, 5.0]), np.array([3.0, 2.0, 6.0])) == 4.0
    assert covered(np.array([]), np.array([])) == 0.0
