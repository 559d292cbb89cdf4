"""static_op_mem.csv: memory planned for the operators of static graphs (CANN, MindSpore)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.readers.base import Rows, Source, columns_sql
from tb_npu_plugin.backend.readers.csv_file import open_csv
from tb_npu_plugin.backend.readers.memory_cells import device_labels, missing_columns
from tb_npu_plugin.backend.schema import STATIC_MEMORY

VERSION = 1
TABLES = ("static_memory",)
_NAME = re.compile(r"^static_op_mem(_slice)?(_\d+)*\.csv(\.gz)?$")


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``static_memory``, with the file's ``TOTAL`` rows (their last node is NULL)."""
    csv = open_csv(source.con, source.path, source.rel, STATIC_MEMORY, source.scratch)
    items, missing = columns_sql(csv, STATIC_MEMORY)
    items = device_labels(csv, STATIC_MEMORY, items)
    missing_columns(source, STATIC_MEMORY, {f.key for f in missing}, ("name", "size_bytes"))
    yield Rows("static_memory", lambda: f"SELECT {', '.join(items)} FROM {csv.scan()}", csv.rejects)
    source.notes.extend(csv.notes)
