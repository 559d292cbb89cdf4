"""What the readers of memory files share: device labels, curves, checks of the finished table."""

from __future__ import annotations

import re

import duckdb

from tb_npu_plugin.backend.downsample import CURVE_POINTS, changes_sql, curve_sql
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Source, parquet, scalar
from tb_npu_plugin.backend.readers.csv_file import CsvFile, ident
from tb_npu_plugin.backend.schema import MEASURES, TableSchema


def device_labels(csv: CsvFile, table: TableSchema, items: list[str]) -> list[str]:
    """The select list with ``device`` read from labels: ``NPU:0`` -> 0; ``host`` is unknown."""
    f = table.get("device")
    i = csv.column(f) if f else None
    if i is None:
        return items
    csv.types.pop(i, None)
    label = f"TRY_CAST(regexp_extract(c{i}, '^\\s*(?:[A-Za-z]+:)?(\\d+)\\s*$', 1) AS BIGINT)"
    return [f'{label} AS "device"' if item.endswith(' AS "device"') else item for item in items]


def curves_sql(con: duckdb.DuckDBPyConnection, points: str) -> str:
    """``memory_curve`` of the finished table ``memory_points`` (the path that ``check`` is given).

    Every reader that yields ``memory_points`` yields this right after it: pages draw from it.
    """
    keys = ("component", "device")
    short = scalar(con, f"SELECT count(*) FROM {parquet(points)}") <= CURVE_POINTS
    each = " UNION ALL ".join(
        f"(SELECT component, '{measure}' AS measure, time_ns, value AS value_bytes, source_rows, "
        f"device FROM ({curve}))"
        for measure in MEASURES
        for value in [f"{measure}_bytes"]
        for curve in [
            changes_sql(parquet(points), keys, "time_ns", value, "file_row_number") if short else
            curve_sql(parquet(points), keys, "time_ns", value, "file_row_number", CURVE_POINTS)
        ]
    )  # fmt: skip
    return f"SELECT * FROM ({each})"


def missing_columns(
    source: Source, table: TableSchema, absent: set[str], keys: tuple[str, ...]
) -> None:
    """A finding about those of ``keys`` that the file has no column for."""
    names = ", ".join(f.en for f in table.fields if f.key in absent and f.key in keys)
    if names:
        source.notes.append(Note("column-missing", source.rel, "line 1", {"columns": names}))


def check_times(
    source: Source, csv: CsvFile, table: TableSchema, written: str, keys: tuple[str, ...]
) -> None:
    """Findings about instants that are no numbers, or were rounded by a spreadsheet."""
    columns = {f: i for f in table.fields if f.key in keys and (i := csv.column(f)) is not None}
    if not columns:
        return
    text = csv.scan(as_text=True)
    cells = ", ".join(f"c{i}" for i in columns.values())
    row = source.con.execute(f"SELECT {cells} FROM {text} LIMIT 1").fetchone() or ()
    for cell in row:
        if re.match(r"^\s*\d(\.\d+)?E\+?\d+\s*$", cell or "", re.I):
            source.notes.append(
                Note("memory-times-rounded", source.rel, "line 2", {"example": cell.strip()})
            )
            break
    # An empty cell is legitimate (a block that was not released), any other is to be told.
    for f, i in columns.items():
        if scalar(source.con, f"SELECT bool_or({ident(f.key)} IS NULL) FROM {parquet(written)}"):
            source.notes += csv.unreadable({i: "DECIMAL(28, 6)"})
