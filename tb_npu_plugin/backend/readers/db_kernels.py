"""Kernels of a database: COMPUTE_TASK_INFO with the times of TASK, and COMMUNICATION_OP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tb_npu_plugin.backend.readers.arrays import register
from tb_npu_plugin.backend.readers.base import Rows, parquet, scalar
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import Want, forget, id_, instant, integer, load
from tb_npu_plugin.backend.readers.db_pmu import counters
from tb_npu_plugin.backend.readers.db_steps import with_step
from tb_npu_plugin.backend.readers.db_strings import name
from tb_npu_plugin.backend.schema import KERNELS

TASK = {
    "start": instant("startNs"), "end": instant("endNs"), "device": id_("deviceId"),
    "connection": id_("connectionId"), "id": id_("globalTaskId"), "kind": id_("taskType"),
    "context": id_("contextId"), "stream": id_("streamId"), "task": id_("taskId"),
    "model": id_("modelId"),
}  # fmt: skip
_NAMES = (
    "name", "core", "type", "input_formats", "input_types", "input_shapes", "output_formats",
    "output_types", "output_shapes", "op_state", "hf32", "x_attr_info",
)  # fmt: skip
_COMPUTE = {
    "id": id_("globalTaskId"), "name": id_("name"), "core": id_("taskType"), "type": id_("opType"),
    "mix_blocks": integer("mixBlockNum", "mixBlockDim"), "input_formats": id_("inputFormats"),
    "input_types": id_("inputDataTypes"), "input_shapes": id_("inputShapes"),
    "output_formats": id_("outputFormats"), "output_types": id_("outputDataTypes"),
    "output_shapes": id_("outputShapes"), "op_state": id_("opState"), "hf32": id_("hf32Eligible"),
    "x_attr_info": id_("attrInfo"),
}  # fmt: skip
_OPERATION = {
    "name": id_("opName"), "start": instant("startNs"), "end": instant("endNs"),
    "connection": id_("connectionId"), "type": id_("opType"), "device": id_("deviceId"),
    "operation": id_("opId"), "comm_group": id_("groupName"),
}  # fmt: skip
#: TASK.taskType of what computes, as COMPUTE_TASK_INFO.taskType calls it.
_CORES = {
    "KERNEL_AICORE": "AI_CORE", "KERNEL_AIVEC": "AI_VECTOR_CORE", "KERNEL_AICPU": "AI_CPU",
    "AI_CORE": "AI_CORE", "AI_VECTOR_CORE": "AI_VECTOR_CORE", "AI_CPU": "AI_CPU",
    "MIX_AIC": "MIX_AIC", "MIX_AIV": "MIX_AIV", "KERNEL_MIX_AIC": "MIX_AIC",
    "KERNEL_MIX_AIV": "MIX_AIV", "DSA_SQE": "DSA_SQE",
}  # fmt: skip


def load_tasks(db: Database) -> None:
    """Table ``tasks``: what ran on the devices."""
    load(db, "tasks", "TASK", TASK)


def load_operations(db: Database) -> None:
    """Table ``operations``: communication operations; their device from their tasks if need be."""
    con = db.source.con
    load(db, "operations", ("COMMUNICATION_OP", "COMMUNICATE_OP"), _OPERATION)
    con.execute(
        "UPDATE operations SET device = d.device FROM (SELECT connection, min(device) AS device "
        "FROM tasks WHERE connection IN (SELECT connection FROM operations) GROUP BY connection) d "
        "WHERE operations.device IS NULL AND operations.connection = d.connection"
    )
    con.execute(
        "UPDATE operations SET device = (SELECT min(device) FROM tasks) WHERE device IS NULL"
    )


def kernels(db: Database, written: list[str]) -> Iterator[Rows]:
    """Yield ``kernels``, by device and start. Needs ``tasks``, ``operations``, ``step_ranges``.

    The path of the finished table goes to ``written``. Drops ``tasks`` and leaves table
    ``launched(connection, device_ns, aicore_ns)`` for the operators.
    """
    con = db.source.con
    _load_compute(db)
    con.execute(f"CREATE OR REPLACE TEMP TABLE kernel_rows AS {_rows_sql()}")
    con.execute("DROP TABLE compute; DROP TABLE tasks")
    con.execute(_launched_sql())
    rows: dict[str, Any] = con.execute(_sorted_sql()).fetchnumpy()
    con.execute("DROP TABLE kernel_rows")
    if not len(rows["start"]):
        return
    ids = np.ma.filled(rows.pop("id"), -1).astype(np.int64)
    found = counters(db, ids)
    register(con, "kernel_arrays", rows | found.arrays)

    def check(path: str) -> None:
        written.append(path)
        _check(db, path)

    yield Rows("kernels", lambda: _kernels_sql(db, found.items, rows), check=check, early=True)
    forget(con, "kernel_arrays")


def _load_compute(db: Database) -> None:
    """Table ``compute``: what the kernels are; made of their tasks alone if need be."""
    con = db.source.con
    table = db.table("COMPUTE_TASK_INFO")
    # In the newest schema blockDim names the dimensions of a SIMT kernel, and blockNum counts.
    blocks = "blockNum" if table and table.column(("blockNum",)) else "blockDim"
    wanted: dict[str, Want] = {**_COMPUTE, "blocks": integer(blocks)}
    load(db, "compute", "COMPUTE_TASK_INFO", wanted)
    if not db.has("TASK"):
        db.note("db-kernels-missing", "TASK", table="TASK", gives="kernels")
    elif table is None:
        kinds = ", ".join(f"'{kind}'" for kind in _CORES)
        con.execute(
            "INSERT INTO compute (id, name, core) SELECT t.id, t.kind, t.kind FROM tasks t "
            f"JOIN strings s ON s.id = t.kind WHERE upper(s.value) IN ({kinds})"
        )
        if scalar(con, "SELECT count(*) FROM compute"):
            db.note("db-kernel-names-missing", "COMPUTE_TASK_INFO", table="COMPUTE_TASK_INFO",
                    gives="kernels")  # fmt: skip


def _rows_sql() -> str:
    compute = ", ".join(ident(n) for n in (*_COMPUTE, "blocks") if n != "id")
    empty = ", ".join(
        {"name": "o.name", "type": "o.type", "blocks": "0"}.get(n, "NULL") + f" AS {ident(n)}"
        for n in (*_COMPUTE, "blocks")
        if n != "id"
    )
    rows = (
        f"SELECT c.id, t.start, t.end, t.device, t.connection, t.kind, t.context, t.stream, "
        f"t.task, t.model, FALSE AS is_communication, {compute} "
        "FROM compute c LEFT JOIN tasks t ON t.id = c.id UNION ALL BY NAME "
        "SELECT NULL AS id, o.start, o.end, o.device, o.connection, "
        f"TRUE AS is_communication, {empty} FROM operations o"
    )
    # The wait is the gap to the end of the row before, over all streams of the device.
    waits = (
        'greatest(0, start - coalesce(lag("end") OVER (PARTITION BY device ORDER BY start, "end", '
        "is_communication), start)) AS wait"
    )
    return with_step(f"SELECT *, {waits} FROM ({rows})")


def _launched_sql() -> str:
    """Device time by the connection id of the launch. "AI Core" is what the trace labels so: cube
    and vector kernels; at Level0 only TASK tells them apart."""
    kind = (
        "coalesce(CASE WHEN core.nth IS NOT NULL THEN core.value END, kind.value) "
        "IN ('AI_CORE', 'AI_VECTOR_CORE', 'KERNEL_AICORE', 'KERNEL_AIVEC')"
    )
    return (
        "CREATE OR REPLACE TEMP TABLE launched AS "
        'SELECT t.connection, CAST(sum(t."end" - t.start) AS DOUBLE) AS device_ns, '
        f'CAST(coalesce(sum(t."end" - t.start) FILTER ({kind}), 0) AS DOUBLE) AS aicore_ns '
        "FROM kernel_rows t LEFT JOIN strings core ON core.id = t.core "
        "LEFT JOIN strings kind ON kind.id = t.kind "
        "WHERE t.connection IS NOT NULL GROUP BY t.connection"
    )


def _sorted_sql() -> str:
    """The rows in order, with places of names instead of their ids."""
    joins = " ".join(f"LEFT JOIN strings s_{n} ON s_{n}.id = t.{n}" for n in _NAMES)
    places = ", ".join(f"CAST(s_{n}.nth AS INTEGER) AS {n}" for n in _NAMES)
    return (
        f"SELECT t.* EXCLUDE (connection, kind) REPLACE ({places}) FROM kernel_rows t {joins} "
        'ORDER BY t.device NULLS FIRST, t.start, t."end", t.is_communication'
    )


def _kernels_sql(db: Database, counter_items: list[str], rows: dict[str, Any]) -> str:
    names = {n: name(n) for n in _NAMES}
    other = " ".join(
        f"WHEN '{kind}' THEN '{core}'" for kind, core in _CORES.items() if kind != core
    )
    names["core"] = (
        f"CASE WHEN is_communication THEN '{communication_core(db)}' "
        f"ELSE CASE {names['core']} {other} ELSE {names['core']} END END"
    )
    for shape in ("input_shapes", "output_shapes"):  # the text holds literal quotes
        names[shape] = f"nullif(replace({names[shape]}, '\"', ''), '')"
    names |= {
        "start_ns": "start", "dur_ns": 'CAST("end" - start AS DOUBLE)',
        "wait_ns": "CAST(wait AS DOUBLE)",
    }  # fmt: skip
    items = [f"{names.get(f.key, ident(f.key))} AS {ident(f.key)}" for f in KERNELS.fields]
    if np.ma.count(rows["x_attr_info"]):
        items.append(f"{names['x_attr_info']} AS x_attr_info")
    return f"SELECT {', '.join([*items, *counter_items])} FROM kernel_arrays"


def communication_core(db: Database) -> str:
    """What the text files of the same CANN call communication rows."""
    old = scalar(db.source.con, "SELECT count(*) FROM api_levels WHERE lower(name) = 'hccl'")
    return "HCCL" if old else "COMMUNICATION"


def _check(db: Database, path: str) -> None:
    """Findings about the finished table."""
    row = db.source.con.execute(
        "SELECT count(*) FILTER (step IS NULL), count(step), count(*) FILTER (dur_ns < 0), "
        f"min(dur_ns), count(type) FROM {parquet(path)}"
    ).fetchone()
    assert row is not None
    outside, inside, negative, least, types = row
    if outside and inside:
        db.note("rows-outside-steps", None, count=outside)
    if not types and db.has("COMPUTE_TASK_INFO"):
        db.note("level-too-low", "COMPUTE_TASK_INFO")
    if negative:
        db.note("impossible-value", "TASK", count=negative, column="Duration",
                example=f"{least / 1000:g} µs")  # fmt: skip
