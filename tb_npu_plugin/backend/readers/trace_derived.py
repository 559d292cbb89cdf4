"""Steps, operators and kernels worked out from trace_view.json, where their own files are missing."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from tb_npu_plugin.backend.readers import trace_view
from tb_npu_plugin.backend.readers.base import Rows, Source, parquet, scalar
from tb_npu_plugin.backend.readers.trace_kernels import npu_kernels
from tb_npu_plugin.backend.readers.trace_operators import (
    NPU_SHAPES,
    NPU_STACK,
    make_operators,
    operators,
)
from tb_npu_plugin.backend.readers.trace_steps import LAUNCHES, make_step_ranges, steps

VERSION = 1000 * trace_view.VERSION + 1
TABLES = ("steps", "operators", "operator_nested", "kernels")
SOURCE = "trace"
FROM = "trace_view"


def matches(name: str) -> bool:
    return trace_view.matches(name)


def read(source: Source) -> Iterator[Rows]:
    """Yield ``steps``, ``kernels``, ``operators`` and ``operator_nested``."""
    con = source.con
    make_views(source)
    make_step_ranges(con)
    marked = bool(scalar(con, "SELECT count(*) FROM host_steps"))
    yield Rows("steps", lambda: steps(con))
    yield Rows("kernels", lambda: npu_kernels(steps=marked))
    make_operators(con)
    yield Rows("operators", lambda: operators(NPU_SHAPES, NPU_STACK))
    yield Rows("operator_nested", lambda: "SELECT * FROM nested_rows")


def make_views(source: Source) -> None:
    """Views ``tracks``, ``slices`` and ``flows`` over the trace's tables, and table ``launches``."""
    con: duckdb.DuckDBPyConnection = source.con
    for table in ("tracks", "slices", "flows"):
        path = parquet(str(source.tables[table]))
        con.execute(f"CREATE OR REPLACE TEMP VIEW {table} AS SELECT * FROM {path}")
    con.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE launches AS
        WITH arrows AS (SELECT * FROM flows WHERE {LAUNCHES}), ends AS (
            SELECT s.track, s.start_ns, arg_min(s.dur_ns, s.depth) AS dur_ns,
                arg_min(s.args, s.depth) AS args
            FROM slices s JOIN tracks t USING (track)
            WHERE t.kind IN ('hardware', 'communication') GROUP BY 1, 2
        )
        SELECT a.from_track, a.from_ns, CAST(NULL AS BIGINT) AS from_event, a.to_ns,
            coalesce(e.dur_ns, 0) AS to_dur_ns,
            a.to_ns + CAST(coalesce(e.dur_ns, 0) AS BIGINT) AS to_end_ns,
            coalesce(json_extract_string(e.args, '$."Task Type"') = 'AI_CORE', false) AS aicore
        FROM arrows a JOIN ends e ON e.track = a.to_track AND e.start_ns = a.to_ns
        """
    )
