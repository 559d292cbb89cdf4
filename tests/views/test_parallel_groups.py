"""How a job is cut: shapes worked out by hand, names, and what is judged group by group."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted import capture_of, compute_longer

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.parallel_groups import (
    Axis,
    axes,
    axis_of_name,
    of_sizes,
    parse_shape,
    shape_text,
    stages,
)
from tb_npu_plugin.backend.views.ranks import ranks
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample

Opener = Callable[[Path], Captures]


def look(captures: Captures, group: str = "", sort: str = "", **options: str) -> results.Ranks:
    sel = captures.select()
    sel.options = options
    return ranks(sel, TableRequest(group=group, sort=sort))


def test_the_order_of_ranks_is_megatrons() -> None:
    """16 ranks, tp=2 pp=2, so dp=4: worked out by hand after Megatron's own example."""
    found = of_sizes(parse_shape("tp=2,pp=2", 16), 16)
    assert found["tp"].groups == tuple((r, r + 1) for r in range(0, 16, 2))
    assert found["dp"].groups == ((0, 2, 4, 6), (1, 3, 5, 7), (8, 10, 12, 14), (9, 11, 13, 15))
    assert found["pp"].groups == tuple((r, r + 8) for r in range(8))
    assert shape_text(found) == "tp=2 dp=4 pp=2"


def test_context_and_expert_groups() -> None:
    """16 ranks, tp=2 cp=2 ep=4 pp=1: dp=4; experts are spread over dp x cp = 8."""
    found = of_sizes(parse_shape("tp2 cp2 ep4", 16), 16)
    assert found["cp"].groups[:3] == ((0, 2), (1, 3), (4, 6))
    assert found["dp"].groups[0] == (0, 4, 8, 12)
    assert found["ep"].groups == ((0, 2, 4, 6), (1, 3, 5, 7), (8, 10, 12, 14), (9, 11, 13, 15))
    for axis in found.values():
        assert sorted(r for group in axis.groups for r in group) == list(range(16))
    assert found["ep"].places()[5] == (1, 2)


@pytest.mark.parametrize("text", ["tp=3", "tp=0", "tp", "xp=2", "tp=2,dp=3", "ep=5", "tp=2;pp=2"])
def test_a_shape_that_does_not_fit_says_why(text: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse_shape(text, 16)
    assert refused.value.code == "bad-shape"


@pytest.mark.parametrize(
    ("name", "axis"),
    [
        ("tp", "tp"), ("mesh_tp", "tp"), ("pp:0", "pp"), ("DATA_PARALLEL_GROUP", "dp"),
        ("ep_3", "ep"), ("default_group", None), ("dp_cp", None), ("", None),
    ],
)  # fmt: skip
def test_names_of_groups(name: str, axis: str | None) -> None:
    assert axis_of_name(name) == axis


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parallel") / "job"
    write_sample(folder, ranks=16, steps=2, kernels_per_step=120, seed=3, tp=4)
    return folder


def test_groups_come_from_the_metadata(job: Path, opened: Opener) -> None:
    captures = opened(job)
    found = axes(captures.select())
    assert found["tp"] == Axis("tp", tuple(tuple(range(r, r + 4)) for r in range(0, 16, 4)))
    assert found["dp"].groups == tuple(tuple(range(r, 16, 4)) for r in range(4))
    assert stages(captures.select()) == [None] * 16
    view = look(captures, "tp")
    assert view.shape == "tp=4 dp=4"
    assert {"host", "tp", "dp"} < set(view.table.groups)
    assert "pp" not in view.table.groups
    assert view.table.values["label"] == ["TP 0", "TP 1", "TP 2", "TP 3"]
    assert view.table.values["ranks"] == ["0-3", "4-7", "8-11", "12-15"]


def test_a_group_shows_the_means_of_its_ranks(job: Path, opened: Opener) -> None:
    captures = opened(job)
    each = look(captures)
    own = next(m for m in each.grid.measures if m.key == "computing_ns").values
    view = look(captures, "tp", "computing_ns:desc")
    (measure,) = [m for m in view.grid.measures if m.key == "computing_ns"]
    assert view.grid.group == "tp"
    assert [r.rank for r in view.grid.ranks] == [None] * 4
    expected = {f"TP {g}": sum(own[4 * g : 4 * g + 4]) / 4 for g in range(4)}  # type: ignore[arg-type]
    got = dict(zip([r.label for r in view.grid.ranks], measure.values, strict=True))
    assert got == pytest.approx(expected)
    assert measure.values == sorted(measure.values, reverse=True)  # type: ignore[type-var]
    assert [r.label for r in view.grid.ranks] == view.table.values["label"]
    assert {r.label: r.ranks for r in view.grid.ranks}["TP 1"] == "4-7"


def test_too_few_groups_show_their_ranks_in_order(job: Path, opened: Opener) -> None:
    view = look(opened(job), "pp", shape="tp=4,pp=2")
    assert view.shape == "tp=4 dp=2 pp=2"
    assert view.table.values["label"] == ["Stage 0", "Stage 1"]
    assert view.table.values["ranks"] == ["0-7", "8-15"]
    assert (view.grid.group, len(view.grid.ranks)) == ("", 16)


def test_stages_are_judged_as_stages_and_ranks_within_theirs(
    tmp_path: Path, opened: Opener
) -> None:
    """The last stage does more by design: not eight stragglers, but one uneven stage."""
    write_sample(tmp_path / "job", ranks=16, steps=2, kernels_per_step=120, seed=3)
    for rank in range(8, 16):
        compute_longer(capture_of(tmp_path / "job", rank), 1.4)
    captures = opened(tmp_path / "job")
    view = look(captures, shape="pp=2")
    (suspect,) = view.suspects
    assert (suspect.rank, suspect.label, suspect.group) == (None, "Stage 1", "pp")
    assert "computes 40" in suspect.headline
    assert "Ranks of the stage: 8-15" in suspect.evidence
    compute_longer(capture_of(tmp_path / "job", 10), 1.5)
    named = look(opened(tmp_path / "job"), shape="pp=2").suspects
    assert [s.rank for s in named] == [10, None]


def test_arguments_of_the_framework_tell_the_shape(tmp_path: Path, opened: Opener) -> None:
    write_sample(tmp_path / "job", ranks=8, steps=1, kernels_per_step=60, seed=1)
    told: dict[str, Any] = {
        "tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 2,
        "data_parallel_size": 2, "world_size": 8, "sequence_parallel": True,
    }  # fmt: skip
    for path in (tmp_path / "job").glob("*/profiler_metadata.json"):
        content = json.loads(path.read_text())
        del content["parallel_group_info"]
        path.write_text(json.dumps({**content, "distributed_args": told}))
    sel = opened(tmp_path / "job").select()
    assert shape_text(axes(sel)) == "tp=2 dp=2 pp=2"
    assert stages(sel) == [0, 0, 0, 0, 1, 1, 1, 1]


def test_hosts_are_compared_over_http_words(job: Path, opened: Opener) -> None:
    view = look(opened(job), "device")
    assert len(view.table.values["label"]) == 8
    assert all(count == 2 for count in view.table.values["count"])
