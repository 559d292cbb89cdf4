"""How what was recorded compares with what was asked for: options that were off, steps that are not
there, kernels lost at the window's start, and ranks that cannot be of one recording.

Read from the smallest tables, or from what a Parquet file says of itself, once per file.
"""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from statistics import median

from tb_npu_plugin.backend import wording
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.csv_file import literal
from tb_npu_plugin.backend.schema.parts import L2, OFF, SHAPES, STACK, recording
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.store import Store

#: Options without which a view lacks something, and the finding that says so.
_OPTIONS = (("shapes-off", SHAPES), ("stacks-off", STACK), ("l2-off", L2))
#: A first step with fewer kernels than this part of the others' lost some.
_FEWER = 0.9
#: So alike the other steps must be for that to mean anything.
_ALIKE = 0.02


def of_capture(sel: Selected, capture: Capture) -> list[Note]:
    """Findings about one capture of the selection."""
    return [*options_off(capture), *steps_fewer(sel, capture), *kernels_lost(sel, capture)]


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
    paths = _paths(sel, capture, "steps")
    return _step_count(sel.store, paths) if paths else None


@lru_cache(maxsize=1024)
def _step_count(store: Store, paths: tuple[str, ...]) -> tuple[int, int]:
    with closing(store.cursor()) as cursor:
        row = cursor.execute(
            "SELECT count(*) FILTER (step IS NOT NULL), greatest(count(DISTINCT device), 1) "
            f"FROM {_files(paths)}"
        ).fetchone()
    return row or (0, 1)


def kernels_lost(sel: Selected, capture: Capture) -> list[Note]:
    """The first step has fewer kernels than the others, which have as many each."""
    paths = _paths(sel, capture, "kernels")
    counts = _kernels_by_step(sel.store, paths) if paths else ()
    if len(counts) < 3:
        return []
    (step, first), others = counts[0], [count for _, count in counts[1:]]
    usual = median(others)
    if max(others) - min(others) > _ALIKE * usual or first >= _FEWER * usual:
        return []
    return [Note("kernels-lost", None, f"step {step}",
                 {"step": step, "count": first, "usual": round(usual)})]  # fmt: skip


@lru_cache(maxsize=1024)
def _kernels_by_step(store: Store, paths: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    with closing(store.cursor()) as cursor:
        rows = cursor.execute(
            f"SELECT step, count(*) FROM {_files(paths)} WHERE step IS NOT NULL "
            "GROUP BY step ORDER BY min(start_ns), step"
        ).fetchall()
    return tuple(rows)


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
    spans = []
    for capture in sel.recording.captures:
        paths = _paths(sel, capture, "kernels")
        span = _span(sel.store, paths) if paths else None
        if span and not capture.torch:
            spans.append((capture, *span))
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


@lru_cache(maxsize=4096)
def _span(store: Store, paths: tuple[str, ...]) -> tuple[int, int] | None:
    """First and last start of the kernels, from what the files say of themselves."""
    files = ", ".join(literal(p) for p in paths)
    with closing(store.cursor()) as cursor:
        row = cursor.execute(
            "SELECT min(CAST(stats_min_value AS BIGINT)), max(CAST(stats_max_value AS BIGINT)) "
            f"FROM parquet_metadata([{files}]) WHERE path_in_schema = 'start_ns'"
        ).fetchone()
    return None if row is None or row[0] is None else (row[0], row[1])


def _paths(sel: Selected, capture: Capture, table: str) -> tuple[str, ...]:
    return tuple(str(path) for _, _, path in sel.store.parts([capture], table, sel.prefer))


def _files(paths: tuple[str, ...]) -> str:
    files = ", ".join(literal(p) for p in paths)
    return f"read_parquet([{files}], union_by_name=true, hive_partitioning=false)"
