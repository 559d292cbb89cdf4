"""Memory of a database: totals over time, blocks, what CANN's modules hold."""

from __future__ import annotations

from collections.abc import Iterator

from tb_npu_plugin.backend.readers.base import Rows, scalar
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import double, id_, instant, integer, load
from tb_npu_plugin.backend.readers.db_strings import load_enum
from tb_npu_plugin.backend.readers.memory_cells import curves_sql
from tb_npu_plugin.backend.readers.memory_record import check_points
from tb_npu_plugin.backend.readers.operator_memory import check_blocks
from tb_npu_plugin.backend.schema import (
    MEMORY_BLOCKS,
    MEMORY_POINTS,
    MODULE_MEMORY,
    block_state_sql,
)

_RECORD = {
    "component": id_("component"), "time_ns": instant("timestamp"),
    "allocated_bytes": double("totalAllocated"), "reserved_bytes": double("totalReserved"),
    "active_bytes": double("totalActive"), "stream_ptr": integer("streamPtr"),
    "device": id_("deviceId"),
}  # fmt: skip
_BLOCK = {
    "name": id_("name"), "size_bytes": double("size"), "alloc_ns": instant("allocationTime"),
    "release_ns": instant("releaseTime"), "active_release_ns": instant("activeReleaseTime"),
    "dur_ns": double("duration"), "active_dur_ns": double("activeDuration"),
    "alloc_allocated_bytes": double("allocationTotalAllocated"),
    "alloc_reserved_bytes": double("allocationTotalReserved"),
    "alloc_active_bytes": double("allocationTotalActive"),
    "release_allocated_bytes": double("releaseTotalAllocated"),
    "release_reserved_bytes": double("releaseTotalReserved"),
    "release_active_bytes": double("releaseTotalActive"), "stream_ptr": integer("streamPtr"),
    "device": id_("deviceId"),
}  # fmt: skip
#: What CANN's graph engine allocated; torch_npu copies it into the two tables above.
_GRAPH = {
    "name": id_("operatorName"), "address": integer("addr"), "kind": id_("type"),
    "size_bytes": double("size"), "time_ns": instant("timestampNs"),
    "allocated_bytes": double("totalAllocate"), "reserved_bytes": double("totalReserve"),
    "component": id_("component"), "device": id_("deviceId"),
}  # fmt: skip
_PROCESS = {
    "kind": id_("type"), "ddr": double("ddr"), "hbm": double("hbm"),
    "time_ns": instant("timestampNs"), "device": id_("deviceId"),
}  # fmt: skip


def memory(db: Database) -> Iterator[Rows]:
    """Yield ``memory_points`` and ``memory_curve``, ``memory_blocks``, ``module_memory``."""
    missing = [name for name in ("MEMORY_RECORD", "OP_MEMORY") if not db.has(name)]
    if missing:
        gives = "memory_points" if "MEMORY_RECORD" in missing else "memory_blocks"
        db.note("db-memory-missing", missing[0], table=", ".join(missing), gives=gives)
    load(db, "graph", "NPU_OP_MEM", _GRAPH)
    yield from _points(db)
    yield from _blocks(db)
    db.source.con.execute("DROP TABLE graph")
    yield from _modules(db)


def _points(db: Database) -> Iterator[Rows]:
    con = db.source.con
    load(db, "points", "MEMORY_RECORD", _RECORD)
    load(db, "process", "NPU_MEM", _PROCESS)
    if not db.has("MEMORY_RECORD"):
        con.execute(
            "INSERT INTO points BY NAME SELECT component, time_ns, allocated_bytes, "
            "reserved_bytes, device FROM graph ORDER BY time_ns, rowid"
        )
    values = {"component": "s.value", "stream_ptr": "CAST(t.stream_ptr AS VARCHAR)"}
    items = ", ".join(f"{values.get(f.key, 't.' + f.key)} AS {f.key}" for f in MEMORY_POINTS.fields)
    # The driver's view of the process comes first, as in memory_record.csv.
    app = {
        "component": "'APP'", "time_ns": "p.time_ns", "device": "p.device",
        "reserved_bytes": "CASE WHEN coalesce(p.hbm, 0) = 0 AND p.ddr > 0 THEN p.ddr ELSE p.hbm END",
    }  # fmt: skip
    process = ", ".join(
        f"CAST({app.get(f.key, 'NULL')} AS {f.dtype}) AS {f.key}" for f in MEMORY_POINTS.fields
    )
    rows = (
        f"SELECT * EXCLUDE (part, nth) FROM (SELECT 0 AS part, p.rowid AS nth, {process} "
        "FROM process p JOIN strings s ON s.id = p.kind WHERE lower(s.value) = 'app' UNION ALL "
        f"SELECT 1, t.rowid, {items} FROM points t "
        "LEFT JOIN strings s ON s.id = t.component) ORDER BY part, nth"
    )
    written: list[str] = []
    if scalar(con, "SELECT count(*) FROM points") or scalar(con, f"SELECT count(*) FROM ({rows})"):
        yield Rows("memory_points", lambda: rows, check=written.append)
        check_points(db.source, written[-1])
        yield Rows("memory_curve", lambda: curves_sql(con, written[-1]))
    con.execute("DROP TABLE points; DROP TABLE process")


