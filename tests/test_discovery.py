"""From a logdir to captures: by content, at any depth, links once, never a name that matters."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_captures import OUTPUT, STEPS, info, write_capture
from tensorboard.backend.event_processing.data_ingester import _parse_event_files_spec

from tb_npu_plugin.backend.capture import describe
from tb_npu_plugin.backend.discovery import Root, Scan, parse_logdir_spec, scan


def found(path: Path, name: str = "") -> list[tuple[str, str]]:
    """(run, directory name) of what lies below ``path``."""
    return sorted((f.run, f.path.name) for f in scan([Root(path, name)]).found)


def test_names_do_not_matter(cases: Path, tmp_path: Path) -> None:
    """C31: odd names, depth, length, an alias and a loop."""
    logdir = tmp_path / "logdir"
    shutil.copytree(cases / "C31-dir-names", logdir)
    for folder, _, _ in os.walk(logdir):
        Path(folder).chmod(0o755)
    for placeholder in ("link_ascend_pt", "loop"):
        (logdir / placeholder).unlink()
    first = "my_run.v1_host-01.local_4242_20260101123045123_ascend_pt"
    (logdir / "link_ascend_pt").symlink_to(first)
    (logdir / "loop").symlink_to(".")
    captures = {c.name: c for c in map(describe, scan([Root(logdir)]).found)}
    assert len(captures) == 5
    assert captures[first].worker == "my_run.v1_host-01.local_4242"
    assert captures["w_1_1698371234.567_ascend_pt"].worker == "w_1_1698371234.567_ascend_pt"
    assert captures["训练_1_20260101123045124_ascend_pt"].worker == "训练_1"
    assert captures["g_1_20260101123045125_ascend_pt"].run == "a/b/c/d/e/f"
    assert "link_ascend_pt" not in captures


def test_a_link_is_the_alias_wherever_it_stands(tmp_path: Path) -> None:
    real = write_capture(tmp_path / "logdir/z/real", step_trace_time=STEPS)
    (tmp_path / "logdir/a").mkdir()
    (tmp_path / "logdir/a/link").symlink_to(real)
    (tmp_path / "logdir/a/up").symlink_to("..")
    assert found(tmp_path / "logdir") == [("z", "real")]


def test_a_link_to_outside_is_followed(tmp_path: Path) -> None:
    write_capture(tmp_path / "elsewhere/one", step_trace_time=STEPS)
    (tmp_path / "logdir").mkdir()
    (tmp_path / "logdir/run").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "logdir/broken").symlink_to("nowhere")
    assert found(tmp_path / "logdir") == [("run", "one")]


@pytest.mark.parametrize("given", ["absolute", ".", "./", "../cap", "inside/.."])
def test_a_logdir_that_is_a_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    capture = write_capture(tmp_path / "cap", info(3), step_trace_time=STEPS)
    (capture / "inside").mkdir()
    monkeypatch.chdir(capture)
    path = capture if given == "absolute" else Path(given)
    assert found(path) == [(".", "cap")]
    (described,) = map(describe, scan([Root(path)]).found)
    assert (described.rank, described.worker) == (3, "cap")


def test_only_the_output_folder_was_copied(tmp_path: Path) -> None:
    write_capture(tmp_path / "x", step_trace_time=STEPS)
    (tmp_path / "logdir").mkdir()
    shutil.move(tmp_path / "x" / OUTPUT, tmp_path / "logdir" / "renamed")
    assert found(tmp_path / "logdir") == [(".", "renamed")]
    assert found(tmp_path / "logdir/renamed") == [(".", "renamed")]
    (capture,) = map(describe, scan([Root(tmp_path / "logdir")]).found)
    assert [f.rel for f in capture.files] == ["step_trace_time.csv"]
    assert "info-missing" in [n.code for n in capture.notes]


@pytest.mark.parametrize(
    "made",
    ["FRAMEWORK", "PROF_000001_20250109080443123_ABCDEF", "mindstudio_profiler_output", OUTPUT],
)
def test_every_mark_of_a_capture(tmp_path: Path, made: str) -> None:
    (tmp_path / "run/cap" / made).mkdir(parents=True)
    assert found(tmp_path) == [("run", "cap")]


@pytest.mark.parametrize("name", ["profiler_info.json", "profiler_info_12.json"])
def test_an_info_file_marks_a_capture(tmp_path: Path, name: str) -> None:
    (tmp_path / "cap").mkdir()
    (tmp_path / "cap" / name).write_text("{}")
    assert found(tmp_path) == [(".", "cap")]


def test_what_is_no_capture(tmp_path: Path) -> None:
    for name in ("profiler_info_x.json", "events.out.tfevents.1", "PROF_1", "notes.csv"):
        (tmp_path / name).write_text("")
    (tmp_path / ".hidden").mkdir()
    write_capture(tmp_path / ".hidden/cap", step_trace_time=STEPS)
    assert found(tmp_path) == []
    assert found(tmp_path / "absent") == []
    assert found(tmp_path / "notes.csv") == []


def test_depth_and_number_of_directories_are_bounded(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 39)
    write_capture(deep / "near", step_trace_time=STEPS)
    write_capture(deep / "x/y/far", step_trace_time=STEPS)
    assert [name for _, name in found(tmp_path)] == ["near"]


def test_two_roots_over_one_directory_give_it_once(tmp_path: Path) -> None:
    write_capture(tmp_path / "job/cap", step_trace_time=STEPS)
    result = scan([Root(tmp_path, "a"), Root(tmp_path / "job", "b")])
    assert [(f.run, f.path.name) for f in result.found] == [("a/job", "cap")]


def test_names_prefix_runs(tmp_path: Path) -> None:
    write_capture(tmp_path / "cap", step_trace_time=STEPS)
    write_capture(tmp_path / "x/y/cap", step_trace_time=STEPS)
    assert found(tmp_path, "base") == [("base", "cap"), ("base/x/y", "cap")]


@pytest.mark.parametrize(
    "spec",
    ["a:/x,b:/y", "/x", "/foo:bar/baz", "a:/x,/y", "a:x/y", "~/runs", "a:~/runs", "/x,/x",
     "a:/x,b:/x", "a:/x:y"],
)  # fmt: skip
def test_logdir_spec_as_tensorboard_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    monkeypatch.chdir(tmp_path)
    theirs = {path: name or "" for path, name in _parse_event_files_spec(spec).items()}
    assert {str(r.path): r.name for r in parse_logdir_spec(spec)} == theirs


def test_an_empty_logdir_spec() -> None:
    assert parse_logdir_spec(" , ,") == []


# ---- permissions ----------------------------------------------------------------------------

#: Root may read everything; without these two capabilities (of an executed program) it may not.
DROP = """
import ctypes, os, sys
if os.getuid() == 0:
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        if ctypes.CDLL(None).prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
            sys.exit(77)
