"""Events of a trace into rows: slices, ends of flows, counter values, and names of tracks.

Rows go to Parquet parts at once, so memory holds one block; tracks are numbered as they come.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from tb_npu_plugin.backend.readers.base import Source
from tb_npu_plugin.backend.readers.spill import Spill
from tb_npu_plugin.backend.readers.trace_events import Event
from tb_npu_plugin.backend.readers.trace_numbers import UNKNOWN, durations, instants

Key = tuple[int | str, int | str]
#: Members of a counter's arguments that tell one counter from another of its name.
_LABELS = ("acc_id",)
_FLOWS = ("s", "t", "f")
_INSTANTS = ("i", "I", "R", "n")


class _Codes(dict[Key, int]):
    """(pid, tid) -> number of the track, in order of appearance."""

    def __missing__(self, key: Key) -> int:
        self[key] = code = len(self)
        return code


@dataclass
class Names:
    """What metadata events say about processes and threads."""

    process: dict[int | str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    thread: dict[Key, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, event: Event) -> None:
        target, _, what = event.name.partition("_")
        if target not in ("process", "thread") or not len(event.args):
            return
        try:
            args = msgspec.json.decode(event.args)
        except (ValueError, RecursionError):
            return
        if isinstance(args, dict) and args:
            value = next(iter(args.values()))
            if target == "process":
                self.process[event.pid][what] = value
            else:
                self.thread[event.pid, event.tid][what] = value


class TraceRows:
    """Collects a trace's rows; ``watch`` is shown every batch of events before it is stored."""

    def __init__(
        self, source: Source, watch: Callable[[list[Event]], None] = lambda _events: None
    ) -> None:
        con, folder = source.con, source.scratch
        self.names = Names()
        self.codes = _Codes()
        self.slices = Spill(con, folder, "slices", {
            "code": "INTEGER", "event": "BIGINT", "phase": "VARCHAR", "name": "VARCHAR",
            "cat": "VARCHAR", "start_ns": "BIGINT", "dur_ns": "DOUBLE", "args": "VARCHAR",
        })  # fmt: skip
        self.flow_ends = Spill(con, folder, "flows", {
            "phase": "VARCHAR", "cat": "VARCHAR", "name": "VARCHAR", "id": "VARCHAR",
            "code": "INTEGER", "time_ns": "BIGINT",
        })  # fmt: skip
        self.counters = Spill(con, folder, "counters", {
            "code": "INTEGER", "name": "VARCHAR", "series": "VARCHAR", "time_ns": "BIGINT",
            "value": "DOUBLE",
        })  # fmt: skip
        self.without_time = 0
        self.without_duration = 0
        self.negative: list[float] = []
        self.other_phases: Counter[str] = Counter()
        self._watch = watch
        self._events = 0
        self._open: dict[Key, list[tuple[int, Event]]] = defaultdict(list)

    def add(self, events: list[Event]) -> None:
        """A batch of events, in the order of the file."""
        self._watch(events)
        phases = [e.ph for e in events]
        kinds = set(phases)
        if "X" in kinds:
            self._slices(events, phases)
        if not kinds.isdisjoint(_INSTANTS):
            self._instants(events, phases)
        if not kinds.isdisjoint(_FLOWS):
            self._flows([e for e in events if e.ph in _FLOWS])
        if "C" in kinds:
            self._counters([e for e in events if e.ph == "C"])
        if "M" in kinds:
            for event in events:
                if event.ph == "M":
                    self.names.add(event)
        if "B" in kinds or "E" in kinds:
            self._pairs(events)
        known = {"X", "C", "M", "B", "E", "", *_FLOWS, *_INSTANTS}
        for phase in kinds - known:
            self.other_phases[phase[:8]] += phases.count(phase)
        self._events += len(events)

    def finish(self) -> None:
        """Slices that began and never ended have no duration."""
        for held in self._open.values():
            for ordinal, event in held:
                self._store([ordinal], [event], instants([event.ts]), durations([None]))
        self._open.clear()

    def _slices(self, events: list[Event], phases: list[str]) -> None:
        ordinals = [i for i, phase in enumerate(phases, self._events) if phase == "X"]
        chosen = [e for e in events if e.ph == "X"]
        found = durations([e.dur for e in chosen])
        self._store(ordinals, chosen, instants([e.ts for e in chosen]), found)

    def _instants(self, events: list[Event], phases: list[str]) -> None:
        ordinals = [i for i, phase in enumerate(phases, self._events) if phase in _INSTANTS]
        chosen = [e for e in events if e.ph in _INSTANTS]
        zero = np.zeros(len(chosen))
        self._store(ordinals, chosen, instants([e.ts for e in chosen]), zero, "i")

    def _store(
        self, ordinals: list[int], events: list[Event], start: Any, dur: Any, phase: str = "X"
    ) -> None:
        self.without_duration += int(np.isnan(dur).sum())
        below = dur[dur < 0]
        if len(below):
            self.negative += below[:1].tolist() + [0.0] * (len(below) - 1)
        codes = self.codes
        columns = [
            [codes[e.pid, e.tid] for e in events], ordinals, [phase] * len(events),
            [e.name for e in events], [e.cat or "" for e in events], start, dur,
            texts([e.args for e in events]),
        ]  # fmt: skip
        timed = start != UNKNOWN
        if not timed.all():
            columns = self._timed(columns, timed)
        self.slices.add(*columns)

    def _timed(self, columns: Sequence[Any], timed: Any) -> list[Any]:
        """The columns without the rows that have no time."""
        self.without_time += int((~timed).sum())
        at = np.flatnonzero(timed).tolist()
        return [[column[i] for i in at] for column in columns]

    def _flows(self, events: list[Event]) -> None:
        codes = self.codes
        start = instants([e.ts for e in events])
        columns: list[Any] = [
            [e.ph for e in events], [e.cat or "" for e in events], [e.name for e in events],
            ids([e.id for e in events]), [codes[e.pid, e.tid] for e in events], start,
        ]  # fmt: skip
        timed = start != UNKNOWN
        self.flow_ends.add(*(columns if timed.all() else self._timed(columns, timed)))

    def _counters(self, events: list[Event]) -> None:
        start = instants([e.ts for e in events])
        rows: list[tuple[int, str, str, int, Any]] = []
        codes, add = self.codes, rows.append
        for event, time, args in zip(
            events, start.tolist(), _arguments([e.args for e in events]), strict=True
        ):
            if time == UNKNOWN:
                self.without_time += 1
                continue
            code = codes[event.pid, event.tid]
            labels = ""
            for label in _LABELS:
                if label in args:
                    labels = f" {label} {args.pop(label)}"
            for series, value in args.items():
                add((code, event.name, series + labels, time, value))
        if not rows:
            return
        code_, name, series_, time_, value_ = zip(*rows, strict=True)
        self.counters.add(code_, name, series_, time_, durations(value_) / 1e3)

    def _pairs(self, events: Iterable[Event]) -> None:
        """Slices that are written as a begin and an end; ends belong to the last begin."""
        for ordinal, event in enumerate(events, self._events):
            held = self._open[event.pid, event.tid]
            if event.ph == "B":
                held.append((ordinal, event))
            elif event.ph == "E" and held:
                began_at, begin = held.pop()
                times = instants([begin.ts, event.ts])
                dur = (times[1:] - times[:1]).astype(np.float64)
                if UNKNOWN in times:
                    dur[:] = np.nan
                self._store([began_at], [begin], times[:1], dur)


def texts(raws: list[Any]) -> list[str]:
    """JSON texts as str; "" where there is none."""
    found = b"\0".join(raws).decode("utf-8", "replace").split("\0")
    if len(found) == len(raws):
        return found
    return [bytes(raw).decode("utf-8", "replace") for raw in raws]


def ids(raws: list[Any]) -> list[str]:
    """Ids as text, whether they are numbers or strings in the file."""
    found = texts(raws)
    out = []
    for text in found:
        if text[:1] == '"':
            text = msgspec.json.decode(text) if "\\" in text else text[1:-1]
        out.append(text)
    return out


def _arguments(raws: list[Any]) -> list[dict[str, Any]]:
    """Decoded arguments; an empty dict for what is no object."""
    joined = b",".join([raw if len(raw) else b"null" for raw in raws])
    try:
        found = msgspec.json.decode(b"[" + joined + b"]")
    except (ValueError, RecursionError):
        found = [_argument(raw) for raw in raws]
    return [args if isinstance(args, dict) else {} for args in found]


def _argument(raw: Any) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return None
