"""A recording in both forms gives the same tables and the same views; one source per table."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from both_forms import database_tables, differences, text_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from small_captures import OUTPUT

from tb_npu_plugin.backend.selection import select
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views import health
from tb_npu_plugin.backend.views.registry import VIEWS
from tb_npu_plugin.frames import Captures, load
from tb_npu_plugin.sample import write_sample


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 9999),
    line=st.sampled_from(["2025", "7.1", "26.0"]),
    level=st.integers(0, 2),
    job=st.sampled_from([
        {"ranks": 1, "world": 1}, {"ranks": 2, "straggler": 1}, {"ranks": 1, "world": 8, "tp": 4},
        {"ranks": 1, "world": 8, "tp": 2, "devices_per_host": 4},
    ]),
    leak=st.booleans(),
)  # fmt: skip
def test_both_forms_of_a_recording_read_to_the_same_tables(
    seed: int, line: str, level: int, job: dict[str, Any], leak: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    root = tmp_path_factory.mktemp("job")
    truth = write_sample(root / "job", seed=seed, line=line, level=level, memory_leak=leak, steps=2,
                         kernels_per_step=90, export=("text", "db"), **job)  # fmt: skip
    capture = truth.ranks[-1].path
    text, base = text_tables(capture, root / "cache"), database_tables(capture, root / "cache")
    assert set(text) <= set(base)
    assert [d for table in text for d in differences(table, text[table], base[table])] == []
    derived = database_tables(capture, root / "cache", derived=True)
    assert differences("steps", text["steps"], derived["steps"]) == []
    if level and "devices_per_host" not in job and "comm_ops" in text:
        theirs = text["comm_ops"].assign(start_ns=derived["comm_ops"]["start_ns"])
        assert differences("comm_ops", theirs, derived["comm_ops"]) == []
        for table in ("comm_links", "comm_packets"):
            assert differences(table, text[table], derived[table]) == []
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Captures, Captures, Captures]]:
    """One job as text, as databases, and as both."""
    root = tmp_path_factory.mktemp("pair")
    held = []
    for name, export in (("text", ["text"]), ("db", ["db"]), ("both", ["text", "db"])):
        write_sample(root / name / "job", ranks=2, steps=2, kernels_per_step=120, seed=4,
                     export=export)  # fmt: skip
        held.append(load(root / name, cache=root / "cache", workers=1))
    yield held[0], held[1], held[2]
    for captures in held:
        captures.close()


def reply(captures: Captures, view: str, **selection: Any) -> Any:
    """The view's result as JSON, with what a user sees."""
    sel = captures.select(**selection)
    captures._store.fetch(sel.captures, VIEWS[view].tables, sel.prefer)
    return json.loads(msgspec.json.encode(VIEWS[view].run(sel, TableRequest(limit=1000))))


def table_of(found: Any) -> dict[str, list[Any]]:
    return dict(found["table"]["values"])


@pytest.mark.parametrize("view", ["step", "kernel", "operator", "api", "memory", "communication"])
def test_every_view_shows_the_same_of_either_form(
    pair: tuple[Captures, Captures, Captures], view: str
) -> None:
    text, base = reply(pair[0], view), reply(pair[1], view)
    assert text["table"]["total"] == base["table"]["total"] > 0
    ours, theirs = table_of(base), table_of(text)
    order = [sorted(range(len(next(iter(t.values())))), key=lambda i, t=t: _key(t, i))
             for t in (theirs, ours)]  # fmt: skip
    for column in set(theirs) & set(ours):
        a, b = ([t[column][i] for i in o] for t, o in zip((theirs, ours), order, strict=True))
        if all(isinstance(v, int | float | None) for v in a):
            assert [v if v is None else pytest.approx(v, rel=1e-3, abs=1) for v in a] == b, column
        else:
            assert a == b, column


def _key(table: dict[str, list[Any]], row: int) -> tuple[str, ...]:
    """Rows in an order that rounding does not change."""
    names = ("rank", "name", "operation", "step", "type", "level", "start_ns", "alloc_ns",
             "input_shapes", "size_bytes", "host_self_ns", "host_total_ns")  # fmt: skip
    return tuple(str(table[c][row]) for c in names if c in table)


def test_overview_of_databases_alone_is_whole(pair: tuple[Captures, Captures, Captures]) -> None:
    text, base = reply(pair[0], "overview"), reply(pair[1], "overview")
    assert base["headline"] == text["headline"]
    assert [c["value_ns"] for c in base["cards"]] == [
        pytest.approx(c["value_ns"], abs=1) for c in text["cards"]
    ]
    facts = [{f["label"]: f["value"] for f in found["facts"]} for found in (text, base)]
    for label in set(facts[0]) & set(facts[1]) - {"Run", "Capture"}:
        assert facts[0][label] == facts[1][label]
    assert not [f for f in base["findings"] if f["severity"] != "info"]


