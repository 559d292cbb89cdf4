"""analyse_tree: finds what needs work, goes on after an interruption, tells a result for each."""

import os
import shutil
from pathlib import Path

import pytest
from conftest import Recorder
from tb_npu_handler import manifest
from tb_npu_handler.analyse import Result, analyse_tree, find


def tree(recorder: Recorder, raw_capture: Path, names: list[str]) -> list[Path]:
    made = []
    for name in names:
        capture = recorder.runs / name
        shutil.copytree(raw_capture, capture)
        made.append(capture)
    return made


def test_a_tree_two_at_a_time_and_again(recorder: Recorder, raw_capture: Path) -> None:
    one, two, whole, empty = tree(recorder, raw_capture, ["job/r0", "job/deep/r1", "x", "empty"])
    (one / "capture.json").unlink()  # recorded by torch_npu's own handler
    record = dict(manifest.read(str(whole)) or {}, stage="done")
    manifest.write(str(whole), record)
    shutil.rmtree(empty)
    (empty / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    (recorder.runs / "loop").symlink_to(recorder.runs)
    found = {result["path"]: result for result in recorder.analyse(workers=2)}
    assert {Path(path): result["state"] for path, result in found.items()} == {
        one: "complete",
        two: "complete",
        whole: "skipped",
        empty: "skipped",
    }
    for capture in (one, two):
        assert found[str(capture)]["files"] == len((manifest.read(str(capture)) or {})["files"])
        assert (capture / "ASCEND_PROFILER_OUTPUT" / "operator_details.csv").exists()
    again = {result["path"]: result["reason"] for result in recorder.analyse()}
    assert again[str(one)] == again[str(two)] == "already complete"


def test_scratch_analyses_elsewhere_and_brings_the_result_back(
    recorder: Recorder, raw_capture: Path
) -> None:
    (capture,) = tree(recorder, raw_capture, ["r0"])
    scratch = recorder.folder / "scratch"
    scratch.mkdir()
    (result,) = recorder.analyse(scratch=str(scratch))
    assert result["state"] == "complete", result
    assert (capture / "ASCEND_PROFILER_OUTPUT" / "operator_details.csv").exists()
    assert list(capture.glob("logs/profiler_*.log"))
    assert list(scratch.iterdir()) == []
    assert sorted(path.name for path in capture.iterdir() if path.name.startswith(".")) == []


def test_without_torch_npu_the_result_says_where_to_run_it(
    recorder: Recorder, raw_capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This interpreter has no torch_npu, as on a machine that only views."""
    monkeypatch.delenv("TB_NPU_PYTHON", raising=False)
    (capture,) = tree(recorder, raw_capture, ["r0"])
    calls: list[tuple[int, int, Result]] = []
    (result,) = analyse_tree(
        str(recorder.runs), progress=lambda done, total, one: calls.append((done, total, one))
    )
    assert result.state == "failed"
    assert "set TB_NPU_PYTHON" in (result.reason or "")
    assert calls == [(1, 1, result)]
    assert (manifest.read(str(capture)) or {})["stage"] == "raw", "nothing was changed"


def test_another_interpreter_can_do_it(
    recorder: Recorder, raw_capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (capture,) = tree(recorder, raw_capture, ["r0"])
    for name, value in recorder.variables().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TB_NPU_PYTHON", str(recorder.environment.python))
    (result,) = analyse_tree(str(capture))
    assert result.state == "complete", result
    assert result.seconds > 0


def test_a_capture_in_anothers_hands_is_left_alone(recorder: Recorder, raw_capture: Path) -> None:
    (capture,) = tree(recorder, raw_capture, ["r0"])
    record = dict(manifest.read(str(capture)) or {}, state="analysing")
    manifest.write(str(capture), record)
    (result,) = analyse_tree(str(recorder.runs))
    assert result.state == "skipped"
    assert f"worked on by process {os.getpid()}" in (result.reason or "")


def test_a_path_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError, match="no such file"):
        analyse_tree("/nowhere/at/all")


def test_finding_does_not_look_into_captures(tmp_path: Path) -> None:
    (tmp_path / "a" / "FRAMEWORK" / "FRAMEWORK").mkdir(parents=True)
    (tmp_path / "b" / "PROF_000001_20250101000000000_AB" / "device_0").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    assert find(str(tmp_path)) == [str(tmp_path / "a"), str(tmp_path / "b")]
