"""Statistics that CANN writes as text files only, made from a database's rows."""

from __future__ import annotations

from collections.abc import Iterator

from tb_npu_plugin.backend.readers.base import Rows, parquet, scalar
from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import id_, instant, load
from tb_npu_plugin.backend.readers.db_strings import API_LEVELS, NODE, load_enum
from tb_npu_plugin.backend.schema import API_STATISTICS, OP_STATISTICS, is_communication


def op_statistics(db: Database, kernels: str) -> Iterator[Rows]:
    """Yield ``op_statistics`` from the finished table of kernels (its path), longest first.

    As in op_statistic.csv, communication is not listed, and the share is of what is listed.
    """
    if not scalar(db.source.con, f"SELECT count(type) FROM {parquet(kernels)}"):
        return  # Level0 knows no types
    values = {
        "count": "count(*)", "total_ns": "sum(dur_ns)", "avg_ns": "avg(dur_ns)",
        "min_ns": "min(dur_ns)", "max_ns": "max(dur_ns)", "model": "NULL",
        "total_ratio": "sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER (), 0)",
    }  # fmt: skip
    items = ", ".join(
        f"CAST({values.get(f.key, f.key)} AS {f.dtype}) AS {f.key}" for f in OP_STATISTICS.fields
    )
    yield Rows("op_statistics", lambda: (
        f"SELECT {items} FROM {parquet(kernels)} WHERE type IS NOT NULL "
        f"AND NOT coalesce({is_communication('core')}, FALSE) GROUP BY type, core, device "
        "ORDER BY total_ns DESC, type, core"
    ))  # fmt: skip


def api_statistics(db: Database) -> Iterator[Rows]:
    """Yield ``api_statistics``, by level and name.

    Leaves tables ``api_levels`` and ``calls(start, end, connection)``: the calls that launched
    something.
    """
    con = db.source.con
    load_enum(db, "api_levels", "ENUM_API_TYPE", API_LEVELS)
    load(
        db, "apis", "CANN_API",
        {"start": instant("startNs"), "end": instant("endNs"), "type": id_("type"),
         "connection": id_("connectionId"), "name": id_("name")},
    )  # fmt: skip
    if not db.has("CANN_API"):
        db.note("db-apis-missing", "CANN_API", table="CANN_API", gives="api_statistics")
    if scalar(con, "SELECT count(*) FROM apis"):
        yield Rows("api_statistics", _grouped_sql)
    con.execute(
        f'CREATE OR REPLACE TEMP TABLE calls AS SELECT start, "end", connection FROM apis '
        f"WHERE type = {NODE} AND connection IS NOT NULL; DROP TABLE apis"
    )


def _grouped_sql() -> str:
    values = {
        "name": "coalesce(s.value, '?')", "level": "lower(e.name)", "count": "count(*)",
        "total_ns": "sum(dur)", "avg_ns": "avg(dur)", "min_ns": "min(dur)", "max_ns": "max(dur)",
        "variance_us2": "var_pop(dur / 1000)", "device": "NULL",
    }  # fmt: skip
    items = ", ".join(
        f"CAST({values[f.key]} AS {f.dtype}) AS {f.key}" for f in API_STATISTICS.fields
    )
    return (
        f'SELECT {items} FROM (SELECT type, name, "end" - start AS dur FROM apis '
        'WHERE "end" >= start) t LEFT JOIN strings s ON s.id = t.name '
        "LEFT JOIN api_levels e ON e.id = t.type "
        "GROUP BY 1, 2 ORDER BY level, name"
    )
