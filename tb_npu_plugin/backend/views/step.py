"""Where each step's time went: computing, communication, overlap, free, preparing, bubble."""

from __future__ import annotations

from dataclasses import replace

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.schema import STEPS
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, TableRequest, col, empty_table, page

TABLES = ("steps",)
GROUPS = ("", "rank", "step")
_PARTS = (
    "stage_ns", "computing_ns", "communication_not_overlapped_ns", "overlapped_ns",
    "communication_ns", "free_ns", "bubble_ns", "preparing_ns",
)  # fmt: skip
_SHARES = ("computing_ns", "communication_not_overlapped_ns", "overlapped_ns", "free_ns")


def step(sel: Selected, request: TableRequest) -> results.Step:
    """Rows per step, rank and device (or their means by ``group``), and a bar for each row."""
    query = step_query(sel, request.group)
    if query is None:
        return results.Step(bars=[], table=empty_table(GROUPS))
    table = page(sel.store, query, request)
    return results.Step(bars=bars(sel, query, request), table=table)


def step_query(sel: Selected, group: str) -> Query | None:
    """The step table of the selection; None while no step times have been read."""
    if group not in GROUPS:
        raise RequestError(400, "bad-group", f"Steps cannot be grouped by {group!r}.",
                           f"Groups: {', '.join(g for g in GROUPS if g)}")  # fmt: skip
    source = sel.source("steps")
    if source is None:
        return None
    keys = {"": [], "rank": ["rank", "device", "capture"], "step": ["step"]}[group]
    grouped = bool(keys)
    columns: list[Col] = []
    if group in ("", "step"):
        columns.append(Col("step", "step", "Step", "step"))
    if group in ("", "rank"):
        unknown = any(c.rank is None for c in sel.captures)
        columns.append(Col("rank", "rank", "Rank", "rank", shown=not unknown))
        columns.append(
            Col("capture", "text", sel.word("Capture", "采集"), "capture", shown=unknown)
        )
        columns.append(Col("device", "device", sel.word("Device", "设备"), "device"))
    if grouped:
        label = sel.word("Steps", "Step 数") if group == "rank" else sel.word("Ranks", "卡数")
        columns.append(Col("count", "int", label, "count(*)", aggregate=True))
    for key in _PARTS:
        f = STEPS.get(key)
        assert f is not None
        sql = f"avg({ident(key)})" if grouped else ident(key)
        base = col(f, sel.lang, sql)
        columns.append(replace(base, aggregate=grouped))
        if key in _SHARES:
            share = (
                "sum({0}) / nullif(sum(stage_ns), 0)" if grouped else "{0} / nullif(stage_ns, 0)"
            )
            columns.append(
                Col(key.replace("_ns", "_ratio"), "ratio", f"{base.label} %", share.format(key),
                    sel.word("Share of the stage", "占 Stage 的比例"),
                    shown=key != "overlapped_ns", concept=f.concept, aggregate=grouped)
            )  # fmt: skip
    extra = STEPS.get("communication_exclude_receive_ns")
    if extra and not grouped:
        columns.append(col(extra, sel.lang))
    default = {"": "step,rank,device", "rank": "stage_ns:desc", "step": "step"}[group]
    key = {"": "capture", "rank": "capture", "step": "step"}[group]
    return Query(source, columns, key, default, keys, group, list(GROUPS))


def bars(sel: Selected, query: Query, request: TableRequest) -> list[results.StepBar]:
    """A bar per row of the page, in its order."""
    wanted = ("step", "rank", "device", "capture", "count", *_PARTS)
    keys = tuple(k for k in wanted if query.column(k))
    values = page(sel.store, query, replace(request, columns=keys)).values
    rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    several = query.group != "step" and _several_devices(sel)
    return [_bar(sel, query.group, several, row) for row in rows]


def _bar(
    sel: Selected, group: str, several_devices: bool, row: dict[str, object]
) -> results.StepBar:
    def number(key: str) -> float | None:
        value = row.get(key)
        return float(value) if isinstance(value, int | float) else None

    def whole(key: str) -> int | None:
        value = row.get(key)
        return value if isinstance(value, int) else None

    computing, overlapped = number("computing_ns"), number("overlapped_ns")
    # Bubble is the receive part of the communication that nothing hides: drawn once, as bubble.
    exposed, bubble = number("communication_not_overlapped_ns"), number("bubble_ns")
    if exposed is not None and bubble:
        exposed = max(0.0, exposed - bubble)
    only = None if computing is None else max(0.0, computing - (overlapped or 0.0))
    labels: list[str] = []
    if group in ("", "step"):
        number_of = row.get("step")
        labels.append(f"Step {number_of}" if number_of is not None
                      else sel.word("whole capture", "整段采集"))  # fmt: skip
    if group in ("", "rank"):
        labels.append(str(row.get("capture")))
        if row.get("device") is not None and several_devices:
            labels.append(f"NPU {row['device']}")
    return results.StepBar(
        label=" · ".join(labels),
        rank=whole("rank"),
        device=whole("device"),
        steps=whole("count") or 1,
        preparing_ns=number("preparing_ns"),
        computing_only_ns=only,
        overlapped_ns=overlapped,
        communication_not_overlapped_ns=exposed,
        free_ns=number("free_ns"),
        bubble_ns=bubble,
        stage_ns=number("stage_ns"),
    )


def _several_devices(sel: Selected) -> bool:
    source = sel.source("steps")
    if source is None:
        return False
    row = sel.row(
        f"SELECT max(n) FROM (SELECT count(DISTINCT device) AS n FROM {source} GROUP BY capture)"
    )
    return bool(row and row[0] and row[0] > 1)
