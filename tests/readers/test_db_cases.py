"""Databases of other versions and tools: what is missing is told, what is there is shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from small_captures import OUTPUT, Read, read_file

from tb_npu_plugin.backend.findings import render
from tb_npu_plugin.backend.selection import select
from tb_npu_plugin.backend.views import health
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample

TASK = (
    "startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, "
    "streamId, taskId, modelId"
)
NO_ID = 4294967295


@pytest.fixture
def database(tmp_path: Path, cache_dir: Path) -> Callable[..., Read]:
    """Read a database of some tables: ``TASK=("a, b", [(1, 2)])``."""

    def build(name: str = "ascend_pytorch_profiler_0.db", **tables: tuple[str, list[Any]]) -> Read:
        folder = tmp_path / "capture" / OUTPUT
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        connection = sqlite3.connect(folder / name)
        for table, (columns, rows) in tables.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
            marks = ",".join("?" * (columns.count(",") + 1))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        connection.commit()
        connection.close()
        read = read_file(folder / name, cache_dir)
        assert read.error is None, read.error
        return read

    return build


def strings(*names: str) -> tuple[str, list[Any]]:
    return "id INTEGER PRIMARY KEY, value TEXT", list(enumerate(names))


def test_c25_kernels_without_their_names_and_a_word_on_every_missing_table(
    cases: Path, opened: Callable[[Path], Captures]
) -> None:
    captures = opened(cases / "C25-db-missing-tables")
    kernels = captures.kernels()
    assert kernels[["name", "core", "dur_ns"]].to_numpy().tolist() == [
        ["AI_CORE", "AI_CORE", 12500.0]
    ]
    sel = select(captures._store)
    for view, table in (
        ("step", "STEP_TIME"), ("operator", "PYTORCH_API"), ("memory", "MEMORY_RECORD"),
        ("communication", "COMMUNICATION_OP"), ("api", "CANN_API"), ("kernel", "COMPUTE_TASK_INFO"),
    ):  # fmt: skip
        found = [f for f in health.findings(sel, view) if f.code.startswith("db-")]
        assert [table in f.message and bool(f.remedy) for f in found] == [True], view
    steps = captures.steps()
    assert steps["computing_ns"].tolist() == [12500.0]
    assert steps["step"].isna().all()


def test_c26_old_spellings_text_times_and_ids_that_join_to_nothing(
    cases: Path, cache_dir: Path
) -> None:
    path = cases / "C26-db-snake-case-text-ns" / OUTPUT / "ascend_pytorch_profiler_0.db"
    read = read_file(path, cache_dir)
    operators = read.tables["operators"]
    assert operators["name"].tolist() == ["aten::mul", "aten::add"]
    assert operators["host_total_ns"].tolist() == [900.0, 500.0]
    assert operators["device_total_ns"].tolist() == [0.0, 0.0]
    point = read.tables["memory_points"].iloc[0]
    assert (point["time_ns"], point["allocated_bytes"], point["reserved_bytes"]) == (
        9999999500, 1048576, 2097152
    )  # fmt: skip
    assert (point["stream_ptr"], point["device"]) == ("187651", 0)


def test_c26_the_rank_is_that_of_the_old_map(
    cases: Path, opened: Callable[[Path], Captures]
) -> None:
    captures = opened(cases / "C26-db-snake-case-text-ns")._store.captures()
    assert [c.rank for c in captures] == [0]


def test_block_dim_is_a_count_or_the_name_of_dimensions(database: Callable[..., Read]) -> None:
    task = (TASK, [(100, 200, 0, 7, 1, 1, 0, NO_ID, 2, 5, NO_ID)])
    names = strings("KERNEL_AIVEC", "Add", "(32,1,1)")
    old = database(TASK=task, STRING_IDS=names,
                   COMPUTE_TASK_INFO=("name, globalTaskId, blockDim", [(1, 1, 16)]))  # fmt: skip
    new = database(TASK=task, STRING_IDS=names,
                   COMPUTE_TASK_INFO=("name, globalTaskId, blockNum, blockDim", [(1, 1, 16, 2)]))  # fmt: skip
    for read in (old, new):
        assert read.tables["kernels"]["blocks"].tolist() == [16]
        assert read.tables["kernels"]["context"].isna().all()


def test_no_strings(database: Callable[..., Read]) -> None:
    read = database(
        TASK=(TASK, [(100, 200, 0, 7, 1, 1, 0, NO_ID, 2, 5, NO_ID)]),
        COMPUTE_TASK_INFO=("name, globalTaskId", [(1, 1)]),
    )
    assert read.tables["kernels"]["name"].isna().all()
    assert "db-strings-missing" in read.codes


def test_a_framework_without_a_device(database: Callable[..., Read]) -> None:
    read = database(
        STRING_IDS=strings("aten::add", "ProfilerStep#3"),
        PYTORCH_API=("startNs TEXT, endNs TEXT, globalTid, name, type",
                     [("5", "90", 1, 1, 50001), ("10", "30", 1, 0, 50001)]),
        STEP_TIME=("id, startNs, endNs", [(3, 5, 90)]),
    )  # fmt: skip
    assert read.tables["operators"]["host_total_ns"].tolist() == [20.0]
    assert "db-kernels-missing" in read.codes
    assert "kernels" not in read.tables


def test_frames_that_are_text_themselves(database: Callable[..., Read]) -> None:
    read = database(
        STRING_IDS=strings("aten::add"),
        PYTORCH_API=("startNs, endNs, globalTid, name, callchainId, type",
                     [(10, 30, 1, 0, 4, 50001), (40, 50, 1, 0, 5, 50001)]),
        PYTORCH_CALLCHAINS=("id INTEGER, stack TEXT, stackDepth INTEGER",
                            [(4, "b.py(2)", 1), (4, "a.py(1)", 0), (5, "a.py(1)", 0), (5, "b.py(2)", 1)]),
    )  # fmt: skip
    assert read.tables["operators"]["stack"].tolist() == ["a.py(1)\nb.py(2)"] * 2


def test_overlapping_operators_of_several_threads(database: Callable[..., Read]) -> None:
    rows = [(0, 100, 1), (10, 40, 1), (20, 30, 1), (50, 100, 1), (15, 300, 2), (90, 130, 1)]
    read = database(
        STRING_IDS=strings("op"),
        PYTORCH_API=(
            "startNs, endNs, globalTid, name, type",
            [(a, b, t, 0, 50001) for a, b, t in rows],
        ),
    )
    operators = read.tables["operators"]
    found = dict(
        zip(operators["host_total_ns"].astype(int), operators["host_self_ns"], strict=True)
    )
    # 90–130 begins inside 50–100 and outlives it: it lies in neither.
    assert found == {100: 20.0, 30: 20.0, 285: 285.0, 10: 10.0, 50: 50.0, 40: 40.0}


def test_memory_of_the_graph_engine_alone(database: Callable[..., Read]) -> None:
    """msprof_*.db: blocks are paired by address, totals taken from the events."""
    events = [(0, 64, 1, 512, 10, 512, 4096), (0, 128, 1, 256, 20, 768, 4096),
              (0, 64, 2, 512, 30, 256, 4096), (0, 64, 1, 1024, 40, 1280, 4096)]  # fmt: skip
    read = database(
        "msprof_20250109.db",
        STRING_IDS=strings("Conv2D", "allocate", "release", "GE"),
        NPU_OP_MEM=(
            "operatorName, addr, type, size, timestampNs, totalAllocate, totalReserve, component, deviceId",
            [(*e, 3, 0) for e in events],
        ),
    )
    blocks = read.tables["memory_blocks"]
    assert blocks[["alloc_ns", "size_bytes", "state"]].to_numpy().tolist() == [
        [10, 512.0, "released"], [20, 256.0, "held"], [40, 1024.0, "held"]
    ]  # fmt: skip
    assert blocks["release_ns"].iloc[0] == 30
    assert blocks["name"].tolist() == ["cann::Conv2D"] * 3
    assert read.tables["memory_points"]["allocated_bytes"].tolist() == [512.0, 768.0, 256.0, 1280.0]
    assert set(read.tables["memory_points"]["component"]) == {"GE"}


def test_two_devices_have_rows_and_waits_of_their_own(database: Callable[..., Read]) -> None:
    tasks = [(100, 150, 0, 1, 1), (160, 200, 0, 2, 2), (120, 190, 1, 3, 3), (195, 220, 1, 4, 4)]
    read = database(
        STRING_IDS=strings("KERNEL_AICORE", "MatMul", "AI_CORE", "node", "launch"),
        TASK=("startNs, endNs, deviceId, connectionId, globalTaskId, taskType", [(*t, 0) for t in tasks]),
        COMPUTE_TASK_INFO=("name, globalTaskId, taskType, opType", [(1, i, 2, 1) for i in (1, 2, 3, 4)]),
        STEP_TIME=("id, startNs, endNs", [(7, 50, 155), (8, 156, 230)]),
        CANN_API=("startNs, endNs, type, connectionId, name",
                  [(60, 70, 10000, 1, 4), (61, 71, 10000, 3, 4), (157, 158, 10000, 2, 4),
                   (158, 159, 10000, 4, 4)]),
    )  # fmt: skip
    kernels = read.tables["kernels"]
    assert kernels[["device", "step", "start_ns", "wait_ns"]].to_numpy().tolist() == [
        [0, 7, 100, 0], [0, 8, 160, 10], [1, 7, 120, 0], [1, 8, 195, 5]
    ]  # fmt: skip
    steps = read.tables["steps"]
    assert steps[["step", "device", "computing_ns", "preparing_ns"]].to_numpy().tolist() == [
        [7, 0, 50, 50], [7, 1, 70, 70], [8, 0, 40, 4], [8, 1, 25, 39]
    ]  # fmt: skip


def test_steps_as_operators_where_their_own_table_is_missing(database: Callable[..., Read]) -> None:
    read = database(
        STRING_IDS=strings("KERNEL_AICORE", "MatMul", "AI_CORE", "ProfilerStep#12"),
        TASK=("startNs, endNs, deviceId, connectionId, globalTaskId, taskType",
              [(100, 150, 0, 1, 1, 0), (900, 950, 0, 2, 2, 0)]),
        COMPUTE_TASK_INFO=("name, globalTaskId, taskType, opType", [(1, 1, 2, 1), (1, 2, 2, 1)]),
        CANN_API=("startNs, endNs, type, connectionId", [(60, 70, 10000, 1), (800, 801, 10000, 2)]),
        PYTORCH_API=("startNs, endNs, globalTid, name, type", [(50, 200, 1, 3, 50001)]),
    )  # fmt: skip
    assert [None if pd.isna(s) else s for s in read.tables["kernels"]["step"]] == [12, None]
    assert read.tables["steps"]["step"].tolist() == [12]
    assert read.note("rows-outside-steps").params["count"] == 1


def test_values_of_other_types_cost_a_cell_each(database: Callable[..., Read]) -> None:
    read = database(
        STRING_IDS=strings("KERNEL_AICORE", "MatMul"),
        TASK=(TASK, [(100, 200, 0, 7, 1, 1, 0, NO_ID, 2, 5, NO_ID),
                     (300, 400, "zero", None, 2, 1, 0, b"\x01", 2.0, 6, -1)]),
        COMPUTE_TASK_INFO=("name, globalTaskId, blockDim", [(1, 1, 16), ("x", 2, None)]),
    )  # fmt: skip
    kernels = read.tables["kernels"]
    assert sorted(kernels["start_ns"]) == [100, 300]
    assert "value-unreadable" in read.codes


def test_notes_are_worded_in_both_languages(cases: Path, cache_dir: Path) -> None:
    read = read_file(
        cases / "C25-db-missing-tables" / OUTPUT / "ascend_pytorch_profiler_0.db", cache_dir
    )
    for note in read.notes:
        for lang in ("en", "zh"):
            finding = render(note, lang, "c", 0)  # type: ignore[arg-type]
            assert "?" not in finding.message
            assert finding.remedy


def test_the_capture_that_cann_exported_but_torch_npu_never_analysed(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    """PROF_…/msprof_*.db: kernels and host calls without steps and operators."""
    truth = write_sample(tmp_path / "a", ranks=1, steps=1, kernels_per_step=20, export=("db",))
    folder = truth.ranks[0].path
    prof = (
        tmp_path / "b" / "node_1_20260302080000018_ascend_pt" / "PROF_000001_20260302080000018_AB"
    )
    prof.mkdir(parents=True)
    connection = sqlite3.connect(folder / OUTPUT / "ascend_pytorch_profiler_0.db")
    for table in ("PYTORCH_API", "CONNECTION_IDS", "PYTORCH_CALLCHAINS", "STEP_TIME", "OP_MEMORY",
                  "MEMORY_RECORD"):  # fmt: skip
        connection.execute(f"DROP TABLE {table}")
    connection.commit()
    connection.close()
    (folder / OUTPUT / "ascend_pytorch_profiler_0.db").rename(prof / "msprof_20260302080001.db")
    captures = opened(tmp_path / "b")
    assert len(captures.kernels()) == truth.ranks[0].kernel_rows
    assert captures.steps()["step"].isna().all()
    assert captures._store.captures()[0].rank == 0
