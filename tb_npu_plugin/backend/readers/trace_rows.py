"""Events of a trace into rows: slices, ends of flows, counter values, and names of tracks.

Rows go to Parquet parts at once, so memory holds one block; tracks are numbered as they come.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, compress, repeat
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from tb_npu_plugin.backend.readers.base import Source
from tb_npu_plugin.backend.readers.spill import Spill, Texts
from tb_npu_plugin.backend.readers.trace_events import Event
from tb_npu_plugin.backend.readers.trace_numbers import (
    UNKNOWN,
    Ints,
    durations,
    instants,
    numbers,
)

Key = tuple[int | str, int | str]
#: A member of a counter's arguments that tells one counter from another of its name.
_LABEL = "acc_id"
_FLOWS = {"s": 0, "t": 1, "f": 2}
#: Added to the phase of a flow's end whose name is its category and id.
SAME = 4
_INSTANTS = ("i", "I", "R", "n")
_KNOWN = {"X", "C", "M", "B", "E", "", *_FLOWS, *_INSTANTS}
_KEY = attrgetter("pid", "tid")


class _Series(dict[tuple[str, str], str]):
    """(series, label) -> the series' name; few, so that they need not be made each time."""

    def __missing__(self, key: tuple[str, str]) -> str:
        if len(self) > MAX_SERIES:
            self.clear()
        self[key] = name = key[0] + key[1]
        return name


