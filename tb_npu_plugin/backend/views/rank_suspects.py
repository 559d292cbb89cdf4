"""Which ranks hold the others up, and what that rests on."""

from __future__ import annotations

from dataclasses import dataclass, field

from tb_npu_plugin.backend import wording
from tb_npu_plugin.backend.results import Severity, Suspect
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views import rank_causes as causes
from tb_npu_plugin.backend.views.collectives import collectives_source
from tb_npu_plugin.backend.views.pipeline_stages import slow_stage
from tb_npu_plugin.backend.views.rank_links import slow_links
from tb_npu_plugin.backend.views.rank_measures import Measures
from tb_npu_plugin.backend.views.rank_scores import LEAST_RANKS, middle, scores, usual

#: A rank stands out from this score on (see :func:`rank_scores.scores`) ...
OUTLIER = 4.0
#: ... if it costs at least this share of a step.
MATTERS = 0.03
#: Without step times, so long counts as much.
MATTERS_NS = 100_000.0
#: What a rank does longer than others explains its lateness from this share on.
TELLING = 0.25
#: Waiting for a rank that is not here is told from this share of a step on.
ABSENT_MATTERS = 0.01
MAX_SUSPECTS = 8


@dataclass
class _Case:
    """What is held against one rank."""

    part: int
    headline: str = ""
    evidence: list[str] = field(default_factory=list)
    view: str = "ranks"
    severity: Severity = "warning"


def suspects(sel: Selected, m: Measures) -> list[Suspect]:
    """Ranks and links to look at first, the most costly first; empty where nothing stands out.

    A rank that merely waits is never among them: what counts is computing, the host's idle time,
    and being the last in collectives without having been held up in others.
    """
    stage = middle(m.values("stage_ns"))
    floor = MATTERS * stage if stage else MATTERS_NS
    computing = _longer(m, "computing_ns", floor)
    hosts = _longer(m, "free_ns", floor) | _longer(m, "preparing_ns", floor)
    hosts = {part: hosts[part] for part in hosts if part not in computing}
    late = _late(sel, m, floor)
    costs = {
        part: max(computing.get(part, hosts.get(part, 0.0)), late.get(part, 0.0))
        for part in {*computing, *hosts, *late}
    }
    cases = {
        part: _Case(part) for part in sorted(costs, key=lambda p: (-costs[p], p))[:MAX_SUSPECTS]
    }
    _computing(sel, m, cases, computing)
    _host(sel, m, cases, hosts, floor)
    for part, case in cases.items():
        if part in late:
            _add_late(sel, case, late[part])
    found = [
        Suspect(
            severity=c.severity,
            rank=sel.captures[c.part].rank,
            label=sel.rank_label(sel.captures[c.part]),
            headline=c.headline,
            evidence=c.evidence,
            view=c.view,
            group="collective" if c.view == "ranks" else "",
            filter="",
        )
        for c in sorted(cases.values(), key=lambda c: c.severity == "info")
    ]
    found += slow_stage(sel, m, floor)
    return found + _absent(sel, floor * ABSENT_MATTERS / MATTERS) + slow_links(sel)


def _longer(m: Measures, key: str, floor: float) -> dict[int, float]:
    """Part -> ns above the median, of the ranks that stand out in ``key``."""
    values = m.values(key)
    judged = zip(values, scores(values, m.peers), usual(values, m.peers), strict=True)
    return {
        part: value - center
        for part, (value, score, center) in enumerate(judged)
        if value is not None and center is not None
        and score is not None and score >= OUTLIER and value - center >= floor
    }  # fmt: skip


def _late(sel: Selected, m: Measures, floor: float) -> dict[int, float]:
    """Part -> how long the others waited for it, ns per step, where it is late by its own doing.

    With few ranks there is no usual amount to compare with: then all that matters counts.
    """
    delays = m.values("delay_ns")
    few = sum(d is not None for d in delays) < LEAST_RANKS
    lateness = _lateness(sel)
    own = [_Own(m, key, few) for key in ("computing_ns", "free_ns", "preparing_ns")]
    return {
        part: delay
        for part, (delay, score) in enumerate(zip(delays, scores(delays, m.peers), strict=True))
        if delay is not None
        and delay >= floor
        and (few or (score is not None and score >= OUTLIER))
        and _own_doing(own, part, lateness.get(part, 0.0), few)
    }


class _Own:
    """What ranks do themselves by one measure: its values, their scores, the usual value."""

    def __init__(self, m: Measures, key: str, few: bool) -> None:
        self.values = m.values(key)
        self.scores = scores(self.values, m.peers)
        least = min((v for v in self.values if v is not None), default=None)
        self.usual = [least] * len(self.values) if few else usual(self.values, m.peers)


def _own_doing(measures: list[_Own], part: int, lateness: float, few: bool) -> bool:
    """Whether the rank stands out by computing or idling, by a telling share of its lateness.

    Else it came last by chance, or was made late in communication and passes that on. True where no
    step times tell.
    """
    known = False
    for m in measures:
        own, score = m.values[part], m.scores[part]
        other = m.usual[part]
        if own is None or other is None:
            continue
        known = True
        if (few or (score or 0.0) >= OUTLIER) and own - other >= TELLING * lateness:
            return True
    return not known


