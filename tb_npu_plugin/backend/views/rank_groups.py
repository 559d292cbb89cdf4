"""Ranks put together by host, device, or parallel group, for what is compared group by group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean

from tb_npu_plugin.backend import wording
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.parallel_groups import AXES, axes
from tb_npu_plugin.backend.views.rank_measures import Measures

#: Groupings whose rows are ranks put together.
GROUPS = ("host", "device", *AXES)


@dataclass(frozen=True)
class RankGroup:
    """``parts``: ordinals of its captures in the selection. ``ranks``: as ranges, for people."""

    label: str
    parts: tuple[int, ...]
    ranks: str


def groupings(sel: Selected) -> list[str]:
    """The groupings that put the captures of the selection into more than one group."""
    known = ("host", "device", *axes(sel))
    return [group for group in known if len(set(_keys(sel, group))) > 1]


def rank_groups(sel: Selected, group: str) -> list[RankGroup]:
    """The groups in their natural order; what belongs to none comes last, under a dash.

    Pipeline ranks are put together by stage, that is by their position: they do the same work.
    On every other axis those are together that communicate with each other.
    """
    keys = _keys(sel, group)
    members: dict[Hashable, list[int]] = {}
    for part, key in enumerate(keys):
        members.setdefault(key, []).append(part)
    ordered = sorted(members, key=lambda k: (k is None, str(k) if group == "host" else k))
    return [RankGroup(_label(sel, group, key), tuple(members[key]), _ranks(sel, members[key]))
            for key in ordered]  # fmt: skip


def means(values: Sequence[float | None], groups: Sequence[RankGroup]) -> list[float | None]:
    """The mean of a measure over the ranks of each group that have it."""
    out = []
    for group in groups:
        known = [v for part in group.parts if (v := values[part]) is not None]
        out.append(fmean(known) if known else None)
    return out


def longest(sel: Selected, found: Measures, group: RankGroup) -> str:
    """The rank of the group that computes longest, and by how much beyond the group's mean."""
    values = found.values("computing_ns")
    known = [(v, part) for part in group.parts if (v := values[part]) is not None]
    if len(known) < 2:
        return ""
    most, part = max(known)
    mean = fmean(v for v, _ in known)
    more = f" (+{wording.percent(most / mean - 1)})" if mean > 0 else ""
    return sel.rank_label(sel.captures[part]) + more


def _keys(sel: Selected, group: str) -> Sequence[str | int | None]:
    if group == "host":
        return [c.host or None for c in sel.captures]
    if group == "device":
        return _devices(sel)
    axis = axes(sel).get(group)
    if axis is None:
        return [None] * len(sel.captures)
    places, at = axis.places(), 1 if group == "pp" else 0
    return [places[c.rank][at] if c.rank in places else None for c in sel.captures]


def _devices(sel: Selected) -> list[int | None]:
    source = sel.source("steps", steps=False, devices=False)
    if source is None:
        return [None] * len(sel.captures)
    found = dict(
        sel.rows(
            f"SELECT part, min(device) FROM {source} GROUP BY part HAVING count(DISTINCT device) = 1"
        )
    )
    return [found.get(part) for part in range(len(sel.captures))]


def _label(sel: Selected, group: str, key: Hashable) -> str:
    if key is None:
        return "–"
    if group == "host":
        return str(key)
    if group == "pp":
        return stage_label(sel, key)
    if group == "device":
        return sel.word(f"Device {key}", f"设备 {key}")
    return f"{group.upper()} {key}"


def stage_label(sel: Selected, stage: Hashable) -> str:
    return sel.word(f"Stage {stage}", f"阶段 {stage}")


def _ranks(sel: Selected, parts: Sequence[int]) -> str:
    known = [r for part in parts if (r := sel.captures[part].rank) is not None]
    return wording.ranks(known)
