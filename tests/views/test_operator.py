"""The operator view: sums by hand, nothing counted twice, stacks, guarded ratios."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.operator import operator, operator_line
from tb_npu_plugin.frames import Captures, load
from tb_npu_plugin.sample import write_sample


def rows(table: results.Table) -> list[dict[str, Any]]:
    return [
        dict(zip(table.values, row, strict=True))
        for row in zip(*table.values.values(), strict=True)
    ]


def test_an_operator_inside_itself_counts_once_in_totals(level1: Captures) -> None:
    sel = level1.select(rank=0)
    table = operator(sel, TableRequest(group="name", filter="HcclAllreduce")).table
    (row,) = rows(table)
    assert row["count"] == 8
    # The four all-reduces on the device: 79089.52 + 2281.106 + 2402.388 + 22218.864 µs.
    assert row["device_total_ns"] == pytest.approx(105_991_877.7, abs=1)
    assert row["device_self_ns"] == pytest.approx(105_991_877.7, abs=1)
    assert row["host_total_ns"] == pytest.approx(58_870.0)


def test_groups_equal_pandas(level1: Captures) -> None:
    frame = level1.operators()
    by_name = frame.groupby("name")
    table = operator(level1.select(), TableRequest(group="name", limit=1000)).table
    assert table.total == len(by_name)
    for row in rows(table):
        group = by_name.get_group(row["name"])
        assert row["count"] == len(group)
        assert row["host_self_ns"] == pytest.approx(group["host_self_ns"].sum())
        assert row["device_self_ns"] == pytest.approx(group["device_self_ns"].sum())
    shares = table.values["device_self_ratio"]
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares, reverse=True)


def test_ratios_without_device_time_are_unknown_not_zero(level1: Captures) -> None:
    table = operator(
        level1.select(rank=0), TableRequest(group="name", filter="name=c10d::allreduce_")
    ).table
    assert table.values["aicore_self_ratio"] == [None]


def test_stacks_of_an_operator(level1: Captures) -> None:
    request = TableRequest(group="stack", filter="name=aten::conv2d")
    table = operator(level1.select(rank=0), request).table
    assert sum(table.values["count"]) == 5
    assert all("\n" in stack for stack in table.values["stack"])


def test_calls_are_pages_of_the_file(level1: Captures) -> None:
    sel = level1.select(rank=1)
    first = operator(sel, TableRequest(sort="row", limit=500)).table
    second = operator(sel, TableRequest(sort="row", limit=500, offset=500)).table
    assert first.total == 859
    names = first.values["name"] + second.values["name"]
    assert names == level1.operators(rank=1)["name"].tolist()


def test_bad_group_names_the_good_ones(level1: Captures) -> None:
    with pytest.raises(RequestError) as error:
        operator(level1.select(), TableRequest(group="module"))
    assert error.value.status == 400
    assert "shape" in error.value.hint


def test_nothing_recorded_is_an_empty_table(
    cases: Path, opened: Callable[[Path], Captures]
) -> None:
    data = operator(opened(cases / "C11-kernel-tabs-na").select(), TableRequest(group="name"))
    assert data.table.total == 0
    assert data.table.columns == []


def test_the_line_names_the_longest(level1: Captures) -> None:
    assert operator_line(level1.select(rank=0)).startswith(
        "Most device time: HcclAllreduce 106 ms (91.6 %), aclnnForeachAddListV2 1.96 ms"
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_generated_captures_give_the_generator_s_truth(tmp_path: Path, seed: int) -> None:
    truth = write_sample(tmp_path / "runs", ranks=2, steps=2, kernels_per_step=80, seed=seed)
    with load(tmp_path / "runs", cache=tmp_path / "cache") as captures:
        for rank in truth.ranks:
            frame = captures.operators(rank=rank.rank)
            kernels = captures.kernels(rank=rank.rank)
            # Every kernel was launched by an operator: device self times sum to all of them.
            np.testing.assert_allclose(frame["device_self_ns"].sum(), kernels["dur_ns"].sum())
            table = operator(
                captures.select(rank=rank.rank), TableRequest(group="name", limit=1000)
            ).table
            assert sum(table.values["count"]) == len(frame)
