"""Rows on their way into a sorted table that memory does not hold: Parquet parts in the scratch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from tb_npu_plugin.backend.readers.arrays import register, unregister
from tb_npu_plugin.backend.readers.base import Rows, scalar
from tb_npu_plugin.backend.readers.csv_file import ident, literal

#: The database's share of memory where a table needs more than the usual.
MORE_MEMORY = "500MB"
#: Rows held in Python before they go to a part.
BATCH_ROWS = 100_000
#: Texts whose codes are remembered.
MAX_TEXTS = 200_000


@contextmanager
def memory_at_most(con: duckdb.DuckDBPyConnection, size: str) -> Iterator[None]:
    """Lower the database's memory limit to ``size`` (``200MB``), if it is higher, for a block.

    A sort then spills earlier, at hardly any cost, and Python has its share. Joins are made as they
    are written, the smaller side last: of what was spilled the database knows no size.
    """
    before = str(scalar(con, "SELECT current_setting('memory_limit')"))
    optimizers = str(scalar(con, "SELECT current_setting('disabled_optimizers')"))
    as_written = "join_order,build_side_probe_side"
    con.execute(f"SET disabled_optimizers='{','.join(filter(None, (optimizers, as_written)))}'")
    if _bytes(before) > _bytes(size):
        con.execute(f"SET memory_limit='{size}'")
    try:
        yield
    finally:
        con.execute(f"SET disabled_optimizers='{optimizers}'")
        if _bytes(before) > _bytes(size):
            con.execute(f"SET memory_limit='{_bytes(before)}B'")


def with_more_memory(
    con: duckdb.DuckDBPyConnection, tables: Iterable[Rows], size: str = MORE_MEMORY
) -> Iterator[Rows]:
    """``tables``, each tried once more with the limit raised to ``size`` where its sort or join needs
    more than :func:`memory_at_most` left it: very big files do."""
    for rows in tables:
        yield replace(rows, again=_again(con, rows, size))


def _again(
    con: duckdb.DuckDBPyConnection, rows: Rows, size: str
) -> Callable[[duckdb.Error | None], bool]:
    tried = False

    def again(error: duckdb.Error | None) -> bool:
        nonlocal tried
        if rows.again(error):
            return True
        if not isinstance(error, duckdb.OutOfMemoryException) or tried:
            return False
        tried = True
        con.execute(f"SET memory_limit='{size}'")
        return True

    return again


@contextmanager
def one_thread(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """A block whose queries use one thread: each further one needs memory of its own."""
    before = scalar(con, "SELECT current_setting('threads')")
    con.execute("SET threads=1")
    try:
        yield
    finally:
        con.execute(f"SET threads={before}")


def _bytes(size: str) -> int:
    """``381.4 MiB`` -> 399926886; what is no size counts as no limit."""
    match = re.match(r"^\s*([\d.]+)\s*([KMGT]?)(i?)", size, re.IGNORECASE)
    if not match:
        return 1 << 60
    power = "_KMGT".find(match.group(2).upper() or "_")
    return int(float(match.group(1)) * (1024 if match.group(3) else 1000) ** power)


class Spill:
    """Columns of rows, batch by batch; :meth:`sql` reads them all.

    ``columns``: name -> SQL type. VARCHAR columns take str (empty is NULL), others numpy arrays or
    lists, where the smallest int64 and NaN are NULL. TEXT columns take codes of :class:`Texts`;
    beside them stands ``<name>_text``, the text of rows that came from SQL.
    ``ordinal``: name of a further column, which counts the rows from 0. Read without parallelism
    they come in its order.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        folder: Path,
        name: str,
        columns: dict[str, str],
        ordinal: str = "",
        given: dict[str, str] | None = None,
    ) -> None:
        self.con, self.name, self.columns = con, name, columns
        self.rows = 0
        self._folder, self._ordinal, self._given = folder, ordinal, given or {}
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

    def copy(self, con: duckdb.DuckDBPyConnection, sql: str) -> None:
        """Rows of a query over ``con`` that has the columns by name, texts as they are.

        What :attr:`given` names is worked out from the query's columns.
        """
        self.flush()
        items = [
            f"CAST({self._given.get(name, ident(name))} AS {_SQL.get(kind, kind)}) AS {ident(name)}"
            if kind != "TEXT"
            else f"CAST({ident(name)} AS VARCHAR) AS {ident(name + '_text')}"
            for name, kind in self.columns.items()
        ]
        if self._ordinal:
            items.append(f"{self.rows} + row_number() OVER () - 1 AS {ident(self._ordinal)}")
        copy = f"COPY (SELECT {', '.join(items)} FROM ({sql})) TO {literal(self._next())} {_FORMAT}"
        self.rows += int(scalar(con, copy) or 0)

    def flush(self) -> None:
        if not self._count:
            return
        held = list(zip(*self._held, strict=True))
        self._held.clear()
        batch = {
            name: np.concatenate([np.asarray(part, dtype=_NUMPY[kind]) for part in parts])
            for (name, kind), parts in zip(self.columns.items(), held, strict=True)
        }
        items = ", ".join(_item(name, kind) for name, kind in self.columns.items())
        if self._ordinal:
            batch[self._ordinal] = np.arange(self.rows - self._count, self.rows)
            items += f", {ident(self._ordinal)}"
        self._count = 0
        register(self.con, "spilled", batch)
        self.con.execute(f"COPY (SELECT {items} FROM spilled) TO {literal(self._next())} {_FORMAT}")
        unregister(self.con, "spilled")

    def _next(self) -> Path:
        self._parts.append(self._folder / f"{self.name}_{len(self._parts)}.parquet")
        return self._parts[-1]

    def sql(self) -> str:
        """Table expression over all rows, in no order."""
        self.flush()
        kinds = {n: _SQL.get(k, k) for n, k in self.columns.items()}
        kinds.update({f"{n}_text": "VARCHAR" for n, k in self.columns.items() if k == "TEXT"})
        if self._ordinal:
            kinds[self._ordinal] = "BIGINT"
        # A row of its own, of every column, so that all are there whatever the parts hold.
        nothing = ", ".join(f"CAST(NULL AS {k}) AS {ident(n)}" for n, k in kinds.items())
        if not self._parts:
            return f"(SELECT {nothing} WHERE FALSE)"
        parts = ", ".join(literal(part) for part in self._parts)
        rows = f"SELECT * FROM read_parquet([{parts}], hive_partitioning=false, union_by_name=true)"
        return f"({rows} UNION ALL BY NAME SELECT {nothing} WHERE FALSE)"


