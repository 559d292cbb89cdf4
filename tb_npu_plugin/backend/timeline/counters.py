"""Counters on the timeline: their series, and least and most value per pixel of a window."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tb_npu_plugin.backend.readers.base import parquet
from tb_npu_plugin.backend.slice_index import Ints
from tb_npu_plugin.backend.store import Store

_UNIT = re.compile(r"^(.*?)\s*\(([^()]+)\)$")
#: Series that are called by their unit alone.
_UNITS = {"MHz", "GHz", "%", "MB/s", "GB/s", "KB", "MB", "GB", "B", "W", "C", "value"}


@dataclass(frozen=True)
class Series:
    track: int
    name: str
    unit: str
    times: Ints
    values: NDArray[np.float64]


@lru_cache(maxsize=64)
def series_of(store: Store, path: str) -> tuple[Series, ...]:
    """The series of a file, by track."""
    valued = f"{parquet(path)} WHERE isfinite(value) AND time_ns IS NOT NULL"
    keys = "track, coalesce(name, '') AS name, coalesce(series, '') AS series"
    with closing(store.cursor()) as cursor:
        called = cursor.execute(
            f"SELECT DISTINCT {keys} FROM {valued} ORDER BY track, name, series"
        ).fetchall()
        # Numbers, not names: numpy holds texts as wide as the longest.
        rows = cursor.execute(
            f"SELECT dense_rank() OVER (ORDER BY track, name, series) AS n, time_ns, value "
            f"FROM (SELECT {keys}, time_ns, value, file_row_number AS row FROM {valued}) "
            "ORDER BY n, time_ns, row"
        ).fetchnumpy()
    times = np.asarray(rows["time_ns"]).astype(np.int64)
    values = np.asarray(rows["value"]).astype(np.float64)
    bounds = np.searchsorted(np.asarray(rows["n"]), np.arange(1, len(called) + 2)).tolist()
    return tuple(
        Series(int(track), *_called(name, series), times[a:b], values[a:b])
        for (track, name, series), (a, b) in zip(called, pairwise(bounds), strict=True)
    )


def _called(name: str, series: str) -> tuple[str, str]:
    """('HBM 0/Read', 'Read(MB/s)') -> ('HBM 0/Read', 'MB/s')."""
    match = _UNIT.match(series)
    series, unit = (match.group(1), match.group(2)) if match else (series, "")
    if series in _UNITS:
        series, unit = "", "" if series == "value" else series
    if not series or name.endswith(series):
        return name, unit
    return (f"{name} {series}" if name else series), unit


def points(
    series: Series, begin: int, end: int, pixel_ns: float
) -> tuple[Ints, NDArray[np.float64], NDArray[np.float64]]:
    """(times, least, most): a step function over [begin, end), the value before it included.

    Where a pixel has several values it has one point with the least and the most of them.
    """
    low = max(0, int(np.searchsorted(series.times, begin, side="right")) - 1)
    high = int(np.searchsorted(series.times, end, side="left"))
    times, values = series.times[low:high], series.values[low:high]
    if len(times) <= 1:
        return times, values, values
    pixel = np.floor((times - begin) / pixel_ns)
    runs = np.flatnonzero(np.append(True, pixel[1:] != pixel[:-1]))
    return times[runs], np.minimum.reduceat(values, runs), np.maximum.reduceat(values, runs)
