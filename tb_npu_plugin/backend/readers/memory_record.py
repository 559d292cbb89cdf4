"""memory_record.csv: what each component had reserved, allocated and active, over time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Rows, Source, columns_sql, parquet
from tb_npu_plugin.backend.readers.csv_file import open_csv
from tb_npu_plugin.backend.readers.memory_cells import (
    check_times,
    curves_sql,
    device_labels,
    missing_columns,
)
from tb_npu_plugin.backend.schema import MEMORY_POINTS

VERSION = 1
TABLES = ("memory_points", "memory_curve")
_NAME = re.compile(r"^memory_record(_slice)?(_\d+)*\.csv(\.gz)?$")
#: Totals are sums of decimals: a difference below one byte says nothing.
TOLERANCE_BYTES = 1.0


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``memory_points`` in file order (sorted by component, not by time), then their curves."""
    csv = open_csv(source.con, source.path, source.rel, MEMORY_POINTS, source.scratch)
    items, missing = columns_sql(csv, MEMORY_POINTS)
    items = device_labels(csv, MEMORY_POINTS, items)
    absent = {f.key for f in missing}
    missing_columns(
        source, MEMORY_POINTS, absent,
        ("component", "time_ns", "allocated_bytes", "reserved_bytes"),
    )  # fmt: skip
    written: list[str] = []

    def check(table: str) -> None:
        written.append(table)
        check_points(source, table)
        check_times(source, csv, MEMORY_POINTS, table, ("time_ns",))

    yield Rows(
        "memory_points", lambda: f"SELECT {', '.join(items)} FROM {csv.scan()}", csv.rejects, check
    )
    source.notes.extend(csv.notes)
    yield Rows("memory_curve", lambda: curves_sql(source.con, written[-1]))


def check_points(source: Source, table: str) -> None:
    """Findings about the finished table: no rows, totals that contradict each other."""
    row = source.con.execute(
        "SELECT count(*), count(*) FILTER (allocated_bytes > reserved_bytes + ?), "
        "count(*) FILTER (least(allocated_bytes, reserved_bytes, active_bytes) < 0) "
        f"FROM {parquet(table)}",
        [TOLERANCE_BYTES],
    ).fetchone()
    assert row is not None
    total, above, negative = row
    if total == 0:
        source.notes.append(Note("memory-empty", source.rel, None, {"what": "records",
                                                                    "what_zh": "内存记录"}))  # fmt: skip
    if above:
        source.notes.append(Note("memory-totals-disagree", source.rel, None, {"count": above}))
    if negative:
        source.notes.append(Note("memory-totals-negative", source.rel, None, {"count": negative}))
