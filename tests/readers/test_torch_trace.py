"""Traces of torch.profiler: captures of their own, with every table that their events allow."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_captures import Read, read_file, write_capture

from tb_npu_plugin.backend import discovery
from tb_npu_plugin.backend.cache import Ingested
from tb_npu_plugin.backend.capture import describe
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.ingest import Job, ingest
from tb_npu_plugin.backend.readers import torch_info, trace_file
from tb_npu_plugin.frames import Captures, load

NAMES = ["cpu_only", "h100_qwen", "ns_resolution", "vllm_piecewise"]


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "captures/pytorch"


@pytest.fixture(scope="module")
def real(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Captures]:
    with load(folder, cache=tmp_path_factory.mktemp("cache"), workers=1) as captures:
        yield captures


def content(folder: Path, name: str) -> dict[str, Any]:
    """The file's own content; numbers with a point as their text."""
    (path,) = (folder / name).glob("*.pt.trace.json.gz")
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()), parse_float=str)
    return found


def ns(text: object) -> int:
    whole, _, part = str(text).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


# ---- identity -------------------------------------------------------------------------------


def test_each_file_is_a_capture(real: Captures, folder: Path) -> None:
    found = {c.run: c for c in real}
    assert sorted(found) == NAMES
    assert {run: c.rank for run, c in found.items()} == {
        "cpu_only": 34, "h100_qwen": None, "ns_resolution": 0, "vllm_piecewise": 0,
    }  # fmt: skip
    assert [found[name].worker for name in NAMES] == ["rank-34", "worker0", "rank-0", "rank0"]
    assert found["cpu_only"].path.is_file()


@pytest.mark.parametrize("name", NAMES)
def test_the_window_is_that_of_the_events(real: Captures, folder: Path, name: str) -> None:
    data = content(folder, name)
    base = data.get("baseTimeNanoseconds", 0)
    times = [ns(e["ts"]) + base for e in data["traceEvents"] if "ts" in e]
    capture = real.select(run=name).captures[0]
    assert capture.info.start_ns is not None
    assert capture.info.end_ns is not None
    assert abs(capture.info.start_ns - min(times)) < 10**9
    assert abs(capture.info.end_ns - max(times)) < 10**9
    slices = real.slices(run=name)
    assert slices["start_ns"].min() == min(
        ns(e["ts"]) + base for e in data["traceEvents"] if e["ph"] in "Xi"
    )


def test_the_stamp_in_a_name_agrees_with_the_base(real: Captures) -> None:
    """rank0.<epoch ns>: written moments after the last event."""
    capture = real.select(run="vllm_piecewise").captures[0]
    assert capture.info.end_ns is not None
    assert abs(1773709679453551615 - capture.info.end_ns) < 300 * 10**9


def test_several_files_in_one_directory(folder: Path, tmp_path: Path, cache_dir: Path) -> None:
    for i, name in enumerate(("cpu_only", "vllm_piecewise")):
        (path,) = (folder / name).glob("*.gz")
        shutil.copy(path, tmp_path / f"host.node_{i}.171{i}.pt.trace.json.gz")
    (path,) = (folder / "ns_resolution").glob("*.gz")
    (tmp_path / "plain.pt.trace.json").write_bytes(gzip.decompress(path.read_bytes()))
    with load(tmp_path, cache=cache_dir, workers=1) as captures:
        assert captures.runs == ["."]
        assert sorted(c.worker for c in captures) == ["host.node_0", "host.node_1", "plain"]
        assert sum(len(captures.operators(recording=c.recording)) for c in captures) == (
            4 + 642 + 23910
        )


def test_an_export_of_a_capture_is_no_second_one(folder: Path, tmp_path: Path) -> None:
    (path,) = (folder / "cpu_only").glob("*.gz")
    shutil.copy(path, tmp_path / "w_1.5.pt.trace.json.gz")
    shutil.copy(path, tmp_path / "other.pt.trace.json.gz")
    capture = write_capture(tmp_path / "cap", step_trace_time="Step\n")
    manifest = {"exports": [{"kind": "pytorch_trace", "path": "../w_1.5.pt.trace.json.gz"}]}
    (capture / "capture.json").write_text(json.dumps(manifest))
    found = {f.path.name for f in discovery.scan([Root(tmp_path)]).found}
    assert found == {"cap", "other.pt.trace.json.gz"}
    for broken in (
        "",
        "[]",
        '{"exports": 3}',
        '{"exports": [{"path": "../../x/other.pt.trace.json.gz"}]}',
    ):
        (capture / "capture.json").write_text(broken)
        assert len(discovery.scan([Root(tmp_path)]).found) == 3


