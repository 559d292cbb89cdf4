"""How far a rank lies from the others: median and MAD, which a few bad ranks cannot move."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import median, quantiles

#: With fewer ranks than this nobody can say which of them is the odd one.
LEAST_RANKS = 4
#: 1.4826 times the MAD of a normal distribution is its standard deviation.
_NORMAL = 1.4826
#: Ranks closer to the median than this share of it are alike, however alike the others are.
_ALIKE = 0.01


def middle(values: Sequence[float | None]) -> float | None:
    """The median of what is known; None if nothing is."""
    known = [v for v in values if v is not None]
    return float(median(known)) if known else None


def quartiles(values: Sequence[float | None]) -> list[float] | None:
    """The values below which a quarter and three quarters of what is known lie, interpolated; None
    where fewer than four are known."""
    known = [v for v in values if v is not None]
    if len(known) < LEAST_RANKS:
        return None
    low, _, high = quantiles(known, n=4, method="inclusive")
    return [low, high]


def scores(
    values: Sequence[float | None], peers: Sequence[Hashable] | None = None
) -> list[float | None]:
    """(value - median) / max(1.4826 MAD, 1 % of the median) per value.

    ``peers``: a word per value; values are compared with those of the same word alone. None for
    what is unknown, and where fewer than four are known. 0 where all are equal.

    >>> scores([10.0, 10.0, 10.2, 9.8, 14.0])[-1]
    13.490...
    """
    if peers is None:
        return _scores(values)
    found: list[float | None] = [None] * len(values)
    for peer in set(peers):
        at = [i for i, each in enumerate(peers) if each == peer]
        for i, score in zip(at, _scores([values[i] for i in at]), strict=True):
            found[i] = score
    return found


def usual(
    values: Sequence[float | None], peers: Sequence[Hashable] | None = None
) -> list[float | None]:
    """Per value the median of its peers' values."""
    if peers is None:
        return [middle(values)] * len(values)
    center = {
        p: middle([v for v, q in zip(values, peers, strict=True) if q == p]) for p in set(peers)
    }
    return [center[p] for p in peers]


def _scores(values: Sequence[float | None]) -> list[float | None]:
    known = [v for v in values if v is not None]
    if len(known) < LEAST_RANKS:
        return [None] * len(values)
    center = float(median(known))
    mad = float(median(abs(v - center) for v in known))
    scale = max(_NORMAL * mad, _ALIKE * abs(center))
    if scale == 0:
        return [None if v is None else 0.0 if v == center else 99.0 for v in values]
    return [None if v is None else (v - center) / scale for v in values]
