"""operator_details.csv, and api_statistic.csv against the trace's CANN slices."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict

import pytest
from sample_reading import is_comm, load, nearest_ns, ns, output, rows

from tb_npu_plugin.sample import SampleTruth

TRUTHS = pytest.mark.parametrize("which", ["pair", "four", "short"])


@TRUTHS
def test_every_kernel_is_some_operators_own(which: str, request: pytest.FixtureRequest) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        found = rows(rank.path, "operator_details.csv")
        assert len(found) == rank.operator_rows
        assert Counter(row["Name"] for row in found) == rank.operators
        kernels = rows(rank.path, "kernel_details.csv")
        device = sum(nearest_ns(k["Duration(us)"]) for k in kernels)
        assert sum(nearest_ns(r["Device Self Duration(us)"]) for r in found) == device
        for row in found:
            host_self = nearest_ns(row["Host Self Duration(us)"])
            assert 0 <= host_self <= nearest_ns(row["Host Total Duration(us)"])
            own, total, own_ai, total_ai = (
                nearest_ns(row[f"Device {kind} Duration{core}"])
                for core in ("(us)", " With AICore(us)")
                for kind in ("Self", "Total")
            )
            assert 0 <= own_ai <= own <= total
            assert own_ai <= total_ai <= total
        if which != "short":
            labelled = {"AI_CORE", "AI_VECTOR_CORE"}
            ai_core = sum(
                nearest_ns(k["Duration(us)"]) for k in kernels if k["Accelerator Core"] in labelled
            )
            assert ai_core == sum(
                nearest_ns(r["Device Self Duration With AICore(us)"]) for r in found
            )


def test_cells_span_lines_as_torch_npu_writes_them(pair: SampleTruth) -> None:
    raw = (output(pair.ranks[0].path) / "operator_details.csv").read_bytes()
    assert b";\r\n" in raw
    assert raw.endswith(b"\r\n")
    assert b"\n" not in raw.replace(b"\r\n", b"")
    found = rows(pair.ranks[0].path, "operator_details.csv")
    mm = next(row for row in found if row["Name"] == "aten::addmm")
    assert mm["Input Shapes"].count(";\r\n") == 4
    assert mm["Input Shapes"].endswith(";\r\n")
    stack = mm["Call Stack"].split(";\r\n")
    assert len(stack) == 3
    assert stack[-1].endswith("<module>")
    zero = sum(row["Device Total Duration(us)"] == "0" for row in found)
    assert 0 < zero < len(found)


@TRUTHS
def test_operators_equal_the_traces(which: str, request: pytest.FixtureRequest) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        ops = [
            e
            for e in load(rank.path, "trace_view.json")
            if e.get("cat") == "cpu_op" and not e["name"].startswith("ProfilerStep#")
        ]
        # A parent and its first child may start together; the longer one comes first.
        ops.sort(key=lambda e: (ns(e["ts"]), -e["dur"]))
        found = rows(rank.path, "operator_details.csv")
        assert [(e["name"], nearest_ns(e["dur"])) for e in ops] == [
            (r["Name"], nearest_ns(r["Host Total Duration(us)"])) for r in found
        ]
        self_time: dict[int, int] = {}
        open_ops: list[tuple[int, int]] = []  # (index, end)
        for i, event in enumerate(ops):
            start, took = ns(event["ts"]), nearest_ns(event["dur"])
            while open_ops and open_ops[-1][1] <= start:
                open_ops.pop()
            if open_ops:
                assert start + took <= open_ops[-1][1], "operators nest"
                self_time[open_ops[-1][0]] -= took
            self_time[i] = took
            open_ops.append((i, start + took))
        assert list(self_time.values()) == [nearest_ns(r["Host Self Duration(us)"]) for r in found]


@pytest.mark.parametrize("which", ["pair", "four"])
def test_api_statistic_is_the_traces_slices(which: str, request: pytest.FixtureRequest) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        took: dict[tuple[str, str], list[int]] = defaultdict(list)
        for event in load(rank.path, "trace_view.json"):
            if event["ph"] == "X" and "level" in event.get("args", {}):
                name = event["name"].split("@", 1)[1]
                took[event["args"]["level"], name].append(nearest_ns(event["dur"]))
        listed = {(r["Level"], r["API Name"]): r for r in rows(rank.path, "api_statistic.csv")}
        assert set(listed) == set(took) == set(rank.apis)
        assert {level for level, _ in listed} == {"acl", "node", "communication"} | (
            {"runtime"} if which == "four" else set()
        )
        for key, row in listed.items():
            assert row["Device_id"] == "host"
            assert int(row["Count"]) == len(took[key]) == rank.apis[key].count
            assert nearest_ns(row["Time(us)"]) == sum(took[key]) == rank.apis[key].total_ns
            assert nearest_ns(row["Min(us)"]) == min(took[key])
            assert nearest_ns(row["Max(us)"]) == max(took[key])
            spread = statistics.pvariance([t / 1000 for t in took[key]])
            assert float(row["Variance"]) == pytest.approx(spread, rel=1e-6, abs=0.0006)
        launches = sum(not is_comm(k) for k in rows(rank.path, "kernel_details.csv"))
        comm = rank.kernel_rows - launches
        assert int(listed["node", "launch"]["Count"]) == launches + comm
