"""What operations of communication cost their step: by hand, by brute force, on real captures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_captures import OUTPUT, Read, write_capture

from tb_npu_plugin.backend.overlap import overlap_summary
from tb_npu_plugin.backend.schema.communication import type_of, type_sql
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.communication import communication
from tb_npu_plugin.backend.views.ranks import ranks
from tb_npu_plugin.frames import Captures

HEADER = "Step Id,Device_id,Name,Accelerator Core,Start Time(us),Duration(us)\n"
EPOCH_US = 1_736_408_883_704_643
#: (step, device, name, core, start in us after EPOCH_US, duration in us)
Kernel = tuple[int, int, str, str, float, float]
Opener = Callable[[Path], Captures]


def table(kernels: list[Kernel]) -> str:
    rows = (
        f"{s},{d},{name},{core},{EPOCH_US + int(at)}.{at % 1 * 1000:03.0f},{dur}"
        for s, d, name, core, at, dur in kernels
    )
    return HEADER + "\n".join(rows) + "\n"


def costs(found: Read) -> dict[str, float]:
    rows = found.tables["overlap_summary"]
    return dict(zip(rows["name"], rows["not_overlapped_ns"], strict=True))


def test_by_hand(read: Callable[..., Read]) -> None:
    """Computing covers 0-10 and 8-12 (12 in all), 30-40 with one inside, and 100-110 on device 1."""
    found = read(table([
        (1, 0, "a", "AI_CORE", 0, 10), (1, 0, "b", "AI_VECTOR_CORE", 8, 4),
        (1, 0, "c", "AI_CORE", 30, 10), (1, 0, "inside", "AI_CORE", 32, 2),
        (1, 1, "d", "AI_CORE", 100, 10),
        # 5-20 on device 0: 12-20 alone.
        (1, 0, "hcom_allReduce__586_0_1", "HCCL", 5, 15),
        # 25-50 and 45-60: 25-30 alone, 40-45 alone, 45-50 shared, 50-60 alone.
        (2, 0, "hcom_send__586_1_1", "COMMUNICATION", 25, 25),
        (2, 0, "hcom_receive__586_2_1", "COMMUNICATION", 45, 15),
        # Hidden as a whole, without a duration, and unknown.
        (2, 0, "hidden", "HCCL", 33, 4), (2, 0, "instant", "HCCL", 70, 0), (2, 0, "bad", "HCCL", 80, -1),
        # What another device computes hides nothing.
        (3, 0, "other", "HCCL", 100, 10), (3, 1, "own", "HCCL", 100, 15),
    ]))  # fmt: skip
    assert costs(found) == pytest.approx({
        "hcom_allReduce__586_0_1": 8000, "hcom_send__586_1_1": 12500,
        "hcom_receive__586_2_1": 12500, "hidden": 0, "instant": 0, "other": 10_000, "own": 5000,
    })  # fmt: skip
    rows = found.tables["overlap_summary"].set_index("name")
    assert rows.loc["hcom_allReduce__586_0_1", ["type", "step", "elapse_ns"]].tolist() == [
        "allreduce", 1, 15_000.0,
    ]  # fmt: skip


def test_kernels_without_communication_or_a_core(read: Callable[..., Read]) -> None:
    assert costs(read(table([(1, 0, "a", "AI_CORE", 0, 10)]))) == {}
    assert costs(read("Name,Start Time(us),Duration(us)\nhcom_send__1_1,1,2\n")) == {}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.integers(0, 20), st.booleans(), st.sampled_from([0, 1, None])),
        min_size=1,
        max_size=14,
    )
)  # fmt: skip
def test_as_counted_instant_by_instant(
    tasks: list[tuple[int, int, bool, int | None]],
) -> None:
    rows = pd.DataFrame({
        "name": [str(i) for i in range(len(tasks))],
        "core": ["HCCL" if comm else "AI_CORE" for _, _, comm, _ in tasks],
        "step": 1,
        "device": pd.array([device for *_, device in tasks], "Int64"),
        "start_ns": [EPOCH_US * 1000 + start for start, *_ in tasks],
        "dur_ns": [float(dur) for _, dur, _, _ in tasks],
    })  # fmt: skip
    expected = dict.fromkeys((str(i) for i, task in enumerate(tasks) if task[2]), 0.0)
    for device in {task[3] for task in tasks}:
        for instant in range(81):
            open_now = [
                (str(i), comm)
                for i, (start, dur, comm, own) in enumerate(tasks)
                if own == device and start <= instant < start + dur
            ]
            if all(comm for _, comm in open_now):
                for name, _ in open_now:
                    expected[name] += 1 / len(open_now)
    with duckdb.connect() as con:
        con.register("tasks", rows)
        found = con.execute(overlap_summary("tasks", set(rows.columns))).df()
    told = dict(zip(found["name"], found["not_overlapped_ns"], strict=True))
    assert told == pytest.approx(expected)


@pytest.mark.parametrize("name", ["text_level1", "text_level0", "db_level1"])
def test_real_operations_add_up_to_the_step(name: str, shared: Path, opened: Opener) -> None:
    """The exporter works out the sum in another way: step_trace_time has it per step."""
    captures = opened(shared / "captures" / name)
    steps = captures.steps().groupby("rank")["communication_not_overlapped_ns"].sum()
    operations = captures.communication().groupby("rank")["not_overlapped_ns"].sum()
    assert operations.to_dict() == pytest.approx(steps.to_dict(), abs=10)


def test_the_page_at_level0(shared: Path, opened: Opener) -> None:
    """No waits and sizes, but which operations there were, how long they took and what they cost."""
    sel = opened(shared / "captures" / "text_level0").select(rank=0)
    data = communication(sel, TableRequest(limit=10))
    assert data.note == "4 operations on Rank 0: 85.5 ms; for 81.5 ms nothing computes."
    assert data.ranks == []
    assert data.table.groups == ["", "type", "step"]
    assert [c.key for c in data.table.columns if c.shown] == [
        "name", "type", "step", "start_ns", "elapse_ns", "not_overlapped_ns",
    ]  # fmt: skip
    assert sel.provenance == {"overlap_summary": "kernel_details.csv"}
    grouped = communication(sel, TableRequest(group="type", limit=10)).table.values
    assert (grouped["type"], grouped["count"]) == (["allreduce"], [4])
    assert grouped["not_overlapped_ratio"] == pytest.approx([81_515_615 / 85_516_886])


def test_matched_collectives_have_the_mean(level1: Captures) -> None:
    """Of rank 0 75.561919 and rank 1 69.964788 ms."""
    table = ranks(level1.select(), TableRequest(group="collective", limit=10)).table
    cost = dict(zip(table.values["name"], table.values["not_overlapped_ns"], strict=True))
    assert cost["hcom_allReduce__586_0_1"] == pytest.approx((75_561_919 + 69_964_788) / 2, abs=10)


def operation(start_us: float, elapse_ms: float) -> dict[str, object]:
    times = {"Start Timestamp(us)": start_us, "Elapse Time(ms)": elapse_ms, "Transit Time(ms)": 0.0,
             "Wait Time(ms)": elapse_ms, "Synchronization Time(ms)": 0.0, "Idle Time(ms)": 0.0}  # fmt: skip
    return {"Communication Time Info": times, "Communication Bandwidth Info": {}}


def capture(path: Path, kernels: list[Kernel], operations: dict[str, object] | None) -> None:
    write_capture(path, kernel_details=table(kernels))
    if operations is not None:
        told = {"step1": {"p2p": {}, "collective": operations}}
        (path / OUTPUT / "communication.json").write_text(json.dumps(told))


def test_operations_of_one_name_go_by_their_order_or_not_at_all(
    tmp_path: Path, opened: Opener
) -> None:
    """Two of a name in both files; of another the kernels lack one, so nobody knows which."""
    twice: list[Kernel] = [(1, 0, "x", "HCCL", 0, 10), (1, 0, "x", "HCCL", 20, 30),
                           (1, 0, "y", "HCCL", 60, 5)]  # fmt: skip
    told = {f"x@{g}": operation(EPOCH_US + at, ms)
            for g, at, ms in (("1", 0.1, 0.01), ("2", 20.1, 0.03))}  # fmt: skip
    told |= {f"y@{g}": operation(EPOCH_US + at, 0.005) for g, at in (("1", 60), ("2", 70))}
    capture(tmp_path / "a_1_ascend_pt", twice, told)
    frame = opened(tmp_path).communication().sort_values("start_ns")
    assert frame["name"].tolist() == ["x", "x", "y", "y"]
    assert frame["not_overlapped_ns"].fillna(-1).tolist() == [10_000, 30_000, -1, -1]


def test_ranks_with_and_without_communication_files(tmp_path: Path, opened: Opener) -> None:
    kernels: list[Kernel] = [(1, 0, "hcom_send__1_1", "HCCL", 0, 10)]
    capture(tmp_path / "a_1_ascend_pt", kernels, {"hcom_send__1_1@7": operation(EPOCH_US, 0.01)})
    capture(tmp_path / "b_2_ascend_pt", kernels, None)
    captures = opened(tmp_path)
    frame = captures.communication()
    assert frame["not_overlapped_ns"].tolist() == [10_000, 10_000]
    assert frame["wait_ns"].fillna(-1).tolist() == [10_000, -1]
    table = communication(captures.select(), TableRequest(group="rank", limit=10)).table
    assert table.values["count"] == [1, 1]


@pytest.mark.parametrize("name", [
    "hcom_allReduce__586_0_1", "hcom_reduceScatter__1_0", "hcom_batchSendRecv__1_0", "hccl_send_10_1",
    "hcom_allGather_3_1", "odd name__1", "HcclAlltoAllV_x1", "hcom_hccl_1", "", "hcom_", "allreduce",
])  # fmt: skip
def test_the_type_of_a_name_is_the_same_in_sql(name: str) -> None:
    with duckdb.connect() as con:
        found = con.execute(
            f"SELECT {type_sql('name')} FROM (SELECT $1 AS name)", [name]
        ).fetchone()
    assert found == (type_of(name),)