def test_a_link_to_a_trace_is_no_second_one(folder: Path, tmp_path: Path) -> None:
    (path,) = (folder / "cpu_only").glob("*.gz")
    shutil.copy(path, tmp_path / "a.pt.trace.json.gz")
    (tmp_path / "b.pt.trace.json.gz").symlink_to(tmp_path / "a.pt.trace.json.gz")
    assert len(discovery.scan([Root(tmp_path)]).found) == 1


@pytest.mark.parametrize("text", [b"", b"{", b"\x1f\x8b\x08", b"[]", b'{"traceEvents": ['])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_identity_of_a_broken_file(tmp_path: Path, text: bytes, suffix: str) -> None:
    (tmp_path / f"rank_3.pt.trace.json{suffix}").write_bytes(text)
    (found,) = discovery.scan([Root(tmp_path)]).found
    capture = describe(found)
    assert (capture.rank, capture.worker, capture.info.start_ns) == (3, "rank_3", None)


@pytest.mark.parametrize(
    ("plugins", "code"), [((), "torch-trace"), (("pytorch_profiler",), "torch-trace-tab")]
)
def test_the_fallback_view_is_named(
    monkeypatch: pytest.MonkeyPatch, plugins: tuple[str, ...], code: str
) -> None:
    class Point:
        def __init__(self, name: str) -> None:
            self.name = name

    def entry_points(group: str) -> list[Point]:
        assert group == "tensorboard_plugins"
        return [Point(name) for name in ("npu_profiler", *plugins)]

    monkeypatch.setattr(torch_info.metadata, "entry_points", entry_points)
    assert torch_info.fallback_note().code == code


# ---- tables ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_slice_and_instant(real: Captures, folder: Path, name: str) -> None:
    data = content(folder, name)
    events = [(i, e) for i, e in enumerate(data["traceEvents"]) if e["ph"] in "Xi"]
    base = data.get("baseTimeNanoseconds", 0)
    table = real.slices(run=name).sort_values("event")
    assert list(table["event"]) == [i for i, _ in events]
    assert list(table["name"]) == [e["name"] for _, e in events]
    assert list(table["start_ns"]) == [ns(e["ts"]) + base for _, e in events]
    assert list(table["phase"]) == [e["ph"] for _, e in events]
    wanted = [float(e.get("dur", 0)) * 1e3 for _, e in events]
    assert (table["dur_ns"] - wanted).abs().max() < 1e-5


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("cpu_only", {"python": 3, "other": 3}),
        ("h100_qwen", {"python": 2, "hardware": 1, "other": 3}),
        ("ns_resolution", {"python": 2, "runtime": 1, "hardware": 1, "other": 3}),
        ("vllm_piecewise", {"python": 1, "hardware": 1}),
    ],
)
def test_tracks(real: Captures, name: str, kinds: dict[str, int]) -> None:
    tracks = real.tracks(run=name)
    assert tracks.groupby("kind").size().to_dict() == kinds
    assert tracks[tracks["kind"] == "python"]["device"].isna().all()


@pytest.mark.parametrize("name", NAMES)
def test_kernels(real: Captures, folder: Path, name: str) -> None:
    data = content(folder, name)
    wanted = [e for e in data["traceEvents"] if e.get("cat") == "kernel"]
    kernels = real.kernels(run=name)
    assert len(kernels) == len(wanted)
    assert kernels["dur_ns"].sum() == pytest.approx(sum(float(e["dur"]) for e in wanted) * 1e3)
    if wanted:
        assert set(kernels["device"]) == {e["args"]["device"] for e in wanted}
        assert set(kernels["stream"]) == {e["args"]["stream"] for e in wanted}
        assert (kernels["start_ns"].diff().dropna() >= 0).all()


@pytest.mark.parametrize(
    ("name", "steps"),
    [("cpu_only", [551]), ("h100_qwen", [6]), ("ns_resolution", [101, 102, 103, 104, 105])],
)
def test_steps_of_the_host_are_counted_once(real: Captures, name: str, steps: list[int]) -> None:
    assert list(real.steps(run=name)["step"]) == steps


def test_a_serving_trace_has_one_unnamed_step(real: Captures) -> None:
    steps = real.steps(run="vllm_piecewise")
    assert len(steps) == 1
    assert steps["step"].isna().all()
    row = steps.iloc[0]
    assert row["computing_ns"] + row["free_ns"] == pytest.approx(row["stage_ns"])


def test_the_parts_of_a_step_by_hand(real: Captures) -> None:
    kernels = real.kernels(run="h100_qwen", step=6)
    covered, until = 0.0, float("-inf")
    first = kernels["start_ns"].min()
    for start, dur in zip(kernels["start_ns"] - first, kernels["dur_ns"], strict=True):
        covered += max(0.0, start + dur - max(until, start))
        until = max(until, start + dur)
    row = real.steps(run="h100_qwen").iloc[0]
    assert row["computing_ns"] == pytest.approx(covered)
    assert row["stage_ns"] == pytest.approx(until)
    assert row["communication_ns"] == 0
    assert pd.isna(row["bubble_ns"])


