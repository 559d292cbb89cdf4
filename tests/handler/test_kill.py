"""kill -9 at every stage: the manifest tells the truth, and ``tb-npu analyse`` repairs what can be."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from conftest import HERE, ROOT, Recorder, settled, wait_for
from tb_npu_handler import manifest


def test_killed_while_recording(recorder: Recorder) -> None:
    job = recorder.train(
        steps=4, schedule={"wait": 0, "warmup": 1, "active": 9}, kill_at="recording"
    )
    assert job.code == -signal.SIGKILL
    (capture,) = recorder.captures()
    record = manifest.read(str(capture))
    assert record is not None
    assert record["state"] == "recording"
    assert manifest.is_interrupted(record)
    assert not list(capture.glob("profiler_info*"))
    (result,) = recorder.analyse()
    assert (capture / "profiler_info.json").exists()
    after = settled(capture)
    # What had reached the disk is there; a recording that had flushed nothing says so.
    flushed = (capture / "FRAMEWORK" / "torch.op_range").exists()
    assert result["state"] == ("complete" if flushed else "failed"), result
    assert after["state"] == result["state"]
    if not flushed:
        assert after["reason"]


def test_killed_after_the_recording_and_before_the_handler(recorder: Recorder) -> None:
    job = recorder.train(kill_at="finalised")
    assert job.code == -signal.SIGKILL
    (capture,) = recorder.captures()
    record = manifest.read(str(capture))
    # The profiler's callback is a wrapper here, so the handler may not have known of the recording.
    assert record is None or manifest.is_interrupted(record)
    (result,) = recorder.analyse()
    assert result["state"] == "complete", result
    assert (capture / "ASCEND_PROFILER_OUTPUT" / "operator_details.csv").exists()


def test_terminated_while_recording(recorder: Recorder) -> None:
    """SIGTERM is the job's own matter: no handler of ours is installed for it."""
    schedule = {"wait": 0, "warmup": 1, "active": 9}
    job = recorder.train(steps=4, schedule=schedule, kill_at="recording", signal="SIGTERM")
    assert job.code == -signal.SIGTERM
    (capture,) = recorder.captures()
    record = manifest.read(str(capture))
    assert record is not None
    assert record["state"] == "recording"
    assert manifest.is_interrupted(record)


def test_the_analysis_outlives_its_trainers_process_group(recorder: Recorder) -> None:
    job = recorder.train(kill_at="handed over")
    assert job.code == -signal.SIGKILL
    (capture,) = recorder.captures()
    assert settled(capture)["state"] == "complete"


def test_killed_while_analysing(recorder: Recorder) -> None:
    job = recorder.train(wait=0)
    assert job.code == 0, job.out
    (capture,) = recorder.captures()

    def analysing() -> "int | None":
        record = manifest.read(str(capture))
        assert record is not None
        assert record["state"] == "analysing", "it was too quick to be killed"
        return int(record["keeper"]["pid"]) if record["stage"] == "analyse" else None

    os.kill(wait_for(analysing), signal.SIGKILL)
    record = wait_for(
        lambda: (lambda found: found if manifest.is_interrupted(found) else None)(
            manifest.read(str(capture)) or {}
        )
    )
    assert record["state"] == "analysing"
    (result,) = recorder.analyse()
    assert result["state"] == "complete", result
    assert settled(capture)["state"] == "complete"


def test_killed_while_uploading_goes_on_where_it_stopped(
    recorder: Recorder, raw_capture: Path, tmp_path: Path
) -> None:
    capture = tmp_path / "staging" / raw_capture.name
    shutil.copytree(raw_capture, capture)
    target = tmp_path / "bucket"
    record = manifest.read(str(capture))
    assert record is not None
    script = (
        "import os, signal, sys\n"
        "from tb_npu_handler import deliver, manifest\n"
        "seen = []\n"
        "def beat():\n"
        "    seen.append(1)\n"
        "    if len(seen) == 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        "deliver.deliver(sys.argv[1], manifest.read(sys.argv[1]), sys.argv[2], beat)\n"
    )
    env = dict(os.environ, PYTHONPATH=str(ROOT / "handler"))
    command = [sys.executable, "-c", script, str(capture), str(target)]
    done = subprocess.run(command, env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    arrived = target / capture.name
    half = manifest.read(str(arrived))
    assert half is not None
    assert (half["state"], half["stage"]) == ("analysing", "deliver")
    assert manifest.is_interrupted(half)
    sent = {path: path.stat().st_mtime_ns for path in arrived.rglob("*") if path.is_file()}
    record["state"], record["stage"] = "analysing", "deliver"
    record["request"] = dict(record["request"], target=str(target), analyse=False)
    manifest.write(str(capture), record)
    stale = dict(record, keeper={"host": record["host"], "pid": 2**22 + 1})
    text = (capture / "capture.json").read_text()
    (capture / "capture.json").write_text(
        text.replace(f'"pid": {os.getpid()}', '"pid": {}'.format(stale["keeper"]["pid"]))
    )
    (result,) = recorder.analyse(capture.parent)
    assert result["state"] == "complete", result
    assert not capture.exists()
    whole = manifest.read(str(arrived))
    assert whole is not None
    assert whole["state"] == "complete"
    for entry in whole["files"]:
        if not entry["path"].startswith("logs/"):
            assert (arrived / entry["path"]).stat().st_size == entry["bytes"]
    again = [path for path, when in sent.items() if path.stat().st_mtime_ns == when]
    assert any(path.name != "capture.json" for path in again), "everything was sent again"


def test_killed_while_exporting_a_torch_trace(recorder: Recorder) -> None:
    script = HERE / "scripts" / "die_exporting.py"
    job = recorder.run(script, str(recorder.runs))
    assert job.code == -signal.SIGKILL
    (sidecar,) = recorder.runs.glob("*.capture.json")
    assert list(recorder.runs.glob("*.pt.trace.json*")) == []
    (result,) = recorder.analyse()
    assert result["state"] == "failed"
    assert "the job died while exporting it" in result["reason"]
    record = manifest.read(result["path"])
    assert record is not None
    assert record["state"] == "failed"
    assert manifest.path_of(result["path"]) == str(sidecar)
