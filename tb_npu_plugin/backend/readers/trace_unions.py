"""Steps where no analysis of overlap was recorded: unions of the kernels' own times."""

from __future__ import annotations

import duckdb
import numpy as np

from tb_npu_plugin.backend.readers.base import parquet, scalar
from tb_npu_plugin.backend.readers.columns import Columns
from tb_npu_plugin.backend.readers.trace_nesting import Floats
from tb_npu_plugin.backend.schema import STEPS, is_communication


def steps(con: duckdb.DuckDBPyConnection, kernels: str, *, marked: bool) -> str:
    """Query for table ``steps`` from a written ``kernels`` table, per step and device.

    ``marked``: the trace has step markers; without them the whole capture is one unnamed step.
    Receive operations are not told apart, so the bubble is unknown.
    """
    groups = con.execute(
        f"SELECT DISTINCT step, device FROM {parquet(kernels)} "
        f"WHERE {'step IS NOT NULL' if marked else 'TRUE'} ORDER BY ALL"
    ).fetchall()
    hosts = dict(con.execute("SELECT step, host_ns FROM host_steps").fetchall())
    first_op = scalar(con, "SELECT min(start_ns) FROM slices WHERE lower(cat) = 'cpu_op'")
    columns = Columns(con, STEPS)
    if not groups:  # nothing ran on a device: the steps are known, where their time went is not
        for step in sorted(hosts):
            columns.add((step, *[None] * (len(STEPS.fields) - 1)))
    for step, device in groups:
        rows = con.execute(
            "SELECT start_ns, greatest(coalesce(dur_ns, 0), 0) AS dur_ns, "
            f"coalesce({is_communication('core')}, false) AS communication "
            f"FROM {parquet(kernels)} WHERE step IS NOT DISTINCT FROM ? "
            "AND device IS NOT DISTINCT FROM ? ORDER BY start_ns",
            [step, device],
        ).fetchnumpy()
        first = int(rows["start_ns"][0])
        start = (np.asarray(rows["start_ns"]) - first).astype(np.float64)
        end = start + np.asarray(rows["dur_ns"], dtype=np.float64)
        moving = np.asarray(rows["communication"], dtype=bool)
        busy = covered(start, end)
        computing = covered(start[~moving], end[~moving])
        communication = covered(start[moving], end[moving])
        stage = float(end.max())
        begin = hosts.get(step) if marked else first_op
        columns.add(
            (step, device, computing, _ns(busy - computing), _ns(computing + communication - busy),
             communication, _ns(stage - busy), _ns(stage), None, None,
             None if begin is None else max(0.0, float(first - begin)))
        )  # fmt: skip
    return columns.sql()


def covered(start: Floats, end: Floats) -> float:
    """Length of the union of intervals that come sorted by start.

    >>> covered(np.array([0.0, 1.0, 5.0]), np.array([3.0, 2.0, 6.0]))
    4.0
    """
    if not len(start):
        return 0.0
    until = np.maximum.accumulate(end)
    gaps = np.maximum(start[1:] - until[:-1], 0.0)
    return _ns(float(until[-1] - start[0] - gaps.sum()))


def _ns(value: float) -> float:
    return round(value, 6)
