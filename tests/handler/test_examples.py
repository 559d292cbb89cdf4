"""Every example runs and leaves what it promises."""

import re
from pathlib import Path

from conftest import ROOT, Job, Recorder, settled

EXAMPLES = ROOT / "examples"


def run(recorder: Recorder, name: str, *args: str) -> Job:
    job = recorder.run(EXAMPLES / name, "--logdir", str(recorder.runs), *args)
    assert job.code == 0, job.out
    return job


def test_every_example_is_tried() -> None:
    tried = set(re.findall(r'"(\w+\.py)"', Path(__file__).read_text()))
    assert {path.name for path in EXAMPLES.glob("*.py")} <= tried
    listed = (EXAMPLES / "README.md").read_text()
    assert all(f"`{path.name}`" in listed for path in EXAMPLES.glob("*.py"))


def test_minimal_training(recorder: Recorder) -> None:
    run(recorder, "minimal_training.py", "--device", "cpu")
    (capture,) = recorder.captures()
    record = settled(capture)
    assert record["state"] == "complete"
    assert record["steps"] == {"called": 4}


def test_scheduled_training(recorder: Recorder) -> None:
    run(recorder, "scheduled_training.py", "--device", "cpu", "--steps", "60")
    captures = recorder.captures()
    assert [settled(capture)["cycle"] for capture in captures] == [0, 1]
    assert settled(captures[0])["metadata"]["model"] == "tiny transformer"


def test_multi_rank(recorder: Recorder) -> None:
    launch = recorder.folder / "launch.py"
    launch.write_text("from torch.distributed.run import main\nmain()\n")
    script = str(EXAMPLES / "multi_rank.py")
    args = ["--standalone", "--nproc-per-node", "2", script, "--logdir", str(recorder.runs)]
    job = recorder.run(launch, *args, "--device", "cpu", "--backend", "gloo", fresh=True)
    assert job.code == 0, job.out
    records = [settled(capture) for capture in recorder.captures()]
    assert sorted(record["rank"] for record in records) == [0, 1]
    assert len({record["job"] for record in records}) == 1
    assert {record["local_rank"] for record in records} == {0, 1}


def test_inference_prefill_decode(recorder: Recorder) -> None:
    run(recorder, "inference_prefill_decode.py", "--device", "cpu")
    found = {settled(path)["role"]: settled(path)["metadata"] for path in recorder.captures()}
    assert found == {"prefill": {"phase": "prefill"}, "decode": {"phase": "decode"}}


def test_cpu_only(recorder: Recorder) -> None:
    run(recorder, "cpu_only.py")
    (sidecar,) = recorder.runs.glob("*.capture.json")
    trace = sidecar.with_name(sidecar.name.replace(".capture.json", ".pt.trace.json.gz"))
    assert settled(trace)["state"] == "complete"
    assert trace.stat().st_size > 0
