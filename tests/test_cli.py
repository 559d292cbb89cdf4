"""tb-npu: exit codes, formats, odd terminals, closed pipes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from small_captures import KERNEL_HEADER, KERNELS, STEPS, info, write_capture

from tb_npu_plugin import __version__
from tb_npu_plugin.backend.i18n import Lang
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.ranks import ranks
from tb_npu_plugin.backend.views.registry import VIEWS
from tb_npu_plugin.cli import main
from tb_npu_plugin.frames import load
from tb_npu_plugin.terminal import show_view

Run = Callable[..., "Result"]


class Result:
    """``code``, ``out`` and ``err`` of one call."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.out)))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], kept: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call the command in this process."""
    monkeypatch.setenv("TB_NPU_CACHE", str(kept))
    monkeypatch.setenv("TB_NPU_WORKERS", "1")

    def call(*args: object) -> Result:
        capsys.readouterr()
        try:
            code = main([str(a) for a in args])
        except SystemExit as end:
            code = end.code
        captured = capsys.readouterr()
        return Result(int(code or 0), captured.out, captured.err)

    return call


def process(*args: object, cache: Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "tb_npu_plugin.cli", *map(str, args)],
        capture_output=True, timeout=120, check=False,
        env={**os.environ, "TB_NPU_CACHE": str(cache), "TB_NPU_WORKERS": "1", **environ},
    )  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that the tests of this module share."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A logdir of one capture; only to be looked at."""
    runs = tmp_path_factory.mktemp("runs")
    write_capture(runs / "cap", info(0), kernel_details=KERNELS, step_trace_time=STEPS)
    return runs


# ---- exit codes -----------------------------------------------------------------------------


def test_version(run: Run) -> None:
    result = run("--version")
    assert (result.code, result.out) == (0, f"tb-npu {__version__}\n")


@pytest.mark.parametrize(
    "args",
    [["nope"], ["show"], ["show", "nope", "."], ["--log-level", "loud", "list", "."],
     ["show", "kernel", ".", "--limit", "0"], ["show", "kernel", ".", "--format", "xml"],
     ["list"], ["sample"]],
)  # fmt: skip
def test_wrong_usage_is_2(run: Run, args: list[str]) -> None:
    assert run(*args).code == 2


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["--rank", "x"], "rank cannot be 'x'"),
        (["--filter", "nope>1"], "no column 'nope'"),
        (["--sort", "name:up"], "Cannot sort"),
        (["--group", "colour"], "cannot be grouped"),
        (["--step", "1-"], "step cannot be"),
        (["--source", "nope"], "no source"),
    ],
)
@pytest.mark.parametrize("format", ["table", "csv", "json"])
def test_a_bad_request_is_2_and_says_why(
    run: Run, job: Path, args: list[str], word: str, format: str
) -> None:
    result = run("show", "kernel", job, *args, "--format", format)
    assert result.code == 2
    assert word in result.err
    assert result.out == ""


@pytest.mark.parametrize("args", [["--run", "nope"], ["--recording", "nope"], ["--rank", "5"]])
def test_what_is_not_there_is_1(run: Run, job: Path, args: list[str]) -> None:
    result = run("show", "step", job, *args)
    assert result.code == 1
    assert result.err.startswith("tb-npu: ")


def test_nothing_there_is_1(run: Run, tmp_path: Path) -> None:
    for command in (["list"], ["check"], ["show", "overview"]):
        result = run(*command, tmp_path)
        assert result.code == 1
        assert "No Ascend captures" in result.err


def test_no_such_path_is_2(run: Run, tmp_path: Path) -> None:
    result = run("list", tmp_path / "nowhere")
    assert result.code == 2
    assert "nowhere" in result.err


def test_check_is_0_without_errors_and_1_with(run: Run, job: Path, tmp_path: Path) -> None:
    assert run("check", job).code == 0
    write_capture(tmp_path / "cap", info(0), kernel_details="not,it\n", step_trace_time=STEPS)
    result = run("check", tmp_path)
    assert result.code == 1
    assert "no-header" in result.out


# ---- formats --------------------------------------------------------------------------------


