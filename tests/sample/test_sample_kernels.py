"""kernel_details.csv, op_statistic.csv, l2_cache.csv and data_preprocess.csv."""

from __future__ import annotations

import math
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_reading import column, interval, is_comm, nearest_ns, ns, output, rows

from tb_npu_plugin.sample import LINES, SampleTruth, write_sample

FREQ, CUBE, VECTOR = 1800, 24, 48
AIC, AIV = ("mac", "scalar", "mte1", "mte2", "fixpipe"), ("vec", "scalar", "mte2", "mte3")


def check_waits(kernels: list[dict[str, str]]) -> None:
    """Sorted by start; wait is the gap to the row before, over all streams, 0 at first."""
    before: int | None = None
    last = 0
    for row in kernels:
        start, end = interval(row)
        assert start >= last
        expected = 0 if before is None else max(0, start - before)
        assert nearest_ns(row["Wait Time(us)"]) == expected
        before, last = end, start


def check_core(row: dict[str, str], prefix: str, stages: tuple[str, ...], cores: int) -> None:
    time = float(row[f"{'aicore' if prefix == 'aic' else 'aiv'}_time(us)"])
    cycles = int(row[f"{prefix}_total_cycles"])
    if cycles == 0:
        assert time == 0
        return
    mixed = prefix == "aiv" and row["Accelerator Core"] == "MIX_AIC"
    blocks = int(
        column(row, "Mix Block Num", "Mix Block Dim") if mixed else column(row, "Block Num", "Block Dim")
    )  # fmt: skip
    assert time == pytest.approx(cycles / (FREQ * blocks) * math.ceil(blocks / cores), abs=0.0006)
    assert 0 < time <= float(row["Duration(us)"])
    for stage in stages:
        ratio = float(row[f"{prefix}_{stage}_ratio"])
        assert 0 <= ratio <= 1
        assert float(row[f"{prefix}_{stage}_time(us)"]) == pytest.approx(
            ratio * time, abs=0.0006 + 0.0006 * time
        )


