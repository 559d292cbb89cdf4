"""Bandwidth by message size, and against the peak of a link: figures from the real captures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.results import Communication
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.communication import communication
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample

Opener = Callable[[Path], Captures]


def show(captures: Captures, group: str, rank: int | None = None, **options: str) -> Communication:
    sel = captures.select(**({} if rank is None else {"rank": rank}))
    sel.options = options
    return communication(sel, TableRequest(group=group, limit=1000))


def row(data: Communication, **where: object) -> dict[str, object]:
    values = data.table.values
    (at,) = [
        i
        for i in range(data.table.total)
        if all(values[key][i] == value for key, value in where.items())
    ]
    return {key: column[at] for key, column in values.items()}


def test_the_payload_of_real_all_reduces_comes_out(level1: Captures) -> None:
    """The trace tells count 16,781,312 and 37,752,832 of FP32; 8 ranks move 7/4 of the payload."""
    operations = show(level1, "", 0).table.values
    transit = dict(zip(operations["name"], operations["transit_ns"], strict=True))
    data = show(level1, "message", 0)
    for name, count, low in (("586_1_1", 16_781_312, 1 << 26), ("586_2_1", 37_752_832, 1 << 27)):
        found = row(data, from_bytes=low)
        assert found["type"] == "allreduce"
        assert found["count"] == 1
        assert found["size_bytes"] == pytest.approx(count * 4 * 1.75, rel=1e-3)
        expected = count * 4 / transit[f"hcom_allReduce__{name}"] * 1e9
        assert found["algorithm_bytes_per_s"] == pytest.approx(expected, rel=1e-3)
        assert found["bus_bytes_per_s"] == pytest.approx(expected * 1.75, rel=1e-3)
    assert row(data, from_bytes=1 << 24)["count"] == 2
    assert sum(data.table.values["elapse_ratio"]) == pytest.approx(1)  # type: ignore[arg-type]


def test_group_sizes_come_from_the_groups_names(tmp_path: Path, opened: Opener) -> None:
    write_sample(tmp_path / "job", ranks=8, steps=1, kernels_per_step=60, seed=1)
    data = show(opened(tmp_path / "job"), "message")
    values = data.table.values
    for kind, bus, algorithm in zip(
        values["type"], values["bus_bytes_per_s"], values["algorithm_bytes_per_s"], strict=True
    ):
        if kind == "allgather":  # over dp, 4 ranks
            assert algorithm == pytest.approx(bus / (3 / 4))


def test_the_chip_tells_the_peak_of_its_links(shared: Path, opened: Opener) -> None:
    data = show(opened(shared / "captures/db_level1"), "link")
    assert data.peaks == "HCCS=28 RDMA=25"
    found = row(data, link="HCCS")
    assert found["peak_bytes_per_s"] == 28e9
    assert found["of_peak_ratio"] == pytest.approx(found["bandwidth_bytes_per_s"] / 28e9)  # type: ignore[operator]
    assert row(data, link="SDMA")["of_peak_ratio"] is None


def test_a_peak_can_be_set_and_is_not_guessed(level1: Captures) -> None:
    """Text captures do not name their chip."""
    data = show(level1, "link")
    assert data.peaks == ""
    assert "of_peak_ratio" not in data.table.values
    told = show(level1, "link", peak="hccs=30, RDMA=12.5")
    assert told.peaks == "HCCS=30 RDMA=12.5"
    assert row(told, link="HCCS")["peak_bytes_per_s"] == 30e9
    for wrong in ("HCCS", "HCCS=0", "HCCS=fast", "=3"):
        with pytest.raises(RequestError, match="peak"):
            show(level1, "link", peak=wrong)
