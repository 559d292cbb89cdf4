"""The real databases: every table against values that plain SQL gives."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_captures import OUTPUT, Read, read_file


class Real(tuple[Path, Read, Read]):
    """One rank of the real Level1 job: its database's path, the two databases as read."""

    path = property(lambda self: self[0])
    main = property(lambda self: self[1].tables)
    analysis = property(lambda self: self[2].tables)

    def sql(self, query: str, database: str = "main") -> list[Any]:
        """The answer of SQLite itself."""
        path = self.path if database == "main" else self.path.with_name("analysis.db")
        connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()


@pytest.fixture(scope="module", params=[0, 1])
def real(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Real:
    folder = shared / f"captures/db_level1/rank{request.param}_ascend_pt" / OUTPUT
    path = folder / f"ascend_pytorch_profiler_{request.param}.db"
    cache = tmp_path_factory.mktemp("cache")
    before = _state(folder)
    found = Real((path, read_file(path, cache), read_file(path.with_name("analysis.db"), cache)))
    assert _state(folder) == before
    assert not found[1].error
    assert not found[2].error
    return found


def _state(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


def test_kernels_are_compute_tasks_and_operations(real: Real) -> None:
    kernels = real.main["kernels"]
    assert len(kernels) == 191 == 187 + 4
    assert (kernels["core"] == "HCCL").sum() == 4
    rows = real.sql(
        "SELECT n.value, y.value, c.value, t.startNs, t.endNs, t.streamId, t.taskId, i.blockDim, "
        "trim(s.value, '\"') FROM COMPUTE_TASK_INFO i JOIN TASK t USING (globalTaskId) "
        "JOIN STRING_IDS n ON n.id = i.name JOIN STRING_IDS y ON y.id = i.opType "
        "JOIN STRING_IDS c ON c.id = i.taskType JOIN STRING_IDS s ON s.id = i.inputShapes "
        "ORDER BY t.startNs"
    )
    columns = ["name", "type", "core", "start_ns", "dur_ns", "stream", "task", "blocks"]
    compute = kernels[kernels["core"] != "HCCL"]
    assert compute[columns].to_numpy().tolist() == [
        [n, y, c, start, float(end - start), stream, task, blocks]
        for n, y, c, start, end, stream, task, blocks, _ in rows
    ]
    assert [None if pd.isna(s) else s for s in compute["input_shapes"]] == [
        None if r[-1] == "N/A" else r[-1] for r in rows
    ]


def test_operations_have_no_stream_and_no_counters(real: Real) -> None:
    kernels = real.main["kernels"]
    operations = kernels[kernels["core"] == "HCCL"]
    rows = real.sql("SELECT value, startNs, endNs - startNs FROM COMMUNICATION_OP o "
                    "JOIN STRING_IDS s ON s.id = o.opName ORDER BY startNs")  # fmt: skip
    assert operations[["name", "start_ns", "dur_ns"]].to_numpy().tolist() == [
        [n, start, float(dur)] for n, start, dur in rows
    ]
    assert (operations["type"] == "hcom_allReduce_").all()
    assert (operations["blocks"] == 0).all()
    counters = [c for c in kernels if c.startswith(("aic", "aiv"))]
    assert operations[["stream", "task", *counters]].isna().all().all()


def test_wait_is_the_gap_to_the_row_before(real: Real) -> None:
    kernels = real.main["kernels"]
    start = kernels["start_ns"].to_numpy()
    end = start + kernels["dur_ns"].to_numpy().astype("int64")
    assert (np.diff(start) >= 0).all()
    assert kernels["wait_ns"].tolist() == [0, *np.maximum(0, start[1:] - end[:-1]).tolist()]


def test_counters_stand_beside_their_kernels(real: Real) -> None:
    kernels = real.main["kernels"].set_index(["stream", "task"])
    rows = real.sql(
        "SELECT t.streamId, t.taskId, s.value, p.value FROM TASK_PMU_INFO p JOIN TASK t "
        "USING (globalTaskId) JOIN STRING_IDS s ON s.id = p.name"
    )
    assert len(rows) == 5180 == 185 * 28
    renamed = {"aic_total_time": "aicore_time", "aiv_total_time": "aiv_time"}
    for stream, task, counter, value in rows:
        name = renamed.get(counter, counter)
        key = f"{name}_ns" if name.endswith("_time") else name
        assert kernels.loc[(stream, task), key] == pytest.approx(value, abs=1e-9)


def test_all_kernels_are_of_the_one_step(real: Real) -> None:
    assert set(real.main["kernels"]["step"]) == {50}


def test_step_times_worked_out_equal_those_of_torch_npu(real: Real) -> None:
    ours, theirs = real.main["steps"], real.analysis["steps"]
    pd.testing.assert_frame_equal(ours, theirs)
    row = real.sql("SELECT * FROM StepTraceTime", "analysis")[0]
    assert theirs["step"].tolist() == [int(row[0])]
    values = theirs.drop(columns=["step", "device"]).iloc[0].tolist()
    assert values == [pytest.approx(v * 1000, abs=1e-6) for v in row[1:]]


def test_operators_and_what_they_launched(real: Real) -> None:
    operators = real.main["operators"]
    assert len(operators) == 859
    rows = real.sql(
        "SELECT s.value, CAST(endNs AS INTEGER) - CAST(startNs AS INTEGER), h.value FROM PYTORCH_API p "
        # This torch_npu wrote types into inputShapes and shapes into inputDtypes.
        "JOIN STRING_IDS s ON s.id = p.name LEFT JOIN STRING_IDS h ON h.id = p.inputDtypes "
        "WHERE type = 50001 AND s.value NOT LIKE 'ProfilerStep#%' "
        "ORDER BY CAST(startNs AS INTEGER), -CAST(endNs AS INTEGER)"
    )
    assert operators["name"].tolist() == [r[0] for r in rows]
    assert operators["host_total_ns"].tolist() == [r[1] for r in rows]
    shapes = [None if r[2] is None else r[2].replace("\r\n", "").rstrip(";") or None for r in rows]
    assert [None if pd.isna(s) else s for s in operators["input_shapes"]] == shapes
    assert "32,3,224,224" in shapes
    assert not any(s and re.search("[A-Za-z]", s) for s in shapes)
    launched = real.sql(
        "SELECT sum(endNs - startNs) FROM (SELECT DISTINCT l.connectionId FROM PYTORCH_API p "
        "JOIN CONNECTION_IDS l ON l.id = p.connectionId JOIN CANN_API a "
        "ON a.connectionId = l.connectionId WHERE p.type = 50001) c JOIN ("
        "SELECT t.connectionId, t.startNs, t.endNs FROM COMPUTE_TASK_INFO JOIN TASK t "
        "USING (globalTaskId) UNION ALL SELECT connectionId, startNs, endNs FROM COMMUNICATION_OP) k "
        "ON k.connectionId = c.connectionId"
    )[0][0]
    assert operators["device_self_ns"].sum() == launched
    assert launched == real.main["kernels"]["dur_ns"].sum()


def test_operators_nest_by_time_on_their_threads(real: Real) -> None:
    """Self and total times against a plain loop over every pair."""
    rows = real.sql(
        "SELECT CAST(startNs AS INTEGER) AS a, CAST(endNs AS INTEGER) AS b, globalTid, name "
        "FROM PYTORCH_API p WHERE type = 50001 AND name NOT IN "
        "(SELECT id FROM STRING_IDS WHERE value LIKE 'ProfilerStep#%') ORDER BY a, -b"
    )
    operators = real.main["operators"]
    total_device = [0.0] * len(rows)
    self_host = [float(b - a) for a, b, _, _ in rows]
    same = []
    for i, (a, b, thread, name) in enumerate(rows):
        around = [
            j
            for j, (c, d, other, _) in enumerate(rows[:i])
            if other == thread and c <= a and b <= d
        ]
        if around:
            self_host[around[-1]] -= b - a
        if any(rows[j][3] == name for j in around):
            same.append(i)
        for j in (*around, i):
            total_device[j] += operators["device_self_ns"][i]
    assert operators["host_self_ns"].tolist() == self_host
    assert operators["device_total_ns"].tolist() == pytest.approx(total_device)
    assert real.main["operator_nested"]["nested_row"].tolist() == same


def test_stacks_begin_with_the_innermost_frame(real: Real) -> None:
    operators = real.main["operators"]
    rows = real.sql(
        "SELECT p.rowid, s.value FROM PYTORCH_API p JOIN PYTORCH_CALLCHAINS c ON c.id = p.callchainId "
        "JOIN STRING_IDS s ON s.id = c.stack WHERE p.type = 50001 AND p.name NOT IN "
        "(SELECT id FROM STRING_IDS WHERE value LIKE 'ProfilerStep#%') "
        "ORDER BY CAST(startNs AS INTEGER), -CAST(endNs AS INTEGER), p.rowid, c.stackDepth"
    )
    expected: dict[int, list[str]] = {}
    for row, frame in rows:
        expected.setdefault(row, []).append(frame)
    stacks = [s.split("\n") for s in operators["stack"] if not pd.isna(s)]
    assert stacks == list(expected.values())


def test_statistics(real: Real) -> None:
    apis = real.main["api_statistics"]
    rows = real.sql(
        "SELECT e.name, s.value, count(*), sum(d), min(d), max(d), avg(d * d / 1e6) - avg(d / 1e3) "
        "* avg(d / 1e3) FROM (SELECT *, endNs - startNs AS d FROM CANN_API) a JOIN ENUM_API_TYPE e "
        "ON e.id = a.type JOIN STRING_IDS s ON s.id = a.name GROUP BY 1, 2 ORDER BY 1, 2"
    )
    assert apis[["level", "name", "count", "total_ns", "min_ns", "max_ns"]].to_numpy().tolist() == [
        list(r[:6]) for r in rows
    ]
    assert apis["variance_us2"].tolist() == [pytest.approx(r[6], rel=1e-6, abs=1e-4) for r in rows]
    types = real.main["op_statistics"]
    kernels = real.main["kernels"]
    compute = kernels[kernels["core"] != "HCCL"]
    assert types["count"].sum() == 187
    assert types["total_ns"].sum() == compute["dur_ns"].sum()
    assert types["total_ratio"].sum() == pytest.approx(1.0)


def test_memory(real: Real) -> None:
    points, blocks = real.main["memory_points"], real.main["memory_blocks"]
    counts = dict(real.sql("SELECT value, count(*) FROM MEMORY_RECORD m JOIN STRING_IDS s "
                           "ON s.id = m.component GROUP BY 1"))  # fmt: skip
    counts["APP"] = real.sql("SELECT count(*) FROM NPU_MEM n JOIN STRING_IDS s ON s.id = n.type "
                             "WHERE s.value = 'app'")[0][0]  # fmt: skip
    assert points["component"].value_counts().to_dict() == counts
    assert points["component"].iloc[0] == "APP"
    peak = real.sql("SELECT max(totalAllocated) FROM MEMORY_RECORD m JOIN STRING_IDS s "
                    "ON s.id = m.component WHERE s.value = 'PTA'")[0][0]  # fmt: skip
    assert points[points["component"] == "PTA"]["allocated_bytes"].max() == peak
    assert len(blocks) == 184
    assert (
        blocks["name"].str.startswith("cann::").sum() == 57 == (blocks["component"] == "GE").sum()
    )
    released = real.sql(
        "SELECT count(*), sum(duration) FROM OP_MEMORY WHERE releaseTime IS NOT NULL"
    )
    assert ((blocks["state"] != "held").sum(), blocks["dur_ns"].sum()) == released[0]
    modules = real.main["module_memory"]
    assert len(modules) == 1078
    assert modules["component"].nunique() == 77


def test_communication_worked_out_agrees_with_cann(real: Real) -> None:
    """Times of CANN are doubles of ms made of device ticks: within 10 ns."""
    for table, keys in (("comm_ops", ["name"]), ("comm_links", ["name", "link"]),
                        ("comm_packets", ["name", "link", "packet_bytes"])):  # fmt: skip
        ours = real.main[table].sort_values(keys).reset_index(drop=True)
        theirs = real.analysis[table].sort_values(keys).reset_index(drop=True)
        assert ours[keys].equals(theirs[keys])
        for column in theirs:
            if column == "start_ns":
                continue
            if column.endswith("_ns"):
                assert ours[column].tolist() == pytest.approx(theirs[column].tolist(), abs=10)
            elif column != "bandwidth_bytes_per_s":
                pd.testing.assert_series_equal(ours[column], theirs[column])
    assert len(real.analysis["comm_matrix"]) == 48


def test_structure_is_that_of_the_text_capture(
    real: Real, read_text: Callable[[str], Read]
) -> None:
    kernels = read_text("kernel_details.csv").tables["kernels"]
    ours = real.main["kernels"]
    assert sorted(kernels["type"]) == sorted(ours["type"])
    # Between streams the order may differ; within one it does not.
    by_stream = [k.groupby("stream")["name"].agg(list).to_dict() for k in (kernels, ours)]
    assert by_stream[0] == by_stream[1]
    operators = read_text("operator_details.csv").tables["operators"]
    assert operators["name"].value_counts().to_dict() == (
        real.main["operators"]["name"].value_counts().to_dict()
    )
    assert len(read_text("operator_memory.csv").tables["memory_blocks"]) == 184
    for table, name, keys in (
        ("op_statistics", "op_statistic.csv", ["type", "core"]),
        ("api_statistics", "api_statistic.csv", ["level", "name"]),
    ):
        theirs = read_text(name).tables[table]
        assert set(map(tuple, theirs[keys].to_numpy())) == set(
            map(tuple, real.main[table][keys].to_numpy())
        )
    operations = read_text("communication.json").tables["comm_ops"]
    assert operations["type"].tolist() == real.analysis["comm_ops"]["type"].tolist()
    assert operations["size_bytes"].tolist() == real.analysis["comm_ops"]["size_bytes"].tolist()


@pytest.fixture
def read_text(shared: Path, real: Real, cache_dir: Path) -> Callable[[str], Read]:
    rank = real.path.stem[-1]
    folder = shared / f"captures/text_level1/rank{rank}_ascend_pt" / OUTPUT
    return lambda name: read_file(folder / name, cache_dir)


def test_findings_of_a_whole_capture(real: Real) -> None:
    codes = [n.code for n in real[1].notes]
    altered = ["database-altered"] if real.path.stem.endswith("0") else []
    assert codes == [*altered, "steps-recomputed", "communication-recomputed", "blocks-incomplete"]
    assert real[2].notes == []
