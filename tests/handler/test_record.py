"""Recording with the real torch_npu and with torch.profiler: what comes, where, under which name."""

import csv
import gzip
import json
import re
import sqlite3
import time
from collections import Counter
from pathlib import Path

from conftest import Recorder, settled
from tb_npu_handler import manifest


def operators(capture: Path) -> list["dict[str, str]"]:
    path = capture / "ASCEND_PROFILER_OUTPUT" / "operator_details.csv"
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_two_repeats_with_shapes_and_stacks(recorder: Recorder) -> None:
    job = recorder.train(
        steps=7,
        schedule={"wait": 0, "warmup": 1, "active": 2, "repeat": 2},
        switches={"record_shapes": True, "with_stack": True},
        options={"metadata": {"phase": "warm", "lr": 0.1}, "on_error": "raise"},
    )
    assert job.code == 0, job.out
    assert job.report["states"] == ["complete", "complete"], job.out
    first, second = recorder.captures()
    for number, capture in enumerate((first, second)):
        rows = operators(capture)
        counts = Counter(row["Name"] for row in rows)
        # Two layers and two recorded steps.
        assert counts["aten::linear"] == 4
        assert counts["aten::relu"] == 2
        layer = next(row for row in rows if row["Name"] == "aten::addmm")
        assert "32,8" in layer["Input Shapes"]
        assert any("train.py" in row["Call Stack"] for row in rows)
        record = settled(capture)
        assert record["cycle"] == number
        assert record["metadata"] == {"phase": "warm", "lr": 0.1}
        assert record["rank"] is None
        assert record["versions"]["torch_npu"] == "2.13.0"
        assert record["steps"]["called"] == 3 * (number + 1)
        listed = {entry["path"]: entry["bytes"] for entry in record["files"]}
        for path, size in listed.items():
            if not path.startswith("logs/tb_npu"):
                assert (capture / path).stat().st_size == size, path
        assert "ASCEND_PROFILER_OUTPUT/trace_view.json" in listed
        assert "FRAMEWORK/torch.op_range" in listed
    one, two = settled(first), settled(second)
    assert one["job"] == two["job"]
    assert one["start_ns"] < one["end_ns"] < two["end_ns"]


def test_text_and_database_of_one_recording(recorder: Recorder) -> None:
    job = recorder.train(export=["text", "db"])
    assert job.report["states"] == ["complete"], job.out
    (capture,) = recorder.captures()
    output = capture / "ASCEND_PROFILER_OUTPUT"
    with sqlite3.connect(str(output / "ascend_pytorch_profiler.db")) as database:
        (count,) = database.execute("SELECT count(*) FROM PYTORCH_API").fetchone()
    assert count >= len(operators(capture)) > 0


def test_the_handler_can_choose_the_export(recorder: Recorder) -> None:
    job = recorder.train(options={"export": ["db"]})
    assert job.report["states"] == ["complete"], job.out
    (capture,) = recorder.captures()
    names = {path.name for path in (capture / "ASCEND_PROFILER_OUTPUT").iterdir()}
    assert "ascend_pytorch_profiler.db" in names
    assert "operator_details.csv" not in names


def test_the_loop_goes_on_while_the_analysis_runs(recorder: Recorder, tmp_path: Path) -> None:
    """The second window is recorded before the first one's analysis has ended."""
    job = recorder.train(
        steps=7, schedule={"wait": 0, "warmup": 1, "active": 2, "repeat": 2}, wait=0
    )
    ended = time.time()
    first, second = recorder.captures()
    assert job.code == 0, job.out
    one, two = settled(first), settled(second)
    assert one["state"] == two["state"] == "complete"
    done = first / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    assert done.stat().st_mtime > two["end_ns"] / 1e9
    # The work outlived the trainer.
    assert max(one["updated_ns"], two["updated_ns"]) / 1e9 > ended


def test_never_leaves_raw_data_and_says_how_to_go_on(recorder: Recorder) -> None:
    job = recorder.train(options={"analyse": "never"})
    (capture,) = recorder.captures()
    record = manifest.read(str(capture))
    assert record is not None
    assert (record["state"], record["stage"], record["raw"]) == ("complete", "raw", True)
    assert not (capture / "ASCEND_PROFILER_OUTPUT").exists()
    assert f"tb-npu analyse {capture}" in " ".join(job.said())
    (result,) = recorder.analyse()
    assert result["state"] == "complete", result
    assert len(operators(capture)) > 0
    (again,) = recorder.analyse()
    assert (again["state"], again["reason"]) == ("skipped", "already complete")


