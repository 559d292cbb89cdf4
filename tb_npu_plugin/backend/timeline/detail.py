"""Everything known about one slice: arguments, stack, neighbours, siblings, arrows, the gap before."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import islice
from typing import Any

import numpy as np

from tb_npu_plugin.backend import wording
from tb_npu_plugin.backend.results.timeline import (
    Siblings,
    SliceDetail,
    SliceDoor,
    SliceFact,
    SliceGap,
    SliceRef,
)
from tb_npu_plugin.backend.schema import NO_ID
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.slice_index import INSTANTS, SliceIndex
from tb_npu_plugin.backend.timeline.files import TraceFile, Track, base_of, slice_at, trace_files
from tb_npu_plugin.backend.timeline.flows import flows_of_slice, launches
from tb_npu_plugin.backend.timeline.nesting import self_ns
from tb_npu_plugin.backend.timeline.places import callers, deepest, parent_of, reference
from tb_npu_plugin.backend.timeline.steps import step_of

_STACK = "Call stack"
_FACT_CHARS = 4000
_MOST_CALLERS = 500


def detail(sel: Selected, name: str) -> SliceDetail:
    """The slice with the id ``name``. Raises RequestError 400 or 404."""
    files = trace_files(sel)
    file, row = slice_at(files, name)
    base = base_of(files) or 0
    index, lane = file.index, file.index.lane_at(row)
    track = file.track(int(lane["track"]))
    assert track is not None
    start, end = int(index.starts[row]), int(index.ends[row])
    stored = _stored(file, row)
    facts, stack = _facts(stored["args"])
    instant = int(lane["depth"]) == INSTANTS
    parent = parent_of(index, row)
    flows, flows_total = flows_of_slice(file, row, base)
    step = int(step_of(file, np.array([start]))[0])
    duration = stored["dur_ns"]
    return SliceDetail(
        id=file.slice_id(row),
        track=track.id,
        depth=max(0, int(lane["depth"])),
        rank=file.capture.rank,
        name=stored["name"] or "",
        category=stored["cat"] or "",
        instant=instant,
        start=start - base,
        duration=duration,
        end=end - base,
        self=None if duration is None else duration - (end - start) + self_ns(index, row),
        step=None if step < 0 else step,
        where=f"{file.rank_label} · {track.where}",
        facts=facts,
        stack=stack or _callers(file, row),
        siblings=_siblings(file, row),
        parent=reference(file, parent, base),
        flows=flows,
        flows_total=flows_total,
        previous=_neighbour(file, row, -1, base),
        next=_neighbour(file, row, 1, base),
        same_previous=_same(file, row, -1, base),
        same_next=_same(file, row, 1, base),
        gap=SliceGap(None, "") if instant or parent is not None else _gap(sel, file, row),
        doors=_doors(sel, track, stored["name"] or "", stored["cat"] or ""),
    )


def _stored(file: TraceFile, row: int) -> dict[str, Any]:
    with closing(file.store.cursor()) as cursor:
        found = cursor.execute(
            f"SELECT name, cat, dur_ns, args FROM {file.sql('slices')} WHERE file_row_number = ?",
            [row],
        ).fetchall()
    return dict(zip(("name", "cat", "dur_ns", "args"), found[0], strict=True))


def _facts(args: str | None) -> tuple[list[SliceFact], list[str]]:
    """Arguments as text, one by one, and the call stack among them, innermost first."""
    try:
        found = json.loads(args) if args else {}
    except ValueError:
        return [SliceFact("args", str(args)[:_FACT_CHARS])], []
    if not isinstance(found, dict):
        found = {"args": found}
    stack: list[str] = []
    facts = []
    for key, value in found.items():
        if key == _STACK and isinstance(value, str):
            stack = [line.strip() for line in value.split(";") if line.strip()]
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if text == str(NO_ID):
            text = "–"
        # Lists of shapes come as lines.
        lines = " ".join(part.strip() for part in text.splitlines() if part.strip())
        facts.append(SliceFact(key, lines[:_FACT_CHARS]))
    return facts, stack


def _callers(file: TraceFile, row: int) -> list[str]:
    """The slices around a slice, innermost first."""
    names, codes = file.index.names, file.index.codes
    return [names[codes[outer]] for outer in islice(callers(file.index, row), _MOST_CALLERS)]


def _siblings(file: TraceFile, row: int) -> Siblings:
    index = file.index
    lanes = index.lanes_of(int(index.lane_at(row)["track"]))
    low = int(lanes["first"][0])
    high = int(lanes["first"][-1] + lanes["count"][-1])
    rows = low + np.flatnonzero(index.codes[low:high] == index.codes[row])
    lengths = (index.ends[rows] - index.starts[rows]).astype(float)
    own = float(index.ends[row] - index.starts[row])
    return Siblings(
        len(rows), float(lengths.sum()), float(lengths.mean()), float(lengths.min()),
        float(lengths.max()), int((lengths > own).sum()) + 1,
    )  # fmt: skip


def _neighbour(file: TraceFile, row: int, step: int, base: int) -> SliceRef | None:
    lane = file.index.lane_at(row)
    inside = int(lane["first"]) <= row + step < int(lane["first"] + lane["count"])
    return reference(file, row + step if inside else None, base)


def _same(file: TraceFile, row: int, step: int, base: int) -> SliceRef | None:
    """The nearest slice of the same name on the same depth of the track."""
    index, lane = file.index, file.index.lane_at(row)
    first, last = int(lane["first"]), int(lane["first"] + lane["count"])
    codes = index.codes[row + 1 : last] if step > 0 else index.codes[first:row][::-1]
    places = np.flatnonzero(codes == index.codes[row])
    found = None if not len(places) else row + step * (1 + int(places[0]))
    return reference(file, found, base)


def _gap(sel: Selected, file: TraceFile, row: int) -> SliceGap:
    """Idle time of the track before an outermost slice, and whether the host had it wait."""
    index = file.index
    start, before = int(index.starts[row]), _busy_until(index, row)
    if before is None:
        return SliceGap(None, "")
    gap = float(max(0, start - before))
    arrows = launches(file, row) if gap else []
    if not arrows:
        return SliceGap(gap, "")
    first, last = arrows[0], arrows[-1]
    name = _name_at(file, *first)
    if last[1] <= before:
        waited = wording.duration(start - first[1])
        return SliceGap(gap, sel.word(
            f"{name} had issued it {waited} before it began: the host was not late.",
            f"{name} 在其开始前 {waited} 已下发：主机没有迟到。",
        ))  # fmt: skip
    late, sender = wording.duration(last[1] - before), _name_at(file, *last)
    doing = _name_at(file, last[0], before)
    then = sel.word(
        f"; the host was in {doing} when it did.", f"；空闲开始时主机正在执行 {doing}。"
    )
    end = then if doing else sel.word(".", "。")
    if first[1] <= before:
        waited = wording.duration(start - first[1])
        return SliceGap(gap, sel.word(
            f"{name} had asked for it {waited} before it began, but {sender} sent it only {late} "
            f"after the track fell idle{end}",
            f"{name} 在其开始前 {waited} 已提交，但轨道空闲 {late} 后 {sender} 才下发{end}",
        ))  # fmt: skip
    return SliceGap(gap, sel.word(
        f"{name} issued it {wording.duration(first[1] - before)} after the track fell idle{end}",
        f"轨道空闲 {wording.duration(first[1] - before)} 后 {name} 才下发{end}",
    ))  # fmt: skip


def _busy_until(index: SliceIndex, row: int) -> int | None:
    """When the last of the slices ends that began before ``row`` on its track; None for the first."""
    lane, start = index.lane_at(row), int(index.starts[row])
    found: int | None = None
    for other in index.lanes_of(int(lane["track"])):
        first, count = int(other["first"]), int(other["count"])
        low = int(np.searchsorted(index.starts[first : first + count], start, side="left"))
        if other["depth"] != INSTANTS and low:
            end = int(index.ends[first + low - 1])
            found = end if found is None else max(found, end)
    return found


def _name_at(file: TraceFile, track: int, moment: int) -> str:
    """What runs on a track at a moment, innermost; empty for nothing."""
    found = deepest(file.index, track, moment)
    return "" if found is None else file.index.names[file.index.codes[found]]


def _doors(sel: Selected, track: Track, name: str, cat: str) -> list[SliceDoor]:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    exact = f'name="{quoted}"'
    kernels = SliceDoor("kernel", sel.word("Its kernels", "对应内核"), exact)
    if track.kind == "hardware":
        return [kernels]
    if track.kind == "communication":
        return [SliceDoor("communication", sel.word("Communication", "通信"), exact)]
    if cat.lower() == "cpu_op":
        return [SliceDoor("operator", sel.word("Its operators", "对应算子"), exact)]
    if track.kind == "cann":
        return [SliceDoor("api", sel.word("Host calls", "主机侧调用"), exact)]
    return []
