"""Traces that no profiler should write, and edges that real ones have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.timeline.detail import detail
from tb_npu_plugin.backend.timeline.drawing import Window
from tb_npu_plugin.backend.timeline.export import chrome_trace
from tb_npu_plugin.backend.timeline.files import MAX_TRACKS
from tb_npu_plugin.backend.timeline.finding import search
from tb_npu_plugin.backend.timeline.nesting import self_ns
from tb_npu_plugin.backend.timeline.ranges import range_of, sums_by_name
from tb_npu_plugin.backend.views.flame import flame
from tb_npu_plugin.backend.views.slices import slices
from tb_npu_plugin.backend.views.timeline import timeline
from tb_npu_plugin.frames import Captures, load

from .test_timeline import drawn_slices, selected

EPOCH_US = 1_736_408_883_573_887


def x(name: str, ts: float | str, dur: Any, tid: int = 1, pid: int = 1) -> dict[str, Any]:
    return {"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name}


def device(events: list[dict[str, Any]], pid: int = 9) -> list[dict[str, Any]]:
    named = {"ph": "M", "pid": pid, "tid": 0, "name": "process_name",
             "args": {"name": "Ascend Hardware"}}  # fmt: skip
    host = {"ph": "M", "pid": 1, "tid": 0, "name": "process_name", "args": {"name": "Python"}}
    return [named, host, *events]


def arrow(number: int, start: float, end: float) -> list[dict[str, Any]]:
    common = {"cat": "async_npu", "name": "torch_to_npu", "id": number}
    return [
        {"ph": "s", "pid": 1, "tid": 1, "ts": start, **common},
        {"ph": "f", "bp": "e", "pid": 9, "tid": 1, "ts": end, **common},
    ]


@contextmanager
def shown(path: Path, events: list[dict[str, Any]]) -> Iterator[Selected]:
    folder = path / "host_1_20260101000000_ascend_pt/ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    (folder / "trace_view.json").write_text(json.dumps(events))
    with load(path, cache=path / "cache") as captures:
        yield selected(captures)


@pytest.mark.parametrize(
    "bad",
    [x("a", 10, 1e16), x("a", 4e15, 6e15), x("a", 10, 1e300), x("a", 2.4e15, 1), x("a", -4e15, 1)],
)
def test_one_absurd_time_costs_no_timeline(tmp_path: Path, bad: dict[str, Any]) -> None:
    with shown(tmp_path, [x("ok", 1, 1), bad]) as sel:
        view = timeline(sel)
        assert view.base_ns is not None
        drawn = drawn_slices(sel, Window(view.start, view.end + 1, 1000))
        assert sum(drawn.values()) == 2
        assert {s.name for s in search(sel, "/^(ok|a)$/", 0, None, 9).matches} == {"ok", "a"}


def test_all_ways_to_ask_for_a_range_agree_at_epoch_times(tmp_path: Path) -> None:
    """200 slices of 100 ns without a gap: a double would hold their times to 256 ns only."""
    events = [x(f"n{i}", f"{EPOCH_US + i // 10}.{i % 10}00", 0.1) for i in range(200)]
    with shown(tmp_path, events) as sel:
        for begin, end, wanted in ((0, 20_000, 200), (1000, 1100, 1), (1000, 2000, 10)):
            sel.options = {"from": str(begin), "to": str(end)}
            assert slices(sel, TableRequest(group="")).table.total == wanted
            assert slices(sel, TableRequest(group="name", limit=500)).table.total == wanted
            exported = json.loads("".join(chrome_trace(sel, Window(begin, end, 1))))
            assert sum(e["ph"] == "X" for e in exported) == wanted
            assert sum(drawn_slices(sel, Window(begin, end, 50)).values()) == wanted


def gap(sel: Selected, name: str) -> tuple[float | None, str]:
    (found,) = search(sel, f"={name}", 0, None, 2).matches
    told = detail(sel, found.id).gap
    return told.before, told.behind


def test_an_arrow_to_the_next_slice_is_not_credited(tmp_path: Path) -> None:
    events = [x("late", 1200, 5), x("k0", 1050, 10, pid=9), x("kA", 1100, 110, pid=9),
              x("kB", 1210, 10, pid=9), *arrow(1, 1201, 1210)]  # fmt: skip
    with shown(tmp_path, device(events)) as sel:
        assert gap(sel, "kA") == (40_000, "")
        assert gap(sel, "kB") == (0, "")


def test_a_stream_is_idle_only_where_nothing_of_it_runs(tmp_path: Path) -> None:
    """B begins within A, so it is drawn below, and ends long after it."""
    events = [x("A", 1000, 10, pid=9), x("B", 1005, 45, pid=9), x("C", 1060, 10, pid=9)]
    with shown(tmp_path, device(events)) as sel:
        assert gap(sel, "C") == (10_000, "")
        assert gap(sel, "A") == (None, "")


def test_what_was_asked_early_may_be_sent_late(tmp_path: Path) -> None:
    """The operator was queued before the stream fell idle, the launch came within the gap."""
    launch = [{**e, "cat": "HostToDevice", "id": 2} for e in arrow(2, 1150, 1160)]
    events = [x("op", 1000, 10), x("launch", 1149, 5), x("k0", 1050, 50, pid=9),
              x("k1", 1160, 10, pid=9), *arrow(1, 1001, 1160), *launch]  # fmt: skip
    with shown(tmp_path, device(events)) as sel:
        before, behind = gap(sel, "k1")
        assert before == 60_000
        assert behind == (
            "op had asked for it 159 us before it began, but launch sent it only 50.0 us after the "
            "track fell idle."
        ).replace("us", "µs")


def test_a_slice_is_told_the_same_alone_and_in_the_table(level1: Captures) -> None:
    """Self, slice by slice over a thread whose frames and markers overlap, against the sums."""
    sel = selected(level1, rank="0")
    sel.options = {"tracks": "0"}
    wanted = range_of(sel)
    assert wanted
    sums = sums_by_name(wanted)
    index = wanted.tracks[0][0].index
    own: dict[str, int] = {}
    for lane in index.lanes_of(0):
        for row in range(int(lane["first"]), int(lane["first"] + lane["count"])):
            name = index.names[index.codes[row]]
            own[name] = own.get(name, 0) + self_ns(index, row)
    assert own == {name: s.self for name, s in sums.items()}


def test_a_thousand_calls_deep(tmp_path: Path) -> None:
    events = [x(f"f{i}", 1000 + i, 5000 - 2 * i) for i in range(1000)]
    with shown(tmp_path, device(events)) as sel:
        (found,) = search(sel, "=f999", 0, None, 2).matches
        told = detail(sel, found.id)
        assert told.stack == [f"f{i}" for i in range(998, 498, -1)]
        assert told.parent
        assert told.parent.name == "f998"
        assert max(flame(sel).nodes.depth) == 999


def test_all_steps_are_one_call(tmp_path: Path) -> None:
    events = [x(f"ProfilerStep#{i}", 1000 + 100 * i, 90) for i in range(3)]
    events += [x("op", 1010 + 100 * i, 20) for i in range(3)]
    with shown(tmp_path, device(events)) as sel:
        nodes = flame(sel).nodes
        assert (nodes.name, nodes.count) == (["ProfilerStep", "op"], [3, 3])
        assert (nodes.total, nodes.self) == ([270_000, 60_000], [210_000, 60_000])


def test_more_tracks_than_are_drawn(tmp_path: Path) -> None:
    events = [x("a", 1000 + i, 1, tid=i) for i in range(MAX_TRACKS + 20)]
    with shown(tmp_path, events) as sel:
        view = timeline(sel)
        assert len(view.tracks) == MAX_TRACKS
        assert "the first 10,000 of 10,020 tracks" in view.note
        with pytest.raises(RequestError) as refused:
            detail(sel, f"0.{MAX_TRACKS + 19}")
        assert refused.value.status == 404


def test_counters_with_names_of_any_length(tmp_path: Path) -> None:
    def value(name: str, ts: float, number: float) -> dict[str, Any]:
        return {"ph": "C", "pid": 1, "tid": 1, "ts": ts, "name": name, "args": {"v": number}}

    events = [value("n" * 20_000, 1000, 7), *(value("q", 1000 + i, i) for i in range(50))]
    with shown(tmp_path, events) as sel:
        (track,) = timeline(sel).tracks
        assert [(len(c.name), c.least, c.most) for c in track.counters] == [
            (20_002, 7, 7), (3, 0, 49),
        ]  # fmt: skip


@pytest.mark.parametrize("name", ["0.²", "².0", "0.٣"])
def test_digits_that_are_none(tmp_path: Path, name: str) -> None:
    with shown(tmp_path, [x("ok", 1, 1)]) as sel, pytest.raises(RequestError) as refused:
        detail(sel, name)
    assert refused.value.status == 400


def test_a_name_is_found_by_all_of_it(tmp_path: Path) -> None:
    with shown(tmp_path, [x(" a ", 1, 1), x("a", 5, 1)]) as sel:
        assert search(sel, "= a ", 0, None, 9).total == 1
        assert search(sel, "=a", 0, None, 9).total == 1
        assert search(sel, " a ", 0, None, 9).total == 2


def test_the_shortest_window(tmp_path: Path, opened: Callable[[Path], Captures]) -> None:
    with shown(tmp_path, [x("ok", 1, 1)]) as sel, pytest.raises(RequestError):
        drawn_slices(sel, Window(0, 5e-324, 100))
