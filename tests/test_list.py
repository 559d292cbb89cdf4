"""tb-npu list: how far each capture has come, and the command that brings it further."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_captures import KERNELS, OUTPUT, STEPS, info, write_capture

from tb_npu_plugin.cli import main

PROF = "PROF_000001_20250109080443123_ABCDEF"


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    """A capture of every condition."""
    write_capture(tmp_path / "a_analysed", info(0), step_trace_time=STEPS, kernel_details=KERNELS)
    for name in ("b raw_1_20250617064811905_ascend_pt", "c_2_20250617064811905_ascend_ms"):
        (tmp_path / name / "FRAMEWORK").mkdir(parents=True)
    (tmp_path / "d" / PROF / "host").mkdir(parents=True)
    (tmp_path / "d" / PROF.replace("1_", "2_", 1) / "host").mkdir(parents=True)
    done = write_capture(tmp_path / "e_incomplete", info(3), step_trace_time=STEPS)
    (done / OUTPUT / "analyse.done").touch()
    exported = tmp_path / "f" / PROF / "mindstudio_profiler_output"
    exported.mkdir(parents=True)
    (exported / "op_summary_20250109081000.csv").write_text("Op Name,OP Type\nA,Add\n")
    (tmp_path / "g.pt.trace.json").write_text('{"traceEvents": []}')
    told = {
        "schema": 1,
        "kind": "torch_npu",
        "state": "failed",
        "stage": "analyse",
        "reason": "disk full",
    }
    failed = write_capture(tmp_path / "h_failed", info(4))
    (failed / "capture.json").write_text(json.dumps(told))
    return tmp_path


def listed(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["list", *args])
    assert end.value.code == 0
    return capsys.readouterr().out


def test_every_condition_and_its_command(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(listed(capsys, str(logdir), "--format", "json"))
    found = {Path(r["path"]).relative_to(logdir).as_posix(): r for r in rows}
    assert {name: (r["state"], r["sources"]) for name, r in found.items()} == {
        "a_analysed": ("analysed", "text"),
        "b raw_1_20250617064811905_ascend_pt": ("raw", ""),
        "c_2_20250617064811905_ascend_ms": ("raw", ""),
        f"d/{PROF}": ("raw", ""),
        f"d/{PROF.replace('1_', '2_', 1)}": ("raw", ""),
        "e_incomplete": ("incomplete", "text"),
        "f": ("exported", "msprof"),
        "g.pt.trace.json": ("trace", "torch"),
        "h_failed": ("failed", ""),
    }
    torch = "python3 -c 'import sys; from torch_npu.profiler.profiler import analyse; analyse(sys.argv[1])'"
    assert found["b raw_1_20250617064811905_ascend_pt"]["remedy"] == (
        f"{torch} '{logdir}/b raw_1_20250617064811905_ascend_pt'"
    )
    assert found["c_2_20250617064811905_ascend_ms"]["remedy"].startswith(
        "python3 -c 'import sys; from mindspore"
    )
    assert found[f"d/{PROF}"]["remedy"] == f"msprof --export=on --output={logdir}/d/{PROF}"
    assert found["h_failed"]["remedy"] == f"tb-npu analyse {logdir}/h_failed"
    assert found["a_analysed"]["remedy"] == ""


def test_for_people_and_spreadsheets(logdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = listed(capsys, str(logdir))
    assert "Recorded but not analysed" in text
    assert f"→ msprof --export=on --output={logdir}/d/{PROF}" in text
    assert "已采集但未解析" in listed(capsys, str(logdir), "--lang", "zh")
    header, *rows = listed(capsys, str(logdir), "--format", "csv").splitlines()
    assert header == "run,recording,rank,level,state,sources,path,remedy"
    assert len(rows) == 9
