"""npu_profile and TB_NPU_PROFILE: the right profiler with sane settings, or none at all."""

import json
from pathlib import Path

import pytest
from conftest import Recorder, settled
from tb_npu_handler import profile

LOOP = """
import json, sys
import torch
from tb_npu_handler import npu_profile

options = json.loads(sys.argv[1])
with npu_profile(**options) as prof:
    for _ in range(8):
        torch.randn(8, 8).mm(torch.randn(8, 8))
        prof.step()
handler = getattr(prof, "on_trace_ready", None)
config = getattr(getattr(prof, "prof_if", None), "experimental_config", None)
print("REPORT " + json.dumps({
    "kind": type(prof).__module__,
    "captures": handler.captures if handler else [],
    "level": getattr(config, "_profiler_level", None),
    "metrics": getattr(config, "_aic_metrics", None),
}))
"""


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    script = tmp_path / "loop.py"
    script.write_text(LOOP)
    return script


def test_on_an_npu(recorder: Recorder, loop: Path) -> None:
    options = {"dir": str(recorder.runs), "steps": 2, "skip_first": 2, "analyse": "never"}
    job = recorder.run(loop, json.dumps(options))
    assert job.code == 0, job.out
    assert job.report["kind"] == "torch_npu.profiler.profiler"
    assert job.report["level"] == "Level1"
    assert job.report["metrics"] == "ACL_AICORE_PIPE_UTILIZATION"
    (capture,) = recorder.captures()
    record = settled(capture)
    common = record["config"]["common_config"]
    assert common["record_shapes"] is True
    assert sorted(common["activities"]) == ["ProfilerActivity.CPU", "ProfilerActivity.NPU"]
    assert (common["schedule"]["active"], common["schedule"]["warmup"]) == (2, 1)
    assert not any("Level" in one or "metrics" in one for one in record["advice"])


def test_without_an_npu(recorder: Recorder, loop: Path) -> None:
    options = {"dir": str(recorder.runs), "steps": 2, "skip_first": 2, "analyse": "never"}
    hidden = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "LD_LIBRARY_PATH": ""}
    job = recorder.run(loop, json.dumps(options), fresh=True, **hidden)
    assert job.code == 0, job.out
    assert job.report["kind"] == "torch.profiler.profiler"
    (trace,) = recorder.runs.glob("*.pt.trace.json")
    names = [event.get("name") for event in json.loads(trace.read_text())["traceEvents"]]
    assert names.count("aten::mm") == 2


def test_the_environment_switches_it_on_and_off(recorder: Recorder, loop: Path) -> None:
    off = recorder.run(loop, "{}")
    assert (off.code, off.report["kind"]) == (0, "tb_npu_handler.profile")
    wanted = f"{recorder.runs};steps=1;skip_first=1;level=0;analyse=never"
    on = recorder.run(loop, "{}", TB_NPU_PROFILE=wanted)
    assert on.code == 0, on.out
    assert on.report["level"] == "Level0"
    assert on.report["captures"] == [str(path) for path in recorder.captures()]
    assert len(on.report["captures"]) == 1


def test_only_on_chosen_ranks(recorder: Recorder, loop: Path) -> None:
    options = json.dumps({"dir": str(recorder.runs), "ranks": [0, 8]})
    job = recorder.run(loop, options, RANK="3")
    assert job.report["kind"] == "tb_npu_handler.profile"
    assert not recorder.runs.exists()


def test_a_mistake_in_the_environment_records_nothing_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TB_NPU_PROFILE", "runs/a;step=3")
    assert profile.from_environment() is None
    told = capsys.readouterr().err
    assert "unknown option 'step=3'" in told
    assert "nothing is recorded" in told


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("runs/a", {"dir": "runs/a"}),
        ("s3://b/a;steps=5;stack", {"dir": "s3://b/a", "steps": 5, "stack": True}),
        ("a; shapes=0 ;ranks=0,4-6", {"dir": "a", "shapes": False, "ranks": (0, 4, 5, 6)}),
        ("a;export=text,db;level=none", {"dir": "a", "export": ("text", "db"), "level": "none"}),
    ],
)
def test_the_forms_of_the_switch(text: str, wanted: "dict[str, object]") -> None:
    assert profile.parse(text) == wanted


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="steps must be"):
        profile.npu_profile("x", steps=0)
    with pytest.raises(ValueError, match="level must be"):
        profile.npu_profile("x", level=3)
