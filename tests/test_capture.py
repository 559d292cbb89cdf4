"""Identity of captures, ranks and their conflicts, recordings, folding of rank folders."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_captures import KERNELS, OUTPUT, STEPS, info, write_capture

from tb_npu_plugin.backend.capture import Capture, describe
from tb_npu_plugin.backend.discovery import Root, scan
from tb_npu_plugin.backend.findings import render
from tb_npu_plugin.backend.recordings import fold_runs, recordings

SECOND = 10**9
T0 = 1_736_408_880 * SECOND


def captures(path: Path) -> list[Capture]:
    return [describe(f) for f in scan([Root(path)]).found]


def one(path: Path) -> Capture:
    (capture,) = captures(path)
    return capture


def codes(capture: Capture) -> list[str]:
    return [n.code for n in capture.notes]


# ---- the real ones --------------------------------------------------------------------------


def test_a_real_capture(shared: Path) -> None:
    first, second = captures(shared / "captures/text_level1")
    assert (first.name, first.run, first.rank, first.worker) == (
        "rank0_ascend_pt", ".", 0, "rank0_ascend_pt",
    )  # fmt: skip
    assert second.rank == 1
    assert first.info.level == "Level1"
    assert first.info.aic_metrics == "ACL_AICORE_PIPE_UTILIZATION"
    # start_monotonic + (collectionTimeEnd − MonotonicTimeEnd)
    assert first.info.end_ns == 1736408884023552840
    assert first.info.start_ns == 172163581670080 + (1736408884023552840 - 172164265133640)
    (recording,) = recordings([first, second])
    assert recording.label == "2025-01-09 07:48:03 UTC"
    assert [c.rank for c in recording.captures] == [0, 1]


def test_a_database_export_says_what_it_is(shared: Path) -> None:
    for capture in captures(shared / "captures/db_level1"):
        assert "kernels-missing" not in codes(capture)


def test_half_finished(cases: Path) -> None:
    """C32: the done marker alone is not success."""
    found = {c.worker: c for c in captures(cases / "C32-half-finished")}
    done = found["done_1"]
    assert done.done_marker
    note = next(n for n in done.notes if n.code == "analysis-incomplete")
    assert note.params["missing"] == "operator_details.csv, kernel_details.csv, step_trace_time.csv"
    assert not found["busy_2"].done_marker


# ---- ranks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rank_id", "expected"),
    [(0, 0), ("0", 0), (" 7 ", 7), (1023, 1023), (-1, None), ("-1", None), (None, None),
     ("x", None), (True, None), (1.5, None), (2.0, 2), (10**30, None), ([0], None), ({}, None)],
)  # fmt: skip
def test_rank_id_may_be_a_number_or_its_text(tmp_path: Path, rank_id: Any, expected: Any) -> None:
    capture = write_capture(tmp_path / "cap", step_trace_time=STEPS)
    (capture / "profiler_info.json").write_text(json.dumps({"rank_id": rank_id}))
    assert one(tmp_path).rank == expected


def test_rank_sources_in_order_of_trust(tmp_path: Path) -> None:
    cap = write_capture(tmp_path / "job_rank5_x", step_trace_time=STEPS)
    assert one(tmp_path).rank == 5
    metadata = {"distributed_args": {"rank": 4, "world_size": 8}}
    (cap / "profiler_metadata.json").write_text(json.dumps(metadata))
    assert one(tmp_path).rank == 4
    (cap / OUTPUT / "ascend_pytorch_profiler_3.db").write_bytes(b"")
    assert one(tmp_path).rank == 3
    (cap / "profiler_info_2.json").write_text("{}")
    assert one(tmp_path).rank == 2
    (cap / "profiler_info_2.json").write_text('{"rank_id": "1"}')
    found = one(tmp_path)
    assert (found.rank, found.info.world_size) == (1, 8)
    conflict = next(n for n in found.notes if n.code == "rank-conflict")
    for source in ("rank_id: 1", "profiler_info_2.json: 2", "profiler_3.db: 3", ": 4", ": 5"):
        assert source in conflict.params["candidates"]


def test_agreeing_sources_are_no_conflict(tmp_path: Path) -> None:
    write_capture(tmp_path / "rank1_ascend_pt", info(1), step_trace_time=STEPS)
    assert "rank-conflict" not in codes(one(tmp_path))


def test_the_largest_group_tells_the_world_size(tmp_path: Path) -> None:
    cap = write_capture(tmp_path / "cap", info(0), step_trace_time=STEPS)
    groups = {"a": {"global_ranks": [0, 1]}, "b": {"global_ranks": list(range(16))}, "c": {}}
    (cap / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": groups}))
    assert one(tmp_path).info.world_size == 16


# ---- findings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"a": NaN}',
        '{"rank_id": 1}}',
        "\0",
        "[" * 100_000,
        '{"a": "\ud800"}',
    ],
)
def test_a_broken_info_file_is_a_finding(tmp_path: Path, content: str) -> None:
    cap = write_capture(tmp_path / "cap", step_trace_time=STEPS)
    (cap / "profiler_info_6.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    found = one(tmp_path)
    assert found.rank == 6, "the name still tells the rank"
    assert "json-broken" in codes(found)


@pytest.mark.parametrize(
    ("start", "end"),
    [(10**30, 10**31), (-(10**18), -1), (0, 0), (T0, 10**19), (2**63 - 1, 2**63 - 1), (T0 + 5, T0)],
)
def test_a_window_that_cannot_be_is_unknown(tmp_path: Path, start: int, end: int) -> None:
    write_capture(tmp_path / "cap", info(0, start, end), step_trace_time=STEPS)
    found = one(tmp_path)
    assert found.info.start_ns is None or 0 < found.info.start_ns < 2**62
    assert found.info.end_ns is None or 0 < found.info.end_ns < 2**63
    (recording,) = recordings([found])
    assert recording.label


def test_missing_tables_say_why(tmp_path: Path) -> None:
    plain = {"config": {"common_config": {"activities": ["ProfilerActivity.CPU"]}}}
    write_capture(tmp_path / "cpu", plain)
    write_capture(tmp_path / "none", info(level="Level_none"))
    write_capture(tmp_path / "both", info(), kernel_details=KERNELS, step_trace_time=STEPS)
    found = {c.name: c for c in captures(tmp_path)}
    for name, why in (("cpu", "only the CPU"), ("none", "Level_none")):
        notes = {n.code: n for n in found[name].notes}
        assert why in notes["kernels-missing"].params["why"]
        assert why in notes["steps-missing"].params["why"]
    assert not {"kernels-missing", "steps-missing"} & set(codes(found["both"]))


def test_raw_only_gives_a_command_that_a_hostile_name_cannot_change(tmp_path: Path) -> None:
    name = "x'; touch pwned; echo '$(id)\"_ascend_pt"
    (tmp_path / name / "FRAMEWORK").mkdir(parents=True)
    capture = one(tmp_path)
    note = next(n for n in capture.notes if n.code == "raw-only")
    for lang in ("en", "zh"):
        words = shlex.split(render(note, lang, None, None).remedy)  # type: ignore[arg-type]
        assert words[:2] == ["python3", "-c"]
        assert words[3] == str(tmp_path / name)
        assert len(words) == 4


# ---- recordings -----------------------------------------------------------------------------


def write(path: Path, rank: int | None, start: float | None, length: float = 1.0) -> None:
    window = (None, None) if start is None else (
        T0 + int(start * SECOND), T0 + int((start + length) * SECOND),
    )  # fmt: skip
    write_capture(path, info(rank, *window), step_trace_time=STEPS)


def grouped(path: Path) -> dict[str, list[list[str]]]:
    """run -> recordings (newest first) -> names."""
    runs: dict[str, list[Capture]] = {}
    for capture in fold_runs(captures(path)):
        runs.setdefault(capture.run, []).append(capture)
    return {
        run: [[c.name for c in r.captures] for r in recordings(found)]
        for run, found in sorted(runs.items())
    }


def test_overlapping_windows_are_one_recording(tmp_path: Path) -> None:
    for name, rank, start in [("a", 0, 0.0), ("b", 1, 0.5), ("c", 0, 10.0), ("d", 1, 10.2)]:
        write(tmp_path / name, rank, start)
    assert grouped(tmp_path) == {".": [["c", "d"], ["a", "b"]]}


def test_one_capture_of_a_rank_in_a_recording(tmp_path: Path) -> None:
    for name, rank, start in [("a", 0, 0.0), ("b", 1, 0.1), ("c", 0, 0.2)]:
        write(tmp_path / name, rank, start)
    assert grouped(tmp_path) == {".": [["c"], ["a", "b"]]}


@pytest.mark.parametrize("copy", ["a_copy", "z_copy"])
def test_a_copied_capture_does_not_stand_for_the_job(tmp_path: Path, copy: str) -> None:
    """It begins later than the first of the job, and was recorded no later for that."""
    for name, rank, start in [("m", 0, 0.0), ("n", 1, 0.2), (copy, 1, 0.2), ("o", 2, 0.3)]:
        write(tmp_path / name, rank, start)
    newest, other = grouped(tmp_path)["."]
    assert len(newest) == 3
    assert len(other) == 1
    assert [r.recording for r in recordings(captures(tmp_path))] == [
        "20250109-074800",
        "20250109-074800.2",
    ]


def test_overlap_is_with_the_first_and_does_not_chain(tmp_path: Path) -> None:
    for name, rank, start in [("a", 0, 0.0), ("b", 1, 0.9), ("c", 2, 1.8)]:
        write(tmp_path / name, rank, start)
    assert grouped(tmp_path) == {".": [["c"], ["a", "b"]]}


def test_without_times_the_kth_of_each_rank_belong_together(tmp_path: Path) -> None:
    for minute in (0, 1):
        for rank in (0, 1):
            write(tmp_path / f"w{rank}_202601010000{minute:02}00{rank}_ascend_pt", rank, None)
    newest, oldest = grouped(tmp_path)["."]
    assert newest == ["w0_20260101000001000_ascend_pt", "w1_20260101000001001_ascend_pt"]
    assert oldest == ["w0_20260101000000000_ascend_pt", "w1_20260101000000001_ascend_pt"]


def test_repeats_of_one_worker_of_unknown_rank_are_apart(tmp_path: Path) -> None:
    for name in ("host_1_20260101000000001_ascend_pt", "host_1_20260101000100001_ascend_pt",
                 "host_2_20260101000000002_ascend_pt"):  # fmt: skip
        write_capture(tmp_path / name, step_trace_time=STEPS)
    newest, oldest = grouped(tmp_path)["."]
    assert newest == ["host_1_20260101000100001_ascend_pt"]
    assert len(oldest) == 2


def test_recordings_have_names_of_their_own(tmp_path: Path) -> None:
    for i in range(4):
        write(tmp_path / f"c{i}", 0, 0.1 * i)
    found = recordings(captures(tmp_path))
    names = [r.recording for r in found]
    assert len(set(names)) == 4
    # A newer one does not rename an older one: links stay good.
    older = recordings([c for c in captures(tmp_path) if c.name != "c3"])
    assert [r.recording for r in older] == names[1:]


def test_ranks_are_in_order_of_number(tmp_path: Path) -> None:
    for rank in (10, 2, 0, 1):
        write(tmp_path / f"r{rank}", rank, 0.0)
    assert grouped(tmp_path) == {".": [["r0", "r1", "r2", "r10"]]}


# ---- folding --------------------------------------------------------------------------------


def test_folders_of_one_rank_each_fold_into_their_parent(tmp_path: Path) -> None:
    for rank in range(3):
        write(tmp_path / f"job/rank{rank}/cap", rank, 0.1 * rank)
        write(tmp_path / f"deep/x{rank}/y/z/cap", rank, 0.1 * rank)
    assert grouped(tmp_path) == {"deep": [["cap"] * 3], "job": [["cap"] * 3]}


def test_repeats_in_rank_folders_fold_too(tmp_path: Path) -> None:
    for rank in range(2):
        for k in range(2):
            write(tmp_path / f"job/rank{rank}/cap{k}", rank, 10.0 * k)
    assert grouped(tmp_path) == {"job": [["cap1", "cap1"], ["cap0", "cap0"]]}


def test_folders_of_different_times_ranks_or_unknown_ranks_stay_runs(tmp_path: Path) -> None:
    write(tmp_path / "apart/a/cap", 0, 0.0)
    write(tmp_path / "apart/b/cap", 1, 100.0)
    write(tmp_path / "same/a/cap", 0, 200.0)
    write(tmp_path / "same/b/cap", 0, 200.0)
    write(tmp_path / "unknown/a/cap", None, 300.0)
    write(tmp_path / "unknown/b/cap", None, 300.0)
    assert list(grouped(tmp_path)) == [
        "apart/a", "apart/b", "same/a", "same/b", "unknown/a", "unknown/b",
    ]  # fmt: skip


def test_folding_keeps_the_id(tmp_path: Path) -> None:
    for rank in range(2):
        write(tmp_path / f"job/rank{rank}/cap", rank, 0.0)
    before = captures(tmp_path)
    assert [c.capture_id for c in fold_runs(before)] == [c.capture_id for c in before]
    assert len({c.capture_id for c in before}) == 2


# ---- any content ----------------------------------------------------------------------------

NAMES = ["config", "common_config", "experimental_config", "activities", "schedule", "rank_id",
         "start_info", "end_info", "start_monotonic", "collectionTimeEnd", "MonotonicTimeEnd",
         "distributed_args", "rank", "world_size", "parallel_group_info", "g", "global_ranks",
         "_profiler_level", "_aic_metrics", "torch_npu_version", "profile_memory"]  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats(allow_nan=False)
    | st.text(max_size=8) | st.sampled_from(["Level1", "ProfilerActivity.NPU", "12", "inf"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6),
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6),
)
def test_no_settings_break_the_description(
    tmp_path: Path, settings_: dict[str, Any], metadata: dict[str, Any]
) -> None:
    (tmp_path / "cap" / OUTPUT).mkdir(parents=True, exist_ok=True)
    (tmp_path / "cap/profiler_info.json").write_text(json.dumps(settings_))
    (tmp_path / "cap/profiler_metadata.json").write_text(json.dumps(metadata))
    found = fold_runs(captures(tmp_path))
    (recording,) = recordings(found)
    assert recording.captures == tuple(found)
    assert found[0].rank is None or 0 <= found[0].rank < 2**31
