"""Communication worked out of a database's tasks, for captures that have no analysis.db.

As CANN does it: times are those of an operation's master plane, what moved over which link those of
all its planes. Transfers over RDMA are sequences of tasks whose end is not marked; their times,
and with them those of their operations, stay unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tb_npu_plugin.backend.readers.base import Rows, scalar
from tb_npu_plugin.backend.readers.communication import operations
from tb_npu_plugin.backend.readers.communication_group import group_id
from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import id_, integer, load
from tb_npu_plugin.backend.readers.db_steps import with_step
from tb_npu_plugin.backend.readers.db_strings import load_enum
from tb_npu_plugin.backend.readers.json_members import Member

_TASK = {
    "id": id_("globalTaskId"), "kind": id_("taskType"), "plane": id_("planeId"),
    "size": integer("size"), "link": integer("linkType"), "transport": integer("transportType"),
    "rdma": integer("rdmaType"), "operation": id_("opId"), "master": integer("isMaster"),
}  # fmt: skip
#: A packet is large above this many bytes.
_LARGE, _LARGE_RDMA = 32_000_000, 500_000
_P2P = ("hcom_send", "hcom_receive", "hcom_batchsendrecv")


def load_communication(db: Database) -> None:
    """Table ``comm_tasks``: parts of operations with their times. Needs ``tasks``."""
    con = db.source.con
    load(db, "comm_parts", "COMMUNICATION_TASK_INFO", _TASK)
    load_enum(db, "link_types", "ENUM_HCCL_LINK_TYPE",
              {0: "ON_CHIP", 1: "HCCS", 2: "PCIE", 3: "ROCE", 4: "SIO", 5: "HCCS_SW"})  # fmt: skip
    load_enum(db, "transports", "ENUM_HCCL_TRANSPORT_TYPE", {0: "SDMA", 1: "RDMA", 2: "LOCAL"})
    load_enum(db, "rdma_types", "ENUM_HCCL_RDMA_TYPE",
              {0: "RDMA_SEND_NOTIFY", 1: "RDMA_SEND_PAYLOAD"})  # fmt: skip
    con.execute(
        "CREATE OR REPLACE TEMP TABLE comm_tasks AS SELECT p.operation, p.plane, p.size, p.master, "
        'upper(k.value) AS kind, t.start, t."end" - t.start AS dur, '
        "CASE l.name WHEN 'HCCS_SW' THEN 'HCCS' ELSE l.name END AS link, "
        "coalesce(x.name = 'RDMA' AND r.name LIKE '%PAYLOAD', FALSE) AS rdma, x.name = 'SDMA' AND "
        "coalesce(l.name, 'ON_CHIP') <> 'ON_CHIP' AND upper(k.value) IN ('MEMCPY', 'REDUCE_INLINE') AS sdma "
        "FROM comm_parts p JOIN tasks t USING (id) LEFT JOIN strings k ON k.id = p.kind "
        "LEFT JOIN link_types l ON l.id = p.link LEFT JOIN transports x ON x.id = p.transport "
        "LEFT JOIN rdma_types r ON r.id = p.rdma; DROP TABLE comm_parts"
    )


def communication(db: Database) -> Iterator[Rows]:
    """Yield ``comm_ops``, ``comm_links`` and ``comm_packets``.

    Needs ``operations`` and ``comm_tasks``, which it drops, and ``step_ranges``.
    """
    con = db.source.con
    for table in ("operations", "comm_tasks"):
        if not scalar(con, f"SELECT count(*) FROM {table}"):
            name = {"operations": "COMMUNICATION_OP", "comm_tasks": "COMMUNICATION_TASK_INFO"}[
                table
            ]
            db.note("db-communication-missing", name, table=name, gives="comm_ops")
            break
    else:
        yield from operations(db.source, _members(db))
        db.note("communication-recomputed", "COMMUNICATION_TASK_INFO", gives="comm_ops")
    con.execute("DROP TABLE operations; DROP TABLE comm_tasks")


def _members(db: Database) -> Iterator[Member]:
    """Operations as communication.json has them."""
    con = db.source.con
    # The plane that an operation's own times are measured on: flagged, else the second (the first
    # copies within the chip).
    con.execute(
        "CREATE OR REPLACE TEMP TABLE master_planes AS SELECT operation, coalesce("
        "min(plane) FILTER (master = 1), min(plane) FILTER (plane = 1), min(plane)) AS plane "
        "FROM comm_tasks GROUP BY operation"
    )
    rows = con.execute(
        "WITH own AS (SELECT c.*, min(c.start) FILTER (sdma) OVER (PARTITION BY operation) AS moves "
        "FROM comm_tasks c JOIN master_planes m USING (operation, plane)), times AS ("
        "SELECT operation, coalesce(sum(dur) FILTER (sdma), 0) AS transit, "
        "coalesce(sum(dur) FILTER (kind = 'NOTIFY_WAIT'), 0) AS wait, "
        "coalesce(sum(dur) FILTER (kind = 'NOTIFY_WAIT' AND start < moves), 0) AS sync, "
        "bool_or(rdma) AS rdma FROM own GROUP BY operation) "
        'SELECT o.operation, s.value, g.value, o.start, o."end" - o.start, t.transit, t.wait, '
        f"t.sync, t.rdma, o.step FROM ({with_step('SELECT * FROM operations')}) o "
        "JOIN times t USING (operation) LEFT JOIN strings s ON s.id = o.name "
        "LEFT JOIN strings g ON g.id = o.comm_group ORDER BY o.start"
    ).fetchall()
    links = _links(db)
    for operation, name, group, start, elapse, transit, wait, sync, rdma, step in rows:
        value: dict[str, Any] = {
            "Communication Time Info": {
                "Start Timestamp(us)": f"{start // 1000}.{start % 1000:03d}",
                "Elapse Time(ms)": elapse / 1e6, "Wait Time(ms)": wait / 1e6,
                **({} if rdma else {
                    "Transit Time(ms)": transit / 1e6, "Synchronization Time(ms)": sync / 1e6,
                    "Idle Time(ms)": (elapse - transit - wait) / 1e6,
                }),
            },
            "Communication Bandwidth Info": links.get(operation, {}),
        }  # fmt: skip
        known = name or "?"
        kind = "p2p" if known.lower().startswith(_P2P) else "collective"
        full = group_id(group) if group and group != "N/A" else ""
        yield Member((f"step{'' if step is None else step}", kind, f"{known}@{full}"), value, 0)
    con.execute("DROP TABLE master_planes")


def _links(db: Database) -> dict[int, dict[str, Any]]:
    """By operation: what moved over each link type, in packets of which sizes."""
    out: dict[int, dict[str, Any]] = {}
    rows = db.source.con.execute(
        "SELECT operation, CASE WHEN rdma THEN 'RDMA' ELSE link END AS type, size, count(*), "
        "sum(dur) FROM comm_tasks WHERE sdma OR rdma GROUP BY ALL ORDER BY operation, type, size"
    ).fetchall()
    for operation, link, size, count, dur in rows:
        info = out.setdefault(operation, {}).setdefault(link or "?", {"Size Distribution": {}})
        info["Size Distribution"][size / 1e6] = [count, dur / 1e6]
    for links in out.values():
        for link, info in links.items():
            packets = info["Size Distribution"]
            info["Transit Size(MB)"] = sum(size * n for size, (n, _) in packets.items())
            if link != "RDMA":
                info["Transit Time(ms)"] = sum(time for _, time in packets.values())
            limit = (_LARGE_RDMA if link == "RDMA" else _LARGE) / 1e6
            large = sum(n for size, (n, _) in packets.items() if size > limit)
            info["Large Packet Ratio"] = round(large / sum(n for n, _ in packets.values()), 4)
        moved = [info for link, info in links.items() if link != "RDMA"]
        if moved:
            keys = ("Transit Size(MB)", "Transit Time(ms)")
            links["SDMA"] = {key: sum(info[key] for info in moved) for key in keys}
    return out
