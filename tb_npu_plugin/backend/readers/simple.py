"""Files that are one table as they stand: a header of known names, a row a line."""

from __future__ import annotations

from collections.abc import Iterator

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Rows, Source, columns_sql
from tb_npu_plugin.backend.readers.csv_file import open_csv
from tb_npu_plugin.backend.schema import TableSchema


def read_table(
    source: Source, table: TableSchema, required: tuple[str, ...] = ()
) -> Iterator[Rows]:
    """Yield ``table`` from one CSV; a column in ``required`` that is not there is a finding."""
    csv = open_csv(source.con, source.path, source.rel, table, source.scratch)
    items, missing = columns_sql(csv, table)
    names = ", ".join(f.en for f in missing if f.key in required)
    if names:
        source.notes.append(Note("column-missing", source.rel, "line 1", {"columns": names}))
    yield Rows(table.name, lambda: f"SELECT {', '.join(items)} FROM {csv.scan()}", csv.rejects)
    source.notes.extend(csv.notes)
