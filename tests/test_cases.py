"""The bad inputs seen in the field, as a user meets them: what their list states and no other test has.

Most of what is stated is tested beside the reader or the view that it is about, by the case's number.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_captures import KERNELS, OUTPUT, STEPS, info, shared_path, write_capture
from test_api import Http, serve

from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.views.captures import captures as listed
from tb_npu_plugin.backend.views.registry import VIEWS
from tb_npu_plugin.frames import Captures

Opener = Callable[[Path], Captures]
#: Without them one test is left, whose fixture skips or fails it.
CASES = sorted(p.name for p in shared_path().glob("cases/C*") if p.is_dir()) or ["none"]


@pytest.mark.parametrize("case", CASES)
def test_every_case_has_a_test(case: str, cases: Path) -> None:
    number = case.split("-")[0]
    tests = Path(__file__).parent.rglob("test_*.py")
    assert any(re.search(rf"\b{number}\b", path.read_text()) for path in tests)


@pytest.fixture
def http(cache_dir: Path) -> Iterator[Callable[[Path], Http]]:
    held: list[Http] = []

    def open_http(path: Path) -> Http:
        held.append(serve(path, cache_dir))
        store = held[-1].store
        assert store.wait(timeout=60)
        assert store.fetch(store.captures(), ["slices"], timeout=60)
        return held[-1]

    yield open_http
    for one in held:
        one.store.close()


@pytest.mark.parametrize("case", CASES)
def test_every_view_of_every_case_answers_strict_json(
    case: str, cases: Path, http: Callable[[Path], Http]
) -> None:
    """C06 above all: no NaN, no Infinity, whatever the files hold; and nothing is a 500."""
    client = http(cases / case)
    for run in client.data("captures")["runs"]:
        for view in VIEWS:
            client.json(view, run=run["run"])


def test_c01_is_read_again_when_the_analysis_goes_on(
    cases: Path, tmp_path: Path, cache_dir: Path
) -> None:
    copy = tmp_path / "logdir/x_ascend_pt"
    shutil.copytree(cases / "C01-trace-no-closing-bracket", copy)
    path = next(copy.rglob("trace_view.json"))
    store = Store([Root(tmp_path / "logdir")], Cache(cache_dir), workers=1, quiet_seconds=0)
    try:
        store.rescan()
        assert codes(store) & {"trace-unclosed"}
        device = (
            b',{"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "Ascend Hardware"}}'
        )
        event = b',{"ph": "X", "name": "k", "pid": 9, "tid": 1, "ts": "1704161511420306.500", "dur": 1}]'
        path.write_bytes(path.read_bytes().rstrip() + device + event)
        store.rescan()
        store.rescan()
        assert not codes(store) & {"trace-unclosed", "trace-host-only"}
        rows = [
            s.rows["slices"]
            for s in store.files(store.captures()[0].capture_id)
            if "slices" in s.rows
        ]
        assert rows == [3]
    finally:
        store.close()


def codes(store: Store) -> set[str]:
    """Codes of everything that is found, read first."""
    assert store.wait(timeout=60)
    assert store.fetch(store.captures(), ["slices"], timeout=60)
    states = [s for c in store.captures() for s in store.files(c.capture_id)]
    return {n.code for s in states for n in s.notes} | {
        n.code for c in store.captures() for n in c.notes
    }


def test_c13_three_messages_and_what_lies_outside_steps(
    cases: Path, opened: Opener, http: Callable[[Path], Http]
) -> None:
    root = cases / "C13-kernel-empty-step-or-rows"
    messages = {}
    for part, code in (
        ("a", "rows-outside-steps"),
        ("b", "kernels-empty"),
        ("c", "kernels-missing"),
    ):
        found = opened(root / part).findings().set_index("code")
        messages[part] = found.loc[code, "message"]
    assert messages["a"].startswith("1 kernel(s) lie outside any step")
    assert messages["b"] == "The file is there but holds 0 kernels."
    assert messages["c"].startswith("There is no kernel_details.csv: torch_npu does not create it")
    client = http(root / "a")
    (recording,) = client.data("captures")["runs"][0]["recordings"]
    assert (recording["steps"], recording["outside_steps"]) == ([7], True)
    assert client.data("kernel")["table"]["total"] == 2
    assert client.data("kernel", step="none")["table"]["total"] == 1


def test_c16_a_spreadsheet_runs_no_name(cases: Path, http: Callable[[Path], Http]) -> None:
    body = http(cases / "C16-operator-hostile-names").get("operator", format="csv")
    names = [r["name"] for r in csv.DictReader(io.StringIO(body.get_data(as_text=True)))]
    assert len(names) == 4
    assert [n for n in names if n.startswith("'=HYPERLINK(")]
    assert not [n for n in names if n.startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize("length", [120, 300])
def test_c31_long_paths(tmp_path: Path, opened: Opener, length: int) -> None:
    folder = tmp_path / "logdir"
    while len(str(folder)) < len(str(tmp_path)) + length:
        folder /= "x" * 40
    write_capture(
        folder / "rank0_ascend_pt", info(0), step_trace_time=STEPS, kernel_details=KERNELS
    )
    assert len(opened(tmp_path / "logdir").kernels()) == 2


def test_c32_a_capture_that_grows_while_it_is_open(tmp_path: Path, cache_dir: Path) -> None:
    """A file of an analysis that still runs gets longer, twice; the tab that is open shows it."""
    write_capture(tmp_path / "runs/first", info(0), step_trace_time=STEPS)
    store = Store([Root(tmp_path / "runs")], Cache(cache_dir), workers=1, quiet_seconds=0.2)
    try:
        store.rescan()
        capture = write_capture(
            tmp_path / "runs/busy_2_20260101000000002_ascend_pt", info(1), step_trace_time=STEPS
        )
        path = capture / OUTPUT / "kernel_details.csv"
        header, *rows = KERNELS.splitlines(keepends=True)
        path.write_text(header + rows[0][:20])
        store.rescan()
        (grown,) = [c for c in store.captures() if c.rank == 1]
        assert store.growing(grown.capture_id)
        states = {
            c.name: c.state for r in listed(store).runs for g in r.recordings for c in g.captures
        }
        assert states["busy_2_20260101000000002_ascend_pt"] == "growing"
        path.write_text(header + rows[0] + rows[1][:9])
        assert rows_of(store, grown.capture_id) == 1, "the row that is not whole is left out"
        path.write_text(header + "".join(rows))
        assert rows_of(store, grown.capture_id) == 2
        (capture / OUTPUT / "analyse.done").touch()
        store.rescan()
        store.rescan()  # nothing changed since: the marker ends the waiting
        assert not store.growing(grown.capture_id)
        told = {n.code: n for c in store.captures() for n in c.notes if c.rank == 1}
        assert "trace_view.json" in told["analysis-incomplete"].params["missing"]
    finally:
        store.close()


def rows_of(store: Store, capture_id: str) -> int:
    """Kernels of a capture once its files were quiet for a while."""
    store.rescan()
    assert store.growing(capture_id)
    deadline = time.monotonic() + 30
    while store.growing(capture_id):
        assert time.monotonic() < deadline
        time.sleep(0.1)
        store.rescan()
    assert store.wait(timeout=60)
    return sum(s.rows.get("kernels", 0) for s in store.files(capture_id))