def test_inline_has_finished_when_the_step_returns(recorder: Recorder) -> None:
    job = recorder.train(options={"analyse": "inline", "on_error": "raise"}, wait=0)
    assert job.code == 0, job.out
    (capture,) = recorder.captures()
    record = manifest.read(str(capture))
    assert record is not None
    assert record["state"] == "complete"


def test_names_follow_torch_npu_and_carry_role_and_rank(recorder: Recorder) -> None:
    place = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}
    job = recorder.train(place, worker_name="prefill", options={"analyse": "never"})
    assert job.code == 0, job.out
    (capture,) = recorder.captures()
    assert re.fullmatch(r"prefill_rank3_\d+_\d{17}_ascend_pt", capture.name)
    record = settled(capture)
    found = [record[key] for key in ("role", "worker", "rank", "world_size", "local_rank")]
    assert found == ["prefill", "prefill_rank3", 3, 8, 1]
    assert (capture / "profiler_info_3.json").exists()


def test_torch_profiler_writes_what_torch_writes(recorder: Recorder) -> None:
    job = recorder.train(
        profiler="torch", steps=7, schedule={"wait": 0, "warmup": 1, "active": 2, "repeat": 2}
    )
    assert job.report["states"] == ["complete", "complete"], job.out
    traces = sorted(recorder.runs.glob("*.pt.trace.json.gz"))
    assert [str(path) for path in traces] == sorted(job.report["captures"])
    for trace in traces:
        with gzip.open(trace, "rt", encoding="utf-8") as stream:
            content = json.load(stream)
        names = Counter(event.get("name") for event in content["traceEvents"])
        assert names["aten::addmm"] == 4
        assert {"ProfilerStep#1", "ProfilerStep#2"} & set(names) or "ProfilerStep#4" in names
        record = manifest.read(str(trace))
        assert record is not None
        assert record["kind"] == "torch"
        assert record["files"] == [{"path": trace.name, "bytes": trace.stat().st_size}]
    left = [path.name for path in recorder.runs.iterdir() if path.name.startswith(".")]
    assert left == []


def test_a_torch_trace_that_is_never_worked_on_is_published_plain(recorder: Recorder) -> None:
    job = recorder.train(profiler="torch", options={"analyse": "never"})
    (trace,) = recorder.runs.glob("*.pt.trace.json")
    assert job.report["captures"] == [str(trace)]
    assert json.loads(trace.read_text())["traceEvents"]


def test_no_schedule_is_one_window_and_the_advice_says_so(recorder: Recorder) -> None:
    job = recorder.train(schedule=None, steps=2, options={"analyse": "never"})
    assert job.code == 0, job.out
    (capture,) = recorder.captures()
    assert any("no schedule" in one for one in settled(capture)["advice"])
    assert len([line for line in job.said() if "first capture in" in line]) == 1


def test_compact_keeps_only_what_a_viewer_needs(recorder: Recorder) -> None:
    job = recorder.train(
        steps=9,
        schedule={"wait": 0, "warmup": 1, "active": 8, "repeat": 1},
        switches={"record_shapes": True, "with_stack": True},
        options={"compact": True},
    )
    assert job.report["states"] == ["complete"], job.out
    (capture,) = recorder.captures()
    output = capture / "ASCEND_PROFILER_OUTPUT"
    with gzip.open(output / "trace_view.json.gz", "rt", encoding="utf-8") as stream:
        assert len(json.load(stream)) > 100
    assert not (output / "trace_view.json").exists()
    assert not (capture / "FRAMEWORK").exists()
    assert (capture / "profiler_info.json").exists()
    record = settled(capture)
    assert record["raw"] is False
    assert "trace_view.json.gz" in record["compact"]["files"]


def test_keep_leaves_the_newest_and_never_touches_others_files(recorder: Recorder) -> None:
    for _ in range(2):
        recorder.train(options={"analyse": "never"}, worker_name="w")
    mine = recorder.captures()
    (mine[0] / "notes.txt").write_text("mine")
    foreign = recorder.runs / "w_1_20200101000000000_ascend_pt"
    foreign.mkdir()
    (foreign / "profiler_info.json").write_text("{}")
    job = recorder.train(options={"keep": 1, "analyse": "never"}, worker_name="w")
    assert job.report["states"] == ["complete"], job.out
    left = {path.name: sorted(one.name for one in path.iterdir()) for path in recorder.captures()}
    assert left[foreign.name] == ["profiler_info.json"]
    assert left[mine[0].name] == ["notes.txt"]
    assert mine[1].name not in left
    assert len(left) == 3
