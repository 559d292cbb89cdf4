"""What communication.json and communication_matrix.json have in common: keys, names, units."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.schema import header_key, scale, split_unit
from tb_npu_plugin.backend.schema.communication import MEGABYTE

TOTAL = "Total Op Info"
#: Keys of the three levels: step, kind, operation (with the hash of its group).
LEVELS = (r"step\d*", r"p2p|collective", r'[^"\\{}:,]*@[^"\\{}:,]*|Total Op Info')
#: Chain lengths are far below; a larger time is no time.
LONGEST_NS = 30 * 86_400 * 1e9
_STEP = re.compile(r"^(?:step)?\s*(\d{1,18})$", re.IGNORECASE)
_DEFAULT_UNIT = (("bandwidth", "gb/s"), ("size", "mb"), ("start", "us"), ("time", "ms"))
_UNKNOWN = ("", "n/a", "na", "nan", "none", "null", "-")


def step_of(key: str) -> int | None:
    """``step50`` -> 50; ``step`` (no step markers) -> None."""
    match = _STEP.match(key.strip())
    return int(match.group(1)) if match else None


def split_group(key: str) -> tuple[str, str | None]:
    """``hcom_allReduce__586_0_1@1752…`` -> (operation, group hash); a blank hash is None."""
    name, at, group = key.rpartition("@")
    return (name, group.strip() or None) if at else (key, None)


@lru_cache(maxsize=256)
def column(key: str) -> tuple[str, float]:
    """``Transit Size(MB)`` -> (``transit size``, 1e6): its name, and the factor to ns or bytes."""
    name, unit = header_key(key), split_unit(key)[1]
    unit = unit or next((u for word, u in _DEFAULT_UNIT if word in name), "")
    return name, 1.0 if "ratio" in name else scale(unit, MEGABYTE)


def cells(record: Any) -> dict[str, tuple[Any, float]]:
    """The record's values by name, with their factors; nothing if it is no object."""
    if not isinstance(record, dict):
        return {}
    values = zip(_columns(tuple(record)), record.values(), strict=True)
    return {name: (value, factor) for (name, factor), value in values}


@lru_cache(maxsize=256)
def _columns(keys: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    """Records of a file have the same keys, tens of thousands of times."""
    return tuple(map(column, keys))


#: Larger numbers are looked at more closely.
_USUAL = 1e15


@dataclass
class Values:
    """Turns raw values into canonical ones and remembers which of them could not be read."""

    rel: str
    unreadable: dict[str, list[Any]] = field(default_factory=dict)
    impossible: dict[str, list[Any]] = field(default_factory=dict)

    def number(self, named: dict[str, tuple[Any, float]], name: str) -> float | None:
        """A size, time, rate or ratio that is at least 0; anything else is None."""
        raw, factor = named.get(name, (None, 1.0))
        value = raw if type(raw) is float and 0.0 < raw < _USUAL else self._float(raw, name)
        if not value:
            return None if value is None else 0.0
        # Rounded at 1e-6 of a ns or byte: 28.647232000000002 MB are 28,647,232 bytes.
        value = round(value * factor, 6)
        if value < 0 or not math.isfinite(value) or ("time" in name and value > LONGEST_NS):
            self.impossible.setdefault(name, []).append(raw)
            return None
        return value

    def whole(self, raw: Any, name: str) -> int | None:
        value = self._float(raw, name)
        return int(value) if value is not None and 0 <= value < 2**62 else None

    def instant(self, named: dict[str, tuple[Any, float]], name: str) -> int | None:
        """Epoch ns of text, through decimals; or of a number, which was a double when written.

        Doubles of epoch-µs stand 0.25 apart and are printed short: ``…334.8`` was ``…334.75``.
        """
        raw, factor = named.get(name, (None, 1e3))
        if raw is None or isinstance(raw, bool | dict | list):
            return None
        text = str(raw).strip()
        try:
            value = Decimal(raw) if isinstance(raw, float) else Decimal(text)
        except InvalidOperation:
            if text.lower() not in _UNKNOWN:
                self.unreadable.setdefault(name, []).append(raw)
            return None
        if not value.is_finite() or value <= 0 or value.adjusted() > 20:
            return None
        ns = int(value * int(factor))
        return ns if ns < 2**63 else None

    def _float(self, raw: Any, name: str) -> float | None:
        if type(raw) is float:
            return raw if math.isfinite(raw) else None
        if raw is None or isinstance(raw, bool):
            return None
        if isinstance(raw, str) and raw.strip().lower() in _UNKNOWN:
            return None
        try:
            value = float(raw)
        except (TypeError, ValueError, OverflowError):
            self.unreadable.setdefault(name, []).append(raw)
            return None
        return value if math.isfinite(value) else None

    def notes(self) -> list[Note]:
        """A finding per column with values that are no numbers, or cannot be."""
        return [
            Note(code, self.rel, None,
                 {"count": len(raw), "column": name, "example": repr(raw[0])[:60]})
            for code, found in (("value-unreadable", self.unreadable),
                                ("impossible-value", self.impossible))
            for name, raw in found.items()
        ]  # fmt: skip


def bandwidth(size: float | None, time: float | None, told: float | None) -> float | None:
    """Bytes per s: size over time; what the file tells where one is unknown; None if undefined."""
    if size is None or time is None:
        return told or None
    return size / time * 1e9 if time > 0 else None
