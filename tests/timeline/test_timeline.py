"""The timeline of the real captures: tracks, windows, one slice, search, ranges, call trees."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import TableRequest, rows_csv
from tb_npu_plugin.backend.timeline.binary import MAGIC
from tb_npu_plugin.backend.timeline.detail import detail
from tb_npu_plugin.backend.timeline.drawing import HUES, TICKS, Window, window
from tb_npu_plugin.backend.timeline.export import chrome_trace
from tb_npu_plugin.backend.timeline.files import TABLES
from tb_npu_plugin.backend.timeline.finding import search
from tb_npu_plugin.backend.timeline.flows import flows_in
from tb_npu_plugin.backend.views.flame import flame
from tb_npu_plugin.backend.views.slices import slices, slices_query
from tb_npu_plugin.backend.views.timeline import timeline
from tb_npu_plugin.frames import Captures, load

BASE = 1736408883573887920  # the first counter value of text_level1


@pytest.fixture(scope="module", params=["text_level1", "db_level1"])
def either(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Captures]]:
    path = shared / "captures" / request.param
    with load(path, cache=tmp_path_factory.mktemp("cache")) as captures:
        yield request.param, captures


def selected(captures: Captures, **selection: Any) -> Selected:
    sel = captures.select(**selection)
    assert sel.store.fetch(sel.captures, (*TABLES, "comm_ops"), timeout=60)
    return sel


@pytest.fixture
def text(level1: Captures) -> Selected:
    return selected(level1)


def parsed(body: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    assert body[:4] == MAGIC
    (length,) = struct.unpack("<I", body[4:8])
    header = json.loads(body[8 : 8 + length])
    at = 8 + length
    assert at % 8 == 0
    columns = {
        c["name"]: np.frombuffer(body, f"<{c['type']}", c["count"], at + c["offset"])
        for c in header["columns"]
    }
    return header, columns


def drawn_slices(sel: Selected, wanted: Window) -> dict[int, int]:
    """Track -> slices drawn in a window."""
    header, column = parsed(window(sel, wanted))
    drawn: dict[int, int] = {}
    for track, _depth, first, count in header["lanes"]:
        number = int(column["count"][first : first + count].sum())
        drawn[track] = drawn.get(track, 0) + number
    return drawn


def test_tracks_of_the_real_job(text: Selected) -> None:
    view = timeline(text)
    assert view.base_ns == str(BASE)
    assert [r.label for r in view.ranks] == ["Rank 0", "Rank 1"]
    (streams,) = [t for t in view.tracks if t.id == 8]
    assert (streams.process, streams.label, streams.slices) == ("Ascend Hardware", "Stream 2", 219)
    assert [(s.part, s.name) for s in view.steps] == [(0, "Step 50"), (1, "Step 50")]
    assert view.steps[0].end - view.steps[0].start == 155985800
    assert sum(t.slices for t in view.tracks) == 4384 + 4385
    (frequency,) = next(t for t in view.tracks if t.label == "AI Core Freq").counters
    assert (frequency.name, frequency.unit, frequency.most) == ("AI Core Freq", "MHz", 1800)
    align = {a.id: a.shifts for a in view.alignments}
    assert align["clock"] == [0, 0]
    assert align["step"] == [0, view.steps[0].start - view.steps[1].start]
    # The four all-reduces end within 9 us of each other, although their starts lie 5.6 ms apart.
    assert align["collective"] == [-4060, 4060]


def test_text_and_database_have_the_same_tracks(either: tuple[str, Captures]) -> None:
    name, captures = either
    view = timeline(selected(captures, rank="0"))
    count = {
        kind: sum(t.slices for t in view.tracks if t.kind == kind)
        for kind in ("hardware", "communication", "cann", "overlap")
    }
    assert count["hardware"] == {"text_level1": 535, "db_level1": 537}[name] or name
    assert count["communication"] == 4 + 16 + 7 * 40
    assert [t.label for t in view.tracks if t.kind == "overlap"] == [
        "Computing", "Communication", "Communication(Not Overlapped)", "Free",
    ]  # fmt: skip
    assert sum(t.kind == "hardware" for t in view.tracks) == 4


def test_a_window_draws_everything_once(text: Selected) -> None:
    view = timeline(text)
    for width in (1, 300, 8000):
        header, column = parsed(window(text, Window(0, view.end + 1, width)))
        by_track: dict[int, int] = {}
        for track, _depth, first, count in header["lanes"]:
            drawn = int(column["count"][first : first + count].sum())
            by_track[track] = by_track.get(track, 0) + drawn
            ends = column["start"][first : first + count] + column["length"][first : first + count]
            assert (ends[:-1] <= column["start"][first + 1 : first + count]).all()
            assert ends.max() <= width * TICKS
        assert by_track == {t.id: t.slices for t in view.tracks if t.slices}
        assert max(header["hues"]) < HUES
        assert len(header["names"]) == len(header["hues"]) > column["name"].max()


def test_a_window_is_exact_where_there_is_room(text: Selected) -> None:
    """The first all-reduce of rank 0: 79.1 ms from 1736408883732241564."""
    start = 1736408883732241564 - BASE
    wanted = Window(start - 1000, start + 80_000_000, 2000, tracks="12")
    header, column = parsed(window(text, wanted))
    ((track, depth, first, count),) = header["lanes"]
    assert (track, depth, first) == (12, 0, 0)
    assert header["names"][column["name"][0]] == "hcom_allReduce__586_0_1"
    assert column["start"][0] * header["tick"] == pytest.approx(1000, abs=header["tick"])
    length = float(column["duration"][0])
    assert column["length"][0] * header["tick"] == pytest.approx(length, abs=header["tick"])
    assert (column["count"][0], count) == (1, len(column["start"]))
    found = detail(text, f"0.{column['row'][0]}")
    assert (found.name, found.start) == ("hcom_allReduce__586_0_1", start)
    shifted, moved = parsed(
        window(text, Window(start - 1000, start + 80_000_000, 2000, "12", shifts={0: 500_000}))
    )
    apart = (int(moved["start"][0]) - int(column["start"][0])) * shifted["tick"]
    assert apart == pytest.approx(500_000, abs=2 * shifted["tick"])


@pytest.mark.parametrize("before", [100, 100.25, 101, 163.5, 227, 355])
def test_a_nanosecond_a_pixel_is_drawn_where_it_is(text: Selected, before: float) -> None:
    """Epoch times do not fit into a double to better than 256 ns."""
    start = 1736408883732241564 - BASE
    window_of = Window(start - before, start - before + 2000, 2000, tracks="12", shifts={0: 3})
    header, column = parsed(window(text, window_of))
    assert column["start"][0] * header["tick"] == pytest.approx(before + 3, abs=header["tick"])

    tracks = ",".join(str(t.id) for t in timeline(text).tracks if t.counters)
    header, column = parsed(window(text, Window(-before, 2000 - before, 2000, tracks)))
    assert column["at"][0] * header["tick"] == pytest.approx(before, abs=header["tick"])


def test_colours_and_hits(text: Selected) -> None:
    end = timeline(text).end
    header, column = parsed(
        window(text, Window(0, end, 500, "8", colour="duration", find="MatMul"))
    )
    assert header["legend"][0] == "< 1 µs"
    edges = np.array([1e3, 1e4, 1e5, 1e6, 1e7])
    assert (column["key"] == np.searchsorted(edges, column["duration"], side="right")).all()
    assert column["hits"].sum() == search(text, "MatMul", 0, "8", 1).total == 14
    header, column = parsed(window(text, Window(0, end, 500, "0-8", colour="step")))
    assert header["legend"] == ["Step 50"]
    header, _ = parsed(window(text, Window(0, end, 500, "0", colour="category")))
    assert "cpu_op" in header["legend"]


@pytest.mark.parametrize(
    "wanted",
    [
        Window(5, 5, 10), Window(float("nan"), 5, 10), Window(0, 1e300, 10), Window(0, 5, 0),
        Window(0, 5, 10, colour="taste"), Window(0, 5, 10, tracks="a"),
    ],
)  # fmt: skip
def test_windows_that_cannot_be(text: Selected, wanted: Window) -> None:
    with pytest.raises(RequestError) as refused:
        window(text, wanted)
    assert refused.value.status == 400


def test_counters_keep_their_peaks(text: Selected) -> None:
    view = timeline(text)
    track = next(t for t in view.tracks if t.label == "HBM")
    for width in (1, 7, 4000):
        header, column = parsed(window(text, Window(0, view.end + 1, width, str(track.id))))
        for _, key, first, count in header["counters"]:
            most = column["most"][first : first + count].max()
            assert most == pytest.approx(track.counters[key].most)
            assert column["least"][first : first + count].min() == pytest.approx(
                track.counters[key].least
            )


def test_one_slice(text: Selected) -> None:
    """The longest matrix multiplication of rank 1, whose track had waited 1.24 ms for the host."""
    (longest,) = search(text, "aclnnAddmm_MatMulCommon_MatMulV2", 0, None, 1).matches
    found = detail(text, longest.id)
    assert found.where == "Rank 1 · Ascend Hardware · Stream 2"
    assert (found.duration, found.self, found.step) == (357367.125, 357367.125, 50)
    assert {f.label: f.value for f in found.facts}["Task Type"] == "AI_CORE"
    assert (found.siblings.count, found.siblings.rank) == (3, 1)
    assert [(f.kind, f.forward, f.to.name) for f in found.flows] == [
        ("async_npu", False, "aclnnAddmm"), ("HostToDevice", False, "Node@launch"),
    ]  # fmt: skip
    assert found.gap.before == 1243345.0
    assert found.gap.behind.startswith("aclnnAddmm issued it 1.09 ms after the track fell idle")
    assert found.previous
    assert detail(text, found.previous.id).next == longest
    assert [d.view for d in found.doors] == ["kernel"]


def test_callers_of_a_module(text: Selected) -> None:
    (module,) = search(text, "=nn.Module: Sequential_0", 0, "0", 5).matches
    found = detail(text, module.id)
    assert found.parent
    assert "forward" in found.parent.name
    assert found.stack[-1] == "<string>(1): <module>"
    assert "nn.Module: AlexNet_0" in found.stack, "also where a frame is drawn out of order"
    (op,) = search(text, "=ProfilerStep#50", 0, "0", 5).matches
    assert any("main.py(375)" in line for line in detail(text, op.id).stack), "from its arguments"


@pytest.mark.parametrize("name", ["", "0", "0.x", "9.0", "0.99999999", "-1.0", "0." + "9" * 40])
def test_slices_that_are_not(text: Selected, name: str) -> None:
    with pytest.raises(RequestError) as refused:
        detail(text, name)
    assert refused.value.status in (400, 404)


def test_search_goes_on_and_back(text: Selected) -> None:
    found = search(text, "hcom_allReduce", 0, "12", 10)
    assert (found.total, found.names) == (4, 4)
    assert [(t.track, t.count) for t in found.tracks] == [(12, 4)]
    seen = []
    at = 0.0
    while (step := search(text, "hcom_allReduce", at, "12", 1)).next:
        seen.append(step.next)
        at = step.next.start
    assert [s.name[-3:] for s in seen] == ["0_1", "1_1", "2_1", "3_1"]
    back = search(text, "hcom_allReduce", at, "12", 1)
    assert (back.previous, back.before) == (seen[-2], 3)
    assert search(text, "/^hcom_.*_[01]_1$/", 0, "12", 5).total == 2
    assert search(text, "args:MESH-RING", 0, "12", 5).total == 4
    assert search(text, "", 0, None, 5).total == 0
    with pytest.raises(RequestError):
        search(text, "/(/", 0, None, 5)


def test_search_passes_over_none_that_begin_together(tmp_path: Path) -> None:
    """Three slices on two tracks of two captures, all at one moment."""
    events = [
        {"ph": "X", "pid": 1, "tid": tid, "ts": "1000", "dur": 5, "name": "twin"} for tid in (1, 2)
    ]
    for name in ("a", "b"):
        folder = tmp_path / f"host_{name}_20260101000000_ascend_pt/ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        (folder / "trace_view.json").write_text(json.dumps(events))
    with load(tmp_path, cache=tmp_path / "cache") as captures:
        for run in captures.runs:
            sel = selected(captures, run=run)
            total = search(sel, "twin", 0, None, 1).total
            seen: list[str] = []
            at, after = -1.0, None
            while (step := search(sel, "twin", at, None, 1, after).next) and len(seen) < 9:
                seen.append(step.id)
                at, after = step.start, step.id
            assert len(seen) == len(set(seen)) == total >= 2
            back = [seen[-1]]
            while (step := search(sel, "twin", 0.0, None, 1, back[-1]).previous) and len(back) < 9:
                back.append(step.id)
            assert back == seen[::-1]


def test_a_range_follows_the_shifts(text: Selected) -> None:
    step = timeline(text).steps[1]
    text.options = {"from": str(step.start), "to": str(step.end), "tracks": "10027"}
    plain = slices(text, TableRequest(group="name")).table.values["total_ns"]
    moved = 5_000_000
    text.options = {
        "from": str(step.start + moved), "to": str(step.end + moved), "tracks": "10027",
        "shift": f"1:{moved}",
    }  # fmt: skip
    assert slices(text, TableRequest(group="name")).table.values["total_ns"] == plain
    first = slices(text, TableRequest(group="", sort="start_ns")).table.values["start_ns"][0]
    assert first >= step.start + moved
    text.options = {}


def test_arrows(text: Selected) -> None:
    end = timeline(text).end
    found = flows_in(text, Window(0, end, 100, "0-10"), 2000)
    assert found.total == len(found.flows)
    assert {f.kind for f in found.flows} == {
        "async_npu", "async_task_queue", "fwdbwd", "HostToDevice",
    }  # fmt: skip
    few = flows_in(text, Window(0, end, 100, "0-10"), 3)
    assert (few.total, len(few.flows)) == (found.total, 3)
    assert flows_in(text, Window(0, end, 100, "0,1"), 2000).flows
    assert all(
        {f.from_track, f.to_track} <= {0, 1}
        for f in flows_in(text, Window(0, end, 100, "0,1"), 2000).flows
    )


def test_a_range_sums_up_what_lies_in_it(text: Selected) -> None:
    view = timeline(text)
    step = view.steps[0]
    text.options = {"from": str(step.start), "to": str(step.end), "tracks": "27"}
    found = slices(text, TableRequest(group="name"))
    assert found.span == 155985800
    assert found.table.values["name"] == ["Computing"]
    assert found.table.values["total_ns"] == [pytest.approx(8873756, abs=200)]
    (track,) = found.occupancy
    assert track.share == pytest.approx(8873756 / 155985800, rel=1e-4)
    whole = slices(text, TableRequest(group=""))
    assert whole.table.total == 187
    query = slices_query(text, "")
    assert query
    assert len("".join(rows_csv(text.store, query, TableRequest())).splitlines()) == 188
    middle = whole.table.values["start_ns"][0] + 10
    text.options = {"from": str(middle), "to": str(middle + 100), "tracks": "27"}
    assert slices(text, TableRequest(group="name")).table.values["total_ns"] == [100.0]
    text.options = {"from": "5", "to": "1"}
    with pytest.raises(RequestError):
        slices(text, TableRequest())
    text.options = {}


def test_busy_time_of_a_range_is_that_of_its_windows(text: Selected) -> None:
    view = timeline(text)
    text.options = {}
    busy = {o.track: o.busy for o in slices(text, TableRequest(group="name")).occupancy}
    header, column = parsed(window(text, Window(0, view.end + 1, 900)))
    for track, depth, first, count in header["lanes"]:
        alone = [lane for lane in header["lanes"] if lane[0] == track]
        if depth == 0 and len(alone) == 1:
            drawn = float(column["busy"][first : first + count].sum())
            assert drawn == pytest.approx(busy[track], rel=1e-5)


def test_call_trees(text: Selected) -> None:
    text.options = {"tracks": "0-10"}
    host = flame(text)
    names = host.nodes.name
    assert names[0] == "<string>(1): <module>"
    assert host.nodes.total[0] == pytest.approx(156289120)
    for i, parent in enumerate(host.nodes.parent):
        assert parent < i
        if parent >= 0:
            assert host.nodes.depth[i] == host.nodes.depth[parent] + 1
    # Frames that outlive what they began in add a little.
    assert host.total <= sum(host.nodes.self) < 1.01 * host.total
    text.options = {"by": "module", "tracks": "0-10"}
    modules = flame(text).nodes
    outer = {
        n: modules.name[p] for n, p in zip(modules.name, modules.parent, strict=True) if p >= 0
    }
    assert outer["AlexNet_0"] == "DistributedDataParallel_0"
    assert outer["Sequential_0"] == "AlexNet_0"
    assert outer["Conv2d_0"] == "Sequential_0"
    text.options = {"by": "device", "tracks": "0-10"}
    device = flame(text)
    kernels = slices_query(text, "name")
    assert kernels
    # Everything that an arrow of the framework leads to on the device, once.
    assert 0 < device.total < 20e6
    assert max(device.nodes.total) <= device.total
    text.options = {"by": "taste"}
    with pytest.raises(RequestError):
        flame(text)
    text.options = {}


def test_a_chrome_trace_of_a_window(text: Selected) -> None:
    step = timeline(text).steps[0]
    whole = "".join(chrome_trace(text, Window(step.start, step.end, 1, "8,11,12")))
    events = json.loads(whole)
    slices_ = [e for e in events if e["ph"] == "X"]
    assert {e["tid"] for e in slices_} == {8, 12}
    first = min((e for e in slices_ if e["tid"] == 12), key=lambda e: e["ts"])
    assert first["name"] == "hcom_allReduce__586_0_1"
    assert first["args"]["alg_type"] == "MESH-RING"
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert "Rank 0 · Ascend Hardware" in names


def test_a_trace_of_torch(shared: Path, opened: Callable[[Path], Captures]) -> None:
    """Instants and device tracks of another profiler: the same code, no special case."""
    captures = opened(shared / "captures/pytorch")
    for run in captures.runs:
        sel = selected(captures, run=run)
        view = timeline(sel)
        if view.base_ns is None:
            continue
        drawn = drawn_slices(sel, Window(0, view.end + 1, 1000))
        assert drawn == {t.id: t.slices for t in view.tracks if t.slices}


def test_nothing_read_yet_is_no_error(tmp_path: Path, opened: Callable[[Path], Captures]) -> None:
    from tb_npu_plugin.sample import write_sample

    write_sample(tmp_path / "logs", ranks=1, steps=2)
    captures = opened(tmp_path / "logs")
    for trace in (tmp_path / "logs").rglob("trace_view.json"):
        trace.write_text("[]")
    sel = captures.select()
    view = timeline(sel)
    assert isinstance(view, results.Timeline)
    if view.base_ns is None:
        assert parsed(window(sel, Window(0, 100, 10)))[0]["lanes"] == []
        assert slices(sel, TableRequest()).table.total == 0
        assert flame(sel).nodes.name == []


@pytest.mark.parametrize("colour", ["core", "pipe"])
def test_colours_of_kernels_are_those_of_their_table(text: Selected, colour: str) -> None:
    """Slice by slice against rows of the same name and start."""
    assert text.store.fetch(text.captures, ("kernels",), timeout=60)
    view = timeline(text)
    assert colour in {each.id for each in view.colours}
    source = text.source("kernels")
    pipes = ("vec", "mac", "scalar", "mte1", "mte2", "mte3", "fixpipe")
    told: dict[tuple[str, int], str] = {}
    table = text.query(lambda con: con.execute(f"SELECT * FROM {source}").df())
    for row in table.to_dict("records"):
        shares = {p: [row.get(f"{u}_{p}_ratio", 0.0) for u in ("aic", "aiv")] for p in pipes}
        ratios = {p: float(np.nanmax([0.0, *both])) for p, both in shares.items()}
        busiest = max(ratios, key=lambda pipe: ratios[pipe])
        told[row["name"], int(row["start_ns"])] = row["core"] if colour == "core" else busiest
    device = {t.id for t in view.tracks if t.kind == "hardware"}
    checked = 0
    header, column = parsed(window(text, Window(0, view.end + 1, 8000, "0-8", colour=colour)))
    for track, _depth, first, count in header["lanes"]:
        if track not in device:
            assert (column["key"][first : first + count] == 255).all()
            continue
        for i in range(first, first + count):
            slice_ = detail(text, f"0.{column['row'][i]}")
            wanted = told.get((slice_.name, int(slice_.start) + BASE))
            if wanted is not None:
                assert header["legend"][column["key"][i]] == wanted
                checked += 1
    assert checked > 100
