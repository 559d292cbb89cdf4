"""Curves of reserved, active and allocated memory, cut down to a bounded number of points."""

from __future__ import annotations

from typing import Any

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.downsample import CURVE_POINTS, changes_sql, curve_sql
from tb_npu_plugin.backend.schema import MEASURES
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.memory_sources import (
    Options,
    base_ns,
    component_order,
    in_parts,
    source,
)

#: All series of a reply together; a series keeps at least :data:`LEAST_POINTS`.
MAX_POINTS = 40_000
LEAST_POINTS = 60
_KEYS = ("part", "device", "component", "measure")


def series(
    sel: Selected, parts: list[int], wanted: Options
) -> tuple[list[results.MemorySeries], int]:
    """The curves of the captures ``parts``, and how many points each may have.

    A span (``start``, ``end``) is cut from all records, and begins with the value held then.
    """
    curves = _windowed(sel, parts, wanted) if _window(wanted) else _stored(sel, parts)
    if curves is None:
        return [], wanted.points
    keys = ", ".join(_KEYS)
    counts = sel.rows(
        f'SELECT {keys}, count(*), count(*) FILTER ("row" >= 0), max(source_rows) '
        f"FROM {curves} GROUP BY {keys}"
    )
    if not counts:
        return [], wanted.points
    points = max(LEAST_POINTS, MAX_POINTS // len(counts))
    points = min(wanted.points, points)
    rows = sel.rows(
        changes_sql(curves, _KEYS, "time_ns", "value_bytes", '"row"')
        if max(kept for *_, kept, _, _ in counts) <= points
        else curve_sql(curves, _KEYS, "time_ns", "value_bytes", '"row"', points)
    )
    base = base_ns(sel) or 0
    found: dict[tuple[Any, ...], results.MemorySeries] = {}
    for part, device, component, measure, kept, records, behind in counts:
        capture = sel.captures[part]
        exact = kept <= points and (behind is None or behind <= CURVE_POINTS)
        found[part, device, component, measure] = results.MemorySeries(
            capture.rank, sel.rank_label(capture), device, component or "", measure, [], [],
            records if behind is None else behind, exact,
        )  # fmt: skip
    for part, device, component, measure, instant, value, _ in rows:
        one = found[part, device, component, measure]
        one.times_ns.append(int(instant) - base)
        one.values.append(round(value))

    def order(key: tuple[Any, ...]) -> tuple[Any, ...]:
        part, device, component, measure = key
        number = -1 if device is None else device
        return (part, number, *component_order(component or ""), MEASURES.index(measure))

    return [found[key] for key in sorted(found, key=order)], points


def _window(wanted: Options) -> bool:
    return wanted.start is not None or wanted.end is not None


def _stored(sel: Selected, parts: list[int]) -> str | None:
    stored = source(sel, "memory_curve")
    return f"(SELECT * FROM {stored} WHERE {in_parts(parts)})" if stored else None


def _windowed(sel: Selected, parts: list[int], wanted: Options) -> str | None:
    points = source(sel, "memory_points")
    if points is None:
        return None
    low = -(2**62) if wanted.start is None else wanted.start
    high = 2**62 if wanted.end is None else wanted.end
    each = []
    for measure in MEASURES:
        value = f"{measure}_bytes"
        names = f"part, device, component, '{measure}' AS measure"
        known = f"{in_parts(parts)} AND {value} IS NOT NULL"
        each.append(
            f'SELECT {names}, time_ns, {value} AS value_bytes, "row" FROM {points} '
            f"WHERE {known} AND time_ns BETWEEN {low} AND {high}"
        )
        each.append(
            f'SELECT {names}, {low} AS time_ns, max(row(time_ns, "row", {value}))[3], '
            f"-1 FROM {points} WHERE {known} AND time_ns < {low} "
            "GROUP BY part, device, component"
        )
    return f"(SELECT *, CAST(NULL AS BIGINT) AS source_rows FROM ({' UNION ALL '.join(each)}))"
