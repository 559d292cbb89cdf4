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
    with closing(store.cursor()) as cursor:
        rows = cursor.execute(
            f"SELECT track, name, series, time_ns, value FROM {parquet(path)} "
            "WHERE isfinite(value) AND time_ns IS NOT NULL "
            "ORDER BY track, name, series, time_ns, file_row_number"
        ).fetchnumpy()
    names = np.ma.filled(rows["name"], "").astype(str)
    parts = np.ma.filled(rows["series"], "").astype(str)
    tracks, times = np.asarray(rows["track"]), np.asarray(rows["time_ns"]).astype(np.int64)
    values = np.asarray(rows["value"]).astype(np.float64)
    if not len(tracks):
        return ()
    new = (tracks[1:] != tracks[:-1]) | (names[1:] != names[:-1]) | (parts[1:] != parts[:-1])
    bounds = [0, *(np.flatnonzero(new) + 1).tolist(), len(tracks)]
    return tuple(
        Series(int(tracks[a]), *_called(str(names[a]), str(parts[a])), times[a:b], values[a:b])
        for a, b in pairwise(bounds)
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
