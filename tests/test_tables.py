"""Tables: sorting, filtering, paging and CSV agree with pandas on any data; pages neither overlap
nor miss a row; deep pages in two stages equal plain ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.tables import (
    MAX_OFFSET,
    Col,
    Query,
    TableRequest,
    csv_cell,
    page,
    rows_csv,
)

BASE = 1_736_408_883_704_643_212
COLUMNS = [
    Col("name", "name", "Name", "name"),
    Col("core", "core", "Core", "core"),
    Col("dur_ns", "duration", "Duration", "dur_ns"),
    Col("start_ns", "time", "Start", "start_ns"),
    Col("blocks", "int", "Blocks", "blocks", shown=False),
]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "B", "=x", "Ünï", ""]) | st.none(),
        st.sampled_from(["AI_CORE", "HCCL"]) | st.none(),
        st.sampled_from([0.0, 1.5, 1.5, 2e6, -3.0]) | st.none(),
        st.sampled_from([BASE, BASE + 1, BASE - 7]) | st.none(),
        st.integers(-(2**62), 2**62) | st.sampled_from([1, 2]) | st.none(),
    ),
    max_size=40,
)
QUIET = settings(
    max_examples=35, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of nothing: its cursors are all that tables need."""
    folder = tmp_path_factory.mktemp("tables")
    opened = Store([Root(folder)], Cache(folder / "cache"))
    yield opened
    opened.close()


def source(rows: list[tuple[Any, ...]]) -> str:
    def text(value: str | None) -> str:
        return "NULL" if value is None else "'" + value + "'"

    def number(value: Any) -> str:
        return "NULL" if value is None else repr(value)

    values = ", ".join(
        f"({text(n)}, {text(c)}, CAST({number(d)} AS DOUBLE), CAST({number(s)} AS BIGINT), "
        f"CAST({number(b)} AS BIGINT), {i % 2}, {i})"
        for i, (n, c, d, s, b) in enumerate(rows)
    ) or "('', '', 0.0, 0, 0, 0, 0)"  # fmt: skip
    names = "name, core, dur_ns, start_ns, blocks, part, row"
    return f"(SELECT * FROM (VALUES {values}) t({names}) WHERE {'TRUE' if rows else 'FALSE'})"


def query(rows: list[tuple[Any, ...]], **options: Any) -> Query:
    options.setdefault("two_stage", True)
    return Query(source(rows), COLUMNS, "name", "dur_ns:desc", base_ns=BASE, **options)


def frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": pd.array([r[0] for r in rows], dtype=object),
            "core": pd.array([r[1] for r in rows], dtype=object),
            "dur_ns": pd.array([r[2] for r in rows], dtype="Float64"),
            "start_ns": pd.array([r[3] for r in rows], dtype="Int64"),
            "blocks": pd.array([r[4] for r in rows], dtype="Int64"),
            "part": [i % 2 for i in range(len(rows))],
            "row": list(range(len(rows))),
        }
    )


SORTS = st.lists(
    st.tuples(st.sampled_from(["name", "core", "dur_ns", "start_ns", "blocks"]), st.booleans()),
    max_size=3, unique_by=lambda t: t[0],
)  # fmt: skip


def words(sort: list[tuple[str, bool]]) -> str:
    return ",".join(f"{key}:desc" if down else key for key, down in sort)


def expected(rows: list[tuple[Any, ...]], sort: list[tuple[str, bool]]) -> list[int]:
    """Row numbers in the order that pandas gives, unknown last, ties by place."""
    order = [*(sort or [("dur_ns", True)])]
    table = frame(rows).sort_values(["part", "row"], kind="stable")
    for key, down in reversed(order):
        # Text by bytes, as the database compares it, and not by the locale.
        keyed = table.assign(k=[v if not isinstance(v, str) else v.encode() for v in table[key]])
        known = keyed[keyed["k"].notna()].sort_values("k", ascending=not down, kind="stable")
        table = pd.concat([known, keyed[keyed["k"].isna()]])
    return [int(r) for r in table["row"]]


def listed(store: Store, q: Query, request: TableRequest, rows: list[tuple[Any, ...]]) -> list[Any]:
    """The rows of one page as source tuples."""
    found = page(store, q, replace(request, columns=tuple(c.key for c in COLUMNS)))
    columns = [found.values[c.key] for c in COLUMNS]
    assert len({len(c) for c in columns}) == 1
    return list(zip(*columns, strict=True))


