"""Tracks of a trace: named, told what they show, and put in display order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tb_npu_plugin.backend.readers.trace_rows import Key, Names

#: Processes of torch_npu and CANN by name (their numbers change between versions).
_KINDS = {
    "Python": "python",
    "Python GC": "gc",
    "CANN": "cann",
    "Ascend Hardware": "hardware",
    "HCCL": "communication",
    "Communication": "communication",
    "Overlap Analysis": "overlap",
}
#: What categories of slices tell, in order.
_CATS = {
    "hardware": {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"},
    "python": {"cpu_op", "python_function", "user_annotation"},
    "runtime": {"cuda_runtime", "cuda_driver", "privateuse1_runtime", "privateuse1_driver"},
}
#: Their threads may carry the label of a device (a thread without a number counts as process 0).
_HOST = {"python", "gc", "cann", "runtime"}
_DEVICE = re.compile(r"^(?:NPU|GPU|XPU|HPU|MTIA|DEVICE)[ :_]?(\d+)$", re.IGNORECASE)
_LAST = 1 << 40


@dataclass
class Track:
    """A track before it has its number. ``code``: its number in order of appearance."""

    code: int
    key: Key
    kind: str
    device: int | None
    process: str | None
    label: str | None
    process_sort: int | None
    thread: str | None
    thread_sort: int | None


def tracks(
    codes: dict[Key, int], names: Names, cats: dict[int, set[str]], points: set[int]
) -> list[Track]:
    """The tracks that hold anything, in display order.

    ``cats``: categories of the slices of each track; ``points``: tracks with counter values. A track
    with ends of flows alone is kept, but not where its process has no name and others have: at
    Level0 the host calls of CANN are stripped like that.
    """
    found = []
    named = any("name" in process for process in names.process.values())
    for key, code in codes.items():
        process, thread = names.process.get(key[0], {}), names.thread.get(key, {})
        if code not in cats and code not in points and named and "name" not in process:
            continue
        name, label = _text(process.get("name")), _text(process.get("labels"))
        kind = _KINDS.get(name or "") or _kind_of(label, cats.get(code), code in points)
        found.append(
            Track(code, key, kind, None if kind in _HOST else device_of(label), name, label,
                  _whole(process.get("sort_index")), _text(thread.get("name")),
                  _whole(thread.get("sort_index")))
        )  # fmt: skip
    return sorted(found, key=_order)


def device_of(label: str | None) -> int | None:
    """``NPU 3`` -> 3; a label without a number tells none."""
    match = _DEVICE.match((label or "").strip())
    return int(match.group(1)[:18]) if match else None


def _kind_of(label: str | None, cats: set[str] | None, points: bool) -> str:
    """What a track of a process without a known name shows, by what is on it."""
    if not cats:
        return "counter" if points else "other"
    for kind, known in _CATS.items():
        if cats & known:
            return kind
    return "hardware" if device_of(label) is not None else "other"


def _order(track: Track) -> tuple[Any, ...]:
    def number(value: int | None) -> int:
        return _LAST if value is None else value

    pid, tid = track.key
    return (
        number(track.process_sort), track.process or "", _natural(pid),
        number(track.thread_sort), _natural(tid),
    )  # fmt: skip


def _natural(value: int | str) -> tuple[int, str]:
    return (value, "") if isinstance(value, int) else (_LAST, value)


def _text(value: Any) -> str | None:
    """Text that a database takes; anything that is not a scalar is none."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() or None
    return str(value) if isinstance(value, int | float) else None


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = int(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < 1 << 62 else None
