"""The real TensorBoard with the real plugin, on 127.0.0.1."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from reading_processes import workers_of
from small_captures import KERNELS, OUTPUT, STEPS, info, write_capture

from tb_npu_plugin.cli import main
from tb_npu_plugin.sample import write_sample

START_SECONDS = 90
PLUGIN = "data/plugin/npu_profiler"


class Board:
    """A running TensorBoard: ``get`` answers from it, ``log`` is what it wrote so far."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, log: Path) -> None:
        self.process, self.url, self._log = process, url, log

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=30) as response:
            self.headers = response.headers
            body = response.read()
        return json.loads(body) if "json" in response.headers["Content-Type"] else body

    def until(self, path: str, happens: Callable[[Any], Any]) -> Any:
        """Ask until ``happens(answer)``."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            assert self.process.poll() is None, self.log
            try:
                answer = self.get(path)
                if happens(answer):
                    return answer
            except (urllib.error.URLError, ConnectionError):
                answer = None
            assert time.monotonic() < deadline, (answer, self.log)
            time.sleep(0.1)


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Callable[..., Board]]:
    """Start TensorBoard with flags; the code ``before`` runs in its process first."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*flags: str, prefix: str = "", before: str = "") -> Board:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        log = tmp_path / f"tensorboard{len(running)}.log"
        code = f"{before}\nimport sys; from tensorboard.main import run_main; sys.exit(run_main())"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-c", code, "--host", "127.0.0.1", "--port", str(port), *flags],
                stdout=out, stderr=out, cwd=tmp_path,
                env={**os.environ, "TB_NPU_CACHE": str(tmp_path / "cache"), "TB_NPU_WORKERS": "1",
                     "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            )  # fmt: skip
        running.append(process)
        found = Board(process, f"http://127.0.0.1:{port}{prefix}/", log)
        found.until("data/plugins_listing", lambda listing: listing)
        return found

    yield start
    for process in running:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def test_a_logdir_from_empty_to_shown(board: Callable[..., Board], tmp_path: Path) -> None:
    logdir = tmp_path / "runs"
    logdir.mkdir()
    found = board("--logdir", str(logdir))
    listing = found.until(
        "data/plugins_listing", lambda answer: not answer["npu_profiler"]["enabled"]
    )
    assert listing["npu_profiler"]["tab_name"] == "Ascend NPU"
    assert listing["npu_profiler"]["loading_mechanism"]["type"] == "IFRAME"
    cap = write_capture(logdir / "job/cap", info(0), kernel_details=KERNELS, step_trace_time=STEPS)
    (cap / OUTPUT / "analyse.done").touch()  # or it counts as being written for ten seconds
    found.until("data/plugins_listing", lambda answer: answer["npu_profiler"]["enabled"])
    found.until(f"{PLUGIN}/progress", lambda answer: answer["data"]["state"] == "idle")
    reply = found.get(f"{PLUGIN}/step")
    assert reply["meta"]["selection"]["run"] == "job"
    assert reply["data"]["table"]["values"]["stage_ns"] == [150e3]
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    for route in ("captures", "overview", "kernel", "health", "files", "kernel?format=csv"):
        found.get(f"{PLUGIN}/{route}")
    with pytest.raises(urllib.error.HTTPError) as caught:
        found.get(f"{PLUGIN}/overview?run=nope")
    assert caught.value.code == 404
    caught.value.close()
    with pytest.raises(urllib.error.HTTPError) as caught:
        found.get(f"{PLUGIN}/static/..%2fplugin.py")
    caught.value.close()
    complaints = [n for n in found.log.splitlines()
                  if "WARNING" in n.upper() or "ERROR" in n.upper() or "Traceback" in n]  # fmt: skip
    ours = [n for n in complaints if "npu" in n.lower() or "header" in n.lower() or "CSP" in n]
    assert not ours, ours


def test_logdir_spec_names_runs_and_path_prefix_moves_everything(
    board: Callable[..., Board], tmp_path: Path
) -> None:
    for name in ("x", "y"):
        write_capture(tmp_path / name / "cap", info(0), step_trace_time=STEPS)
    found = board(
        "--logdir_spec", f"first:{tmp_path}/x,second:{tmp_path}/y", "--path_prefix", "/deep/er",
        "--npu_cache", str(tmp_path / "own"), "--npu_workers", "1", "--npu_memory", "300MB",
        prefix="/deep/er",
    )  # fmt: skip
    captures = found.until(f"{PLUGIN}/captures", lambda answer: len(answer["data"]["runs"]) == 2)
    assert [r["run"] for r in captures["data"]["runs"]] == ["first", "second"]
    found.until(f"{PLUGIN}/progress", lambda answer: answer["data"]["state"] == "idle")
    assert found.get(f"{PLUGIN}/step?run=second")["data"]["table"]["total"] == 1
    assert list((tmp_path / "own").rglob("done.json"))
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("remote", [False, True])
def test_a_store_is_shown_without_raw_files(
    board: Callable[..., Board], tmp_path: Path, remote: bool
) -> None:
    logdir, store = tmp_path / "runs", tmp_path / "store"
    write_sample(logdir / "job", ranks=2, steps=2, kernels_per_step=20)
    with pytest.raises(SystemExit, match="0"):
        main(["ingest", str(logdir), "--store", str(store), "--workers", "1"])
    shutil.rmtree(logdir)
    (tmp_path / "empty").mkdir()
    before = f"import os; os.environ['TB_NPU_STORE'] = 'local://{store}'" if remote else ""
    found = board("--logdir", str(tmp_path / "empty" if remote else store), before=before)
    captures = found.until(f"{PLUGIN}/captures", lambda answer: answer["data"]["runs"])
    (recording,) = captures["data"]["runs"][0]["recordings"]
    assert [c["state"] for c in recording["captures"]] == ["ready", "ready"]
    for route in ("overview", "step", "kernel", "ranks", "timeline", "files"):
        reply = found.until(f"{PLUGIN}/{route}", lambda r: r["meta"]["state"] == "ready")
        assert reply["data"], route
    tracks = [t["id"] for t in found.get(f"{PLUGIN}/timeline")["data"]["tracks"]]
    assert tracks
    files = found.get(f"{PLUGIN}/files")["data"]
    assert set(files["table"]["values"]["state"]) == {"read", "not read"}, "those without a reader"
    assert str(store) in files["settings"][0]["value"]
    codes = [f["code"] for f in found.get(f"{PLUGIN}/health")["data"]["findings"]]
    assert not {"store-unreachable", "file-unreadable", "not-in-store"} & set(codes)
    assert "Traceback" not in found.log


def test_a_missing_dependency_does_not_stop_tensorboard(
    board: Callable[..., Board], tmp_path: Path
) -> None:
    write_capture(tmp_path / "runs/cap", info(0), step_trace_time=STEPS)
    found = board(
        "--logdir", str(tmp_path / "runs"), before="import sys; sys.modules['duckdb'] = None"
    )
    assert "scalars" in found.get("data/plugins_listing")
    assert found.process.poll() is None
    assert "duckdb" in found.log, "it says why the tab is empty"


def test_settings_that_make_no_sense_do_not_stop_the_tab(
    board: Callable[..., Board], tmp_path: Path
) -> None:
    write_capture(tmp_path / "runs/cap", info(0), step_trace_time=STEPS)
    (tmp_path / "blocked").write_text("")
    found = board(
        "--logdir", str(tmp_path / "runs"), "--npu_workers=-3", "--npu_memory", "much",
        "--npu_cache", str(tmp_path / "blocked"),
    )  # fmt: skip
    found.until(f"{PLUGIN}/progress", lambda answer: answer["data"]["state"] == "idle")
    assert found.get(f"{PLUGIN}/step")["data"]["table"]["total"] == 1
    codes = [f["code"] for f in found.get(f"{PLUGIN}/health")["data"]["findings"]]
    assert "cache-temporary" in codes


def test_a_killed_server_leaves_no_worker(board: Callable[..., Board], tmp_path: Path) -> None:
    rows = KERNELS + "10,x,T,AI_CORE,99\t,1,0,8,2\r\n" * 1_500_000
    write_capture(tmp_path / "runs/cap", info(0), kernel_details=rows)
    found = board("--logdir", str(tmp_path / "runs"))
    deadline = time.monotonic() + START_SECONDS
    workers: list[Any] = []
    while not workers:
        assert time.monotonic() < deadline, found.log
        workers = workers_of(found.process.pid)
    found.process.kill()
    found.process.wait()
    gone, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive
    assert gone
