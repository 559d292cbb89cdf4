"""capture.json: whole or not there, and truthful about who is at work."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from tb_npu_handler import manifest


def test_a_manifest_is_read_as_written(tmp_path: Path) -> None:
    record = manifest.new("torch_npu", job="a", rank=3, metadata={"名": 1})
    manifest.write(str(tmp_path), record)
    found = manifest.read(str(tmp_path))
    assert found is not None
    assert found == json.loads((tmp_path / "capture.json").read_text(encoding="utf-8"))
    assert (found["schema"], found["state"], found["rank"]) == (1, "recording", 3)
    assert found["keeper"] == {"host": socket.gethostname(), "pid": os.getpid()}
    assert [path.name for path in tmp_path.iterdir()] == ["capture.json"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"schema": "1"}', '{"schema": 99, "state": "complete"}', '{"schema": 1}'],
)
def test_what_is_no_manifest_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "capture.json").write_text(text)
    assert manifest.read(str(tmp_path)) is None


def test_only_one_claims_a_directory(tmp_path: Path) -> None:
    assert manifest.claim(str(tmp_path), manifest.new("torch_npu", job="a"))
    assert not manifest.claim(str(tmp_path), manifest.new("torch_npu", job="b"))
    assert (manifest.read(str(tmp_path)) or {})["job"] == "a"


def test_a_reader_never_sees_half_a_manifest(tmp_path: Path) -> None:
    """A writer replaces it as fast as it can while we read."""
    manifest.write(str(tmp_path), manifest.new("torch_npu", filler="x" * 200_000))
    script = (
        "import sys\n"
        "from tb_npu_handler import manifest\n"
        "for n in range(200):\n"
        "    manifest.write(sys.argv[1], manifest.new('torch_npu', filler=str(n % 10) * 200_000))\n"
    )
    env = dict(os.environ, PYTHONPATH=str(ROOT / "handler"))
    writer = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], env=env)
    seen = 0
    while writer.poll() is None:
        found = manifest.read(str(tmp_path))
        assert found is not None
        assert len(set(found["filler"])) == 1
        seen += 1
    assert writer.returncode == 0
    assert seen > 1


def test_interrupted_means_that_nobody_is_at_work(tmp_path: Path) -> None:
    manifest.write(str(tmp_path), manifest.new("torch_npu"))
    mine = manifest.read(str(tmp_path)) or {}
    assert not manifest.is_interrupted(mine)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    gone = dict(mine, keeper={"host": socket.gethostname(), "pid": ended.pid})
    assert manifest.is_interrupted(gone)
    assert not manifest.is_interrupted(dict(gone, state="complete"))
    assert manifest.is_interrupted(dict(mine, keeper=None))


def test_on_another_host_only_a_stale_analysis_is_interrupted(tmp_path: Path) -> None:
    now = time.time_ns()
    there = {"host": "elsewhere", "pid": 1}
    fresh = manifest.new("torch_npu", state="analysing", keeper=there, updated_ns=now)
    assert not manifest.is_interrupted(fresh, now)
    later = now + int((manifest.STALE_S + 1) * 1e9)
    assert manifest.is_interrupted(fresh, later)
    assert not manifest.is_interrupted(dict(fresh, state="recording"), later)


def test_a_trace_has_its_manifest_beside_it(tmp_path: Path) -> None:
    trace = str(tmp_path / "w.1.pt.trace.json.gz")
    manifest.write(trace, manifest.new("torch"))
    assert (tmp_path / "w.1.capture.json").exists()
    assert (manifest.read(trace) or {})["kind"] == "torch"
    assert (manifest.read(str(tmp_path / "w.1.pt.trace.json")) or {})["kind"] == "torch"


def test_the_list_of_files_follows_no_links(tmp_path: Path) -> None:
    capture = tmp_path / "c"
    (capture / "FRAMEWORK").mkdir(parents=True)
    (capture / "FRAMEWORK" / "a").write_bytes(b"12345")
    (capture / "loop").symlink_to(capture)
    manifest.write(str(capture), manifest.new("torch_npu"))
    found = {entry["path"]: entry["bytes"] for entry in manifest.list_files(str(capture))}
    assert found == {"FRAMEWORK/a": 5}
