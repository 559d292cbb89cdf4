"""Why a rank computes longer or comes late: what it spends more on than the median rank does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from tb_npu_plugin.backend import wording
from tb_npu_plugin.backend.schema import is_communication
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.rank_measures import Measures

#: Ranks that a suspect is compared with, whatever the size of the job.
MAX_REFERENCES = 32
TOP = 3
#: Bytes in all-to-all over the mean of the group that are told.
UNEVEN = 1.2
#: What explains less of an excess than this is not told.
_TELLING = 0.1


def kernel_types(sel: Selected, parts: Sequence[int]) -> dict[int, dict[str, float]]:
    """Part -> kernel type -> summed duration in ns per step, without communication."""
    return _sums(
        sel, parts, "kernel_summary", "type", "sum(total_ns) / greatest(any_value(steps), 1)",
        f"NOT coalesce({is_communication('core')}, false) AND type IS NOT NULL",
    )  # fmt: skip


def host_operators(sel: Selected, parts: Sequence[int]) -> dict[int, dict[str, float]]:
    """Part -> operator -> host self time in ns over the whole capture."""
    return _sums(sel, parts, "operator_summary", "name", "sum(host_self_ns)", "name IS NOT NULL")


def _sums(
    sel: Selected, parts: Sequence[int], table: str, key: str, total: str, where: str
) -> dict[int, dict[str, float]]:
    chosen = list(parts)
    part_sel = replace(sel, captures=[sel.captures[p] for p in chosen])
    source = part_sel.source(table)
    if source is None:
        return {}
    steps = "count(DISTINCT step) OVER (PARTITION BY part)" if table == "kernel_summary" else "1"
    rows = sel.rows(
        f"SELECT part, {key}, {total} FROM (SELECT *, {steps} AS steps FROM {source}) "
        f"WHERE {where} GROUP BY part, {key}"
    )
    found: dict[int, dict[str, float]] = {}
    for part, name, value in rows:
        if value is not None:
            found.setdefault(chosen[part], {})[str(name)] = float(value)
    return found


def references(m: Measures, suspects: Sequence[int]) -> dict[int, list[int]]:
    """Per suspect the ordinals of ranks to compare it with: spread evenly over those of its
    pipeline stage that are not suspected."""
    innocent = [p for p in range(m.count) if p not in set(suspects)]
    found = {}
    for part in suspects:
        others = [p for p in innocent if not m.peers or m.peers[p] == m.peers[part]]
        step = max(1, len(others) // MAX_REFERENCES)
        found[part] = others[::step][:MAX_REFERENCES]
    return found


def excesses(
    sums: dict[int, dict[str, float]], part: int, others: Sequence[int], excess_ns: float
) -> list[tuple[str, float, float]]:
    """(name, own - median of the others, that median) that explain ``excess_ns``, most first."""
    mine = sums.get(part, {})
    found = []
    for name in set(mine).union(*(sums.get(p, {}) for p in others)):
        usual = float(median(sums.get(p, {}).get(name, 0.0) for p in others)) if others else 0.0
        found.append((name, mine.get(name, 0.0) - usual, usual))
    found.sort(key=lambda e: (-e[1], e[0]))
    return [e for e in found[:TOP] if e[1] > 0 and e[1] >= _TELLING * excess_ns]


def idle_steps(
    sel: Selected, m: Measures, parts: Sequence[int], floor_ns: float
) -> dict[int, tuple[int, int]]:
    """Part -> (steps in which its device idles ``floor_ns`` longer than the median rank's, steps)."""
    source = sel.source("steps")
    if source is None:
        return dict.fromkeys(parts, (0, 0))
    rows = sel.rows(
        "SELECT part, step, sum(coalesce(free_ns, 0) + coalesce(preparing_ns, 0)) "
        f"FROM {source} GROUP BY part, step"
    )
    idle: dict[int, dict[int, float]] = {}
    for part, step, value in rows:
        idle.setdefault(step, {})[part] = float(value)
    found = {}
    for part in parts:
        mine = [(each[part], _peers(each, m, part)) for each in idle.values() if part in each]
        longer = sum(value - median(peers) >= floor_ns for value, peers in mine)
        found[part] = (longer, len(mine))
    return found


def _peers(values: dict[int, float], m: Measures, part: int) -> list[float]:
    return [v for p, v in values.items() if not m.peers or m.peers[p] == m.peers[part]]


def often_line(sel: Selected, longer: int, steps: int) -> list[str]:
    """In how many of the steps it did so; "" where all, or none is known."""
    if steps == 1:
        return [sel.word("Seen in the one step recorded: it may be chance, several steps would tell",
                         "仅采集了一个 Step，可能是偶然；采集多个 Step 才能判断")]  # fmt: skip
    if longer == steps:
        return []
    return [sel.word(f"In {longer} of {steps} steps", f"{steps} 个 Step 中有 {longer} 个如此")]


def computing_evidence(
    sel: Selected, m: Measures, part: int, sums: dict[int, dict[str, float]],
    others: Sequence[int], excess_ns: float,
) -> list[str]:  # fmt: skip
    """Kernel types that take longer, and the clock if it is lower."""
    lines = [line for line in (clock_line(sel, m, part), experts_line(sel, part)) if line]
    for name, more, usual in excesses(sums, part, others, excess_ns):
        share = f" (+{wording.percent(more / usual)})" if usual > 0 else ""
        lines.append(sel.word(f"{name}: +{wording.duration(more)} a step{share}",
                              f"{name}：每 Step +{wording.duration(more)}{share}"))  # fmt: skip
    return lines


def experts_line(sel: Selected, part: int) -> str:
    """How much more than the mean of its group the rank moves in all-to-all; "" where it does not."""
    source = sel.source("comm_ops", devices=False)
    if source is None:
        return ""
    row = sel.row(
        "WITH moved AS (SELECT part, coalesce(comm_group, '') AS id, sum(size_bytes) AS size "
        f"FROM {source} WHERE type LIKE 'alltoall%' GROUP BY part, id) "
        "SELECT max(size / nullif(mean, 0)) FROM (SELECT *, avg(size) OVER (PARTITION BY id) AS mean, "
        f"count(*) OVER (PARTITION BY id) AS ranks FROM moved) WHERE part = {int(part)} AND ranks > 1"
    )
    more = row[0] if row else None
    if more is None or more < UNEVEN:
        return ""
    return sel.word(
        f"It moves {more:.1f} times the mean of its group in all-to-all: tokens go unevenly to experts",
        f"其 all-to-all 数据量为组内平均的 {more:.1f} 倍：Token 在专家间分布不均",
    )


def clock_line(sel: Selected, m: Measures, part: int) -> str:
    """``Core clock 1.20 GHz, the median rank 1.80 GHz``; "" where it is not lower."""
    values = m.values("core_mhz")
    known = [v for v in values if v is not None]
    own = values[part]
    if own is None or len(known) < 2 or own >= 0.97 * median(known):
        return ""
    usual = float(median(known))
    return sel.word(
        f"Core clock {own / 1000:.2f} GHz, the median rank {usual / 1000:.2f} GHz",
        f"核心频率 {own / 1000:.2f} GHz，中位数卡 {usual / 1000:.2f} GHz",
    )


def host_evidence(
    sel: Selected, part: int, sums: dict[int, dict[str, float]], others: Sequence[int],
    excess_ns: float,
) -> list[str]:  # fmt: skip
    """Operators whose own time on the host is longer; over the whole capture, they carry no step."""
    return [
        sel.word(f"{name}: +{wording.duration(more)} on the host in the whole capture",
                 f"{name}：整段采集主机侧 +{wording.duration(more)}")
        for name, more, _ in excesses(sums, part, others, excess_ns)
    ]  # fmt: skip
