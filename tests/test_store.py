"""The store: what is read once, read again, or gone; what dies meanwhile; the user's files untouched."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from reading_processes import workers_of
from small_captures import KERNELS, OUTPUT, STEP_HEADER, STEPS, info, write_capture

from tb_npu_plugin.backend import store as store_module
from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.ingest import Cancelled, Job, ingest
from tb_npu_plugin.backend.pool import Pool
from tb_npu_plugin.backend.readers import kernel_details
from tb_npu_plugin.backend.selection import select
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.views import captures as captures_view
from tb_npu_plugin.backend.views.health import findings

Opener = Callable[..., Store]
WAIT = 60


@pytest.fixture
def store(tmp_path: Path, cache_dir: Path) -> Iterator[Opener]:
    """Open a store over ``tmp_path/logdir`` (or other paths), scanned once."""
    opened: list[Store] = []

    def make(*paths: Path, cache: Path = cache_dir, **options: Any) -> Store:
        options.setdefault("workers", 1)
        options.setdefault("quiet_seconds", 0.0)
        roots = [Root(p) for p in paths or (tmp_path / "logdir",)]
        opened.append(Store(roots, Cache(cache), **options))
        opened[-1].rescan()
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def capture(tmp_path: Path, name: str = "cap", **files: str | bytes) -> Path:
    files = files or {"kernel_details": KERNELS, "step_trace_time": STEPS}
    return write_capture(tmp_path / "logdir" / name, info(0), **files)


def codes(store: Store) -> list[str]:
    return [f.code for f in findings(select(store))]


def rows(store: Store, table: str = "kernels") -> int | None:
    sel = select(store)
    source = sel.source(table)
    if source is None:
        return None
    found = sel.query(lambda cur: cur.execute(f"SELECT count(*) FROM {source}").fetchone())
    assert found is not None
    return int(found[0])


def until(happens: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + WAIT
    while not (found := happens()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return found


def fingerprint_of(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Every path below with its content, mode and time."""
    return {
        str(p.relative_to(folder)): (
            hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "",
            p.lstat().st_mode,
            p.lstat().st_mtime_ns,
        )
        for p in [folder, *folder.rglob("*")]
    }


# ---- read once ------------------------------------------------------------------------------


def test_a_second_store_reads_nothing_again(tmp_path: Path, store: Opener) -> None:
    capture(tmp_path)
    first = store()
    assert first.wait(timeout=WAIT)
    entries = {e[0]: (e[0] / "done.json").stat().st_mtime_ns for e in first.cache.entries()}
    assert len(entries) == 2
    second = store()
    assert rows(second) == 2, "there at once, without a worker"
    assert {p: (p / "done.json").stat().st_mtime_ns for p in entries} == entries


def test_a_failure_is_tried_again_by_the_next_store(tmp_path: Path, store: Opener) -> None:
    path = capture(tmp_path, kernel_details=b"\x1f\x8b") / OUTPUT / "kernel_details.csv"
    path.rename(path.with_name("kernel_details.csv.gz"))
    first = store()
    assert first.wait(timeout=WAIT)
    assert "file-unreadable" in codes(first) or "file-empty" in codes(first)


def test_the_key_is_the_content_too(tmp_path: Path, store: Opener) -> None:
    """Two logdirs from archives: same run, name, size and time, other content."""
    for folder, text in (("one", KERNELS), ("two", KERNELS.replace("MatMul1", "MatMul9"))):
        path = write_capture(tmp_path / folder / "run/cap", kernel_details=text)
        os.utime(path / OUTPUT / "kernel_details.csv", ns=(10**18, 10**18))
    names = []
    for folder in ("one", "two"):
        opened = store(tmp_path / folder)
        assert opened.wait(timeout=WAIT)
        sel = select(opened)
        source = sel.source("kernels")
        names += sel.query(
            lambda cur, s=source: cur.execute(f"SELECT name FROM {s} ORDER BY row").fetchone()
        )
    assert names == ["MatMul1", "MatMul9"]


