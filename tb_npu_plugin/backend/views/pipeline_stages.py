"""Whether one pipeline stage holds the others up: stages wait for each other in bubbles."""

from __future__ import annotations

from statistics import fmean, median

from tb_npu_plugin.backend import wording
from tb_npu_plugin.backend.results import Suspect
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views import rank_groups
from tb_npu_plugin.backend.views.rank_measures import Measures

#: A stage is uneven from this share beyond the mean of the others on.
UNEVEN = 0.1


def slow_stage(sel: Selected, m: Measures, floor: float) -> list[Suspect]:
    """The stage that computes longest, where it does so by 10 % and ``floor`` ns per step beyond
    the others' mean; empty for jobs without a pipeline.

    A stage is judged by the median of its ranks: one straggler is no uneven stage.
    """
    if not m.peers:
        return []
    computing = m.values("computing_ns")
    times: dict[int, float] = {}
    for stage in sorted({s for s in m.peers if s is not None}):
        mine = (v for v, s in zip(computing, m.peers, strict=True) if s == stage)
        known = [v for v in mine if v is not None]
        if known:
            times[stage] = float(median(known))
    if len(times) < 2:
        return []
    slowest = max(times, key=lambda stage: times[stage])
    mean = fmean(v for stage, v in times.items() if stage != slowest)
    excess = times[slowest] - mean
    if excess < floor or excess < UNEVEN * mean:
        return []
    return [_suspect(sel, m, slowest, excess, mean)]


def _suspect(sel: Selected, m: Measures, stage: int, excess: float, mean: float) -> Suspect:
    w, text = sel.word, wording.duration
    groups = {g.label: g for g in rank_groups.rank_groups(sel, "pp")}
    label = rank_groups.stage_label(sel, stage)
    evidence = []
    bubbles = rank_groups.means(m.values("bubble_ns"), list(groups.values()))
    others = [b for g, b in zip(groups.values(), bubbles, strict=True) if b and g.label != label]
    if others:
        evidence.append(w(f"The other stages wait {text(fmean(others))} a step in receives (bubble)",
                          f"其他阶段每 Step 在接收上等待 {text(fmean(others))}（气泡）"))  # fmt: skip
    if label in groups:
        evidence.append(w(f"Ranks of the stage: {groups[label].ranks}",
                          f"该阶段的卡：{groups[label].ranks}"))  # fmt: skip
    return Suspect(
        severity="warning",
        rank=None,
        label=label,
        headline=w(
            f"{label} of the pipeline computes {wording.percent(excess / mean)} longer than the "
            f"other stages (+{text(excess)} a step)",
            f"{label} 的计算时间比其他阶段长 {wording.percent(excess / mean)}（每 Step +{text(excess)}）",
        ),
        evidence=evidence,
        view="ranks",
        group="pp",
        filter="",
    )
