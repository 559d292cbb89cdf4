"""The four tables of a trace out of its spilled rows: sorted, with depths, flows paired."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from tb_npu_plugin.backend.readers.base import Rows, Source, scalar
from tb_npu_plugin.backend.readers.columns import Columns
from tb_npu_plugin.backend.readers.spill import Spill
from tb_npu_plugin.backend.readers.trace_nesting import Nesting, ends_of
from tb_npu_plugin.backend.readers.trace_rows import TraceRows
from tb_npu_plugin.backend.readers.trace_tracks import Track, tracks
from tb_npu_plugin.backend.schema.trace import TRACKS

#: Slices whose depths are worked out at a time.
WINDOW_ROWS = 500_000
#: How far a trace is done once its text is read, and once depths are known.
READ, NESTED = 0.7, 0.8


class TraceTables:
    """Yields ``tracks``, ``slices``, ``flows`` and ``counters``. ``base_ns`` is added to instants."""

    def __init__(self, source: Source, rows: TraceRows, base_ns: int = 0) -> None:
        self.source, self.rows, self.base_ns = source, rows, base_ns
        self.con = source.con
        self.tracks: list[Track] = []
        self.open_flows = 0

    def read(self) -> Iterator[Rows]:
        self.rows.finish()
        self._number()
        depths = self._depths()
        self.source.progress(NESTED)
        yield Rows("tracks", lambda: self._tracks(depths))
        yield Rows("slices", self._slices)
        self._pair()
        yield Rows("flows", self._flows)
        yield Rows("counters", self._counters)

    def _number(self) -> None:
        """Number the tracks in display order."""
        rows = self.rows
        cats: dict[int, set[str]] = {}
        for code, cat in self._all(
            f"SELECT DISTINCT code, coalesce(lower(cat), '') FROM {rows.slices.sql()}"
        ):
            cats.setdefault(code, set()).add(cat)
        points = {r[0] for r in self._all(f"SELECT DISTINCT code FROM {rows.counters.sql()}")}
        self.tracks = tracks(rows.codes, rows.names, cats, points)
        codes = np.array([t.code for t in self.tracks], dtype=np.int32)
        self.con.register("numbers", {"code": codes, "track": np.arange(len(codes))})
        self.con.execute("CREATE OR REPLACE TEMP TABLE track_of AS SELECT * FROM numbers")
        self.con.unregister("numbers")

    def _depths(self) -> dict[int, int]:
        """Fill table ``depths`` (event, depth); returns the number of rows of each track."""
        con = self.con
        con.execute(
            "CREATE OR REPLACE TEMP TABLE ordered AS SELECT track, event, start_ns, "
            "greatest(coalesce(dur_ns, 0), 0) AS dur_ns "
            f"FROM {self.rows.slices.sql()} JOIN track_of USING (code) WHERE phase = 'X' "
            "ORDER BY track, start_ns, dur_ns DESC, event"
        )
        con.execute("CREATE OR REPLACE TEMP TABLE depths (event BIGINT, depth BIGINT)")
        total = scalar(con, "SELECT count(*) FROM ordered")
        deepest: dict[int, int] = {}
        nesting, current = Nesting(), -1
        for begin in range(0, total, WINDOW_ROWS):
            window = con.execute(
                f"SELECT * FROM ordered WHERE rowid >= {begin} AND rowid < {begin + WINDOW_ROWS} "
                "ORDER BY rowid"
            ).fetchnumpy()
            track, event = np.asarray(window["track"]), np.asarray(window["event"])
            start = np.asarray(window["start_ns"])
            end = ends_of(start, np.asarray(window["dur_ns"]))
            depth = np.empty(len(track), dtype=np.int64)
            bounds = [0, *(np.flatnonzero(np.diff(track)) + 1).tolist(), len(track)]
            for low, high in pairwise(bounds):
                if track[low] != current:
                    nesting, current = Nesting(), int(track[low])
                depth[low:high] = nesting.depths(start[low:high], end[low:high])
                deepest[current] = max(deepest.get(current, 0), int(depth[low:high].max()) + 1)
            con.register("found", {"event": event, "depth": depth})
            con.execute("INSERT INTO depths SELECT * FROM found")
            con.unregister("found")
        con.execute("DROP TABLE ordered")
        return deepest

    def _tracks(self, depths: dict[int, int]) -> str:
        slices = self._spans(self.rows.slices, "start_ns", "start_ns + greatest(coalesce(CAST("
                             "floor(dur_ns) AS BIGINT), 0), 0)")  # fmt: skip
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
        return (
            "SELECT CAST(track AS BIGINT) AS track, coalesce(depth, 0) AS depth, "
            f"{self._at('start_ns')} AS start_ns, dur_ns, name, cat, phase, args, event "
            f"FROM {self.rows.slices.sql()} JOIN track_of USING (code) "
            "LEFT JOIN depths USING (event) ORDER BY track, depth, start_ns, event"
        )

    def _pair(self) -> None:
        """Fill table ``arrows``: each end of a flow with the last beginning before it.

        Where none is before (clocks of host and device drift), the first one is taken. A middle
        ends one arrow and begins the next. What ends where it begins is no arrow.
        """
        ends = self.rows.flow_ends.sql()
        self.con.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE arrows AS
            WITH ends AS (
                SELECT phase, coalesce(cat, '') AS cat, name, coalesce(id, '') AS id, track, time_ns
                FROM {ends} LEFT JOIN track_of USING (code)
            ), begins AS (
                SELECT cat, id, count(*) AS n, min(time_ns) AS first_ns,
                    arg_min(track, time_ns) AS first_track, arg_min(name, time_ns) AS first_name
                FROM ends WHERE phase IN ('s', 't') GROUP BY cat, id
            ), several AS (
                SELECT ends.* FROM ends JOIN begins USING (cat, id)
                WHERE phase IN ('s', 't') AND n > 1
            )
            SELECT e.cat, coalesce(b.name, g.first_name) AS name, e.id,
                CASE WHEN b.time_ns IS NULL THEN g.first_track ELSE b.track END AS from_track,
                coalesce(b.time_ns, g.first_ns) AS from_ns, e.track AS to_track,
                e.time_ns AS to_ns
            FROM (SELECT * FROM ends WHERE phase IN ('t', 'f')) e
            LEFT JOIN begins g USING (cat, id)
            ASOF LEFT JOIN several b
                ON e.cat = b.cat AND e.id = b.id AND e.time_ns - (e.phase = 't')::INT >= b.time_ns
            """
        )
        good = "from_track IS NOT NULL AND to_track IS NOT NULL"
        self.open_flows = scalar(self.con, f"SELECT count(*) FROM arrows WHERE NOT ({good})")
        self.con.execute(
            f"DELETE FROM arrows WHERE NOT ({good}) OR (from_track = to_track AND from_ns = to_ns)"
        )

    def _flows(self) -> str:
        return (
            "SELECT nullif(cat, '') AS cat, name, nullif(id, '') AS id, "
            f"CAST(from_track AS BIGINT) AS from_track, {self._at('from_ns')} AS from_ns, "
            f"CAST(to_track AS BIGINT) AS to_track, {self._at('to_ns')} AS to_ns "
            "FROM arrows ORDER BY from_track, from_ns, to_ns, id"
        )

    def _counters(self) -> str:
        return (
            "SELECT CAST(track AS BIGINT) AS track, name, series, "
            f"{self._at('time_ns')} AS time_ns, value "
            f"FROM {self.rows.counters.sql()} JOIN track_of USING (code) "
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