def test_two_logdirs_with_equal_names_show_both(tmp_path: Path, store: Opener) -> None:
    for folder in ("one", "two"):
        write_capture(tmp_path / folder / "run/cap", info(0), step_trace_time=STEPS)
    opened = store(tmp_path / "one", tmp_path / "two")
    found = opened.captures()
    assert len({c.capture_id for c in found}) == 2
    assert len(opened.runs["run"]) == 2, "one rank twice: two recordings"


def test_two_processes_on_one_cache(tmp_path: Path, cache_dir: Path) -> None:
    for i in range(3):
        capture(tmp_path, f"cap{i}")
    code = (
        "import sys; from tb_npu_plugin import load\n"
        "with load(sys.argv[1], cache=sys.argv[2], workers=2) as c:\n"
        "    print(sum(len(c.kernels(recording=r.recording)) for r in c), len(c.findings()))"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "logdir"), str(cache_dir)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    answers = [p.communicate(timeout=WAIT) for p in running]
    assert [p.returncode for p in running] == [0, 0], answers
    assert answers[0][0] == answers[1][0]
    assert answers[0][0].startswith("6 ")
    assert not list(cache_dir.rglob(".tmp-*"))


# ---- what changes ---------------------------------------------------------------------------


def test_a_changed_file_is_read_again_and_its_neighbour_is_not(
    tmp_path: Path, store: Opener
) -> None:
    path = capture(tmp_path) / OUTPUT / "kernel_details.csv"
    opened = store()
    assert opened.wait(timeout=WAIT)
    before = {s.source.name: s for s in opened.files(opened.captures()[0].capture_id)}
    version = opened.version
    path.write_text(KERNELS + "10,Third3,T,AI_CORE,99\t,1,0,8,2\r\n")
    opened.rescan()
    assert opened.version > version
    assert rows(opened) == 2, "what was read stays until the file is quiet"
    opened.rescan()
    assert opened.wait(timeout=WAIT)
    assert rows(opened) == 3
    after = {s.source.name: s for s in opened.files(opened.captures()[0].capture_id)}
    assert after["step_trace_time.csv"] is before["step_trace_time.csv"]


def test_a_growing_capture_is_shown_as_such_until_it_is_quiet(
    tmp_path: Path, store: Opener
) -> None:
    opened = store(quiet_seconds=0.5)
    path = capture(tmp_path) / OUTPUT / "kernel_details.csv"
    opened.rescan()
    (found,) = opened.captures()
    assert opened.growing(found.capture_id)
    assert "growing" in codes(opened)
    assert captures_view.captures(opened).runs[0].recordings[0].captures[0].state == "growing"
    for i in range(3):
        with path.open("a") as stream:
            stream.write(f"10,More{i},T,AI_CORE,99\t,1,0,8,2\r\n")
        opened.rescan()
        assert opened.growing(found.capture_id)
    until(lambda: opened.rescan() or not opened.growing(found.capture_id))
    assert opened.wait(timeout=WAIT)
    assert rows(opened) == 5
    assert "growing" not in codes(opened)


def test_the_done_marker_ends_the_waiting(tmp_path: Path, store: Opener) -> None:
    opened = store(quiet_seconds=3600)
    path = capture(tmp_path)
    (path / OUTPUT / "analyse.done").touch()
    opened.rescan()
    assert not opened.growing(opened.captures()[0].capture_id)


def test_captures_appear_and_vanish(tmp_path: Path, store: Opener) -> None:
    (tmp_path / "logdir").mkdir()
    opened = store()
    assert opened.runs == {}
    assert opened.scanned
    path = capture(tmp_path)
    opened.rescan()
    assert len(opened.captures()) == 1
    version = opened.version
    shutil.rmtree(path)
    opened.rescan()
    assert opened.captures() == []
    assert opened.version > version
    version = opened.version
    opened.rescan()
    assert opened.version == version, "nothing changed, nothing to ask for again"


