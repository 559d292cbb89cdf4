"""analysis.db: what torch_npu worked out of a capture: step times, communication.

MindSpore copies CANN's file of the same tables there, under CANN's name: communication_analyzer.db.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tb_npu_plugin.backend.readers.base import Rows, Source, scalar
from tb_npu_plugin.backend.readers.communication import operations
from tb_npu_plugin.backend.readers.communication_matrix import links
from tb_npu_plugin.backend.readers.db_file import BROKEN, Database, connect, read_whole
from tb_npu_plugin.backend.readers.db_load import Want, double, id_, load, text
from tb_npu_plugin.backend.readers.json_members import Member
from tb_npu_plugin.backend.readers.step_trace_time import check_steps, sane_sql
from tb_npu_plugin.backend.schema import STEPS

VERSION = 1
TABLES = ("steps", "comm_ops", "comm_links", "comm_packets", "comm_matrix")
SOURCE = "db"
_NAME = re.compile(r"^(?:analysis|communication_analyzer)\.db$")
_STEP_COLUMNS = {
    "step": text("step"), "device": id_("deviceId"), "computing": double("computing"),
    "communication_not_overlapped": double("communication_not_overlapped"),
    "overlapped": double("overlapped"), "communication": double("communication"),
    "free": double("free"), "stage": double("stage"), "bubble": double("bubble"),
    "communication_exclude_receive": double("communication_not_overlapped_and_exclude_receive"),
    "preparing": double("preparing"),
}  # fmt: skip
_KEYS = {
    "name": text("hccl_op_name"), "group": text("group_name"), "step": text("step"),
    "kind": text("type"),
}  # fmt: skip
#: Columns by the names that communication.json has for them.
_TIMES = {
    "Start Timestamp(us)": double("start_timestamp"), "Elapse Time(ms)": double("elapse_time"),
    "Transit Time(ms)": double("transit_time"), "Wait Time(ms)": double("wait_time"),
    "Synchronization Time(ms)": double("synchronization_time"),
    "Idle Time(ms)": double("idle_time"),
}  # fmt: skip
_LINK = {
    "Transit Size(MB)": double("transit_size"), "Transit Time(ms)": double("transit_time"),
    "Bandwidth(GB/s)": double("bandwidth"),
}  # fmt: skip
_PACKETS = {
    "large": double("large_packet_ratio"), "packet": double("package_size"),
    "count": double("count"), "total": double("total_duration"),
}  # fmt: skip


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``steps`` and the communication tables, as the text files of the same names have them."""
    yield from read_whole(source, tables)


def tables(db: Database) -> Iterator[Rows]:
    yield from _steps(db)
    if db.has("CommAnalyzerTime") or db.has("CommAnalyzerBandwidth"):
        yield from operations(db.source, _operations(db))
    if db.has("CommAnalyzerMatrix"):
        yield from links(db.source, _links(db))


def _steps(db: Database) -> Iterator[Rows]:
    con = db.source.con
    found = load(db, "step_times", "StepTraceTime", _STEP_COLUMNS)
    if not scalar(con, "SELECT count(*) FROM step_times"):
        return
    if found.missing - {"device", "preparing", "communication_exclude_receive"}:
        db.note("column-missing", "StepTraceTime", columns=", ".join(sorted(found.missing)))
    values = {
        "step": "TRY_CAST(regexp_extract(step, '^(?:step)?\\s*(\\d{1,18})$', 1) AS BIGINT)",
        # Until 7.1 the table names no device, while the other database's tables do.
        "device": f"coalesce(device, {_only_device(db.source.path)})",
    }
    items = ", ".join(
        # µs, whatever the documentation says; rounded as text is, at 1e-6 ns.
        f"{values.get(f.key, f'round({f.key[:-3]} * 1000, 6)')} AS {f.key}"
        for f in STEPS.fields
    )
    rows = f"SELECT {items} FROM step_times ORDER BY rowid"
    yield Rows("steps", lambda: sane_sql(db.source, rows),
               check=lambda path: check_steps(db.source, path))  # fmt: skip


def _only_device(path: Path) -> str:
    """The device that the capture's other database is of; NULL if it has none or several."""
    for other in sorted(path.parent.glob("ascend_*_profiler*.db")):
        try:
            connection = connect(other)
            try:
                rows = connection.execute("SELECT DISTINCT id FROM NPU_INFO").fetchall()
            finally:
                connection.close()
        except (*BROKEN, OSError):
            continue
        if len(rows) == 1 and isinstance(rows[0][0], int) and rows[0][0] >= 0:
            return str(rows[0][0])
    return "NULL"


def _operations(db: Database) -> Iterator[Member]:
    """Operations as communication.json has them, one by one."""
    packets = _groups(
        db, "bandwidths", "CommAnalyzerBandwidth",
        {**_KEYS, "link": text("transport_type"), **_LINK, **_PACKETS},
    )  # fmt: skip
    infos: dict[tuple[str, ...], dict[str, Any]] = {}
    for keys, rows in packets.items():
        info: dict[str, Any] = {}
        infos[keys] = info
        for row in rows:
            link = info.setdefault(row["link"] or "", {key: row[key] for key in _LINK})
            link["Large Packet Ratio"] = row["large"]
            sizes = link.setdefault("Size Distribution", {})
            if row["count"]:
                sizes[row["packet"]] = [row["count"], row["total"]]
    times = _groups(db, "times", "CommAnalyzerTime", {**_KEYS, **_TIMES})
    for keys in [*times, *(k for k in infos if k not in times)]:
        value: dict[str, Any] = {}
        if keys in times:
            value["Communication Time Info"] = {key: times[keys][0][key] for key in _TIMES}
        if keys in infos:
            value["Communication Bandwidth Info"] = infos[keys]
        yield Member(_member(keys), value, 0)


def _links(db: Database) -> Iterator[Member]:
    """Links as communication_matrix.json has them, by key."""
    columns = {
        **_KEYS, "src": text("src_rank"), "dst": text("dst_rank"),
        "Transport Type": text("transport_type"), **_LINK, "Op Name": text("op_name"),
    }  # fmt: skip
    for keys, rows in _groups(db, "matrix", "CommAnalyzerMatrix", columns).items():
        shown = ("Transport Type", *_LINK, "Op Name")
        yield Member(
            _member(keys),
            {f"{row['src']}-{row['dst']}": {key: row[key] for key in shown} for row in rows}, 0,
        )  # fmt: skip


def _member(keys: tuple[str, ...]) -> tuple[str, ...]:
    name, group, step, kind = keys
    return step, kind, name if "@" in name else f"{name}@{group}"


def _groups(
    db: Database, target: str, table: str, columns: dict[str, Want]
) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Rows of a table by operation, group, step and kind, in the order of the file."""
    con = db.source.con
    found = load(db, target, table, columns)
    absent = found.missing - {"Op Name", "group"}
    if found.there and absent:
        db.note("column-missing", table, columns=", ".join(sorted(absent)))
    out: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in con.execute(f"SELECT * FROM {target} ORDER BY rowid").fetchall():
        named = dict(zip(columns, row, strict=True))
        keys = tuple(str(named[k] or "") for k in _KEYS)
        out.setdefault(keys, []).append(named)
    con.execute(f"DROP TABLE {target}")
    return out
