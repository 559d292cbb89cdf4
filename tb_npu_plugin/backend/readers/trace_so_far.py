"""A trace that is shown before it is read in full: the tables of what has come so far."""

from __future__ import annotations

from collections.abc import Callable

from tb_npu_plugin.backend.readers.base import Source
from tb_npu_plugin.backend.readers.trace_rows import TraceRows
from tb_npu_plugin.backend.readers.trace_tables import TraceTables

#: Bytes of text after which a trace is shown for the first time: about half a second of reading.
FIRST_BYTES = 24 << 20
#: It is shown again when it is this many times larger, so that sorting what is not all costs
#: a seventh of sorting everything, at most.
GROWTH = 8


class SoFar:
    """Publishes a trace's tables while its rows come in."""

    def __init__(self, source: Source, rows: TraceRows) -> None:
        self._source, self._rows = source, rows
        self._due = FIRST_BYTES
        self._before = 0
        self._file_bytes = 0

    def tell(self, file_bytes: int, base_ns: Callable[[], int]) -> None:
        """``file_bytes`` of the present file were read; what was read of others is added up."""
        if file_bytes < self._file_bytes:
            self._before += self._file_bytes
        self._file_bytes = file_bytes
        if self._source.show and self._before + file_bytes >= self._due:
            self._due = (self._before + file_bytes) * GROWTH
            self._source.show(TraceTables(self._source, self._rows, base_ns()).so_far())
