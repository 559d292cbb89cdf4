"""Kernels of a database: COMPUTE_TASK_INFO with the times of TASK, and COMMUNICATION_OP."""

from __future__ import annotations

from collections.abc import Iterator

from tb_npu_plugin.backend.readers.base import Rows, parquet, scalar
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import Want, id_, integer, load
from tb_npu_plugin.backend.readers.db_pmu import load_counters
from tb_npu_plugin.backend.readers.db_steps import with_step
from tb_npu_plugin.backend.readers.db_strings import named
from tb_npu_plugin.backend.schema import KERNELS, is_communication

TASK = {
    "start": integer("startNs"), "end": integer("endNs"), "device": id_("deviceId"),
    "connection": id_("connectionId"), "id": id_("globalTaskId"), "kind": id_("taskType"),
    "context": id_("contextId"), "stream": id_("streamId"), "task": id_("taskId"),
    "model": id_("modelId"),
}  # fmt: skip
_NAMES = (
    "name", "core", "type", "input_formats", "input_types", "input_shapes", "output_formats",
    "output_types", "output_shapes", "op_state", "hf32", "x_attr_info",
)  # fmt: skip
_COMPUTE = {
    "id": id_("globalTaskId"), "name": id_("name"), "mix_blocks": integer("mixBlockNum", "mixBlockDim"),
    "core": id_("taskType"), "type": id_("opType"), "input_formats": id_("inputFormats"),
    "input_types": id_("inputDataTypes"), "input_shapes": id_("inputShapes"),
    "output_formats": id_("outputFormats"), "output_types": id_("outputDataTypes"),
    "output_shapes": id_("outputShapes"), "op_state": id_("opState"), "hf32": id_("hf32Eligible"),
    "x_attr_info": id_("attrInfo"),
}  # fmt: skip
_OPERATION = {
    "name": id_("opName"), "start": integer("startNs"), "end": integer("endNs"),
    "connection": id_("connectionId"), "type": id_("opType"), "device": id_("deviceId"),
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
    con.execute("UPDATE operations SET device = (SELECT min(device) FROM tasks) WHERE device IS NULL")


def kernels(db: Database) -> Iterator[Rows]:
    """Yield ``kernels``, by device and start. Needs ``tasks``, ``operations``, ``step_ranges``.

    Leaves table ``launched(connection, device_ns, aicore_ns)`` for the operators.
    """
    con = db.source.con
    told = _tell(db)
    # In the newest schema blockDim names the dimensions of a SIMT kernel, and blockNum counts.
    table = db.table("COMPUTE_TASK_INFO")
    blocks = "blockNum" if table and table.column(("blockNum",)) else "blockDim"
    wanted: dict[str, Want] = {**_COMPUTE, "blocks": integer(blocks)}
    load(db, "compute", "COMPUTE_TASK_INFO", wanted)
    if "core" in told:
        _compute_from_tasks(db)
    con.execute(f"CREATE OR REPLACE TEMP TABLE kernel_rows AS {_rows_sql(db)}")
    con.execute("DROP TABLE compute")
    ids = con.execute(
        "SELECT DISTINCT id FROM kernel_rows WHERE id IS NOT NULL ORDER BY id"
    ).fetchnumpy()["id"]
    counters = load_counters(db, ids.astype("int64"))
    con.execute(_launched_sql())
    if not scalar(con, "SELECT count(*) FROM kernel_rows"):
        return
    yield Rows("kernels", lambda: _kernels_sql(db, counters), check=lambda path: _check(db, path))
    con.execute("DROP VIEW counters; DROP TABLE kernel_rows")
    con.unregister("counter_arrays")


def _tell(db: Database) -> set[str]:
    """Findings about tables that are missing; what has to be made without them."""
    if not db.has("TASK"):
        db.note("db-tasks-missing", "TASK", table="TASK", gives="kernels")
        return set()
    if not db.has("COMPUTE_TASK_INFO"):
        if not db.has("COMMUNICATION_OP", "COMMUNICATE_OP") or scalar(
            db.source.con, "SELECT count(*) FROM tasks"
        ):
            db.note("db-kernel-names-missing", "COMPUTE_TASK_INFO", table="COMPUTE_TASK_INFO",
                    gives="kernels")  # fmt: skip
        return {"core"}
    return set()


def _compute_from_tasks(db: Database) -> None:
    """Tasks that compute, named by their kind, where COMPUTE_TASK_INFO is not there."""
    kinds = ", ".join(f"'{kind}'" for kind in _CORES)
    db.source.con.execute(
        "INSERT INTO compute (id, name, core) SELECT t.id, t.kind, t.kind FROM tasks t "
        f"JOIN strings s ON s.id = t.kind WHERE upper(s.value) IN ({kinds})"
    )


def _rows_sql(db: Database) -> str:
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
    return (
        "SELECT *, row_number() OVER (ORDER BY device NULLS FIRST, start, \"end\", "
        f"is_communication) AS row FROM ({with_step(f'SELECT *, {waits} FROM ({rows})')})"
    )


def _kernels_sql(db: Database, counters: list[str]) -> str:
    names, joins = named((*_NAMES, "kind"))
    core = " ".join(f"WHEN '{kind}' THEN '{core}'" for kind, core in _CORES.items() if kind != core)
    names["core"] = (
        f"CASE WHEN t.is_communication THEN '{communication_core(db)}' "
        f"ELSE CASE {names['core']} {core} ELSE {names['core']} END END"
    )
    for shape in ("input_shapes", "output_shapes"):  # the text holds literal quotes
        names[shape] = f"nullif(replace({names[shape]}, '\"', ''), '')"
    names |= {
        "start_ns": "t.start", "dur_ns": 'CAST(t."end" - t.start AS DOUBLE)',
        "wait_ns": "CAST(t.wait AS DOUBLE)",
    }  # fmt: skip
    items = [f"{names.get(f.key, 't.' + f.key)} AS {ident(f.key)}" for f in KERNELS.fields]
    attributes = f"SELECT count(*) FROM kernel_rows t {joins} WHERE {names['x_attr_info']} IS NOT NULL"
    if scalar(db.source.con, attributes):
        items.append(f"{names['x_attr_info']} AS x_attr_info")
    items += [f"c.{ident(name)}" for name in counters]
    return (
        f"SELECT {', '.join(items)} FROM kernel_rows t {joins} "
        "LEFT JOIN counters c ON c.id = t.id ORDER BY t.row"
    )


def communication_core(db: Database) -> str:
    """What the text files of the same CANN call communication rows."""
    new = scalar(db.source.con, "SELECT count(*) FROM api_levels WHERE lower(name) = 'hccl'") == 0
    return "COMMUNICATION" if new else "HCCL"


def _launched_sql() -> str:
    """Device time by the connection id of the launch. "AI Core" is what the trace labels so: cube
    and vector kernels; at Level0 only TASK tells them apart."""
    kind = (
        "coalesce(CASE WHEN core.value NOT IN ('N/A', '') THEN core.value END, kind.value) "
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


def _check(db: Database, path: str) -> None:
    """Findings about the finished table."""
    row = db.source.con.execute(
        "SELECT count(*) FILTER (step IS NULL), count(step), count(*) FILTER (dur_ns < 0), "
        f"min(dur_ns), count(type), count(*) FILTER ({is_communication('core')}) "
        f"FROM {parquet(path)}"
    ).fetchone()
    assert row is not None
    outside, inside, negative, least, types, communications = row
    if outside and inside:
        db.note("rows-outside-steps", None, count=outside)
    if not types and db.has("COMPUTE_TASK_INFO"):
        db.note("level-too-low", "COMPUTE_TASK_INFO")
    if communications:
        db.note("communication-missing", None, count=communications, why="", why_zh="")
    if negative:
        db.note("impossible-value", "TASK", count=negative, column="Duration",
                example=f"{least / 1000:g} µs")  # fmt: skip
