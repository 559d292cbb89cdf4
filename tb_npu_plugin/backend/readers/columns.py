"""Rows made in Python on their way into DuckDB: columns as numpy arrays, unknown as NULL."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np

from tb_npu_plugin.backend.readers.arrays import register, unregister
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.schema import TableSchema

#: Rows held in Python before they go to the database.
BATCH = 50_000


class Columns:
    """Collects rows of ``schema`` and appends them, batch by batch, to temporary table ``name``.

    >>> columns = Columns(con, COMM_PACKETS)          # doctest: +SKIP
    >>> columns.add(("op", "allreduce", …))           # doctest: +SKIP
    >>> columns.flush(); con.execute(columns.sql())   # doctest: +SKIP
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, schema: TableSchema) -> None:
        self.con, self.schema = con, schema
        self.name = f"new_{schema.name}"
        self.rows: list[tuple[Any, ...]] = []
        fields = ", ".join(f"{ident(f.key)} {f.dtype}" for f in schema.fields)
        con.execute(f"CREATE OR REPLACE TEMP TABLE {self.name} ({fields})")

    def add(self, row: tuple[Any, ...]) -> None:
        """One row, in the order of the schema's fields; ``None`` is unknown."""
        self.rows.append(row)
        if len(self.rows) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Hand what was added to the database."""
        if not self.rows:
            return
        columns = zip(*self.rows, strict=True)
        batch = {
            f.key: _array(f.dtype, values)
            for f, values in zip(self.schema.fields, columns, strict=True)
        }
        items = ", ".join(
            # An object column that begins with many None would be guessed as something else.
            f"nullif({ident(f.key)}, '')" if f.dtype == "VARCHAR" else ident(f.key)
            for f in self.schema.fields
        )
        register(self.con, "batch", batch)
        self.con.execute(f"INSERT INTO {self.name} SELECT {items} FROM batch")
        unregister(self.con, "batch")
        self.rows.clear()

    def sql(self) -> str:
        """All rows, in the order in which they were added."""
        self.flush()
        return f"SELECT * FROM {self.name}"


def _array(dtype: str, values: tuple[Any, ...]) -> Any:
    if dtype == "VARCHAR":
        # Lone surrogates ("\ud800" in JSON) are text to Python but not to a database.
        clean = {v: "" if v is None else v.encode("utf-8", "replace").decode() for v in set(values)}
        return np.array([clean[v] for v in values], dtype=object)
    if dtype == "DOUBLE":
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    return np.ma.masked_array(
        np.array([0 if v is None else v for v in values], dtype=np.int64),
        mask=[v is None for v in values],
    )
