"""The picture of the ranks view: rows of ranks, or of groups of them, by measures."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views import rank_groups
from tb_npu_plugin.backend.views.rank_groups import RankGroup
from tb_npu_plugin.backend.views.rank_measures import Measure, Measures
from tb_npu_plugin.backend.views.rank_scores import LEAST_RANKS, middle, quartiles, scores
from tb_npu_plugin.backend.views.rank_steps import by_step, choices

#: More rows than this are no picture; the table holds them all.
MAX_ROWS = 2048


@dataclass(frozen=True)
class _Row:
    name: results.RankName
    at: int


def rank_grid(sel: Selected, found: Measures, request: TableRequest) -> results.RankGrid:
    """Every rank, or with a grouping every group, in the order of the table's sort."""
    group = request.group if request.group in rank_groups.GROUPS else ""
    groups = rank_groups.rank_groups(sel, group) if group else []
    # Too few groups to tell the odd one: their ranks instead, group by group.
    few = 0 < len(groups) < LEAST_RANKS
    if groups and not few:
        rows = [
            _Row(results.RankName(g.label, None, "", g.ranks.replace(" ", "")), at)
            for at, g in enumerate(groups)
        ]
    else:
        rows = [
            _Row(results.RankName(sel.rank_label(c), c.rank, c.capture_id, _link(c.rank)), part)
            for part, c in enumerate(sel.captures)
        ]
        if few:
            rows = [rows[part] for g in groups for part in g.parts]
    grouped = [] if few else groups
    values = {m.key: _values(m, grouped) for m in found.all.values()}
    ordered = _ordered(rows, values, request.sort if request.group == group else "")
    shown = [row.at for row in ordered[:MAX_ROWS]]
    measure = sel.options.get("measure", "")
    columns = (
        by_step(sel, found, measure) if measure else [m for m in found.all.values() if m.shown]
    )
    peers = None if grouped else found.peers
    return results.RankGrid(
        ranks=[row.name for row in ordered[:MAX_ROWS]],
        measures=[_measure(m, _values(m, grouped), peers, shown) for m in columns],
        total_ranks=len(rows),
        group="" if few else group,
        measure=measure,
        choices=choices(sel, found),
    )


def _values(m: Measure, groups: Sequence[RankGroup]) -> list[float | None]:
    """Of each group the mean of its ranks, or of each rank."""
    return rank_groups.means(m.values, groups) if groups else list(m.values)


def _link(rank: int | None) -> str:
    return "unknown" if rank is None else str(rank)


def _ordered(rows: list[_Row], values: dict[str, list[float | None]], sort: str) -> list[_Row]:
    """``rows`` as the table sorts them, the unknown last."""
    ordered = list(rows)
    for word in reversed(sort.split(",")):
        key, _, direction = word.strip().partition(":")
        if key in ("rank", "place") and direction == "desc":
            ordered.reverse()
        if key not in values:
            continue
        column, sign = values[key], -1.0 if direction == "desc" else 1.0
        ordered.sort(key=lambda row: _sort_key(column[row.at], sign))
    return ordered


def _sort_key(value: float | None, sign: float) -> tuple[bool, float]:
    return (value is None, sign * value if value is not None else 0.0)


def _measure(
    m: Measure, values: list[float | None], peers: Sequence[Hashable] | None, shown: list[int]
) -> results.RankMeasure:
    scored = scores(values, peers)
    known = [v for v in values if v is not None]
    return results.RankMeasure(
        key=m.key, label=m.label, kind=m.kind, description=m.about, concept=m.concept, view=m.view,
        median=middle(values), least=min(known, default=None), most=max(known, default=None),
        quartiles=quartiles(values),
        values=[values[at] for at in shown],
        scores=[None if (s := scored[at]) is None else round(s, 2) for at in shown],
    )  # fmt: skip
