"""The memory view: curves, peaks, who held what, allocations; against the files counted by hand."""

from __future__ import annotations

import bisect
import csv
import io
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from small_captures import info, write_capture
from werkzeug.test import Client

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.api import routes
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.memory import memory, memory_line
from tb_npu_plugin.frames import Captures, load
from tb_npu_plugin.sample import SampleTruth, write_sample

MIB = 1 << 20
POINTS = (
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,"
    "Device Type"
)
BLOCKS = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),"
    "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Release Total Allocated(MB),"
    "Release Total Reserved(MB),Device Type"
)
#: Of text_level1: the PTA peak of rank 0, and the recording's earliest memory event.
PEAK_NS, BASE_NS = 1736408883743242970, 1736408883573957920


def look(
    captures: Captures,
    group: str = "",
    *,
    options: dict[str, str] | None = None,
    table: dict[str, Any] | None = None,
    **selection: Any,
) -> results.Memory:
    sel = captures.select(**selection)
    sel.options = options or {}
    return memory(sel, TableRequest(group=group, **(table or {})))


def rows(table: results.Table) -> list[dict[str, Any]]:
    return [
        dict(zip(table.values, row, strict=True))
        for row in zip(*table.values.values(), strict=True)
    ]


def source_rows(path: Path, name: str) -> list[dict[str, str]]:
    with (path / "ASCEND_PROFILER_OUTPUT" / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def ns(text: str) -> int:
    return int(Decimal(text.strip()) * 1000)


# ---- peaks ----------------------------------------------------------------------------------


def test_peaks_of_the_real_capture_and_their_moments(level1: Captures) -> None:
    found = look(level1, rank=0)
    assert found.base_ns == str(BASE_NS)
    assert found.components == ["PTA+GE", "PTA", "GE", "APP"]
    told = {
        p.component: [
            v / MIB if isinstance(v, float) else (v if v is None else v + BASE_NS)
            for v in (p.reserved_bytes, p.reserved_at_ns, p.allocated_bytes, p.allocated_at_ns)
        ]
        for p in found.peaks
    }
    assert told == {
        "PTA+GE": [1526.75, 1736408883704614040, 1261.04296875, 1736408883743396450],
        "PTA": [1452.0, 1736408883694238150, 1187.9814453125, PEAK_NS],
        "GE": [74.75, 1736408883704614040, 73.0625, 1736408883704712300],
        "APP": [2113.73046875, 1736408883733932920, None, None],
    }
    pta = next(p for p in found.peaks if p.component == "PTA")
    assert (pta.rank, pta.device, pta.rows) == (0, 0, 381)
    assert (pta.active_bytes, pta.active_at_ns) == (pta.allocated_bytes, PEAK_NS - BASE_NS)
    assert pta.start_bytes == 935.9951171875 * MIB
    assert look(level1, rank=1).base_ns == str(BASE_NS)  # the same origin, whatever is selected


@pytest.mark.parametrize("rank", [0, 1])
def test_peaks_at_level0(level0: Captures, rank: int) -> None:
    told = {p.component: (p.reserved_bytes or 0) / MIB for p in look(level0, rank=rank).peaks}
    assert told == {"PTA+GE": 1526.75, "PTA": 1452.0, "GE": 74.75, "APP": 2109.6015625}


def test_line_for_the_overview(level1: Captures) -> None:
    line = memory_line(level1.select(rank=0))
    assert line == "Peak reserved 2.06 GiB (APP), peak allocated 1.23 GiB (PTA+GE)"
    assert memory_line(level1.select()).endswith("(PTA+GE, Rank 0)")
    assert "峰值预留 2.06 GiB" in memory_line(level1.select(rank=0, lang="zh"))


def test_peak_table_sorts_over_ranks(level1: Captures) -> None:
    table = look(level1, "peak", table={"sort": "reserved_bytes:desc", "limit": 2}).table
    assert [(r["component"], r["rank"]) for r in rows(table)] == [("APP", 1), ("APP", 0)]
    assert rows(table)[0]["reserved_bytes"] == 2113.734375 * MIB
    assert (table.total, table.groups) == (8, ["", "operator", "alive", "alive_operator", "peak",
                                               "module"])  # fmt: skip


# ---- what was alive -------------------------------------------------------------------------


def test_alive_at_the_peak(level1: Captures) -> None:
    for rank in (0, 1):
        (alive,) = look(level1, rank=rank).alive
        assert alive.at_peak
        assert (alive.rank, alive.device, alive.component) == (rank, rank, "PTA")
        assert alive.total_bytes == 1187.9814453125 * MIB
        assert alive.reserved_bytes == 1452.0 * MIB
        assert alive.seen_bytes == 486.56103515625 * MIB
        assert alive.unseen_bytes == 701.42041015625 * MIB
        assert alive.seen_count == 41
        assert alive.blocks[0].size_bytes == 147456.5 * 1024
        assert len(alive.blocks) == 12
        assert alive.operator_count == 9
        assert {h.name: (h.count, h.size_bytes / MIB) for h in alive.operators}["aten::mm"] == (
            3, 223.62646484375,
        )  # fmt: skip
        assert sum(h.size_bytes for h in alive.operators) == alive.seen_bytes


def test_alive_table_has_a_row_for_what_was_allocated_before(level1: Captures) -> None:
    table = look(level1, "alive", rank=0, table={"limit": 1000}).table
    found = rows(table)
    assert table.total == 42
    assert found[0]["state"] == "unseen"
    assert found[0]["name"] == "(allocated before the capture began, or not seen)"
    assert found[0]["size_bytes"] == 701.42041015625 * MIB
    assert sum(r["size_bytes"] for r in found) == 1187.9814453125 * MIB
    assert sum(r["total_ratio"] for r in found) == pytest.approx(1.0, abs=1e-12)
    peak = PEAK_NS - BASE_NS
    for r in found[1:]:
        assert r["alloc_ns"] <= peak
        assert r["release_ns"] is None or r["release_ns"] > peak
    by_operator = rows(look(level1, "alive_operator", rank=0).table)
    assert by_operator[0]["count"] == 0
    assert {r["name"]: r["count"] for r in by_operator}["aten::_foreach_add"] == 17
    assert sum(r["total_ratio"] for r in by_operator) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("moment", [PEAK_NS - 30_000_000, PEAK_NS - 1, PEAK_NS + 5_000_000])
@pytest.mark.parametrize("component", ["PTA", "GE", "PTA+GE"])
def test_alive_at_a_chosen_moment(
    shared: Path, level1: Captures, moment: int, component: str
) -> None:
    options = {"at": str(moment - BASE_NS), "component": component}
    (alive,) = look(level1, rank=0, options=options).alive
    path = shared / "captures/text_level1/rank0_ascend_pt"
    size, count = 0.0, 0
    for block in source_rows(path, "operator_memory.csv"):
        own = "GE" if block["Name"].startswith("cann::") else "PTA"
        end = block["Release Time(us)"].strip()
        if (
            own in component.split("+")
            and ns(block["Allocation Time(us)"]) <= moment
            and (not end or ns(end) > moment)
        ):
            size, count = size + float(block["Size(KB)"]) * 1024, count + 1
    total = [
        float(r["Total Allocated(MB)"]) * MIB
        for r in source_rows(path, "memory_record.csv")
        if r["Component"] == component and ns(r["Timestamp(us)"]) <= moment
    ][-1]
    assert not alive.at_peak
    assert (alive.at_ns, alive.total_bytes) == (moment - BASE_NS, total)
    assert (alive.seen_bytes, alive.seen_count) == (size, count)
    assert alive.unseen_bytes == (total - size if total >= size else None)


def test_before_the_first_record_nothing_is_known(level1: Captures) -> None:
    (alive,) = look(level1, rank=0, options={"at": "1ms"}).alive
    assert (alive.total_bytes, alive.unseen_bytes, alive.seen_count) == (None, None, 0)


# ---- curves ---------------------------------------------------------------------------------


def test_curves_of_the_real_capture_hold_every_change(shared: Path, level1: Captures) -> None:
    found = look(level1, rank=0)
    assert [(s.component, s.measure) for s in found.series] == [
        ("PTA+GE", "reserved"), ("PTA+GE", "active"), ("PTA+GE", "allocated"),
        ("PTA", "reserved"), ("PTA", "active"), ("PTA", "allocated"),
        ("GE", "reserved"), ("GE", "allocated"), ("APP", "reserved"),
    ]  # fmt: skip
    path = shared / "captures/text_level1/rank0_ascend_pt"
    records = source_rows(path, "memory_record.csv")
    for s in found.series:
        assert s.exact
        key = f"Total {s.measure.capitalize()}(MB)"
        truth = {
            ns(r["Timestamp(us)"]) - BASE_NS: round(float(r[key]) * MIB)
            for r in records
            if r["Component"] == s.component and r[key]
        }
        assert s.rows == sum(r["Component"] == s.component and r[key] != "" for r in records)
        for moment, value in truth.items():
            assert s.values[bisect.bisect_right(s.times_ns, moment) - 1] == value
    reserved = next(s for s in found.series if (s.component, s.measure) == ("PTA", "reserved"))
    assert reserved.values == [1452 * MIB] * 2  # a flat line needs its ends only


def test_fewer_points_keep_the_extremes(level1: Captures) -> None:
    few = look(level1, rank=0, options={"points": "16"})
    assert few.points == 16
    for s in few.series:
        assert len(s.times_ns) <= 16
    pta = next(s for s in few.series if (s.component, s.measure) == ("PTA", "allocated"))
    assert not pta.exact
    assert max(zip(pta.values, pta.times_ns, strict=True)) == (
        round(1187.9814453125 * MIB), PEAK_NS - BASE_NS,
    )  # fmt: skip
    assert min(pta.values) == round(851.8681640625 * MIB)


def test_a_span_is_cut_from_all_records_and_begins_with_the_value_held(level1: Captures) -> None:
    start, end = PEAK_NS - BASE_NS - 500_000, PEAK_NS - BASE_NS
    whole = look(level1, rank=0)
    part = look(level1, rank=0, options={"start": str(start), "end": f"{end}ns"})
    for s in part.series:
        same = next(w for w in whole.series if (w.component, w.measure) == (s.component, s.measure))
        assert s.times_ns[0] == start
        assert s.times_ns[-1] <= end
        assert s.exact
        for moment, value in zip(s.times_ns, s.values, strict=True):
            assert same.values[bisect.bisect_right(same.times_ns, moment) - 1] == value
    assert {s.component for s in part.series} == {"PTA+GE", "PTA", "GE", "APP"}


# ---- allocations, operators, modules, static ------------------------------------------------


def test_allocations_filter_sort_and_page_in_the_backend(level1: Captures) -> None:
    table = look(level1, rank=0, table={"limit": 3}).table
    assert (table.total, table.unfiltered) == (184, 184)
    sizes = [r["size_bytes"] for r in rows(table)]
    assert sizes[:2] == [147456.5 * 1024] * 2
    assert sizes == sorted(sizes, reverse=True)
    held = look(level1, rank=0, table={"filter": "state=held size>1MiB", "sort": "alloc_ns"}).table
    assert held.total == 8
    assert all(r["release_ns"] is None and r["dur_ns"] is None for r in rows(held))
    first = rows(held)[0]
    assert first["name"] == "aten::empty_strided"
    assert first["alloc_ns"] + BASE_NS == 1736408883694624810
    page = look(level1, rank=0, table={"offset": 180, "limit": 10}).table
    assert len(rows(page)) == 4
    states = {s.key: (s.count, s.size_bytes / MIB) for s in look(level1, rank=0).states}
    assert states["held"] == (24, 252.6474609375)
    assert states["released"][0] == 160


def test_operators_count_total_largest_and_held(level1: Captures) -> None:
    found = {r["name"]: r for r in rows(look(level1, "operator", rank=0).table)}
    mm = found["aten::mm"]
    assert (mm["count"], mm["held_count"]) == (7, 3)
    assert mm["total_bytes"] == 246.6123046875 * MIB
    assert mm["max_bytes"] == 147456.5 * 1024


def test_modules_peak_first_and_last(level1: Captures) -> None:
    table = look(level1, "module", rank=0, table={"limit": 1000}).table
    assert table.total == 77
    runtime = next(r for r in rows(table) if r["component"] == "RUNTIME")
    assert runtime["peak_bytes"] == 92.234375 * MIB
    assert runtime["peak_at_ns"] + BASE_NS == 1736408883757000190
    assert (runtime["first_bytes"], runtime["last_bytes"]) == (92.1875 * MIB, 92.1875 * MIB)
    assert runtime["growth_bytes"] == 0


def test_static_memory_leaves_the_total_out(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    header = "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)"
    path = write_capture(
        tmp_path / "a_ascend_pt",
        static_op_mem=f"{header}\r\nhost,sqrt,0,0,31,32,2343.5\r\nhost,TOTAL,0,0,0,4294967295,9\r\n",
    )
    captures = opened(path)
    table = look(captures, "static").table
    assert rows(table) == [{"name": "sqrt", "size_bytes": 2343.5 * 1024, "model": "0",
                            "graph": "0", "node_start": 31, "node_end": 32}]  # fmt: skip
    assert "memory-not-recorded" in list(captures.findings()["code"])


def test_blocks_with_gaps_c17(cases: Path, opened: Callable[[Path], Captures]) -> None:
    captures = opened(cases / "C17-operator-memory-gaps")
    found = look(captures)
    assert {s.key: s.count for s in found.states} == {"held": 1, "before": 1, "zero": 1}
    assert found.series == []
    assert found.peaks == []
    # Without records the totals noted beside the blocks tell the peak: 1 MB at 100 µs, when the
    # block freed at 150 µs was alive too, so both blocks of 64 KB are known.
    (alive,) = found.alive
    assert (alive.total_bytes, alive.at_ns) == (1.0 * MIB, 0)
    assert (alive.seen_bytes, alive.seen_count) == (128 * 1024.0, 2)
    assert alive.unseen_bytes == MIB - 128 * 1024.0
    negative = look(captures, table={"filter": "size<0"}).table
    assert [r["size_bytes"] for r in rows(negative)] == [-65536.0]
    ascending = look(captures, table={"sort": "size_bytes"}).table
    assert [r["size_bytes"] for r in rows(ascending)] == [-65536.0, 0.0, 65536.0]


# ---- several ranks, devices, captures without memory ----------------------------------------


def test_devices_are_told_apart(tmp_path: Path, opened: Callable[[Path], Captures]) -> None:
    records = [
        "PTA,100,1,8,1,1,NPU:0", "PTA,100,5,9,5,1,NPU:1", "PTA,200,3,8,3,1,NPU:0",
        "PTA,150,2,9,2,1,NPU:1",
    ]  # fmt: skip
    blocks = ["a,1024,90,160,70,1,8,1,8,NPU:0", "b,2048,95,,,5,9,,,NPU:1"]
    path = write_capture(
        tmp_path / "a_ascend_pt",
        info(0),
        memory_record="\r\n".join([POINTS, *records, ""]),
        operator_memory="\r\n".join([BLOCKS, *blocks, ""]),
    )
    captures = opened(path)
    found = look(captures)
    assert [(a.device, a.total_bytes, a.seen_bytes) for a in found.alive] == [
        (0, 3.0 * MIB, 0.0), (1, 5.0 * MIB, 2.0 * MIB),
    ]  # fmt: skip
    only = look(captures, device=1)
    assert [(p.device, p.allocated_bytes) for p in only.peaks] == [(1, 5.0 * MIB)]
    assert {s.device for s in only.series} == {1}
    assert rows(only.table)[0]["name"] == "b"


def test_many_ranks_stay_bounded(tmp_path: Path, opened: Callable[[Path], Captures]) -> None:
    for rank in range(20):
        lines = [f"PTA,{100 + i},{(i * 7) % 90 + rank},200,1,1,NPU:0" for i in range(3000)]
        write_capture(
            tmp_path / f"logs/r{rank}_ascend_pt",
            info(rank, 10**18, 10**18 + 10**9),
            memory_record="\r\n".join([POINTS, *lines, ""]),
        )
    captures = opened(tmp_path / "logs")
    found = look(captures)
    assert (found.ranks_shown, found.ranks_total) == (16, 20)
    # Those with the highest peaks; the table has them all.
    assert sorted({s.rank for s in found.series if s.rank is not None}) == list(range(4, 20))
    assert look(captures, "peak").table.total == 20
    assert sum(len(s.times_ns) for s in found.series) <= 40_000
    for s in found.series:
        if s.measure == "allocated":
            assert max(s.values) == (89 + (s.rank or 0)) * MIB
    assert "16 ranks with the highest peaks of 20" in found.note


def test_a_capture_without_memory_says_what_to_do(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    off = info(0)
    off["config"]["common_config"] = {"profile_memory": False}
    captures = opened(write_capture(tmp_path / "a_ascend_pt", off, step_trace_time="Step\r\n1\r\n"))
    found = look(captures)
    assert (found.series, found.peaks, found.alive, found.states) == ([], [], [], [])
    assert (found.note, found.base_ns, memory_line(captures.select())) == ("", None, "")
    finding = captures.findings().set_index("code").loc["memory-not-recorded"]
    assert "profile_memory was off" in finding["message"]
    assert "profile_memory=True" in finding["remedy"]
    assert captures.memory_blocks().empty
    assert list(captures.memory_points().columns)[:3] == ["rank", "capture", "component"]


# ---- parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"at": "x"}, {"at": "1 h"}, {"at": "'); DROP"}, {"points": "3"}, {"points": "many"},
     {"points": "9999999"}, {"only": "curves"}, {"start": "1e3"}],
)  # fmt: skip
def test_bad_parameters_are_refused(level1: Captures, options: dict[str, str]) -> None:
    with pytest.raises(RequestError) as error:
        look(level1, options=options)
    assert error.value.status == 400


def test_bad_group_is_refused_and_a_hostile_component_is_only_a_name(level1: Captures) -> None:
    with pytest.raises(RequestError) as error:
        look(level1, "size")
    assert error.value.code == "bad-group"
    found = look(level1, "alive", options={"component": "PTA' OR 1=1 --"})
    assert found.alive == []
    assert found.table.total == 0


def test_paging_alone_sends_no_curves(level1: Captures) -> None:
    found = look(level1, options={"only": "table"})
    assert (found.series, found.peaks, found.alive, found.states) == ([], [], [], [])
    assert found.base_ns == str(BASE_NS)
    assert found.table.total == 368


def test_http_route_and_csv(level1: Captures) -> None:
    client = Client(routes(lambda: level1._store)["/memory"])
    reply = client.get("/memory?rank=0&group=alive&at=169285050&points=100&step=50")
    body = msgspec.json.decode(reply.data, type=results.MemoryReply)
    assert body.data.alive[0].unseen_bytes == 701.42041015625 * MIB
    assert (
        body.meta.step_picker == "Memory files carry no step: what is shown is the whole capture."
    )
    assert body.meta.counts["memory"] == 184
    assert b"NaN" not in reply.data
    export = client.get(
        "/memory?rank=0&group=alive&at=169285050&format=csv&columns=name,size_bytes"
    )
    lines = list(csv.reader(io.StringIO(export.get_data(as_text=True))))
    assert len(lines) == 43
    assert sum(float(line[1]) for line in lines[1:]) == 1187.9814453125 * MIB
    assert client.get("/memory?at=soon").status_code == 400


# ---- generated captures, and the huge one ---------------------------------------------------


@pytest.fixture(scope="module", params=["2025", "26.0"])
def generated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[SampleTruth, Captures]]:
    out = tmp_path_factory.mktemp("memory")
    truth = write_sample(out / "runs", ranks=2, steps=3, kernels_per_step=120, seed=7,
                         line=request.param, memory_leak=True)  # fmt: skip
    with load(out / "runs", cache=out / "cache", workers=1) as captures:
        yield truth, captures


