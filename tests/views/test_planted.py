"""Each planted fault is named, and nobody else is: the table in docs/views.md, for one seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from planted import FAULTS, Fault, chosen, uneven_experts

from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.ranks import ranks
from tb_npu_plugin.frames import Captures

Opener = Callable[[Path], Captures]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_who_is_named(fault: Fault, tmp_path: Path, opened: Opener) -> None:
    wanted = fault.plant(tmp_path / "job", 1)
    sel = opened(tmp_path / "job").select()
    sel.options = dict(fault.options)
    assert {s.label for s in ranks(sel, TableRequest(limit=1)).suspects} == wanted


def test_uneven_experts_are_told_as_such(tmp_path: Path, opened: Opener) -> None:
    """1.8 times what each of the other three of its group has: 1.8 / 1.2 of the mean."""
    uneven_experts(tmp_path / "job", 2)
    captures = opened(tmp_path / "job")
    (suspect,) = ranks(captures.select(), TableRequest(limit=1)).suspects
    assert any("moves 1.5 times the mean of its group in all-to-all" in e for e in suspect.evidence)
    sel = captures.select()
    table = ranks(sel, TableRequest(group="collective", sort="skew:desc",
                                    columns=("type", "skew", "largest"))).table.values  # fmt: skip
    assert table["type"][0] == "alltoallv"
    assert table["skew"][0] == pytest.approx(1.5, rel=0.01)
    assert table["largest"][0] == f"Rank {chosen(2)}"