def test_list(run: Run, shared: Path) -> None:
    path = shared / "captures/text_level1"
    assert [r["rank"] for r in run("list", path, "--format", "csv").rows()] == ["0", "1"]
    found = json.loads(run("list", path, "--format", "json").out)
    assert [(c["rank"], c["level"]) for c in found] == [(0, "Level1"), (1, "Level1")]
    assert "Level1" in run("list", path).out


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_view_in_every_format(run: Run, job: Path, lang: str) -> None:
    for view, described in VIEWS.items():
        table = run("show", view, job, "--lang", lang)
        assert table.code == 0, table.err
        reply = json.loads(run("show", view, job, "--format", "json", "--lang", lang).out)
        assert set(reply) == {"data", "meta"}
        exported = run("show", view, job, "--format", "csv", "--lang", lang)
        assert exported.code in (0, 1), exported.err
        if described.query is None and view not in ("health", "timeline", "flame"):
            assert (exported.code, exported.out) == (1, "")
            assert "Ask for JSON instead." in exported.err
        elif exported.code == 0:
            assert exported.rows() or view in ("health",)


def test_hand_values(run: Run, shared: Path) -> None:
    path = shared / "captures/text_level1"
    (row,) = run("show", "step", path, "--rank", "0", "--format", "csv").rows()
    assert (row["computing_ns"], row["stage_ns"]) == ("8873756.0", "136581000.0")
    rows = run("show", "kernel", path, "--rank", "0", "--format", "csv").rows()
    assert len(rows) == 191, "CSV is the whole table, not a page"
    assert sum(r["core"] == "HCCL" for r in rows) == 4
    shown = run("show", "overview", path).out
    assert "137 ms" in shown
    assert "74.7 %" in shown


def test_tracks_and_call_trees_as_csv(run: Run, shared: Path) -> None:
    path = shared / "captures/text_level1"
    tracks = run("show", "timeline", path, "--rank", "0", "--format", "csv").rows()
    assert tracks == sorted(tracks, key=lambda row: int(row["id"]))
    assert {"hardware", "overlap", "python"} <= {row["kind"] for row in tracks}
    assert {(row["rank"], row["base_ns"]) for row in tracks} == {("0", "1736408883573887920")}
    nodes = run("show", "flame", path, "--rank", "0", "--format", "csv").rows()
    assert [row["node"] for row in nodes] == [str(i) for i in range(len(nodes))]
    for row in nodes:
        if row["parent"]:
            parent = nodes[int(row["parent"])]
            assert row["path"] == f"{parent['path']} > {row['name']}"
            assert int(row["depth"]) == int(parent["depth"]) + 1
    assert sum(float(row["self_ns"]) for row in nodes) > 0


def test_a_capture_without_a_trace_has_no_tracks_to_export(run: Run, tmp_path: Path) -> None:
    write_capture(tmp_path / "cap_ascend_pt", info(0), step_trace_time=STEPS)
    for view in ("timeline", "flame"):
        exported = run("show", view, tmp_path, "--format", "csv")
        assert (exported.code, exported.out) == (1, "")
        assert "nothing to export" in exported.err


def test_text_for_a_spreadsheet_is_safe_everywhere(run: Run, tmp_path: Path) -> None:
    rows = '10,"=cmd()",T,AI_CORE,1,x,0,8,2\n'
    write_capture(tmp_path / "=run/=cap_ascend_pt", info(0), step_trace_time=STEPS,
                  kernel_details=f"{KERNEL_HEADER}\n{rows}")  # fmt: skip
    for args in (["list"], ["check"], ["show", "kernel"], ["show", "files"], ["show", "health"]):
        for row in csv.reader(io.StringIO(run(*args, tmp_path, "--format", "csv").out)):
            assert not [c for c in row if c.startswith(("=", "+", "@"))], args


def test_names_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    rows = '10,"\x1b[31mred\x07 [bold]x[/bold] \u202egnp",T,AI_CORE,1,1,0,8,2\n'
    write_capture(tmp_path / "cap", info(0), step_trace_time=STEPS,
                  kernel_details=f"{KERNEL_HEADER}\n{rows}")  # fmt: skip
    out = run("show", "kernel", tmp_path).out
    assert "[bold]x[/bold]" in out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)