def test_generated_captures_hold_what_their_generator_says(
    generated: tuple[SampleTruth, Captures],
) -> None:
    truth, captures = generated
    for rank in truth.ranks:
        known = rank.memory
        assert known is not None
        found = look(captures, rank=rank.rank)
        pta = next(p for p in found.peaks if p.component == "PTA")
        assert pta.allocated_bytes == known.peak_allocated_bytes
        assert pta.reserved_bytes == known.peak_reserved_bytes
        assert pta.end_bytes == known.end_allocated_bytes
        (alive,) = found.alive
        assert alive.unseen_bytes == known.before_bytes
        assert alive.total_bytes == alive.seen_bytes + known.before_bytes
        held = next(s for s in found.states if s.key == "held")
        assert (held.count, held.size_bytes) == (known.never_released, known.never_released_bytes)
        assert found.table.total == known.blocks + known.ge_blocks
        per_operator = rows(look(captures, "operator", rank=rank.rank, table={"limit": 1000}).table)
        assert sum(r["count"] for r in per_operator) == found.table.total
        assert sum(r["held_bytes"] for r in per_operator) == known.never_released_bytes


@pytest.mark.slow
def test_peak_survives_1_6_million_records_c19(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    count, spike, start = 1_600_000, 777_777, 1695115378653323
    output = tmp_path / "logs/a_ascend_pt/ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    with (output / "memory_record.csv").open("w", newline="") as out:
        out.write(POINTS + "\r\n")
        for begin in range(0, count, 50_000):
            out.writelines(
                f"PTA,{start + i}.000\t,{value},1000.0,{value},187651,NPU:0\r\n"
                for i in range(begin, begin + 50_000)
                for value in [999.5 if i == spike else float(i * 7 % 900)]
            )
    captures = opened(tmp_path / "logs")
    found = look(captures)
    (peak,) = found.peaks
    assert (peak.allocated_bytes, peak.allocated_at_ns) == (999.5 * MIB, spike * 1000)
    assert (peak.reserved_bytes, peak.reserved_at_ns) == (1000.0 * MIB, 0)
    assert peak.rows == count
    for s in found.series:
        assert len(s.times_ns) <= 1000
        for moment, value in zip(s.times_ns, s.values, strict=True):
            i = moment // 1000
            assert value == (
                1000 * MIB if s.measure == "reserved"
                else round((999.5 if i == spike else i * 7 % 900) * MIB)
            )  # fmt: skip
    allocated = next(s for s in found.series if s.measure == "allocated")
    assert (spike * 1000, round(999.5 * MIB)) in zip(
        allocated.times_ns, allocated.values, strict=True
    )
    # A span is read from the records themselves: every one of them is there.
    near = look(captures, options={"start": str(spike * 1000 - 100_500),
                                   "end": str(spike * 1000 + 99_000)})  # fmt: skip
    line = next(s for s in near.series if s.measure == "allocated")
    assert line.exact
    assert line.rows == 200
    assert len(line.times_ns) == 201  # and the value held when the span begins
    assert len(msgspec.json.encode(found)) < 100_000
