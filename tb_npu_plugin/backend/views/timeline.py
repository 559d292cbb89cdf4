"""The timeline's tracks, steps and alignments. What is drawn comes by windows (timeline/drawing)."""

from __future__ import annotations

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.schema.trace import TRACK_KINDS
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.slice_index import INSTANTS
from tb_npu_plugin.backend.timeline.counters import series_of
from tb_npu_plugin.backend.timeline.drawing import COLOURS
from tb_npu_plugin.backend.timeline.files import (
    MAX_PARTS,
    TraceFile,
    Track,
    base_of,
    trace_files,
)
from tb_npu_plugin.backend.timeline.files import TABLES as TABLES
from tb_npu_plugin.backend.timeline.kernel_colours import PIPE, has_pipes
from tb_npu_plugin.backend.timeline.steps import steps_of
from tb_npu_plugin.backend.views.clocks import clocks_source


def timeline(sel: Selected) -> results.Timeline:
    """Tracks of the first 64 captures that are read; times in ns after ``base_ns``."""
    files = trace_files(sel)
    base = base_of(files)
    shown = [t for f in files for t in f.tracks if t.slices or t.points]
    origin = base or 0
    return results.Timeline(
        base_ns=None if base is None else str(base),
        start=0,
        end=max((t.end_ns for t in shown), default=origin) - origin,
        ranks=_ranks(files, origin),
        tracks=[_track(f, t, origin) for f in files for t in f.tracks if t.slices or t.points],
        kinds=[results.Choice(k, sel.word(*words)) for k, words in TRACK_KINDS.items()],
        colours=[
            results.Choice(k, sel.word(*words))
            for k, words in COLOURS.items()
            if k != PIPE or has_pipes(sel, files)
        ],
        steps=_steps(files, origin),
        total_ranks=sel.total_captures,
        note=_note(sel, files),
        alignments=_alignments(sel, files),
    )


def _note(sel: Selected, files: list[TraceFile]) -> str:
    total, lines = sel.total_captures, []
    if total > MAX_PARTS:
        lines.append(sel.word(
            f"The first {MAX_PARTS} of {total} captures are drawn; choose ranks to see others.",
            f"仅绘制 {total} 个采集中的前 {MAX_PARTS} 个；选择卡可查看其他采集。",
        ))  # fmt: skip
    cut = next((f for f in files if len(f.tracks) < f.all_tracks), None)
    if cut:
        lines.append(sel.word(
            f"{cut.rank_label}: the first {len(cut.tracks):,} of {cut.all_tracks:,} tracks are drawn.",
            f"{cut.rank_label}：仅绘制 {cut.all_tracks:,} 条轨道中的前 {len(cut.tracks):,} 条。",
        ))  # fmt: skip
    return " ".join(lines)


def _ranks(files: list[TraceFile], base: int) -> list[results.TimelineRank]:
    found: dict[int, results.TimelineRank] = {}
    for file in files:
        tracks = [t for t in file.tracks if t.slices or t.points]
        if not tracks:
            continue
        start = min(t.start_ns for t in tracks) - base
        end = max(t.end_ns for t in tracks) - base
        one = found.setdefault(file.part, results.TimelineRank(
            file.part, file.capture.rank, file.rank_label, file.capture.capture_id, start, end
        ))  # fmt: skip
        one.start, one.end = min(one.start, start), max(one.end, end)
    return list(found.values())


def _track(file: TraceFile, track: Track, base: int) -> results.TimelineTrack:
    counters = []
    if track.points:
        own = [s for s in series_of(file.store, str(file.paths["counters"]))
               if s.track == track.number]  # fmt: skip
        counters = [
            results.CounterSeries(i, s.name, s.unit, float(s.values.min()), float(s.values.max()))
            for i, s in enumerate(own)
        ]
    lanes = file.index.lanes_of(track.number)
    return results.TimelineTrack(
        id=track.id,
        part=file.part,
        kind=track.kind,
        device=track.device,
        process=track.process,
        label=track.label,
        depths=track.depths,
        instants=bool(len(lanes) and int(lanes["depth"][0]) == INSTANTS),
        slices=track.slices,
        points=track.points,
        start=track.start_ns - base,
        end=track.end_ns - base,
        counters=counters,
        unread=not file.whole,
    )


def _steps(files: list[TraceFile], base: int) -> list[results.TimelineStep]:
    return [
        results.TimelineStep(
            file.part, int(number), f"Step {number}", int(start) - base, int(end) - base
        )
        for file in files
        for number, start, end in zip(*steps_of(file), strict=True)
    ]


def _alignments(sel: Selected, files: list[TraceFile]) -> list[results.Alignment]:
    """Ways to lay captures over each other: by the clock, by a step, by the ends of collectives."""
    parts = 1 + max((f.part for f in files), default=-1)
    found = [results.Alignment("clock", sel.word("Clock", "时钟"), [0] * parts)]
    if parts < 2:
        return found
    by_step = _by_step(files, parts)
    if by_step:
        found.append(results.Alignment("step", sel.word("Start of a step", "Step 起点"), by_step))
    by_collective = _by_collective(sel, parts)
    if by_collective:
        label = sel.word("Ends of collectives", "集合通信的结束")
        found.append(results.Alignment("collective", label, by_collective))
    return found


def _by_step(files: list[TraceFile], parts: int) -> list[int | None]:
    """Shifts that begin the first step that all have at one moment; empty if there is none."""
    starts: dict[int, dict[int, int]] = {}
    for file in files:
        numbers, begins, _ = steps_of(file)
        for number, begin in zip(numbers.tolist(), begins.tolist(), strict=True):
            starts.setdefault(number, {}).setdefault(file.part, begin)
    if not starts:
        return []
    common = max(starts.values(), key=len)  # the first of those that most have
    if len(common) < 2:
        return []
    reference = min(common.values())
    return [reference - common[p] if p in common else None for p in range(parts)]


def _by_collective(sel: Selected, parts: int) -> list[int | None]:
    """Shifts after which matched collectives end together, in the median: ranks leave one together."""
    clocks = clocks_source(sel)
    rows = sel.rows(f"SELECT part, clock_ns FROM {clocks}") if clocks else []
    found = {int(part): -round(clock) for part, clock in rows if clock is not None}
    return [found.get(p) for p in range(parts)] if len(found) > 1 else []