class Texts(dict[str, int]):
    """Codes of texts that repeat: a number is spilled for each, and the text once.

    >>> texts = Texts(con, folder, "names")         # doctest: +SKIP
    >>> texts.codes(["aten::mm", "", "aten::mm"])   # doctest: +SKIP
    [1, 0, 1]
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, folder: Path, name: str) -> None:
        self.spill = Spill(con, folder, name, {"code": "INTEGER", "text": "VARCHAR"})
        self._count = 0
        self._new: list[str] = []
        self[""] = 0

    def __missing__(self, text: str) -> int:
        if len(self) > MAX_TEXTS:  # they do not repeat after all; codes go on from here
            self.clear()
            self[""] = 0
        self._count += 1
        self[text] = self._count
        self._new.append(text)
        return self._count

    def codes(self, texts: Iterable[str]) -> list[int]:
        """The code of each text; that of an empty one is 0, which stands for NULL."""
        found = list(map(self.__getitem__, texts))
        if self._new:
            self.spill.add(range(self._count - len(self._new) + 1, self._count + 1), self._new)
            self._new = []
        return found

    def sql(self) -> str:
        """Table expression: code, text."""
        return self.spill.sql()


_FORMAT = "(FORMAT parquet, COMPRESSION snappy)"
_SQL = {"TEXT": "INTEGER"}
_NUMPY: dict[str, Any] = {
    "VARCHAR": object, "BIGINT": np.int64, "INTEGER": np.int32, "TINYINT": np.int8,
    "TEXT": np.int32, "DOUBLE": np.float64,
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
