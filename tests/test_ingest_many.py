"""Many captures into a shared store: on processes and on a Dask cluster, again after whatever
happened, and shown from there without the raw files."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from all_views import all_views, differences
from small_captures import KERNELS, OUTPUT, STEPS, info, write_capture

from tb_npu_plugin.backend import ingest_many as ingest_many_module
from tb_npu_plugin.backend import stored as stored_module
from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.description import Unknown, decode, encode
from tb_npu_plugin.backend.discovery import Root, scan
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.executors import Workers, processes
from tb_npu_plugin.backend.ingest_capture import Outcome, Task, ingest_capture
from tb_npu_plugin.backend.ingest_many import ingest_many
from tb_npu_plugin.backend.selection import select
from tb_npu_plugin.backend.shared_store import fetch, open_store
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.views.communication_groups import known_groups
from tb_npu_plugin.backend.views.health import findings
from tb_npu_plugin.cli import main
from tb_npu_plugin.sample import write_sample

WAIT = 60


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_many_module, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(stored_module, "REMOTE_SECONDS", 0.0)


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job as text and one as database, with traces; only to be looked at."""
    logdir = tmp_path_factory.mktemp("raw")
    write_sample(logdir / "text", ranks=2, steps=2, kernels_per_step=40)
    write_sample(logdir / "db", ranks=2, steps=2, kernels_per_step=40, export=("db",))
    return logdir


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The scheduler of a Dask cluster of two processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def opened(cache_dir: Path) -> Iterator[Callable[..., Store]]:
    """Open a store over logdirs, scanned once."""
    held: list[Store] = []

    def make(*paths: Path) -> Store:
        held.append(Store([Root(p) for p in paths], Cache(cache_dir), workers=1, quiet_seconds=0.0))
        held[-1].rescan()
        return held[-1]

    yield make
    for store in held:
        store.close()


def run(*args: object) -> int:
    """`tb-npu ingest` in this process; its exit code."""
    try:
        return int(main(["ingest", *map(str, args)]) or 0)
    except SystemExit as end:
        return int(end.code or 0)


def told(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, dict[str, Any]]:
    """Its exit code and its summary."""
    capsys.readouterr()
    code = run(*args, "--format", "json")
    return code, json.loads(capsys.readouterr().out)


def tasks(logdir: Path, store: object, *, timeline: bool = True) -> list[Task]:
    open_store(str(store)).create()
    found = scan([Root(logdir)]).found
    return [Task(f, str(store), False, timeline, "400MB", 1) for f in found]


def here(count: int = 1) -> Workers:
    """This process: what memory:// needs, whose files every process has its own of."""
    return Workers(lambda _: ThreadPoolExecutor(count), count, count)


def quiet(_: Outcome) -> None:
    pass


def below(folder: Path) -> dict[str, int]:
    """Every file below with its time."""
    return {str(p): p.lstat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}


def small(logdir: Path, *names: str) -> Path:
    for rank, name in enumerate(names):
        write_capture(logdir / name, info(rank), kernel_details=KERNELS, step_trace_time=STEPS)
    return logdir


# ---- the same without the raw files -----------------------------------------------------------


