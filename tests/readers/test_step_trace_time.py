"""step_trace_time.csv: the real files by hand, the field's odd forms, what cannot be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from small_captures import STEP_HEADER, STEPS, Read, read_file

Reader = Callable[..., Read]
OUTPUT = "ASCEND_PROFILER_OUTPUT/step_trace_time.csv"


@pytest.mark.parametrize(
    ("job", "rank", "microseconds"),
    [
        (
            "text_level1",
            0,
            (8873.756, 101963.203, 4028.675, 105991.878, 25744.05, 136581.0, 17902.5),
        ),
        (
            "text_level1",
            1,
            (8878.295, 96359.047, 4016.239, 100375.286, 26675.274, 131912.5, 20433.25),
        ),
        (
            "text_level0",
            0,
            (8827.473, 81515.607, 4001.282, 85516.889, 25908.102, 116251.25, 19358.0),
        ),
        (
            "text_level0",
            1,
            (8813.173, 64616.114, 3989.596, 68605.71, 27172.943, 100602.25, 18920.0),
        ),
    ],
)
def test_real_files_by_hand(
    shared: Path, cache_dir: Path, job: str, rank: int, microseconds: tuple[float, ...]
) -> None:
    found = read_file(shared / f"captures/{job}/rank{rank}_ascend_pt" / OUTPUT, cache_dir)
    (row,) = found.frame.to_dict("records")
    keys = ("computing", "communication_not_overlapped", "overlapped", "communication", "free",
            "stage", "preparing")  # fmt: skip
    # Long float noise of the file (8873.756000000001) is rounded away: ns are exact.
    assert tuple(row[f"{k}_ns"] for k in keys) == tuple(round(us * 1000, 3) for us in microseconds)
    assert (row["step"], row["bubble_ns"]) == (50, 0.0)
    assert found.notes == []
    parts = row["computing_ns"] + row["communication_not_overlapped_ns"] + row["free_ns"]
    assert abs(parts - row["stage_ns"] - row["bubble_ns"]) <= 250
    hidden = row["communication_ns"] - row["communication_not_overlapped_ns"]
    assert abs(hidden - row["overlapped_ns"]) <= 1


def test_the_device_comes_first(cases: Path, cache_dir: Path) -> None:
    """C20."""
    found = read_file(cases / "C20-step-trace-device-first" / OUTPUT, cache_dir)
    frame = found.frame
    assert list(zip(frame["step"], frame["device"], strict=True)) == [
        (10, 0), (11, 0), (10, 1), (11, 1),
    ]  # fmt: skip
    assert frame["computing_ns"].tolist() == [100e3, 110e3, 90e3, 95e3]
    assert frame["preparing_ns"].tolist() == [3e3] * 4


@pytest.mark.parametrize("form", ["new", "old"])
def test_an_empty_step_is_the_whole_capture(cases: Path, cache_dir: Path, form: str) -> None:
    """C21."""
    found = read_file(cases / "C21-step-trace-empty-step" / form / OUTPUT, cache_dir)
    assert len(found.frame) == 1
    assert found.frame["step"].isna().all()
    assert found.frame["device"].isna().all(), "device −1 is unknown"
    assert "steps-unmarked" in found.codes
    row = found.frame.iloc[0]
    if form == "old":
        assert row["computing_ns"] == 75174500.0
        assert found.frame["preparing_ns"].isna().all(), "absent is unknown, not 0"
        assert "column-missing" not in found.codes, "Preparing is known to be absent there"
    else:
        assert (row["computing_ns"], row["preparing_ns"]) == (100e3, 3e3)


def test_preparing_that_cannot_be_is_unknown(read: Reader) -> None:
    found = read(
        f"{STEP_HEADER}\n0,1,100,20,5,25,30,150,0,20,-1.7e15\n0,2,100,20,5,25,30,150,0,20,3\n",
        "step_trace_time.csv",
    )
    assert found.frame["preparing_ns"].isna().tolist() == [True, False]
    note = found.note("impossible-value")
    assert (note.params["count"], note.params["column"]) == (1, "Preparing")
    assert "e+15" in note.params["example"]
    assert found.frame["stage_ns"].tolist() == [150e3, 150e3]


def test_parts_that_do_not_add_up_are_told(read: Reader) -> None:
    text = f"{STEP_HEADER}\n0,1,100,20,5,25,30,150,0,20,3\n0,2,100,20,5,25,300,150,0,20,3\n"
    found = read(text, "step_trace_time.csv")
    note = found.note("step-sum")
    assert note.place == "step 2"
    assert note.params == {"step": 2, "sum_us": "420.000", "stage_us": "150.000"}


def test_bubble_belongs_to_the_sum(read: Reader) -> None:
    text = f"{STEP_HEADER}\n0,1,100,20,5,25,30,110,40,0,3\n"
    assert read(text, "step_trace_time.csv").codes == []


def test_missing_columns_are_unknown_and_named(read: Reader) -> None:
    found = read("Step,Computing,Free\n1,100,5\n", "step_trace_time.csv")
    assert found.frame["stage_ns"].isna().all()
    assert "Stage" in found.note("column-missing").params["columns"]


@pytest.mark.parametrize(
    ("encoding", "bom"), [("utf-8-sig", b""), ("utf-16-le", b"\xff\xfe"), ("gbk", b"")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_spreadsheets_make_of_it(read: Reader, encoding: str, bom: bytes, end: str) -> None:
    """C34's encodings and line ends, and blank lines between."""
    lines = [*STEPS.splitlines(), "", "1,11,90,40,5,45,30,160,0,40,3,注", ""]
    text = end.join([f"{lines[0]},备注", *lines[1:]])
    found = read(bom + text.encode(encoding), "step_trace_time.csv")
    assert found.frame["device"].tolist() == [0, 1]
    assert found.frame["step"].tolist() == [10, 11]
    assert found.frame["computing_ns"].tolist() == [100e3, 90e3]
    assert [n for n in found.frame["x_备注"] if n == n and n] == ["注"]


def test_one_name_in_the_cache_for_equal_content(read: Reader) -> None:
    first, second = read(STEPS, "step_trace_time.csv"), read(STEPS, "step_trace_time.csv")
    assert first.frame.equals(second.frame)
