"""Slices of a database's timeline: host calls, device tasks, communication, overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_npu_plugin.backend.readers.arrays import register
from tb_npu_plugin.backend.readers.base import parquet
from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_kernels import communication_core
from tb_npu_plugin.backend.readers.db_load import batches, forget, id_, instant, integer, load
from tb_npu_plugin.backend.readers.db_strings import is_types
from tb_npu_plugin.backend.readers.db_tracks import TimelineRows, json_args
from tb_npu_plugin.backend.schema import is_communication

_API = {
    "start": instant("startNs"), "end": instant("endNs"), "thread": id_("globalTid"),
    "connection": id_("connectionId"), "name": id_("name"), "sequence": integer("sequenceNumber"),
    "forward": id_("fwdThreadId"), "types": id_("inputDtypes"), "shapes": id_("inputShapes"),
    "type": id_("type"),
}  # fmt: skip
#: Batches of calls that are written at once.
BATCH_ROWS = 400_000
OVERLAP = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
_NONE = np.iinfo(np.int64).min
_PREFIXES = (
    "CASE lower(e.name) WHEN 'acl' THEN 'AscendCL@' WHEN 'node' THEN 'Node@' WHEN 'model' THEN "
    "'Model@' WHEN 'runtime' THEN 'Runtime@' WHEN 'hccl' THEN 'Hccl@' WHEN 'communication' THEN "
    "'Communication@' ELSE '' END"
)


def python_slices(db: Database, rows: TimelineRows) -> None:
    """Operators, the queue and Python frames, on the threads of the process."""
    table = db.table("PYTORCH_API")
    columns = {k: w for k, w in _API.items() if table and table.column(w.names)}
    if table is None or not {"start", "end", "name"} <= set(columns):
        return
    held: list[dict[str, Any]] = []
    count = 0
    for batch in batches(db, table, columns):
        held.append(batch)
        count += len(batch["start"])
        if count >= BATCH_ROWS:
            _python_batch(db, rows, held)
            held, count = [], 0
    if held:
        _python_batch(db, rows, held)


def _python_batch(db: Database, rows: TimelineRows, held: list[dict[str, Any]]) -> None:
    con = db.source.con
    size = sum(len(part["start"]) for part in held)
    batch: dict[str, Any] = {}
    for key in _API:
        known = key in held[0]
        values = (
            [np.ma.filled(part[key], _NONE) for part in held] if known else [np.full(size, _NONE)]
        )
        whole = np.concatenate(values)
        batch[key] = np.ma.masked_array(whole, mask=whole == _NONE)
    threads = np.unique(np.ma.filled(batch["thread"], -1)).tolist()
    rows.threads("thread_codes", threads, "Python")
    register(con, "api", batch)
    # Some writers have exchanged the two columns (db_operators).
    exchanged = f"{is_types('d.value')} AND NOT {is_types('t.value')}"
    args = json_args(
        Sequence_number="a.sequence", Fwd_thread_id="a.forward",
        Input_Dims=f"CASE WHEN {exchanged} THEN t.value ELSE d.value END",
        Input_type=f"CASE WHEN {exchanged} THEN d.value ELSE t.value END",
        connection_id="a.connection",
    )  # fmt: skip
    category = (
        "CASE a.type WHEN 50001 THEN 'cpu_op' WHEN 50003 THEN 'python_function' WHEN 50002 THEN "
        "CASE WHEN starts_with(n.value, 'Dequeue') THEN 'dequeue' ELSE 'enqueue' END END"
    )
    rows.add_slices(
        f"SELECT c.code, n.value AS name, {category} AS cat, a.start AS start_ns, "
        f'CAST(a."end" - a.start AS DOUBLE) AS dur_ns, {args} AS args '
        "FROM api a JOIN thread_codes c ON c.thread = coalesce(a.thread, -1) "
        "LEFT JOIN strings n ON n.id = a.name LEFT JOIN strings d ON d.id = a.shapes "
        "LEFT JOIN strings t ON t.id = a.types"
    )
    forget(con, "api")


def host_slices(db: Database, rows: TimelineRows) -> None:
    """CANN's calls, garbage collection and the user's own marks."""
    con = db.source.con
    load(db, "apis", "CANN_API", {k: _API[k] for k in
         ("start", "end", "type", "thread", "connection", "name")})  # fmt: skip
    _host(
        db, rows, "CANN", "apis", f"{_PREFIXES} || coalesce(s.value, '')",
        json_args(level="e.name", connection_id="a.connection"),
        "LEFT JOIN strings s ON s.id = a.name LEFT JOIN api_levels e ON e.id = a.type",
    )  # fmt: skip
    con.execute("DROP TABLE apis")
    load(db, "collections", "GC_RECORD", {k: _API[k] for k in ("start", "end", "thread")})
    _host(db, rows, "Python GC", "collections", "'GC'", "NULL", "")
    con.execute("DROP TABLE collections")
    load(db, "marks", "MSTX_EVENTS", {**{k: _API[k] for k in ("start", "end", "thread", "connection")},
         "message": id_("message"), "domain": id_("domainId")})  # fmt: skip
    _host(
        db, rows, "MSTX", "marks", "s.value",
        json_args(domain="d.value", connection_id="a.connection"),
        "LEFT JOIN strings s ON s.id = a.message LEFT JOIN strings d ON d.id = a.domain",
    )  # fmt: skip
    con.execute("DROP TABLE marks")


def _host(
    db: Database, rows: TimelineRows, process: str, table: str, name: str, args: str, joins: str
) -> None:
    threads = db.source.con.execute(f"SELECT DISTINCT coalesce(thread, -1) FROM {table}").fetchall()
    rows.threads("thread_codes", (t for (t,) in threads), process)
    rows.add_slices(
        f"SELECT c.code, {name} AS name, NULL AS cat, a.start AS start_ns, "
        f'CAST(a."end" - a.start AS DOUBLE) AS dur_ns, {args} AS args FROM {table} a '
        f"JOIN thread_codes c ON c.thread = coalesce(a.thread, -1) {joins}"
    )


def device_slices(db: Database, rows: TimelineRows) -> None:
    """Tasks on their streams; those of communication on the planes of their groups.

    Needs ``tasks``. Leaves ``task_ends(connection, code, start)`` for the flows.
    """
    con = db.source.con
    load(db, "computes", "COMPUTE_TASK_INFO",
         {"id": id_("globalTaskId"), "name": id_("name"), "core": id_("taskType")})  # fmt: skip
    load(db, "parts", "COMMUNICATION_TASK_INFO",
         {"id": id_("globalTaskId"), "kind": id_("taskType"), "plane": id_("planeId"),
          "comm_group": id_("groupName"), "size": integer("size"), "source": integer("srcRank"),
          "target": id_("dstRank")})  # fmt: skip
    load(db, "schedules", "COMMUNICATION_SCHEDULE_TASK_INFO",
         {"id": id_("globalTaskId"), "name": id_("name")})  # fmt: skip
    _streams(db, rows)
    _groups(db, rows)
    con.execute("DROP TABLE computes; DROP TABLE parts; DROP TABLE schedules")


def _streams(db: Database, rows: TimelineRows) -> None:
    con = db.source.con
    streams = con.execute(
        "SELECT DISTINCT coalesce(device, -1), coalesce(stream, -1) FROM tasks"
    ).fetchall()
    rows.tracks(
        "stream_codes",
        [(d, s, "Ascend Hardware", None if d < 0 else d, s, f"Stream {s}") for d, s in streams],
        ("device", "stream"),
    )
    kind = "CASE core.value WHEN 'AI_VECTOR_CORE' THEN 'AI_CORE' ELSE coalesce(core.value, k.value) END"
    args = json_args(Task_Type=kind, Physic_Stream_Id="t.stream", Task_Id="t.task",
                     connection_id="t.connection")  # fmt: skip
    rows.add_slices(
        "SELECT c.code, coalesce(n.value, w.value, k.value) AS name, NULL AS cat, "
        f't.start AS start_ns, CAST(t."end" - t.start AS DOUBLE) AS dur_ns, {args} AS args '
        "FROM tasks t JOIN stream_codes c ON c.device = coalesce(t.device, -1) "
        "AND c.stream = coalesce(t.stream, -1) LEFT JOIN computes i ON i.id = t.id "
        "LEFT JOIN schedules h ON h.id = t.id LEFT JOIN strings n ON n.id = i.name "
        "LEFT JOIN strings w ON w.id = h.name LEFT JOIN strings k ON k.id = t.kind "
        "LEFT JOIN strings core ON core.id = i.core "
        "WHERE t.id IS NULL OR t.id NOT IN (SELECT id FROM parts WHERE id IS NOT NULL)"
    )
    con.execute(
        "CREATE OR REPLACE TEMP TABLE task_ends AS SELECT t.connection, c.code, t.start FROM tasks t "
        "JOIN computes i ON i.id = t.id JOIN stream_codes c ON c.device = coalesce(t.device, -1) "
        "AND c.stream = coalesce(t.stream, -1) WHERE t.connection IS NOT NULL"
    )


def _groups(db: Database, rows: TimelineRows) -> None:
    """Whole operations and their tasks. Needs ``operations``."""
    con = db.source.con
    process = "HCCL" if communication_core(db) == "HCCL" else "Communication"
    groups = con.execute(
        "SELECT o.comm_group, o.device, s.value, (SELECT max(plane) FROM parts p "
        "WHERE p.comm_group = o.comm_group) FROM (SELECT DISTINCT coalesce(comm_group, -1) AS "
        "comm_group, device FROM operations) o LEFT JOIN strings s ON s.id = o.comm_group "
        "ORDER BY o.comm_group"
    ).fetchall()
    whole, planes, first = [], [], 0
    for number, (group, device, name, last) in enumerate(groups):
        shown = str(number) if process == "HCCL" or not name else name
        whole.append((group, device, process, device, first, f"Group {shown} Communication"))
        for plane in range(0 if last is None else min(int(last), 4096) + 1):
            tid = first + 1 + plane
            planes.append((group, device, plane, process, device, tid, f"Plane {plane}"))
        first += 2 + (0 if last is None else min(int(last), 4096))
    rows.tracks("group_codes", whole, ("comm_group", "device"))
    rows.tracks("plane_codes", planes, ("comm_group", "device", "plane"))
    rows.add_slices(
        "SELECT c.code, s.value AS name, NULL AS cat, o.start AS start_ns, "
        f'CAST(o."end" - o.start AS DOUBLE) AS dur_ns, {json_args(connection_id="o.connection")} '
        "AS args FROM operations o JOIN group_codes c ON c.comm_group = coalesce(o.comm_group, -1) "
        "AND c.device = coalesce(o.device, -1) LEFT JOIN strings s ON s.id = o.name"
    )
    args = json_args(size_Byte="p.size", src_rank="p.source", dst_rank="p.target",
                     connection_id="t.connection")  # fmt: skip
    rows.add_slices(
        "SELECT c.code, k.value AS name, NULL AS cat, t.start AS start_ns, "
        f'CAST(t."end" - t.start AS DOUBLE) AS dur_ns, {args} AS args FROM parts p '
        "JOIN tasks t ON t.id = p.id JOIN plane_codes c ON c.comm_group = p.comm_group "
        "AND c.device = coalesce(t.device, -1) AND c.plane = p.plane "
        "LEFT JOIN strings k ON k.id = p.kind"
    )
    con.execute(
        "INSERT INTO task_ends SELECT o.connection, c.code, o.start FROM operations o JOIN group_codes c "
        "ON c.comm_group = coalesce(o.comm_group, -1) AND c.device = coalesce(o.device, -1) "
        "WHERE o.connection IS NOT NULL AND o.start IS NOT NULL"
    )


def overlap_slices(db: Database, rows: TimelineRows) -> None:
    """Computing, communication, what of it nothing hides, and free time of each device."""
    path = db.source.tables.get("kernels")
    if path is None:
        return
    con = db.source.con
    found = con.execute(
        "SELECT coalesce(device, -1) AS device, start_ns, start_ns + CAST(dur_ns AS BIGINT) AS end_ns, "
        f"coalesce({is_communication('core')}, FALSE) AS comm FROM {parquet(str(path))} "
        "WHERE start_ns IS NOT NULL AND dur_ns > 0"
    ).fetchnumpy()
    for device in np.unique(found["device"]).tolist():
        of = found["device"] == device
        parts = overlap(found["start_ns"][of], found["end_ns"][of], found["comm"][of])
        for nth, (name, (start, end)) in enumerate(zip(OVERLAP, parts, strict=True)):
            if not len(start):
                continue
            code = rows.track("Overlap Analysis", None if device < 0 else device, nth, name)
            register(con, "pieces", {"start_ns": start, "dur_ns": (end - start).astype(np.float64)})
            rows.add_slices(
                f"SELECT {code} AS code, '{name}' AS name, NULL AS cat, start_ns, dur_ns, "
                "NULL AS args FROM pieces"
            )
            forget(con, "pieces")


def overlap(start: Any, end: Any, comm: Any) -> list[tuple[Any, Any]]:
    """(starts, ends) of the four rows of :data:`OVERLAP`, joined where they touch."""
    edges = np.unique(np.concatenate([start, end]))
    at = edges[:-1]

    def covered(of: Any) -> Any:
        begun = np.searchsorted(np.sort(start[of]), at, side="right")
        return begun > np.searchsorted(np.sort(end[of]), at, side="right")

    computing, communication = covered(~comm), covered(comm)
    out = []
    for mask in (
        computing,
        communication,
        communication & ~computing,
        ~(communication | computing),
    ):
        change = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
        out.append((edges[np.flatnonzero(change == 1)], edges[np.flatnonzero(change == -1)]))
    return out
