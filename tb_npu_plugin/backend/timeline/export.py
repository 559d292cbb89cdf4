"""A window as a Chrome trace, which Perfetto and chrome://tracing open."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import msgspec

from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.timeline.drawing import Window
from tb_npu_plugin.backend.timeline.files import (
    TraceFile,
    Track,
    base_of,
    by_file,
    chosen,
    end_sql,
    trace_files,
)

_BATCH = 5000


def chrome_trace(sel: Selected, wanted: Window) -> Iterator[str]:
    """JSON blocks of a trace with every event of the wanted tracks that touches the window.

    Raises RequestError at once, not with the first block.
    """
    wanted.check()
    files = trace_files(sel)
    base = base_of(files) or 0
    return _blocks(by_file(chosen(files, wanted.tracks)), wanted, base)


def _blocks(files: list[tuple[TraceFile, list[Track]]], wanted: Window, base: int) -> Iterator[str]:
    yield "[\n" + ",\n".join(
        msgspec.json.encode(event).decode()
        for file, tracks in files
        for track in tracks
        for event in _named(file, track)
    )
    for file, tracks in files:
        shift = wanted.shifts.get(file.part, 0)
        begin, end = math.floor(wanted.begin) + base - shift, math.ceil(wanted.end) + base - shift
        listed = ", ".join(str(t.number) for t in tracks)
        place = {t.number: (_process(file, t), t.id) for t in tracks}
        slices = (
            f"SELECT track, start_ns, dur_ns, name, cat, phase, args FROM "
            f"{file.sql('slices')} WHERE track IN ({listed}) AND start_ns < ? "
            f"AND (start_ns >= ? OR {end_sql('start_ns', 'dur_ns')} > ?)"
        )
        with closing(file.store.cursor()) as cursor:
            cursor.execute(slices, [end, begin, begin])
            while rows := cursor.fetchmany(_BATCH):
                yield "".join(f",\n{_slice(place, row, base - shift)}" for row in rows)
            cursor.execute(
                f"SELECT track, name, series, time_ns, value FROM "
                f"{file.sql('counters')} WHERE track IN ({listed}) "
                "AND time_ns >= ? AND time_ns < ?",
                [begin, end],
            )
            while rows := cursor.fetchmany(_BATCH):
                yield "".join(f",\n{_counter(place, row, base - shift)}" for row in rows)
    yield "\n]\n"


def _process(file: TraceFile, track: Track) -> int:
    first = next(t for t in file.tracks if t.process == track.process)
    return first.id + 1


def _named(file: TraceFile, track: Track) -> list[dict[str, Any]]:
    pid = _process(file, track)
    process = f"{file.rank_label} · {track.process}"
    return [
        {"ph": "M", "pid": pid, "tid": track.id, "name": "process_name", "args": {"name": process}},
        {"ph": "M", "pid": pid, "tid": track.id, "name": "process_sort_index",
         "args": {"sort_index": pid}},
        {"ph": "M", "pid": pid, "tid": track.id, "name": "thread_name",
         "args": {"name": track.label}},
    ]  # fmt: skip


def _slice(place: dict[int, tuple[int, int]], row: tuple[Any, ...], base: int) -> str:
    track, start, duration, name, cat, phase, args = row
    pid, tid = place[track]
    event: dict[str, Any] = {"ph": phase, "pid": pid, "tid": tid, "name": name or "",
                             "ts": (start - base) / 1e3}  # fmt: skip
    if cat:
        event["cat"] = cat
    if phase == "X":
        event["dur"] = (duration or 0) / 1e3
    else:
        event["s"] = "t"
    if args:
        event["args"] = msgspec.Raw(args.encode())
    return msgspec.json.encode(event).decode()


def _counter(place: dict[int, tuple[int, int]], row: tuple[Any, ...], base: int) -> str:
    track, name, series, time_ns, value = row
    pid, tid = place[track]
    return msgspec.json.encode(
        {"ph": "C", "pid": pid, "tid": tid, "name": name or "", "ts": (time_ns - base) / 1e3,
         "args": {series or "value": value}}
    ).decode()  # fmt: skip