def test_a_capture_that_vanishes_while_it_is_read(tmp_path: Path, store: Opener) -> None:
    opened = store()
    for i in range(3):
        path = capture(tmp_path, f"cap{i}")
        opened.rescan()
        opened.rescan()
        shutil.rmtree(path)
        opened.rescan()
        assert opened.wait(timeout=WAIT)
    assert opened.captures() == []


def test_the_background_scan_finds_what_comes(
    tmp_path: Path, store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "SCAN_SECONDS", 0.05)
    (tmp_path / "logdir").mkdir()
    opened = store()
    opened.start()
    capture(tmp_path)
    until(lambda: opened.captures())
    until(lambda: rows(opened) == 2)


def test_a_copy_of_the_output_alone_is_not_read_again_at_every_scan(
    tmp_path: Path, store: Opener
) -> None:
    capture(tmp_path)
    logdir = tmp_path / "logdir2"
    shutil.copytree(tmp_path / "logdir/cap" / OUTPUT, logdir)
    opened = store(logdir)
    assert opened.wait(timeout=WAIT)
    states = opened.files(opened.captures()[0].capture_id)
    (logdir / "new.txt").touch()
    opened.rescan()
    opened.rescan()
    assert [id(s) for s in opened.files(opened.captures()[0].capture_id)] == [id(s) for s in states]


# ---- what dies ------------------------------------------------------------------------------


def test_a_killed_worker_is_a_finding_and_the_next_file_is_read(
    tmp_path: Path, store: Opener, cache_dir: Path
) -> None:
    path = capture(tmp_path, step_trace_time=STEPS) / OUTPUT / "kernel_details.csv"
    path.write_text("\n".join([KERNELS, *["10,x,T,AI_CORE,99\t,1,0,8,2"] * 2_000_000]))
    opened = store()
    (found,) = opened.captures()
    opened.request(opened.captures(), ["kernels"])
    until(lambda: [s for s in opened.files(found.capture_id) if s.state == "running"
                   and s.source.name == "kernel_details.csv"])  # fmt: skip
    worker = until(lambda: workers_of(os.getpid()))[0]
    os.kill(worker.pid, signal.SIGKILL)
    assert opened.wait(timeout=WAIT)
    (note,) = [f for f in findings(select(opened)) if f.code == "reader-failed"]
    assert (note.severity, note.file) == ("error", f"{OUTPUT}/kernel_details.csv")
    assert rows(opened) is None
    assert rows(opened, "steps") == 1
    path.write_text(KERNELS)
    opened.rescan()
    opened.rescan()
    assert opened.wait(timeout=WAIT)
    assert rows(opened) == 2


