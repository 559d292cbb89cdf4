"""Rows that Python knows as a table of the database."""

from __future__ import annotations

import duckdb

from tb_npu_plugin.backend.listed import listed


def test_values_come_back_as_they_were() -> None:
    """But for what is no text and no number."""
    rows = [
        (2**62 + 1, 'it\'s "quoted" \\ {a: 1}\n卡', 0.1 + 0.2),
        (None, None, None),
        (-1, "bad \udcff", float("nan")),
    ]
    sql = listed({"number": "BIGINT", "text": "VARCHAR", "part of": "DOUBLE"}, rows)
    with duckdb.connect() as con:
        found = con.execute(f"SELECT * FROM {sql}")
        assert [d[0] for d in found.description or []] == ["number", "text", "part of"]
        assert found.fetchall() == [*rows[:2], (-1, "bad ?", None)]


def test_no_rows_are_a_table_too() -> None:
    with duckdb.connect() as con:
        found = con.execute(f"SELECT * FROM {listed({'a': 'BIGINT'}, [])}")
        assert [d[0] for d in found.description or []] == ["a"]
        assert found.fetchall() == []
