"""The doctor's checks, each seen in health and in sickness."""

import os
import shutil
from pathlib import Path

import pytest
from conftest import Recorder
from tb_npu_handler import doctor


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in (
        "ASCEND_HOME_PATH",
        "ASCEND_TOOLKIT_HOME",
        "PROFILING_MODE",
        "PROFILER_SAMPLECONFIG",
    ):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def found(logdir: "str | None" = None) -> dict[str, doctor.Check]:
    return {check.name: check for check in doctor.examine(logdir)}


def test_every_check_that_is_not_ok_has_a_remedy(clean: pytest.MonkeyPatch, tmp_path: Path) -> None:
    checks = doctor.examine(str(tmp_path))
    assert len({check.name for check in checks}) == len(checks) >= 10
    for check in checks:
        assert check.status in ("ok", "warn", "fail")
        assert check.detail
        assert check.status == "ok" or check.remedy


def test_cann_is_found_by_its_version_file(clean: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert found()["cann"].status != "ok"
    clean.setenv("ASCEND_HOME_PATH", str(tmp_path))
    (tmp_path / "ascend_toolkit_install.info").write_text("package_name=x\nversion=8.2.RC1\n")
    assert found()["cann"] == doctor.Check("cann", "ok", f"8.2.RC1 in {tmp_path}")
    clean.setenv("ASCEND_HOME_PATH", str(tmp_path / "gone"))
    assert found()["cann"].status == "fail"


def test_msprof_on_the_path(clean: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clean.setenv("PATH", str(tmp_path))
    assert found()["msprof"].status != "ok"
    tool = tmp_path / "msprof"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert found()["msprof"] == doctor.Check("msprof", "ok", str(tool))


def test_variables_that_switch_the_profiler_off(clean: pytest.MonkeyPatch) -> None:
    assert found()["environment"].status == "ok"
    clean.setenv("PROFILING_MODE", "dynamic")
    assert found()["environment"].remedy == "unset PROFILING_MODE"


def test_a_logdir_that_can_and_one_that_cannot_be_written(tmp_path: Path) -> None:
    assert found(str(tmp_path / "new"))["logdir"].status == "ok"
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "file").write_text("")
    assert found(str(tmp_path / "file" / "runs"))["logdir"].status == "fail"
    assert (
        shutil.disk_usage(tmp_path).free / 1e9 > 2 or found(str(tmp_path))["space"].status == "fail"
    )


def test_in_an_environment_that_records(recorder: Recorder, tmp_path: Path) -> None:
    script = tmp_path / "examine.py"
    script.write_text(
        "import dataclasses, json\n"
        "from tb_npu_handler import doctor\n"
        "all = {one.name: dataclasses.asdict(one) for one in doctor.examine()}\n"
        "print('REPORT ' + json.dumps(all))\n"
    )
    job = recorder.run(script, PATH=os.environ["PATH"])
    assert job.code == 0, job.out
    assert job.report["torch_npu"]["detail"] == "2.13.0"
    assert job.report["torch"]["status"] == "ok"
    assert job.report["msprof"]["status"] == "fail"
    assert job.report["cann"]["status"] == "fail"
