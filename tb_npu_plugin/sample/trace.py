"""trace_view.json: host operators, queue, CANN, device tasks, communication, overlap, flows.

Written as torch_npu does it: an array on one line, the host's part first, the device's appended.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from . import deviceevents, hostevents
from .groups import Layout
from .hosttree import op_times
from .parts import Pieces
from .rows import RankChunk
from .text import Appender, Ints
from .traceids import TraceIds, name_device, name_host


class Trace:
    """Writes one rank's trace_view.json; the device's part waits in a scratch file."""

    def __init__(self, folder: Path, scratch: Path, ids: TraceIds, layout: Layout) -> None:
        self._host = Appender(folder / "trace_view.json", "[" + ", ".join(name_host(ids)))
        self._rest = scratch / "device_events"
        self._device = Appender(self._rest, ", " + ", ".join(name_device(ids)))
        self._ids, self._layout = ids, layout
        self._sequence = 100

    def _add(self, file: Appender, events: Iterable[str]) -> None:
        text = ", ".join(events)
        if text:
            file.add(", " + text)

    def begin_step(self, host_begin: int, loader_ns: int) -> None:
        """The data loader's event."""
        self._add(self._host, [hostevents.loader(self._ids, host_begin, loader_ns)])

    def end_step(self, step: int, host_begin: int, host_ready: int, host_end: int) -> None:
        """The step's marker, and the wait for the device at its end."""
        self._add(self._host, [hostevents.profiler_step(self._ids, step, host_begin, host_end)])
        if self._ids.level > 0:
            self._add(self._device, [deviceevents.synchronize(self._ids, host_ready, host_end)])

    def add(self, part: RankChunk) -> None:
        """A chunk's events."""
        ids = self._ids
        sequence = self._sequences(part)
        numbers, counts = np.unique(sequence[sequence >= 0], return_counts=True)
        paired = set(numbers[counts > 1].tolist())
        for times in op_times(part):
            self._add(self._host, hostevents.operators(ids, times, sequence))
            self._add(self._host, hostevents.queue(ids, part, times))
            self._add(self._host, hostevents.flows(ids, part, times, sequence, paired))
        if ids.level > 0:
            self._add(self._device, deviceevents.cann(ids, part))
        self._add(self._device, deviceevents.hardware(ids, part))
        at = np.flatnonzero(part.chunk.task_spec < 0).tolist()
        for task, share in zip(at, part.shares, strict=True):
            launched = int(part.dequeue[task]) + 400
            connection = int(part.connection[task])
            events = deviceevents.operation(ids, self._layout, share, connection, launched)
            self._add(self._device, events)

    def overlap(self, slices: dict[str, Pieces]) -> None:
        """Finished slices of the overlap analysis."""
        self._add(self._device, deviceevents.overlap(self._ids, slices))

    def finish(self, window: tuple[int, int]) -> None:
        """Counters, then both parts into one array."""
        self._add(self._device, deviceevents.counters(self._ids, window))
        self._host.take(self._rest)
        self._host.add("]")

    def _sequences(self, part: RankChunk) -> Ints:
        """Sequence numbers per call; a backward call has that of its forward call."""
        calls = part.chunk.calls
        numbers = np.full(len(part.chunk.call_ids), -1, dtype=np.int64)
        held: dict[str, list[int]] = {}
        for position, index in enumerate(part.chunk.call_ids.tolist()):
            call = calls[index]
            if not call.sequence:
                continue
            if call.thread == "main":
                self._sequence += 1
                numbers[position] = self._sequence
                held.setdefault(call.sequence, []).append(self._sequence)
            elif held.get(call.sequence):
                numbers[position] = held[call.sequence].pop()
        return numbers
