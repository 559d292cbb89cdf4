"""trace_view.json (and CANN's msprof_*.json): the events of host and device as a Chrome trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Rows, Source
from tb_npu_plugin.backend.readers.csv_file import Unreadable
from tb_npu_plugin.backend.readers.spill import memory_at_most
from tb_npu_plugin.backend.readers.trace_file import TraceFile
from tb_npu_plugin.backend.readers.trace_rows import TraceRows
from tb_npu_plugin.backend.readers.trace_so_far import SoFar
from tb_npu_plugin.backend.readers.trace_tables import MEMORY, READ, TraceTables

VERSION = 2
TABLES = ("tracks", "slices", "flows", "counters")
SOURCE = "trace"
#: Not read before a view asks, unless the file is small.
LAZY = True
_NAME = re.compile(r"^(trace_view|msprof(_\w+)*)\.json(\.gz)?$")
_DEVICE_KINDS = {"hardware", "communication", "overlap"}


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``tracks``, ``slices`` (by track, depth, start), ``flows`` and ``counters``."""
    with memory_at_most(source.con, MEMORY):
        files, rows = read_events(source)
        tables = TraceTables(source, rows)
        yield from tables.read()
    tell(source, files, rows, tables.open_flows)
    if rows.slices.rows and not any(t.kind in _DEVICE_KINDS for t in tables.tracks):
        source.notes.append(Note("trace-host-only", source.rel))


def read_events(
    source: Source, base_ns: Callable[[TraceFile, TraceRows], int] = lambda _file, _rows: 0
) -> tuple[list[TraceFile], TraceRows]:
    """Everything the file holds, and those that go on where it ends; its rows spilled.

    ``base_ns``: what is to be added to instants, as far as the file says before its end.
    """
    rows = TraceRows(source)
    pieces = [(source.path, source.rel), *source.more]
    files: list[TraceFile] = []
    so_far = SoFar()
    for number, (path, rel) in enumerate(pieces):
        piece = replace(source, path=path, rel=rel, progress=_share(source, number, len(pieces)))
        file = TraceFile(piece)
        try:
            for events in file:
                rows.add(events)
                if source.show and so_far.is_due(sum(f.size for f in files) + file.size):
                    source.show(TraceTables(source, rows, base_ns(file, rows)).so_far())
        except Unreadable as error:
            if len(pieces) == 1:
                raise
            source.notes.append(error.note)
        else:
            files.append(file)
    return files, rows


def _share(source: Source, number: int, count: int) -> Callable[[float], None]:
    """Tells the progress of one of ``count`` files as that of all of them."""
    return lambda part: source.progress((number + part) / count * READ)


def tell(source: Source, files: list[TraceFile], rows: TraceRows, open_flows: int) -> None:
    """Findings about the files: how they end, and what was left out of the tables."""
    rel, note = source.rel, source.notes.append
    for file in files:
        _tell(file)
    if not any(file.events or file.skipped for file in files):
        note(Note("trace-empty", rel))
    if rows.without_time:
        note(Note("trace-without-time", rel, None, {"count": rows.without_time}))
    if rows.without_duration:
        note(Note("trace-without-duration", rel, None, {"count": rows.without_duration}))
    if rows.negative:
        note(Note("impossible-value", rel, None,
                  {"count": rows.negative, "column": "dur",
                   "example": f"{rows.least_ns / 1e3:g} µs"}))  # fmt: skip
    if rows.other_phases:
        listed = ", ".join(sorted(rows.other_phases)[:8])
        note(Note("trace-phases-skipped", rel, None,
                  {"count": sum(rows.other_phases.values()), "phases": listed}))  # fmt: skip
    if open_flows:
        note(Note("trace-flows-open", rel, None, {"count": open_flows}))


def _tell(file: TraceFile) -> None:
    rel, note = file.source.rel, file.source.notes.append
    if file.cut is not None:
        note(Note("trace-truncated", rel, f"byte {file.cut}",
                  {"offset": file.cut, "size": file.size, "events": file.events}))  # fmt: skip
    elif not file.closed:
        note(Note("trace-unclosed", rel, f"byte {file.size}", {"events": file.events}))
    elif file.comma:
        note(Note("trace-trailing-comma", rel, f"byte {file.size}"))
    if file.skipped:
        places = ", ".join(map(str, file.skipped[:5])) + (", …" if len(file.skipped) > 5 else "")
        note(Note("trace-object-skipped", rel, f"byte {places}", {"count": len(file.skipped)}))
    if file.encoding != "utf-8":
        note(Note("encoding", rel, None, {"encoding": file.encoding.upper()}))
    elif file.damaged:
        note(Note("encoding-damaged", rel))
    if file.bare:
        note(Note("trace-not-numbers", rel, None, {"count": file.bare}))