def _lateness(sel: Selected) -> dict[int, float]:
    """Part -> the longest that another rank waited for it in one collective."""
    collectives = collectives_source(sel)
    if collectives is None:
        return {}
    rows = sel.rows(
        "SELECT origin_part, max(most_ns - least_ns) FROM "
        f"{collectives} WHERE origin_part IS NOT NULL GROUP BY origin_part"
    )
    return {part: float(value) for part, value in rows}


def _computing(
    sel: Selected, m: Measures, cases: dict[int, _Case], found: dict[int, float]
) -> None:
    shown = {part: found[part] for part in cases if part in found}
    if not shown:
        return
    others = causes.references(m, list(found))
    near = {o for part in shown for o in others[part]}
    sums = causes.kernel_types(sel, sorted({*shown, *near}))
    centers = usual(m.values("computing_ns"), m.peers)
    w, text = sel.word, wording.duration
    for part, excess in shown.items():
        name, center = sel.rank_label(sel.captures[part]), centers[part]
        share = wording.percent(excess / center) if center else ""
        cases[part] = _Case(
            part,
            w(f"{name} computes {share} longer than the median rank (+{text(excess)} a step)",
              f"{name} 的计算时间比中位数卡长 {share}（每 Step +{text(excess)}）"),
            causes.computing_evidence(sel, m, part, sums, others[part], excess),
            "kernel",
        )  # fmt: skip


def _host(
    sel: Selected, m: Measures, cases: dict[int, _Case], found: dict[int, float], floor: float
) -> None:
    shown = {part: found[part] for part in cases if part in found}
    if not shown:
        return
    often = causes.idle_steps(sel, m, list(shown), floor)
    others = causes.references(m, list(found))
    near = {o for part in shown for o in others[part]}
    sums = causes.host_operators(sel, sorted({*shown, *near}))
    w, text = sel.word, wording.duration
    for part, excess in shown.items():
        name = sel.rank_label(sel.captures[part])
        cases[part] = _Case(
            part,
            w(f"{name} lets its device idle: +{text(excess)} a step beyond the median rank",
              f"{name} 的设备空闲更久：每 Step 比中位数卡多 {text(excess)}"),
            [
                *causes.host_evidence(sel, part, sums, others[part], excess),
                *causes.often_line(sel, *often[part]),
            ],
            "operator",
            # Of many hosts some are late in any one step; only its coming back tells.
            "warning" if often[part][1] > 1 and 2 * often[part][0] > often[part][1] else "info",
        )  # fmt: skip


def _add_late(sel: Selected, case: _Case, delay: float) -> None:
    w, text = sel.word, wording.duration
    name = sel.rank_label(sel.captures[case.part])
    worst = _worst(sel, case.part)
    if not case.headline and _one_step(sel) and len(sel.captures) >= LEAST_RANKS:
        case.severity = "info"
        case.evidence += causes.often_line(sel, 1, 1)
    if case.headline:
        case.evidence.append(w(f"The others wait {text(delay)} a step for it",
                               f"其他卡每 Step 等待它 {text(delay)}"))  # fmt: skip
    else:
        case.headline = w(f"{name} comes last: the others wait {text(delay)} a step for it",
                          f"{name} 最后到达：其他卡每 Step 等待它 {text(delay)}")  # fmt: skip
    if worst:
        case.evidence.append(worst)


def _one_step(sel: Selected) -> bool:
    source = sel.source("comm_ops", devices=False)
    row = sel.row(f"SELECT count(DISTINCT step) FROM {source}") if source else None
    return bool(row and row[0] == 1)


def _worst(sel: Selected, part: int) -> str:
    collectives = collectives_source(sel)
    if collectives is None:
        return ""
    row = sel.row(
        "SELECT name, most_ns, spread_ns, ranks FROM "
        f"{collectives} WHERE origin_part = {int(part)} ORDER BY cost_ns DESC LIMIT 1"
    )
    if not row:
        return ""
    name, most, spread, ranks = row
    text = wording.duration
    return sel.word(
        f"Most in {name}: joined {text(spread)} after the first of {ranks} ranks, which "
        f"waited up to {text(most)}",
        f"最严重的是 {name}：比 {ranks} 卡中最先到达者晚 {text(spread)}，他卡最多等待 {text(most)}",
    )


def _absent(sel: Selected, floor: float) -> list[Suspect]:
    """One suspect for collectives in which every rank of the selection waits."""
    collectives = collectives_source(sel)
    if collectives is None:
        return []
    rows = sel.rows(
        "SELECT count(*), sum(least_ns) / greatest(count(DISTINCT step), 1), "
        "arg_max(name, least_ns), max(least_ns) "
        f"FROM {collectives} WHERE absent"
    )
    count, total, name, most = rows[0]
    if not count or total < floor:
        return []
    w, text = sel.word, wording.duration
    return [
        Suspect(
            severity="info",
            rank=None,
            label=w("A rank that is not here", "不在所选范围内的卡"),
            headline=w(
                f"All ranks shown wait: {text(total)} a step, so the last to come is not one of them",
                f"所示的卡都在等待：每 Step {text(total)}，最后到达的卡不在其中",
            ),
            evidence=[
                w(f"In {count} collective{'s' if count != 1 else ''}; most in {name}: at least "
                  f"{text(most)} each",
                  f"涉及 {count} 次集合通信；最严重的是 {name}：每卡至少 {text(most)}"),
            ],
            view="health",
            group="",
            filter="",
        )
    ]  # fmt: skip
