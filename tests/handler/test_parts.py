"""The handler's smaller parts, each by itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, wait_for
from tb_npu_handler import (
    advice,
    compact,
    identity,
    manifest,
    options,
    pairs,
    place,
    retention,
    slots,
    supervise,
    verify,
)


def test_importing_takes_the_standard_library_only() -> None:
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "import tb_npu_handler\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "foreign = new - set(sys.stdlib_module_names) - {'tb_npu_handler'}\n"
        "assert not foreign, foreign\n"
    )
    env = dict(os.environ, PYTHONPATH=str(ROOT / "handler"))
    subprocess.run([sys.executable, "-S", "-c", code], env=env, check=True)


# identity --------------------------------------------------------------------------------------


@pytest.fixture
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in list(os.environ):
        if name.startswith(
            ("SLURM", "OMPI", "PMI", "TORCHELASTIC", "PBS", "LSB", "RANK", "MASTER")
        ):
            monkeypatch.delenv(name)
    for name in ("TB_NPU_JOB", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_rank_from_each_launcher(no_launcher: pytest.MonkeyPatch) -> None:
    assert identity.rank_of() is None
    no_launcher.setenv("SLURM_PROCID", "5")
    assert identity.rank_of() is None, "a single task of Slurm has no rank"
    no_launcher.setenv("SLURM_NTASKS", "8")
    assert identity.rank_of() == 5
    no_launcher.setenv("OMPI_COMM_WORLD_RANK", "6")
    assert identity.rank_of() == 6
    no_launcher.setenv("RANK", "7")
    assert identity.rank_of() == 7
    no_launcher.setenv("RANK", "none")
    assert identity.rank_of() == 6


def test_job_is_equal_on_all_ranks_and_new_for_a_restart(no_launcher: pytest.MonkeyPatch) -> None:
    assert identity.job_of()[1] == "process"
    no_launcher.setenv("MASTER_ADDR", "10.0.0.1")
    no_launcher.setenv("MASTER_PORT", "29500")
    no_launcher.setenv("WORLD_SIZE", "16")
    assert identity.job_of() == ("10.0.0.1-29500", "MASTER_ADDR")
    no_launcher.setenv("LOCAL_WORLD_SIZE", "16")
    assert identity.job_of()[1] == "launcher"
    no_launcher.setenv("TORCHELASTIC_RUN_ID", "none")
    assert identity.job_of()[1] == "launcher"
    no_launcher.setenv("TORCHELASTIC_RUN_ID", "exp 7")
    assert identity.job_of() == ("exp_7", "TORCHELASTIC_RUN_ID")
    no_launcher.setenv("TORCHELASTIC_RESTART_COUNT", "2")
    assert identity.job_of()[0] == "exp_7.restart2"


@pytest.mark.parametrize(
    ("name", "rank", "worker"),
    [
        ("prefill", None, "prefill"),
        ("prefill", 3, "prefill_rank3"),
        ("worker_3", 3, "worker_3"),
        ("worker_13", 3, "worker_13_rank3"),
        ("worker_003", 3, "worker_003"),
        ("a/b: c\u00e9训", 0, "a_b__c_训_rank0"),
    ],
)
def test_worker_names(name: str, rank: "int | None", worker: str) -> None:
    assert identity.worker_of(name, rank) == worker


def test_a_name_is_never_too_long_or_hidden() -> None:
    assert len(identity.safe_name("训" * 400).encode()) <= identity.NAME_LIMIT
    assert identity.safe_name("..hidden") == "hidden"
    assert identity.safe_name("") == "worker"


# options ---------------------------------------------------------------------------------------


def parsed(**changed: object) -> options.Options:
    plain: dict[str, object] = {
        "analyse": "background",
        "export": None,
        "compact": False,
        "keep": None,
        "min_free_gb": 2.0,
        "timeout_s": 1800,
        "pytorch_trace": "auto",
        "metadata": None,
        "on_error": "warn",
    }
    return options.parse(**{**plain, **changed})  # type: ignore[arg-type]


def test_options_survive_the_way_through_the_manifest() -> None:
    made = parsed(export="db", compact=True, keep=3, min_free_gb=0.5, pytorch_trace=True)
    again = options.from_request(dict(made.request(), analyse=True, target=None, later="?"))
    assert again.request() == made.request()
    assert again.min_free_bytes == 500_000_000


def test_which_ranks_are_analysed() -> None:
    assert parsed().analyses(None)
    assert not parsed(analyse="never").analyses(0)
    assert [parsed(analyse=[0, 2]).analyses(rank) for rank in (None, 0, 1, 2)] == [
        True,
        True,
        False,
        True,
    ]


# advice ----------------------------------------------------------------------------------------


def test_advice_names_the_setting_to_change() -> None:
    config = {
        "common_config": {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"]},
        "experimental_config": {"_profiler_level": "Level0", "_aic_metrics": "ACL_AICORE_NONE"},
    }
    (told,) = advice.of_settings(config, True)
    assert "Level0 was recorded" in told
    assert "ProfilerLevel.Level1" in told
    config["experimental_config"]["_profiler_level"] = "Level1"
    (told,) = advice.of_settings(config, True)
    assert "no AI Core metrics" in told
    config["experimental_config"]["_aic_metrics"] = "ACL_AICORE_PIPE_UTILIZATION"
    assert advice.of_settings(config, True) == []


def test_steps_that_a_schedule_needs() -> None:
    def action(step: int) -> str:
        return "ProfilerAction.RECORD_AND_SAVE" if step == 7 else "ProfilerAction.RECORD"

    assert advice.steps_needed(action, 3) == 8
    assert advice.of_window(action, 3, ended_by_stop=False) == []
    assert "called 3 times, the schedule needs 8" in advice.of_window(action, 3, True)[0]


# pairs and place -------------------------------------------------------------------------------


def test_known_bad_pairs() -> None:
    assert pairs.pair_problem("2.13.0+cpu", "2.13.0") is None
    assert pairs.pair_problem("2.7.1", "2.7.1.post2") is None
    assert pairs.pair_problem(None, "2.7.1") is None
    assert "built for torch 2.12.0" in (pairs.pair_problem("2.13.0", "2.12.0.post3") or "")
    assert pairs.tensorboard_problem("2.16.2", "82.0.1")
    assert pairs.tensorboard_problem("2.16.2", "81.0") is None
    assert pairs.tensorboard_problem("2.21.0", "84.2.1") is None
    assert pairs.numpy_problem("2.1.0", "2.0.1")
    assert pairs.numpy_problem("2.1.0", "1.26.4") is None


def test_a_place_that_cannot_be_written_is_staged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TB_NPU_STAGING", str(tmp_path / "staging"))
    assert place.choose(str(tmp_path / "a")) == place.Place(str(tmp_path / "a"))
    (tmp_path / "file").write_text("")
    blocked = str(tmp_path / "file" / "runs")
    found = place.choose(blocked)
    assert found.target == blocked
    assert Path(found.folder).parent == tmp_path / "staging"
    assert "cannot record in" in capsys.readouterr().err
    remote = place.choose("s3://bucket/runs")
    assert remote.target == "s3://bucket/runs"
    assert remote.folder != found.folder


# supervise and slots ---------------------------------------------------------------------------


def python(code: str) -> "list[str]":
    return [sys.executable, "-c", code]


def test_a_command_runs_to_its_end() -> None:
    limits = supervise.Limits(timeout_s=30)
    outcome = supervise.run(python("print('done'); raise SystemExit(3)"), limits)
    assert (outcome.code, outcome.stopped, outcome.output.strip()) == (3, None, "done")


def test_a_limit_ends_the_whole_group(tmp_path: Path) -> None:
    """The command's own child, deaf to SIGTERM, must not stay behind."""
    mark = tmp_path / "pid"
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n"
        f"    open({str(mark)!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(600)\n"
    )
    outcome = supervise.run(python(code), supervise.Limits(timeout_s=1.5))
    assert outcome.stopped == "timeout"
    child = int(mark.read_text())
    wait_for(lambda: not manifest._alive(child), 20)


