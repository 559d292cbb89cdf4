"""Kernels, memory totals and collectives among the slices of torch.profiler, as SQL."""

from __future__ import annotations

import duckdb

from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.readers.trace_kernels import finished
from tb_npu_plugin.backend.readers.trace_steps import LAUNCHES, in_step
from tb_npu_plugin.backend.schema.communication import COMM_OPS

#: What runs on a device; the spelling of categories changed over versions.
_KERNEL = "lower(s.cat) = 'kernel'"
_DEVICE = "lower(s.cat) IN ('kernel', 'gpu_memcpy', 'gpu_memset')"
_COLLECTIVE = (
    "(json_exists(s.args, '$.\"Collective name\"') OR "
    "regexp_matches(s.name, '^(nccl|rccl|oneccl|xccl)\\w*(kernel|devkernel)', 'i'))"
)
#: Collectives on the CPU are ranges of the host.
_HOST_COLLECTIVE = "^(gloo|mpi|ucc):(\\w+)"
#: Devices of c10::DeviceType that profiles are made on.
_COMPONENTS = {0: "CPU", 1: "CUDA", 6: "HIP", 12: "XPU", 20: "PrivateUse1"}
#: Bytes of an element, by the names that collectives give their types.
_WIDTHS = {
    "Byte": 1, "Char": 1, "Bool": 1, "Float8_e4m3fn": 1, "Float8_e5m2": 1, "Short": 2, "Half": 2,
    "BFloat16": 2, "Int": 4, "Float": 4, "Long": 8, "Double": 8,
}  # fmt: skip

#: ``[[4, 8], [], [2]]`` -> ``4,8;;2``.
SHAPES = (
    "replace(replace(replace(replace(coalesce(json_extract(args, '$.\"Input Dims\"')::VARCHAR, ''), "
    "' ', ''), '],[', ';'), '[', ''), ']', '')"
)
STACK = "regexp_replace(json_extract_string(args, '$.\"Call stack\"'), ';\\s*', chr(10), 'g')"


def _arg(key: str, kind: str = "BIGINT") -> str:
    text = f"json_extract_string(s.args, '$.\"{key}\"')"
    return text if kind == "VARCHAR" else f"TRY_CAST({text} AS {kind})"


def make_launches(con: duckdb.DuckDBPyConnection) -> None:
    """Table ``launches``: what ran on a device, and the call that launched it.

    By its External id (that of the innermost operator), else by the arrow from the runtime's call.
    """
    con.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE launches AS
        WITH ran AS (
            SELECT s.track, s.start_ns, coalesce(s.dur_ns, 0) AS dur_ns, {_arg("External id")} AS ext
            FROM slices s WHERE {_DEVICE}
        ), calls AS (
            SELECT {_arg("External id")} AS ext, any_value(s.event) AS event,
                any_value(s.track) AS track, any_value(s.start_ns) AS start_ns
            FROM slices s WHERE lower(s.cat) = 'cpu_op' GROUP BY 1 HAVING count(*) = 1 AND ext > 0
        ), arrows AS (
            SELECT to_track, to_ns, any_value(from_track) AS from_track, any_value(from_ns) AS from_ns
            FROM flows WHERE {LAUNCHES} GROUP BY 1, 2
        )
        SELECT coalesce(c.track, a.from_track) AS from_track,
            coalesce(c.start_ns, a.from_ns) AS from_ns, c.event AS from_event,
            r.start_ns AS to_ns, r.dur_ns AS to_dur_ns,
            r.start_ns + CAST(r.dur_ns AS BIGINT) AS to_end_ns, false AS aicore
        FROM ran r LEFT JOIN calls c USING (ext)
        LEFT JOIN arrows a ON a.to_track = r.track AND a.to_ns = r.start_ns
        WHERE coalesce(c.track, a.from_track) IS NOT NULL
        """
    )


def kernels(*, steps: bool) -> str:
    """Query for table ``kernels``; copies and fills are in the timeline and in operators' times."""
    values = {
        "name": "name", "core": "core", "step": "step", "device": "device", "start_ns": "start_ns",
        "dur_ns": "dur_ns", "wait_ns": "wait_ns", "stream": "stream", "task": "task",
        "context": "context", "blocks": "blocks",
    }  # fmt: skip
    blocks = " * ".join(f"TRY_CAST(json_extract_string(s.args, '$.grid[{i}]') AS BIGINT)"
                        for i in range(3))  # fmt: skip
    rows = (
        "SELECT s.name, s.start_ns, s.dur_ns, s.event, "
        f"CASE WHEN {_COLLECTIVE} THEN 'COMMUNICATION' END AS core, "
        f"coalesce({_arg('device')}, t.device) AS device, {_arg('stream')} AS stream, "
        f"{_arg('correlation')} AS task, {_arg('context')} AS context, {blocks} AS blocks "
        f"FROM slices s JOIN tracks t USING (track) WHERE s.phase = 'X' AND {_KERNEL}"
    )
    return finished(rows, values, (), steps=steps)


