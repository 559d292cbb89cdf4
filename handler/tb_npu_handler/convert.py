"""Make a trace for the PyTorch Profiler tab from torch_npu's ``trace_view.json``.

That tab wants an object with ``traceEvents``, numeric times and a category on each slice, and finds
kernels by category.  Times become microseconds since ``baseTimeNanoseconds``, so that a double
holds the nanoseconds.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import zlib
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Dict, List, Optional, Tuple

from .objects import Reading, each

LINK_LIMIT = 500_000
HARDWARE = "Ascend Hardware"
# What a task on the device is, by the beginning of its "Task Type": the rest only waits or signals.
COMPUTES = ("AI_", "AIV", "AIC", "MIX", "DSA", "KERNEL", "FFTS", "CCU")
COPIES = ("SDMA_SQE", "PCIE_DMA", "MEMCPY")


@dataclass
class Outline:
    """What the first pass learns: names of processes, the earliest time, what launched what."""

    processes: Dict[Any, str] = field(default_factory=dict)
    devices: Dict[Any, int] = field(default_factory=dict)
    streams: Dict[Tuple[Any, Any], int] = field(default_factory=dict)
    base_ns: Optional[int] = None
    sources: Dict[str, Tuple[Any, Any, str]] = field(default_factory=dict)
    targets: Dict[Tuple[Any, Any, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Converted:
    """``events`` written, ``kernels`` among them, ``bad`` objects skipped, ``cut``: the end was
    missing.
    """

    events: int
    kernels: int
    bad: int
    cut: bool


def convert(
    source: str, target: str, rank: Optional[int] = None, world_size: Optional[int] = None
) -> Converted:
    """Write ``target`` (gzip JSON) from ``source`` (``trace_view.json[.gz]``), whole or not at all.

    Raises ``OSError``, and ``ValueError`` when ``source`` holds no event.
    """
    outline = survey(source)
    if outline.base_ns is None:
        raise ValueError("no event with a time in " + source)
    head: Dict[str, Any] = {
        "schemaVersion": 1,
        "deviceProperties": [],
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": outline.base_ns,
    }
    if rank is not None:
        head["distributedInfo"] = {"backend": "hccl", "rank": rank, "world_size": world_size or 1}
    partial = os.path.join(
        os.path.dirname(target), ".{}.{}.tmp".format(os.path.basename(target)[:180], os.getpid())
    )
    try:
        with gzip.open(partial, "wt", encoding="utf-8", compresslevel=3) as stream:
            opened = json.dumps(head)
            stream.write(opened[:-1] + ', "traceEvents": [')
            reading, written, kernels = Reading(), 0, 0
            for event in each(source, reading):
                changed = _event(event, outline)
                if changed is None:
                    continue
                kernels += changed.get("cat") == "kernel"
                for one in (changed, *_launch(event, changed, outline)):
                    stream.write((",\n" if written else "\n") + json.dumps(one, allow_nan=False))
                    written += 1
            stream.write("\n]}\n")
        os.replace(partial, target)
    except BaseException:
        if os.path.exists(partial):
            os.unlink(partial)
        raise
    return Converted(written, kernels, reading.bad, reading.cut)


def survey(source: str) -> Outline:
    """Read ``source`` once for what every event needs to know."""
    outline = Outline()
    for event in each(source, Reading()):
        phase, where = event.get("ph"), _thread(event)
        args = event.get("args")
        if phase == "M" and isinstance(args, dict):
            _learn(event, args, outline)
            continue
        time_ns = to_ns(event.get("ts"))
        if time_ns is None:
            continue
        if outline.base_ns is None or time_ns < outline.base_ns:
            outline.base_ns = time_ns
        if event.get("cat") == "async_npu" and len(outline.sources) < LINK_LIMIT:
            key = str(event.get("id"))
            if phase == "s":
                outline.sources[key] = where + (str(event["ts"]),)
            elif phase == "f":
                outline.targets[where + (str(event["ts"]),)] = key
    return outline


def to_ns(value: Any) -> Optional[int]:
    """Microseconds as text or number to whole nanoseconds, exactly; ``None`` when it is no time."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        number = Decimal(str(value).strip())
        return int(number * 1000) if number.is_finite() else None
    except (InvalidOperation, ValueError):
        return None


def _learn(event: Dict[str, Any], args: Dict[str, Any], outline: Outline) -> None:
    pid = event.get("pid")
    if event.get("name") == "process_name":
        outline.processes[pid] = str(args.get("name", ""))
    elif event.get("name") == "process_labels":
        number = str(args.get("labels", "")).rpartition(" ")[2]
        if number.isdigit():
            outline.devices[pid] = int(number)
    elif event.get("name") == "thread_name":
        number = str(args.get("name", "")).rpartition(" ")[2]
        if number.isdigit():
            outline.streams[_thread(event)] = int(number)


