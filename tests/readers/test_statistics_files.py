"""op_statistic, api_statistic, l2_cache and data_preprocess: every variant seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from small_captures import Read

from tb_npu_plugin.frames import Captures


def test_real_files_row_for_row(level1: Captures) -> None:
    statistics = level1.op_statistics(rank=0)
    assert len(statistics) == 33
    assert len(level1.apis(rank=0)) == 57
    assert len(level1.l2_cache(rank=0)) == 179
    transdata = statistics[statistics["type"] == "TransData"].iloc[0]
    assert transdata["count"] == 57
    assert transdata["total_ns"] == 1_423_208.0
    assert transdata["min_ns"] == 6_540.0
    assert transdata["total_ratio"] == pytest.approx(0.16038)
    launch = level1.apis(rank=0).set_index("name").loc["Launch_Ffts"]
    assert launch["level"] == "hccl"
    assert launch["total_ns"] == 474_410.0
    assert launch["variance_us2"] == 389.155


def test_statistics_agree_with_the_kernels(level1: Captures) -> None:
    kernels = level1.kernels(rank=1)
    ours = kernels[kernels["core"] != "HCCL"].groupby(["type", "core"])["dur_ns"]
    theirs = level1.op_statistics(rank=1).set_index(["type", "core"])
    pd.testing.assert_series_equal(
        ours.count().sort_index(), theirs["count"].sort_index(), check_names=False
    )
    # Each kernel's time is rounded to ns in the file, so a sum may be half a ns off per kernel.
    slack = theirs["count"] / 2 + 1
    assert ((ours.sum() - theirs["total_ns"]).abs() - slack).max() <= 0


@pytest.mark.parametrize(
    ("folder", "method", "name"),
    [
        ("bom", "op_statistics", "MatMulV2"),
        ("u16", "op_statistics", "MatMulV2"),
        ("cr", "op_statistics", "MatMulV2"),
        ("gbk", "apis", "算子编译"),
    ],
)
def test_encodings_and_line_ends(
    cases: Path, opened: Callable[[Path], Captures], folder: str, method: str, name: str
) -> None:
    frame = getattr(opened(cases / "C34-csv-bom-gbk-crlf" / folder), method)()
    assert len(frame) == 1
    assert name == frame.iloc[0]["type" if method == "op_statistics" else "name"]


@pytest.mark.parametrize(
    ("header", "row", "expected_ns"),
    [
        (
            "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),"
            "Dispatch_time(us),Total_time(us),Stream ID,Task ID",
            "0,1736408883704643.212\t,GetNext,1.5,2,3,4,10.5,5,6",
            1_500.0,
        ),
        (
            "Timestamp,Node,Compute_time(ms),Memcpy_time(us),Task_time(ms),Dispatch_time(ms),"
            "Total_time(ms)",
            "1736408883704643.212,GetNext,1.5,2,3,4,10.5",
            1_500_000.0,
        ),
    ],
)
def test_ai_cpu_takes_units_from_the_header(
    read: Callable[..., Read], header: str, row: str, expected_ns: float
) -> None:
    found = read(f"{header}\r\n{row}\r\n", "data_preprocess.csv")
    line = found.tables["ai_cpu"].iloc[0]
    assert line["compute_ns"] == expected_ns
    assert line["memcpy_ns"] == 2_000.0
    assert line["start_ns"] == 1736408883704643212


def test_l2_rates_that_are_not_measured_are_unknown(read: Callable[..., Read]) -> None:
    found = read(
        "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n2,11052,N/A,0.23264,a\n2,3,0.5,1.25,b\n",
        "l2_cache.csv",
    )
    frame = found.tables["l2_cache"]
    assert pd.isna(frame["l2_hit_ratio"].iloc[0])
    assert frame["l2_hit_ratio"].iloc[1] == 0.5
    assert frame["l2_victim_ratio"].tolist() == [0.23264, 1.25]


def test_unknown_columns_are_kept(read: Callable[..., Read]) -> None:
    found = read("OP Type,Core Type,Count,Total Time(us),New Thing\nAdd,AI_CORE,2,3.5,hello\n",
                 "op_statistic.csv")  # fmt: skip
    assert found.tables["op_statistics"]["x_new_thing"].tolist() == ["hello"]
