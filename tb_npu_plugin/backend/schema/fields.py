"""What a canonical table is made of: fields with type, unit, meaning and source names.

Units: ``*_ns`` durations are float64 ns, instants int64 ns since the epoch; ``*_bytes``;
``*_bytes_per_s``; ``*_mhz``; ``*_ratio`` from 0 to 1. Unknown is NULL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from tb_npu_plugin.backend.results import Kind

DType = Literal["BIGINT", "DOUBLE", "VARCHAR"]


@dataclass(frozen=True)
class Field:
    """One canonical column. ``aliases`` are source headers, compared by :func:`header_key`."""

    key: str
    dtype: DType
    kind: Kind
    en: str
    zh: str
    aliases: tuple[str, ...] = ()
    about_en: str = ""
    about_zh: str = ""
    shown: bool = True
    concept: str | None = None


@dataclass(frozen=True)
class TableSchema:
    """A canonical table. ``megabyte`` is what the sources mean by MB."""

    name: str
    fields: tuple[Field, ...]
    megabyte: int = 1 << 20
    by_alias: dict[str, Field] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for f in self.fields:
            for alias in f.aliases:
                self.by_alias[header_key(alias)] = f

    def get(self, key: str) -> Field | None:
        return next((f for f in self.fields if f.key == key), None)


_UNIT = re.compile(
    r"\s*[(\[]\s*(ns|us|[μµ]s|ms|s|%|b|byte|bytes|kb|mb|gb|mhz|[kmg]b/s)\s*[)\]]\s*$", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def split_unit(header: str) -> tuple[str, str]:
    """``"Duration(us)"`` -> ``("Duration", "us")``; the unit is "" where the header has none.

    Parentheses that hold no unit belong to the name: ``Communication(Not Overlapped)``.
    """
    text = header.strip().strip("\ufeff").strip()
    match = _UNIT.search(text)
    return (text[: match.start()], match.group(1)) if match else (text, "")


@lru_cache(maxsize=4096)
def header_key(header: str) -> str:
    """What two headers must share to be the same column: name without unit, case, blanks, ``_``."""
    return re.sub(r"[\s_]+", " ", split_unit(header)[0]).strip().lower()


def scale(unit: str, megabyte: int = 1 << 20) -> float:
    """Factor from a source unit to the canonical one (ns, bytes, bytes/s, 0..1); 1 if unknown."""
    return {
        "ns": 1.0, "us": 1e3, "μs": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9,
        "b": 1.0, "kb": 1024.0, "mb": float(megabyte), "gb": float(1 << 30),
        "gb/s": 1e9, "mb/s": 1e6, "%": 0.01,
    }.get(unit.lower(), 1.0)  # fmt: skip


#: Values that stand for "unknown" in an id column.
NO_ID = 4294967295


#: Longer names of unknown columns are cut.
MAX_EXTRA = 80


def extra_key(header: str) -> str:
    """Column name under which an unknown source column is kept."""
    words = re.sub(r"\W+", "_", header.strip().strip("\ufeff").lower()).strip("_")
    return f"x_{words[:MAX_EXTRA] or 'column'}"
