"""The answer to one window: items of every wanted lane, counters, names, colours."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.slice_index import INSTANTS
from tb_npu_plugin.backend.timeline.binary import WindowHeader, pack
from tb_npu_plugin.backend.timeline.counters import points, series_of
from tb_npu_plugin.backend.timeline.files import TraceFile, Track, base_of, chosen, trace_files
from tb_npu_plugin.backend.timeline.gaps import gaps
from tb_npu_plugin.backend.timeline.kernel_colours import CORE, PIPE, UNKNOWN, keys_of
from tb_npu_plugin.backend.timeline.search import matching_rows
from tb_npu_plugin.backend.timeline.steps import step_of, steps_of
from tb_npu_plugin.backend.timeline.windows import Items, hits_in, items

MAX_WIDTH = 8192
#: Items in one answer; where there would be more, the pixels are taken coarser.
MAX_ITEMS = 60_000
#: The shortest window.
LEAST_NS = 1e-3
#: A pixel is cut into so many ticks: what is drawn is exact to a fraction of a pixel.
TICKS = 64
HUES = 24
_NAME_CHARS = 200
#: Colour by: word -> (English, Chinese).
COLOURS = {
    "name": ("Name", "名称"),
    "category": ("Category", "类别"),
    "duration": ("Duration", "耗时"),
    "step": ("Step", "Step"),
    CORE: ("Core", "核类型"),
    PIPE: ("Busiest pipe", "最忙流水"),
}
_DURATIONS = (1e3, 1e4, 1e5, 1e6, 1e7)
_DURATION_LABELS = ["< 1 µs", "1–10 µs", "10–100 µs", "0.1–1 ms", "1–10 ms", "> 10 ms"]


@dataclass(frozen=True)
class Window:
    """``begin``, ``end``: ns after the base. ``shifts``: part -> ns that its times are moved by."""

    begin: float
    end: float
    width: int
    tracks: str | None = None
    colour: str = "name"
    find: str = ""
    shifts: dict[int, int] = field(default_factory=dict)

    def check(self) -> None:
        """Raises RequestError 400 for a window that cannot be."""
        if not (np.isfinite([self.begin, self.end]).all() and self.begin < self.end):
            raise RequestError(400, "bad-window", "from must lie before to.", "Both in ns.")
        if self.end - self.begin < LEAST_NS:
            raise RequestError(400, "bad-window", "from and to lie too near each other.")
        if max(abs(self.begin), abs(self.end)) > 2**63:
            raise RequestError(400, "bad-window", "from and to lie too far away.", "Both in ns.")
        if not 1 <= self.width <= MAX_WIDTH:
            raise RequestError(400, "bad-window", f"width is 1 to {MAX_WIDTH} pixels.")
        if self.colour not in COLOURS:
            raise RequestError(400, "bad-colour", f"There is no colour by {self.colour!r}.",
                               f"Colours: {', '.join(COLOURS)}")  # fmt: skip


@dataclass
class _Lane:
    file: TraceFile
    track: Track
    depth: int
    shift: int
    found: Items


def window(sel: Selected, wanted: Window) -> bytes:
    """The window as bytes (:mod:`binary`); no items where nothing has been read."""
    wanted.check()
    files = trace_files(sel)
    base = base_of(files) or 0
    tracks = list(chosen(files, wanted.tracks))
    pixel = (wanted.end - wanted.begin) / wanted.width
    lanes = _lanes(tracks, wanted, base, pixel)
    coarser, count = pixel, sum(len(lane.found) for lane in lanes)
    while count > max(MAX_ITEMS, 2 * len(lanes)) and coarser < 16 * pixel:
        coarser *= 2
        lanes = _lanes(tracks, wanted, base, coarser)
        count = sum(len(lane.found) for lane in lanes)
    tick = pixel / TICKS
    header = WindowHeader(wanted.begin, wanted.end, wanted.width, tick, [], [], [], None, [])
    columns = _slice_columns(sel, lanes, header, wanted, base)
    columns |= _counter_columns(tracks, header, wanted, base, pixel)
    columns |= _gap_columns(tracks, lanes, header, wanted, base, pixel)
    return pack(header, columns)


def _lanes(
    tracks: list[tuple[TraceFile, Track]], wanted: Window, base: int, pixel: float
) -> list[_Lane]:
    found = []
    for file, track in tracks:
        shift = wanted.shifts.get(file.part, 0)
        begin, end = _edges(wanted, base - shift)
        index = file.index
        for lane in index.lanes_of(track.number):
            shown = items(index, lane, begin, max(end, begin + 1), pixel)
            if len(shown):
                found.append(_Lane(file, track, int(lane["depth"]), shift, shown))
    return found


def _slice_columns(
    sel: Selected, lanes: list[_Lane], header: WindowHeader, wanted: Window, base: int
) -> dict[str, NDArray[Any]]:
    at, parts = 0, []
    numbers: dict[str, int] = {}
    legend, keys = _legend(sel, lanes, wanted.colour)
    header.legend = legend
    for lane in lanes:
        index, found = lane.file.index, lane.found
        header.lanes.append((lane.track.id, lane.depth, at, len(found)))
        at += len(found)
        origin = base - lane.shift
        start = _ticks(found.starts, origin, wanted, header.tick)
        codes = index.codes[found.longest]
        different, inverse = np.unique(codes, return_inverse=True)
        named = [numbers.setdefault(index.names[c], len(numbers)) for c in different.tolist()]
        columns: dict[str, NDArray[Any]] = {
            "start": start,
            "length": _ticks(found.ends, origin, wanted, header.tick) - start,
            "duration": (index.ends[found.longest] - index.starts[found.longest]).astype("<f4"),
            "busy": found.busy.astype("<f4"),
            "count": found.count.astype("<u4"),
            "name": np.array(named, dtype="<u4")[inverse.reshape(-1)],
            "row": (found.longest & 0xFFFFFFFF).astype("<u4"),
        }
        high = (found.longest >> 32) + (lane.file.ordinal << 8)  # see files.slice_id
        columns["row_high"] = high.astype("<u4")
        if legend is not None:
            columns["key"] = keys(lane, codes)
        if wanted.find:
            rows = matching_rows(lane.file, wanted.find)
            columns["hits"] = hits_in(found, rows).astype("<u4")
        parts.append(columns)
    header.names = [name[:_NAME_CHARS] for name in numbers]
    header.hues = [hue_of(name) for name in numbers]
    if not parts:
        return {}
    out = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    if not out["row_high"].any():
        del out["row_high"]
    return out


def _gap_columns(
    tracks: list[tuple[TraceFile, Track]],
    lanes: list[_Lane],
    header: WindowHeader,
    wanted: Window,
    base: int,
    pixel: float,
) -> dict[str, NDArray[Any]]:
    """Idle gaps of the device's tracks, also of those without a slice in the window."""
    at, parts = 0, []
    drawn: dict[int, list[Items]] = {}
    for lane in lanes:
        if lane.depth != INSTANTS:
            drawn.setdefault(lane.track.id, []).append(lane.found)
    for file, track in tracks:
        if track.number not in file.device_tracks:
            continue
        shift = wanted.shifts.get(file.part, 0)
        begin, end = _edges(wanted, base - shift)
        found = drawn.get(track.id, [])
        starts, ends = gaps(file.index, track.number, found, begin, end, pixel)
        if not len(starts):
            continue
        header.gaps.append((track.id, at, len(starts)))
        at += len(starts)
        first = _ticks(starts, base - shift, wanted, header.tick)
        length = _ticks(ends, base - shift, wanted, header.tick) - first
        parts.append((first, length, (ends - starts).astype("<f4")))
    if not parts:
        return {}
    first, length, duration = (np.concatenate(column) for column in zip(*parts, strict=True))
    return {"gap_start": first, "gap_length": length, "gap_duration": duration}


