"""The four tables of a trace out of its spilled rows: sorted, with depths, flows paired."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from tb_npu_plugin.backend.readers.arrays import register, unregister
from tb_npu_plugin.backend.readers.base import Rows, Source, end_sql, scalar
from tb_npu_plugin.backend.readers.columns import Columns
from tb_npu_plugin.backend.readers.spill import Spill, one_thread, with_more_memory
from tb_npu_plugin.backend.readers.trace_index import build_index
from tb_npu_plugin.backend.readers.trace_nesting import Nesting, ends_of
from tb_npu_plugin.backend.readers.trace_rows import TraceRows
from tb_npu_plugin.backend.readers.trace_tracks import Track, tracks
from tb_npu_plugin.backend.schema.trace import TRACKS

#: Slices whose depths are worked out at a time, in the database's vectors of 2,048.
WINDOW_VECTORS = 256
#: How far a trace is done once its text is read, and once depths are known.
READ, NESTED = 0.7, 0.8
#: The database's share of memory while a trace is read.
MEMORY = "200MB"
#: Slices that are stored together: a window of a track reads no more than it needs.
GROUP_ROWS = 40_960


class TraceTables:
    """Yields ``tracks``, ``slices``, ``flows`` and ``counters``. ``base_ns`` is added to instants."""

    def __init__(self, source: Source, rows: TraceRows, base_ns: int = 0) -> None:
        self.source, self.rows, self.base_ns = source, rows, base_ns
        self.con = source.con
        self.tracks: list[Track] = []
        self.open_flows = 0

    def read(self) -> Iterator[Rows]:
        """Everything, once all rows are there."""
        self.rows.finish()
        yield from self._tables()

    def so_far(self) -> Iterator[Rows]:
        """The same of the rows that are there; more may be added afterwards."""
        self.source = replace(self.source, progress=lambda _done: None)
        yield from self._tables()

    def _tables(self) -> Iterator[Rows]:
        self._number()
        depths = self._depths()
        self.source.progress(NESTED)
        yield Rows("tracks", lambda: self._tracks(depths))
        with one_thread(self.con):
            slices = Rows("slices", self._slices, check=self._index, group=GROUP_ROWS)
            yield from with_more_memory(self.con, [slices])
        self._pair()
        yield Rows("flows", self._flows)
        yield Rows("counters", self._counters)

    def _index(self, table: str) -> None:
        build_index(self.con, table)

    def _number(self) -> None:
        """Number the tracks in display order."""
        rows = self.rows
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE texts AS SELECT * FROM {rows.texts.sql()}")
        cats: dict[int, set[str]] = {}
        for code, cat in self._all(
            "SELECT s.code, lower(coalesce(text, cat_text, '')) FROM (SELECT DISTINCT code, cat, cat_text "
            f"FROM {rows.slices.sql()}) s LEFT JOIN texts t ON t.code = s.cat"
        ):
            cats.setdefault(code, set()).add(cat)
        points = {r[0] for r in self._all(f"SELECT DISTINCT code FROM {rows.counters.sql()}")}
        self.tracks = tracks(rows.codes, rows.names, cats, points)
        codes = np.array([t.code for t in self.tracks], dtype=np.int32)
        register(self.con, "numbers", {"code": codes, "track": np.arange(len(codes))})
        self.con.execute("CREATE OR REPLACE TEMP TABLE track_of AS SELECT * FROM numbers")
        unregister(self.con, "numbers")

    def _depths(self) -> dict[int, int]:
        """Depths into a part beside those of the slices; returns the rows of each track."""
        con = self.con
        depths = np.zeros(self.rows.slices.rows, dtype=np.uint16)
        deepest: dict[int, int] = {}
        nesting, current = Nesting(), -1
        con.execute(
            "SELECT track, n, start_ns, greatest(coalesce(dur_ns, 0), 0) AS dur_ns "
            f"FROM {self.rows.slices.sql()} JOIN track_of USING (code) WHERE instant = 0 "
            "ORDER BY track, start_ns, dur_ns DESC, n"
        )
        while len(window := con.fetch_df_chunk(WINDOW_VECTORS)):
            track, n = window["track"].to_numpy(), window["n"].to_numpy()
            start = window["start_ns"].to_numpy()
            end = ends_of(start, window["dur_ns"].to_numpy())
            bounds = [0, *(np.flatnonzero(np.diff(track)) + 1).tolist(), len(track)]
            for low, high in pairwise(bounds):
                if track[low] != current:
                    nesting, current = Nesting(), int(track[low])
                depth = nesting.depths(start[low:high], end[low:high])
                depths[n[low:high]] = np.minimum(depth, np.iinfo(np.uint16).max)
                deepest[current] = max(deepest.get(current, 0), int(depth.max()) + 1)
        # A name of its own for each time: what so_far() wrote is in the database's memory still.
        name = f"depths_of_{len(depths)}"
        self._nested = Spill(con, self.source.scratch, name, {"depth": "INTEGER"})
        self._nested.add(depths)
        return deepest

    def _tracks(self, depths: dict[int, int]) -> str:
        slices = self._spans(self.rows.slices, "start_ns", end_sql("start_ns", "dur_ns"))
        points = self._spans(self.rows.counters, "time_ns", "time_ns")
        columns = Columns(self.con, TRACKS)
        for number, t in enumerate(self.tracks):
            held = slices.get(t.code, (0, None, None))
            values = points.get(t.code, (0, None, None))
            starts = [s for s in (held[1], values[1]) if s is not None]
            ends = [e for e in (held[2], values[2]) if e is not None]
            columns.add(
                (number, t.kind, t.device, t.process, t.label, t.process_sort, t.thread,
                 t.thread_sort, _id(t.key[0]), _id(t.key[1]), held[0],
                 max(depths.get(number, 0), 1 if held[0] else 0), values[0],
                 min(starts, default=None), max(ends, default=None))
            )  # fmt: skip
        return columns.sql()

    def _spans(
        self, spill: Spill, start: str, end: str
    ) -> dict[int, tuple[int, int | None, int | None]]:
        return {
            code: (count, first, last)
            for code, count, first, last in self._all(
                f"SELECT code, count(*), min({self._at(start)}), max({self._at(end)}) "
                f"FROM {spill.sql()} GROUP BY code"
            )
        }

    def _slices(self) -> str:
        # Both sides come in the order in which they were spilled: no join, which memory must hold.
        return (
            f"SELECT CAST(track AS BIGINT) AS track, CAST(depth AS BIGINT) AS depth, "
            f"{self._at('start_ns')} AS start_ns, dur_ns, "
            "coalesce(a.text, s.name_text) AS name, coalesce(b.text, s.cat_text) AS cat, "
            "CASE instant WHEN 0 THEN 'X' ELSE 'i' END AS phase, args, event "
            f"FROM (SELECT * FROM {self.rows.slices.sql()} POSITIONAL JOIN {self._nested.sql()}) s "
            f"JOIN track_of k ON k.code = s.code LEFT JOIN texts a ON a.code = s.name "
            "LEFT JOIN texts b ON b.code = s.cat "
            # Instants first: what follows lies in lanes whose slices do not overlap (slice_index).
            "ORDER BY track, instant = 0, depth, start_ns, event"
        )

    def _pair(self) -> None:
        """Fill table ``arrows``: each end of a flow with the last beginning before it.

        Where none is before (clocks of host and device drift), the first one is taken. A middle
        ends one arrow and begins the next. What ends where it begins is no arrow.
        """
        each = (
            "OVER (PARTITION BY cat, cat_text, id ORDER BY time_ns, phase "
            "ROWS BETWEEN UNBOUNDED PRECEDING AND"
        )
        self.con.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE arrows AS
            SELECT cat, cat_text, same, name, name_text, id, track AS to_track, time_ns AS to_ns,
                coalesce(before, first) AS begin
            FROM (
                SELECT *, last_value(begin IGNORE NULLS) {each} 1 PRECEDING) AS before,
                    first_value(begin IGNORE NULLS) {each} UNBOUNDED FOLLOWING) AS first
                FROM (
                    SELECT cat, cat_text, phase & 3 AS phase, phase > 3 AS same, name, name_text, id,
                        track, time_ns,
                        CASE WHEN phase & 3 < 2 THEN {{'track': track, 'ns': time_ns}} END AS begin
                    FROM {self.rows.flow_ends.sql()} LEFT JOIN track_of USING (code)
                )
            ) WHERE phase > 0
            """
        )
        good = "begin.track IS NOT NULL AND to_track IS NOT NULL"
        self.open_flows = scalar(self.con, f"SELECT count(*) FROM arrows WHERE NOT ({good})")
        self.con.execute(
            f"DELETE FROM arrows WHERE NOT coalesce({good}, false) "
            "OR (begin.track = to_track AND begin.ns = to_ns)"
        )

    def _flows(self) -> str:
        return (
            "SELECT coalesce(c.text, cat_text) AS cat, "
            "CASE WHEN same THEN c.text || id ELSE coalesce(n.text, name_text) END AS name, id, "
            f"CAST(begin.track AS BIGINT) AS from_track, {self._at('begin.ns')} AS from_ns, "
            f"CAST(to_track AS BIGINT) AS to_track, {self._at('to_ns')} AS to_ns "
            "FROM arrows a LEFT JOIN texts c ON c.code = a.cat LEFT JOIN texts n ON n.code = a.name "
            "ORDER BY from_track, from_ns, to_ns, id"
        )

    def _counters(self) -> str:
        return (
            "SELECT CAST(track AS BIGINT) AS track, "
            "coalesce(n.text, name_text) AS name, coalesce(s.text, series_text) AS series, "
            f"{self._at('time_ns')} AS time_ns, value "
            f"FROM {self.rows.counters.sql()} c JOIN track_of k ON k.code = c.code "
            "LEFT JOIN texts n ON n.code = c.name LEFT JOIN texts s ON s.code = c.series "
            "ORDER BY track, name, series, time_ns"
        )

    def _at(self, instant: str) -> str:
        if not self.base_ns:
            return instant
        return f"TRY_CAST(CAST({instant} AS HUGEINT) + {self.base_ns} AS BIGINT)"

    def _all(self, sql: str) -> list[tuple[Any, ...]]:
        return self.con.execute(sql).fetchall()


def _id(value: int | str) -> str:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else str(value)
