"""Rows on their way into a sorted table: in order, with codes for texts, and from SQL."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from tb_npu_plugin.backend.ingest import _write
from tb_npu_plugin.backend.readers import spill
from tb_npu_plugin.backend.readers.base import Rows
from tb_npu_plugin.backend.readers.spill import Spill, Texts, memory_at_most, with_more_memory


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET threads=1")
    return connection


def test_rows_keep_their_order_over_parts(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "BATCH_ROWS", 3)
    rows = Spill(con, tmp_path, "rows", {"a": "BIGINT", "b": "DOUBLE", "c": "VARCHAR"}, "n")
    for i in range(10):
        rows.add(np.array([i]), [i / 2], [str(i)])
    rows.add([np.iinfo(np.int64).min], [float("nan")], [""])
    assert rows.rows == 11
    assert len(list(tmp_path.iterdir())) == 3
    found = con.execute(f"SELECT n, a, b, c FROM {rows.sql()} ORDER BY n").fetchall()
    assert found == [*((i, i, i / 2, str(i)) for i in range(10)), (10, None, None, None)]


def test_nothing_is_a_table_too(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    rows = Spill(con, tmp_path, "rows", {"a": "BIGINT", "t": "TEXT"}, "n")
    assert con.execute(f"SELECT a, t, t_text, n FROM {rows.sql()}").fetchall() == []


def test_rows_of_a_query_stand_beside_others(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    rows = Spill(con, tmp_path, "rows", {"p": "TINYINT", "t": "TEXT"}, "n", {"p": "word = 'yes'"})
    rows.add([0], [7])
    rows.copy(con, "SELECT 'yes' AS word, 'x' AS t UNION ALL SELECT 'no', 'y'")
    rows.add([1], [8])
    assert rows.rows == 4
    assert con.execute(f"SELECT n, p, t, t_text FROM {rows.sql()} ORDER BY n").fetchall() == [
        (0, 0, 7, None), (1, 1, None, "x"), (2, 0, None, "y"), (3, 1, 8, None),
    ]  # fmt: skip


def test_texts_that_do_not_repeat_hold_no_memory(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "MAX_TEXTS", 10)
    texts = Texts(con, tmp_path, "texts")
    words = [f"w{i % 37}" for i in range(500)] + ["", "w1"]
    codes = [code for i in range(0, len(words), 9) for code in texts.codes(words[i : i + 9])]
    assert len(texts) <= 12
    found = {0: "", **dict(con.execute(f"SELECT code, text FROM {texts.sql()}").fetchall())}
    assert [found[code] for code in codes] == words


@pytest.mark.parametrize(("limit", "inside"), [("400MB", 200), ("100MB", 100)])
def test_memory_is_lowered_for_a_block(
    con: duckdb.DuckDBPyConnection, limit: str, inside: int
) -> None:
    def now() -> int:
        return round(
            spill._bytes(con.execute("SELECT current_setting('memory_limit')").fetchall()[0][0])
            / 1e6
        )

    con.execute(f"SET memory_limit='{limit}'; SET disabled_optimizers='limit_pushdown'")
    with memory_at_most(con, "200MB"):
        assert now() == inside
    assert now() == int(limit[:-2])
    found = con.execute("SELECT current_setting('disabled_optimizers')").fetchall()
    assert found == [("limit_pushdown",)]


def test_a_table_that_needs_more_memory_is_tried_once_more(tmp_path: Path) -> None:
    """Not with a limit that never suffices, and after what the reader itself mends."""
    con = duckdb.connect()
    con.execute("SET temp_directory=''")
    sql = "SELECT range AS n, hash(range) AS h FROM range(2000000) ORDER BY h"
    asked: list[bool] = []

    def again(error: duckdb.Error | None) -> bool:
        asked.append(error is not None)
        return False

    for size, fits in (("16MB", False), ("600MB", True)):
        con.execute("SET memory_limit='16MB'")
        asked.clear()
        (rows,) = with_more_memory(con, [Rows("big", lambda: sql, again)], size)
        if fits:
            assert _write(con, rows, tmp_path / "big.parquet") == 2_000_000
            assert asked == [True, False]
        else:
            with pytest.raises(duckdb.OutOfMemoryException):
                _write(con, rows, tmp_path / "big.parquet")
            assert asked == [True, True]
    con.close()
