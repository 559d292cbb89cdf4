"""Arrays as tables: what is masked is NULL, whatever DuckDB's version thinks of masks."""

from __future__ import annotations

import duckdb
import numpy as np

from tb_npu_plugin.backend.readers.arrays import register, unregister


def test_masked_cells_are_null() -> None:
    con = duckdb.connect()
    columns = {
        "whole": np.ma.masked_array(np.array([1, 2, 3]), mask=[False, True, False]),
        "real": np.ma.masked_array(np.array([1.5, 2.5, 3.5]), mask=[True, False, False]),
        "plain": np.array([7, 8, 9]),
        "unmasked": np.ma.masked_array(np.array([4, 5, 6])),
    }
    register(con, "found", columns)
    assert con.execute("SELECT * FROM found").fetchall() == [
        (1, None, 7, 4),
        (None, 2.5, 8, 5),
        (3, 3.5, 9, 6),
    ]
    register(con, "found", {"other": np.array([1])})
    assert con.execute("SELECT * FROM found").fetchall() == [(1,)]
    unregister(con, "found")
    unregister(con, "found")
