"""Steps out of a trace's tables: their ranges on host and device, and where their time went.

Definitions: those of step_trace_time.csv (docs/views.md).
"""

from __future__ import annotations

import duckdb

from tb_npu_plugin.backend.readers.base import scalar
from tb_npu_plugin.backend.readers.columns import Columns
from tb_npu_plugin.backend.schema import STEPS

#: Markers of steps, in the categories of either profiler; the device's twin is no second step.
MARKERS = (
    "regexp_matches(s.name, '^ProfilerStep#\\d{1,18}$') "
    "AND coalesce(lower(s.cat), '') <> 'gpu_user_annotation'"
)
#: Flows from the call that launched something to what ran.
LAUNCHES = "cat IN ('async_npu', 'ac2g')"
#: Tracks with whole communication operations, as opposed to their tasks on planes.
OPERATIONS = "t.kind = 'communication' AND NOT regexp_matches(coalesce(t.thread, ''), '^Plane\\b')"


def make_step_ranges(con: duckdb.DuckDBPyConnection) -> None:
    """Table ``step_ranges``: step, its host range, its device range [low_ns, high_ns).

    Of views ``slices``, ``tracks``, ``launches`` (from_ns, to_ns, to_end_ns). The device range
    goes from the first kernel of the first launching call to the last kernel of the last one, at
    least to the host's end; where two overlap, the earlier step has what both cover. Steps that
    launched nothing have no device range; where nothing was launched at all, it is that of the host.
    """
    con.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE host_steps AS
        SELECT CAST(substr(s.name, 14) AS BIGINT) AS step, min(s.start_ns) AS host_ns,
            max(s.start_ns + CAST(coalesce(s.dur_ns, 0) AS BIGINT)) AS host_end_ns
        FROM slices s WHERE {MARKERS} GROUP BY 1
        """
    )
    con.execute(
        """
        CREATE OR REPLACE TEMP TABLE step_ranges AS
        WITH inside AS (
            SELECT h.*, l.* FROM launches l
            ASOF JOIN host_steps h ON l.from_ns >= h.host_ns WHERE l.from_ns <= h.host_end_ns
        ), ends AS (
            SELECT step, min(from_ns) AS first_ns, max(from_ns) AS last_ns FROM inside GROUP BY step
        ), ranges AS (
            SELECT step, any_value(host_ns) AS host_ns, any_value(host_end_ns) AS host_end_ns,
                min(to_ns) FILTER (from_ns = first_ns) AS low_ns,
                greatest(max(to_end_ns) FILTER (from_ns = last_ns), any_value(host_end_ns)) AS high_ns
            FROM inside JOIN ends USING (step) GROUP BY step
        )
        SELECT step, host_ns, host_end_ns, high_ns, greatest(low_ns, coalesce(max(high_ns) OVER (
            ORDER BY low_ns, step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), low_ns)) AS low_ns
        FROM ranges
        """
    )
    con.execute(
        "INSERT INTO step_ranges SELECT step, host_ns, host_end_ns, host_end_ns, host_ns "
        "FROM host_steps WHERE NOT EXISTS (FROM launches)"
    )


def in_step(rows: str, start: str = "start_ns", *, closed: bool = False) -> str:
    """Query that adds ``step`` to the rows of a query by their start; NULL outside any step."""
    last = "<=" if closed else "<"
    return (
        f"SELECT r.*, CASE WHEN r.{start} {last} g.high_ns THEN g.step END AS step "
        f"FROM ({rows}) r ASOF LEFT JOIN step_ranges g ON r.{start} >= g.low_ns"
    )


def steps(con: duckdb.DuckDBPyConnection) -> str:
    """Query for table ``steps``: per step and device, sums over the overlap analysis.

    Without markers one row of an unknown step; steps without device work are left out, as
    step_trace_time.csv does.
    """
    marked = bool(scalar(con, "SELECT count(*) FROM host_steps"))
    parts = (
        "SELECT t.device, t.thread AS part, s.start_ns, s.dur_ns FROM slices s "
        "JOIN tracks t USING (track) WHERE t.kind = 'overlap'"
    )
    receives = (
        "SELECT t.device, s.start_ns, s.dur_ns FROM slices s JOIN tracks t USING (track) "
        f"WHERE {OPERATIONS} AND lower(s.name) LIKE 'hcom_receive%'"
    )
    if marked:
        parts, receives = in_step(parts), in_step(receives)
    else:
        parts = f"SELECT *, CAST(NULL AS BIGINT) AS step FROM ({parts})"
        receives = f"SELECT *, CAST(NULL AS BIGINT) AS step FROM ({receives})"
    first_op = scalar(
        con,
        "SELECT min(s.start_ns) FROM slices s JOIN tracks t USING (track) WHERE kind = 'python'",
    )
    rows = con.execute(
        f"""
        WITH parts AS ({parts}), receives AS ({receives}), bubbles AS (
            SELECT step, device, sum(dur_ns) AS bubble_ns FROM receives GROUP BY ALL
        ), sums AS (
            SELECT step, device,
                coalesce(sum(dur_ns) FILTER (part = 'Computing'), 0) AS computing,
                coalesce(sum(dur_ns) FILTER (part = 'Communication(Not Overlapped)'), 0) AS exposed,
                coalesce(sum(dur_ns) FILTER (part = 'Communication'), 0) AS communication,
                coalesce(sum(dur_ns) FILTER (part = 'Free'), 0) AS free,
                min(start_ns) AS low, max(start_ns - (SELECT min(start_ns) FROM parts) + dur_ns)
                    - (min(start_ns) - (SELECT min(start_ns) FROM parts)) AS extent,
                min(start_ns) FILTER (part IN ('Computing', 'Communication')) AS device_ns
            FROM parts GROUP BY step, device
        )
        SELECT sums.*, coalesce(bubble_ns, 0), (SELECT host_ns FROM step_ranges g
            WHERE g.step = sums.step)
        FROM sums LEFT JOIN bubbles ON bubbles.step IS NOT DISTINCT FROM sums.step
            AND bubbles.device IS NOT DISTINCT FROM sums.device
        ORDER BY sums.step, sums.device
        """
    ).fetchall()
    columns = Columns(con, STEPS)
    for (
        step,
        device,
        computing,
        exposed,
        communication,
        free,
        _low,
        extent,
        start,
        bubble,
        host,
    ) in rows:
        if marked and step is None:
            continue
        begin = host if marked else first_op
        preparing = None if begin is None or start is None else max(0.0, float(start - begin))
        columns.add(
            (step, device, _ns(computing), _ns(exposed), _ns(communication - exposed),
             _ns(communication), _ns(free), _ns(extent - bubble), _ns(bubble),
             _ns(max(0.0, exposed - bubble)), preparing)
        )  # fmt: skip
    return columns.sql()


def _ns(value: float) -> float:
    """Sums of doubles without their noise."""
    return round(value, 6)
