"""What a reader is given and what it yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.csv_file import CsvFile, ident, literal
from tb_npu_plugin.backend.schema import NO_ID, Field, TableSchema, extra_key, scale, split_unit


@dataclass
class Source:
    """One file to read. ``rel`` is its path relative to the capture."""

    con: duckdb.DuckDBPyConnection
    path: Path
    rel: str
    scratch: Path
    notes: list[Note] = field(default_factory=list)
    progress: Callable[[float], None] = lambda _done: None
    """Tell how far reading is, 0 to 1, where the database cannot (it reads nothing itself)."""
    tables: dict[str, Path] = field(default_factory=dict)
    """For a reader that derives tables from another's (``FROM``): those, as Parquet files."""
    more: tuple[tuple[Path, str], ...] = ()
    """(path, rel) of files that hold the rest of what this one begins."""
    show: Callable[[Iterable[Rows]], None] | None = None
    """Publish tables of what was read so far, together; None where nobody looks before the end."""


@dataclass
class Rows:
    """Rows of one canonical table, as SQL over the reader's connection.

    ``again``, called after the rows were consumed or could not be (with DuckDB's error), tells
    whether :attr:`sql` must be read once more (records were mended, or the encoding was wrong).
    ``check`` runs on the finished table.
    ``early`` rows are published before the file is read in full. ``group``: rows that are stored
    together, if not the database's 122,880; fewer need less memory, and let a short range of sorted
    rows be read without its neighbours.
    """

    table: str
    sql: Callable[[], str]
    again: Callable[[duckdb.Error | None], bool] = lambda _error: False
    check: Callable[[str], None] = lambda _table: None
    early: bool = False
    group: int | None = None


def number_sql(column: str, factor: float = 1.0) -> str:
    """A number cell times ``factor``; what is no finite number becomes NULL.

    Rounded at 1e-6 of the canonical unit, so that 50.621 µs is 50621 ns and not 50620.99999999999.
    """
    value = f"TRY_CAST({column} AS DOUBLE)"
    scaled = f"round({value} * {factor!r}, 6)" if factor != 1.0 else value
    return f"CASE WHEN isfinite({value}) THEN {scaled} END"


def instant_sql(column: str, factor: float = 1e3) -> str:
    """An instant as int64 ns, through decimals: a double holds epoch-µs only to 250 ns.

    What is no number, or too large for one, becomes NULL; a plain CAST would lose the whole file.
    """
    return f"TRY_CAST(TRY_CAST({column} AS DECIMAL(28, 6)) * {int(factor)} AS BIGINT)"


def id_sql(column: str) -> str:
    """An integer cell; 4294967295 and negative ids mean unknown."""
    value = f"TRY_CAST({column} AS BIGINT)"
    return f"CASE WHEN {value} BETWEEN 0 AND {NO_ID - 1} THEN {value} END"


def cell_sql(f: Field, column: str, unit: str, table: TableSchema) -> str:
    """The cell of canonical field ``f`` that stands in text column ``column`` with ``unit``."""
    if f.kind == "time":
        return instant_sql(column, scale(unit or "us"))
    if f.dtype == "BIGINT":
        return id_sql(column)
    if f.dtype == "DOUBLE":
        unit = unit or ("us" if f.kind == "duration" else "")  # step_trace_time names no unit
        return number_sql(column, scale(unit, table.megabyte))
    if f.kind == "shape":  # the cell itself holds literal quotes around the shapes
        return f"nullif(replace({column}, '\"', ''), '')"
    return column


def columns_sql(
    csv: CsvFile,
    table: TableSchema,
    *,
    dynamic: Callable[[str], Field | None] = lambda _header: None,
    default_unit: dict[str, str] | None = None,
) -> tuple[list[str], list[Field]]:
    """Select list of ``table`` over ``csv``: canonical columns, dynamic ones, and ``x_…`` extras.

    Returns the SQL items and the fields that the file does not have (selected as NULL).
    """
    items: list[str] = []
    missing: list[Field] = []
    used: set[int] = set()
    for f in table.fields:
        i = csv.column(f)
        if i is None:
            items.append(f"CAST(NULL AS {f.dtype}) AS {ident(f.key)}")
            missing.append(f)
        else:
            used.add(i)
            unit = split_unit(csv.header[i])[1]
            if f.dtype != "VARCHAR" and f.kind != "time":
                csv.types[i] = f.dtype
            items.append(f"{cell_sql(f, f'c{i}', unit, table)} AS {ident(f.key)}")
    taken = {f.key for f in table.fields}
    for i, header in enumerate(csv.header):
        if i in used:
            continue
        counter = dynamic(header)
        key = counter.key if counter else extra_key(header)
        while key in taken:
            key += "_2"
        taken.add(key)
        if counter:
            csv.types[i] = "DOUBLE"
            unit = split_unit(header)[1] or (default_unit or {}).get(counter.kind, "")
            items.append(f"{number_sql(f'c{i}', scale(unit))} AS {ident(key)}")
        else:
            items.append(f"c{i} AS {ident(key)}")
    return items, missing


def scalar(con: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """The single value of a query."""
    # All rows: an unfinished result would keep the connection from its next query.
    rows = con.execute(sql).fetchall()
    return rows[0][0] if rows else None


def end_sql(start: str, duration: str) -> str:
    """When a slice ends, in whole ns; absurd durations are cut, so that the sum is a number still.

    In integers: a double holds epoch times only to 250 ns.
    """
    length = f"least(greatest(coalesce(floor({duration}), 0), 0), 4e18)"
    return f"({start} + CAST({length} AS BIGINT))"


def parquet(path: str) -> str:
    """Table expression over one Parquet file, with ``file_row_number``."""
    return f"read_parquet({literal(path)}, file_row_number=true, hive_partitioning=false)"
