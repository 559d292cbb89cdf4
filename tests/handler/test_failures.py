"""What the handler does when things go wrong: the loop goes on, and the capture says what it is."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Recorder, settled
from tb_npu_handler import manifest

CUT = {"wait": 0, "warmup": 1, "active": 4, "repeat": 1}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A filesystem of 1.5 MB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, check=False).returncode:
        pytest.skip("this test mounts a small tmpfs, which is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_an_exception_in_the_loop_keeps_what_was_recorded(recorder: Recorder) -> None:
    job = recorder.train(raise_at=2, steps=5, schedule=CUT)
    assert job.report["died"] == "the loop broke"
    (capture,) = recorder.captures()
    record = settled(capture)
    assert record["state"] == "complete"
    assert (capture / "ASCEND_PROFILER_OUTPUT" / "operator_details.csv").exists()


def test_a_loop_that_ends_inside_the_window_is_told_how_far_it_came(recorder: Recorder) -> None:
    job = recorder.train(steps=3, schedule=CUT, options={"analyse": "never"})
    (capture,) = recorder.captures()
    told = "prof.step() was called 3 times, the schedule needs 5"
    assert any(told in one for one in settled(capture)["advice"])
    assert told in " ".join(job.said())


def test_a_loop_that_ends_in_the_warm_up_is_told_that_nothing_came(recorder: Recorder) -> None:
    job = recorder.train(steps=0, options={"analyse": "never"})
    assert recorder.captures() == []
    assert "the loop ended in the schedule's warm-up" in " ".join(job.said())


def test_a_window_that_never_begins_is_told(recorder: Recorder) -> None:
    schedule = {"wait": 50, "warmup": 1, "active": 1}
    job = recorder.train(steps=2, schedule=schedule, options={"analyse": "never"})
    assert "never reached its recorded steps" in " ".join(job.said())


def test_a_schedule_that_never_hands_over_is_taken_up_at_exit(recorder: Recorder) -> None:
    """RECORD followed by NONE: torch_npu finishes the recording and calls nobody."""
    job = recorder.train(schedule="broken", steps=4)
    assert job.code == 0, job.out
    assert job.report["captures"] == []
    (capture,) = recorder.captures()
    record = settled(capture)
    assert record["state"] == "complete"
    assert "taken up afterwards" in record["advice"][0]
    assert (capture / "ASCEND_PROFILER_OUTPUT" / "operator_details.csv").exists()


def test_torch_npus_own_handler_beside_ours_is_left_alone(recorder: Recorder) -> None:
    job = recorder.train(stock=True, second=str(recorder.folder / "ours"))
    assert job.code == 0, job.out
    (ours,) = job.report["second"]
    assert settled(Path(ours))["state"] == "complete"
    others = [path for path in recorder.folder.rglob("*_ascend_pt") if str(path) != ours]
    assert len(others) == 2
    assert [path for path in others if (path / "capture.json").exists()] == []


def test_two_profilers_of_one_process_stay_apart(recorder: Recorder) -> None:
    """torch_npu sends both to the directory of the handler made last; ours go to their own."""
    other = recorder.folder / "decode"
    job = recorder.train(second=str(other), options={"analyse": "never", "on_error": "raise"})
    assert job.code == 0, job.out
    assert [str(path) for path in recorder.captures()] == job.report["captures"]
    assert [str(path) for path in recorder.captures(other)] == job.report["second"]
    assert (len(job.report["captures"]), len(job.report["second"])) == (2, 1)
    assert [settled(path)["cycle"] for path in recorder.captures()] == [0, 1]


def test_a_process_that_ends_without_stopping_its_profiler(recorder: Recorder) -> None:
    job = recorder.train(leave=True, steps=2, schedule=CUT, wait=0)
    assert job.code == 0, job.out
    (capture,) = recorder.captures()
    found = settled(capture) if manifest.read(str(capture))["state"] != "recording" else None
    if found is None:
        record = manifest.read(str(capture))
        assert record is not None
        assert manifest.is_interrupted(record)
        (result,) = recorder.analyse()
        assert result["state"] == "complete", result
    else:
        assert found["state"] == "complete"


@pytest.mark.parametrize("how", ["fork", "daemon"])
def test_background_analysis_from_forked_and_daemonic_parents(recorder: Recorder, how: str) -> None:
    job = recorder.train(how=how)
    assert job.report["states"] == ["complete"], job.out


def test_a_handler_made_before_torch_npu_is_imported(recorder: Recorder) -> None:
    autoload = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    job = recorder.train(autoload, fresh=True, late=True)
    assert job.code == 0, job.out
    (capture,) = recorder.captures()
    assert settled(capture)["state"] == "complete"
    assert list(recorder.folder.glob("*_ascend_pt")) == []


def test_little_space_left_is_left_to_the_job(recorder: Recorder) -> None:
    job = recorder.train(options={"min_free_gb": 1e6})
    (capture,) = recorder.captures()
    record = settled(capture)
    assert record["state"] == "failed"
    assert "kept but not analysed" in record["reason"]
    assert record["raw"] is True
    assert job.code == 0


def test_a_big_recording_on_a_nearly_full_disk_is_deleted(recorder: Recorder) -> None:
    """1 GB free is asked for on a disk of 1.5 MB, and the recording is more than 1 % of the limit."""
    job = recorder.train(options={"min_free_gb": 0.0}, wait=0)
    (capture,) = recorder.captures()
    settled(capture)
    size = sum(path.stat().st_size for path in (capture / "FRAMEWORK").iterdir())
    limit = (shutil.disk_usage(capture).free + size * 50) / 1e9
    with open(capture / "FRAMEWORK" / "padding", "wb") as stream:
        stream.truncate(int(limit * 1e9 / 50))
    record = dict(manifest.read(str(capture)) or {}, state="failed")
    record["request"]["min_free_bytes"] = int(limit * 1e9)
    manifest.write(str(capture), record)
    (result,) = recorder.analyse()
    assert result["state"] == "failed"
    assert "was deleted to leave the disk to the job" in result["reason"]
    assert not (capture / "FRAMEWORK").exists()
    assert job.code == 0


def test_a_full_disk_never_reaches_the_loop(recorder: Recorder, small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(b"x" * 1_480_000)
    job = recorder.train(dir=str(small_disk / "runs"), switches={"with_stack": True}, steps=3)
    assert job.code == 0, job.out
    assert "REPORT" in job.out
    (small_disk / "ballast").unlink()
    for capture in recorder.captures(small_disk / "runs"):
        record = manifest.read(str(capture))
        assert record is None or record["state"] != "complete"


def test_a_read_only_disk_is_staged_and_told(recorder: Recorder, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    job = recorder.train(dir=str(small_disk / "runs"), options={"analyse": "never"})
    assert job.code == 0, job.out
    assert "cannot record in" in job.said()[0]
    (capture,) = job.report["captures"]
    record = settled(Path(capture))
    assert record["raw"] is True
    assert record["state"] == "failed"
    assert "not delivered" in record["reason"]
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    (result,) = recorder.analyse(Path(capture).parent)
    assert result["state"] == "complete", result
    (arrived,) = recorder.captures(small_disk / "runs")
    assert settled(arrived)["state"] == "complete"
    assert not Path(capture).exists()


def test_a_path_below_a_file_is_staged(recorder: Recorder) -> None:
    blocked = recorder.folder / "file"
    blocked.write_text("")
    job = recorder.train(dir=str(blocked / "runs"), options={"analyse": "never"})
    assert job.code == 0, job.out
    assert "cannot record in" in job.said()[0]
    record = settled(Path(job.report["captures"][0]))
    assert "not delivered" in record["reason"]


def test_a_directory_that_vanishes_costs_the_capture_only(recorder: Recorder) -> None:
    job = recorder.train(remove="finalised", wait=0)
    assert job.code == 0, job.out
    told = " ".join(job.said())
    assert "this capture could not be finished" in told
    assert "The job goes on" in told
    assert not recorder.runs.exists()


def test_a_directory_that_vanishes_while_recording_is_made_again(recorder: Recorder) -> None:
    """torch_npu writes what it still holds into a new directory of the same name."""
    job = recorder.train(remove="recording")
    assert job.report["states"] == ["complete"], job.out
    (capture,) = recorder.captures()
    assert (capture / "ASCEND_PROFILER_OUTPUT" / "operator_details.csv").exists()


def test_on_error_raise_lets_tests_see_it(recorder: Recorder) -> None:
    """torch_npu catches what its callback raises, and prints it."""
    job = recorder.train(remove="finalised", wait=0, options={"on_error": "raise"})
    assert "the capture directory is gone" in job.out
    assert job.code == 0


@pytest.mark.parametrize("name", ["训练 运行", "séance-été", "run \U0001f680", "x" * 240])
def test_unusual_directory_names(recorder: Recorder, name: str) -> None:
    folder = recorder.folder / name
    job = recorder.train(dir=str(folder), options={"analyse": "never"}, wait=60)
    assert job.code == 0, job.out
    for capture in job.report["captures"]:
        if Path(capture).exists():
            settled(Path(capture))
    (capture,) = recorder.captures(folder)
    assert (capture / "FRAMEWORK").is_dir()


def test_a_path_too_long_for_the_system_is_staged(recorder: Recorder) -> None:
    job = recorder.train(dir=str(recorder.folder / "/".join(["d" * 200] * 25)), wait=0)
    assert job.code == 0, job.out
    assert "cannot record in" in job.said()[0]
    (capture,) = job.report["captures"]
    assert "not delivered" in settled(Path(capture))["reason"]


def test_a_symlinked_directory_holds_the_capture(recorder: Recorder) -> None:
    real = recorder.folder / "real"
    real.mkdir()
    recorder.runs.symlink_to(real)
    job = recorder.train()
    assert job.report["states"] == ["complete"], job.out
    assert len(recorder.captures(real)) == 1


def test_an_analysis_that_takes_too_long_is_ended(recorder: Recorder) -> None:
    recorder.train(options={"timeout_s": 0.2})
    (capture,) = recorder.captures()
    record = settled(capture)
    assert record["state"] == "failed"
    assert "took more than 0 s" in record["reason"]
    (result,) = recorder.analyse(timeout_s=60)
    assert result["state"] == "complete", result


def test_an_analysis_that_takes_too_much_memory_is_ended(recorder: Recorder) -> None:
    recorder.train({"TB_NPU_MEMORY_GB": "0.05"})
    (capture,) = recorder.captures()
    assert "more memory than it may take" in settled(capture)["reason"]


def test_msprof_that_is_not_on_the_path_is_named(recorder: Recorder, raw_capture: Path) -> None:
    capture = recorder.runs / raw_capture.name
    shutil.copytree(raw_capture, capture)
    device = capture / "PROF_000001_20250101000000000_ABCDEFGH"
    (device / "device_0").mkdir(parents=True)
    (device / "host").mkdir()
    (result,) = recorder.analyse()
    assert result["state"] == "failed"
    assert "msprof is not on PATH" in result["reason"]
    record = manifest.read(str(capture))
    assert record is not None
    assert {"where": "kernel_details.csv", "message": "not written by the analysis"} in record[
        "errors"
    ]


def test_damaged_raw_data_is_not_called_complete(recorder: Recorder, raw_capture: Path) -> None:
    capture = recorder.runs / raw_capture.name
    shutil.copytree(raw_capture, capture)
    (capture / "FRAMEWORK" / "torch.op_range").write_bytes(b"\x07" * 5000)
    (result,) = recorder.analyse()
    assert result["state"] == "failed", result
    assert result["errors"]


def test_analyse_done_alone_is_not_success(recorder: Recorder, raw_capture: Path) -> None:
    capture = recorder.runs / raw_capture.name
    shutil.copytree(raw_capture, capture)
    (capture / manifest.MANIFEST_NAME).unlink()
    output = capture / "ASCEND_PROFILER_OUTPUT"
    output.mkdir()
    (output / "analyse.done").touch()
    (result,) = recorder.analyse()
    assert result["state"] == "complete", result
    assert (output / "operator_details.csv").exists()


def test_a_pair_that_does_not_match_is_told(recorder: Recorder, tmp_path: Path) -> None:
    script = tmp_path / "pair.py"
    script.write_text(
        "import torch, torch_npu\n"
        "torch.__version__ = '2.12.1+cpu'\n"
        "from tb_npu_handler import npu_handler\n"
        f"npu_handler({str(recorder.runs)!r})\n"
    )
    told = " ".join(recorder.run(script).said())
    assert "torch_npu 2.13.0 is built for torch 2.13.0" in told or (
        "torch_npu 2.13.0 is built for torch 2.13.0, but torch 2.12.1+cpu" in told
    )


def test_torch_npu_switched_off_by_its_environment(recorder: Recorder) -> None:
    """With PROFILING_MODE set torch_npu records nothing at all; the job is told at its end."""
    job = recorder.train({"PROFILING_MODE": "dynamic"}, fresh=True, wait=0)
    assert job.code == 0, job.out
    assert recorder.captures() == []
    assert "npu_handler" in " ".join(job.said())


def test_wrong_arguments_are_refused_at_once() -> None:
    from tb_npu_handler import npu_handler

    for wrong in (
        {"analyse": "later"},
        {"export": ["csv"]},
        {"keep": 0},
        {"on_error": "ignore"},
        {"timeout_s": 0},
        {"min_free_gb": -1},
        {"pytorch_trace": "yes"},
    ):
        with pytest.raises(ValueError, match="must"):
            npu_handler("unused", **wrong)  # type: ignore[arg-type]


def test_the_manifest_is_json_for_any_metadata(recorder: Recorder) -> None:
    job = recorder.train(
        options={"analyse": "never", "metadata": {"名": ["é", None, 1.5], "quote": '"\\'}}
    )
    assert job.code == 0, job.out
    (capture,) = recorder.captures()
    text = (capture / "capture.json").read_text(encoding="utf-8")
    assert json.loads(text)["metadata"] == {"名": ["é", None, 1.5], "quote": '"\\'}