def _edges(wanted: Window, origin: int) -> tuple[int, int]:
    """The window in the file's own ns. Sums of epochs are made of integers: floats lose 256 ns."""
    begin, end = int(np.floor(wanted.begin)), int(np.ceil(wanted.end))
    return _instant(origin + begin), _instant(origin + end)


def _instant(ns: int) -> int:
    """Cut to what an int64 holds."""
    return max(-(2**62), min(2**63 - 2, ns))


def hue_of(name: str) -> int:
    """The colour that a name has for good, 0 to :data:`HUES` - 1."""
    return zlib.crc32(name.encode()) % HUES


def _ticks(times: NDArray[np.int64], origin: int, wanted: Window, tick: float) -> Any:
    """Ticks of the file's times after the window's beginning, cut at its ends."""
    whole, part = divmod(wanted.begin, 1)
    ticks = np.rint(((times - _instant(origin + int(whole))) - part) / tick)
    return np.clip(ticks, 0, wanted.width * TICKS).astype("<u4")


def _legend(sel: Selected, lanes: list[_Lane], colour: str) -> tuple[list[str] | None, Any]:
    """Labels of the colour keys, and (lane, name codes) -> keys; None where names decide."""
    if colour == "duration":
        return _DURATION_LABELS, lambda lane, _codes: np.searchsorted(
            _DURATIONS,
            lane.file.index.ends[lane.found.longest] - lane.file.index.starts[lane.found.longest],
            side="right",
        ).astype("u1")
    if colour == "category":
        cats = sorted({cat for lane in lanes for cat in lane.file.index.cats if cat})[:UNKNOWN]
        known = {cat: i for i, cat in enumerate(cats)}

        def by_category(lane: _Lane, codes: Any) -> Any:
            key_of = np.array([known.get(c, UNKNOWN) for c in lane.file.index.cats], dtype="u1")
            return key_of[codes]

        return cats, by_category
    if colour == "step":
        steps = sorted({int(s) for lane in lanes for s in steps_of(lane.file)[0]})

        def by_step(lane: _Lane, _codes: Any) -> Any:
            step = step_of(lane.file, lane.file.index.starts[lane.found.longest])
            place = np.searchsorted(steps, step) % UNKNOWN
            return np.where(step < 0, UNKNOWN, place).astype("u1")

        return [f"Step {s}" for s in steps[:UNKNOWN]], by_step
    if colour in (CORE, PIPE):
        return _kernel_legend(sel, lanes, colour)
    return None, None


