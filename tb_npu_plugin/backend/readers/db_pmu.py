"""Hardware counters of kernels: TASK_PMU_INFO, a row per kernel and counter, turned on its side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import batches, double, id_
from tb_npu_plugin.backend.schema import PMU_DEFAULT_UNIT, extra_key, pmu_field, scale

#: CANN's text files call these two otherwise.
_RENAMED = {"aic_total_time": "aicore_time", "aiv_total_time": "aiv_time"}
#: What does not fit into this lies in files.
_IN_MEMORY_BYTES = 64 << 20
_MAX_COUNTERS = 512


@dataclass
class Counters:
    """Counters by kernel: arrays (NaN where unknown), and the SQL of canonical columns of them."""

    arrays: dict[str, Any] = field(default_factory=dict)
    items: list[str] = field(default_factory=list)


def counters(db: Database, kernels: npt.NDArray[np.int64]) -> Counters:
    """The counters of ``kernels`` (their ids, −1 for what has none), in that order.

    Times are ns as they stand; counters that are no known ones are kept as ``x_…``.
    """
    table = db.table("TASK_PMU_INFO")
    if table is None:
        return Counters()
    columns = {"kernel": id_("globalTaskId"), "name": id_("name"), "value": double("value")}
    absent = [k for k, w in columns.items() if not table.column(w.names)]
    if absent:
        db.note("column-missing", table.name, columns=", ".join(absent))
        return Counters()
    matrix = _Matrix(db, kernels)
    for batch in batches(db, table, columns):
        matrix.add(batch)
    return _named(db, matrix.rows)


class _Matrix:
    """``rows``: by the id of a counter's name, its values, one per kernel."""

    def __init__(self, db: Database, kernels: npt.NDArray[np.int64]) -> None:
        self.db = db
        self.size = len(kernels)
        self.rows: dict[int, npt.NDArray[np.float64]] = {}
        self.order = np.argsort(kernels, kind="stable").astype(np.int32)
        self.sorted = kernels[self.order]
        known = self.sorted[self.sorted >= 0]
        self.low = int(known[0]) if len(known) else 0
        span = int(known[-1]) - self.low + 1 if len(known) else 0
        # Ids are nearly consecutive: a look-up is ten times faster than a search.
        self.place: npt.NDArray[np.int32] | None = None
        if span <= 16 * len(known) + 1024:
            self.place = np.full(max(span, 1), -1, dtype=np.int32)
            self.place[known - self.low] = self.order[self.size - len(known) :]

    def add(self, batch: dict[str, Any]) -> None:
        """Some rows of the table, which is sorted by counter or by kernel."""
        good = np.ones(len(batch["value"]), dtype=bool)
        for values in batch.values():
            good &= ~np.ma.getmaskarray(values)
        kernel, name, value = (np.ma.getdata(batch[k])[good] for k in ("kernel", "name", "value"))
        place = self._places(kernel)
        for number in np.unique(name).tolist():
            row = self._row(number)
            if row is not None:
                those = (name == number) & (place >= 0)
                row[place[those]] = value[those]

    def _places(self, kernel: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        if self.place is None:
            at = np.minimum(np.searchsorted(self.sorted, kernel), self.size - 1)
            return np.where(self.sorted[at] == kernel, self.order[at], -1).astype(np.int32)
        at = kernel - self.low
        inside = (at >= 0) & (at < len(self.place))
        return np.where(inside, self.place[np.where(inside, at, 0)], -1).astype(np.int32)

    def _row(self, number: int) -> npt.NDArray[np.float64] | None:
        if number not in self.rows and len(self.rows) < _MAX_COUNTERS:
            if self.size * 8 * (len(self.rows) + 1) > _IN_MEMORY_BYTES:
                path = self.db.source.scratch / f"counter-{number}"
                row: Any = np.memmap(path, dtype=np.float64, mode="w+", shape=(self.size,))
            else:
                row = np.empty(self.size, dtype=np.float64)
            row[:] = np.nan
            self.rows[number] = row
        return self.rows.get(number)


def _named(db: Database, rows: dict[int, npt.NDArray[np.float64]]) -> Counters:
    wanted = ", ".join(map(str, rows)) or "NULL"
    names = db.source.con.execute(f"SELECT id, value FROM strings WHERE id IN ({wanted})")
    words = dict(names.fetchall())
    out = Counters()
    for number, values in rows.items():
        header = words.get(number) or f"counter {number}"
        header = _RENAMED.get(header.strip().lower(), header)
        known = pmu_field(header)
        column = known.key if known else extra_key(header)
        source = f"counter_{number}"
        if any(item.endswith(f"AS {ident(column)}") for item in out.items):
            continue
        # Times are ns here, µs in the text files; other units are the same.
        unit = PMU_DEFAULT_UNIT.get(known.kind, "") if known and known.kind != "duration" else ""
        value = source if scale(unit) == 1.0 else f"{source} * {scale(unit)!r}"
        out.arrays[source] = values
        out.items.append(f"CASE WHEN isfinite({source}) THEN {value} END AS {ident(column)}")
    return out
