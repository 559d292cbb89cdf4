"""operator_details.csv: multi-line cells, exact figures, operators inside themselves."""

from __future__ import annotations

import csv
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from tb_npu_plugin.backend.readers.operator_details import nested_in_same_name
from tb_npu_plugin.frames import Captures

HEADER = (
    "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"
    "Device Self Duration(us),Device Total Duration(us),Device Self Duration With AICore(us),"
    "Device Total Duration With AICore(us)"
)


@pytest.mark.parametrize("level", ["text_level0", "text_level1"])
@pytest.mark.parametrize("rank", [0, 1])
def test_every_row_of_the_real_file(
    shared: Path, level: str, rank: int, level0: Captures, level1: Captures
) -> None:
    captures = level0 if level == "text_level0" else level1
    path = shared / f"captures/{level}/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
    with (path / "operator_details.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    frame = captures.operators(rank=rank)
    assert len(rows) == len(frame) == 859
    assert frame["name"].tolist() == [r["Name"] for r in rows]
    assert frame["row"].tolist() == list(range(859))
    for key, header in (
        ("host_self_ns", "Host Self Duration(us)"),
        ("device_total_ns", "Device Total Duration(us)"),
    ):
        expected = [float(Decimal(r[header]) * 1000) for r in rows]
        np.testing.assert_allclose(frame[key], expected, rtol=0, atol=1e-5)


def test_frames_and_shapes_of_a_real_row(level1: Captures) -> None:
    frame = level1.operators(rank=0)
    matmul = frame[frame["name"] == "aten::mm"].iloc[0]
    assert matmul["input_shapes"] == "32,1000;1000,4096"
    first = frame.iloc[13]["stack"].split("\n")
    assert first[0] == "/home/developer/imagenet_script/main.py(350): train"
    assert all(not line.endswith(";") for line in first)


def test_cells_over_several_lines(cases: Path, opened: Callable[[Path], Captures]) -> None:
    frame = opened(cases / "C15-operator-multiline").operators()
    assert frame["name"].tolist() == ["aten::add", "aten::empty"]
    assert frame["input_shapes"].tolist()[0] == "2,3;2,3"
    assert len(frame["stack"].tolist()[0].split("\n")) == 2


def test_hostile_names_arrive_as_text(cases: Path, opened: Callable[[Path], Captures]) -> None:
    names = opened(cases / "C16-operator-hostile-names").operators()["name"].tolist()
    assert len(names) == 4
    assert names[0] == "<img src=x onerror=alert(1)>"
    assert names[1].startswith("=HYPERLINK(")
    assert "\u202e" in names[2]
    assert len(names[3]) == 20_000


def test_a_file_cut_inside_a_quoted_stack_keeps_the_rows_before(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    folder = tmp_path / "cut" / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    whole = 'aten::mm,"2,3;\r\n3,4","a.py(1): f;\r\nb.py(2): g",1.5,2.5,3.5,4.5,0,0\r\n'
    cut = 'aten::add,"2,3;\r\n3,4","a.py(1): f;\r\nb.p'
    (folder / "operator_details.csv").write_bytes(f"{HEADER}\r\n{whole}{cut}".encode())
    captures = opened(tmp_path)
    assert captures.operators()["name"].tolist() == ["aten::mm"]
    codes = captures.findings()["code"].tolist()
    assert "file-cut" in codes


def test_only_rows_inside_their_own_name_are_nested() -> None:
    #      a(100) > b(60) > a(20);  a(30), a sibling of the same name;  c(5) > c(5)
    names = ["a", "b", "a", "a", "c", "c"]
    total = np.array([100.0, 60.0, 20.0, 30.0, 5e3, 4e3])
    own = np.array([40.0, 40.0, 20.0, 30.0, 1e3, 4e3])
    assert nested_in_same_name(names, total, own) == [2, 5]


def test_the_real_all_reduces_are_found_nested(level1: Captures) -> None:
    frame = level1.operators(rank=0)
    rows = nested_in_same_name(
        frame["name"].tolist(), frame["host_total_ns"].to_numpy(), frame["host_self_ns"].to_numpy()
    )
    assert rows == [279, 336, 399, 690]
    assert set(frame["name"].iloc[rows]) == {"HcclAllreduce"}