@pytest.mark.parametrize("encoding", ["ascii", "gbk", "latin-1"])
def test_terminals_of_any_encoding(
    run: Run, tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "10,前向,T,AI_CORE,1,1,0,8,2\n"
    write_capture(tmp_path / "作业", info(1), step_trace_time=STEPS,
                  kernel_details=f"{KERNEL_HEADER}\n{rows}")  # fmt: skip
    for args in (["list"], ["show", "kernel", "--lang", "zh"], ["check"],
                 ["show", "kernel", "--format", "csv"], ["list", "--format", "json"]):  # fmt: skip
        terminal = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", terminal)
        assert run(*args, tmp_path).code == 0
        terminal.flush()
        shown = terminal.buffer.getvalue()  # type: ignore[attr-defined]
        assert shown
    assert "作业" in json.loads(shown.decode("utf-8"))[-1]["path"], "JSON is always UTF-8"


def test_undecodable_paths(run: Run, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"r\xff") / "cap"
    write_capture(odd, info(0), kernel_details=KERNELS, step_trace_time=STEPS)
    for args in (["list", odd.parent], ["show", "kernel", tmp_path], ["check", odd],
                 ["list", tmp_path, "--format", "json"],
                 ["show", "files", odd, "--format", "json"]):  # fmt: skip
        assert run(*args).code == 0


# ---- pipes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csv", "table", "json"])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, cache_dir: Path, format: str) -> None:
    rows = "".join(f"10,{'n' * 200}{i},T,AI_CORE,1,1,0,8,2\n" for i in range(5000))
    write_capture(tmp_path / "cap", info(0), kernel_details=f"{KERNEL_HEADER}\n{rows}",
                  step_trace_time=STEPS)  # fmt: skip
    args = ["show", "kernel", str(tmp_path), "--format", format, "--limit", "1000"]
    process(*args, cache=cache_dir)  # read once
    with subprocess.Popen(
        [sys.executable, "-m", "tb_npu_plugin.cli", *args],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "TB_NPU_CACHE": str(cache_dir)},
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(10)
        running.stdout.close()
        err = running.stderr.read().decode()
        assert running.wait(timeout=60) == 0
    assert err == ""


# ---- the cache ------------------------------------------------------------------------------


def test_cache_info_and_clear(
    run: Run, job: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TB_NPU_CACHE", str(cache_dir))
    run("show", "kernel", job)
    assert "2 files read" in run("cache", "info").out
    assert "Removed" in run("cache", "clear").out
    assert "0 files read" in run("cache", "info").out
    assert run("show", "kernel", job).code == 0


def test_a_cache_of_ones_own(run: Run, job: Path, tmp_path: Path) -> None:
    assert run("show", "step", job, "--cache", tmp_path / "mine").code == 0
    assert list((tmp_path / "mine").rglob("done.json"))
    assert "2 files read" in run("cache", "info", "--cache", tmp_path / "mine").out


@pytest.mark.parametrize("width", [40, 60, 80, 100, 133, 200])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_value_is_cut_on_a_narrow_terminal(
    job: Path, kept: Path, width: int, lang: Lang
) -> None:
    """Columns that do not fit are left out as wholes, and named."""
    out = Console(width=width, force_terminal=True, no_color=True, file=io.StringIO())
    with load(job, cache=kept) as captures:
        show_view(captures, "ranks", {"lang": lang}, TableRequest(), "table", out)
        table = ranks(captures.select(lang=lang), TableRequest()).table
    assert isinstance(out.file, io.StringIO)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out.file.getvalue()).splitlines()
    rows = [line for line in lines if re.match(r"\d+ {2,}\d", line)]
    assert len(rows) == table.total
    assert not any("…" in line for line in rows)
    assert all(cell_len(line) <= width for line in rows)
    shown = [c for c in table.columns if c.shown]
    assert len(rows[0].split("  ")) >= 2
    left_out = "not shown for lack of width" if lang == "en" else "宽度不足，未显示"
    cells = [len(re.findall(r"\S+(?: \S+)*", row)) for row in rows]
    assert (cells[0] == len(shown)) != any(left_out in line for line in lines)