def test_metadata_of_databases_names_groups_and_ranks(
    pair: tuple[Captures, Captures, Captures],
) -> None:
    infos = [sorted(c._store.captures(), key=lambda x: x.rank or 0)[1].info for c in pair[:2]]
    assert infos[1].world_size == infos[0].world_size == 2
    assert infos[1].metadata["parallel_group_info"] == infos[0].metadata["parallel_group_info"]
    assert infos[1].metadata["SCHEMA_VERSION"] == "1.2.0"


def test_one_source_per_table_never_summed_and_switchable(
    pair: tuple[Captures, Captures, Captures],
) -> None:
    text, _base, both = pair
    assert len(both.kernels()) == len(text.kernels())
    assert len(both.steps()) == len(text.steps())
    for source, expected in (
        (None, "kernel_details.csv"), ("text", "kernel_details.csv"),
        ("db", "ascend_pytorch_profiler_0.db, ascend_pytorch_profiler_1.db"),
    ):  # fmt: skip
        sel = both.select(source=source)
        both._store.fetch(sel.captures, ["kernels", "steps"], sel.prefer)
        assert len({path for _, _, path in sel.parts("kernels")}) == 2
        assert sel.provenance["kernels"] == expected
    sel = both.select(source="db")
    sel.parts("steps")
    assert sel.provenance["steps"] == "analysis.db"


def test_findings_about_what_another_file_holds_are_left_out(
    pair: tuple[Captures, Captures, Captures],
) -> None:
    for captures in pair:
        codes = {f.code for f in health.findings(captures.select())}
        assert not codes & {"steps-recomputed", "communication-recomputed", "communication-missing",
                            "kernels-missing", "steps-missing"}  # fmt: skip


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    truth = write_sample(tmp_path / "job", ranks=1, steps=1, kernels_per_step=30,
                         export=("text", "db"))  # fmt: skip
    return truth.ranks[0].path / OUTPUT


def test_a_broken_database_does_not_hide_good_text(
    mixed: Path, opened: Callable[[Path], Captures]
) -> None:
    for path in mixed.glob("*.db"):
        path.write_bytes(path.read_bytes()[:300])
    captures = opened(mixed.parent)
    assert len(captures.kernels()) == len(captures.kernels(source="db")) > 30
    assert "database-unreadable" in set(captures.findings()["code"])


def test_empty_text_does_not_hide_a_good_database(
    mixed: Path, opened: Callable[[Path], Captures]
) -> None:
    path = mixed / "kernel_details.csv"
    path.write_text(path.read_text().split("\n", 1)[0] + "\n")
    captures = opened(mixed.parent)
    captures._store.wait()
    assert len(captures.kernels()) > 30


def test_text_that_lacks_a_file_is_filled_up_from_the_database(
    mixed: Path, opened: Callable[[Path], Captures]
) -> None:
    (mixed / "operator_details.csv").unlink()
    captures = opened(mixed.parent)
    assert len(captures.operators()) > 30
    sel = select(captures._store)
    sel.parts("operators")
    assert sel.provenance["operators"] == "ascend_pytorch_profiler_0.db"


def test_without_analysis_db_steps_and_communication_are_worked_out(
    mixed: Path, opened: Callable[[Path], Captures]
) -> None:
    captures = opened(mixed.parent)
    steps, operations = captures.steps(), captures.communication()
    for name in [p.name for p in mixed.iterdir() if not p.name.startswith("ascend_pytorch")]:
        (mixed / name).unlink()
    left = opened(mixed.parent)
    values = [c for c in steps if c.endswith("_ns")]
    assert left.steps()[values].to_numpy().tolist() == [
        pytest.approx(row, abs=1) for row in steps[values].to_numpy().tolist()
    ]
    assert left.communication()["elapse_ns"].tolist() == operations["elapse_ns"].tolist()
    assert {"steps-recomputed", "communication-recomputed"} <= set(left.findings()["code"])


def test_the_real_databases_show_every_view(
    shared: Path, opened: Callable[[Path], Captures]
) -> None:
    captures = opened(shared / "captures/db_level1")
    for view in ("step", "kernel", "operator", "api", "memory", "communication"):
        assert reply(captures, view)["table"]["total"] > 0, view
    codes = set(captures.findings()["code"])
    assert codes == {"database-altered", "blocks-incomplete", "ranks-missing"}


def test_the_sample_writes_the_same_bytes_twice(tmp_path: Path) -> None:
    written = []
    for name in ("a", "b"):
        truth = write_sample(tmp_path / name, ranks=1, steps=1, kernels_per_step=30, export=("db",))
        written.append(
            {p.name: p.read_bytes() for p in (truth.ranks[0].path / OUTPUT).glob("*.db")}
        )
    assert written[0] == written[1]
    assert sorted(written[0]) == ["analysis.db", "ascend_pytorch_profiler_0.db"]


def test_the_sample_refuses_other_forms(tmp_path: Path) -> None:
    for export in ((), ("xml",), ("text", "xml")):
        with pytest.raises(ValueError, match="export"):
            write_sample(tmp_path / "a", export=export)
