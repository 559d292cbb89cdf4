"""The filter grammar: what is found, and where a bad filter is at fault."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.filters import Column, compile_filter
from tb_npu_plugin.backend.results import Kind

KINDS: dict[str, Kind] = {
    "name": "name", "core": "core", "dur_ns": "duration", "start_ns": "time", "blocks": "int",
    "size_bytes": "bytes", "mac_ratio": "ratio", "l2_bytes_per_s": "rate", "aic_mhz": "frequency",
    "step": "step",
}  # fmt: skip
BASE = 1_736_408_883_704_643_212
COLUMNS = {
    k: Column(k, kind, k, base_ns=BASE if kind == "time" else 0) for k, kind in KINDS.items()
}
ROWS = [
    ("MatMul_1", "AI_CORE", 50621.0, BASE, 8, 4096.0, 0.25, 1.5e9, 1800.0, 10),
    ("Add=2", "AI_VECTOR_CORE", 1e6, BASE + 1_500_000, 16, 4_000_000.0, 0.5, 2e9, None, 11),
    ("a b \"c\" 50%", None, -1.0, None, None, None, None, None, None, None),
    ("hcom_allReduce", "HCCL", 1.5e9, BASE + 10**10, 0, 2.0**30, 1.0, 0.0, 1850.0, 10),
    ("/path/x", "MIX_AIC", 1005.0, BASE - 5, 1, 0.0, 0.0, 3e9, 1.0, 12),
]  # fmt: skip


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute(
        "CREATE TABLE t (name VARCHAR, core VARCHAR, dur_ns DOUBLE, start_ns BIGINT, blocks BIGINT, "
        "size_bytes DOUBLE, mac_ratio DOUBLE, l2_bytes_per_s DOUBLE, aic_mhz DOUBLE, step BIGINT)"
    )
    con.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(KINDS))})", ROWS)
    return con


def found(con: duckdb.DuckDBPyConnection, text: str, name: str = "name") -> list[int]:
    """Indexes of the rows that ``text`` finds."""

    def check(pattern: str) -> str | None:
        try:
            con.execute("SELECT regexp_matches('', ?, 'i')", [pattern]).fetchall()
        except duckdb.Error as error:
            return str(error)
        return None

    compiled = compile_filter(text, COLUMNS, COLUMNS[name], check)
    assert compiled.having == "TRUE"
    rows = con.execute(
        f"SELECT rowid FROM t WHERE {compiled.where} ORDER BY 1", compiled.where_params
    ).fetchall()
    return [r[0] for r in rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("   ", [0, 1, 2, 3, 4]),
        ("matmul", [0]),
        ("MATMUL", [0]),
        ("a", [0, 1, 2, 3, 4]),
        ("a m", [0, 3]),
        ('"a b"', [2]),
        ("50%", [2]),
        ("%", [2]),
        ("_", [0, 3]),
        ("/^matmul/", [0]),
        ("/reduce$/", [3]),
        ("/a.*b/", [2]),
        ("/path/x", [4]),
        ("/", [4]),
        ("//", []),
        ("name=add=2", [1]),
        ("name!=add=2", [0, 2, 3, 4]),
        ('name="a b "', []),
        ("core=AI_CORE", [0]),
        ("core=cube", [0, 4]),
        ("core=CUBE", [0, 4]),
        ("core=vector", [1]),
        ("core=communication", [3]),
        ("core=hccl", [3]),
        ("core!=cube", [1, 2, 3]),
        ("core=unknown", [2]),
        ("core!=unknown", [0, 1, 3, 4]),
        ("dur>1ms", [3]),
        ("dur>=1ms", [1, 3]),
        ("dur<0", [2]),
        ("dur=50.621us", [0]),
        ("dur=50.621µs", [0]),
        ("dur=50621", [0]),
        ("dur=1.005us", [4]),
        ("dur_ns=50621ns", [0]),
        ("dur>=1.5s", [3]),
        ("dur>1e6", [3]),
        ("DUR>1MS", [3]),
        ("start=0", [0]),
        ("start>1ms", [1, 3]),
        ("start<0", [4]),
        ("start=unknown", [2]),
        ("blocks=8", [0]),
        ("blocks!=8", [1, 2, 3, 4]),
        ("blocks>=8 blocks<16", [0]),
        ("size>=4KiB", [0, 1, 3]),
        ("size>4KiB", [1, 3]),
        ("size=4MB", [1]),
        ("size>=1GiB", [3]),
        ("mac>25%", [1, 3]),
        ("mac=25%", [0]),
        ("mac>0.25", [1, 3]),
        ("l2>=2GB/s", [1, 4]),
        ("aic>=1.8GHz", [0, 3]),
        ("step=10", [0, 3]),
        ("step=none", [2]),
        ("step=10 reduce", [3]),
    ],
)
def test_what_is_found(con: duckdb.DuckDBPyConnection, text: str, expected: list[int]) -> None:
    assert found(con, text) == expected


def test_bare_words_may_search_numbers(con: duckdb.DuckDBPyConnection) -> None:
    """A table grouped by step or stream has nothing else to search."""
    assert found(con, "1", "step") == [0, 1, 3, 4]
    assert found(con, "/^1[12]$/", "step") == [1, 4]


@pytest.mark.parametrize(
    ("text", "position", "word"),
    [
        ("nope=1", 0, "no column 'nope'"),
        ("matmul nope>1", 7, "no column 'nope'"),
        ("dur>fast", 4, "needs a number"),
        ("dur>", 4, "needs a number"),
        ("dur>1parsec", 5, "no unit 'parsec'"),
        ("x dur>1 %", 8, ""),
        ("blocks>1us", 8, "no unit 'us'"),
        ("core>3", 4, "is text"),
        ("a core<=b", 6, "is text"),
        ('"open', 0, "not closed"),
        ('name="open', 5, "not closed"),
        ("/(/", 1, "Not a regular expression"),
        ("ok /[/", 4, "Not a regular expression"),
        ("/(?=x)/", 1, "Not a regular expression"),
    ],
)
def test_where_a_bad_filter_is_at_fault(
    con: duckdb.DuckDBPyConnection, text: str, position: int, word: str
) -> None:
    if not word:
        assert found(con, text) == []  # "%" is a word of its own here
        return
    with pytest.raises(RequestError) as caught:
        found(con, text)
    assert (caught.value.status, caught.value.code) == (400, "bad-filter")
    assert caught.value.position == position
    assert word in caught.value.message


def test_a_misspelt_column_is_guessed(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(RequestError) as caught:
        found(con, "blokcs>1")
    assert caught.value.hint == "Did you mean blocks?"


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=30)
    | st.text(alphabet='abdurnme_ns"/=<>! 0159.%usK()[]*\\é\'-;', max_size=30)
    | st.lists(st.sampled_from(
        ["dur", "core", "name", ">", "<=", "!=", "=", "1ms", "cube", '"', "/", " ", "-1e999", "9" * 40,
         "'; --", "\0", "none"]), max_size=8).map("".join)
)  # fmt: skip
def test_every_text_is_a_filter_or_a_fault_inside_it(
    con: duckdb.DuckDBPyConnection, text: str
) -> None:
    fault: RequestError | None = None
    try:
        found(con, text)
    except RequestError as error:
        fault = error
    assert fault is None or (fault.status == 400 and 0 <= (fault.position or 0) <= len(text))
    assert fault is None or fault.position is not None
