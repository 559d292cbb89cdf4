"""Steps on the timeline: the host's markers, and which step a moment belongs to."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from tb_npu_plugin.backend.slice_index import Ints, open_index
from tb_npu_plugin.backend.timeline.files import TraceFile

_MARKER = re.compile(r"^ProfilerStep#(\d{1,18})$")


def without_number(name: str) -> str:
    """A step's marker without its number: all steps are one call."""
    return "ProfilerStep" if _MARKER.match(name) else name


def steps_of(file: TraceFile) -> tuple[Ints, Ints, Ints]:
    """(numbers, starts, ends) of the steps in a file, by start."""
    return _steps(str(file.paths["slices"]), file.device_tracks)


@lru_cache(maxsize=256)
def _steps(path: str, device_tracks: frozenset[int]) -> tuple[Ints, Ints, Ints]:
    index = open_index(path)
    steps = {c: int(m.group(1)) for c, n in enumerate(index.names) if (m := _MARKER.match(n))}
    wanted = np.zeros(len(index.names) + 1, dtype=bool)
    wanted[list(steps)] = True
    rows = np.flatnonzero(wanted[index.codes])
    # The device's twin of a step is no second one.
    rows = np.array([r for r in rows if index.lane_at(r)["track"] not in device_tracks], np.int64)
    rows = rows[np.argsort(index.starts[rows], kind="stable")]
    numbers = np.array([steps[int(c)] for c in index.codes[rows]], dtype=np.int64)
    return numbers, np.asarray(index.starts[rows]), np.asarray(index.ends[rows])


def step_of(file: TraceFile, moments: Ints) -> Ints:
    """The step that each moment falls into; -1 where none does.

    A step lasts until the next begins: what it launched on the device ends after the host's part.
    """
    numbers, starts, _ = steps_of(file)
    if not len(numbers):
        return np.full(len(moments), -1, dtype=np.int64)
    at = np.searchsorted(starts, moments, side="right") - 1
    return np.where(at < 0, -1, numbers[np.maximum(at, 0)])
