"""Steps, operators, kernels, memory and communication worked out from a trace of torch.profiler."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers import torch_trace
from tb_npu_plugin.backend.readers.base import Rows, Source, parquet, scalar
from tb_npu_plugin.backend.readers.memory_cells import curves_sql
from tb_npu_plugin.backend.readers.torch_tables import (
    SHAPES,
    STACK,
    comm_ops,
    kernels,
    make_launches,
    memory_points,
)
from tb_npu_plugin.backend.readers.trace_operators import make_operators, operators
from tb_npu_plugin.backend.readers.trace_steps import make_step_ranges
from tb_npu_plugin.backend.readers.trace_unions import steps

VERSION = 1000 * torch_trace.VERSION + 1
TABLES = (
    "steps", "operators", "operator_nested", "kernels", "memory_points", "memory_curve", "comm_ops",
)  # fmt: skip
SOURCE = "torch"
FROM = "torch_trace"


def matches(name: str) -> bool:
    return torch_trace.matches(name)


def read(source: Source) -> Iterator[Rows]:
    """Yield the tables that the trace has anything for; ``kernels`` and ``operators`` always."""
    con = source.con
    for table in ("tracks", "slices", "flows"):
        path = parquet(str(source.tables[table]))
        con.execute(f"CREATE OR REPLACE TEMP VIEW {table} AS SELECT * FROM {path}")
    make_launches(con)
    make_step_ranges(con)
    marked = bool(scalar(con, "SELECT count(*) FROM host_steps"))
    written: list[str] = []
    yield Rows("kernels", lambda: kernels(steps=marked), check=written.append)
    ran = _any(con, f"SELECT 1 FROM {parquet(written[0])}")
    if not ran:
        source.notes.append(Note("torch-cpu-only", source.rel))
    if ran or marked:
        yield Rows("steps", lambda: steps(con, written[0], marked=marked))
    make_operators(con)
    yield Rows("operators", lambda: operators(SHAPES, STACK))
    yield Rows("operator_nested", lambda: "SELECT * FROM nested_rows")
    if _any(con, memory_points()):
        points: list[str] = []
        yield Rows("memory_points", memory_points, check=points.append)
        yield Rows("memory_curve", lambda: curves_sql(con, points[0]))
    if _any(con, comm_ops(steps=marked)):
        yield Rows("comm_ops", lambda: comm_ops(steps=marked))


def _any(con: duckdb.DuckDBPyConnection, sql: str) -> bool:
    return con.execute(f"SELECT 1 FROM ({sql}) LIMIT 1").fetchall() != []
