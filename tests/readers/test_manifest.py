"""capture.json: the handler's word on a capture, where it recorded it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_captures import KERNELS, STEPS, info, write_capture

from tb_npu_plugin.backend.readers import manifest
from tb_npu_plugin.frames import Captures, load


def tell(capture: Path, **fields: Any) -> Path:
    """Write a manifest into ``capture``."""
    told = {"schema": 1, "kind": "torch_npu", "state": "complete", "stage": "done", **fields}
    capture.mkdir(parents=True, exist_ok=True)
    (capture / manifest.NAME).write_text(json.dumps(told))
    return capture


def ended_pid() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def keeper(pid: int, host: str | None = None) -> dict[str, Any]:
    return {"host": host or socket.gethostname(), "pid": pid}


def test_rank_worker_and_world_are_taken_from_it(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    for rank in (0, 1):
        capture = write_capture(tmp_path / f"x{rank}", step_trace_time=STEPS)
        tell(capture, rank=rank, world_size=4, worker=f"decode_{rank}", job="j", cycle=0)
    captures = opened(tmp_path)
    assert [(c.rank, c.worker) for c in captures] == [(0, "decode_0"), (1, "decode_1")]
    found = captures.findings().set_index("code")
    assert found.loc["ranks-missing", "message"].startswith("2 of 4 ranks")


def test_a_rank_that_disagrees_is_a_finding(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    tell(write_capture(tmp_path / "x", info(rank=3), step_trace_time=STEPS), rank=2)
    captures = opened(tmp_path)
    assert captures.captures[0].rank == 2
    assert "rank-conflict" in captures.findings()["code"].tolist()


def test_cycles_of_one_job_are_recordings(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    for cycle in (0, 1):
        for rank in (0, 1):
            tell(write_capture(tmp_path / f"c{cycle}r{rank}", step_trace_time=STEPS), rank=rank,
                 job="train-7", cycle=cycle)  # fmt: skip
    assert len({c.recording for c in opened(tmp_path)}) == 2


@pytest.mark.parametrize("state", ["recording", "analysing"])
def test_its_process_is_gone(
    tmp_path: Path, opened: Callable[[Path], Captures], state: str
) -> None:
    tell(tmp_path / "x", state=state, stage=state, keeper=keeper(ended_pid()))
    found = opened(tmp_path).findings().set_index("code")
    assert found.loc["interrupted", "severity"] == "error"
    assert found.loc["interrupted", "remedy"].startswith("tb-npu analyse ")


def test_its_process_is_at_work(tmp_path: Path, cache_dir: Path) -> None:
    capture = write_capture(tmp_path / "x", kernel_details=KERNELS)
    tell(capture, state="analysing", keeper=keeper(os.getpid()))
    with load(tmp_path, cache=cache_dir) as captures:
        assert "growing" in captures.findings()["code"].tolist()


def test_a_failure_is_told_with_its_reason(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    tell(write_capture(tmp_path / "x", step_trace_time=STEPS), state="failed",
         reason="The disk is full.", errors=[{"where": "TraceParser", "message": "no space"}])  # fmt: skip
    message = opened(tmp_path).findings().set_index("code").loc["recording-failed", "message"]
    assert "The disk is full." in message
    assert "TraceParser: no space" in message


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"schema": 2, "state": "complete"}', b'{"schema": 1, "state": "??"}',
     b'{"schema": "1", "state": "complete"}', b"\xff\xfe"],
)  # fmt: skip
def test_what_is_no_manifest_counts_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / manifest.NAME).write_bytes(content)
    assert manifest.read(tmp_path) is None


def test_odd_fields_are_unknown(tmp_path: Path) -> None:
    told = tell(tmp_path / "x", rank="3", world_size=True, errors={"a": 1}, keeper=[], cycle=1.5)
    found = manifest.read(told)
    assert found is not None
    assert (found.rank, found.world_size, found.cycle, found.errors) == (None, None, None, ())