os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
"""


def without_privileges(code: str, *args: object) -> str:
    """What ``code`` prints when permissions hold for it."""
    code = "import sys\nfrom pathlib import Path\n" + code
    done = subprocess.run(
        [sys.executable, "-c", DROP, code, *map(str, args)],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "TB_NPU_WORKERS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip("root here cannot give up its privileges")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_directories_without_permission_are_listed(tmp_path: Path) -> None:
    write_capture(tmp_path / "closed/cap", step_trace_time=STEPS)
    write_capture(tmp_path / "seen/cap", step_trace_time=STEPS)
    (tmp_path / "closed").chmod(0)
    out = without_privileges(
        """
from tb_npu_plugin.backend.discovery import Root, scan
result = scan([Root(Path(sys.argv[1]))])
print([f.run for f in result.found], [Path(d).name for d in result.denied])
""",
        tmp_path,
    )  # fmt: skip
    (tmp_path / "closed").chmod(0o755)
    assert out.strip() == "['seen'] ['closed']"


@pytest.mark.parametrize("name", ["file", "folder", "info"])
def test_permission_is_a_finding_that_ends_when_it_is_granted(tmp_path: Path, name: str) -> None:
    """An unreadable file, output folder or info file; without a restart."""
    cap = write_capture(tmp_path / "logdir/cap", info(0), step_trace_time=STEPS)
    closed = {
        "file": f"{OUTPUT}/step_trace_time.csv", "info": "profiler_info_0.json", "folder": OUTPUT,
    }[name]  # fmt: skip
    out = without_privileges(
        """
from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.selection import select
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.views.health import findings
logdir, closed = map(Path, sys.argv[1:3])
store = Store([Root(logdir)], Cache(logdir.parent / "cache"), quiet_seconds=0)
def look():
    store.rescan(); store.rescan(); store.wait()
    sel = select(store)
    denied = [f for f in findings(sel) if f.code == "permission-denied"]
    print([(f.message.split(",")[0], f.file) for f in denied], sel.source("steps") is not None)
closed.chmod(0)
look()
closed.chmod(0o755)
look()
store.close()
""",
        tmp_path / "logdir", cap / closed,
    )  # fmt: skip
    denied = [("Permission denied: mode 0", closed)]
    assert out.splitlines() == [f"{denied} {name == 'info'}", "[] True"]


def test_scan_of_nothing() -> None:
    assert scan([]) == Scan()