def test_a_trace_of_the_cpu_knows_its_step_and_says_what_is_missing(real: Captures) -> None:
    steps = real.steps(run="cpu_only")
    assert steps[["computing_ns", "stage_ns", "preparing_ns"]].isna().all(axis=None)
    assert {"torch-trace", "torch-trace-tab"} & set(real.findings(run="cpu_only")["code"])
    assert "torch-cpu-only" in set(real.findings(run="cpu_only")["code"])


@pytest.mark.parametrize("name", NAMES)
def test_operators(real: Captures, folder: Path, name: str) -> None:
    events = content(folder, name)["traceEvents"]
    calls = [e for e in events if e.get("cat") == "cpu_op"]
    operators = real.operators(run=name)
    assert len(operators) == len(calls)
    assert operators["host_total_ns"].sum() == pytest.approx(
        sum(float(e["dur"]) for e in calls) * 1e3
    )
    known = {e["args"]["External id"] for e in calls}
    launched = [
        e for e in events
        if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
        and e["args"].get("External id") in known
    ]  # fmt: skip
    total = sum(float(e["dur"]) for e in launched) * 1e3
    assert operators["device_self_ns"].sum() == pytest.approx(total)
    assert (operators["device_total_ns"] >= operators["device_self_ns"] - 1e-6).all()


def test_an_operator_by_hand(real: Captures) -> None:
    """aten::embedding calls aten::index_select, which launches the kernel."""
    first = real.operators(run="h100_qwen").iloc[0]
    assert (first["name"], first["input_shapes"]) == ("aten::embedding", "151936,1024;16,559")
    assert (first["host_total_ns"], first["host_self_ns"]) == (111822.0, 22451.0)
    assert (first["device_self_ns"], first["device_total_ns"]) == (0.0, 51776.0)


def test_memory_points(real: Captures, folder: Path) -> None:
    data = content(folder, "h100_qwen")
    points = real.memory_points(run="h100_qwen")
    assert points.groupby("component").size().to_dict() == {"CPU": 200, "CUDA": 2250}
    wanted = [e["args"] for e in data["traceEvents"] if e["name"] == "[memory]"]
    gpu = points[points["component"] == "CUDA"]
    assert set(gpu["device"]) == {0}
    on_gpu = [a for a in wanted if a["Device Type"] == 1]
    assert gpu["allocated_bytes"].max() == max(a["Total Allocated"] for a in on_gpu)
    assert gpu["reserved_bytes"].max() == max(a["Total Reserved"] for a in on_gpu)
    assert points[points["component"] == "CPU"]["device"].isna().all()


def test_collectives_of_the_cpu(real: Captures) -> None:
    found = real.communication(run="cpu_only")
    assert list(found["name"].unique()) == ["gloo:all_reduce"]
    assert (len(found), set(found["type"]), set(found["kind"])) == (
        10,
        {"allreduce"},
        {"collective"},
    )
    assert found["elapse_ns"].iloc[0] == 173209713.0
    assert found["wait_ns"].isna().all(), "not recorded, so unknown"


def test_arrows_join_calls_and_kernels(real: Captures) -> None:
    flows = real.flows(run="ns_resolution")
    assert flows.groupby("cat").size().to_dict() == {"ac2g": 6095, "fwdbwd": 905}
    tracks = real.tracks(run="ns_resolution").set_index("track")["kind"]
    launches = flows[flows["cat"] == "ac2g"]
    assert set(launches["to_track"].map(tracks)) == {"hardware"}
    assert "trace-flows-open" not in set(real.findings(run="ns_resolution")["code"])


def test_views_show_them(real: Captures) -> None:
    from tb_npu_plugin.backend.tables import TableRequest
    from tb_npu_plugin.backend.views.registry import VIEWS

    for name in NAMES:
        sel = real.select(run=name)
        for view in VIEWS.values():
            view.run(sel, TableRequest())


# ---- made by hand ---------------------------------------------------------------------------


def trace(*events: dict[str, Any], **around: Any) -> bytes:
    return json.dumps({"schemaVersion": 1, "traceEvents": list(events), **around}).encode()


def read_torch(tmp_path: Path, text: bytes, name: str = "w.1.pt.trace.json") -> Read:
    path = tmp_path / name
    path.write_bytes(text)
    found = read_file(path, tmp_path / "cache")
    assert found.error is None
    return found


def derive(path: Path, cache: Path) -> Ingested:
    """What is worked out from the file's tables."""
    done = ingest(Job("d", bytes(path), path.name, "torch_derived", "d", 0, str(cache), origin="o"))
    assert not done.notes or done.notes[0].code != "reader-failed", done.error
    return done


