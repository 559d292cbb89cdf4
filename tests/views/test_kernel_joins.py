"""What stands beside the kernels: L2 rates, CANN's statistics, other files as groups; host APIs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.api_statistic import api
from tb_npu_plugin.backend.views.kernel import kernel
from tb_npu_plugin.frames import Captures, load
from tb_npu_plugin.sample import write_sample


def test_every_l2_row_of_level1_finds_its_kernel(shared: Path, level1: Captures) -> None:
    path = shared / "captures/text_level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/l2_cache.csv"
    with path.open(newline="") as stream:
        wanted = {(r["Stream Id"], r["Task Id"]): r["Victim Rate"] for r in csv.DictReader(stream)}
    columns = ("stream", "task", "l2_victim_ratio")
    table = kernel(level1.select(rank=0), TableRequest(columns=columns, limit=1000)).table
    joined = {
        (str(stream), str(task)): victim
        for stream, task, victim in zip(*(table.values[c] for c in columns), strict=True)
        if victim is not None
    }
    assert len(joined) == len(wanted) == 179
    assert all(joined[key] == float(value) for key, value in wanted.items())


def test_l2_rates_can_be_filtered_and_sorted(level1: Captures) -> None:
    request = TableRequest(
        columns=("name", "l2_victim_ratio"), filter="l2_victim>50%", sort="l2_victim_ratio:desc"
    )
    values = kernel(level1.select(), request).table.values["l2_victim_ratio"]
    assert len(values) == 18
    assert values == sorted(values, reverse=True)
    assert min(values) > 0.5


def test_at_level0_it_says_why_they_cannot_be_joined(level0: Captures) -> None:
    data = kernel(level0.select(), TableRequest())
    assert "l2_hit_ratio" not in {c.key for c in data.table.columns}
    assert "Level0" in data.note
    assert "l2" in data.table.groups


def test_statistics_of_cann_beside_ours(level1: Captures) -> None:
    columns = ("type", "core", "count", "total_ns", "statistic_count", "statistic_total_ns")
    request = TableRequest(group="type", columns=columns, limit=1000)
    values = kernel(level1.select(rank=0), request).table.values
    known = [i for i, count in enumerate(values["statistic_count"]) if count is not None]
    assert len(known) == 33
    for i in known:
        assert values["count"][i] == values["statistic_count"][i]
        # Each kernel's time is rounded to ns in the file.
        slack = values["count"][i] / 2 + 1
        assert values["total_ns"][i] == pytest.approx(values["statistic_total_ns"][i], abs=slack)
    (other,) = set(range(len(values["type"]))) - set(known)
    assert values["core"][other] == "HCCL"


@pytest.mark.parametrize(("group", "rows"), [("statistic", 33), ("l2", 179)])
def test_files_as_they_stand(level1: Captures, group: str, rows: int) -> None:
    assert kernel(level1.select(rank=1), TableRequest(group=group)).table.total == rows


def test_host_apis_by_level(level1: Captures) -> None:
    table = api(level1.select(rank=0), TableRequest(group="level")).table
    counts = dict(zip(table.values["level"], table.values["count"], strict=True))
    assert counts == {"acl": 512, "node": 191, "hccl": 4}
    assert table.values["total_ratio"] == sorted(table.values["total_ratio"], reverse=True)


def test_a_count_of_zero_divides_nothing(tmp_path: Path, cases: Path) -> None:
    with load(cases / "C34-csv-bom-gbk-crlf/gbk", cache=tmp_path / "cache") as captures:
        table = api(captures.select(), TableRequest(group="level")).table
    assert table.values["count"] == [0]
    assert table.values["avg_ns"] == [None]


def test_ai_cpu_operators_of_a_generated_level2(tmp_path: Path) -> None:
    write_sample(tmp_path / "runs", ranks=1, steps=1, kernels_per_step=300, level=2, seed=5)
    with load(tmp_path / "runs", cache=tmp_path / "cache") as captures:
        sel = captures.select()
        table = kernel(sel, TableRequest(group="aicpu")).table
        assert table.total > 0
        request = TableRequest(filter="core=aicpu", limit=1000)
        assert kernel(sel, request).table.total == table.total