def _kernel_legend(sel: Selected, lanes: list[_Lane], colour: str) -> tuple[list[str], Any]:
    own = {lane.file.paths["slices"]: keys_of(sel, lane.file, colour) for lane in lanes}
    labels = sorted({label for keys in own.values() for label in keys.labels})[:UNKNOWN]
    place = {label: i for i, label in enumerate(labels)}

    def by_kernel(lane: _Lane, _codes: Any) -> Any:
        keys = own[lane.file.paths["slices"]]
        if not keys.labels or lane.track.number not in lane.file.device_tracks:
            return np.full(len(lane.found), UNKNOWN, dtype="u1")
        common = np.full(UNKNOWN + 1, UNKNOWN, dtype="u1")
        common[: len(keys.labels)] = [place.get(label, UNKNOWN) for label in keys.labels]
        return common[keys.of_row[lane.found.longest]]

    return labels, by_kernel


def _counter_columns(
    tracks: list[tuple[TraceFile, Track]],
    header: WindowHeader,
    wanted: Window,
    base: int,
    pixel: float,
) -> dict[str, NDArray[Any]]:
    at, parts = 0, []
    for file, track in tracks:
        if not track.points:
            continue
        shift = wanted.shifts.get(file.part, 0)
        series = [s for s in series_of(file.store, str(file.paths["counters"]))
                  if s.track == track.number]  # fmt: skip
        for key, one in enumerate(series):
            begin, end = _edges(wanted, base - shift)
            times, least, most = points(one, begin, end, pixel)
            header.counters.append((track.id, key, at, len(times)))
            at += len(times)
            ticks = _ticks(times, base - shift, wanted, header.tick)
            parts.append((ticks, least.astype("<f4"), most.astype("<f4")))
    if not parts:
        return {}
    moments, least, most = (np.concatenate(column) for column in zip(*parts, strict=True))
    return {"at": moments, "least": least, "most": most}
