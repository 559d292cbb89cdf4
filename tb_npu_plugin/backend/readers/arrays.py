"""Arrays made in Python as a table that SQL can read; masked cells are NULL.

DuckDB before 2.0 ignores the masks of registered arrays, so they go along as columns of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb
import numpy as np

from tb_npu_plugin.backend.readers.csv_file import ident

_MASK = "__unknown"


def register(con: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, Any]) -> None:
    """Make view ``name`` of equally long arrays, without a copy; it replaces one of that name."""
    raw: dict[str, Any] = {}
    items = []
    for key, values in columns.items():
        if not isinstance(values, np.ma.MaskedArray):
            raw[key] = values
            items.append(ident(key))
            continue
        raw[key] = values.data
        if np.ma.is_masked(values):
            raw[key + _MASK] = values.mask
            items.append(
                f"CASE WHEN NOT {ident(key + _MASK)} THEN {ident(key)} END AS {ident(key)}"
            )
        else:
            items.append(ident(key))
    con.register(f"{name}_arrays", raw)
    con.execute(
        f"CREATE OR REPLACE TEMP VIEW {ident(name)} AS SELECT {', '.join(items)} "
        f"FROM {ident(name + '_arrays')}"
    )


def unregister(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Let go of the arrays behind view ``name``."""
    con.execute(f"DROP VIEW IF EXISTS {ident(name)}")
    con.unregister(f"{name}_arrays")