def on_the_wire(row: tuple[Any, ...]) -> tuple[Any, ...]:
    name, core, dur, start, blocks = row
    big = blocks is not None and abs(blocks) > 2**53
    return (
        name,
        core,
        dur,
        None if start is None else start - BASE,
        str(blocks) if big else blocks,
    )


@QUIET
@given(ROWS, SORTS)
def test_order_is_that_of_pandas(
    store: Store, rows: list[tuple[Any, ...]], sort: list[tuple[str, bool]]
) -> None:
    found = listed(store, query(rows), TableRequest(sort=words(sort), limit=1000), rows)
    assert found == [on_the_wire(rows[i]) for i in expected(rows, sort)]


@QUIET
@given(ROWS, SORTS, st.integers(1, 7), st.booleans())
def test_pages_neither_overlap_nor_miss(
    store: Store, rows: list[tuple[Any, ...]], sort: list[tuple[str, bool]], limit: int, two: bool
) -> None:
    q = query(rows, two_stage=two)
    pages = []
    for offset in range(0, len(rows) + limit, limit):
        pages += listed(store, q, TableRequest(words(sort), "", "", (), offset, limit), rows)
    whole = listed(store, q, TableRequest(sort=words(sort), limit=1000), rows)
    assert pages == whole
    assert sorted(map(repr, whole)) == sorted(repr(on_the_wire(r)) for r in rows)


@QUIET
@given(ROWS, SORTS, st.sampled_from(["", "b", "dur>1", "core=cube", "blocks=1", "start>=0"]))
def test_two_stages_equal_one(
    store: Store, rows: list[tuple[Any, ...]], sort: list[tuple[str, bool]], filter: str
) -> None:
    request = TableRequest(words(sort), filter, "", ("name", "start_ns", "blocks"), 2, 5)
    unique = [(f"{n}{i}", c, d, s, b) for i, (n, c, d, s, b) in enumerate(rows)]
    two = page(store, query(unique), request)
    # The same order without row numbers needs the tie break to be a column of the table.
    tied = Query(source(unique), [*COLUMNS, Col("part", "int", "", "part"), Col("row", "int", "", "row")],
                 "name", "dur_ns:desc", base_ns=BASE)  # fmt: skip
    order = ",".join(filter_empty([words(sort) or "dur_ns:desc", "part", "row"]))
    one = page(store, tied, replace(request, sort=order))
    assert (two.values, two.total, two.unfiltered) == (one.values, one.total, one.unfiltered)


def filter_empty(texts: list[str]) -> list[str]:
    return [t for t in texts if t]


@QUIET
@given(ROWS)
def test_filters_agree_with_pandas(store: Store, rows: list[tuple[Any, ...]]) -> None:
    table = frame(rows)
    name = table["name"].fillna("\0")
    for text, mask in {
        "b": name.str.lower().str.contains("b", regex=False),
        "name=b": name.str.lower() == "b",
        "dur>1ns": table["dur_ns"] > 1,
        "dur<=1.5": table["dur_ns"] <= 1.5,
        "dur=2ms": table["dur_ns"] == 2e6,
        "core=cube": table["core"] == "AI_CORE",
        "core!=cube": table["core"] != "AI_CORE",
        "start<0": table["start_ns"] < BASE,
        "blocks!=1": (table["blocks"] != 1) | table["blocks"].isna(),
        "blocks=unknown": table["blocks"].isna(),
        "dur>1 core=cube b": (table["dur_ns"] > 1) & (table["core"] == "AI_CORE")
        & name.str.lower().str.contains("b", regex=False),
    }.items():  # fmt: skip
        wanted = int(mask.fillna(False).sum()) if len(table) else 0
        found = page(store, query(rows), TableRequest(filter=text))
        assert (found.total, found.unfiltered) == (wanted, len(rows)), text


@QUIET
@given(ROWS, st.integers(1, 3))
def test_groups_agree_with_pandas(store: Store, rows: list[tuple[Any, ...]], limit: int) -> None:
    columns = [
        Col("core", "core", "Core", "core"),
        Col("count", "int", "Count", "count(*)", aggregate=True),
        Col("total_ns", "duration", "Total", "sum(dur_ns)", aggregate=True),
    ]
    q = Query(source(rows), columns, "core", "total_ns:desc", ["core"], "core")
    found: dict[Any, tuple[int, float | None]] = {}
    for offset in range(0, 4, limit):
        part = page(store, q, TableRequest(offset=offset, limit=limit))
        for core, count, total in zip(*part.values.values(), strict=True):
            assert core not in found
            found[core] = (count, total)
    table = frame(rows)
    wanted = {}
    for core, group in table.groupby("core", dropna=False):
        known = group["dur_ns"].dropna()
        key = None if core is None or core != core else core
        wanted[key] = (len(group), float(known.sum()) if len(known) else None)
    assert found == wanted
    many = page(store, q, TableRequest(filter="count>=3"))
    assert many.total == sum(count >= 3 for count, _ in wanted.values())
    assert many.unfiltered == len(wanted)


