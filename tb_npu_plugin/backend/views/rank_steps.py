"""One measure of every rank, step by step."""

from __future__ import annotations

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.results import RankChoice
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.rank_measures import Measure, Measures

#: More steps than these are no picture; the first are shown.
MAX_STEPS = 64
#: Measure -> the table that tells it per step, and its sum there.
_SOURCES = {
    "stage_ns": ("steps", "sum(stage_ns)"),
    "computing_ns": ("steps", "sum(computing_ns)"),
    "communication_not_overlapped_ns": ("steps", "sum(communication_not_overlapped_ns)"),
    "free_ns": ("steps", "sum(free_ns)"),
    "preparing_ns": ("steps", "sum(preparing_ns)"),
    "bubble_ns": ("steps", "sum(bubble_ns)"),
    "wait_ns": ("comm_ops", "sum(wait_ns)"),
    "synchronization_ns": ("comm_ops", "sum(synchronization_ns)"),
    "transit_ns": ("comm_ops", "sum(transit_ns)"),
    "kernels": ("kernel_summary", "sum(count)"),
}


def choices(sel: Selected, found: Measures) -> list[RankChoice]:
    """The measures that are known per step, if the selection has several."""
    source = sel.source("steps")
    row = sel.row(f"SELECT count(DISTINCT step) FROM {source}") if source else None
    if not row or row[0] < 2:
        return []
    return [RankChoice(key, found.all[key].label) for key in _SOURCES if key in found.all]


def by_step(sel: Selected, found: Measures, key: str) -> list[Measure]:
    """The measure as one column per step, in their order; ``key`` of each is the step's number.

    Raises RequestError 400 for a measure that is not known per step.
    """
    known = [key for key in _SOURCES if key in found.all]
    if key not in known:
        raise RequestError(400, "bad-measure", f"{key!r} is not known step by step.",
                           f"Measures: {', '.join(known) or 'none'}")  # fmt: skip
    table, total = _SOURCES[key]
    source = sel.source(table, devices=table == "steps")
    if source is None:
        return []
    values: dict[int, dict[int, float]] = {}
    for part, step, value in sel.rows(
        f"SELECT part, step, {total} FROM {source} WHERE step IS NOT NULL GROUP BY part, step"
    ):
        if value is not None:
            values.setdefault(step, {})[part] = float(value)
    measure = found.all[key]
    return [
        Measure(
            str(step), measure.kind, str(step), measure.about,
            [values[step].get(part) for part in range(found.count)], measure.concept,
            view=measure.view,
        )
        for step in sorted(values)[:MAX_STEPS]
    ]  # fmt: skip
