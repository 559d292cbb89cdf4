"""Tables of a SQLite file into DuckDB, by named columns, batch by batch.

What the file does not have is there all the same, empty or NULL, so that the SQL of a reader needs
no cases: :func:`load` tells what was missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import duckdb
import numpy as np

from tb_npu_plugin.backend.readers.arrays import register, unregister
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.readers.db_cells import Batch, Damage, Unfit
from tb_npu_plugin.backend.readers.db_file import BROKEN, Database, Table
from tb_npu_plugin.backend.schema import NO_ID

#: Rows that sqlite3 hands over at once.
ROWS = 20_000
_INT_MAX = 2**62


@dataclass(frozen=True)
class Want:
    """A column to load: the names sources give it, and what it holds."""

    names: tuple[str, ...]
    kind: Literal["instant", "integer", "id", "double", "text"]

    @property
    def dtype(self) -> str:
        return {"double": "DOUBLE", "text": "VARCHAR"}.get(self.kind, "BIGINT")


@dataclass(frozen=True)
class Loaded:
    """What :func:`load` found: rows, and the wanted columns that the table does not have."""

    rows: int
    missing: frozenset[str]
    there: bool


def instant(*names: str) -> Want:
    """Times in ns since the epoch; what cannot be one becomes NULL."""
    return Want(names, "instant")


def integer(*names: str) -> Want:
    """Whole numbers; such as no sum of two overflows."""
    return Want(names, "integer")


def id_(*names: str) -> Want:
    """Ids: negative ones and 4294967295 mean none, and become NULL."""
    return Want(names, "id")


def double(*names: str) -> Want:
    """Numbers with fractions."""
    return Want(names, "double")


def text(*names: str) -> Want:
    """Text as it stands."""
    return Want(names, "text")


def load(
    db: Database,
    target: str,
    names: str | tuple[str, ...],
    columns: Mapping[str, Want],
    where: str = "TRUE",
    only: tuple[str, int] | None = None,
) -> Loaded:
    """Make temporary table ``target`` of the first of ``names`` that the file has.

    ``where``: predicate over ``columns``; ``only``: one of them and its value, where the table has
    it. Rows that do not meet them are left out.
    """
    con = db.source.con
    fields = ", ".join(f"{ident(k)} {w.dtype}" for k, w in columns.items())
    table = db.table(*([names] if isinstance(names, str) else names))
    con.execute(f"CREATE OR REPLACE TEMP TABLE {target} ({fields})")
    if table is None:
        return Loaded(0, frozenset(columns), False)
    found = {k: at for k, w in columns.items() if (at := table.column(w.names)) is not None}
    missing = frozenset(columns) - set(found)
    items = ", ".join(_item(k, w, k in found) for k, w in columns.items())
    rows = 0
    for batch in batches(db, table, {k: columns[k] for k in found}, only):
        register(con, "batch", batch)
        con.execute(f"INSERT INTO {target} SELECT * FROM (SELECT {items} FROM batch) WHERE {where}")
        unregister(con, "batch")
        rows += len(next(iter(batch.values()), ()))
    return Loaded(rows, missing, True)


def arrays(
    db: Database,
    names: str | tuple[str, ...],
    columns: Mapping[str, Want],
    only: tuple[str, int] | None = None,
) -> dict[str, Any]:
    """Columns of the first of ``names`` that the file has, whole, with −1 for NULL.

    Ids are 32-bit where they fit: a capture has millions of rows.
    """
    table = db.table(*([names] if isinstance(names, str) else names))
    found = {k: w for k, w in columns.items() if table and table.column(w.names)}
    parts: dict[str, list[Any]] = {k: [] for k in columns}
    for batch in batches(db, table, found, only) if table else ():
        for key, values in batch.items():
            plain = np.ma.filled(values, -1)
            small = columns[key].kind == "id" and int(plain.max(initial=0)) < 2**31
            parts[key].append(plain.astype(np.int32) if small else plain)
    out = {k: np.concatenate(p) if p else np.empty(0, dtype=np.int64) for k, p in parts.items()}
    rows = max((len(v) for v in out.values()), default=0)
    return {k: v if len(v) else np.full(rows, -1, dtype=np.int32) for k, v in out.items()}


def forget(con: duckdb.DuckDBPyConnection, arrays: str) -> None:
    """Let go of registered arrays. A result that was not read to its end would forbid it."""
    con.execute("SELECT 1").fetchall()
    unregister(con, arrays)


def batches(
    db: Database,
    table: Table,
    columns: Mapping[str, Want],
    only: tuple[str, int] | None = None,
) -> Iterator[dict[str, Any]]:
    """Columns of ``table``, some rows at a time: arrays, masked where NULL.

    What cannot be read is left out and counted in a finding.
    """
    if not columns:
        return
    damage = Damage()
    odd = dict.fromkeys(columns, 0)
    done = 0
    numbers = all(w.kind != "text" for w in columns.values())
    if db.pages and table.plain and numbers:
        wanted = [(table.column(w.names) or (0, ""))[0] for w in columns.values()]
        fractions = [w.kind == "double" for w in columns.values()]
        try:
            for batch in _ahead(db.pages.table(
                table.root, list(zip(wanted, fractions, strict=True)), table.row_id, damage,
                numeric=table.numeric, only=_at(table, columns, only),
            )):  # fmt: skip
                done += batch.rows
                yield _arrays(columns, batch, odd)
            _tell(db, table, damage, odd, None)
            return
        except Unfit:
            damage = Damage()
    error: Exception | None = None
    try:
        for batch in _rows(db, table, columns, done, only):
            yield _arrays(columns, batch, odd)
    except BROKEN as broken:
        error = broken
    _tell(db, table, damage, odd, error)


def _ahead(found: Iterator[Batch]) -> Iterator[Batch]:
    """The same, each made while the one before is used: numpy and DuckDB let other threads run."""
    with ThreadPoolExecutor(1, "pages") as pool:
        following = pool.submit(next, found, None)
        while (batch := following.result()) is not None:
            following = pool.submit(next, found, None)
            yield batch


def _arrays(columns: Mapping[str, Want], batch: Batch, odd: dict[str, int]) -> dict[str, Any]:
    out = {}
    for i, (name, want) in enumerate(columns.items()):
        values, known = batch.values[i], batch.known[i]
        odd[name] += batch.odd[i]
        if want.kind == "id":
            known = known & (values >= 0) & (values != NO_ID)
        elif want.kind == "instant":
            known = known & (values >= 0) & (values < _INT_MAX)
        elif want.kind == "integer":
            known = known & (values > -_INT_MAX) & (values < _INT_MAX)
        out[name] = values if known.all() else np.ma.masked_array(values, mask=~known)
    return out


def _item(name: str, want: Want, there: bool) -> str:
    if not there:
        return f"CAST(NULL AS {want.dtype}) AS {ident(name)}"
    if want.kind == "double":
        return f"CASE WHEN isfinite({ident(name)}) THEN {ident(name)} END AS {ident(name)}"
    # An object column that begins with many None would be guessed as something else.
    return f"nullif({ident(name)}, '') AS {ident(name)}" if want.kind == "text" else ident(name)


def _at(
    table: Table, columns: Mapping[str, Want], only: tuple[str, int] | None
) -> tuple[int, int] | None:
    if only is None or only[0] not in columns:
        return None
    column = table.column(columns[only[0]].names)
    return (column[0], only[1]) if column and column[0] != table.row_id else None


def _rows(
    db: Database,
    table: Table,
    columns: Mapping[str, Want],
    skip: int,
    only: tuple[str, int] | None,
) -> Iterator[Batch]:
    """The same through sqlite3, after the first ``skip`` rows."""
    names = ", ".join(ident((table.column(w.names) or (0, ""))[1]) for w in columns.values())
    column = table.column(columns[only[0]].names) if only and only[0] in columns else None
    where = f"{ident(column[1])} = {int(only[1])}" if only and column else "1"
    cursor = db.connection.execute(f"SELECT {names} FROM {ident(table.name)} WHERE {where}")
    for _ in range(skip):
        cursor.fetchone()
    while True:
        rows: list[tuple[Any, ...]] = []
        error: Exception | None = None
        try:
            for row in cursor:
                rows.append(row)
                if len(rows) == ROWS:
                    break
        except BROKEN as broken:  # the rows before the damage are good
            error = broken
        if rows:
            yield _batch(rows, columns)
        if error:
            raise error
        if len(rows) < ROWS:
            return


def _batch(rows: list[tuple[Any, ...]], columns: Mapping[str, Want]) -> Batch:
    out = Batch(len(rows), [], [], [])
    for want, cells in zip(columns.values(), zip(*rows, strict=True), strict=True):
        if want.kind == "text":
            known = np.array([c is not None for c in cells], dtype=bool)
            out.values.append(np.array([_text(c) for c in cells], dtype=object))
            out.known.append(np.ones(len(rows), dtype=bool))
            out.odd.append(0)
            continue
        numbers = [_number(c, want.kind == "double") for c in cells]
        known = np.array([n is not None for n in numbers], dtype=bool)
        dtype = np.float64 if want.kind == "double" else np.int64
        out.values.append(np.array([0 if n is None else n for n in numbers], dtype=dtype))
        out.known.append(known)
        out.odd.append(sum(c is not None for c in cells) - int(known.sum()))
    return out


def _text(cell: Any) -> str:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    return "" if cell is None else str(cell)


def _number(cell: Any, fractions: bool) -> Any:
    if isinstance(cell, int) and -_INT_MAX < cell < _INT_MAX:
        return cell
    if isinstance(cell, bytes | None):
        return None
    try:
        return float(cell) if fractions else _whole(cell)
    except (ValueError, OverflowError):
        return None


def _whole(cell: Any) -> int | None:
    try:
        value = int(cell) if isinstance(cell, str) else round(cell)
    except ValueError:
        value = round(float(cell))
    return value if -_INT_MAX < value < _INT_MAX else None


def _tell(
    db: Database, table: Table, damage: Damage, odd: dict[str, int], error: Exception | None
) -> None:
    """A finding about what of the table could not be read."""
    if damage.pages or damage.cells or error:
        what = [f"{damage.pages} page(s)"] * bool(damage.pages)
        what += [f"{damage.cells} row(s)"] * bool(damage.cells)
        what += [str(error)[:120]] * bool(error)
        db.note("database-damaged", table.name, table=table.name, what=", ".join(what))
    for name, count in odd.items():
        if count:
            db.note("value-unreadable", table.name, count=count, column=name, example="text")