_SERIES = _Series()
MAX_SERIES = 100_000


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
    """Collects a trace's rows."""

    def __init__(self, source: Source) -> None:
        con, folder = source.con, source.scratch
        self.names = Names()
        self.codes = _Codes()
        # Names and categories are codes of ``texts``.
        self.texts = Texts(con, folder, "texts")
        self.slices = Spill(con, folder, "slices", {
            "code": "INTEGER", "event": "BIGINT", "instant": "TINYINT", "name": "TEXT",
            "cat": "TEXT", "start_ns": "BIGINT", "dur_ns": "DOUBLE", "args": "VARCHAR",
        }, "n", {"instant": "phase <> 'X'"})  # fmt: skip
        self.flow_ends = Spill(con, folder, "flows", {
            "phase": "TINYINT", "cat": "TEXT", "name": "TEXT", "id": "VARCHAR",
            "code": "INTEGER", "time_ns": "BIGINT",
        }, given={"phase": "CASE phase WHEN 's' THEN 0 WHEN 't' THEN 1 ELSE 2 END"})  # fmt: skip
        self.counters = Spill(con, folder, "counters", {
            "code": "INTEGER", "name": "TEXT", "series": "TEXT", "time_ns": "BIGINT",
            "value": "DOUBLE",
        })  # fmt: skip
        self.without_time = 0
        self.without_duration = 0
        self.negative = 0
        self.least_ns = 0.0
        self.other_phases: Counter[str] = Counter()
        self._events = 0
        self._open: dict[Key, list[tuple[int, Event]]] = defaultdict(list)

    def add(self, events: list[Event]) -> None:
        """A batch of events, in the order of the file."""
        phases = [e.ph for e in events]
        kinds = set(phases)

        def of(*wanted: str) -> tuple[Ints, list[Event]]:
            if kinds.isdisjoint(wanted):
                return np.empty(0, dtype=np.int64), []
            one = wanted[0]
            chosen = bytes(
                [p == one for p in phases] if len(wanted) == 1 else [p in wanted for p in phases]
            )
            ordinals = np.flatnonzero(np.frombuffer(chosen, dtype=np.uint8)) + self._events
            return ordinals, list(compress(events, chosen))

        self._slices(*of("X"))
        self._instants(*of(*_INSTANTS))
        self._flows(of(*_FLOWS)[1])
        self._counters(of("C")[1])
        for event in of("M")[1]:
            self.names.add(event)
        self._pairs(*of("B", "E"))
        for phase in kinds - _KNOWN:
            self.other_phases[phase[:8]] += phases.count(phase)
        self._events += len(events)

    def finish(self) -> None:
        """Slices that began and never ended have no duration."""
        for held in self._open.values():
            for ordinal, event in held:
                self._store(np.array([ordinal]), [event], instants([event.ts]), durations([None]))
        self._open.clear()

    def _slices(self, ordinals: Ints, events: list[Event]) -> None:
        found = durations([e.dur for e in events])
        self._store(ordinals, events, instants([e.ts for e in events]), found)

    def _instants(self, ordinals: Ints, events: list[Event]) -> None:
        zero = np.zeros(len(events))
        self._store(ordinals, events, instants([e.ts for e in events]), zero, 1)

    def _store(
        self, ordinals: Ints, events: list[Event], start: Any, dur: Any, instant: int = 0
    ) -> None:
        if not events:
            return
        self.without_duration += int(np.isnan(dur).sum())
        below = dur[dur < 0]
        if len(below):
            self.negative += len(below)
            self.least_ns = min(self.least_ns, float(below.min()))
        columns = [
            self._codes(events), ordinals, np.full(len(events), instant, dtype=np.int8),
            self.texts.codes([e.name for e in events]),
            self.texts.codes([e.cat or "" for e in events]), start, dur,
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

    def _codes(self, events: list[Event]) -> list[int]:
        return list(map(self.codes.__getitem__, map(_KEY, events)))

    def _flows(self, events: list[Event]) -> None:
        if not events:
            return
        start = instants([e.ts for e in events])
        cats, names = [e.cat or "" for e in events], [e.name for e in events]
        found = ids([e.id for e in events])
        phases = [_FLOWS[e.ph] for e in events]
        named = list(map(self.texts.get, names))
        if None in named:
            # HostToDevice936: the name of an arrow may be its category and id.
            for i, code in enumerate(named):
                if code is None and names[i] == cats[i] + found[i]:
                    named[i] = 0
                    phases[i] += SAME
                elif code is None:
                    (named[i],) = self.texts.codes([names[i]])
        columns: list[Any] = [
            phases, self.texts.codes(cats), named, found, self._codes(events), start,
        ]  # fmt: skip
        timed = start != UNKNOWN
        self.flow_ends.add(*(columns if timed.all() else self._timed(columns, timed)))

    def _counters(self, events: list[Event]) -> None:
        if not events:
            return
        start = instants([e.ts for e in events])
        self.without_time += int((start == UNKNOWN).sum())
        args = _arguments([e.args for e in events])
        # Of counters of one name some are told apart by a member that is no value.
        labels = [f" {_LABEL} {a.pop(_LABEL)}" if _LABEL in a else "" for a in args]
        counts = [len(a) for a in args]
        columns: list[list[Any]] = [
            self._codes(events), [e.name for e in events], start.tolist(), labels,
        ]  # fmt: skip
        if counts.count(1) != len(counts):
            columns = [list(chain.from_iterable(map(repeat, c, counts))) for c in columns]
        series = list(
            map(_SERIES.__getitem__, zip(chain.from_iterable(args), columns[3], strict=True))
        )
        values = numbers([value for a in args for value in a.values()])
        if series:
            name = self.texts.codes(columns[1])
            self.counters.add(columns[0], name, self.texts.codes(series), columns[2], values)

    def _pairs(self, ordinals: Ints, events: list[Event]) -> None:
        """Slices that are written as a begin and an end; ends belong to the last begin."""
        for ordinal, event in zip(ordinals.tolist(), events, strict=True):
            held = self._open[event.pid, event.tid]
            if event.ph == "B":
                held.append((ordinal, event))
            elif event.ph == "E" and held:
                began_at, begin = held.pop()
                times = instants([begin.ts, event.ts])
                dur = (times[1:] - times[:1]).astype(np.float64)
                if UNKNOWN in times:
                    dur[:] = np.nan
                self._store(np.array([began_at]), [begin], times[:1], dur)


def texts(raws: list[Any]) -> list[str]:
    """JSON texts as str; "" where there is none."""
    found = b"\0".join(raws).decode("utf-8", "replace").split("\0")
    if len(found) == len(raws):
        return found
    return [bytes(raw).decode("utf-8", "replace") for raw in raws]


def ids(raws: list[Any]) -> list[str]:
    """Ids as text, whether they are numbers or strings in the file."""
    joined = b"\0".join(raws)
    if b"\\" not in joined:
        found = joined.translate(None, b'"').decode("utf-8", "replace").split("\0")
        if len(found) == len(raws):
            return found
    return [str(_argument(raw)) if len(raw) else "" for raw in raws]


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
