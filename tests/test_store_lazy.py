"""Traces in the store: read when a view asks, worked out when a file is missing, stopped on demand."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from small_captures import KERNELS, OUTPUT, STEPS, info, write_capture

from tb_npu_plugin.backend import file_state
from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.file_state import FileState
from tb_npu_plugin.backend.selection import select
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.views import captures as captures_view
from tb_npu_plugin.backend.views import files as files_view

WAIT = 60
EVENTS = [
    {"ph": "X", "name": f"aten::op{i}", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": f"{i}.000", "dur": 0.5}
    for i in range(100)
]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path, cache_dir: Path) -> Iterator[Callable[[], Store]]:
    opened: list[Store] = []

    def make() -> Store:
        opened.append(
            Store([Root(tmp_path / "logdir")], Cache(cache_dir), workers=1, quiet_seconds=0.0)
        )
        opened[-1].rescan()
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def capture(tmp_path: Path, name: str = "cap", start_ns: int = 10**18, **files: str) -> Path:
    path = write_capture(
        tmp_path / "logdir" / name, info(0, start_ns, start_ns + 10**9),
        **(files or {"kernel_details": KERNELS, "step_trace_time": STEPS}),
    )  # fmt: skip
    (path / OUTPUT / "trace_view.json").write_text(json.dumps(EVENTS))
    return path


def state(store: Store, reader: str = "trace_view", index: int = 0) -> FileState:
    """The state of a capture's trace; captures by name."""
    chosen = sorted(store.captures(), key=lambda c: c.name)[index]
    return next(s for s in store.files(chosen.capture_id) if s.reader == reader)


def until(happens: Callable[[], Any]) -> None:
    deadline = time.monotonic() + WAIT
    while not happens():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def test_a_small_trace_of_the_newest_recording_is_read(
    tmp_path: Path, store: Callable[[], Store]
) -> None:
    capture(tmp_path, "new", 2 * 10**18)
    capture(tmp_path, "old", 10**18)
    opened = store()
    until(lambda: state(opened, index=0).state == "ready")
    until(lambda: state(opened, "kernel_details", 1).state == "ready")
    assert state(opened, index=1).state == "waiting"
    assert state(opened, "trace_derived", 0).state == "waiting"


def test_a_big_trace_is_read_when_a_view_asks(
    tmp_path: Path, store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_state, "LAZY_BYTES", 100)
    capture(tmp_path)
    opened = store()
    assert opened.wait(timeout=WAIT)
    assert state(opened).state == "waiting"
    assert state(opened, "trace_derived").state == "waiting", (
        "though operators are to be had nowhere else"
    )
    sel = select(opened)
    assert sel.state("kernels") == ("ready", 1.0), "the trace is not waited for"
    assert sel.state() == ("ready", 1.0)
    (run,) = captures_view.captures(opened).runs
    assert run.recordings[0].captures[0].state == "ready"
    assert sel.state("slices") == ("ingesting", 0.0)
    opened.request(sel.captures, ["slices"])
    assert opened.fetch(sel.captures, ["slices"], timeout=WAIT)
    assert state(opened).rows["slices"] == 100
    assert state(opened, "trace_derived").state == "waiting"


@pytest.mark.parametrize("big", [False, True])
def test_tables_that_are_missing_are_worked_out(
    tmp_path: Path, store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch, big: bool
) -> None:
    capture(tmp_path, kernel_details=KERNELS)
    if big:
        monkeypatch.setattr(file_state, "LAZY_BYTES", 100)
    opened = store()
    assert opened.wait(timeout=WAIT)
    if big:
        assert state(opened).state == "waiting"
        assert opened.fetch(opened.captures(), ["operators"], timeout=WAIT)
    assert state(opened, "trace_derived").rows["operators"] == 100
    assert state(opened).state == "ready", "it was read on the way"
    sel = select(opened)
    assert [s.kind for _, s, _ in opened.parts(sel.captures, "operators")] == ["trace"]
    assert [s.kind for _, s, _ in opened.parts(sel.captures, "kernels")] == ["text"]


def test_the_source_can_be_chosen(tmp_path: Path, store: Callable[[], Store]) -> None:
    capture(tmp_path)
    opened = store()
    assert opened.wait(timeout=WAIT)
    assert opened.kinds(opened.captures(), "kernels") == ["text", "trace"]
    assert state(opened, "trace_derived").state == "ready", "operators are to be had nowhere else"
    sel = select(opened, source="trace")
    assert opened.fetch(sel.captures, ["kernels"], "trace", timeout=WAIT)
    assert [s.kind for _, s, _ in opened.parts(sel.captures, "kernels", "trace")] == ["trace"]
    assert sel.paths("kernels") != select(opened).paths("kernels")


def test_a_file_is_listed_once(tmp_path: Path, store: Callable[[], Store]) -> None:
    capture(tmp_path)
    opened = store()
    assert opened.wait(timeout=WAIT)
    names = [cells[2] for cells in files_view._cells(select(opened))]
    assert len(names) == len(set(names)) == 4


def test_a_second_store_derives_nothing_again(tmp_path: Path, store: Callable[[], Store]) -> None:
    capture(tmp_path, kernel_details=KERNELS)
    first = store()
    assert first.wait(timeout=WAIT)
    second = store()
    assert state(second, "trace_derived").state == "ready", "at once, from the cache"
    assert state(second).state == "ready"


def test_a_broken_trace_ends_what_is_derived_from_it(
    tmp_path: Path, store: Callable[[], Store]
) -> None:
    path = capture(tmp_path, kernel_details=KERNELS)
    (path / OUTPUT / "trace_view.json").write_text("no trace")
    opened = store()
    assert opened.wait(timeout=WAIT)
    assert state(opened).state == "failed"
    assert [n.code for n in state(opened).notes] == ["trace-no-events"]
    assert state(opened, "trace_derived").state == "failed"


def test_reading_can_be_cancelled(
    tmp_path: Path, cache_dir: Path, store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_state, "LAZY_BYTES", 1000)
    path = capture(tmp_path) / OUTPUT / "trace_view.json"
    one = json.dumps(EVENTS)[1:-1]
    with path.open("w") as stream:
        stream.write("[" + ", ".join([one] * 2000) + "]")
    before = path.stat().st_mtime_ns
    opened = store()
    sel = select(opened)
    opened.request(sel.captures, ["slices"])
    until(lambda: state(opened).progress > 0)
    assert state(opened).state == "running"
    opened.cancel(state(opened).capture_id)
    until(lambda: state(opened).state == "waiting")
    assert state(opened).progress == 0
    assert state(opened).notes == []
    assert list((cache_dir / "v1/scratch").glob("*")) == [], "the reader tidied up"
    assert not list((cache_dir / "v1/captures").glob(f"*/{state(opened).fingerprint}"))
    assert path.stat().st_mtime_ns == before
    opened.request(sel.captures, ["steps"])
    until(lambda: state(opened, "step_trace_time").state == "ready")
    assert state(opened).state == "waiting", "until it is asked for"
    assert opened.fetch(sel.captures, ["slices"], timeout=WAIT)
    assert state(opened).rows["slices"] == 200_000