@pytest.fixture(scope="module")
def expected(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """Every view of it from the raw files: with every group, and from the traces alone."""
    cache = tmp_path_factory.mktemp("cache")
    return all_views(raw, cache, groups=True), all_views(raw, cache, "trace")


@pytest.mark.parametrize("remote", [False, True])
def test_every_view_is_the_same_without_the_raw_files(
    raw: Path, expected: tuple[Any, Any], address: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, remote: bool,
) -> None:  # fmt: skip
    logdir, place = shutil.copytree(raw, tmp_path / "job"), tmp_path / "store"
    if remote:
        assert run(logdir, "--store", f"local://{place}", "--dask", address) == 0
    else:
        assert run(logdir, "--store", f"file://{place}", "--workers", 2) == 0
    logdir.rename(tmp_path / "away")
    before = below(place)
    shown = place
    if remote:
        monkeypatch.setenv("TB_NPU_STORE", f"local://{place}")
        shown = tmp_path / "empty"
        shown.mkdir()
    assert not differences(all_views(shown, tmp_path / "other", groups=True), expected[0])
    assert not differences(all_views(shown, tmp_path / "other", "trace"), expected[1])
    assert below(place) == before, "who looks writes nothing there"


def test_real_captures(shared: Path, address: str, tmp_path: Path) -> None:
    runs = ("text_level1", "db_level1", "pytorch/h100_qwen")
    expected = all_views(shared / "captures", tmp_path / "cache", runs=runs)
    place = tmp_path / "store"
    assert run(shared / "captures", "--store", place, "--dask", address) == 0
    # Where they were recorded means nothing to whoever has the store.
    for file in (place / "v1/descriptions").iterdir():
        file.write_text(file.read_text().replace(str(shared), "/gone"))
    assert not differences(all_views(place, tmp_path / "other", runs=runs), expected)


def test_the_job_s_groups_come_along(tmp_path: Path, opened: Callable[..., Store]) -> None:
    logdir = small(tmp_path / "runs", "cap0", "cap1")
    groups = [{"group_name": "1", "group_id": "a", "pg_name": "dp", "rank_set": [0, 1]},
              {"group_name": "2", "group_id": "b", "pg_name": "tp", "rank_set": [5, 6]}]  # fmt: skip
    folder = logdir / "cluster_analysis_output"
    folder.mkdir()
    content = json.dumps({"comm_group_parallel_info": groups})
    (folder / "communication_group.json").write_text(content)
    assert known_groups(select(opened(logdir))).keys() == {"1", "2"}
    ingest_many(tasks(logdir, tmp_path / "store"), here(), quiet)
    shutil.rmtree(logdir)
    found = known_groups(select(opened(tmp_path / "store")))
    assert [(g.name, g.ranks) for g in found.values()] == [("dp", (0, 1))], "those of its ranks"


# ---- what is there is not read again ----------------------------------------------------------


def test_a_second_time_reads_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    raw, place = small(tmp_path / "runs", "a", "b", "c", "d"), tmp_path / "store"
    code, first = told(capsys, raw, "--store", place, "--workers", 1)
    assert (code, first["states"]) == (0, {"read": 4})
    before = below(place / "v1/captures") | below(place / "v1/descriptions")
    code, second = told(capsys, raw, "--store", place, "--workers", 1)
    assert (code, second["states"]) == (0, {"there": 4})
    assert sum(o["files"] for o in second["outcomes"]) == 0
    assert below(place / "v1/captures") | below(place / "v1/descriptions") == before


def test_goes_on_after_an_interrupt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    logdir, place = small(tmp_path / "runs", "a", "b"), tmp_path / "store"
    rows = KERNELS + "10,x,T,AI_CORE,99\t,1,0,8,2\r\n" * 3_000_000
    write_capture(logdir / "z", info(5), kernel_details=rows)
    args = [sys.executable, "-m", "tb_npu_plugin.cli", "ingest", logdir, "--store", place]
    log = tmp_path / "log"

    def heed() -> None:
        """Tests that run in the background of a shell are born deaf to interrupts."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with log.open("wb") as out, subprocess.Popen(
        [*args, "--workers", "1"], stdout=out, stderr=out, start_new_session=True, preexec_fn=heed
    ) as process:  # fmt: skip
        deadline = time.monotonic() + WAIT
        while not list(place.glob("v1/captures/*/.tmp-*/kernel*")) or len(described(place)) < 2:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        # The reading process stands still, so that the interrupt cannot come too late.
        readers = psutil.Process(process.pid).children(recursive=True)
        for reader in readers:
            reader.suspend()
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        for reader in readers:
            with contextlib.suppress(psutil.NoSuchProcess):
                reader.resume()
        assert process.wait(timeout=WAIT) == 130
    assert "2 read" in log.read_text()
    assert "1 not yet" in log.read_text()
    assert "Traceback" not in log.read_text()
    code, found = told(capsys, logdir, "--store", place, "--workers", 1)
    assert (code, found["states"]) == (0, {"there": 2, "read": 1})


def described(place: Path) -> list[Path]:
    return list(place.glob("v1/descriptions/*.json"))


def test_a_file_that_was_uploaded_is_not_read_again(tmp_path: Path) -> None:
    """The worker died between its files: there is no description, but there are entries."""
    logdir, url = small(tmp_path / "runs", "cap"), "memory://again/store"
    (task,) = tasks(logdir, url)
    assert ingest_capture(task).files == 2
    fs = pytest.importorskip("fsspec").filesystem("memory")
    fs.rm("/again/store/v1/descriptions", recursive=True)
    fs.rm(fs.glob("/again/store/v1/captures/*/*/done.json")[0])
    outcome = ingest_capture(task)
    assert (outcome.state, outcome.files, outcome.files_there) == ("read", 1, 1)
    assert ingest_capture(task).state == "there"


# ---- what fails ---------------------------------------------------------------------------------


def test_an_unreadable_file_is_listed_and_the_rest_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], opened: Callable[..., Store]
) -> None:
    logdir, place = small(tmp_path / "runs/job", "bad", "good").parent, tmp_path / "store"
    broken = logdir / "job/bad" / OUTPUT / "kernel_details.csv"
    broken.unlink()
    broken.symlink_to("/proc/self/mem")  # its first byte is an input/output error
    code, found = told(capsys, logdir, "--store", place, "--workers", 1)
    assert (code, found["states"]) == (1, {"read": 1, "failed": 1})
    (failed,) = [o for o in found["outcomes"] if o["state"] == "failed"]
    (error,) = failed["errors"]
    assert error.startswith(f"{OUTPUT}/kernel_details.csv: ")
    assert "Input/output error" in error
    capsys.readouterr()
    assert run(logdir, "--store", place, "--workers", 1) == 1
    shown = capsys.readouterr().out
    assert failed["retry"] in shown
    assert error in shown
    # What could be read of it is there, with the finding.
    sel = select(opened(place), rank="0")
    assert "file-unreadable" in [f.code for f in findings(sel)]
    assert sel.source("steps")
    # The very command that was printed, once the file is mended.
    broken.unlink()
    broken.write_text(KERNELS)
    assert failed["retry"].startswith("tb-npu ingest ")
    words = failed["retry"].split()[2:]
    code, again = told(capsys, *words, "--workers", 1)
    assert (code, again["states"]) == (0, {"read": 1})
    assert len(described(place)) == 2, "it is the same capture"


def deadly(task: Task) -> Outcome:
    """A capture that takes its process with it, whenever it is read."""
    if task.found.path.name == "bad":
        os._exit(9)
    return ingest_capture(task)


def deadly_once(task: Task) -> Outcome:
    """Its process dies the first time."""
    mark = task.found.path / "died"
    if task.found.path.name == "bad" and not mark.exists():
        mark.touch()
        os._exit(9)
    return ingest_capture(task)


def test_a_process_that_dies_takes_no_other_capture_with_it(tmp_path: Path) -> None:
    names = ["a", "bad", "c", "d", "e"]
    work = tasks(small(tmp_path / "runs", *names), tmp_path / "store")
    heard: list[Outcome] = []
    with processes(2) as workers:
        found = ingest_many(work, workers, heard.append, deadly)
    assert [o.name for o in found] == names
    # Beside the one that died another may have come to its end.
    assert [o.state in ("read", "there") for o in found] == [True, False, True, True, True]
    assert "ended early" in found[1].errors[0]
    assert sorted(o.name for o in heard) == names, "each is told once"


def test_a_process_of_a_cluster_dies(tmp_path: Path, address: str) -> None:
    distributed = pytest.importorskip("distributed")
    work = tasks(small(tmp_path / "runs", "a", "bad", "c"), tmp_path / "store")
    with distributed.Client(address, set_as_default=False) as client:
        workers = Workers(lambda _: client.get_executor(pure=False), 2, 99)
        found = ingest_many(work, workers, quiet, deadly_once)
    assert [o.state for o in found] == ["read", "read", "read"]


def test_a_cluster_that_is_gone_is_a_failure_of_each(tmp_path: Path, address: str) -> None:
    distributed = pytest.importorskip("distributed")
    work = tasks(small(tmp_path / "runs", "a", "b"), tmp_path / "store")
    with distributed.Client(address, set_as_default=False) as client:
        workers = Workers(lambda _: client.get_executor(pure=False), 2, 99)
    found = ingest_many(work, workers, quiet)
    assert [(o.name, o.state) for o in found] == [("a", "failed"), ("b", "failed")]
    assert all(o.errors for o in found)


def test_without_a_store_nothing_is_tried_for_ever(tmp_path: Path) -> None:
    work = tasks(small(tmp_path / "runs", *map(str, range(30))), tmp_path / "store")
    shutil.rmtree(tmp_path / "store")
    calls: list[Task] = []

    def counted(task: Task) -> Outcome:
        calls.append(task)
        return ingest_capture(task)

    found = ingest_many(work, here(2), quiet, counted)
    assert {o.state for o in found} == {"failed"}
    assert "there is no store" in found[0].errors[0]
    assert len(calls) == 30 + 2 * ingest_many_module.HOPELESS
    assert not (tmp_path / "store").exists()


def test_two_at_once_write_the_same(tmp_path: Path, raw: Path) -> None:
    work = tasks(raw, "memory://two/store")
    found = ingest_many([*work, *work], here(4), quiet)
    assert {o.state for o in found} <= {"read", "there"}
    assert len(open_store("memory://two/store").listing()) == 4


# ---- looking ------------------------------------------------------------------------------------


def test_raw_files_and_store_are_one_capture(
    raw: Path, tmp_path: Path, opened: Callable[..., Store], cache_dir: Path
) -> None:
    ingest_many(tasks(raw, tmp_path / "store"), here(), quiet)
    store = opened(raw, tmp_path / "store")
    assert [len(r[0].captures) for r in store.runs.values()] == [2, 2]
    states = [s for c in store.captures() for s in store.files(c.capture_id)]
    assert {s.state for s in states} == {"ready"}
    assert not any(c.store for c in store.captures())
    assert not list(cache_dir.rglob("done.json")), "nothing was read again"


@pytest.mark.parametrize("scheme", ["", "local://"])
def test_captures_that_come_and_go_show_without_a_restart(
    tmp_path: Path, opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    place = f"{scheme}{tmp_path / 'store'}"
    monkeypatch.setenv("TB_NPU_STORE", place)
    ingest_many(tasks(small(tmp_path / "runs", "a"), place), here(), quiet)
    (tmp_path / "empty").mkdir()
    store = opened(tmp_path / "empty")
    assert [c.name for c in store.captures()] == ["a"]
    assert store.fetch(store.captures(), ["kernels"], timeout=WAIT)
    version = store.version
    store.rescan()
    assert store.version == version, "nothing changed"
    write_capture(tmp_path / "runs/b", info(1), kernel_details=KERNELS)
    ingest_many(tasks(tmp_path / "runs", place), here(), quiet)
    store.rescan()
    assert [c.name for c in store.captures()] == ["a", "b"]
    for file in described(tmp_path / "store"):
        if '"name":"a"' in file.read_text():
            file.unlink()
    store.rescan()
    assert [c.name for c in store.captures()] == ["b"]


def test_a_store_that_goes_away_stays_known_and_comes_back(
    tmp_path: Path, opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "store"
    ingest_many(tasks(small(tmp_path / "runs", "a"), f"local://{place}"), here(), quiet)
    monkeypatch.setenv("TB_NPU_STORE", f"local://{place}")
    (tmp_path / "empty").mkdir()
    store = opened(tmp_path / "empty")
    place.rename(tmp_path / "away")
    assert store.fetch(store.captures(), ["kernels"], timeout=WAIT)
    assert not store.parts(store.captures(), "kernels")
    store.rescan()
    assert {f.code for f in findings(select(store))} >= {"store-unreachable"}
    (tmp_path / "away").rename(place)
    store.rescan()
    assert store.fetch(store.captures(), ["kernels"], timeout=WAIT)
    assert store.parts(store.captures(), "kernels")
    assert "store-unreachable" not in {f.code for f in findings(select(store))}


def test_what_was_left_out_is_said_to_be_not_there(
    raw: Path, tmp_path: Path, opened: Callable[..., Store]
) -> None:
    place = tmp_path / "store"
    assert run(raw, "--store", place, "--workers", 1, "--no-timeline") == 0
    store = opened(place)
    for name in ("text", "db"):
        sel = select(store, run=name)
        assert "not-in-store" in [f.code for f in findings(sel, "timeline")]
        assert store.fetch(sel.captures, ["tracks"], timeout=WAIT)
        assert not store.parts(sel.captures, "tracks")
        assert store.parts(sel.captures, "kernels")
    shown = all_views(place, tmp_path / "cache2")
    files = next(v for k, v in shown.items() if k.startswith("text") and " files" in k)
    states = dict(zip(files["data"]["table"]["values"]["name"],
                      files["data"]["table"]["values"]["state"], strict=True))  # fmt: skip
    assert states[f"{OUTPUT}/trace_view.json"] == "not in the store"
    assert states[f"{OUTPUT}/kernel_details.csv"] == "read"
    assert run(raw, "--store", place, "--workers", 1) == 0, "what was left out is added"
    assert run(raw, "--store", place, "--workers", 1, "--no-timeline") == 0, "and stays"
    store.rescan()
    assert store.parts(store.captures(), "tracks")
    assert "not-in-store" not in [f.code for f in findings(select(store))]


def test_several_logdirs_in_one_store(tmp_path: Path, opened: Callable[..., Store]) -> None:
    for name in ("x", "y"):
        small(tmp_path / name, "cap")
        assert run(tmp_path / name, "--store", tmp_path / "store", "--name", name) == 0
    assert list(opened(tmp_path / "store").runs) == ["x", "y"]


def test_what_another_version_read_is_not_shown_as_ours(
    tmp_path: Path, opened: Callable[..., Store]
) -> None:
    place = tmp_path / "store"
    ingest_many(tasks(small(tmp_path / "runs", "a"), place), here(), quiet)
    (file,) = described(place)
    description = decode(file.read_bytes())
    kernels = next(f for f in description.files if f.reader == "kernel_details")
    content = json.loads(file.read_text())
    content["files"][description.files.index(kernels)]["version"] += 1
    file.write_text(json.dumps(content))
    store = opened(place)
    assert not store.parts(store.captures(), "kernels")
    assert store.parts(store.captures(), "steps")
    assert "store-outdated" in [f.code for f in findings(select(store))]
    content["version"] += 1
    file.write_text(json.dumps(content))
    assert opened(place).captures() == []


# ---- the parts ----------------------------------------------------------------------------------


def test_a_description_keeps_names_that_are_no_text(tmp_path: Path) -> None:
    odd = os.fsdecode(b"r\xff")
    with contextlib.suppress(OSError):
        small(tmp_path / odd, "cap")
        (task,) = tasks(tmp_path, tmp_path / "store")
        ingest_capture(task)
        (file,) = described(tmp_path / "store")
        description = decode(file.read_bytes())
        assert description.capture.path == tmp_path / odd / "cap"
        assert encode(description) == file.read_bytes()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"version": "x"}', b'{"version": 99}'])
def test_a_damaged_description_is_unknown(data: bytes) -> None:
    with pytest.raises(Unknown):
        decode(data)


def test_half_a_description_is_read_when_it_is_whole(
    tmp_path: Path, opened: Callable[..., Store]
) -> None:
    place = tmp_path / "store"
    ingest_many(tasks(small(tmp_path / "runs", "a", "b"), place), here(), quiet)
    file = described(place)[0]
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    store = opened(place)
    assert len(store.captures()) == 1
    assert "store-unreachable" in [f.code for f in findings(select(store))]
    file.write_bytes(whole)
    store.rescan()
    assert len(store.captures()) == 2
    assert "store-unreachable" not in [f.code for f in findings(select(store))]


def test_an_entry_without_its_last_file_is_none(tmp_path: Path) -> None:
    url = "memory://half/store"
    (task,) = tasks(small(tmp_path / "runs", "a"), url)
    ingest_capture(task)
    fs = pytest.importorskip("fsspec").filesystem("memory")
    done = fs.glob("/half/store/v1/captures/*/*/done.json")[0]
    capture_id, fingerprint = done.split("/")[-3:-1]
    store, cache = open_store(url), Cache(tmp_path / "cache")
    assert fetch(store.entry(capture_id, fingerprint), cache, capture_id, fingerprint).tables
    fs.rm(done)
    assert store.load(capture_id, fingerprint) is None
    cache.clear()
    with pytest.raises(FileNotFoundError, match="not complete"):
        fetch(store.entry(capture_id, fingerprint), cache, capture_id, fingerprint)
    assert cache.load(capture_id, fingerprint) is None


def test_a_store_is_open_to_others_and_a_cache_is_not(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        ingest_many(tasks(small(tmp_path / "runs", "a"), tmp_path / "store"), here(), quiet)
        run(tmp_path / "runs", "--cache", tmp_path / "cache")
    finally:
        os.umask(mask)
    modes = {p.stat().st_mode & 0o777 for p in (tmp_path / "store").rglob("*")}
    assert modes == {0o755, 0o644}
    assert (tmp_path / "cache/v1").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["--store", "nope://x"], "Protocol not known"),
        (["--store", "/proc/nowhere"], "No such file"),
        (["--dask", "tcp://127.0.0.1:1"], "--dask needs a --store"),
        (["--dask", "nope://x", "--store", "STORE"], "unknown address scheme"),
        (["--dask", "tcp://x:1", "--store", "STORE", "--workers", "2"], "the cluster decides"),
        (["--store", "STORE", "--cache", "STORE"], "a store is a cache"),
        (["--store", "LOGDIR"], "must not hold the logdir"),
        (["--store", "FULL"], "no store of tb-npu"),
    ],
)
def test_bad_places_say_what_is_wrong(
    tmp_path: Path, args: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logdir = small(tmp_path / "runs", "a")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").touch()
    places = {"STORE": tmp_path / "store", "LOGDIR": logdir, "FULL": tmp_path / "full"}
    code = run(logdir, *(places.get(a, a) for a in args))
    assert code in (1, 2)
    assert word in " ".join(capsys.readouterr().err.split())
    assert sorted(p.name for p in (tmp_path / "full").iterdir()) == ["notes.txt"]


def test_a_later_store_is_refused(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    (tmp_path / "store.json").write_text('{"store":"tb-npu","version":2}')
    with pytest.raises(RequestError, match="later version"):
        store.exists()


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("fsspec.core", "distributed"):
        monkeypatch.setitem(sys.modules, module, None)
    logdir = small(tmp_path / "runs", "a")
    for args in (["--store", "s3://b/c"], ["--store", tmp_path / "s", "--dask", "tcp://x:1"]):
        assert run(logdir, *args) in (1, 2)
        assert "pip install 'tb-npu-plugin[cluster]'" in capsys.readouterr().err
    assert run(logdir, "--store", tmp_path / "s", "--workers", 1) == 0, "a directory needs neither"
