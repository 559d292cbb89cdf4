"""tb-npu check: no input makes it fail, and --strict goes through what a good capture holds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_captures import shared_path

from tb_npu_plugin.backend.readers.parser_logs import failed
from tb_npu_plugin.backend.views.acceptance import acceptance
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample

Opener = Callable[[Path], Captures]
#: Without them one test is left, whose fixture skips or fails it.
FOLDERS = sorted(
    f"{kind}/{path.name}"
    for kind in ("captures", "cases")
    for path in shared_path().glob(f"{kind}/*")
    if path.is_dir()
) or ["captures"]


def missed(captures: Captures) -> dict[str, set[int | None]]:
    """Point -> ranks that miss it."""
    out: dict[str, set[int | None]] = {}
    for point in acceptance(captures.select()):
        if point.status == "missed":
            out.setdefault(point.key, set()).add(point.rank)
    return out


@pytest.mark.parametrize("folder", FOLDERS)
def test_check_says_what_is_wrong_and_never_fails(
    folder: str, shared: Path, cache_dir: Path
) -> None:
    """Findings that are about a file name it, all say what to do, and nothing prints a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "tb_npu_plugin.cli", "check", str(shared / folder), "--strict", "--format",
         "json", "--cache", str(cache_dir)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr + done.stdout
    told = json.loads(done.stdout)
    for finding in told["findings"]:
        assert finding["message"], finding
        assert finding["remedy"], finding
        assert finding["code"] != "reader-failed", finding
    for point in told["points"]:
        assert point["status"] != "missed" or (point["message"] and point["remedy"]), point


def test_the_real_jobs(level1: Captures, level0: Captures, shared: Path, opened: Opener) -> None:
    assert missed(level1) == {}
    assert missed(opened(shared / "captures/db_level1")) == {}
    assert missed(level0) == {"kernels": {0, 1}, "counters": {0, 1}}


def test_a_cut_trace_alone_is_to_be_analysed_elsewhere(cases: Path, opened: Opener) -> None:
    captures = opened(cases / "C01-trace-no-closing-bracket")
    (point,) = [p for p in acceptance(captures.select()) if p.key == "trace"]
    assert point.status == "missed"
    assert "tb-npu analyse" in point.remedy
    assert "--scratch" in point.remedy


def test_what_a_capture_lacks_is_missed_by_that_rank_alone(tmp_path: Path, opened: Opener) -> None:
    write_sample(tmp_path / "job", ranks=2, steps=3, kernels_per_step=60, seed=1)
    first, second = sorted((tmp_path / "job").glob("*_ascend_pt"))
    output = first / "ASCEND_PROFILER_OUTPUT"
    (output / "communication.json").unlink()
    (output / "op_statistic.csv").unlink()
    steps = output / "step_trace_time.csv"
    steps.write_text("".join(steps.read_text().splitlines(keepends=True)[:-1]))
    (second / "logs").mkdir()
    log = second / "logs/profiler_20260101120000_7_KernelViewParser.log"
    log.write_text("[INFO] start\n[2026-01-01] [ERROR] [7] kernel_view_parser.py: no such table\n")
    captures = opened(tmp_path / "job")
    assert missed(captures) == {
        "communication": {0}, "statistics": {0}, "steps": {0}, "parsers": {1},
    }  # fmt: skip
    (point,) = [p for p in acceptance(captures.select(rank="1")) if p.key == "parsers"]
    assert point.file == "logs/profiler_20260101120000_7_KernelViewParser.log line 2"
    assert "KernelViewParser failed" in point.message


def test_a_later_analysis_of_a_parser_counts(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "profiler_20260101120000_7_TraceViewParser.log").write_text("[ERROR] disk full\n")
    assert [n.params["parser"] for n in failed(tmp_path)] == ["TraceViewParser"]
    (logs / "profiler_20260101130000_9_TraceViewParser.log").write_text("[INFO] fine\n")
    assert failed(tmp_path) == []
    shutil.rmtree(logs)
    assert failed(tmp_path) == []
