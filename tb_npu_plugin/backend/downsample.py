"""Curves cut down to a bounded number of points, in the database, without losing a peak."""

from __future__ import annotations

from collections.abc import Sequence

#: Points kept of a curve when its file is read: more than a page is wide, few enough to send.
CURVE_POINTS = 4000


def changes_sql(source: str, keys: Sequence[str], time: str, value: str, order: str) -> str:
    """SELECT of ``(*keys, time_ns, value, source_rows)``: each curve with every change it has.

    What :func:`curve_sql` gives for curves that are short enough, at a fraction of the cost.
    """
    cols = ", ".join(keys)
    return (
        f"SELECT {cols}, t AS time_ns, v AS value, n AS source_rows FROM ("
        f"SELECT {cols}, {time} AS t, {value} AS v, {order} AS o, lag({value}) OVER w AS before, "
        f"lead({value}) OVER w AS after, count(*) OVER (PARTITION BY {cols}) AS n FROM {source} src "
        f"WHERE {time} IS NOT NULL AND {value} IS NOT NULL "
        f"WINDOW w AS (PARTITION BY {cols} ORDER BY {time}, {order})) "
        f"WHERE before IS DISTINCT FROM v OR after IS DISTINCT FROM v ORDER BY {cols}, t, o"
    )


def curve_sql(
    source: str, keys: Sequence[str], time: str, value: str, order: str, points: int
) -> str:
    """SELECT of about ``points`` rows ``(*keys, time_ns, value, source_rows)`` for each curve.

    A curve is the rows of ``source`` that share ``keys``, a step function: a value holds until the
    next row. ``order`` settles rows of one instant. A curve of at most ``points`` rows keeps every
    change; of a longer one each of ``points / 4`` equal spans of time keeps its first, last, lowest
    and highest row (of equal ones the earliest), so the extremes keep value and moment. Rows that
    repeat the value before and after them are left out: the drawn line is the same.

    Rows come ordered by keys and time.
    """
    cols = ", ".join(keys)
    same = " AND ".join(f"p.{k} IS NOT DISTINCT FROM s.{k}" for k in keys)
    buckets = max(1, points // 4)
    return (
        f"WITH p AS (SELECT {cols}, {time} AS t, {value} AS v, {order} AS o FROM {source} src "
        f"WHERE {time} IS NOT NULL AND {value} IS NOT NULL), "
        f"s AS (SELECT {cols}, count(*) AS n, min(t) AS t0, max(t) AS t1 FROM p GROUP BY {cols}), "
        f"b AS (SELECT {', '.join(f'p.{k}' for k in keys)}, any_value(n) AS n, "
        # The widest possible span times the number of buckets passes int64: hence HUGEINT.
        f"CASE WHEN n <= {points} THEN o ELSE "
        f"CAST((t::HUGEINT - t0) * {buckets} // (t1::HUGEINT - t0 + 1) AS BIGINT) END AS bucket, "
        "min(row(t, o, v)) AS first, max(row(t, o, v)) AS last, "
        "min(row(v, t, o)) AS low, max(row(v, -t, -o)) AS high "
        f"FROM p JOIN s ON {same} GROUP BY ALL), "
        f"k AS (SELECT DISTINCT {cols}, n, t, o, v FROM ("
        f"SELECT {cols}, n, first[1] AS t, first[2] AS o, first[3] AS v FROM b UNION ALL "
        f"SELECT {cols}, n, last[1], last[2], last[3] FROM b UNION ALL "
        f"SELECT {cols}, n, low[2], low[3], low[1] FROM b UNION ALL "
        f"SELECT {cols}, n, -high[2], -high[3], high[1] FROM b)) "
        f"SELECT {cols}, t AS time_ns, v AS value, n AS source_rows FROM ("
        "SELECT *, lag(v) OVER w AS before, lead(v) OVER w AS after FROM k "
        f"WINDOW w AS (PARTITION BY {cols} ORDER BY t, o)) "
        "WHERE before IS DISTINCT FROM v OR after IS DISTINCT FROM v "
        f"ORDER BY {cols}, t, o"
    )