def _blocks(db: Database) -> Iterator[Rows]:
    con = db.source.con
    load(db, "blocks", "OP_MEMORY", _BLOCK)
    if not db.has("OP_MEMORY"):
        con.execute(f"INSERT INTO blocks BY NAME {_paired_sql()}")
    if scalar(con, "SELECT count(*) FROM blocks"):
        values = {
            "name": "CASE WHEN t.stream_ptr IS NULL THEN 'cann::' || s.value ELSE s.value END",
            "component": "CASE WHEN t.stream_ptr IS NULL THEN 'GE' ELSE 'PTA' END",
            "state": block_state_sql("t.alloc_ns", "t.release_ns"),
            "dur_ns": "coalesce(t.dur_ns, CAST(t.release_ns - t.alloc_ns AS DOUBLE))",
            "stream_ptr": "CAST(t.stream_ptr AS VARCHAR)",
        }
        items = ", ".join(
            f"{values.get(f.key, 't.' + f.key)} AS {ident(f.key)}" for f in MEMORY_BLOCKS.fields
        )
        yield Rows(
            "memory_blocks",
            lambda: f"SELECT {items} FROM blocks t LEFT JOIN strings s ON s.id = t.name "
                    "ORDER BY t.rowid",
            check=lambda path: check_blocks(db.source, path, set()),
        )  # fmt: skip
    con.execute("DROP TABLE blocks")


def _paired_sql() -> str:
    """Blocks of the graph engine: each allocation with the next release of its address."""
    following = "OVER (PARTITION BY device, address ORDER BY time_ns, g.ordinal)"
    return (
        "SELECT name, size_bytes, alloc_ns, release_ns, device, alloc_allocated_bytes, "
        "alloc_reserved_bytes, release_allocated_bytes, release_reserved_bytes FROM ("
        "SELECT g.ordinal, g.name, abs(size_bytes) AS size_bytes, device, time_ns AS alloc_ns, "
        "s.value AS kind, allocated_bytes AS alloc_allocated_bytes, "
        "reserved_bytes AS alloc_reserved_bytes, "
        f"lead(s.value) {following} AS next_kind, "
        f"CASE WHEN next_kind = 'release' THEN lead(time_ns) {following} END AS release_ns, "
        f"CASE WHEN next_kind = 'release' THEN lead(allocated_bytes) {following} END "
        "AS release_allocated_bytes, "
        f"CASE WHEN next_kind = 'release' THEN lead(reserved_bytes) {following} END "
        "AS release_reserved_bytes "
        "FROM (SELECT rowid AS ordinal, * FROM graph) g JOIN strings s ON s.id = g.kind) "
        "WHERE kind = 'allocate' ORDER BY alloc_ns, ordinal"
    )


def _modules(db: Database) -> Iterator[Rows]:
    con = db.source.con
    load(db, "modules", "NPU_MODULE_MEM",
         {"module": integer("moduleId"), "time_ns": instant("timestampNs"),
          "reserved_bytes": double("totalReserved"), "device": id_("deviceId")})  # fmt: skip
    load_enum(db, "module_names", "ENUM_MODULE")
    if scalar(con, "SELECT count(*) FROM modules"):
        negative = scalar(con, "SELECT count(*) FROM modules WHERE reserved_bytes < 0")
        if negative:
            db.note("module-released-only", "NPU_MODULE_MEM", count=negative)
        values = {
            "component": "coalesce(n.name, 'module ' || m.module)",
            "reserved_bytes": "CASE WHEN m.reserved_bytes >= 0 THEN m.reserved_bytes END",
        }
        items = ", ".join(
            f"{values.get(f.key, 'm.' + f.key)} AS {f.key}" for f in MODULE_MEMORY.fields
        )
        yield Rows(
            "module_memory", lambda: f"SELECT {items} FROM modules m "
            "LEFT JOIN module_names n ON n.id = m.module ORDER BY m.rowid",
        )  # fmt: skip
    con.execute("DROP TABLE modules; DROP TABLE module_names")
