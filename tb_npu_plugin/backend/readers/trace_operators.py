"""Operators out of a trace's tables: host times by nesting on their thread, device times by flows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import duckdb
import numpy as np

from tb_npu_plugin.backend.readers.arrays import register, unregister
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.readers.trace_nesting import Floats, Ints, Nesting, ends_of
from tb_npu_plugin.backend.readers.trace_steps import MARKERS
from tb_npu_plugin.backend.schema import OPERATORS

_CALLS = f"lower(s.cat) = 'cpu_op' AND s.phase = 'X' AND NOT ({MARKERS})"


@dataclass
class Calls:
    """Operator calls by track and start: what encloses them, and their times."""

    track: Ints
    start: Ints
    end: Ints
    dur: Floats
    event: Ints
    parent: Ints
    depth: Ints


def make_operators(con: duckdb.DuckDBPyConnection) -> None:
    """Tables ``operator_times`` (by event) and ``nested_rows``, of views ``slices``, ``launches``."""
    found = con.execute(
        "SELECT s.track, s.start_ns, coalesce(s.dur_ns, 0) AS dur_ns, s.event, s.name "
        f"FROM slices s WHERE {_CALLS} ORDER BY s.track, s.start_ns, s.dur_ns DESC, s.event"
    ).fetchnumpy()
    calls = _nest(*(np.asarray(found[k]) for k in ("track", "start_ns", "dur_ns", "event")))
    count = len(calls.track)
    inside = calls.parent >= 0
    children = np.bincount(calls.parent[inside], calls.dur[inside], minlength=count)
    device, aicore = _launched(con, calls)
    times = {
        "event": calls.event, "start_ns": calls.start,
        "host_self_ns": np.round(calls.dur - children, 6), "host_total_ns": calls.dur,
        "device_self_ns": device, "device_total_ns": _upwards(device, calls),
        "aicore_self_ns": aicore, "aicore_total_ns": _upwards(aicore, calls),
    }  # fmt: skip
    order = np.lexsort((calls.event, -calls.dur, calls.start))
    nested = _in_same_name(list(found["name"]), calls)
    register(con, "found", {**times, "row": _ranks(order)})
    con.execute("CREATE OR REPLACE TEMP TABLE operator_times AS SELECT * FROM found")
    unregister(con, "found")
    register(con, "found", {"nested_row": np.sort(_ranks(order)[nested])})
    con.execute("CREATE OR REPLACE TEMP TABLE nested_rows AS SELECT * FROM found")
    unregister(con, "found")


def operators(shapes: str, stack: str) -> str:
    """Query for table ``operators``; ``shapes`` and ``stack`` are SQL over the arguments."""
    values = {
        "name": "name", "input_shapes": f"nullif(rtrim({shapes}, ';'), '')",
        "stack": f"nullif(trim({stack}), '')",
    }  # fmt: skip
    items = ", ".join(
        f"{values.get(f.key, ident(f.key))} AS {ident(f.key)}" for f in OPERATORS.fields
    )
    return f"SELECT {items} FROM operator_times o JOIN slices s USING (event) ORDER BY o.row"


NPU_SHAPES = "regexp_replace(json_extract_string(args, '$.\"Input Dims\"'), ';\\s*', ';', 'g')"
NPU_STACK = "regexp_replace(json_extract_string(args, '$.\"Call stack\"'), ';\\s*', chr(10), 'g')"


def _nest(track: Ints, start: Ints, dur: Floats, event: Ints) -> Calls:
    end = ends_of(start, dur)
    depth = np.zeros(len(track), dtype=np.int64)
    parent = np.full(len(track), -1, dtype=np.int64)
    bounds = [0, *(np.flatnonzero(np.diff(track)) + 1).tolist(), len(track)]
    for low, high in pairwise(bounds):
        depth[low:high] = Nesting().depths(start[low:high], end[low:high])
        above = np.flatnonzero(depth[low:high] == 0)
        for row in range(1, int(depth[low:high].max(initial=0)) + 1):
            here = np.flatnonzero(depth[low:high] == row)
            parent[low + here] = low + above[np.maximum(np.searchsorted(above, here) - 1, 0)]
            above = here
    return Calls(track, start, end, dur, event, parent, depth)


def _launched(con: duckdb.DuckDBPyConnection, calls: Calls) -> tuple[Floats, Floats]:
    """Device time, and that on AI cores, of what each call launched itself."""
    found = con.execute(
        "SELECT from_track, from_ns, coalesce(from_event, -1) AS from_event, to_dur_ns, aicore "
        "FROM launches"
    ).fetchnumpy()
    device, aicore = np.zeros(len(calls.track)), np.zeros(len(calls.track))
    if not len(calls.track) or not len(found["from_track"]):
        return device, aicore
    track, moment = np.asarray(found["from_track"]), np.asarray(found["from_ns"])
    at = np.full(len(track), -1, dtype=np.int64)
    for one in np.unique(track):
        low, high = np.searchsorted(calls.track, (one, one + 1))
        mine = np.flatnonzero(track == one)
        at[mine] = low + np.searchsorted(calls.start[low:high], moment[mine], side="right") - 1
        at[mine[at[mine] < low]] = -1
    while True:  # a call that had ended by then launched nothing: go up to one that had not
        over = (at >= 0) & (calls.end[np.maximum(at, 0)] <= moment)
        if not over.any():
            break
        at[over] = calls.parent[at[over]]
    told = np.asarray(found["from_event"])
    order = np.argsort(calls.event)
    place = np.minimum(np.searchsorted(calls.event, told, sorter=order), len(order) - 1)
    known = calls.event[order[place]] == told
    at[known] = order[place[known]]
    inside = at >= 0
    weights = np.asarray(found["to_dur_ns"], dtype=np.float64)
    core = np.asarray(found["aicore"], dtype=bool)
    device += np.bincount(at[inside], weights[inside], minlength=len(device))
    aicore += np.bincount(at[inside & core], weights[inside & core], minlength=len(device))
    return np.round(device, 6), np.round(aicore, 6)


def _upwards(own: Floats, calls: Calls) -> Floats:
    """Each call's figure with those of all calls inside it."""
    total = own.copy()
    for row in range(int(calls.depth.max(initial=0)), 0, -1):
        here = np.flatnonzero(calls.depth == row)
        np.add.at(total, calls.parent[here], total[here])
    rounded: Floats = np.round(total, 6)
    return rounded


def _in_same_name(names: list[str], calls: Calls) -> Ints:
    """Calls that run inside a call of the same name."""
    found = []
    open_names: list[str] = []
    for i, depth in enumerate(calls.depth.tolist()):
        del open_names[depth:]
        if names[i] in open_names:
            found.append(i)
        open_names.append(names[i])
    return np.array(found, dtype=np.int64)


def _ranks(order: Ints) -> Ints:
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks
