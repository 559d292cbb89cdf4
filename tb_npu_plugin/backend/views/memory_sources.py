"""What the parts of the memory view share: its tables, its origin of time, its parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tb_npu_plugin.backend.downsample import CURVE_POINTS
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected

TABLES = ("memory_blocks", "memory_points", "memory_curve", "module_memory", "static_memory")
#: Parameters of this view alone (see :class:`Options`).
OPTIONS = ("at", "component", "points", "start", "end", "only")
DEFAULT_POINTS = 1000
#: Captures whose curves and alive lists are sent; tables hold them all.
MAX_CAPTURES = 16
#: The order in which components are told; others follow by name.
COMPONENTS = ("PTA+GE", "PTA", "GE", "APP", "WORKSPACE")
_INSTANT = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+))\s*(ns|us|[µμ]s|ms|s)?$")
_UNITS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}


@dataclass(frozen=True)
class Options:
    """``at``: the moment "alive" is about (absolute ns; None: each device's own peak).

    ``component``: the one it is about. ``points``: most points of a curve. ``start`` and ``end``:
    the span of the curves. ``only_table``: the table page alone is wanted.
    """

    at: int | None
    component: str
    points: int
    start: int | None
    end: int | None
    only_table: bool


def options(sel: Selected) -> Options:
    """The view's parameters. Instants are given relative to :func:`base_ns`, in ns or with a unit.

    Raises RequestError 400.
    """
    given = sel.options
    try:
        points = int(given.get("points", DEFAULT_POINTS))
    except ValueError:
        points = -1
    if not 4 <= points <= CURVE_POINTS:
        raise RequestError(400, "bad-option", f"points is 4 to {CURVE_POINTS}.")
    if given.get("only", "table") != "table":
        raise RequestError(400, "bad-option", "only can be: table.")
    start, end = _instant(sel, "start"), _instant(sel, "end")
    if start is not None and end is not None and end < start:
        start, end = end, start
    return Options(
        _instant(sel, "at"), given.get("component", "PTA"), points, start, end, "only" in given
    )


def _instant(sel: Selected, name: str) -> int | None:
    text = sel.options.get(name)
    if text is None:
        return None
    match = _INSTANT.match(text.strip())
    if not match or len(text) > 40:
        raise RequestError(400, "bad-option", f"{name} cannot be {text[:40]!r}.",
                           f"Use nanoseconds after base_ns, or {name}=12.5ms.", 0)  # fmt: skip
    value, unit = match.group(1), match.group(2) or "ns"
    # Whole nanoseconds stay exact; a double would lose them after a hundred days.
    exact = int(value) if unit == "ns" and value.lstrip("+-").isdigit() else None
    offset = exact if exact is not None else round(float(value) * _UNITS[unit])
    return max(-(2**62), min(2**62, (base_ns(sel) or 0) + offset))


def base_ns(sel: Selected) -> int | None:
    """Origin of the view's times: the earliest memory event of the recording, whatever of it is
    selected, so that ``at`` means the same moment under every selection."""
    columns = (
        ("memory_curve", "min(time_ns)"),
        ("memory_blocks", "least(min(alloc_ns), min(release_ns))"),
        ("module_memory", "min(time_ns)"),
    )
    sources = [(sel.whole().source(table, told=False), column) for table, column in columns]
    each = [f"SELECT {column} AS t FROM {source}" for source, column in sources if source]
    row = sel.row(f"SELECT min(t) FROM ({' UNION ALL '.join(each)})") if each else None
    return int(row[0]) if row and row[0] is not None else None


def source(sel: Selected, table: str) -> str | None:
    """Table expression of a memory table: the device selection applies, the steps do not."""
    return sel.source(table, steps=False, devices=True)


def parts_with(sel: Selected, table: str) -> list[int]:
    """Ordinals of the selected captures that have ``table``."""
    files = sel.files(table)
    return [i for i, c in enumerate(sel.captures) if c.capture_id in files]


def in_parts(parts: list[int]) -> str:
    """Predicate: the row is of one of ``parts``."""
    return f"part IN ({', '.join(str(int(p)) for p in parts)})" if parts else "FALSE"


def totals_source(sel: Selected) -> str | None:
    """``part, device, component, time_ns, allocated_bytes, reserved_bytes, row`` over time.

    From the records; for captures without them from the totals noted beside each block.
    """
    points, blocks = source(sel, "memory_points"), source(sel, "memory_blocks")
    names = "part, device, component"
    each = []
    if points:
        each.append(
            f'SELECT {names}, time_ns, allocated_bytes, reserved_bytes, "row" FROM {points}'
        )
    rest = sorted(set(parts_with(sel, "memory_blocks")) - set(parts_with(sel, "memory_points")))
    if blocks and rest:
        each += [
            f"SELECT {names}, {event}_ns AS time_ns, {event}_allocated_bytes AS allocated_bytes, "
            f'{event}_reserved_bytes AS reserved_bytes, "row" FROM {blocks} '
            f"WHERE {event}_ns IS NOT NULL AND {in_parts(rest)}"
            for event in ("alloc", "release")
        ]
    return f"({' UNION ALL '.join(each)})" if each else None


def component_order(name: str) -> tuple[int, str]:
    """Sort key of components: the sums first, then the allocators, then the rest by name."""
    return (COMPONENTS.index(name) if name in COMPONENTS else len(COMPONENTS), name)


def offset(instant: object, base: int | None) -> int | None:
    """An instant as the wire carries it: ns after the base."""
    return int(instant) - (base or 0) if isinstance(instant, int) else None
