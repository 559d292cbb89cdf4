"""What the handler recorded with the real torch_npu, seen through the views of the tab."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from conftest import HERE, Recorder

from tb_npu_plugin.frames import Captures


def test_repeats_are_recordings_with_counts_shapes_and_stacks(
    recorder: Recorder, opened: Callable[[Path], Captures]
) -> None:
    job = recorder.train(
        steps=7,
        schedule={"wait": 0, "warmup": 1, "active": 2, "repeat": 2},
        switches={"record_shapes": True, "with_stack": True},
    )
    assert job.report["states"] == ["complete", "complete"], job.out
    captures = opened(recorder.runs)
    recordings = list(dict.fromkeys(c.recording for c in captures))
    assert len(recordings) == 2
    for recording in recordings:
        frame = captures.operators(recording=recording)
        counts = Counter(frame["name"])
        # Two layers and two recorded steps.
        assert counts["aten::linear"] == 4
        assert counts["aten::relu"] == 2
        layer = frame[frame["name"] == "aten::addmm"].iloc[0]
        assert "32,8" in layer["input_shapes"]
        assert frame["stack"].str.contains("train.py", na=False).any()
        codes = set(captures.findings(recording=recording)["code"])
        assert not codes & {"interrupted", "recording-failed", "reader-failed", "growing"}


def test_both_forms_of_one_recording_agree_row_for_row(
    recorder: Recorder, opened: Callable[[Path], Captures]
) -> None:
    job = recorder.train(export=["text", "db"], switches={"record_shapes": True})
    assert job.report["states"] == ["complete"], job.out
    captures = opened(recorder.runs)
    text, database = captures.operators(source="text"), captures.operators(source="db")
    assert len(text) > 0
    assert text["name"].tolist() == database["name"].tolist()
    assert text["input_shapes"].tolist() == database["input_shapes"].tolist()
    # The text form has steps of 10 ns.
    assert (text["host_total_ns"] - database["host_total_ns"]).abs().max() <= 10


def test_ranks_of_one_job_are_one_recording(
    recorder: Recorder, opened: Callable[[Path], Captures]
) -> None:
    script = HERE / "scripts" / "ranks.py"
    job = recorder.run(script, str(recorder.runs), "2", json.dumps({"analyse": "inline"}))
    assert job.code == 0, job.out
    captures = opened(recorder.runs)
    # Two repeats, each with both ranks.
    assert [c.rank for c in captures] == [0, 1, 0, 1]
    assert len({c.recording for c in captures}) == 2
    assert captures.select().captures[0].info.world_size == 2
    assert set(captures.operators()["rank"]) == {0, 1}
