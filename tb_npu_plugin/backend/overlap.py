"""What each communication operation cost its step: the time in which it ran and nothing computed."""

from __future__ import annotations

from tb_npu_plugin.backend.schema import is_communication
from tb_npu_plugin.backend.schema.communication import type_sql


def overlap_summary(source: str, columns: set[str]) -> str:
    """A query of ``overlap_summary`` over ``kernels``: a row per communication operation.

    Computing is the union of all other rows of the device, as the exporter has it, so the sum over the
    operations of a step is its communication that is not overlapped (on real captures to 10 ns).
    """
    core = f"coalesce({is_communication('core')}, false)" if "core" in columns else "false"
    step = "step" if "step" in columns else "CAST(NULL AS BIGINT) AS step"
    device = "device" if "device" in columns else "CAST(NULL AS BIGINT) AS device"
    known = "dur_ns >= 0 AND start_ns IS NOT NULL"
    return f"""
WITH around AS (
    SELECT min(start_ns) AS first_ns, max(start_ns + CAST(ceil(dur_ns) AS BIGINT)) AS last_ns
    FROM {source} WHERE {known} AND {core}),
-- Seen from the first operation: a double cannot hold epoch times to the ns.
tasks AS (
    SELECT name, {step}, {device}, start_ns, dur_ns, {core} AS is_comm,
           CAST(start_ns - first_ns AS DOUBLE) AS s, CAST(start_ns - first_ns AS DOUBLE) + dur_ns AS e
    FROM {source}, around
    WHERE {known} AND start_ns <= last_ns AND start_ns + dur_ns >= first_ns),
-- Computing without what an earlier task already covers: pieces that do not touch.
pieces AS (
    SELECT device, greatest(s, coalesce(max(e) OVER before, s)) AS s, e
    FROM tasks WHERE NOT is_comm
    WINDOW before AS (PARTITION BY device ORDER BY s, e
                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
computing AS (
    SELECT coalesce(device, -1) AS device, s, e,
           sum(e - s) OVER (PARTITION BY device ORDER BY s) - (e - s) AS until
    FROM pieces WHERE e > s),
-- Where operations begin and end, how many are open from there on, how long nothing had computed.
ends AS (
    SELECT coalesce(device, -1) AS device, t, sum(opens) AS opens
    FROM (SELECT device, s AS t, 1 AS opens FROM tasks WHERE is_comm
          UNION ALL SELECT device, e, -1 FROM tasks WHERE is_comm)
    GROUP BY ALL),
marks AS (
    SELECT ends.device, ends.t, sum(opens) OVER (PARTITION BY ends.device ORDER BY ends.t) AS open,
           ends.t - coalesce(until + least(ends.t, e) - s, 0) AS idle
    FROM ends ASOF LEFT JOIN computing c ON c.device = ends.device AND ends.t >= c.s),
-- Each stretch is shared by the operations that are open in it.
shares AS (
    SELECT device, t, CASE WHEN open > 0 THEN (lead(idle, 1, idle) OVER later - idle) / open END AS ns
    FROM marks WINDOW later AS (PARTITION BY device ORDER BY t)),
cost AS (
    SELECT device, t, coalesce(sum(ns) OVER (PARTITION BY device ORDER BY t
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS ns
    FROM shares)
SELECT name, {type_sql("name")} AS type, step, tasks.device, start_ns, dur_ns AS elapse_ns,
       least(greatest(z.ns - a.ns, 0), dur_ns) AS not_overlapped_ns,
       row_number() OVER (PARTITION BY name ORDER BY start_ns, tasks.device) AS nth,
       count(*) OVER (PARTITION BY name) AS alike
FROM tasks
JOIN cost a ON a.device = coalesce(tasks.device, -1) AND a.t = tasks.s
JOIN cost z ON z.device = coalesce(tasks.device, -1) AND z.t = tasks.e
WHERE is_comm ORDER BY start_ns"""
