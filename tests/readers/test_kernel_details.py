"""kernel_details.csv: the real files by hand-computed values, every header variant, every metric group."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from small_captures import KERNEL_HEADER, Read, read_file

from tb_npu_plugin.backend.readers import kernel_details
from tb_npu_plugin.frames import Captures

Reader = Callable[..., Read]
#: The columns before the counters, as CANN writes them at Level1.
COMMON = (
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),"
    "Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,"
    "Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID"
)
CELLS = (
    "7,4294967295,3,2,Mul1,Mul,dynamic,AI_VECTOR_CORE,10.0\t,2.0,0,8,0,NO,"
    '"""8,4;2""",F,ND,"""8,4""",F,ND,N/A'
)


def source(shared: Path, job: str, rank: int) -> Path:
    return shared / f"captures/{job}/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"


# ---- the real captures ----------------------------------------------------------------------


@pytest.mark.parametrize("rank", [0, 1])
def test_level1_has_46_columns_and_191_rows(shared: Path, cache_dir: Path, rank: int) -> None:
    found = read_file(source(shared, "text_level1", rank), cache_dir)
    frame = found.frame
    assert len(frame) == 191
    assert (frame["core"] == "HCCL").sum() == 4
    assert not set(found.codes) - {"communication-missing"}  # answered by communication.json
    assert not [c for c in frame if c.startswith("x_")], "every one of the 46 columns is known"
    absent = {"device", "rank"}
    assert {c for c in frame if frame[c].isna().all()} - absent == {"model"}


def test_level1_first_kernels_by_hand(shared: Path, cache_dir: Path) -> None:
    frame = read_file(source(shared, "text_level1", 0), cache_dir).frame
    first = frame.iloc[0]
    assert first["start_ns"] == 1736408883704643212
    assert (first["name"], first["type"], first["core"]) == (
        "trans_TransData_0", "TransData", "AI_VECTOR_CORE",
    )  # fmt: skip
    assert (first["dur_ns"], first["wait_ns"], first["blocks"]) == (53741.0, 0.0, 32)
    assert (first["step"], first["task"], first["stream"]) == (50, 11051, 2)
    assert first["input_shapes"] == "32,3,224,224"
    assert first["aiv_time_ns"] == 50522.0
    assert (first["aiv_vec_time_ns"], first["aiv_vec_ratio"]) == (9406.0, 0.186)

    conv = frame[frame["name"] == "Conv2D1"].iloc[0]
    assert conv["start_ns"] == 1736408883704903918
    assert (conv["dur_ns"], conv["wait_ns"], conv["blocks"]) == (313886.0, 96222.0, 16)
    assert conv["input_shapes"] == "32,1,224,224,8;121,4,16,8;64"
    assert (conv["aicore_time_ns"], conv["aic_total_cycles"]) == (312164.0, 8990318.0)
    assert (conv["aic_mac_time_ns"], conv["aic_mac_ratio"]) == (162056.0, 0.519)
    assert conv["cube_utilization_ratio"] == 0.66301

    reduce = frame[frame["name"] == "hcom_allReduce__586_0_1"].iloc[0]
    assert reduce["start_ns"] == 1736408883732241563
    assert (reduce["dur_ns"], reduce["wait_ns"]) == (79089520.0, 590331.0)
    for key in ("task", "stream", "aicore_time_ns", "input_shapes", "cube_utilization_ratio"):
        assert reduce.isna()[key], f"{key} of a communication operation is unknown, not 0"
    assert reduce["blocks"] == 0


@pytest.mark.parametrize("rank", [0, 1])
def test_level0_has_8_columns(shared: Path, cache_dir: Path, rank: int) -> None:
    found = read_file(source(shared, "text_level0", rank), cache_dir)
    frame = found.frame
    known = {c for c in frame if frame[c].notna().any()}
    assert known == {"step", "name", "core", "start_ns", "dur_ns", "wait_ns", "blocks"}
    assert len(frame) == 191
    assert frame["core"].notna().sum() == 4
    assert frame["type"].isna().all()
    assert "level-too-low" in found.codes


def test_level0_first_kernel_by_hand(shared: Path, cache_dir: Path) -> None:
    first = read_file(source(shared, "text_level0", 0), cache_dir).frame.iloc[0]
    assert (first["start_ns"], first["dur_ns"]) == (1736405443881410320, 50621.0)


@pytest.mark.parametrize("job", ["level0", "level1"])
def test_wait_is_the_gap_to_the_end_of_the_row_before(
    job: str, request: pytest.FixtureRequest
) -> None:
    captures: Captures = request.getfixturevalue(job)
    for rank in (0, 1):
        frame = captures.kernels(rank=rank).sort_values("row")
        assert frame["start_ns"].is_monotonic_increasing
        starts = frame["start_ns"].to_numpy()
        ends = starts + frame["dur_ns"].round().to_numpy().astype("int64")
        waits = frame["wait_ns"].to_numpy()
        assert waits[0] == 0
        assert abs((starts[1:] - ends[:-1]).clip(min=0) - waits[1:]).max() <= 1.0


# ---- cases from the field -------------------------------------------------------------------


def test_tabs_quotes_and_no_values(cases: Path, cache_dir: Path) -> None:
    """C11."""
    path = cases / "C11-kernel-tabs-na/ASCEND_PROFILER_OUTPUT/kernel_details.csv"
    found = read_file(path, cache_dir)
    frame = found.frame
    assert frame["start_ns"].tolist() == [1736413971558972912, 1736413971558990001]
    assert frame["input_shapes"].tolist()[0] == "81920,4096;8192,512"
    assert frame["model"].isna().all(), "4294967295 is no id"
    assert frame["task"].tolist()[0] == 61653
    assert frame["task"].isna().tolist() == [False, True]
    assert frame["mix_blocks"].isna().tolist() == [False, True]
    assert frame["aicore_time_ns"].dtype == "float64"
    assert frame["aicore_time_ns"].tolist()[0] == 183870.0
    assert frame["aicore_time_ns"].isna().tolist() == [False, True]
    assert frame["device"].tolist() == [3, 3]


@pytest.mark.parametrize("variant", ["a", "b", "c", "d"])
def test_header_variants(cases: Path, cache_dir: Path, variant: str) -> None:
    """C12."""
    path = cases / f"C12-kernel-header-variants/{variant}/ASCEND_PROFILER_OUTPUT/kernel_details.csv"
    found = read_file(path, cache_dir)
    (row,) = found.frame.to_dict("records")
    assert (row["name"], row["type"], row["core"]) == ("Add", "Add", "AI_VECTOR_CORE")
    assert (row["start_ns"], row["dur_ns"], row["wait_ns"]) == (10500, 1500.0, 0.0)
    unknown = found.frame.isna().iloc[0]
    assert unknown["step"] == (variant == "a")
    assert ("no-step-column" in found.codes) == (variant == "a")
    assert unknown["device"] == (variant != "b")
    if variant == "c":
        assert unknown["blocks"]
        assert row["x_future_column"] == "??"
    else:
        assert row["blocks"] == 8


def test_empty_step_or_no_rows(
    cases: Path, opened: Callable[[Path], Captures], tmp_path: Path
) -> None:
    """C13: three different messages."""
    case = cases / "C13-kernel-empty-step-or-rows"
    captures = opened(case)
    codes = {
        run: set(captures.findings(run=run)["code"]) for run in captures.runs
    }  # one run, or one a variant
    found = captures.findings() if len(codes) == 1 else None
    by_path = {c.path.name: c for c in captures}
    assert set(by_path) == {"a", "b", "c"}
    assert found is None or len(found) > 0

    a = read_file(case / "a/ASCEND_PROFILER_OUTPUT/kernel_details.csv", tmp_path / "a")
    assert a.frame["step"].isna().tolist() == [True, False]
    assert a.frame["step"].tolist()[1] == 7
    assert a.note("rows-outside-steps").params == {"count": 1}
    b = read_file(case / "b/ASCEND_PROFILER_OUTPUT/kernel_details.csv", tmp_path / "b")
    assert (len(b.frame), b.codes) == (0, ["kernels-empty"])
    messages = captures.findings(rank="all")
    c = messages[messages["code"] == "kernels-missing"]
    assert len(c) == 1
    assert "does not create it" in c["message"].iloc[0]


def test_steps_of_a_file_with_rows_outside(cases: Path, opened: Callable[[Path], Captures]) -> None:
    captures = opened(cases / "C13-kernel-empty-step-or-rows/a")
    assert captures.kernels(step=7)["dur_ns"].tolist() == [3000.0]
    assert captures.kernels(step="none")["dur_ns"].tolist() == [2000.0]
    assert captures.kernels()["dur_ns"].sum() == 5000.0


# ---- counters -------------------------------------------------------------------------------

GROUPS = {
    "PipeUtilization": [
        ("{p}vec_time(us)", "1.5", "{p}vec_time_ns", 1500.0),
        ("{p}vec_ratio", "0.25", "{p}vec_ratio", 0.25),
        ("{p}mac_time(us)", "2", "{p}mac_time_ns", 2000.0),
        ("{p}mac_ratio", "0.5", "{p}mac_ratio", 0.5),
        ("{p}scalar_time(us)", "3", "{p}scalar_time_ns", 3000.0),
        ("{p}scalar_ratio", "0.1", "{p}scalar_ratio", 0.1),
        ("{p}mte1_time(us)", "4", "{p}mte1_time_ns", 4000.0),
        ("{p}mte1_ratio", "0.2", "{p}mte1_ratio", 0.2),
        ("{p}mte2_time(us)", "5", "{p}mte2_time_ns", 5000.0),
        ("{p}mte2_ratio", "0.3", "{p}mte2_ratio", 0.3),
        ("{p}mte3_time(us)", "6", "{p}mte3_time_ns", 6000.0),
        ("{p}mte3_ratio", "0.4", "{p}mte3_ratio", 0.4),
        ("{p}fixpipe_time(us)", "7", "{p}fixpipe_time_ns", 7000.0),
        ("{p}fixpipe_ratio", "0.6", "{p}fixpipe_ratio", 0.6),
        ("{p}icache_miss_rate", "0.01", "{p}icache_miss_rate", 0.01),
        ("memory_bound", "1.25", "memory_bound", 1.25),
        ("cube_utilization(%)", "66.301", "cube_utilization_ratio", 0.66301),
        ("{p}total_cycles", "8990318", "{p}total_cycles", 8990318.0),
    ],
    "ArithmeticUtilization": [
        ("{p}mac_fp16_ratio", "0.1", "{p}mac_fp16_ratio", 0.1),
        ("{p}mac_int8_ratio", "0.2", "{p}mac_int8_ratio", 0.2),
        ("{p}vec_fp32_ratio", "0.3", "{p}vec_fp32_ratio", 0.3),
        ("{p}vec_fp16_ratio", "0.4", "{p}vec_fp16_ratio", 0.4),
        ("{p}vec_int32_ratio", "0.5", "{p}vec_int32_ratio", 0.5),
        ("{p}vec_misc_ratio", "0.6", "{p}vec_misc_ratio", 0.6),
        ("{p}cube_fops", "123456", "{p}cube_fops", 123456.0),
        ("{p}vector_fops", "7", "{p}vector_fops", 7.0),
    ],
    "Memory": [
        (f"{{p}}{m}_{d}_bw(GB/s)", "1.5", f"{{p}}{m}_{d}_bw_bytes_per_s", 1.5e9)
        for m in ("ub", "l1", "l2", "main_mem") for d in ("read", "write")
    ] + [("{p}l2_read_bw", "2", "{p}l2_read_bw_bytes_per_s", 2e9)],
    "MemoryL0": [
        (f"{{p}}{m}_{d}_bw{c}(GB/s)", "0.5", f"{{p}}{m}_{d}_bw{c}_bytes_per_s", 0.5e9)
        for m, d, c in [("l0a", "read", ""), ("l0a", "write", ""), ("l0b", "read", ""),
                        ("l0b", "write", ""), ("l0c", "read", ""), ("l0c", "write", ""),
                        ("l0c", "read", "_cube"), ("l0c", "write", "_cube")]
    ],
    "MemoryUB": [
        (f"{{p}}ub_{d}_bw_{u}(GB/s)", "3", f"{{p}}ub_{d}_bw_{u}_bytes_per_s", 3e9)
        for d in ("read", "write") for u in ("vector", "scalar")
    ] + [("{p}ub_fixp2ub_write_bw(GB/s)", "4", "{p}ub_fixp2ub_write_bw_bytes_per_s", 4e9)],
    "ResourceConflictRatio": [
        (f"{{p}}vec_{k}_cflt_ratio", "0.125", f"{{p}}vec_{k}_cflt_ratio", 0.125)
        for k in ("bankgroup", "bank", "resc")
    ],
    "L2Cache": [
        (f"{{p}}{k}", "42", f"{{p}}{k}", 42.0)
        for k in ("write_cache_hit", "write_cache_miss_allocate", "r0_read_cache_hit",
                  "r1_read_cache_hit", "r0_read_cache_miss_allocate",
                  "r1_read_cache_miss_allocate", "read_local_l2_hit", "read_local_l2_miss",
                  "read_local_l2_victim", "write_local_l2_hit")
    ],
    "MemoryAccess": [
        (f"{{p}}{k}_datas(KB)", "2", f"{{p}}{k.lower()}_bytes", 2048.0)
        for k in ("read_main_memory", "write_main_memory", "GM_to_L1", "L0C_to_L1", "L0C_to_GM",
                  "GM_to_UB", "UB_to_GM")
    ],
}  # fmt: skip


@pytest.mark.parametrize("prefix", ["aic_", "aiv_", ""])
@pytest.mark.parametrize("group", GROUPS)
def test_metric_groups(read: Reader, group: str, prefix: str) -> None:
    rows = {}
    for header, cell, key, value in GROUPS[group]:
        rows[header.format(p=prefix)] = (cell, key.format(p=prefix), value)
    header = COMMON + "".join(f",{h}" for h in rows)
    cells = CELLS + "".join(f",{cell}" for cell, _, _ in rows.values())
    plain = CELLS.replace("Mul1", "hcom") + ",N/A" * len(rows)
    found = read(f"{header}\n{cells}\n{plain}\n")
    assert found.notes == []
    frame = found.frame
    for _, key, value in rows.values():
        if key == f"{prefix}l2_read_bw_bytes_per_s" and "(GB/s)" in header and group == "Memory":
            continue  # two headers of one meaning: checked below
        assert frame[key].tolist()[0] == value, key
        assert frame[key].isna().tolist() == [False, True], key
    assert not [c for c in frame if c.startswith("x_")]


def test_a_bandwidth_without_a_unit_is_gb_per_s(read: Reader) -> None:
    found = read(f"{COMMON},aic_l2_read_bw\n{CELLS},2\n")
    assert found.frame["aic_l2_read_bw_bytes_per_s"].tolist() == [2e9]


@pytest.mark.parametrize(
    ("header", "cell", "key", "value"),
    [
        ("Duration(ns)", "1500", "dur_ns", 1500.0),
        ("Duration(ms)", "1.5", "dur_ns", 1.5e6),
        ("Duration(s)", "1.5", "dur_ns", 1.5e9),
        ("Duration", "1.5", "dur_ns", 1500.0),
        (" duration (us) ", "1.5", "dur_ns", 1500.0),
        ("TASK_DURATION(us)", "1.5", "dur_ns", 1500.0),
    ],
)
def test_the_unit_is_the_headers(
    read: Reader, header: str, cell: str, key: str, value: float
) -> None:
    found = read(f"Name,Start Time(us),{header}\na,1,{cell}\n")
    assert found.frame[key].tolist() == [value]


# ---- odd files ------------------------------------------------------------------------------


def test_the_form_of_2023(read: Reader) -> None:
    """No OP State, no tabs, integer times, the MemoryL0 group."""
    header = (
        "Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),"
        "Duration(us),Wait Time(us),Block Dim,Mix Block Dim,Input Shapes,Input Data Types,"
        "Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID,"
        "aicore_time(us),total_cycles,l0a_read_bw(GB/s),l0a_write_bw(GB/s)"
    )
    row = (
        '2,4294967295,37,24,Cast,Cast,AI_CORE,1695115378653323,12.5,0,32,0,"""64,3""",FLOAT,ND,'
        '"""64,3""",DT_BF16,ND,N/A,11.2,1000,12.5,0'
    )
    found = read(f"{header}\n{row}\n")
    (kernel,) = found.frame.to_dict("records")
    assert kernel["start_ns"] == 1695115378653323000
    assert kernel["l0a_read_bw_bytes_per_s"] == 12.5e9
    assert kernel["total_cycles"] == 1000.0
    assert found.codes == []


def test_times_that_a_spreadsheet_rounded(read: Reader) -> None:
    found = read(f"{KERNEL_HEADER}\n1,a,T,C,1.69512E+15,2.5,0,8,2\n")
    assert found.note("spreadsheet-times").params["example"] == "1.69512E+15"
    assert found.frame["dur_ns"].tolist() == [2500.0]


def test_negative_durations_are_told_and_kept(read: Reader) -> None:
    found = read(f"{KERNEL_HEADER}\n1,a,T,C,10,-2.5,0,8,2\n1,b,T,C,20,1,0,8,2\n")
    assert found.frame["dur_ns"].tolist() == [-2500.0, 1000.0]
    note = found.note("impossible-value")
    assert (note.params["count"], note.params["example"]) == (1, "-2.5 µs")


def test_a_file_without_a_name_or_a_time(read: Reader) -> None:
    found = read("Type,Accelerator Core\nAdd,AI_CORE\n")
    assert len(found.frame) == 1
    assert found.note("column-missing").params["columns"] == "Name, Start, Duration"


def test_a_big_file_gives_its_summary_first(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_details, "SUMMARY_FIRST_BYTES", 10)
    rows = ["1,a,Add,AI_CORE,10,1.5,0.5,8,2", "1,b,Add,AI_CORE,20,2.5,1,8,2",
            "1,c,Add,AI_CORE,20,-9,1,8,2", "2,d,Mul,AI_CORE,20,x,1,8,2", "2,e,Mul"]  # fmt: skip
    found = read("\r\n".join([KERNEL_HEADER, *rows[:2]]) + "\n" + "\n".join(rows[2:]) + "\n")
    summary = found.tables["kernel_summary"].sort_values("step").to_dict("records")
    assert [(r["type"], r["step"], r["count"]) for r in summary] == [
        ("Add", 1, 3), ("Mul", 2, 1), ("Mul", 2, 1),  # the short row has no core
    ]  # fmt: skip
    add = next(r for r in summary if r["type"] == "Add")
    assert (add["count"], add["total_ns"], add["min_ns"], add["max_ns"], add["wait_ns"]) == (
        3, 4000.0, 1500.0, 2500.0, 2500.0,
    )  # fmt: skip
    assert sum(r["count"] for r in summary) == len(found.frame) == 5
    assert sorted(found.codes) == ["impossible-value", "rows-padded", "value-unreadable"]
