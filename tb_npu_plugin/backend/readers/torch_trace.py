"""``*.pt.trace.json[.gz]``: traces of torch.profiler, from CPU, GPU and other devices."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Rows, Source, scalar
from tb_npu_plugin.backend.readers.spill import memory_at_most
from tb_npu_plugin.backend.readers.trace_file import TraceFile
from tb_npu_plugin.backend.readers.trace_rows import TraceRows
from tb_npu_plugin.backend.readers.trace_tables import MEMORY, TraceTables
from tb_npu_plugin.backend.readers.trace_view import read_events, tell

VERSION = 2
TABLES = ("tracks", "slices", "flows", "counters")
SOURCE = "torch"
LAZY = True
NAME = re.compile(r"\.pt\.trace\.json(\.gz)?$")
_RANK = re.compile(rb'"distributedInfo"\s*:')
#: No trace is from after this (the year 2050): times that would be are epoch times already.
LATEST_NS = 2_524_608_000 * 10**9


def matches(name: str) -> bool:
    return bool(NAME.search(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``tracks``, ``slices`` (by track, depth, start), ``flows`` and ``counters``."""
    with memory_at_most(source.con, MEMORY):
        (file,), rows = read_events(source, _base_ns)
        yield from TraceTables(source, rows, _base_ns(file, rows)).read()
    # Every call of the runtime has an end of an arrow, also those that launched nothing.
    tell(source, [file], rows, 0)
    if file.around(_RANK) > 1:
        source.notes.append(Note("torch-ranks-merged", source.rel))


def _base_ns(file: TraceFile, rows: TraceRows) -> int:
    base = base_ns(file.metadata.get("baseTimeNanoseconds"))
    first = scalar(file.source.con, f"SELECT min(start_ns) FROM {rows.slices.sql()}")
    return 0 if first is not None and first + base > LATEST_NS else base


def base_ns(value: object) -> int:
    """What is to be added to the file's times; 0 where they are epoch times."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return 0
    try:
        found = int(value)
    except ValueError:
        return 0
    return found if 0 <= found < LATEST_NS else 0
