"""Arrays beside ``slices.parquet`` that answer a window of the timeline by its pixels.

Written by :mod:`readers.trace_index` when a trace is read.

A *lane* is one depth of one track (depth -1: its instants); its slices are neighbours in the file,
in order of time, and never overlap. Arrays over all slices, in the file's order:

``starts``, ``ends``  int64 ns; ends are cut to whole ns     ``names``  int32, codes of the name

and over blocks of :data:`BLOCK` slices of one lane (``blocks1``), and of as many such blocks
(``blocks2``), so that a wide window reads blocks and not slices: when the block begins and ends, for
how long there is a slice in it, and which is its longest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

BLOCK = 64
LEVELS = 2
INSTANTS = -1
BLOCKS = np.dtype([("start", "i8"), ("end", "i8"), ("busy", "i8"), ("longest", "i8")])
LANES = np.dtype(
    [("track", "i8"), ("depth", "i8"), ("first", "i8"), ("count", "i8")]
    + [(f"block{level}", "i8") for level in range(1, LEVELS + 1)]
)


@dataclass(frozen=True)
class SliceIndex:
    """The arrays of one file, mapped into memory. ``lanes``: by (track, depth)."""

    starts: Ints
    ends: Ints
    codes: NDArray[np.int32]
    blocks: tuple[NDArray[Any], ...]
    lanes: NDArray[Any]
    names: list[str]
    cats: list[str]
    """Category of each name."""

    def lanes_of(self, track: int) -> NDArray[Any]:
        low, high = np.searchsorted(self.lanes["track"], [track, track + 1])
        return self.lanes[low:high]

    def lane_at(self, row: int | np.signedinteger[Any]) -> Any:
        """The lane that slice ``row`` lies on."""
        return self.lanes[np.searchsorted(self.lanes["first"], row, side="right") - 1]


@lru_cache(maxsize=256)
def open_index(table: str) -> SliceIndex:
    """The arrays beside a ``slices.parquet``; they never change under one name.

    Raises OSError where they are gone (the cache was cleared).
    """
    path = Path(table)
    names = msgspec.json.decode(index_file(path, "names").read_bytes(), type=list[tuple[str, str]])
    return SliceIndex(
        mapped(path, "starts", np.int64),
        mapped(path, "ends", np.int64),
        mapped(path, "codes", np.int32),
        tuple(mapped(path, f"blocks{level}", BLOCKS) for level in range(1, LEVELS + 1)),
        np.fromfile(index_file(path, "lanes"), dtype=LANES),
        [name for name, _ in names],
        [cat for _, cat in names],
    )


def index_file(table: Path, part: str) -> Path:
    """Where one of the arrays lies."""
    return table.with_suffix(f".{part}")


def mapped(table: Path, part: str, dtype: Any) -> Any:
    """One of the arrays, as pages of its file."""
    path = index_file(table, part)
    if path.stat().st_size == 0:  # nothing to map
        return np.zeros(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r").view(np.ndarray)
