"""Process and thread numbers of one capture's trace, and the events that name them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .groups import Group, Layout
from .lines import Line
from .parts import TRACKS
from .rows import COMM_STREAM, MAIN_STREAM, SIDE_STREAM

SORT_INDEX = {
    "CANN": 7,
    "Ascend Hardware": 13,
    "AI Core Freq": 14,
    "Communication": 15,
    "NPU MEM": 19,
    "Overlap Analysis": 23,
}
ON_HOST = ("CANN",)


@dataclass(frozen=True)
class TraceIds:
    """Who is who: pids by process, thread ids by role, the groups' rows."""

    line: Line
    level: int
    pid: int  # of the Python process
    pids: dict[str, int]  # of the others
    threads: dict[str, int]  # main, autograd, queue
    groups: tuple[Group, ...]
    group_thread: dict[str, int]  # by communicator name; its planes follow
    label: str  # NPU, or NPU <device>
    mhz: int  # of the cores


def trace_ids(line: Line, level: int, rank: int, layout: Layout, pid: int, mhz: int) -> TraceIds:
    """Numbers as the exporters give them."""
    device = layout.device(rank)
    groups = tuple(axis.groups[int(axis.of_rank[rank])] for axis in layout.axes.values())
    planes = max((len(g.ranks) for g in groups), default=1)
    return TraceIds(
        line,
        level,
        pid,
        {name: pid << 10 | index << 5 | device for name, index in SORT_INDEX.items()},
        {"main": pid, "autograd": pid + 611, "queue": pid + 604},
        groups,
        {g.name: i * (planes + 1) for i, g in enumerate(groups)},
        f"NPU {device}" if line.device_id else "NPU",
        mhz,
    )


def _meta(kind: str, pid: int, tid: int, **args: Any) -> str:
    return json.dumps({"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args})


def _process(name: str, pid: int, label: str, order: int) -> Iterator[str]:
    yield _meta("process_name", pid, 0, name=name)
    yield _meta("process_labels", pid, 0, labels=label)
    yield _meta("process_sort_index", pid, 0, sort_index=order)


def _thread(name: str, pid: int, tid: int, order: int) -> Iterator[str]:
    yield _meta("thread_name", pid, tid, name=name)
    yield _meta("thread_sort_index", pid, tid, sort_index=order)


def name_host(ids: TraceIds) -> Iterator[str]:
    """The Python process; the queue's thread sorts last."""
    yield from _process("Python", ids.pid, "CPU", 0)
    for role, tid in ids.threads.items():
        order = 1 << 30 if role == "queue" else tid
        yield from _thread(f"Thread {tid}", ids.pid, tid, order)


def name_device(ids: TraceIds) -> Iterator[str]:
    """CANN's processes; level 0 leaves CANN's own name out but keeps its threads'."""
    for name, order in SORT_INDEX.items():
        if name == "Communication" and not ids.groups:
            continue
        if name not in ON_HOST or ids.level > 0:
            shown = ids.line.comm_process if name == "Communication" else name
            label = "CPU" if name in ON_HOST else ids.label
            yield from _process(shown, ids.pids[name], label, order)
    for tid in ids.threads.values():
        yield from _thread(f"Thread {tid}", ids.pids["CANN"], tid, tid)
    for stream in (MAIN_STREAM, SIDE_STREAM, COMM_STREAM):
        yield from _thread(f"Stream {stream}", ids.pids["Ascend Hardware"], stream, stream)
    for number, track in enumerate(TRACKS):
        yield from _thread(track, ids.pids["Overlap Analysis"], number, number)
    for number, group in enumerate(ids.groups):
        first = ids.group_thread[group.name]
        shown = group.name if ids.line.device_id else str(number)
        pid = ids.pids["Communication"]
        yield from _thread(f"Group {shown} Communication", pid, first, first)
        for plane in range(len(group.ranks)):
            yield from _thread(f"Plane {plane}", pid, first + 1 + plane, first + 1 + plane)
