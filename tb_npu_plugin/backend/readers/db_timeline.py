"""The timeline of a profiler's database: read only when somebody looks at it."""

from __future__ import annotations

from collections.abc import Iterator

from tb_npu_plugin.backend.readers import profiler_db
from tb_npu_plugin.backend.readers.base import Rows, Source
from tb_npu_plugin.backend.readers.db_counters import counters
from tb_npu_plugin.backend.readers.db_file import Database, read_whole
from tb_npu_plugin.backend.readers.db_flows import flows
from tb_npu_plugin.backend.readers.db_kernels import load_operations, load_tasks
from tb_npu_plugin.backend.readers.db_slices import (
    device_slices,
    host_slices,
    overlap_slices,
    python_slices,
)
from tb_npu_plugin.backend.readers.db_strings import API_LEVELS, load_enum, load_strings
from tb_npu_plugin.backend.readers.db_tracks import TimelineRows
from tb_npu_plugin.backend.readers.spill import memory_at_most, with_more_memory
from tb_npu_plugin.backend.readers.trace_tables import MEMORY, READ, TraceTables

VERSION = 1000 * profiler_db.VERSION + 2
TABLES = ("tracks", "slices", "flows", "counters")
SOURCE = "db"
FROM = "profiler_db"
#: A database with so many slices of its devices shows them before it reads those of the host.
SHOWN_FIRST = 100_000


def matches(name: str) -> bool:
    return profiler_db.matches(name)


def read(source: Source) -> Iterator[Rows]:
    """Yield ``tracks``, ``slices`` (by track, depth, start), ``flows`` and ``counters``."""
    with memory_at_most(source.con, MEMORY):
        yield from with_more_memory(source.con, read_whole(source, tables))


def tables(db: Database) -> Iterator[Rows]:
    source = db.source
    rows = TimelineRows(source)
    load_strings(db)
    load_enum(db, "api_levels", "ENUM_API_TYPE", API_LEVELS)
    load_tasks(db)
    load_operations(db)
    parts = (device_slices, overlap_slices, host_slices, python_slices, flows, counters)
    for done, add in enumerate(parts, 1):
        add(db, rows)
        source.progress(READ * done / len(parts))
        if add is overlap_slices and source.show and rows.slices.rows >= SHOWN_FIRST:
            source.show(TraceTables(source, rows).so_far())
    source.con.execute("DROP TABLE tasks; DROP TABLE operations")
    yield from TraceTables(source, rows).read()
