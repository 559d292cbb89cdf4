"""Many small files as one: every view says the same as of the files themselves."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tb_npu_plugin.backend import folds, selection
from tb_npu_plugin.backend.ahead import _FIRST, ask
from tb_npu_plugin.backend.answers import MOST_CELLS, Answers
from tb_npu_plugin.backend.api import reply
from tb_npu_plugin.backend.folds import HOME
from tb_npu_plugin.backend.tables import TableRequest, rows_csv
from tb_npu_plugin.backend.views.registry import VIEWS
from tb_npu_plugin.frames import Captures, load
from tb_npu_plugin.sample import ALL_FILES, write_sample

RANKS = 18
#: No more than 1000 rows are a page; the tables of these views hold more.
LONG = {"kernel": "stream,rank,start_ns", "communication": "rank,start_ns"}


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Captures]:
    """Eighteen ranks, of which one computes longer, one starts late and one has other columns."""
    runs = tmp_path_factory.mktemp("job") / "runs"
    files = tuple(f for f in ALL_FILES if f != "trace_view.json")
    write_sample(runs, ranks=RANKS, steps=2, files=files, seed=3, kernels_per_step=20)
    odd = sorted(runs.rglob("operator_details.csv"))[5]
    head, *rows = odd.read_text().splitlines()
    odd.write_text("\n".join([f"{head},Own Column", *(f"{row},{i}" for i, row in enumerate(rows))]))
    with load(runs, cache=tmp_path_factory.mktemp("cache")) as captures:
        captures._store.fetch(captures._store.captures(), ("kernels",))
        yield captures


def entries(captures: Captures) -> list[Path]:
    return sorted((captures._store.cache.root / "captures" / HOME).glob("*/*.parquet"))


def answer(captures: Captures, view: str, group: str, **chosen: Any) -> Any:
    """What a view replies, with nothing kept from before."""
    store = captures._store
    store.answers = Answers(store.cursor)
    sort = LONG.get(view, "") if not group else ""
    request = TableRequest(group=group, sort=sort, limit=1000)
    return msgspec.to_builtins(reply(captures.select(**chosen), VIEWS[view], request))


def alike(a: Any, b: Any, at: str = "") -> None:
    """Equal, but for the last digits of sums of doubles, whose order is nobody's."""
    if isinstance(a, dict):
        assert a.keys() == b.keys(), at
        for key in a:
            alike(a[key], b[key], f"{at}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), at
        for i, pair in enumerate(zip(a, b, strict=True)):
            alike(*pair, f"{at}[{i}]")
    elif isinstance(a, float):
        assert b == pytest.approx(a, rel=1e-9, abs=1e-6), at
    else:
        assert a == b, at


CASES = [
    (view.id, group)
    for view in VIEWS.values()
    if view.id not in ("timeline", "slices", "flame", "files")
    for group in (view.groups or ("",))
]


@pytest.mark.parametrize("chosen", [{}, {"rank": "1-17"}, {"rank": "0-15", "step": "13"}], ids=str)
@pytest.mark.parametrize(("view", "group"), CASES)
def test_every_view_says_the_same(
    job: Captures, view: str, group: str, chosen: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as plain:
        plain.setattr(folds, "LEAST_PIECES", 10**9)
        plain.setattr(selection, "MANY_ROWS", 10**9)
        before = entries(job)
        expected = answer(job, view, group, **chosen)
        assert entries(job) == before
    monkeypatch.setattr(selection, "MANY_ROWS", 1)
    alike(answer(job, view, group, **chosen), expected)
    assert entries(job), "nothing was folded"


def test_rows_keep_their_place_in_their_file(job: Captures) -> None:
    """``part`` is the ordinal in the selection, ``row`` that in the source, of a subset, too."""
    sel = job.select(rank="2-17")
    source = sel.source("comm_ops")
    assert source
    assert HOME in source
    rows = sel.rows(
        "SELECT part, rank, capture, min(row), max(row), count(*) "
        f"FROM {source} GROUP BY ALL ORDER BY part"
    )
    counts = {path: job._store.cursor().execute(f"SELECT count(*) FROM '{path}'").fetchall()[0][0]
              for path in sel.paths("comm_ops")}  # fmt: skip
    assert rows == [
        (i, i + 2, f"Rank {i + 2}", 0, count - 1, count) for i, count in enumerate(counts.values())
    ]


def test_columns_of_others_are_not_shown_to_a_subset(job: Captures) -> None:
    def columns(**chosen: str) -> set[str]:
        sel = job.select(**chosen)
        return {row[0] for row in sel.rows(f"DESCRIBE SELECT * FROM {sel.source('operators')}")}

    assert "x_own_column" in columns()
    odd = job.select().rows(
        f"SELECT DISTINCT rank FROM {job.select().source('operators')} "
        "WHERE x_own_column IS NOT NULL"
    )[0][0]
    others = ",".join(str(rank) for rank in range(RANKS) if rank != odd)
    assert "x_own_column" not in columns(rank=others)


def test_few_files_and_large_ones_stay_as_they_are(
    job: Captures, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert HOME not in (job.select(rank="0-14").source("kernels") or "")
    monkeypatch.setattr(folds, "MOST_BYTES", 100)
    job._store.look_again()
    assert HOME not in (job.select().source("kernels") or "")
    monkeypatch.undo()
    job._store.look_again()
    assert HOME in (job.select().source("kernels") or "")


def test_nothing_is_folded_while_files_are_read(
    job: Captures, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The captures that are still to come would make it void."""
    monkeypatch.setattr(job._store, "settled", lambda *_: False)
    job._store.look_again()
    monkeypatch.setattr(selection, "MANY_ROWS", 1)
    sel = job.select()
    assert HOME not in (sel.source("steps") or "")
    assert HOME not in sel.kept("anything", "SELECT 1", "steps")
    monkeypatch.undo()
    job._store.look_again()


def test_a_cleared_fold_is_made_again(job: Captures) -> None:
    source = job.select().source("steps") or ""
    path = next(p for p in entries(job) if p.name == "steps.parquet")
    shutil.rmtree(path.parent)
    assert job.select().source("steps") == source
    assert path.exists()
    assert any(entry == path.parent for entry, _, _ in job._store.cache.entries())


def test_several_who_ask_at_once_get_the_same(job: Captures) -> None:
    for path in entries(job):
        shutil.rmtree(path.parent, ignore_errors=True)
    job._store.look_again()
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: job.select().source("comm_links"), range(4)))
    assert len(found) == 1
    assert [path.stem for path in entries(job)] == ["comm_links"]


def test_columns_are_those_of_the_files(job: Captures, monkeypatch: pytest.MonkeyPatch) -> None:
    def columns(rank: str) -> list[tuple[str, str]]:
        sel = job.select(rank=rank)
        return [
            row[:2]
            for table in ("kernels", "steps", "comm_ops", "memory_curve", "l2_cache")
            for row in sel.rows(f"DESCRIBE SELECT * FROM {sel.source(table)}")
        ]

    folded = columns("all"), columns("1-17")
    monkeypatch.setattr(folds, "LEAST_PIECES", 10**9)
    assert (columns("all"), columns("1-17")) == folded


def test_a_table_as_csv(job: Captures, monkeypatch: pytest.MonkeyPatch) -> None:
    def text() -> str:
        sel = job.select()
        query = VIEWS["kernel"].query
        assert query
        found = query(sel, "")
        assert found
        request = TableRequest(sort="rank,start_ns,name", columns=("rank", "name", "start_ns"))
        return "".join(rows_csv(sel.store, found, request))

    folded = text()
    monkeypatch.setattr(folds, "LEAST_PIECES", 10**9)
    assert text() == folded


def test_what_is_asked_first_is_asked_ahead(job: Captures, level1: Captures) -> None:
    for path in entries(job):
        shutil.rmtree(path.parent, ignore_errors=True)
    job._store.look_again()
    assert ask(job._store) == len(_FIRST)
    assert {"steps", "kernels", "comm_matrix"} <= {path.stem for path in entries(job)}
    assert ask(level1._store) == 0, "two ranks answer at once"


def test_answers_are_bounded(job: Captures) -> None:
    answers = Answers(job._store.cursor)
    assert answers.rows("SELECT ?::INT AS a", [3]) == [(3,)]
    assert answers.rows("SELECT ?::INT AS a", [4]) == [(4,)]
    many = f"SELECT * FROM range({MOST_CELLS // 5})"
    for i in range(8):
        assert len(answers.rows(f"{many} r{i}")) == MOST_CELLS // 5
    assert answers._cells <= MOST_CELLS
    assert len(answers._rows) == 4
    long = f"SELECT repeat('x', {MOST_CELLS * 60})"
    assert answers.rows(long) is not answers.rows(long), "a cell may be long"
    too_many = answers.rows(f"SELECT * FROM range({MOST_CELLS})")
    assert answers.rows(f"SELECT * FROM range({MOST_CELLS})") is not too_many


def test_one_version_of_a_value_is_kept(job: Captures) -> None:
    answers = Answers(job._store.cursor)
    assert answers.value("a", 1, lambda: "old") == answers.value("a", 1, lambda: "") == "old"
    assert answers.value("b", 1, lambda: time.sleep(0.1) or "slow") == "slow"
    assert answers.value("a", 2, lambda: "new", patience=10.0) == "new", "it took no time"
    assert answers.value("b", 2, lambda: "new", patience=100.0) == "slow"
    assert answers.value("b", 2, lambda: "new") == "new"
