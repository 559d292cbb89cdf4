"""tb-npu cache prune: what no description names goes, once it is old enough, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from small_captures import KERNELS, OUTPUT, STEPS, info, write_capture

from tb_npu_plugin.backend.discovery import Root, scan
from tb_npu_plugin.backend.ingest_capture import Task, ingest_capture
from tb_npu_plugin.backend.prune_store import unused
from tb_npu_plugin.backend.shared_store import open_store
from tb_npu_plugin.cli import main
from tb_npu_plugin.frames import load


def ingest(logdir: Path, store: str) -> list[str]:
    open_store(store).create()
    tasks = [Task(f, store, False, True, "400MB", 1) for f in scan([Root(logdir)]).found]
    return [ingest_capture(task).state for task in tasks]


def prune(store: str, *args: object) -> None:
    main(["cache", "prune", store, *map(str, args)])


@pytest.mark.parametrize("place", ["directory", "local://", "memory://"])
def test_only_what_nothing_names(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = {"directory": "", "local://": "local://"}.get(place, "memory:/") + f"{tmp_path}/store"
    logdir = tmp_path / "runs"
    capture = write_capture(logdir / "cap", info(0), kernel_details=KERNELS, step_trace_time=STEPS)
    assert ingest(logdir, store) == ["read"]
    assert unused(open_store(store), 0) == []
    # The file changes, so its entry is one that nothing names; that of the steps stays.
    (capture / OUTPUT / "kernel_details.csv").write_text(KERNELS + KERNELS.splitlines()[-1])
    assert ingest(logdir, store) == ["read"]
    (left,) = unused(open_store(store), 0)
    assert unused(open_store(store)) == [], "it may be of an ingest that is still running"

    def said() -> str:
        (count,) = re.findall(r"(Would remove \d|Removed \d) entries", capsys.readouterr().out)
        return str(count)

    with pytest.raises(SystemExit):
        prune(store)
    assert said() == "Removed 0"
    with pytest.raises(SystemExit):
        prune(store, "--older-than", 0, "--dry-run")
    assert said() == "Would remove 1"
    assert unused(open_store(store), 0) == [left]
    with pytest.raises(SystemExit):
        prune(store, "--older-than", 0)
    assert said() == "Removed 1"
    assert left not in list(open_store(store).entries())
    assert ingest(logdir, store) == ["there"]
    if place == "memory://":  # this process's alone
        return
    logdir.rename(tmp_path / "away")
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("TB_NPU_STORE", store)
    with load(tmp_path / "empty", cache=tmp_path / "cache") as captures:
        assert len(captures.kernels()) == 3
        assert len(captures.steps()) == 1


def test_captures_that_a_later_version_described_are_left_alone(tmp_path: Path) -> None:
    store, logdir = str(tmp_path / "store"), tmp_path / "runs"
    write_capture(logdir / "cap", info(0), kernel_details=KERNELS)
    assert ingest(logdir, store) == ["read"]
    (description,) = Path(store).glob("v1/descriptions/*.json")
    description.write_text('{"version": 99}')
    assert unused(open_store(store), 0) == []
    description.unlink()
    assert len(unused(open_store(store), 0)) == 1


def test_what_is_no_store_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "v1" / "captures" / "a" / "b").mkdir(parents=True)
    with pytest.raises(SystemExit) as end:
        prune(str(tmp_path), "--older-than", 0)
    assert end.value.code not in (0, None)
    assert (tmp_path / "v1" / "captures" / "a" / "b").is_dir()