def _event(event: Dict[str, Any], outline: Outline) -> Optional[Dict[str, Any]]:
    """One event for the tab; ``None`` for one that has no valid time."""
    pid, tid = _place(event, outline)
    if event.get("ph") == "M":
        return _finite(dict(event, pid=pid, tid=tid))
    time_ns = to_ns(event.get("ts"))
    if time_ns is None or outline.base_ns is None:
        return None
    changed = dict(event, pid=pid, tid=tid, ts=(time_ns - outline.base_ns) / 1000)
    if event.get("ph") != "X":
        changed.setdefault("cat", "counter")
        return _finite(changed)
    duration = to_ns(event.get("dur", 0))
    if duration is None or duration < 0:
        return None
    changed["dur"] = float(Decimal(str(event.get("dur", 0)).strip()))
    changed["args"] = dict(event["args"]) if isinstance(event.get("args"), dict) else {}
    name = str(event.get("name", ""))
    if not isinstance(event.get("cat"), str):
        task = str(changed["args"].get("Task Type", name))
        changed["cat"] = _category(task, outline.processes.get(event.get("pid"), ""))
    if changed["cat"] == "cpu_op" and name.startswith("ProfilerStep#"):
        changed["cat"] = "user_annotation"
    _shapes(changed["args"])
    _link(event, changed, outline)
    return _finite(changed)


def _place(event: Dict[str, Any], outline: Outline) -> Tuple[Any, Any]:
    """Process and thread of an event; for what ran on a device, its device and stream, as the tab
    expects of kernels."""
    pid = event.get("pid")
    if outline.processes.get(pid) != HARDWARE:
        return _thread(event)
    return outline.devices.get(pid, 0), outline.streams.get(_thread(event), event.get("tid"))


def _category(task: str, process: str) -> str:
    """The category of a slice that torch_npu gave none: by its process and kind of task."""
    if process == HARDWARE:
        if task.startswith(COPIES):
            return "gpu_memcpy"
        return "kernel" if task.startswith(COMPUTES) else "task"
    return (process or "npu").lower().replace(" ", "_")


def _shapes(args: Dict[str, Any]) -> None:
    """Shapes as torch.profiler has them: ``"2,4;\\r\\n3"`` becomes ``[[2, 4], [3]]``."""
    dims = args.get("Input Dims")
    if isinstance(dims, str):
        args["Input Dims"] = [
            [int(part) for part in shape.split(",") if part.strip().lstrip("-").isdigit()]
            for shape in dims.replace("\r\n", "").replace("\n", "").split(";")
        ]
    kinds = args.get("Input type")
    if isinstance(kinds, str):
        args["Input type"] = kinds.replace("\r\n", "").replace("\n", "").split(";")
    stack = args.get("Call stack")
    if isinstance(stack, str):
        args["Call stack"] = stack.replace("\r\n", "").replace("\n", "")


def _link(event: Dict[str, Any], changed: Dict[str, Any], outline: Outline) -> None:
    """Tie a kernel to the operator that launched it, by torch_npu's own flows."""
    if changed["cat"] not in ("kernel", "gpu_memcpy"):
        if changed["cat"] == "cpu_op":
            changed["args"].setdefault("External id", _number_of(_thread(event), event.get("ts")))
        return
    args = changed["args"]
    args["device"], args["stream"] = changed["pid"], changed["tid"]
    source = _source(event, outline)
    if source is not None:
        args["External id"] = _number_of(source[:2], source[2])
        args["correlation"] = _number_of(_thread(event), event.get("ts"))


def _launch(
    event: Dict[str, Any], changed: Dict[str, Any], outline: Outline
) -> List[Dict[str, Any]]:
    """The launch of a kernel: the tab gives an operator the time of kernels only through one.

    torch_npu has none on the operator's thread, so it is a mark without duration at the operator's
    beginning, where torch_npu's own flow from operator to kernel begins.
    """
    source = _source(event, outline) if changed.get("cat") in ("kernel", "gpu_memcpy") else None
    start_ns = to_ns(source[2]) if source is not None else None
    if source is None or start_ns is None or outline.base_ns is None:
        return []
    names = ("External id", "correlation")
    return [
        {
            "ph": "X",
            "cat": "Runtime",
            "name": "torch_to_npu",
            "pid": source[0],
            "tid": source[1],
            "ts": (start_ns - outline.base_ns) / 1000,
            "dur": 0,
            "args": {name: changed["args"][name] for name in names},
        }
    ]


def _source(event: Dict[str, Any], outline: Outline) -> Optional[Tuple[Any, Any, str]]:
    """Thread and time of the operator that launched what ``event`` is."""
    key = outline.targets.get(_thread(event) + (str(event.get("ts")),))
    return outline.sources.get(key) if key is not None else None


def _number_of(thread: Tuple[Any, Any], time_text: Any) -> int:
    """An identifier of the slice that begins there, the same from both ends, below 2^53."""
    time_ns = to_ns(time_text) or 0
    return (time_ns % (1 << 46)) * 64 + zlib.crc32(str(thread[1]).encode()) % 64


def _thread(event: Dict[str, Any]) -> Tuple[Any, Any]:
    return event.get("pid"), event.get("tid")


def _finite(event: Dict[str, Any]) -> Dict[str, Any]:
    """No NaN or infinity among the values: strict JSON."""
    args = event.get("args")
    if isinstance(args, dict):
        wrong: List[str] = [
            key
            for key, value in args.items()
            if isinstance(value, float) and not math.isfinite(value)
        ]
        if wrong:
            kept = {key: (None if key in wrong else value) for key, value in args.items()}
            return dict(event, args=kept)
    return event