@QUIET
@given(ROWS, SORTS, st.sampled_from(["", "b", "dur>1"]))
def test_csv_is_the_table(
    store: Store, rows: list[tuple[Any, ...]], sort: list[tuple[str, bool]], filter: str
) -> None:
    request = TableRequest(words(sort), filter, "", tuple(c.key for c in COLUMNS), 0, 1000)
    text = "".join(rows_csv(store, query(rows), request))
    header, *lines = list(csv.reader(io.StringIO(text)))
    assert header == [c.key for c in COLUMNS]
    found = page(store, query(rows), request)
    shown = list(zip(*(found.values[c.key] for c in COLUMNS), strict=True))
    assert len(lines) == found.total == len(shown)
    for line, (name, core, dur, start, blocks) in zip(lines, shown, strict=True):
        assert line[0] == ("'=x" if name == "=x" else name or "")
        assert line[1] == (core or "")
        assert (float(line[2]) if line[2] else None) == dur
        assert (int(line[3]) - BASE if line[3] else None) == start
        assert line[4] == ("" if blocks is None else str(blocks))


# ---- by example -----------------------------------------------------------------------------

FEW = [("a", "AI_CORE", 1.0, BASE, 1), ("b", None, 2.0, BASE + 5, None)]


@pytest.mark.parametrize(
    ("cell", "exported"),
    [
        ("=1+1", "'=1+1"), ("+cmd", "'+cmd"), ("-cmd", "'-cmd"), ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"), ("\r=1", "'\r=1"), ("MatMul", "MatMul"), ("a=1", "a=1"), ("", ""),
        ("-1.5", "-1.5"), ("+2", "+2"), ("-1e5", "-1e5"), ("-1+1", "'-1+1"), (None, None),
        (-1.5, -1.5),
    ],
)  # fmt: skip
def test_text_that_a_spreadsheet_would_run(cell: Any, exported: Any) -> None:
    assert csv_cell(cell) == exported


@pytest.mark.parametrize(
    ("offset", "limit"), [(-1, 10), (0, 0), (0, 1001), (MAX_OFFSET + 1, 10), (10**30, 1)]
)
def test_pages_out_of_bounds_are_refused(store: Store, offset: int, limit: int) -> None:
    with pytest.raises(RequestError) as caught:
        page(store, query(FEW), TableRequest(offset=offset, limit=limit))
    assert caught.value.status == 400


def test_the_furthest_page_is_empty(store: Store) -> None:
    for two in (True, False):
        found = page(store, query(FEW, two_stage=two), TableRequest(offset=MAX_OFFSET))
        assert found.values["name"] == []
        assert found.total == 2


def test_unknown_columns_and_sorts_of_a_link_are_left_out(store: Store) -> None:
    found = page(
        store, query(FEW), TableRequest(sort="gone:desc", columns=("name", "gone", "name"))
    )
    assert found.values == {"name": ["b", "a"]}
    assert found.sort == "dur_ns:desc"
    assert [c.key for c in found.columns if c.shown] == ["name"]


@pytest.mark.parametrize("sort", ["dur_ns:up", "dur_ns:desc:asc", "name:DESC"])
def test_a_sort_that_cannot_be_read_is_refused(store: Store, sort: str) -> None:
    with pytest.raises(RequestError) as caught:
        page(store, query(FEW), TableRequest(sort=sort))
    assert (caught.value.status, caught.value.code) == (400, "bad-sort")


def test_times_are_offsets_from_a_base_that_is_text(store: Store) -> None:
    found = page(store, query(FEW), TableRequest(sort="start_ns"))
    assert found.base_ns == str(BASE)
    assert found.values["start_ns"] == [0, 5]


def test_a_bad_request_for_csv_is_told_before_anything_is_sent(store: Store) -> None:
    for request in (TableRequest(filter="nope>1"), TableRequest(sort="name:up")):
        with pytest.raises(RequestError):
            rows_csv(store, query(FEW), request)
