"""Numbers of trace events, many at once: instants as exact int64 ns, durations as float64 ns."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
#: Stands for an instant that is none; instants are rounded to 62 bits.
UNKNOWN = np.iinfo(np.int64).min
_LIMIT_NS = 1 << 62
_POWERS = 10 ** np.arange(18, -1, -1, dtype=np.int64)
_NOISE = b'" \t\r\n'


def instants(texts: Sequence[Any]) -> Ints:
    """µs as JSON text, number or string, to ns; :data:`UNKNOWN` for what is no number.

    The decimal text is what counts: a double holds epoch-µs only to 250 ns.
    """
    if not texts:
        return np.empty(0, dtype=np.int64)
    joined = b"\n".join(texts)
    lines = joined.translate(None, b'" \t\r') + b"\n"
    return _uniform(lines, len(texts)) if _fits(lines, len(texts)) else _each(texts)


def _fits(lines: bytes, count: int) -> bool:
    """Every line has the same form: digits, a point, three digits."""
    width, rest = divmod(len(lines), count)
    if rest or not 6 <= width <= 21:
        return False
    table = np.frombuffer(lines, dtype=np.uint8).reshape(count, width)
    digits = np.delete(table, (width - 5, width - 1), axis=1)
    return bool(
        (table[:, -1] == 10).all()
        and (table[:, -5] == 46).all()
        and (digits >= 48).all()
        and (digits <= 57).all()
        and (width < 21 or (table[:, 0] <= 52).all())  # below 2^62
    )


def _uniform(lines: bytes, count: int) -> Ints:
    width = len(lines) // count
    table = np.frombuffer(lines, dtype=np.uint8).reshape(count, width)
    digits = np.delete(table, (width - 5, width - 1), axis=1).astype(np.int64) - 48
    found: Ints = digits @ _POWERS[-digits.shape[1] :]
    return found


def _each(texts: Sequence[Any]) -> Ints:
    return np.array([_instant(bytes(text)) for text in texts], dtype=np.int64)


def _instant(text: bytes) -> int:
    text = text.replace(rb"\t", b"").strip(_NOISE)
    whole, _, part = text.partition(b".")
    if whole.isdigit() and len(whole) <= 15 and len(part) <= 3 and (not part or part.isdigit()):
        return int(whole) * 1000 + int((part + b"000")[:3])
    try:
        value = Decimal(text.decode()) * 1000
        if not value.is_finite() or abs(value) > _LIMIT_NS:
            return int(UNKNOWN)
        return int(value.to_integral_value())
    except (InvalidOperation, ValueError, OverflowError):
        return int(UNKNOWN)


def durations(values: Sequence[Any]) -> Floats:
    """µs to ns, rounded at 1e-6 ns; NaN for what is no number."""
    return np.round(numbers(values) * 1e3, 6)


def numbers(values: Sequence[Any]) -> Floats:
    """Numbers, also written as text; NaN for what is none."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.array([_number(v) for v in values], dtype=np.float64)
    found[~np.isfinite(found)] = np.nan
    return found


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
