"""Arrows of a database's timeline: operator to device, queue, forward to backward, host to device."""

from __future__ import annotations

from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import id_, instant, load
from tb_npu_plugin.backend.readers.db_strings import NODE
from tb_npu_plugin.backend.readers.db_tracks import TimelineRows


def flows(db: Database, rows: TimelineRows) -> None:
    """Ends of all arrows. Needs ``task_ends``."""
    con = db.source.con
    columns = {"start": instant("startNs"), "thread": id_("globalTid"),
               "connection": id_("connectionId"), "type": id_("type")}  # fmt: skip
    load(db, "calls", "CANN_API", columns, f"type = {NODE} AND connection IS NOT NULL")
    load(db, "linked", "PYTORCH_API", columns, "connection IS NOT NULL AND type IN (50001, 50002)")
    load(db, "links", "CONNECTION_IDS", {"id": id_("id"), "connection": id_("connectionId")})
    for table, process in (("calls", "CANN"), ("linked", "Python")):
        threads = con.execute(f"SELECT DISTINCT coalesce(thread, -1) FROM {table}").fetchall()
        rows.threads(f"{table}_codes", (t for (t,) in threads), process)
    ends = (
        "SELECT a.type, a.start, c.code, l.connection FROM linked a JOIN linked_codes c "
        "ON c.thread = coalesce(a.thread, -1) JOIN links l ON l.id = a.connection"
    )
    con.execute(f"CREATE OR REPLACE TEMP TABLE linked_ends AS {ends}; DROP TABLE linked")
    _arrows(
        rows, "HostToDevice", "HostToDevice",
        "SELECT 'h' || a.connection AS id, c.code AS from_code, a.start AS from_ns, t.code, t.start "
        "FROM calls a JOIN calls_codes c ON c.thread = coalesce(a.thread, -1) "
        "JOIN task_ends t ON t.connection = a.connection",
    )  # fmt: skip
    # An id may coincide with one of CANN's by chance: only those count that CANN_API has.
    _arrows(
        rows, "async_npu", "torch_to_npu",
        "SELECT 'n' || t.code || ' ' || t.start AS id, a.code AS from_code, a.start AS from_ns, "
        "t.code, t.start FROM linked_ends a JOIN task_ends t ON t.connection = a.connection "
        "WHERE a.type = 50001 AND a.connection IN (SELECT connection FROM calls)",
    )  # fmt: skip
    for cat, name, kind in (("async_task_queue", "enqueue_to_dequeue", 50002),
                            ("fwdbwd", "fwdbwd", 50001)):  # fmt: skip
        _arrows(
            rows, cat, name,
            f"SELECT '{cat[0]}' || connection AS id, arg_min(code, start) AS from_code, "
            "min(start) AS from_ns, arg_max(code, start) AS code, max(start) AS start "
            f"FROM linked_ends WHERE type = {kind} AND connection NOT IN "
            "(SELECT connection FROM calls) GROUP BY connection HAVING count(*) = 2",
        )  # fmt: skip
    con.execute("DROP TABLE calls; DROP TABLE links; DROP TABLE linked_ends; DROP TABLE task_ends")


def _arrows(rows: TimelineRows, cat: str, name: str, arrows: str) -> None:
    for phase, code, time in (("s", "from_code", "from_ns"), ("f", "code", "start")):
        rows.flow_ends.copy(
            rows.con,
            f"SELECT '{phase}' AS phase, '{cat}' AS cat, '{name}' AS name, id, {code} AS code, "
            f"{time} AS time_ns FROM ({arrows}) WHERE {time} IS NOT NULL",
        )