def span(cat: str, name: str, ts: float, dur: float, tid: int = 1, **args: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": 1,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


@pytest.mark.parametrize("block", [trace_file.BLOCK_BYTES, 64, 7])
def test_the_base_may_stand_before_or_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(trace_file, "BLOCK_BYTES", block)
    base = 1_700_000_000_000_000_000
    event = span("cpu_op", "a", 5.25, 1)
    behind = read_torch(tmp_path, trace(event, baseTimeNanoseconds=base))
    assert list(behind.tables["slices"]["start_ns"]) == [base + 5250]
    before = json.dumps({"baseTimeNanoseconds": base, "traceEvents": [event]}).encode()
    assert list(read_torch(tmp_path, before, "b.pt.trace.json").tables["slices"]["start_ns"]) == [
        base + 5250
    ]
    epoch = trace({**event, "ts": base / 1000}, baseTimeNanoseconds=base)
    assert list(read_torch(tmp_path, epoch, "c.pt.trace.json").tables["slices"]["start_ns"]) == [
        base
    ]
    for odd in ("soon", -1, 2.5, None, 10**30):
        found = read_torch(tmp_path, trace(event, baseTimeNanoseconds=odd), "d.pt.trace.json")
        assert list(found.tables["slices"]["start_ns"]) == [5250]


def test_a_merged_trace_is_told(tmp_path: Path) -> None:
    text = trace(span("cpu_op", "a", 1, 1), distributedInfo={"rank": 1})
    text = text[:-1] + b', "distributedInfo": {"rank": 2}}'
    assert "torch-ranks-merged" in read_torch(tmp_path, text).codes


def test_collectives_on_a_device_and_their_overlap(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    group = {"Collective name": "allreduce", "In msg nelems": 1000, "dtype": "BFloat16",
             "Process Group Name": "3", "device": 0, "stream": 9}  # fmt: skip
    events = [
        span("user_annotation", "ProfilerStep#4", 0, 100),
        span("gpu_user_annotation", "ProfilerStep#4", 10, 90, tid=7),
        span("cpu_op", "aten::mm", 1, 4, **{"External id": 1}),
        span("cpu_op", "c10d::allreduce_", 6, 4, **{"External id": 2}),
        span("kernel", "gemm", 20, 40, tid=7, device=0, stream=7, **{"External id": 1}),
        span("kernel", "ncclDevKernel_AllReduce_Sum", 50, 30, tid=9, **group, **{"External id": 2}),
        span("gpu_memcpy", "Memcpy DtoH", 90, 5, tid=7, device=0, stream=7, **{"External id": 1}),
    ]
    (tmp_path / "logdir").mkdir()
    (tmp_path / "logdir/w.pt.trace.json").write_bytes(trace(*events, baseTimeNanoseconds=10**18))
    captures = opened(tmp_path / "logdir")
    (row,) = captures.steps().to_dict("records")
    assert row["step"] == 4
    assert (row["computing_ns"], row["communication_ns"]) == (40_000.0, 30_000.0)
    assert (row["overlapped_ns"], row["communication_not_overlapped_ns"]) == (10_000.0, 20_000.0)
    assert (row["free_ns"], row["stage_ns"], row["preparing_ns"]) == (0.0, 60_000.0, 20_000.0)
    kernels = captures.kernels()
    assert list(kernels["core"].fillna("")) == ["", "COMMUNICATION"]
    (op,) = captures.communication().to_dict("records")
    assert (op["type"], op["size_bytes"], op["comm_group"], op["step"]) == (
        "allreduce",
        2000.0,
        "3",
        4,
    )
    operators = captures.operators().set_index("name")
    assert operators.loc["aten::mm", "device_self_ns"] == 45_000.0, "with its copy"


@settings(max_examples=15, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(data=st.data())
def test_no_mutation_is_an_exception(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    (path,) = (folder / "cpu_only").glob("*.gz")
    text = bytearray(gzip.decompress(path.read_bytes()))
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.sampled_from([0, 1, 5, 200]))
        piece = st.sampled_from(
            [b'"', b"{", b"}", b"[", b"]", b",", b"\\", b"NaN", b"1e999", b"null"]
        )
        text[at : at + length] = data.draw(st.one_of(st.binary(max_size=6), piece))
    target = tmp_path_factory.mktemp("mutated")
    (target / "w.pt.trace.json").write_bytes(text)
    found = read_file(target / "w.pt.trace.json", target / "cache")
    assert found.error is None
    torch_info.read(target / "w.pt.trace.json")
    if found.tables:
        assert derive(target / "w.pt.trace.json", target / "cache").error is None
    assert (target / "w.pt.trace.json").read_bytes() == bytes(text)
