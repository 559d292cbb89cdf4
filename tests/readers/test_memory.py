"""operator_memory, memory_record, npu_module_mem and static_op_mem: every column set, every gap."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from small_captures import Read

from tb_npu_plugin.frames import Captures

Reader = Callable[..., Read]
KIB, MIB = 1 << 10, 1 << 20
BLOCKS_15 = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
    "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
    "Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"
    "Release Total Active(MB),Stream Ptr,Device Type"
)
BLOCKS_10 = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),"
    "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Release Total Allocated(MB),"
    "Release Total Reserved(MB),Device Type"
)
POINTS_7 = (
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,"
    "Device Type"
)


def table(header: str, *lines: str, end: str = "\r\n") -> str:
    return end.join([header, *lines, ""])


def column(frame: pd.DataFrame, key: str) -> list[object]:
    """The values of a column, unknown as None."""
    return [None if pd.isna(v) else v for v in frame[key]]


# ---- operator_memory.csv --------------------------------------------------------------------


def test_fifteen_columns_of_pytorch_and_graph_engine_rows(read: Reader) -> None:
    found = read(
        table(
            BLOCKS_15,
            "aten::mm,25009.5,1736408883702735.700\t,1736408883736793.940\t,"
            "1736408883736793.430\t,34058.240\t,34057.730\t,978.7939453125,1452.0,978.7939453125,"
            "977.6123046875,1452.0,977.6123046875,18446744073709551615,NPU:3",
            "cann::trans_TransData_0,50240.0,1736408883704614.040\t,1736408883704720.470\t,,106.43,"
            ",49.125,74.75,,73.0625,74.75,,,NPU:3",
            "aten::empty,0.5,1736408883701264.010\t,,,,,954.37,1452.0,954.37,,,,897357296,NPU:3",
        ),
        "operator_memory.csv",
    )
    blocks = found.frame
    assert column(blocks, "name") == ["aten::mm", "cann::trans_TransData_0", "aten::empty"]
    assert column(blocks, "component") == ["PTA", "GE", "PTA"]
    assert column(blocks, "state") == ["released", "released", "held"]
    assert column(blocks, "size_bytes") == [25009.5 * KIB, 50240.0 * KIB, 512.0]
    assert column(blocks, "alloc_ns")[0] == 1736408883702735700
    assert [int(v) for v in blocks["release_ns"].dropna()] == [
        1736408883736793940, 1736408883704720470,
    ]  # fmt: skip
    assert column(blocks, "dur_ns") == [34058240.0, 106430.0, None]
    assert column(blocks, "active_dur_ns") == [34057730.0, None, None]
    assert column(blocks, "alloc_allocated_bytes")[1] == 49.125 * MIB
    assert column(blocks, "alloc_active_bytes")[1] is None
    assert column(blocks, "stream_ptr") == ["18446744073709551615", None, "897357296"]
    assert column(blocks, "device") == [3, 3, 3]
    assert found.note("blocks-incomplete").params == {"total": 3, "held": 1, "before": 0}
    assert found.codes == ["blocks-incomplete"]


def test_ten_columns_before_6_0_and_columns_unknown_to_us(read: Reader) -> None:
    found = read(
        table(
            "Device_id," + BLOCKS_10 + ",Pool",
            "0,aten::add,64.0,100.5,300.75,,2.0,4.0,1.0,4.0,NPU:0,big",
        ),
        "operator_memory.csv",
    )
    blocks = found.frame
    assert column(blocks, "alloc_ns") == [100_500]
    assert column(blocks, "release_ns") == [300_750]
    # The duration cell is empty: it follows from the two instants.
    assert column(blocks, "dur_ns") == [200_250.0]
    assert column(blocks, "alloc_active_bytes") == [None]
    assert column(blocks, "release_allocated_bytes") == [1.0 * MIB]
    assert column(blocks, "x_pool") == ["big"]
    assert column(blocks, "device") == [0]
    assert found.codes == []


def test_blocks_with_gaps_c17(cases: Path, opened: Callable[[Path], Captures]) -> None:
    captures = opened(cases / "C17-operator-memory-gaps")
    blocks = captures.memory_blocks()
    assert column(blocks, "state") == ["held", "before", "zero"]
    assert column(blocks, "size_bytes") == [64.0 * KIB, -64.0 * KIB, 0.0]
    assert column(blocks, "name") == ["aten::empty", None, "cann::Graph_70"]
    assert column(blocks, "alloc_ns") == [100_000, None, 120_000]
    assert column(blocks, "release_ns") == [None, 150_000, 120_000]
    assert str(blocks["alloc_ns"].dtype) == "Int64"
    assert "memory-file-missing" in list(captures.findings()["code"])


def test_cells_that_are_no_numbers_cost_their_cell_alone(read: Reader) -> None:
    found = read(
        table(
            BLOCKS_10,
            "a,64.0,100,200,100,1,2,1,2,NPU:0",
            "b,many,soon,200,100,1,2,1,2,NPU:0",
            "c,64.0,99999999999999999999999999,,,1,2,1,2,CPU",
            "d,64.0,,,,1,2,1,2,NPU:1",
        ),
        "operator_memory.csv",
    )
    blocks = found.frame
    assert column(blocks, "name") == ["a", "b", "c", "d"]
    assert column(blocks, "size_bytes") == [65536.0, None, 65536.0, 65536.0]
    assert column(blocks, "alloc_ns") == [100_000, None, None, None]
    assert column(blocks, "state") == ["released", "before", "unknown", "unknown"]
    assert column(blocks, "device") == [0, 0, None, 1]
    assert found.error is None
    assert found.note("blocks-without-times").params == {"count": 2}
    assert found.note("blocks-without-size").params == {"count": 1}
    assert {n.params["column"] for n in found.notes if n.code == "value-unreadable"} >= {
        "Size", "Allocation Time",
    }  # fmt: skip


def test_times_rounded_by_a_spreadsheet_are_told(read: Reader) -> None:
    found = read(
        table(BLOCKS_10, "a,64.0,1.69512E+15,1.69512E+15,100,1,2,1,2,NPU:0"), "operator_memory.csv"
    )
    assert found.note("memory-times-rounded").params == {"example": "1.69512E+15"}
    assert column(found.frame, "size_bytes") == [65536.0]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gbk"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_of_c34(read: Reader, encoding: str, end: str) -> None:
    text = table(
        BLOCKS_15,
        "前向计算::mm,1.5,100.000\t,200.000\t,,100.0,,1,2,1,1,2,1,7,NPU:0",
        "",
        "aten::empty,2,150.000\t,,,,,1,2,1,,,,7,NPU:0",
        end=end,
    )
    found = read(text.encode(encoding), "operator_memory.csv")
    assert column(found.frame, "name") == ["前向计算::mm", "aten::empty"]
    assert column(found.frame, "size_bytes") == [1536.0, 2048.0]
    assert column(found.frame, "alloc_ns") == [100_000, 150_000]


# ---- memory_record.csv ----------------------------------------------------------------------


def test_seven_columns_out_of_order_in_time(read: Reader) -> None:
    found = read(
        table(
            POINTS_7,
            "APP,900.000\t,,2109.6015625,,,NPU:0",
            "PTA,100.000\t,1.5,4.0,2.0,897357296,NPU:0",
            "PTA+GE,100.000\t,1.5,4.0,2.0,897357296,NPU:0",
            "GE,200.000\t,1.0,2.0,,,NPU:0",
            "PTA,50.000\t,3.5,4.0,3.5,897357296,NPU:0",
            "WORKSPACE,60.000\t,8.0,8.0,8.0,1,NPU:0",
        ),
        "memory_record.csv",
    )
    points = found.frame
    assert column(points, "component") == ["APP", "PTA", "PTA+GE", "GE", "PTA", "WORKSPACE"]
    assert column(points, "time_ns")[:2] == [900_000, 100_000]
    assert column(points, "allocated_bytes") == [
        None, 1.5 * MIB, 1.5 * MIB, 1.0 * MIB, 3.5 * MIB, 8.0 * MIB,
    ]  # fmt: skip
    assert column(points, "reserved_bytes")[0] == 2109.6015625 * MIB
    assert column(points, "active_bytes")[3] is None
    curve = found.tables["memory_curve"]
    pta = curve[(curve.component == "PTA") & (curve.measure == "allocated")]
    assert list(pta["time_ns"]) == [50_000, 100_000]
    assert list(pta["value_bytes"]) == [3.5 * MIB, 1.5 * MIB]
    # A component without a total has no curve of it.
    assert set(curve[curve.component == "APP"]["measure"]) == {"reserved"}
    assert set(curve[curve.component == "GE"]["measure"]) == {"reserved", "allocated"}
    assert found.codes == []


def test_five_columns_before_6_0(read: Reader) -> None:
    found = read(
        table(
            "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type",
            "PTA,1695115378653323,10.5,20,NPU:7",
            "PTA,1695115378653324.5,11.5,20,NPU:7",
        ),
        "memory_record.csv",
    )
    assert column(found.frame, "time_ns") == [1695115378653323000, 1695115378653324500]
    assert column(found.frame, "active_bytes") == [None, None]
    assert column(found.frame, "device") == [7, 7]
    assert set(found.tables["memory_curve"]["measure"]) == {"reserved", "allocated"}
    assert found.codes == []


def test_kilobytes_of_canns_own_export(read: Reader) -> None:
    found = read(
        table(
            "Device_id,Component,Timestamp(us),Total Allocated(KB),Total Reserved(KB),Device",
            "2,GE,100,1.5,4,NPU:2",
        ),
        "memory_record_20250101000000.csv",
    )
    assert column(found.frame, "allocated_bytes") == [1536.0]
    assert column(found.frame, "reserved_bytes") == [4096.0]


def test_totals_that_cannot_be_are_told(read: Reader) -> None:
    found = read(
        table(
            POINTS_7,
            "PTA,100,5.0,4.0,5.0,1,NPU:0",
            "PTA,101,-0.5,4.0,0,1,NPU:0",
            "PTA,102,1.0,4.0,1.0,1,NPU:0",
        ),
        "memory_record.csv",
    )
    assert found.note("memory-totals-disagree").params == {"count": 1}
    assert found.note("memory-totals-negative").params == {"count": 1}
    assert column(found.frame, "allocated_bytes") == [5.0 * MIB, -0.5 * MIB, 1.0 * MIB]


@pytest.mark.parametrize("name", ["memory_record.csv", "operator_memory.csv"])
def test_a_header_alone_is_told(read: Reader, name: str) -> None:
    found = read(table(POINTS_7 if name.startswith("memory") else BLOCKS_15), name)
    assert len(found.frame) == 0
    assert found.codes == ["memory-empty"]
    assert found.error is None


def test_a_row_cut_short_by_a_full_disk_is_left_out_and_told(read: Reader) -> None:
    whole = table(POINTS_7, "PTA,100,1.0,4.0,1.0,1,NPU:0", "PTA,101,2.0,4.0,2.0,1,NPU:0")
    found = read(whole + "PTA,102,3", "memory_record.csv")
    assert column(found.frame, "time_ns") == [100_000, 101_000]
    assert "file-cut" in found.codes


# ---- npu_module_mem.csv, static_op_mem.csv --------------------------------------------------


def test_module_memory_with_and_without_device_id(read: Reader) -> None:
    lines = ("HCCL,1736408883657086.220\t,404.0625,NPU:0", "SLOG,100,-0.00098,NPU:0")
    old = read(
        table("Component,Timestamp(us),Total Reserved(MB),Device", *lines), "npu_module_mem.csv"
    )
    new = read(
        table("Device_id,Component,Timestamp(us),Total Reserved(MB),Device",
              *(f"0,{line}" for line in lines)),
        "npu_module_mem.csv", "newer",
    )  # fmt: skip
    for found in (old, new):
        assert column(found.frame, "component") == ["HCCL", "SLOG"]
        assert column(found.frame, "time_ns") == [1736408883657086220, 100_000]
        # −1 KB means that only a release was seen: unknown, not less than nothing.
        assert column(found.frame, "reserved_bytes") == [404.0625 * MIB, None]
        assert column(found.frame, "device") == [0, 0]
        assert found.codes == ["module-released-only"]


def test_static_memory_with_its_total(read: Reader) -> None:
    found = read(
        table(
            "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)",
            "host,sqrt_01,0,0,31,32,2343.78125",
            "host,TOTAL,0,0,0,4294967295,4687.5",
        ),
        "static_op_mem.csv",
    )
    static = found.frame
    assert column(static, "name") == ["sqrt_01", "TOTAL"]
    assert column(static, "size_bytes") == [2343.78125 * KIB, 4687.5 * KIB]
    assert column(static, "node_end") == [32, None]
    assert column(static, "device") == [None, None]
    assert found.codes == []


# ---- the real captures ----------------------------------------------------------------------


def test_every_row_of_the_real_captures(level1: Captures) -> None:
    blocks = level1.memory_blocks(rank=0)
    assert len(blocks) == 184
    assert blocks["component"].value_counts().to_dict() == {"PTA": 127, "GE": 57}
    assert blocks["state"].value_counts().to_dict() == {"released": 160, "held": 24}
    points = level1.memory_points(rank=0)
    assert points["component"].value_counts().to_dict() == {
        "PTA+GE": 495, "PTA": 381, "GE": 114, "APP": 14,
    }  # fmt: skip
    pta = points[points.component == "PTA"]
    assert (pta.allocated_bytes <= pta.active_bytes).all()
    assert (pta.active_bytes <= pta.reserved_bytes).all()
    modules = level1.module_memory(rank=0)
    assert len(modules) == 1078
    assert modules["component"].nunique() == 77
    assert level1.static_memory().empty
    assert set(level1.memory_blocks(rank=1)["device"]) == {1}


def test_blocks_of_cann_alone_tell_their_lifetime_instead_of_their_release(read: Reader) -> None:
    """msprof's own export: no release column, a timestamp in its name, GE's blocks only."""
    header = "Device_id,Name,Size(KB),Allocation Time(us),Duration(us)"
    rows = "0,MatMul1,64,1000.5,250.25\n0,Add1,8,2000,"
    found = read(f"{header}\n{rows}\n", "operator_memory_20250109081000.csv")
    assert [int(v) for v in found.frame["release_ns"].dropna()] == [1_250_750]
    assert column(found.frame, "state") == ["released", "held"]
    assert column(found.frame, "component") == ["GE", "GE"]
    assert "column-missing" not in found.codes
