"""Hardware counters of kernels: TASK_PMU_INFO, a row per kernel and counter, turned on its side."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import batches, double, id_
from tb_npu_plugin.backend.schema import PMU_DEFAULT_UNIT, extra_key, pmu_field, scale

#: CANN's text files call these two otherwise.
_RENAMED = {"aic_total_time": "aicore_time", "aiv_total_time": "aiv_time"}
#: A larger matrix lies in a file.
_IN_MEMORY_BYTES = 64 << 20
_MAX_COUNTERS = 512


def load_counters(db: Database, kernels: npt.NDArray[np.int64]) -> list[str]:
    """Make view ``counters(id, …)`` with a row per kernel; returns its columns.

    ``kernels``: ids of the kernels, sorted, each once. Times are ns as they stand; counters that
    are no known ones are kept as ``x_…``.
    """
    table = db.table("TASK_PMU_INFO")
    matrix = _Matrix(db, kernels)
    if table is not None and len(kernels):
        columns = {"kernel": id_("globalTaskId"), "name": id_("name"), "value": double("value")}
        present = {k: w for k, w in columns.items() if table.column(w.names)}
        if len(present) < len(columns):
            db.note("column-missing", table.name, columns=", ".join(set(columns) - set(present)))
        else:
            for batch in batches(db, table, columns):
                matrix.add(batch)
    return matrix.register()


class _Matrix:
    """A row per counter, a column per kernel."""

    def __init__(self, db: Database, kernels: npt.NDArray[np.int64]) -> None:
        self.db, self.kernels = db, kernels
        self.rows: dict[int, npt.NDArray[np.float64]] = {}
        low = int(kernels[0]) if len(kernels) else 0
        span = int(kernels[-1]) - low + 1 if len(kernels) else 0
        # Ids are nearly consecutive: a look-up is ten times faster than a search.
        self.low = low
        self.place: npt.NDArray[np.int32] | None = None
        if span <= 16 * len(kernels) + 1024:
            self.place = np.full(span, -1, dtype=np.int32)
            self.place[kernels - low] = np.arange(len(kernels), dtype=np.int32)

    def add(self, batch: dict[str, Any]) -> None:
        """Some rows of the table, which is sorted by counter or by kernel."""
        good = np.ones(len(batch["value"]), dtype=bool)
        for values in batch.values():
            good &= ~np.ma.getmaskarray(values)
        kernel, name, value = (np.ma.getdata(batch[k])[good] for k in ("kernel", "name", "value"))
        place = self._places(kernel)
        for number in np.unique(name).tolist():
            row = self._row(number)
            if row is None:
                continue
            those = (name == number) & (place >= 0)
            row[place[those]] = value[those]

    def _places(self, kernel: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if self.place is None:
            at = np.minimum(np.searchsorted(self.kernels, kernel), len(self.kernels) - 1)
            return np.where(self.kernels[at] == kernel, at, -1)
        at = kernel - self.low
        inside = (at >= 0) & (at < len(self.place))
        return np.where(inside, self.place[np.where(inside, at, 0)], -1)

    def _row(self, number: int) -> npt.NDArray[np.float64] | None:
        if number not in self.rows:
            if len(self.rows) >= _MAX_COUNTERS:
                return None
            size = len(self.kernels)
            if size * 8 * (len(self.rows) + 1) > _IN_MEMORY_BYTES:
                path = self.db.source.scratch / f"counter-{number}"
                row = np.memmap(path, dtype=np.float64, mode="w+", shape=(size,))
            else:
                row = np.empty(size, dtype=np.float64)
            row[:] = np.nan
            self.rows[number] = row
        return self.rows[number]

    def register(self) -> list[str]:
        """The view over the matrix; its columns by canonical name."""
        con = self.db.source.con
        arrays: dict[str, Any] = {"id": self.kernels}
        items: list[str] = []
        wanted = ", ".join(str(number) for number in self.rows) or "NULL"
        names = con.execute(f"SELECT id, value FROM strings WHERE id IN ({wanted})").fetchall()
        for number, name in sorted(names, key=lambda row: list(self.rows).index(row[0])):
            header = _RENAMED.get(name.strip().lower(), name)
            known = pmu_field(header)
            column = known.key if known else extra_key(header)
            if column in arrays:
                continue
            arrays[column] = self.rows[number]
            # Times are ns here, µs in the text files; other units are the same.
            default = PMU_DEFAULT_UNIT.get(known.kind, "") if known else ""
            factor = 1.0 if known is None or known.kind == "duration" else scale(default)
            items.append(column if factor == 1.0 else f"{column} * {factor!r} AS {column}")
        con.register("counter_arrays", arrays)
        listed = ", ".join(["id", *items])
        con.execute(f"CREATE OR REPLACE TEMP VIEW counters AS SELECT {listed} FROM counter_arrays")
        return [name for name in arrays if name != "id"]
