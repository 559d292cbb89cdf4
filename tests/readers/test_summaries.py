"""Summaries that are made when a file is read, by hand and against the rows they stand for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from small_captures import Read

from tb_npu_plugin.backend import readers, summaries
from tb_npu_plugin.frames import Captures

Reader = Callable[..., Read]

HEADER = (
    "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,"
    "aicore_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles\n"
)


def summary(found: Read) -> pd.DataFrame:
    return found.tables["kernel_summary"].sort_values(["step", "core"], ignore_index=True)


def test_kernels_by_hand(read: Reader) -> None:
    """10 us on 2 blocks in 36,000 cycles are 1800 MHz; times of 0 and no blocks tell no clock."""
    rows = ["1,0,a,MatMul,AI_CORE,10.5,10,1,2,10,36000,0,0",
            "1,0,b,MatMul,AI_CORE,20.5,20,2,1,20,20000,0,0",
            "1,0,c,MatMul,AI_CORE,31.5,-1,3,1,0,20000,0,0",
            "1,0,d,Add,AI_VECTOR_CORE,40.5,5,N/A,4,0,0,5,32000",
            "2,0,e,MatMul,AI_CORE,50.5,30,0,0,20,20000,0,0"]  # fmt: skip
    found = summary(read(HEADER + "\n".join(rows) + "\n"))
    records = [
        {key: None if pd.isna(value) else value for key, value in record.items()}
        for record in found.to_dict("records")
    ]
    first = {"type": "MatMul", "name": None, "core": "AI_CORE", "step": 1, "device": 0, "count": 3,
             "total_ns": 30000.0, "min_ns": 10000.0, "max_ns": 20000.0, "wait_ns": 6000.0,
             "first_ns": 10500, "last_ns": 31500, "clock_mhz": 1400.0, "clocked": 2}  # fmt: skip
    assert records[0] == first
    assert (records[1]["type"], records[1]["wait_ns"], records[1]["clock_mhz"]) == (
        "Add",
        None,
        1600,
    )
    assert (records[2]["step"], records[2]["clock_mhz"], records[2]["clocked"]) == (2, None, 0)


def test_kernels_without_a_type_are_told_by_name(read: Reader) -> None:
    found = summary(read("Name,Start Time(us),Duration(us)\nx,1,2\ny,2,3\nx,4,5\n"))
    assert sorted(zip(found["name"], found["count"], found["total_ns"], strict=True)) == [
        ("x", 2, 7000.0), ("y", 1, 3000.0),
    ]  # fmt: skip
    assert found["clock_mhz"].isna().all()


def test_operators_by_hand(read: Reader) -> None:
    header = "Name,Host Self Duration(us),Device Self Duration(us)\n"
    found = read(f"{header}add,1.5,2\nmul,3,\nadd,2,0.25\n", "operator_details.csv")
    table = found.tables["operator_summary"].sort_values("name", ignore_index=True)
    assert table["count"].tolist() == [2, 1]
    assert table["host_self_ns"].tolist() == [3500.0, 3000.0]
    assert table["device_self_ns"].fillna(-1).tolist() == [2250.0, -1]


@pytest.mark.parametrize("name", ["text_level1", "text_level0", "db_level1"])
def test_real_kernels_add_up(name: str, shared: Path, opened: Callable[[Path], Captures]) -> None:
    """Whatever form they were read from."""
    captures = opened(shared / "captures" / name)
    sel = captures.select()
    sums = "sum(count), sum(total_ns), min(first_ns), max(last_ns)"
    told = sel.rows(
        f"SELECT part, {sums} FROM {sel.source('kernel_summary')} GROUP BY 1 ORDER BY 1"
    )
    rows = sel.rows(
        "SELECT part, count(*), sum(dur_ns) FILTER (dur_ns >= 0), min(start_ns), max(start_ns) "
        f"FROM {sel.source('kernels')} GROUP BY 1 ORDER BY 1"
    )
    assert [r[:2] + r[3:] for r in told] == [r[:2] + r[3:] for r in rows]
    assert [r[2] for r in told] == pytest.approx([r[2] for r in rows])


def test_every_reader_of_a_table_has_its_summary() -> None:
    """A new version of it makes them read again."""
    for reader in (*readers.READERS, *readers.DERIVED):
        provided = summaries.provided(reader)
        assert ("kernels" in provided) == ("kernel_summary" in provided), reader.__name__
        assert ("kernels" in provided) == ("overlap_summary" in provided), reader.__name__
        assert ("operators" in provided) == ("operator_summary" in provided), reader.__name__
        summed = bool({"kernels", "operators"} & {*provided})
        assert (summaries.version(reader) != reader.VERSION) == summed
        assert len(set(provided)) == len(provided)