def test_a_worker_that_ended_unseen_costs_one_job_and_no_thread(
    tmp_path: Path, cache_dir: Path
) -> None:
    """It cannot be told anything any more, nor be closed: a pipe that nobody reads."""
    path = capture(tmp_path) / OUTPUT / "kernel_details.csv"
    deaf = subprocess.Popen(
        [sys.executable, "-c", "import os, time; os.close(0); print(flush=True); time.sleep(1)"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert deaf.stdout
    deaf.stdout.readline()
    results: dict[str, Any] = {}

    def listen(job: Job, event: dict[str, Any]) -> None:
        if event["event"] == "done":
            results[job.fingerprint] = event["result"]

    pool = Pool(1, listen, deaf, helper=False)
    try:
        for key in ("first", "second"):
            job = Job("c", os.fsencode(path), path.name, "kernel_details", key, 1, str(cache_dir))
            pool.submit(job, 0)
            until(lambda key=key: key in results)
    finally:
        pool.close()
    assert "ended early" in results["first"].error
    assert results["second"].error is None
    assert results["second"].tables["kernels"] == 2


def test_a_pipe_among_the_files_is_not_opened(tmp_path: Path, store: Opener) -> None:
    path = capture(tmp_path, step_trace_time=STEPS)
    os.mkfifo(path / OUTPUT / "kernel_details.csv")
    os.mkfifo(path / "profiler_metadata.json")
    opened = store()
    assert opened.wait(timeout=WAIT)
    assert (rows(opened), rows(opened, "steps")) == (None, 1)


def test_closing_ends_the_workers(tmp_path: Path, store: Opener) -> None:
    capture(tmp_path)
    opened = store()
    worker = until(lambda: workers_of(os.getpid()))[0]
    opened.close()
    worker.wait(timeout=WAIT)
    assert not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE


def test_workers_do_not_import_from_the_working_directory(
    tmp_path: Path, store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("queue", "json", "random", "msgspec", "duckdb", "profile"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    monkeypatch.chdir(tmp_path)
    capture(tmp_path)
    opened = store()
    assert opened.wait(timeout=WAIT)
    assert rows(opened) == 2


def test_what_workers_are_asked_for_may_be_nonsense(
    tmp_path: Path, store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture(tmp_path)
    monkeypatch.setenv("TB_NPU_WORKERS", "many")
    monkeypatch.setenv("TB_NPU_CACHE_LIMIT", "lots")
    opened = store(workers=-3, memory="'; DROP TABLE x", cache=tmp_path / "other")
    assert opened.wait(timeout=WAIT)
    assert rows(opened) == 2
    assert store(workers=None).workers >= 1


# ---- the cache ------------------------------------------------------------------------------


def test_a_cache_cleared_during_use_fills_again(tmp_path: Path, store: Opener) -> None:
    capture(tmp_path)
    opened = store()
    assert opened.wait(timeout=WAIT)
    for remove in (opened.cache.clear, lambda: shutil.rmtree(opened.cache.root.parent)):
        remove()
        rows(opened)  # notices, and asks for it again
        assert opened.wait(timeout=WAIT)
        assert rows(opened) == 2


def test_a_cache_cleared_while_it_is_written(tmp_path: Path, store: Opener) -> None:
    for i in range(30):
        capture(tmp_path, f"cap{i}")
    opened = store(workers=2)
    for _ in range(2):  # a file is tried three times
        time.sleep(0.3)
        opened.cache.clear()
    # A look at the tables notices what is gone. A result that was on its way while the cache was
    # cleared is told after the first look.
    for _ in range(3):
        looks = [
            select(opened, recording=recording.recording).source(table)
            for recording in opened.runs["."]
            for table in ("kernels", "steps")
        ]
        assert opened.wait(timeout=WAIT)
        if all(looks):
            break
    for recording in opened.runs["."]:
        sel = select(opened, recording=recording.recording)
        assert sel.source("kernels") is not None, findings(sel)
        assert not [f for f in findings(sel) if f.code in ("reader-failed", "file-unreadable")]


def test_an_entry_whose_directory_vanishes_is_written_again(
    tmp_path: Path, cache_dir: Path
) -> None:
    path = capture(tmp_path) / OUTPUT / "kernel_details.csv"
    cache = Cache(cache_dir)
    job = Job("c", os.fsencode(path), path.name, "kernel_details", "f", 1, str(cache_dir))
    cleared: list[int] = []

    def clear(_: object) -> None:
        if len(cleared) < 2:
            cleared.append(cache.clear())

    done = ingest(job, on_connection=clear)
    assert (done.error, done.tables, len(cleared)) == (
        None,
        {"kernels": 2, "kernel_summary": 2, "overlap_summary": 0},
        2,
    )
    assert cache.load("c", "f") is not None


def test_an_entry_that_loses_a_table_while_it_is_written_is_written_again(
    tmp_path: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's ``rm -r`` of the cache takes files before it takes their directory."""
    monkeypatch.setattr(kernel_details, "SUMMARY_FIRST_BYTES", 0)
    path = capture(tmp_path) / OUTPUT / "kernel_details.csv"
    job = Job("c", os.fsencode(path), path.name, "kernel_details", "f", 1, str(cache_dir))
    removed: list[Path] = []

    def remove(tables: dict[str, Path], _whole: bool) -> None:
        (table,) = tables
        if not removed:
            removed.extend(cache_dir.rglob(f".tmp-*/{table}.parquet"))
            removed[0].unlink()
            # The next table cannot be written, the directory is there all the same.
            (removed[0].parent / "kernels.parquet").mkdir()
            (removed[0].parent / "kernels.parquet" / "x").touch()

    done = ingest(job, on_early=remove)
    assert len(removed) == 1
    assert (done.error, done.notes) == (None, [])
    assert done.tables == {"kernels": 2, "kernel_summary": 2, "overlap_summary": 0}


def test_clearing_takes_an_entry_as_a_whole(cache_dir: Path) -> None:
    """Another process that looks again and again never sees an entry that lost some of its files."""
    cache = Cache(cache_dir)
    entry = cache.entry("c", "f")
    names = [f"{i}.parquet" for i in range(2000)]
    looking = (
        "import os, sys\n"
        "print('ready', flush=True)\n"
        "seen = set()\n"
        "while 0 not in seen:\n"
        "    try: seen.add(len(os.listdir(sys.argv[1])))\n"
        "    except FileNotFoundError: seen.add(0)\n"
        "print(sorted(seen))"
    )
    entry.mkdir(parents=True)
    for name in names:
        (entry / name).touch()
    with subprocess.Popen(
        [sys.executable, "-c", looking, str(entry)], stdout=subprocess.PIPE, text=True
    ) as looker:
        assert looker.stdout
        assert looker.stdout.readline() == "ready\n"
        cache.clear()
        assert looker.communicate(timeout=WAIT)[0].strip() in ("[0, 2000]", "[0]")
    assert not list(cache.root.glob(".trash-*"))


def test_what_an_interrupted_clearing_left_goes_with_the_next(cache_dir: Path) -> None:
    cache = Cache(cache_dir)
    left = cache.root / ".trash-1" / "captures"
    for tidy in (cache.trim, cache.clear):
        left.mkdir(parents=True)
        tidy()
        assert not left.parent.exists()


@pytest.mark.parametrize("kind", ["file", "undecodable"])
def test_a_cache_that_cannot_be_written_is_replaced_and_told(
    tmp_path: Path, store: Opener, kind: str
) -> None:
    capture(tmp_path)
    cache = tmp_path / "blocked"
    cache.write_text("a file stands where the directory should be")
    if kind == "undecodable":
        cache = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    opened = store(cache=cache)
    assert opened.cache.temporary
    assert opened.wait(timeout=WAIT)
    assert rows(opened) == 2
    assert "cache-temporary" in codes(opened)
    shutil.rmtree(opened.cache.root.parent)


@pytest.mark.parametrize("name", ["a*b", "a[1]", "{a,b}", "step=9", "it's", "a?", "日本"])
def test_a_cache_may_have_any_name(tmp_path: Path, store: Opener, name: str) -> None:
    capture(tmp_path)
    opened = store(cache=tmp_path / name / "cache")
    assert opened.wait(timeout=WAIT)
    sel = select(opened)
    source = sel.source("kernels")
    steps = sel.query(lambda cur: cur.execute(f"SELECT DISTINCT step FROM {source}").fetchall())
    assert steps == [(10,)]
    assert captures_view.captures(opened).runs[0].recordings[0].steps == [10]


def test_the_least_recently_used_goes_first(
    tmp_path: Path, store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(3):
        capture(tmp_path, f"cap{i}", step_trace_time=STEPS)
    opened = store()
    assert opened.wait(timeout=WAIT)
    entries = sorted(e[0] for e in opened.cache.entries())
    for age, entry in enumerate(entries):
        os.utime(entry, (10**9 - age, 10**9 - age))
    size = sum(e[1] for e in opened.cache.entries())
    opened.cache.limit_bytes = size - 1
    assert opened.cache.trim() > 0
    assert sorted(e[0] for e in opened.cache.entries()) == entries[:2]
    opened.cache.limit_bytes = 0
    opened.cache.trim(keep={entries[0]})
    assert [e[0] for e in opened.cache.entries()] == [entries[0]]


def test_use_makes_an_entry_recent(tmp_path: Path, store: Opener) -> None:
    capture(tmp_path, step_trace_time=STEPS)
    opened = store()
    assert opened.wait(timeout=WAIT)
    ((entry, _, _),) = opened.cache.entries()
    os.utime(entry, (10**9, 10**9))
    store()
    assert entry.stat().st_mtime > 10**9


def test_leavings_of_dead_processes_go(tmp_path: Path, cache_dir: Path) -> None:
    cache = Cache(cache_dir)
    for name in (".tmp-{}", "{}.early"):
        old, new = (cache.root / "captures/x" / name.format(age) for age in ("old", "new"))
        old.mkdir(parents=True)
        new.mkdir()
        os.utime(old, (10**9, 10**9))
        cache.trim()
        assert (old.exists(), new.exists()) == (False, True)


def test_a_read_that_is_given_up_leaves_nothing_early(
    tmp_path: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_details, "SUMMARY_FIRST_BYTES", 0)
    path = capture(tmp_path) / OUTPUT / "kernel_details.csv"
    job = Job("c", os.fsencode(path), path.name, "kernel_details", "f", 1, str(cache_dir))
    early: list[Path] = []

    def look(tables: dict[str, Path], _whole: bool) -> None:
        early.extend(tables.values())
        assert early[0].exists()

    with pytest.raises(Cancelled):
        ingest(job, on_early=look, cancelled=lambda: True)
    assert early
    assert not early[0].parent.exists()


def test_only_the_user_may_look_into_the_cache(tmp_path: Path, store: Opener) -> None:
    capture(tmp_path)
    opened = store()
    assert opened.wait(timeout=WAIT)
    assert opened.cache.root.stat().st_mode & 0o777 == 0o700


# ---- the user's files -----------------------------------------------------------------------


def test_the_logdir_is_left_as_it_was(tmp_path: Path, store: Opener, shared: Path) -> None:
    logdir = tmp_path / "logdir"
    shutil.copytree(shared / "captures/text_level1", logdir / "real")
    gbk = (STEP_HEADER + ",备注\n0,10,100,20,5,25,30,150,0,20,3,注\n").encode("gbk")
    write_capture(logdir / "gbk", info(1), step_trace_time=gbk)
    write_capture(logdir / "cut", info(2), kernel_details=KERNELS + '10,"cut', step_trace_time=b"")
    for folder in (logdir, *(p for p in logdir.rglob("*") if p.is_dir())):
        folder.chmod(0o555)
    before = fingerprint_of(logdir)
    opened = store()
    assert opened.wait(timeout=WAIT)
    for run in opened.runs:
        findings(select(opened, run=run))
    opened.rescan()
    assert fingerprint_of(logdir) == before
    for folder in (logdir, *(p for p in logdir.rglob("*") if p.is_dir())):
        folder.chmod(0o755)


def test_a_large_query_spills_into_the_cache_and_nowhere_else(
    tmp_path: Path, store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must not write to the directory that TensorBoard was started in."""
    started = tmp_path / "started"
    started.mkdir()
    monkeypatch.chdir(started)
    opened = store(tmp_path, memory="64MB")
    with contextlib.closing(opened.cursor()) as cursor:
        cursor.execute(
            "SELECT count(*) FROM (SELECT i, md5(i::VARCHAR) AS t FROM range(1000000) r(i) "
            "ORDER BY t OFFSET 10)"
        )
        assert cursor.fetchone() == (999_990,)
        found = cursor.execute("SELECT current_setting('temp_directory')").fetchone()
    assert found == (str(opened.cache.spill()),)
    assert list(started.iterdir()) == []
