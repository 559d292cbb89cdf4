"""Where a step's time went: computing, communication, neither. As CANN's overlap analysis does it.

The device's time line is swept once, from chunk to chunk; what reaches past the sweep waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .text import Ints

TRACKS = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
Pieces = list[tuple[int, int]]
_NONE: Ints = np.empty(0, dtype=np.int64)


@dataclass
class Track:
    """Joins pieces that touch; the last one stays open until something else follows."""

    total: int = 0
    open: tuple[int, int] | None = None

    def feed(self, starts: Ints, ends: Ints) -> Pieces:
        """Add pieces in order; returns those that are now whole."""
        done: Pieces = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            self.total += end - start
            if self.open is not None and self.open[1] == start:
                self.open = (self.open[0], end)
                continue
            if self.open is not None:
                done.append(self.open)
            self.open = (start, end)
        return done

    def close(self) -> Pieces:
        """The last piece."""
        done = [] if self.open is None else [self.open]
        self.open = None
        return done


@dataclass
class Sweep:
    """The parts of one step of one rank."""

    tracks: dict[str, Track] = field(default_factory=lambda: {t: Track() for t in TRACKS})
    first: int | None = None
    last: int = 0
    bubble: int = 0
    _at: int = 0
    _computing: tuple[Ints, Ints] = (_NONE, _NONE)
    _communication: tuple[Ints, Ints] = (_NONE, _NONE)

    def add(self, start: Ints, end: Ints, is_comm: npt.NDArray[np.bool_]) -> None:
        """Add rows of kernels and communication operations."""
        if not len(start):
            return
        if self.first is None:
            self.first = self._at = int(start.min())
        self.last = max(self.last, int(end.max()))
        self._computing = _append(self._computing, start[~is_comm], end[~is_comm])
        self._communication = _append(self._communication, start[is_comm], end[is_comm])

    def advance(self, until: int) -> dict[str, Pieces]:
        """Sweep up to a moment before which nothing more will start; returns finished slices."""
        if self.first is None or until <= self._at:
            return {}
        parts = [self._computing, self._communication]
        inside = [np.clip(np.concatenate(p), self._at, until) for p in parts]
        edges = np.unique(np.concatenate([*inside, np.array([self._at, until])]))
        computing, communication = (_covered(p, edges[:-1]) for p in parts)
        masks = (
            computing,
            communication,
            communication & ~computing,
            ~(communication | computing),
        )
        done = {
            name: self.tracks[name].feed(edges[:-1][mask], edges[1:][mask])
            for name, mask in zip(TRACKS, masks, strict=True)
        }
        self._at = until
        self._computing = _keep_after(self._computing, until)
        self._communication = _keep_after(self._communication, until)
        return done

    def finish(self) -> dict[str, Pieces]:
        """Sweep to the end; returns the remaining slices."""
        done = self.advance(self.last)
        return {name: done.get(name, []) + track.close() for name, track in self.tracks.items()}


def _append(held: tuple[Ints, Ints], start: Ints, end: Ints) -> tuple[Ints, Ints]:
    return np.concatenate([held[0], start]), np.concatenate([held[1], end])


def _keep_after(held: tuple[Ints, Ints], moment: int) -> tuple[Ints, Ints]:
    left = held[1] > moment
    return held[0][left], held[1][left]


def _covered(intervals: tuple[Ints, Ints], at: Ints) -> npt.NDArray[np.bool_]:
    begun = np.searchsorted(np.sort(intervals[0]), at, side="right")
    ended = np.searchsorted(np.sort(intervals[1]), at, side="right")
    return begun > ended
