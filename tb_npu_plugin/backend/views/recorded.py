"""How what was recorded compares with what was asked for: options that were off, steps that are not
there, kernels lost at the window's start, and ranks that cannot be of one recording.

Read from the smallest tables.
"""

from __future__ import annotations

from statistics import median

from tb_npu_plugin.backend import wording
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.schema.parts import L2, OFF, SHAPES, STACK, recording
from tb_npu_plugin.backend.selection import Selected

#: Options without which a view lacks something, and the finding that says so.
_OPTIONS = (("shapes-off", SHAPES), ("stacks-off", STACK), ("cache-rates-off", L2))
#: A first step with fewer kernels than this part of the others' lost some.
_FEWER = 0.9
#: So alike the other steps must be for that to mean anything.
_ALIKE = 0.02


def of_captures(sel: Selected) -> dict[str, list[Note]]:
    """Capture id -> findings about that capture of the selection."""
    lost = kernels_lost(sel)
    return {
        c.capture_id: [*options_off(c), *steps_fewer(sel, c), *lost.get(c.capture_id, [])]
        for c in sel.captures
    }


def options_off(capture: Capture) -> list[Note]:
    """Quiet words about what the profiler was told to leave out, where a view would show it."""
    if capture.torch:
        return []
    off = [(code, n) for code, n in _OPTIONS if getattr(capture.info.options, n.option) == 0]
    return [
        Note(code, None, None, {"off": OFF[need.option][0], "off_zh": OFF[need.option][1],
                                "call": recording([need], capture.framework)})
        for code, need in off
    ]  # fmt: skip


# ---- steps ----------------------------------------------------------------------------------


def steps_fewer(sel: Selected, capture: Capture) -> list[Note]:
    """Fewer steps than one cycle of the schedule records, over all devices."""
    active = capture.info.options.active
    counted = step_count(sel, capture)
    if active is None or counted is None or not counted[0]:
        return []
    rows, devices = counted
    if rows >= active * devices:
        return []
    return [steps_note(rows, devices, active)]


def steps_note(rows: int, devices: int, active: int) -> Note:
    """The finding about a number of steps that is not the schedule's."""
    return Note("steps-fewer", None, None, {"rows": rows, "devices": devices, "active": active})


def step_count(sel: Selected, capture: Capture) -> tuple[int, int] | None:
    """(marked steps over all devices, devices); None where no step times are known (yet)."""
    return sel.once("step counts", make=lambda: _step_counts(sel)).get(capture.capture_id)


def _step_counts(sel: Selected) -> dict[str, tuple[int, int]]:
    source = sel.source("steps", steps=False, devices=False, told=False)
    if source is None:
        return {}
    rows = sel.rows(
        "SELECT part, count(*) FILTER (step IS NOT NULL), greatest(count(DISTINCT device), 1) "
        f"FROM {source} GROUP BY part"
    )
    counted = {sel.captures[part].capture_id: (count, devices) for part, count, devices in rows}
    return {id_: counted.get(id_, (0, 1)) for id_ in sel.files("steps")}


def kernels_lost(sel: Selected) -> dict[str, list[Note]]:
    """By capture: the first step has fewer kernels than the others, which have as many each."""
    source = sel.source("kernel_summary", steps=False, devices=False, told=False)
    if source is None:
        return {}
    rows = sel.rows(
        f"SELECT part, step, sum(count) FROM {source} WHERE step IS NOT NULL "
        "GROUP BY part, step ORDER BY part, min(first_ns), step"
    )
    by_part: dict[int, list[tuple[int, int]]] = {}
    for part, step, count in rows:
        by_part.setdefault(part, []).append((step, int(count)))
    notes = {sel.captures[part].capture_id: _lost(counts) for part, counts in by_part.items()}
    return {id_: [note] for id_, note in notes.items() if note}


def _lost(counts: list[tuple[int, int]]) -> Note | None:
    """``counts``: (step, kernels) in the order of time."""
    if len(counts) < 3:
        return None
    (step, first), others = counts[0], [count for _, count in counts[1:]]
    usual = median(others)
    if max(others) - min(others) > _ALIKE * usual or first >= _FEWER * usual:
        return None
    return Note("kernels-lost", None, f"step {step}",
                {"step": step, "count": first, "usual": round(usual)})  # fmt: skip


# ---- ranks ----------------------------------------------------------------------------------


def of_recording(sel: Selected) -> list[Note]:
    """Findings about the recording as a whole."""
    return [*ranks_twice(sel), *clocks_apart(sel)]


def ranks_twice(sel: Selected) -> list[Note]:
    """Captures of one run, of one rank, that were recorded at the same time: one rank must be wrong."""
    others = [
        (r, c)
        for r in sel.store.runs.get(sel.run, [])
        if r.recording != sel.recording.recording
        for c in r.captures
    ]
    notes = []
    for capture in sel.captures:
        twins = [
            (r, c) for r, c in others
            if c.rank is not None and c.rank == capture.rank and _overlap(c, capture)
        ]  # fmt: skip
        for recording_, twin in twins[:1]:
            notes.append(Note("rank-twice", None, None, {
                "rank": capture.rank, "name": capture.name, "other": twin.name,
                "recording": recording_.label}))  # fmt: skip
    return notes


def _overlap(a: Capture, b: Capture) -> bool:
    bounds = (a.info.start_ns, a.info.end_ns, b.info.start_ns, b.info.end_ns)
    if any(t is None for t in bounds):
        return False
    a0, a1, b0, b1 = (t or 0 for t in bounds)
    # Windows that only touch are one after the other.
    return min(a1, b1) - max(a0, b0) > 0.5 * min(a1 - a0, b1 - b0)


def clocks_apart(sel: Selected) -> list[Note]:
    """Ranks whose kernels lie wholly before or after those of the rank in the middle."""
    whole = sel.whole()
    source = whole.source("kernel_summary", told=False)
    if source is None:
        return []
    rows = sel.rows(
        f"SELECT part, min(first_ns), max(last_ns) FROM {source} GROUP BY part ORDER BY part"
    )
    spans = [
        (whole.captures[part], low, high)
        for part, low, high in rows
        if low is not None and not whole.captures[part].torch
    ]
    if len(spans) < 2:
        return []
    middle, low, high = sorted(spans, key=lambda s: (s[1], s[0].name))[(len(spans) - 1) // 2]
    apart = [(c, max(a - high, low - b)) for c, a, b in spans if a > high or b < low]
    if not apart:
        return []
    gap = min(distance for _, distance in apart)
    return [Note("clocks-apart", None, None, {
        "ranks": wording.ranks([c.rank for c, _ in apart]) or len(apart),
        "reference": middle.label_rank, "gap": wording.duration(gap)})]  # fmt: skip
