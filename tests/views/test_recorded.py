"""Findings that compare what was recorded with what was asked for, and ranks with each other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from small_captures import KERNEL_HEADER, OUTPUT, STEP_HEADER, info, write_capture

from tb_npu_plugin.backend.capture import describe
from tb_npu_plugin.backend.discovery import Root, scan
from tb_npu_plugin.backend.views.acceptance import acceptance
from tb_npu_plugin.backend.views.capabilities import capabilities
from tb_npu_plugin.backend.views.health import findings
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample

Opener = Callable[[Path], Captures]
T0 = 1_736_408_883_000_000
WINDOW = {"start_ns": T0 * 1000, "end_ns": (T0 + 9_000_000) * 1000}


def kernels(*steps: int, start: int = T0) -> str:
    """A kernel a microsecond; ``steps``: how many each step has."""
    rows, at = [], start
    for step, count in enumerate(steps, 10):
        for _ in range(count):
            rows.append(f"{step},MatMul1,MatMul,AI_CORE,{at}.000,0.5,0,8,2")
            at += 1
    return "\n".join([KERNEL_HEADER, *rows]) + "\n"


def steps(*numbers: int | str, device: int = 0) -> str:
    rows = [f"{device},{n},100,20,5,25,30,150,0,20,3" for n in numbers]
    return "\n".join([STEP_HEADER, *rows]) + "\n"


def settings(rank: int = 0, level: str = "Level1", **common: Any) -> dict[str, Any]:
    out = info(rank, level=level, **WINDOW)
    out["config"]["common_config"] = common
    return out


def codes(captures: Captures) -> list[str]:
    return list(captures.findings()["code"])


def finding(captures: Captures, code: str) -> dict[str, Any]:
    (found,) = [f for f in findings(captures.select()) if f.code == code]
    return msgspec.to_builtins(found)


# ---- options --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "config", "view", "call"),
    [
        ("shapes-off", {"common_config": {"record_shapes": False}}, "operator",
         "torch_npu.profiler.profile(..., record_shapes=True)"),
        ("stacks-off", {"common_config": {"with_stack": False}}, "operator",
         "torch_npu.profiler.profile(..., with_stack=True)"),
        ("l2-off", {"experimental_config": {"_l2_cache": False}}, "kernel",
         "torch_npu.profiler.profile(..., experimental_config=torch_npu.profiler."
         "_ExperimentalConfig(l2_cache=True))"),
        ("apis-level", {"experimental_config": {"_profiler_level": "Level0"}}, "api", "Level1"),
    ],
)  # fmt: skip
def test_options_that_were_off(
    tmp_path: Path, opened: Opener, code: str, config: dict[str, Any], view: str, call: str
) -> None:
    told = info(0)
    told["config"] = config
    write_capture(tmp_path / "cap", told, step_trace_time=steps(10), kernel_details=kernels(5))
    captures = opened(tmp_path)
    found = finding(captures, code)
    assert (found["severity"], found["views"]) == ("info", [view])
    assert call in found["remedy"]
    by_view = {c.view: c.cases[0] for c in capabilities(captures.select()) if c.cases[0].reason}
    if code == "apis-level":
        assert found["message"].split(": ")[1] in by_view["api"].reason, "the table's own words"


def test_options_that_were_on_or_unknown_say_nothing(tmp_path: Path, opened: Opener) -> None:
    write_capture(
        tmp_path / "on", settings(record_shapes=True, with_stack=True), step_trace_time=steps(10)
    )
    write_capture(tmp_path / "unknown", step_trace_time=steps(10))
    found = opened(tmp_path)
    told = [*codes(found), *found.findings(recording=found.captures[-1].recording)["code"]]
    assert not {"shapes-off", "stacks-off", "l2-off", "apis-level"} & set(told)


# ---- steps ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "active", "fewer"),
    [((10, 11), 3, True), ((10, 11, 12), 3, False), ((10, 11, 12), 2, False), (("",), 3, False)],
)
def test_fewer_steps_than_the_schedule_records(
    tmp_path: Path, opened: Opener, numbers: tuple[int, ...], active: int, fewer: bool
) -> None:
    told = settings(schedule={"active": active, "wait": 1})
    write_capture(tmp_path / "cap", told, step_trace_time=steps(*numbers))
    captures = opened(tmp_path)
    assert ("steps-fewer" in codes(captures)) == fewer
    (point,) = [p for p in acceptance(captures.select()) if p.key == "steps"]
    assert (point.status == "missed") == (len(numbers) != active or numbers == ("",))
    if fewer:
        found = finding(captures, "steps-fewer")
        assert (
            found["message"]
            == point.message
            == (f"{len(numbers)} steps on 1 device(s), the schedule records {active}.")
        )
        assert found["remedy"] == point.remedy


def test_steps_of_two_devices_count_for_each(tmp_path: Path, opened: Opener) -> None:
    told = settings(schedule={"active": 2})
    both = steps(10, 11) + steps(10, device=1).split("\n", 1)[1]
    write_capture(tmp_path / "cap", told, step_trace_time=both)
    assert "3 steps on 2 device(s)" in finding(opened(tmp_path), "steps-fewer")["message"]


def test_parts_of_a_step_that_do_not_add_up(tmp_path: Path, opened: Opener) -> None:
    broken = steps(10).replace(",150,", ",500,")
    write_capture(tmp_path / "cap", settings(), step_trace_time=broken)
    assert finding(opened(tmp_path), "step-sum")["views"] == ["step", "overview"]


@pytest.mark.parametrize(
    ("counts", "lost"),
    [((60, 100, 100, 99), True), ((100, 100, 100), False), ((60, 100), False),
     ((60, 100, 150), False), ((100, 60, 100), False), ((120, 100, 100), False)],
)  # fmt: skip
def test_kernels_lost_while_recording_began(
    tmp_path: Path, opened: Opener, counts: tuple[int, ...], lost: bool
) -> None:
    write_capture(tmp_path / "cap", settings(), kernel_details=kernels(*counts))
    captures = opened(tmp_path)
    assert ("kernels-lost" in codes(captures)) == lost
    if lost:
        found = finding(captures, "kernels-lost")
        assert found["message"].startswith(
            "The first step (10) has 60 kernels, the others 100 each"
        )
        assert found["place"] == "step 10"


# ---- ranks ----------------------------------------------------------------------------------


def test_two_captures_of_one_rank_at_one_time(tmp_path: Path, opened: Opener) -> None:
    for name in ("a", "b"):
        write_capture(tmp_path / name, settings(3), step_trace_time=steps(10))
    captures = opened(tmp_path)
    found = finding(captures, "rank-twice")
    assert "a and b are both rank 3" in found["message"] or "b and a are both" in found["message"]


def test_a_rank_recorded_again_later_is_no_conflict(tmp_path: Path, opened: Opener) -> None:
    write_capture(tmp_path / "a", info(3, T0 * 1000, T0 * 1000 + 100), step_trace_time=steps(10))
    write_capture(
        tmp_path / "b", info(3, T0 * 1000 + 99, T0 * 1000 + 300), step_trace_time=steps(10)
    )
    assert "rank-twice" not in codes(opened(tmp_path))


@pytest.mark.parametrize(
    ("moved", "told"), [(0, False), (150, False), (250, True), (-5_000_000, True)]
)
def test_clocks_that_disagree(tmp_path: Path, opened: Opener, moved: int, told: bool) -> None:
    for rank in range(3):
        start = T0 + (moved if rank == 2 else rank)
        write_capture(
            tmp_path / f"r{rank}", settings(rank), kernel_details=kernels(100, 100, start=start)
        )
    captures = opened(tmp_path)
    assert ("clocks-apart" in codes(captures)) == told
    if told:
        assert finding(captures, "clocks-apart")["message"].startswith("The kernels of ranks 2 lie")


# ---- said once, said where it holds -----------------------------------------------------------


def test_slices_of_a_table_say_it_once(tmp_path: Path, opened: Opener) -> None:
    folder = tmp_path / "out/PROF_000001_20250109080443123_ABCDEF/mindstudio_profiler_output"
    folder.mkdir(parents=True)
    for number in range(3):
        (folder / f"op_summary_slice_{number}_20250109081000.csv").write_text(
            "Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
            f"{number},2,A,MatMul,AI_CORE,1736408883704643.{number},50.5\n"
        )
    found = codes(opened(tmp_path))
    assert found.count("no-step-column") == 1


def test_raw_captures_lack_no_settings(tmp_path: Path) -> None:
    (tmp_path / "x_1_20250617064811905_ascend_pt/FRAMEWORK").mkdir(parents=True)
    (found,) = scan([Root(tmp_path)]).found
    assert [n.code for n in describe(found).notes] == ["raw-only"]


def test_static_memory_does_not_apply_without_static_graphs(tmp_path: Path, opened: Opener) -> None:
    capture = write_capture(tmp_path / "cap", settings(), step_trace_time=steps(10))
    part = {c.key: c for c in capabilities(opened(tmp_path).select())}["memory.static"]
    assert (part.status, part.cases[0].status) == ("none", "none")
    (capture / OUTPUT / "static_op_mem.csv").write_bytes(b"")
    part = {c.key: c for c in capabilities(opened(tmp_path).select())}["memory.static"]
    assert part.status == "missing", "a broken file is another matter"


def test_good_captures_say_none_of_it(tmp_path: Path, opened: Opener) -> None:
    write_sample(tmp_path / "job", ranks=2, world=2, steps=3, kernels_per_step=60)
    assert not {"steps-fewer", "kernels-lost", "rank-twice", "clocks-apart", "step-sum"} & set(
        codes(opened(tmp_path))
    )


def test_check_prints_the_parts(tmp_path: Path, cache_dir: Path) -> None:
    write_capture(tmp_path / "runs/cap", settings(), step_trace_time=steps(10))

    def check(*args: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tb_npu_plugin.cli", "check", str(tmp_path / "runs"), "--cache",
             str(cache_dir), *args], capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "memory.static" not in check()
    assert "memory.static         does not apply" in check("--parts")
    told = json.loads(check("--parts", "--format", "json"))
    assert {p["key"] for p in told["parts"][0]["parts"]} >= {"step", "kernel", "timeline"}
    assert [f["code"] for f in told["findings"]]
