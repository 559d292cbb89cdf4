"""Rows on their way into a sorted table that memory does not hold: Parquet parts in the scratch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from tb_npu_plugin.backend.readers.csv_file import ident, literal

#: Rows held in Python before they go to a part.
BATCH_ROWS = 100_000


class Spill:
    """Columns of rows, batch by batch; :meth:`sql` reads them all.

    ``columns``: name -> SQL type. Text columns take str (empty is NULL), others numpy arrays, where
    ``unknown`` (the smallest int64) and NaN are NULL.
    """

    def __init__(
        self, con: duckdb.DuckDBPyConnection, folder: Path, name: str, columns: dict[str, str]
    ) -> None:
        self.con, self.name, self.columns = con, name, columns
        self.rows = 0
        self._folder = folder
        self._held: list[tuple[Any, ...]] = []
        self._count = 0
        self._parts: list[Path] = []

    def add(self, *columns: Any) -> None:
        """Rows by columns, in the order of ``columns``."""
        self._held.append(columns)
        self._count += len(columns[0])
        self.rows += len(columns[0])
        if self._count >= BATCH_ROWS:
            self.flush()

    def flush(self) -> None:
        if not self._count:
            return
        held = list(zip(*self._held, strict=True))
        self._held.clear()
        self._count = 0
        batch = {
            name: np.concatenate([np.asarray(part, dtype=_NUMPY[kind]) for part in parts])
            for (name, kind), parts in zip(self.columns.items(), held, strict=True)
        }
        items = ", ".join(_item(name, kind) for name, kind in self.columns.items())
        part = self._folder / f"{self.name}_{len(self._parts)}.parquet"
        self.con.register("spilled", batch)
        self.con.execute(
            f"COPY (SELECT {items} FROM spilled) TO {literal(part)} "
            "(FORMAT parquet, COMPRESSION snappy)"
        )
        self.con.unregister("spilled")
        self._parts.append(part)

    def sql(self) -> str:
        """Table expression over all rows, in no order."""
        self.flush()
        if not self._parts:
            items = ", ".join(f"CAST(NULL AS {k}) AS {ident(n)}" for n, k in self.columns.items())
            return f"(SELECT {items} WHERE FALSE)"
        parts = ", ".join(literal(part) for part in self._parts)
        return f"read_parquet([{parts}], hive_partitioning=false)"


_NUMPY: dict[str, Any] = {
    "VARCHAR": object, "BIGINT": np.int64, "INTEGER": np.int32, "DOUBLE": np.float64,
}  # fmt: skip


def _item(name: str, kind: str) -> str:
    key = ident(name)
    if kind == "VARCHAR":
        return f"nullif({key}, '') AS {key}"
    if kind == "BIGINT":
        return f"nullif({key}, {np.iinfo(np.int64).min + 1} - 1) AS {key}"
    if kind == "DOUBLE":
        return f"CASE WHEN NOT isnan({key}) THEN {key} END AS {key}"
    return key
