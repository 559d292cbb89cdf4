"""The DuckDB engine of a reading process: one per process, a session per file.

Starting an engine costs 30 ms, as much as reading a small file, and captures are many small files.
Temporary tables and registered frames belong to the session and go with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import duckdb

from tb_npu_plugin.backend.readers.csv_file import quote

#: DuckDB 2.0 moves TRY_CAST into the CSV scan, where a failing cast rejects the whole row.
HARMFUL_OPTIMIZERS = frozenset(("type_pushdown", "scalar_fn_pushdown"))
#: Files up to this size are read by one thread: starting more costs more than they save.
ONE_THREAD_BYTES = 4 << 20


@contextmanager
def session(
    memory: str, threads: int, size: int, spill: Path
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for reading one file of ``size`` bytes. ``spill``: where large sorts go."""
    engine, optimizers = _engine(memory, str(spill))
    con = engine.cursor()
    try:
        con.execute(f"SET threads={1 if size <= ONE_THREAD_BYTES else threads}")
        con.execute("SET enable_progress_bar=true; SET enable_progress_bar_print=false")
        if optimizers:
            con.execute(f"SET disabled_optimizers={quote(optimizers)}")
        yield con
    finally:
        con.close()


@lru_cache(maxsize=1)
def _engine(memory: str, spill: str) -> tuple[duckdb.DuckDBPyConnection, str]:
    engine = duckdb.connect()
    engine.execute(f"SET memory_limit={quote(memory)}")
    engine.execute(f"SET temp_directory={quote(spill)}")
    known = {row[0] for row in engine.execute("SELECT * FROM duckdb_optimizers()").fetchall()}
    return engine, ",".join(sorted(known & HARMFUL_OPTIMIZERS))
