"""Identity of a torch.profiler trace: rank, window and settings, from its two ends alone."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.profiler_info import ProfilerInfo, permission_note
from tb_npu_plugin.backend.readers.torch_trace import LATEST_NS, NAME, base_ns
from tb_npu_plugin.backend.readers.trace_numbers import UNKNOWN, instants

#: How much of either end is looked at.
END_BYTES = 1 << 18
#: A packed file has to be unpacked to see its end: only done up to this size.
MAX_PACKED_BYTES = 4 << 20
_BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*"?(-?\d{1,19})\b')
_JOB = re.compile(rb'"distributedInfo"\s*:\s*\{')
_RANK = re.compile(rb'"rank"\s*:\s*"?(\d{1,9})\b')
_WORLD = re.compile(rb'"world_size"\s*:\s*"?(\d{1,9})\b')
_TIME = re.compile(rb'"ts"\s*:\s*"?([\d.]{1,24})\b')
_LENGTH = re.compile(rb'"ts"\s*:\s*"?([\d.]{1,24})\b"?\s*,\s*"dur"\s*:\s*"?([\d.]{1,24})\b')
_SETTING = re.compile(
    rb'"(record_shapes|profile_memory|with_stack|with_flops|with_modules)"\s*:\s*([01]|true|false)'
)
_STAMP = re.compile(r"\.\d+$")


def worker_of(name: str) -> str:
    """``host_42.1719853884.pt.trace.json.gz`` -> ``host_42``."""
    return _STAMP.sub("", NAME.sub("", name)) or name


def read(path: Path) -> ProfilerInfo:
    """What the two ends of the file tell. Never raises for its content.

    The window is that of the events near the ends: exact enough to tell recordings apart.
    """
    try:
        head, tail = _ends(path)
    except PermissionError:
        return ProfilerInfo(notes=(permission_note(path, path.name),))
    except (OSError, EOFError, zlib.error):
        return ProfilerInfo()
    job = _JOB.search(head) or _JOB.search(tail)
    about = job.string[job.end() : job.end() + 4096] if job else b""
    rank, world = _RANK.search(about), _WORLD.search(about)
    low, high = _window(head, tail)
    settings = {
        m.group(1).decode(): m.group(2) in (b"1", b"true") for m in _SETTING.finditer(head + tail)
    }
    return ProfilerInfo(
        ranks=((f"{path.name} distributedInfo", int(rank.group(1))),) if rank else (),
        start_ns=low,
        end_ns=high,
        world_size=int(world.group(1)) if world else None,
        config={"common_config": settings} if settings else {},
        notes=(fallback_note(),),
    )


def fallback_note() -> Note:
    """That these files have a tab of their own, and where it is."""
    installed = metadata.entry_points(group="tensorboard_plugins")
    there = any(point.name == "pytorch_profiler" for point in installed)
    return Note("torch-trace-tab" if there else "torch-trace", None)


def _ends(path: Path) -> tuple[bytes, bytes]:
    packed = path.suffix == ".gz"
    size = path.stat().st_size
    with path.open("rb") as raw:
        if not packed:
            head = raw.read(END_BYTES)
            raw.seek(max(len(head), size - END_BYTES))
            return head, raw.read(END_BYTES)
        head, tail = b"", b""
        for piece in _unpacked(gzip.GzipFile(fileobj=raw)):
            if len(head) < END_BYTES:
                head += piece
                if size > MAX_PACKED_BYTES and len(head) >= END_BYTES:
                    break
            else:
                tail = (tail + piece)[-END_BYTES:]
        return head, tail


def _unpacked(stream: gzip.GzipFile) -> Iterator[bytes]:
    """The stream in pieces, up to where it is cut."""
    try:
        while piece := stream.read(END_BYTES):
            yield piece
    except (EOFError, zlib.error):
        return


def _window(head: bytes, tail: bytes) -> tuple[int | None, int | None]:
    times = [m.group(1) for m in _TIME.finditer(head)] + [m.group(1) for m in _TIME.finditer(tail)]
    known = [int(t) for t in instants(times) if t not in (UNKNOWN, 0)]
    if not known:
        return None, None
    pairs = [m.groups() for part in (head, tail) for m in _LENGTH.finditer(part)]
    starts, lengths = instants([p[0] for p in pairs]), instants([p[1] for p in pairs])
    ends = [int(a) + int(b) for a, b in zip(starts, lengths, strict=True) if UNKNOWN not in (a, b)]
    low, high = min(known), max(known + ends)
    found = _BASE.search(tail) or _BASE.search(head)
    base = base_ns(found.group(1).decode()) if found else 0
    if low + base > LATEST_NS:
        base = 0
    if low + base < 10**18:  # before 2001: relative to a base that the ends do not tell
        return None, None
    return low + base, high + base
