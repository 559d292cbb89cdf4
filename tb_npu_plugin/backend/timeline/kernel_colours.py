"""Which core ran a slice of the device, and which of its pipes was busiest: both for a colour.

A trace names the kind of a task at most; the core and the pipes' shares of the time stand in the table
of kernels, whose rows are found again by name and start.
"""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_npu_plugin.backend.readers.base import parquet
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.timeline.files import TraceFile

CORE, PIPE = "core", "pipe"
UNKNOWN = 255
_RATIO = re.compile(r"(?:ai[cv]_)?(vec|mac|scalar|mte1|mte2|mte3|fixpipe)_ratio")
#: Counters of other groups tell of one pipe or two: which is busiest they do not.
_ALWAYS = "mte2"
_TASK = "json_extract_string(args, '$.\"Task Type\"')"


@dataclass(frozen=True)
class Keys:
    """``labels``, and for every slice of a file its place among them or :data:`UNKNOWN`."""

    labels: list[str]
    of_row: NDArray[np.uint8]


def has_pipes(sel: Selected, files: list[TraceFile]) -> bool:
    """Whether the counters of any of the captures tell the busiest pipe."""
    return any(_ratios(file.store, path) for file in files for path in _kernels(sel, file))


def keys_of(sel: Selected, file: TraceFile, colour: str) -> Keys:
    """``colour``: :data:`CORE` or :data:`PIPE`. What has not been read yet is unknown."""
    return _keys(file.store, str(file.paths["slices"]), file.device_tracks, _kernels(sel, file),
                 colour)  # fmt: skip


def _kernels(sel: Selected, file: TraceFile) -> tuple[str, ...]:
    parts = sel.store.parts([file.capture], "kernels", sel.prefer)
    return tuple(str(path) for _, _, path in parts)


@lru_cache(maxsize=256)
def _ratios(store: Store, path: str) -> dict[str, list[str]]:
    """Pipe -> the columns of its share; empty where they do not tell which is busiest."""
    with closing(store.cursor()) as cursor:
        columns = cursor.execute(f"SELECT * FROM {parquet(path)} LIMIT 0").description or ()
    found: dict[str, list[str]] = {}
    for name in (str(column[0]) for column in columns):
        match = _RATIO.fullmatch(name)
        if match:
            found.setdefault(match[1], []).append(name)
    return found if _ALWAYS in found and len(found) > 1 else {}


@lru_cache(maxsize=64)
def _keys(
    store: Store, path: str, tracks: frozenset[int], kernels: tuple[str, ...], colour: str
) -> Keys:
    told = [sql for kernel in kernels if (sql := _told(store, kernel, colour))]
    if not tracks or (colour == PIPE and not told):
        return Keys([], np.zeros(0, dtype=np.uint8))
    own = _TASK if colour == CORE else "NULL"
    found = " UNION ALL ".join(told) or "SELECT NULL, NULL, NULL WHERE false"
    numbers = ", ".join(map(str, sorted(tracks)))
    sql = (
        f"WITH told(name, start_ns, label) AS ({found}), kernel AS ("
        "  SELECT name, start_ns, any_value(label) AS label FROM told GROUP BY ALL), "
        "labelled AS ("
        f"  SELECT file_row_number AS row, coalesce(k.label, {own}) AS label"
        f"  FROM {parquet(path)} s LEFT JOIN kernel k USING (name, start_ns)"
        f"  WHERE track IN ({numbers})) "
        "SELECT row, label, dense_rank() OVER (ORDER BY label) - 1 AS key FROM labelled "
        "WHERE label IS NOT NULL"
    )
    with closing(store.cursor()) as cursor:
        cursor.execute(f"CREATE OR REPLACE TEMP TABLE slice_keys AS {sql}")
        try:
            labels = cursor.execute(
                "SELECT DISTINCT key, label FROM slice_keys ORDER BY key"
            ).fetchall()
            rows: dict[str, Any] = cursor.execute("SELECT row, key FROM slice_keys").fetchnumpy()
        finally:
            cursor.execute("DROP TABLE slice_keys")
        (total,) = cursor.execute(f"SELECT count(*) FROM {parquet(path)}").fetchall()[0]
    keys = np.full(int(total), UNKNOWN, dtype=np.uint8)
    keys[np.asarray(rows["row"], dtype=np.int64)] = np.minimum(rows["key"], UNKNOWN)
    return Keys([label for _, label in labels[:UNKNOWN]], keys)


def _told(store: Store, path: str, colour: str) -> str:
    """Name, start and label of the kernels; empty where the table does not tell."""
    if colour == CORE:
        return f"SELECT name, start_ns, core FROM {parquet(path)}"
    ratios = _ratios(store, path)
    if not ratios:
        return ""
    shares = {
        pipe: f"greatest({', '.join(f'coalesce({name}, 0)' for name in names)}, 0)"
        for pipe, names in ratios.items()
    }
    most = f"greatest({', '.join(shares.values())})"
    cases = " ".join(f"WHEN {share} = {most} THEN '{pipe}'" for pipe, share in shares.items())
    return (
        f"SELECT name, start_ns, CASE WHEN {most} > 0 THEN CASE {cases} END END "
        f"FROM {parquet(path)}"
    )
