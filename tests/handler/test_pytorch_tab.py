"""What we write opens in torch-tb-profiler 0.4.3: read by its own backend, and served by it."""

import json
import os
import shutil
import socket
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import npu_venv
import pytest
from conftest import HERE, Recorder, plain, provided, required, settled, wait_for
from tb_npu_handler import convert
from test_convert import SAMPLES


@pytest.fixture(scope="session")
def viewer() -> Path:
    python: Path = provided(npu_venv.viewer)
    return python


def as_tab(viewer: Path, *traces: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [str(viewer), str(HERE / "scripts" / "read_as_tab.py"), *map(str, traces)],
        capture_output=True,
        text=True,
        env=plain(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout.rpartition("REPORT ")[2])
    return found


@pytest.mark.slow
def test_a_recorded_host_trace_and_its_conversion(recorder: Recorder, viewer: Path) -> None:
    recorder.train(profiler="torch", switches={"record_shapes": True})
    recorder.train(options={"pytorch_trace": True}, switches={"record_shapes": True})
    (capture,) = recorder.captures()
    (export,) = settled(capture)["exports"]
    converted = (capture / export["path"]).resolve()
    (direct,) = [path for path in recorder.runs.glob("*.gz") if path != converted]
    assert export["bytes"] == converted.stat().st_size
    ours, theirs = as_tab(viewer, converted, direct)
    assert ours["steps"] == theirs["steps"] == ["1", "2"]
    for name in ("aten::linear", "aten::addmm", "aten::relu", "AddmmBackward0"):
        assert ours["calls"][name] == theirs["calls"][name] > 0
    assert {"operator", "trace"} <= set(ours["views"])


@pytest.mark.slow
def test_a_real_npu_capture_with_its_kernels(viewer: Path, tmp_path: Path) -> None:
    output = SAMPLES / "captures" / "text_level1" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    if not output.is_dir() and not required():
        pytest.skip("the sample captures are not here")
    target = tmp_path / "w.1.pt.trace.json.gz"
    convert.convert(str(output / "trace_view.json"), str(target), 0, 8)
    (found,) = as_tab(viewer, target)
    assert found["steps"] == ["50"]
    assert found["kernels"] == 187
    assert round(found["costs"]["Kernel"]) == 8874
    assert found["device_us"] > 0
    assert {"overall", "operator", "kernel", "trace", "module"} <= set(found["views"])


@pytest.mark.slow
def test_todays_tensorboard_serves_it(viewer: Path, tmp_path: Path) -> None:
    source = HERE / "data" / "host.pt.trace.json.gz"
    runs = tmp_path / "logs" / "run"
    runs.mkdir(parents=True)
    if source.exists():
        shutil.copy(source, runs / "w_1.1.pt.trace.json.gz")
    else:
        made = tmp_path / "trace_view.json"
        made.write_text(json.dumps(SMALL))
        convert.convert(str(made), str(runs / "w_1.1.pt.trace.json.gz"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(viewer), "-m", "tensorboard.main", "--logdir", str(tmp_path / "logs")]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    with open(tmp_path / "log.txt", "w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env={**plain(), **os.environ})
    try:
        base = f"http://127.0.0.1:{port}/data/plugin/pytorch_profiler"

        def ask(path: str) -> Any:
            try:
                with urllib.request.urlopen(base + path, timeout=10) as reply:
                    return json.loads(reply.read())
            except OSError:
                return None

        found = wait_for(lambda: (ask("/runs") or {}).get("runs"))
        assert found == ["run"]
        assert "Operator" in ask("/views?run=run")
        rows = ask("/operation/table?run=run&worker=w_1&span=1&group_by=Operation")["data"]
        assert {row["name"]: row["calls"] for row in rows} == {"aten::mm": 2, "aten::add": 2}
    finally:
        server.terminate()
        server.wait()


def _host(name: str, start: float, duration: float) -> dict[str, Any]:
    event = {"ph": "X", "name": name, "pid": 7, "tid": 7, "cat": "cpu_op", "args": {}}
    return dict(event, ts=f"{1736408883704643 + start:.3f}", dur=duration)


SMALL = [
    {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "Python"}},
    *[
        event
        for step in range(2)
        for event in (
            _host(f"ProfilerStep#{step}", step * 100, 90),
            _host("aten::mm", step * 100 + 5, 30),
            _host("aten::add", step * 100 + 40, 20),
        )
    ],
]
