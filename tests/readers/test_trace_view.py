"""trace_view.json: every event of the real captures; damage of every kind costs what is damaged."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_captures import Read, read_file

from tb_npu_plugin.backend.readers import trace_file, trace_tables

Reader = Callable[..., Read]
NAME = "trace_view.json"
#: What mutations put into a file.
PIECES = [
    b'"', b"{", b"}", b"[", b"]", b",", b"\\", b"NaN", b"N/A", b"\xc7\xb0", b"1e999", b"null",
]  # fmt: skip
#: The usual block, one smaller than most events, and one smaller than a key.
BLOCKS = [trace_file.BLOCK_BYTES, 64, 7]


def event(
    name: str = "op", ts: object = "10.000", dur: object = 1.5, **more: Any
) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, **more}


@pytest.fixture(params=BLOCKS)
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(trace_file, "BLOCK_BYTES", request.param)
    return int(request.param)


@pytest.fixture
def case(cases: Path, cache_dir: Path) -> Callable[[str], Read]:
    def read_case(name: str) -> Read:
        (folder,) = cases.glob(f"{name}-*")
        found = read_file(folder / "ASCEND_PROFILER_OUTPUT" / NAME, cache_dir)
        assert found.error is None
        return found

    return read_case


def slices(found: Read) -> list[tuple[str | None, int, float | None]]:
    """(name, start, duration) in the order of the file."""
    table = found.tables["slices"].sort_values("event")
    return [
        (None if n != n else n, s, None if d != d else d)
        for n, s, d in zip(table["name"], table["start_ns"], table["dur_ns"], strict=True)
    ]


# ---- the cases ----------------------------------------------------------------------------------


def test_c01_no_closing_bracket(case: Callable[[str], Read], block: int) -> None:
    found = case("C01")
    assert slices(found) == [
        ("aten::add", 1704161511420306491, 13080.0),
        ("aten::mul", 1704161511420439502, 4000.0),
    ]
    assert found.note("trace-unclosed").params == {"events": 2}
    assert "trace-host-only" in found.codes


def test_c02_comma_before_the_bracket(case: Callable[[str], Read], block: int) -> None:
    found = case("C02")
    assert slices(found) == [("aten::add", 1704161511420306491, 13080.0)]
    assert found.codes == ["trace-trailing-comma", "trace-host-only"]


def test_c03_cut_inside_a_character(case: Callable[[str], Read], block: int) -> None:
    found = case("C03")
    assert slices(found) == [("aten::add", 1704161511420306491, 13080.0)]
    note = found.note("trace-truncated")
    assert note.place == "byte 99"
    assert note.params == {"offset": 99, "size": 125, "events": 1}
    assert "encoding" not in found.codes


def test_c04_bare_array_with_times_as_text(case: Callable[[str], Read], block: int) -> None:
    found = case("C04")
    first, second = slices(found)
    assert (first[1], second[1]) == (1704161511434171181, 1704161511434171182)
    tracks = found.tables["tracks"]
    assert list(tracks["device"]) == [3, 3]
    assert list(tracks["kind"]) == ["hardware", "hardware"]
    assert list(tracks["process_sort"]) == [4, 4]
    assert found.codes == []


def test_c06_bare_words(case: Callable[[str], Read], block: int) -> None:
    found = case("C06")
    assert slices(found) == [
        ("k0", 10500, None), ("k1", 11500, None), ("k2", 12500, None), ("k3", 13500, 1000.0),
    ]  # fmt: skip
    assert found.note("trace-not-numbers").params == {"count": 3}
    assert found.note("trace-without-duration").params == {"count": 3}


def test_c07_bad_escapes(case: Callable[[str], Read], block: int) -> None:
    found = case("C07")
    assert slices(found) == [("op\\u0001x", 10000, 1000.0), ("aten::add", 12000, 1000.0)]
    note = found.note("trace-object-skipped")
    assert (note.place, note.params) == ("byte 1", {"count": 1})


def test_c08_gbk(case: Callable[[str], Read], block: int) -> None:
    found = case("C08")
    assert slices(found) == [("前向计算", 10000, 5000.0), ("aten::add", 12000, 1000.0)]
    assert found.note("encoding").params == {"encoding": "GB18030"}


def test_c10_long_flow_ids(case: Callable[[str], Read], block: int) -> None:
    flows = case("C10").tables["flows"]
    assert list(flows["id"]) == ["1704161511434171181", "1704161511434171182"]
    assert list(zip(flows["from_ns"], flows["to_ns"], strict=True)) == [
        (10000, 20000), (11000, 21000),
    ]  # fmt: skip


# ---- the real captures --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def level1(shared: Path) -> Path:
    return shared / "captures/text_level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT" / NAME


@pytest.fixture(scope="module")
def real(level1: Path, tmp_path_factory: pytest.TempPathFactory) -> Read:
    found = read_file(level1, tmp_path_factory.mktemp("cache"))
    assert (found.error, found.notes) == (None, [])
    return found


def test_every_event_of_a_real_trace(real: Read, level1: Path) -> None:
    events = json.loads(level1.read_bytes())
    assert len(events) == 10_112
    tables = {name: len(table) for name, table in real.tables.items()}
    assert tables == {"tracks": 31, "slices": 4384, "flows": 611, "counters": 4431}
    table = real.tables["slices"].set_index("event")
    for ordinal, wanted in enumerate(events):
        if wanted["ph"] != "X":
            continue
        row = table.loc[ordinal]
        whole, part = wanted["ts"].split(".")
        assert row["start_ns"] == int(whole + part)
        assert row["dur_ns"] == pytest.approx(wanted["dur"] * 1e3, abs=1e-5)
        assert row["name"] == wanted["name"]
        assert (
            json.loads(row["args"]) if row["args"] == row["args"] and row["args"] else None
        ) == (wanted.get("args"))


def test_tracks_of_a_real_trace(real: Read) -> None:
    tracks = real.tables["tracks"]
    assert list(tracks["track"]) == list(range(31))
    assert tracks.groupby("kind").size().to_dict() == {
        "python": 3, "cann": 4, "hardware": 4, "communication": 9, "counter": 7, "overlap": 4,
    }  # fmt: skip
    assert tracks["device"].isna().all(), "the label is NPU, without a number"
    main = tracks.iloc[0]
    assert (main["process"], main["thread"], main["pid"]) == ("Python", "Thread 3096504", "3096504")
    assert (main["slices"], main["depths"]) == (1651, 30)
    stream = tracks[tracks["thread"] == "Stream 2"].iloc[0]
    assert (stream["process"], stream["slices"]) == ("Ascend Hardware", 219)
    assert main["start_ns"] == 1736408883686490810


def test_slices_lie_in_their_order_and_never_overlap(real: Read) -> None:
    table = real.tables["slices"]
    order = table.sort_values(["track", "depth", "start_ns", "event"])
    assert (order.index == table.index).all()
    end = table["start_ns"] + table["dur_ns"].floordiv(1).astype("int64")
    for _, row in table.assign(end=end).groupby(["track", "depth"]):
        assert (row["start_ns"].to_numpy()[1:] >= row["end"].to_numpy()[:-1]).all()


def test_nesting_agrees_with_containment(real: Read) -> None:
    """But on the main thread, where ProfilerStep begins in one call and ends in another."""
    table = real.tables["slices"].merge(real.tables["tracks"][["track", "kind"]])
    nested = table[(table["kind"] == "python") & (table["track"] > 0)]
    assert nested["depth"].max() == 7
    for _, track in nested.groupby("track"):
        starts = track["start_ns"].to_numpy()
        ends = starts + track["dur_ns"].to_numpy().astype("int64")
        for start, end, depth in zip(starts, ends, track["depth"], strict=True):
            same = (starts == start) & (ends == end)
            assert ((starts <= start) & (ends >= end) & ~same).sum() == depth


def test_the_main_thread_has_its_calls_below_their_callers(real: Read) -> None:
    table = real.tables["slices"]
    main = table[table["track"] == 0].set_index("name")
    step = main.loc["ProfilerStep#50"]
    assert (step["start_ns"], step["dur_ns"], step["depth"]) == (
        1736408883686740710,
        155985800.0,
        13,
    )
    assert main.loc["main.py(375): train", "depth"] == 7
    assert main.loc["<string>(1): <module>", "depth"] == 0


def test_arrows_of_a_real_trace(real: Read) -> None:
    flows, tracks = real.tables["flows"], real.tables["tracks"].set_index("track")
    assert flows.groupby("cat").size().to_dict() == {
        "HostToDevice": 215, "async_npu": 210, "async_task_queue": 159, "fwdbwd": 27,
    }  # fmt: skip
    one = flows[flows["id"] == "1736408883700059821"].iloc[0]
    assert (one["from_ns"], one["to_ns"]) == (1736408883694699510, 1736408883700059821)
    assert tracks.loc[one["from_track"], "thread"] == "Thread 3096504"
    assert tracks.loc[one["to_track"], "thread"] == "Stream 2"
    assert flows["id"].str.len().max() == 20, "more than 64 bits"
    twice = flows[flows["cat"] == "HostToDevice"].groupby("id").size()
    assert (twice == 2).sum() == 5, "one beginning, two ends"


def test_counters_of_a_real_trace(real: Read) -> None:
    counters = real.tables["counters"]
    frequency = counters[counters["name"] == "AI Core Freq"]
    assert list(frequency["series"].unique()) == ["MHz"]
    assert list(frequency["value"]) == [1800.0, 1800.0]
    read = counters[counters["name"] == "read_bandwidth"]
    assert read["series"].nunique() == 28, "one per acc_id, which is no value"


def test_level0_leaves_out_the_ends_of_stripped_processes(shared: Path, cache_dir: Path) -> None:
    folder = shared / "captures/text_level0/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"
    found = read_file(folder / NAME, cache_dir)
    assert found.note("trace-flows-open").params == {"count": 215}
    assert found.tables["tracks"]["process"].notna().all()
    assert len(found.tables["flows"]) == 396


@pytest.mark.parametrize("size", [64, 4096])
def test_the_block_size_changes_nothing(
    real: Read, level1: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(trace_file, "BLOCK_BYTES", size)
    monkeypatch.setattr(trace_tables, "WINDOW_VECTORS", 1)
    found = read_file(level1, cache_dir)
    assert found.notes == []
    for name, table in real.tables.items():
        pd.testing.assert_frame_equal(found.tables[name], table)


# ---- forms and damage ---------------------------------------------------------------------------


def test_an_object_around_the_events(read: Reader, block: int) -> None:
    text = json.dumps(
        {"schemaVersion": 1, "traceEvents": [event("a"), event("b")], "more": [{}, {}]}
    )
    found = read(text, NAME)
    assert [s[0] for s in slices(found)] == ["a", "b"]
    assert found.codes == ["trace-host-only"]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", [NAME, "msprof_20250101.json", "msprof.json"])
def test_spacing_and_names(read: Reader, block: int, indent: int | None, name: str) -> None:
    found = read(
        json.dumps([event("a", args={"l": [{"x": 1}, {"y": 2}]}), event("b")], indent=indent), name
    )
    assert [s[0] for s in slices(found)] == ["a", "b"]


def test_packed_and_cut(read: Reader) -> None:
    text = json.dumps([event(f"op{i}", ts=f"{i}.000") for i in range(50_000)]).encode()
    packed = gzip.compress(text)
    assert len(read(packed, NAME + ".gz").tables["slices"]) == 50_000
    found = read(packed[: len(packed) * 3 // 7], NAME + ".gz")
    assert 10_000 < len(found.tables["slices"]) < 40_000
    assert found.note("trace-truncated").params["events"] == len(found.tables["slices"])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_other_encodings(read: Reader, block: int, encoding: str) -> None:
    found = read(json.dumps([event("前向")], ensure_ascii=False).encode(encoding), NAME)
    assert slices(found) == [("前向", 10000, 1500.0)]


def test_one_bad_object_costs_one_object(read: Reader, block: int) -> None:
    parts = [json.dumps(event(f"op{i}", ts=f"{i}.000")) for i in range(100)]
    parts[10] = '{"ph":"X","name":"say "hi"","pid":1,"tid":1,"ts":"1.0","dur":1}'
    parts[20] = '{"ph":"X","name":'
    parts[30] = '{"ph":"X","name":"C:\\q","pid":1,"tid":1,"ts":"1.0","dur":1}'
    parts[40] = "garbage"
    parts[50] = json.dumps(event("中文", ts="50.000"), ensure_ascii=False)
    text = "[" + ", ".join(parts) + "]"
    found = read(text, NAME)
    assert len(found.tables["slices"]) == 96
    note = found.note("trace-object-skipped")
    assert note.params == {"count": 4}
    assert note.place is not None
    offsets = [int(w) for w in note.place.removeprefix("byte ").split(", ")]
    for at, part in zip(offsets, (parts[10], parts[20], parts[30], parts[40]), strict=True):
        assert text[at:].startswith(part)


def test_times_in_every_form(read: Reader, block: int) -> None:
    times = {
        "1736408883704643.212": 1736408883704643212, 1736408883704643: 1736408883704643000,
        12.5: 12500, "7": 7000, "1e3": 1000000, "-2.5": -2500, " 3.25\t": 3250,
        "1736408883704643.2125": 1736408883704643212, "0.0004": 0,
    }  # fmt: skip
    found = read(json.dumps([event(f"op{i}", ts=t) for i, t in enumerate(times)]), NAME)
    assert [s[1] for s in slices(found)] == list(times.values())


def test_what_is_no_time_or_duration(read: Reader, block: int) -> None:
    events = [
        event("ok", dur="2.5"), event("none", ts=None), event("word", ts="soon"), event("huge", ts=1e300),
        event("open", dur=None), event("negative", dur=-1), {"ph": "X", "name": "bare"},
    ]  # fmt: skip
    found = read(json.dumps(events), NAME)
    assert slices(found) == [
        ("ok", 10000, 2500.0),
        ("open", 10000, None),
        ("negative", 10000, -1000.0),
    ]
    assert found.note("trace-without-time").params == {"count": 4}
    assert found.note("impossible-value").params["count"] == 1


def test_members_of_other_types(read: Reader, block: int) -> None:
    odd = [
        event(5),
        event(None),
        event("c", cat=3),
        event("p", pid=1.5, tid=None),
        event("t", pid=2**70),
    ]
    found = read(json.dumps([*odd, 3, None, [], "text", {}]), NAME)
    assert [s[0] for s in slices(found)] == ["5", None, "c", "p", "t"]
    assert str(2**70) in set(found.tables["tracks"]["pid"])


def test_begin_and_end_instants_and_unknown_phases(read: Reader, block: int) -> None:
    events: list[dict[str, Any]] = [
        {"ph": "B", "name": "outer", "pid": 1, "tid": 1, "ts": 1},
        {"ph": "B", "name": "inner", "pid": 1, "tid": 1, "ts": 2},
        {"ph": "i", "name": "mark", "pid": 1, "tid": 1, "ts": 2.5, "s": "t"},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 3},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 5},
        {"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": 6},
        {"ph": "b", "name": "async", "pid": 1, "tid": 1, "ts": 6, "id": 1},
    ]
    found = read(json.dumps(events), NAME)
    table = found.tables["slices"].sort_values("event")
    rows = list(zip(table["name"], table["depth"], table["phase"], table["dur_ns"], strict=True))
    assert rows[:3] == [("outer", 0, "X", 4000.0), ("inner", 1, "X", 1000.0), ("mark", 0, "i", 0.0)]
    assert rows[3][:3] == ("open", 0, "X")
    assert found.note("trace-phases-skipped").params == {"count": 1, "phases": "b"}


def test_flows_with_middles_and_repeated_ids(read: Reader) -> None:
    def end(phase: str, ts: float, tid: int, id: int = 1) -> dict[str, Any]:
        return {"ph": phase, "name": "n", "cat": "c", "id": id, "pid": 1, "tid": tid, "ts": ts}

    ends = [
        end("s", 1, 1), end("t", 2, 2), end("f", 3, 3), end("s", 10, 1), end("f", 11, 2),
        end("s", 5, 1, 2), end("f", 4, 2, 2), end("f", 9, 9, 3), end("s", 9, 9, 4),
        end("s", 20, 1, 5), end("f", 20, 1, 5),
    ]  # fmt: skip
    found = read(json.dumps(ends), NAME)
    flows = found.tables["flows"]
    assert sorted(zip(flows["id"], flows["from_ns"], flows["to_ns"], strict=True)) == [
        ("1", 1000, 2000), ("1", 2000, 3000), ("1", 10000, 11000), ("2", 5000, 4000),
    ]  # fmt: skip
    assert found.note("trace-flows-open").params == {"count": 1}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "file-empty"), (b"  \n ", "trace-no-events"), (b"[]", "trace-empty"),
        (b"[", "trace-empty"), (b'{"a": 1}', "trace-no-events"), (b"hello", "trace-no-events"),
        (b'{"traceEvents": []}', "trace-empty"), (b'{"traceEvents": [', "trace-empty"),
    ],
)  # fmt: skip
def test_files_without_events(read: Reader, block: int, text: bytes, code: str) -> None:
    found = read(text, NAME)
    assert code in found.codes
    assert found.error is None


def test_an_object_longer_than_any(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "MAX_OBJECT_BYTES", 10_000)
    monkeypatch.setattr(trace_file, "BLOCK_BYTES", 1000)
    parts = [event("a"), event("x" * 50_000), event("b")]
    found = read(json.dumps(parts), NAME)
    assert found.error is None
    assert "trace-object-skipped" in found.codes
    assert slices(found)[0][0] == "a"


def test_hostile_depth_ends_soon(read: Reader) -> None:
    text = "[" + '{"ph":' * 200_000 + ", " + json.dumps(event("after")) + "]"
    found = read(text, NAME)
    assert found.error is None


def test_progress_is_told(level1: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tb_npu_plugin.backend.ingest import Job, ingest

    monkeypatch.setattr(trace_file, "BLOCK_BYTES", 200_000)
    told: list[float] = []
    job = Job("c", bytes(level1), "x", "trace_view", "f", level1.stat().st_size, str(cache_dir))
    assert ingest(job, on_progress=told.append).error is None
    assert told == sorted(told)
    assert len(told) > 10
    assert 0.05 < told[1] < 0.2
    assert 0.7 <= told[-1] <= 1


# ---- mutations ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample(level1: Path) -> bytes:
    """Some events of every kind, as they stand in the file."""
    kinds: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for one in json.loads(level1.read_bytes()):
        kinds[one["ph"], one.get("cat", "")].append(one)
    chosen = [one for group in kinds.values() for one in group[:6]]
    return json.dumps(chosen, ensure_ascii=False).encode()


@settings(max_examples=60, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(data=st.data())
def test_no_mutation_is_an_exception(
    sample: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = bytearray(sample)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.sampled_from([0, 1, 5, 200]))
        new = data.draw(st.one_of(st.binary(max_size=6), st.sampled_from(PIECES)))
        text[at : at + length] = new
    folder = tmp_path_factory.mktemp("mutated")
    path = folder / "ASCEND_PROFILER_OUTPUT" / NAME
    path.parent.mkdir()
    path.write_bytes(text)
    found = read_file(path, folder / "cache")
    assert found.error is None, found.error
    assert path.read_bytes() == bytes(text)
    assert [p.name for p in path.parent.iterdir()] == [NAME]
