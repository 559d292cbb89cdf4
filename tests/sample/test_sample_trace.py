"""trace_view.json against the tables, its flows, and its form."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from sample_reading import interval, is_comm, load, nearest_ns, ns, output, rows

from tb_npu_plugin.sample import SampleTruth, write_sample

TRUTHS = pytest.mark.parametrize("which", ["pair", "four", "short"])


def processes(events: list[dict[str, Any]]) -> dict[int, str]:
    return {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}


@TRUTHS
def test_form(which: str, request: pytest.FixtureRequest) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        text = (output(rank.path) / "trace_view.json").read_text(encoding="utf-8")
        assert text.startswith("[{")
        assert text.endswith("}]")
        assert "\n" not in text
        events = json.loads(text)
        names = processes(events)
        expected = {"Python", "Ascend Hardware", "AI Core Freq", "Communication", "NPU MEM",
                    "Overlap Analysis"}  # fmt: skip
        assert set(names.values()) == expected | (set() if which == "short" else {"CANN"})
        device = rank.device
        python = next(pid for pid, name in names.items() if name == "Python")
        assert rank.path.name.split("_")[1] == str(python)
        for event in events:
            if event["ph"] == "M":
                assert "ts" not in event
                continue
            whole, _, part = event["ts"].partition(".")
            assert whole.isdigit()
            assert len(part) == 3
            if event["ph"] == "X":
                assert not isinstance(event["dur"], str)
                assert event["dur"] > 0
        for pid, name in names.items():
            if name != "Python":
                assert pid >> 10 == python
                assert pid & 31 == device
        hidden = [e for e in events if e["ph"] == "X" and e["pid"] not in names]
        assert hidden == []
        if which == "short":
            lost = {e["pid"] for e in events if e["ph"] == "s"} - set(names)
            assert len(lost) == 1, "flows start at a process without a name"
        frequency = {e["args"]["MHz"] for e in events if e["name"] == "AI Core Freq" and "ts" in e}
        assert frequency == {1800}


@TRUTHS
def test_slices_equal_the_tables(which: str, request: pytest.FixtureRequest) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        events = load(rank.path, "trace_view.json")
        names = processes(events)
        slices: dict[str, Counter[tuple[str, int, int]]] = defaultdict(Counter)
        threads = {
            (e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"
        }
        overlap: Counter[tuple[str, int]] = Counter()
        for e in events:
            if e["ph"] != "X":
                continue
            process, track = names[e["pid"]], threads[e["pid"], e["tid"]]
            start, took = ns(e["ts"]), nearest_ns(e["dur"])
            if process == "Overlap Analysis":
                assert track == e["name"]
                step = next(s for s in rank.steps if s.first_ns <= start < s.host_end_ns)
                overlap[track, step.step] += took
            elif process == "Ascend Hardware" or track.endswith("Communication"):
                slices[process][e["name"], start, took] += 1
        kernels = rows(rank.path, "kernel_details.csv")
        spans = [(k["Name"], interval(k), is_comm(k)) for k in kernels]
        for process, comm in (("Ascend Hardware", False), ("Communication", True)):
            assert slices[process] == Counter(
                (name, start, end - start) for name, (start, end), c in spans if c is comm
            )
        for step in rank.steps:
            assert [overlap[track, step.step] for track in
                    ("Computing", "Communication", "Communication(Not Overlapped)", "Free")] == [
                step.computing_ns, step.communication_ns, step.not_overlapped_ns, step.free_ns,
            ]  # fmt: skip
        markers = {
            e["name"]: (ns(e["ts"]), ns(e["ts"]) + nearest_ns(e["dur"]))
            for e in events
            if e["name"].startswith("ProfilerStep#")
        }
        assert markers == {
            f"ProfilerStep#{s.step}": (s.host_start_ns, s.host_end_ns) for s in rank.steps
        }


@TRUTHS
def test_flows_join_slices(which: str, request: pytest.FixtureRequest) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        events = load(rank.path, "trace_view.json")
        begins: dict[tuple[int, int], set[int]] = defaultdict(set)
        launches: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for e in events:
            if e["ph"] == "X":
                begin = ns(e["ts"])
                begins[e["pid"], e["tid"]].add(begin)
                if e["name"] == "Node@launch":
                    end = begin + nearest_ns(e["dur"])
                    launches[e["pid"], e["tid"]].append((begin, end))
        for spans in launches.values():
            spans.sort()
        flows: dict[tuple[str, str | int], dict[str, dict[str, Any]]] = defaultdict(dict)
        for e in events:
            if e["ph"] in "sf":
                assert e["ph"] not in flows[e["cat"], e["id"]], "one start and one end"
                flows[e["cat"], e["id"]][e["ph"]] = e
        kinds = Counter(cat for cat, _ in flows)
        assert kinds["async_npu"] == kinds["HostToDevice"] == rank.kernel_rows
        assert kinds["async_task_queue"] == rank.kernel_rows
        assert kinds["fwdbwd"] > 0
        hosts = processes(events)
        for (cat, key), ends in flows.items():
            start, end = ends["s"], ends["f"]
            assert ns(start["ts"]) < ns(end["ts"])
            assert ns(end["ts"]) in begins[end["pid"], end["tid"]]
            if cat == "HostToDevice":
                assert isinstance(key, str)
                if start["pid"] not in hosts:
                    continue  # level 0
                at = ns(start["ts"])
                spans = launches[start["pid"], start["tid"]]
                begin, end_ = spans[bisect_right(spans, (at, 1 << 62)) - 1]
                assert begin <= at < end_
            else:
                assert ns(start["ts"]) in begins[start["pid"], start["tid"]]
            if cat == "async_npu":
                assert key == ns(end["ts"])
            if cat == "fwdbwd":
                assert start["tid"] != end["tid"]


def test_old_names(tmp_path: Path) -> None:
    truth = write_sample(tmp_path, ranks=2, steps=1, kernels_per_step=120, line="2025")
    events = load(truth.ranks[0].path, "trace_view.json")
    names = set(processes(events).values())
    assert "HCCL" in names
    assert "Communication" not in names
    labels = {e["args"]["labels"] for e in events if e["name"] == "process_labels"}
    assert labels == {"CPU", "NPU"}
    assert any(e["name"] == "Hccl@Launch_Ffts" for e in events)
    assert {e["name"] for e in events if e.get("cat") == "enqueue"} == {"Enqueue"}
    threads = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert "Group 0 Communication" in threads
