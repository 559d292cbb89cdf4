"""Tracks of a database's timeline: numbered as they come, named as the trace names them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tb_npu_plugin.backend.readers.arrays import register
from tb_npu_plugin.backend.readers.base import Source
from tb_npu_plugin.backend.readers.db_load import forget
from tb_npu_plugin.backend.readers.trace_rows import TraceRows

#: Processes in the trace's order; what is not listed comes last.
ORDER = (
    "Python", "Python GC", "MSTX", "CANN", "Ascend Hardware", "AI Core Freq", "Communication", "HBM",
    "LLC", "DDR", "NPU MEM", "Stars Soc Info", "Acc PMU", "QoS", "HCCS", "PCIe", "NIC", "RoCE",
    "Overlap Analysis",
)  # fmt: skip


class TimelineRows(TraceRows):
    """Rows of a timeline that come from SQL; tracks are made by what they show."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.con = source.con
        self.events = 0

    def track(
        self, process: str, device: int | None, tid: int, thread: str | None, pid: int | None = None
    ) -> int:
        """The number of a track. ``pid``: the process' own number, where it has one."""
        shown = "Communication" if process == "HCCL" else process
        place = ORDER.index(shown) if shown in ORDER else len(ORDER)
        key: int | str = process if device is None else f"{process} {device}"
        key = key if pid is None else pid
        names = self.names.process[key]
        names.setdefault("name", process)
        names.setdefault("labels", "CPU" if device is None else f"NPU {device}")
        names.setdefault("sort_index", place)
        if thread:
            self.names.thread[key, tid]["name"] = thread
        self.names.thread[key, tid].setdefault("sort_index", tid)
        return self.codes[key, tid]

    def tracks(self, table: str, rows: Iterable[tuple[Any, ...]], keys: tuple[str, ...]) -> None:
        """Table ``table(keys…, code)``: the track of each of ``rows``, (keys…, arguments of
        :meth:`track`)."""
        found = [(row[: len(keys)], self.track(*row[len(keys) :])) for row in rows]
        columns = {
            key: np.array([-1 if k[i] is None else k[i] for k, _ in found], dtype=np.int64)
            for i, key in enumerate(keys)
        }
        columns["code"] = np.array([code for _, code in found], dtype=np.int64)
        register(self.con, "found", columns)
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT * FROM found")
        forget(self.con, "found")

    def threads(self, table: str, ids: Iterable[int], process: str) -> None:
        """Table ``table(thread, code)`` of host threads by their global ids (pid << 32 | tid)."""
        own = process == "Python"
        self.tracks(
            table,
            [
                (i, process, None, i & 0xFFFFFFFF, f"Thread {i & 0xFFFFFFFF}",
                 i >> 32 if own and i >= 0 else None)
                for i in ids
            ],
            ("thread",),
        )  # fmt: skip

    def add_slices(self, rows: str) -> None:
        """``rows``: SQL with code, name, cat, start_ns, dur_ns, args."""
        before = self.slices.rows
        self.slices.copy(
            self.con,
            f"SELECT *, 'X' AS phase, {self.events} + row_number() OVER () AS event FROM ({rows}) "
            "WHERE start_ns IS NOT NULL",
        )
        self.events += self.slices.rows - before


def json_args(**values: str) -> str:
    """SQL of a JSON object of SQL values; those that are NULL are left out."""
    parts = ", ".join(
        f"CASE WHEN ({sql}) IS NOT NULL THEN '\"{name.replace('_', ' ')}\":' || to_json({sql}) END"
        for name, sql in values.items()
    )
    return f"nullif('{{' || concat_ws(',', {parts}) || '}}', '{{}}')"
