"""The kernel view: grouped sums equal pandas over load().kernels(); shares are guarded."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from small_captures import KERNEL_HEADER, info, write_capture

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.results import Kernel
from tb_npu_plugin.backend.tables import TableRequest, rows_csv
from tb_npu_plugin.backend.views.kernel import kernel, kernel_query
from tb_npu_plugin.frames import Captures

Opener = Callable[[Path], Captures]
EVERY = ("aic_mac_ratio", "aiv_vec_ratio", "cube_utilization_ratio", "aic_mac_time_ns")


def look(captures: Captures, selection: dict[str, Any] | None = None, **request: Any) -> Kernel:
    return kernel(captures.select(**selection or {}), TableRequest(**request))


def rows(view: Kernel) -> list[dict[str, Any]]:
    values = view.table.values
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


@pytest.mark.parametrize(
    ("group", "keys"),
    [
        ("name", ["name"]), ("type", ["type", "core"]), ("core", ["core"]),
        ("shape", ["type", "input_shapes"]), ("stream", ["stream"]), ("step", ["step"]),
        ("rank", ["rank"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("selection", [{}, {"rank": 0}])
def test_groups_agree_with_pandas(
    level1: Captures, group: str, keys: list[str], selection: dict[str, Any]
) -> None:
    frame = level1.kernels(**selection)
    wanted = frame.groupby(keys, dropna=False).agg(
        count=("dur_ns", "size"), total=("dur_ns", "sum"), avg=("dur_ns", "mean"),
        least=("dur_ns", "min"), most=("dur_ns", "max"), wait=("wait_ns", "sum"),
    )  # fmt: skip
    whole = frame["dur_ns"].sum()
    found = rows(look(level1, selection, group=group, limit=1000))
    assert len(found) == len(wanted)
    assert [r["total_ns"] for r in found] == sorted((r["total_ns"] for r in found), reverse=True)
    table = wanted.reset_index()
    for row in found:
        match = table
        for key in keys:
            match = match[match[key].isna() if row[key] is None else match[key] == row[key]]
        (expected,) = match.to_dict("records")
        assert row["count"] == expected["count"]
        assert row["total_ns"] == pytest.approx(expected["total"])
        assert row["total_ratio"] == pytest.approx(expected["total"] / whole)
        assert row["avg_ns"] == pytest.approx(expected["avg"])
        assert (row["min_ns"], row["max_ns"]) == (expected["least"], expected["most"])
        assert row["wait_ns"] == pytest.approx(expected["wait"])
    assert sum(r["total_ratio"] for r in found) == pytest.approx(1.0)


def test_counters_are_weighted_by_the_time_they_are_shares_of(level1: Captures) -> None:
    frame = level1.kernels(rank=0)
    cube = frame[frame["core"] == "AI_CORE"]
    mean = (cube["aic_mac_ratio"] * cube["aicore_time_ns"]).sum() / cube["aicore_time_ns"].sum()
    (row,) = rows(look(level1, {"rank": 0}, group="core", filter="core=AI_CORE",
                       columns=("count", *EVERY)))  # fmt: skip
    assert row["count"] == len(cube)
    assert row["aic_mac_ratio"] == pytest.approx(mean)
    assert row["aic_mac_time_ns"] == pytest.approx(cube["aic_mac_time_ns"].sum())
    assert 0 <= row["cube_utilization_ratio"] <= 1


@pytest.mark.parametrize(
    ("word", "cores"),
    [("cube", {"AI_CORE", "MIX_AIC"}), ("vector", {"AI_VECTOR_CORE", "MIX_AIV"}),
     ("communication", {"HCCL"}), ("AI_CORE", {"AI_CORE"}), ("dsa_sqe", {"DSA_SQE"})],
)  # fmt: skip
def test_everyday_words_for_cores(level1: Captures, word: str, cores: set[str]) -> None:
    frame = level1.kernels()
    found = look(level1, filter=f"core={word}")
    assert found.table.total == frame["core"].isin(cores).sum() > 0
    assert look(level1, filter=f"core!={word}").table.total == (~frame["core"].isin(cores)).sum()


def test_plain_rows_are_those_of_the_file(level1: Captures) -> None:
    view = look(level1, {"rank": 0}, sort="row", limit=1000,
                columns=("name", "start_ns", "dur_ns", "row", "core"))  # fmt: skip
    frame = level1.kernels(rank=0)
    assert view.table.values["name"] == frame["name"].tolist()
    base = int(view.table.base_ns or 0)
    assert [s + base for s in view.table.values["start_ns"]] == frame["start_ns"].tolist()
    assert view.table.values["row"] == list(range(191))


def test_deep_pages_over_two_ranks(level1: Captures) -> None:
    seen: list[tuple[int, int]] = []
    for offset in range(0, 400, 37):
        values = look(level1, sort="core,type:desc", offset=offset, limit=37,
                      columns=("rank", "row")).table.values  # fmt: skip
        seen += zip(values["rank"], values["row"], strict=True)
    assert sorted(seen) == [(rank, row) for rank in (0, 1) for row in range(191)]


def test_level0(level0: Captures) -> None:
    view = look(level0)
    shown = [c.key for c in view.table.columns if c.shown]
    assert "input_shapes" not in shown
    assert "stream" not in shown
    assert view.table.total == 382
    assert not {"type", "shape", "stream"} & set(view.table.groups)
    assert look(level0, group="name").table.total == level0.kernels()["name"].nunique()
    (comm,) = [r for r in rows(look(level0, group="core")) if r["core"] == "HCCL"]
    assert comm["count"] == 8
    # A link may still ask for what Level0 has not.
    assert look(level0, group="type").table.total == 2


def test_steps_none_and_ranges(cases: Path, opened: Opener) -> None:
    captures = opened(cases / "C13-kernel-empty-step-or-rows/a")
    assert look(captures, {"step": "none"}).table.total == 1
    assert look(captures, {"step": "7"}).table.total == 1
    assert look(captures, {"step": "5-9,none"}).table.total == 2
    assert look(captures, {"step": "8"}).table.total == 0


def test_shares_of_nothing_are_unknown(tmp_path: Path, opened: Opener) -> None:
    text = f"{KERNEL_HEADER}\n10,a,T,AI_CORE,1,0,0,8,2\n10,b,T,AI_CORE,2,-5,0,8,2\n"
    write_capture(tmp_path / "cap", info(0), kernel_details=text)
    for group in ("name", "core", "step"):
        for row in rows(look(opened(tmp_path), group=group)):
            assert row["total_ratio"] is None
        sel = opened(tmp_path).select()
        query = kernel_query(sel, group)
        assert query is not None
        exported = "".join(rows_csv(sel.store, query, TableRequest()))
        assert not re.search(r"\b(inf|nan)\b", exported)
    plain = rows(look(opened(tmp_path), sort="name", columns=("name", "dur_ns")))
    assert [r["dur_ns"] for r in plain] == [0.0, -5000.0], "what cannot be is shown, not summed"
    note = look(opened(tmp_path)).note
    assert note.startswith("2 kernels, 0 computing")


def test_a_file_without_kernels(cases: Path, opened: Opener) -> None:
    captures = opened(cases / "C13-kernel-empty-step-or-rows/b")
    for group in ("", "name", "core", "rank", "stream"):
        view = look(captures, group=group)
        assert (view.table.total, view.table.unfiltered) == (0, 0)
    assert "kernels-empty" in captures.findings()["code"].tolist()


def test_captures_of_different_columns_together(tmp_path: Path, opened: Opener) -> None:
    window = (10**18, 10**18 + 10**9)
    write_capture(tmp_path / "a", info(0, *window),
                  kernel_details=f"{KERNEL_HEADER},aic_mac_ratio\n1,k,T,C,1,2,0,8,2,0.5\n")  # fmt: skip
    write_capture(tmp_path / "b", info(1, *window),
                  kernel_details=f"{KERNEL_HEADER},odd one\n1,k,T,C,1,2,0,8,2,?\n")  # fmt: skip
    captures = opened(tmp_path)
    found = rows(look(captures, sort="rank", columns=("rank", "aic_mac_ratio", "x_odd_one")))
    assert found == [
        {"rank": 0, "aic_mac_ratio": 0.5, "x_odd_one": None},
        {"rank": 1, "aic_mac_ratio": None, "x_odd_one": "?"},
    ]
    frame = captures.kernels()
    assert frame["aic_mac_ratio"].isna().tolist() == [False, True]


def test_an_unknown_group(level1: Captures) -> None:
    with pytest.raises(RequestError) as caught:
        look(level1, group="colour")
    assert (caught.value.status, caught.value.code) == (400, "bad-group")


def test_the_note_counts_what_is_selected(level1: Captures) -> None:
    frame = level1.kernels(rank=1)
    note = look(level1, {"rank": 1}).note
    assert note.startswith("191 kernels")
    assert "4 communication operations" in note
    assert isinstance(frame, pd.DataFrame)