def memory_points() -> str:
    """Query for table ``memory_points``: the totals at every [memory] instant, in order of time."""
    kind, device = _arg("Device Type"), _arg("Device Id")
    names = " ".join(f"WHEN {n} THEN '{name}'" for n, name in _COMPONENTS.items())
    return (
        f"SELECT CASE {kind} {names} ELSE 'device type ' || {kind} END AS component, "
        f"s.start_ns AS time_ns, {_arg('Total Allocated', 'DOUBLE')} AS allocated_bytes, "
        f"{_arg('Total Reserved', 'DOUBLE')} AS reserved_bytes, "
        "CAST(NULL AS DOUBLE) AS active_bytes, CAST(NULL AS VARCHAR) AS stream_ptr, "
        f"CASE WHEN {device} >= 0 THEN {device} END AS device "
        "FROM slices s WHERE s.phase = 'i' AND s.name = '[memory]' ORDER BY component, time_ns, event"
    )


def comm_ops(*, steps: bool) -> str:
    """Query for table ``comm_ops``: collectives on devices, and those of the CPU's backends.

    What they waited and moved is not recorded: unknown, but for the size of their messages.
    """
    width = " ".join(f"WHEN '{name}' THEN {size}" for name, size in _WIDTHS.items())
    size = f"{_arg('In msg nelems', 'DOUBLE')} * CASE {_arg('dtype', 'VARCHAR')} {width} END"
    host = f"regexp_extract(s.name, '{_HOST_COLLECTIVE}', 2)"
    word = (
        f"coalesce({_arg('Collective name', 'VARCHAR')}, nullif({host}, ''), "
        "regexp_extract(s.name, '(?i)(all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|"
        "reduce|send_?recv|send|recv)', 1))"
    )
    kind = f"regexp_replace(lower({word}), '[^a-z]|^_', '', 'g')"
    rows = (
        f"SELECT s.name, nullif({kind}, '') AS type, s.start_ns, s.dur_ns AS elapse_ns, s.event, "
        f"{_arg('Process Group Name', 'VARCHAR')} AS comm_group, {size} AS size_bytes "
        f"FROM slices s WHERE s.phase = 'X' AND (({_KERNEL} AND {_COLLECTIVE}) OR "
        f"(lower(s.cat) = 'user_annotation' AND regexp_matches(s.name, '{_HOST_COLLECTIVE}')))"
    )
    values = {
        "name": "name", "type": "type", "comm_group": "comm_group", "step": "step",
        "start_ns": "start_ns", "elapse_ns": "elapse_ns", "size_bytes": "size_bytes",
        "kind": "CASE WHEN type IN ('send', 'recv', 'sendrecv') THEN 'p2p' ELSE 'collective' END",
    }  # fmt: skip
    marked = in_step(rows, closed=True) if steps else (
        f"SELECT *, CAST(NULL AS BIGINT) AS step FROM ({rows})")  # fmt: skip
    items = ", ".join(
        f"CAST({values.get(f.key, 'NULL')} AS {f.dtype}) AS {ident(f.key)}" for f in COMM_OPS.fields
    )
    return f"SELECT {items} FROM ({marked}) ORDER BY start_ns, event"
