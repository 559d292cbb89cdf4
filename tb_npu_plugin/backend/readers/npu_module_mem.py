"""npu_module_mem.csv: what each module of CANN and the driver has reserved, sampled."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Rows, Source, columns_sql, scalar
from tb_npu_plugin.backend.readers.csv_file import open_csv
from tb_npu_plugin.backend.readers.memory_cells import check_times, device_labels, missing_columns
from tb_npu_plugin.backend.schema import MODULE_MEMORY

VERSION = 1
TABLES = ("module_memory",)
_NAME = re.compile(r"^npu_module_mem(_slice)?(_\d+)*\.csv(\.gz)?$")


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``module_memory``; −1 KB (only a release was seen) is NULL."""
    csv = open_csv(source.con, source.path, source.rel, MODULE_MEMORY, source.scratch)
    items, missing = columns_sql(csv, MODULE_MEMORY)
    items = device_labels(csv, MODULE_MEMORY, items)
    absent = {f.key for f in missing}
    missing_columns(source, MODULE_MEMORY, absent, ("component", "time_ns", "reserved_bytes"))

    def raw() -> str:
        return f"(SELECT {', '.join(items)} FROM {csv.scan()})"

    def sql() -> str:
        known = "CASE WHEN reserved_bytes >= 0 THEN reserved_bytes END AS reserved_bytes"
        return f"SELECT * REPLACE ({known}) FROM {raw()}"

    def check(table: str) -> None:
        negative = scalar(source.con, f"SELECT count(*) FROM {raw()} WHERE reserved_bytes < 0")
        if negative:
            source.notes.append(Note("module-released-only", source.rel, None, {"count": negative}))
        check_times(source, csv, MODULE_MEMORY, table, ("time_ns",))

    yield Rows("module_memory", sql, csv.rejects, check)
    source.notes.extend(csv.notes)
