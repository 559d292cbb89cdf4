"""operator_memory.csv: one row per memory block, with the operator that allocated it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Rows, Source, columns_sql, parquet
from tb_npu_plugin.backend.readers.csv_file import open_csv
from tb_npu_plugin.backend.readers.memory_cells import check_times, device_labels, missing_columns
from tb_npu_plugin.backend.schema import MEMORY_BLOCKS, block_state_sql

VERSION = 2
TABLES = ("memory_blocks",)
#: torch_npu's own, with the framework's blocks; CANN's exports carry a time in their name.
_OF_TORCH = re.compile(r"^operator_memory\.csv(\.gz)?$")
_NAME = re.compile(r"^operator_memory(_slice)?(_\d+)*\.csv(\.gz)?$")


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``memory_blocks``, in file order; missing halves of a block are NULL."""
    csv = open_csv(source.con, source.path, source.rel, MEMORY_BLOCKS, source.scratch)
    items, missing = columns_sql(csv, MEMORY_BLOCKS)
    items = device_labels(csv, MEMORY_BLOCKS, items)
    absent = {f.key for f in missing}
    if not {"alloc_ns", "dur_ns"} & absent:
        absent -= {"release_ns"}  # an export of CANN alone tells the lifetime instead
    missing_columns(
        source, MEMORY_BLOCKS, absent, ("name", "size_bytes", "alloc_ns", "release_ns", "dur_ns")
    )
    of_cann = f"NOT {bool(_OF_TORCH.match(source.path.name))} OR starts_with(name, 'cann::')"
    derived = (
        f"{block_state_sql()} AS state, "
        f"CASE WHEN {of_cann} THEN 'GE' ELSE 'PTA' END AS component, "
        "coalesce(dur_ns, CAST(release_ns - alloc_ns AS DOUBLE)) AS dur_ns"
    )
    released = "coalesce(release_ns, CAST(alloc_ns + dur_ns AS BIGINT)) AS release_ns"
    no_release = any(f.key == "release_ns" for f in missing)

    def sql() -> str:
        rows = f"(SELECT {', '.join(items)} FROM {csv.scan()})"
        if no_release:
            rows = f"(SELECT * REPLACE ({released}) FROM {rows})"
        return f"SELECT * REPLACE ({derived}) FROM {rows}"

    def check(table: str) -> None:
        check_blocks(source, table, absent)
        check_times(source, csv, MEMORY_BLOCKS, table, ("alloc_ns", "release_ns"))

    yield Rows("memory_blocks", sql, csv.rejects, check)
    source.notes.extend(csv.notes)


def check_blocks(source: Source, table: str, absent: set[str]) -> None:
    """Findings about the finished table: no rows, halves of blocks, impossible lifetimes."""
    row = source.con.execute(
        "SELECT count(*), count(*) FILTER (state = 'held'), count(*) FILTER (state = 'before'), "
        "count(*) FILTER (state = 'unknown'), count(*) FILTER (dur_ns < 0), min(dur_ns), "
        f"count(*) FILTER (size_bytes IS NULL) FROM {parquet(table)}"
    ).fetchone()
    assert row is not None
    total, held, before, unknown, negative, least, no_size = row
    if total == 0:
        source.notes.append(Note("memory-empty", source.rel, None, {"what": "blocks",
                                                                    "what_zh": "内存块"}))  # fmt: skip
    if held or before:
        source.notes.append(
            Note("blocks-incomplete", source.rel, None,
                 {"total": total, "held": held, "before": before})
        )  # fmt: skip
    if unknown:
        source.notes.append(Note("blocks-without-times", source.rel, None, {"count": unknown}))
    if negative:
        source.notes.append(
            Note("impossible-value", source.rel, None,
                 {"count": negative, "column": "Lifetime", "example": f"{least / 1000:g} µs"})
        )  # fmt: skip
    if no_size and "size_bytes" not in absent:
        source.notes.append(Note("blocks-without-size", source.rel, None, {"count": no_size}))