@settings(max_examples=12, deadline=None)
@given(
    kernels=st.integers(1, 400),
    ranks=st.integers(1, 3),
    steps=st.integers(1, 3),
    seed=st.integers(0, 10_000),
    line=st.sampled_from(sorted(LINES)),
)
def test_rows_obey_their_definitions(
    kernels: int, ranks: int, steps: int, seed: int, line: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        truth = write_sample(
            Path(folder), ranks=ranks, steps=steps, kernels_per_step=kernels, seed=seed, line=line,
            files=["kernel_details.csv", "step_trace_time.csv"],
        )  # fmt: skip
        for rank in truth.ranks:
            found = rows(rank.path, "kernel_details.csv")
            assert len(found) == rank.kernel_rows
            check_waits(found)
            per_step: dict[str, int] = defaultdict(int)
            for row in found:
                per_step[row["Step Id"]] += not is_comm(row)
                if is_comm(row) or row["aicore_time(us)"] == "N/A":
                    continue
                check_core(row, "aic", AIC, CUBE)
                check_core(row, "aiv", AIV, VECTOR)
                use = int(row["aic_total_cycles"]) / (FREQ * CUBE * float(row["Duration(us)"]))
                assert float(row["cube_utilization(%)"]) == pytest.approx(100 * use, abs=0.0006)
            assert per_step == {str(s.step): kernels for s in rank.steps}


def test_text_looks_as_the_exporter_writes_it(pair: SampleTruth) -> None:
    raw = (output(pair.ranks[0].path) / "kernel_details.csv").read_bytes()
    lines = raw.split(b"\r\n")
    assert b"\n" not in b"".join(lines)
    assert lines[-1] == b""
    first = lines[1]
    assert b"\t," in first
    assert b',"""' in first
    assert b'""",' in first
    found = rows(pair.ranks[0].path, "kernel_details.csv")
    shapes = {row["Input Shapes"] for row in found}
    assert any(s.startswith('"') and s.endswith('"') and ";" in s for s in shapes)
    comm = [row for row in found if is_comm(row)]
    assert comm
    for row in comm:
        assert row["Name"].startswith("hcom_")
        assert row["Type"] == row["Name"].split("__")[0] + "_"
        blank = set(row) - {
            "Step Id", "Device_id", "Model ID", "Name", "Type", "Accelerator Core",
            "Start Time(us)", "Duration(us)", "Wait Time(us)", "Block Num",
        }  # fmt: skip
        assert {row[name] for name in blank} == {"N/A"}


@pytest.mark.parametrize(
    ("line", "level", "columns"),
    [("2025", 0, 8), ("26.0", 0, 9), ("2025", 1, 46), ("7.1", 1, 47), ("26.0", 2, 47)],
)
def test_header_variants(tmp_path: Path, line: str, level: int, columns: int) -> None:
    truth = write_sample(tmp_path, ranks=2, steps=1, kernels_per_step=150, level=level, line=line)
    found = rows(truth.ranks[1].path, "kernel_details.csv")
    assert len(found[0]) == columns
    assert ("Device_id" in found[0]) == (line != "2025")
    assert ("Block Num" in found[0]) == (line == "26.0")
    core = "HCCL" if line == "2025" else "COMMUNICATION"
    assert {row["Accelerator Core"] for row in found if is_comm(row)} == {core}
    if level == 0:
        assert {row["Type"] for row in found} == {"N/A"}
        assert {row["Accelerator Core"] for row in found} == {"N/A", core}
        check_waits(found)
    names = {p.name for p in output(truth.ranks[1].path).iterdir()}
    statistics = {"op_statistic.csv", "api_statistic.csv", "communication.json"}
    assert (statistics <= names) == (level > 0)
    assert ("data_preprocess.csv" in names) == (level == 2)
    assert ("analyse.done" in names) == (line == "26.0")


@pytest.mark.parametrize("which", ["pair", "four"])
def test_op_statistic_is_the_kernels_grouped(which: str, request: pytest.FixtureRequest) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row in rows(rank.path, "kernel_details.csv"):
            if not is_comm(row):
                groups[row["Type"], row["Accelerator Core"]].append(nearest_ns(row["Duration(us)"]))
        whole = sum(map(sum, groups.values()))
        listed = rows(rank.path, "op_statistic.csv")
        assert [float(r["Total Time(us)"]) for r in listed] == sorted(
            (float(r["Total Time(us)"]) for r in listed), reverse=True
        )
        assert {(r["OP Type"], r["Core Type"]) for r in listed} == set(groups) == set(rank.types)
        for row in listed:
            key = row["OP Type"], row["Core Type"]
            took = groups[key]
            assert int(row["Count"]) == len(took) == rank.types[key].count
            assert nearest_ns(row["Total Time(us)"]) == sum(took) == rank.types[key].total_ns
            assert nearest_ns(row["Min Time(us)"]) == min(took) == rank.types[key].min_ns
            assert nearest_ns(row["Max Time(us)"]) == max(took) == rank.types[key].max_ns
            average = sum(took) / 1000 / len(took)
            assert float(row["Avg Time(us)"]) == pytest.approx(average, abs=0.0006)
            assert float(row["Ratio(%)"]) == pytest.approx(100 * sum(took) / whole, abs=0.0006)


def test_l2_and_ai_cpu_rows_join_kernels(four: SampleTruth) -> None:
    for rank in four.ranks:
        kernels = {
            (r["Stream ID"], r["Task ID"], r["Name"]): r
            for r in rows(rank.path, "kernel_details.csv")
            if not is_comm(r)
        }
        cache = rows(rank.path, "l2_cache.csv")
        keys = [(r["Stream Id"], r["Task Id"], r["Op Name"]) for r in cache]
        assert len(set(keys)) == len(keys)
        assert set(keys) <= set(kernels)
        missing = [kernels[key]["Accelerator Core"] for key in set(kernels) - set(keys)]
        assert sorted({*missing}) == ["AI_CPU", "AI_VECTOR_CORE", "DSA_SQE"]
        assert missing.count("AI_VECTOR_CORE") == 1  # the capture's very first kernel
        for row in rows(rank.path, "data_preprocess.csv"):
            kernel = kernels[row["Stream ID"], row["Task ID"], row["Node"]]
            assert ns(row["Timestamp(us)"]) == ns(kernel["Start Time(us)"])
            assert row["Total_time(us)"] == kernel["Duration(us)"]
            task, total = float(row["Task_time(us)"]), float(row["Total_time(us)"])
            assert total == pytest.approx(task + float(row["Dispatch_time(us)"]))
            assert task == pytest.approx(
                float(row["Compute_time(us)"]) + float(row["Memcpy_time(us)"])
            )
