"""Kernels out of a trace's tables: compute tasks and communication operations, in order of start."""

from __future__ import annotations

from tb_npu_plugin.backend.readers.csv_file import ident, quote
from tb_npu_plugin.backend.readers.trace_steps import OPERATIONS, in_step
from tb_npu_plugin.backend.schema import KERNELS, NO_ID

#: Task types of compute kernels. The trace has a vocabulary of its own: AI_CORE stands for cube and
#: vector kernels alike, so it tells no core. What is not listed moves data or waits.
COMPUTE = r"^(AI_?CORE|AI_?VECTOR_?CORE|AI_?CPU|AIC|AIV|MIX|DSA|KERNEL|DVPP|FFTS)"


def npu_kernels(*, steps: bool) -> str:
    """Query for table ``kernels`` over views ``slices`` and ``tracks`` of an NPU's trace."""
    values = {
        "name": "name", "core": "core", "step": "step", "device": "device",
        "start_ns": "start_ns", "dur_ns": "dur_ns", "wait_ns": "wait_ns",
        "stream": _argument("Physic Stream Id", "Stream Id"),
        "task": _argument("Task Id"),
        "model": _argument("Model Id", "model id"),
        "context": _argument("Subtask Id"),
    }  # fmt: skip
    rows = (
        "SELECT s.name, s.start_ns, s.dur_ns, s.args, s.event, t.device, "
        "CASE WHEN t.kind = 'communication' THEN upper(t.process) END AS core, "
        "json_extract_string(s.args, '$.\"Task Type\"') AS task_type "
        "FROM slices s JOIN tracks t USING (track) "
        f"WHERE s.phase = 'X' AND (({OPERATIONS}) OR (t.kind = 'hardware' "
        f"AND regexp_matches(coalesce(task_type, ''), {quote(COMPUTE)}, 'i')))"
    )
    return finished(rows, values, ("task_type",), steps=steps)


def finished(rows: str, values: dict[str, str], extra: tuple[str, ...], *, steps: bool) -> str:
    """The canonical columns of ``rows`` (as SQL expressions), with waits and steps, by start.

    The wait is the gap to the end of the previous row of the device, over all streams, at least 0.
    """
    before = "OVER (PARTITION BY device ORDER BY start_ns, event)"
    waits = (
        "SELECT *, greatest(coalesce(start_ns - lag(start_ns) "
        f"{before} - coalesce(lag(dur_ns) {before}, 0), 0), 0) AS wait_ns FROM ({rows})"
    )
    marked = in_step(waits, closed=True) if steps else (
        f"SELECT *, CAST(NULL AS BIGINT) AS step FROM ({waits})")  # fmt: skip
    items = [
        f"CAST({values.get(f.key, 'NULL')} AS {f.dtype}) AS {ident(f.key)}" for f in KERNELS.fields
    ]
    items += [f"{ident(name)} AS {ident('x_' + name)}" for name in extra]
    return f"SELECT {', '.join(items)} FROM ({marked}) ORDER BY start_ns, event"


def _argument(*keys: str) -> str:
    """An id among the arguments; 4294967295 is none."""
    found = ", ".join(f"json_extract_string(args, '$.\"{key}\"')" for key in keys)
    value = f"TRY_CAST(coalesce({found}) AS BIGINT)" if len(keys) > 1 else (
        f"TRY_CAST({found} AS BIGINT)")  # fmt: skip
    return f"CASE WHEN {value} BETWEEN 0 AND {NO_ID - 1} THEN {value} END"
