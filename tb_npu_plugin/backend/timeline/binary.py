"""A window's items as bytes: a JSON header, then typed arrays (docs/http_api.md has the layout)."""

from __future__ import annotations

import struct
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

MAGIC = b"NPT1"
_ALIGN = 8


class ColumnPlace(msgspec.Struct):
    name: str
    type: str
    offset: int
    count: int


class WindowHeader(msgspec.Struct, rename={"begin": "from", "end": "to"}):
    """``lanes``: (track, depth, first item, items); ``counters``: (track, series, first, points).

    ``gaps``: (track, first gap, gaps).
    """

    begin: float
    end: float
    width: int
    tick: float
    lanes: list[tuple[int, int, int, int]]
    names: list[str]
    hues: list[int]
    legend: list[str] | None
    counters: list[tuple[int, int, int, int]]
    gaps: list[tuple[int, int, int]] = []
    columns: list[ColumnPlace] = []


def pack(header: WindowHeader, columns: dict[str, NDArray[Any]]) -> bytes:
    """Header and arrays, each array begun at a multiple of 8 after the header."""
    places, blocks, offset = [], [], 0
    for name, array in columns.items():
        data = np.ascontiguousarray(array)
        places.append(ColumnPlace(name, data.dtype.str[1:], offset, len(data)))
        blocks.append(data.tobytes() + bytes(-data.nbytes % _ALIGN))
        offset += len(blocks[-1])
    header.columns = places
    text = msgspec.json.encode(header)
    text += b" " * (-(len(MAGIC) + 4 + len(text)) % _ALIGN)
    return b"".join((MAGIC, struct.pack("<I", len(text)), text, *blocks))