def test_memory_of_the_whole_session_counts() -> None:
    code = "import os, time\nos.fork()\nblock = bytearray(60_000_000)\ntime.sleep(600)\n"
    limits = supervise.Limits(timeout_s=60, memory_bytes=100_000_000)
    assert supervise.run(python(code), limits).stopped == "memory"


def test_a_disk_that_fills_up_stops_the_work(tmp_path: Path) -> None:
    limits = supervise.Limits(timeout_s=60, free_bytes=1 << 60, folder=str(tmp_path))
    assert supervise.run(python("import time; time.sleep(600)"), limits).stopped == "disk"


def test_one_at_a_time_on_a_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TB_NPU_STAGING", str(tmp_path))
    with slots.alone(str(tmp_path / "c")) as first:
        assert first
        code = (
            "import sys\n"
            "from tb_npu_handler import slots\n"
            "with slots.alone(sys.argv[1]) as mine: print(mine)\n"
            "with slots.alone(sys.argv[1] + 'x') as mine: print(mine)\n"
        )
        env = dict(os.environ, PYTHONPATH=str(ROOT / "handler"))
        command = [sys.executable, "-c", code, str(tmp_path / "c")]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["False", "True"]
    with slots.alone(str(tmp_path / "c")) as again:
        assert again


def test_slots_of_a_host_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TB_NPU_STAGING", str(tmp_path))
    monkeypatch.setenv("TB_NPU_SLOTS", "1")
    with slots.turn():
        code = (
            "from tb_npu_handler import slots\n"
            "with slots.turn(lambda: print('waits', flush=True)): print('in')\n"
        )
        env = dict(os.environ, PYTHONPATH=str(ROOT / "handler"))
        other = subprocess.Popen(
            [sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True
        )
        assert other.stdout is not None
        assert other.stdout.readline() == "waits\n"
    assert other.communicate()[0].split()[-1] == "in"


# verify, retention, compact --------------------------------------------------------------------


def test_errors_are_found_in_what_torch_npu_prints() -> None:
    text = (
        "[2026-01-02 03:04:05] [INFO] [7] profiler.py: Start parsing\n"
        "[2026-01-02 03:04:05] [ERROR] [7] profiler.py: Failed to parse trace\n"
        "2026-01-02 03:04:05 [ERROR] [7] profiler.py: older form\n"
        "[2026-01-02 03:04:05] [ERROR] [7] profiler.py: ProfilerActivity.NPU is set in activities, "
        "but CANN Profiling data does not exist.\n"
    )
    errors, warnings = verify.messages(text)
    assert [one["message"] for one in errors] == ["Failed to parse trace", "older form"]
    assert len(warnings) == 1


def test_an_error_in_a_parsers_log_comes_with_its_exception(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "profiler_20260102_1_TraceViewParser.log").write_text(
        "[2026-01-02-03:04:05.1] [INFO] [AscendProfiler_TraceViewParser:53] start.\n"
        "[2026-01-02-03:04:05.2] [ERROR] [AscendProfiler_TraceViewParser:66] Failed to generate\n"
        "Traceback (most recent call last):\n"
        '  File "x.py", line 1, in run\n'
        "KeyError: 'ts'\n"
        "[2026-01-02-03:04:05.3] [INFO] [AscendProfiler_TraceViewParser:68] end.\n"
    )
    (found,) = verify.log_errors(str(tmp_path), 0)
    assert found == {"where": "TraceViewParser", "message": "Failed to generate: KeyError: 'ts'"}


def test_device_data_without_a_single_csv_looks_like_a_bad_mount(tmp_path: Path) -> None:
    (tmp_path / "PROF_000001_20250101000000000_ABCD").mkdir()
    output = tmp_path / "ASCEND_PROFILER_OUTPUT"
    output.mkdir()
    (output / "trace_view.json").write_text("[]")
    assert verify.looks_like_bad_mount(str(tmp_path))
    (output / "kernel_details.csv").write_text("Name\n")
    assert not verify.looks_like_bad_mount(str(tmp_path))


def test_removing_a_capture_never_leaves_its_folder(tmp_path: Path) -> None:
    """A manifest is a file like any other: what it lists outside is not deleted."""
    outside = tmp_path / "precious.txt"
    outside.write_text("x")
    runs = tmp_path / "runs"
    capture = runs / "w_1_20260101000000000_ascend_pt"
    (capture / "FRAMEWORK").mkdir(parents=True)
    record = manifest.new(
        "torch_npu",
        files=[{"path": "../../precious.txt", "bytes": 1}, {"path": str(outside), "bytes": 1}],
    )
    manifest.write(str(capture), record)
    retention.remove(str(capture), record)
    assert outside.exists()
    assert not capture.exists()


def test_packing_that_fails_leaves_the_source(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("x")
    with pytest.raises(OSError, match="missing"):
        compact.pack(str(source), str(tmp_path / "missing" / "a.csv.gz"))
    assert source.read_text() == "x"
