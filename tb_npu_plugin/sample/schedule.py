"""When everything of a chunk happens on every rank: host calls, launches, kernels, collectives.

All instants are int64 ns. Host times are multiples of 10 ns (the host's counter runs at 100 MHz).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .collectives import Operation, run
from .groups import Layout
from .plan import Chunk
from .text import Floats, Ints

ENQUEUE_NS, LAUNCH_NS, LATENCY_NS = 900, 7_000, 1_800
NOISE = {"AI_CORE": 0.02, "MIX_AIC": 0.03}
OTHER_NOISE = 0.06


@dataclass
class Clocks:
    """Where every rank of the job stands."""

    host: Ints  # next free moment of the main thread
    dequeue: Ints  # of the queue's thread
    stream: Ints  # end of the last kernel of the compute stream
    side: Ints  # end of the last kernel of the side stream
    comm: dict[str, Ints]  # per axis: end of the last collective
    operations: dict[str, int]  # per axis: collectives so far

    @classmethod
    def at(cls, host: Ints, axes: list[str]) -> Clocks:
        """All ranks idle since host."""
        return cls(
            host.copy(),
            host.copy(),
            host.copy(),
            host.copy(),
            {axis: host.copy() for axis in axes},
            dict.fromkeys(axes, 0),
        )

    def device_end(self) -> Ints:
        """End of the last thing the device does."""
        ends: Ints = np.maximum.reduce([self.stream, self.side, *self.comm.values()])
        return ends


@dataclass(frozen=True)
class Times:
    """A timed chunk: (ranks, calls) and (ranks, tasks) arrays."""

    chunk: Chunk
    host_start: Ints
    host_duration: Ints
    enqueue: Ints
    dequeue: Ints
    dequeue_duration: Ints
    start: Ints  # of the task on the device; for a collective its own start
    duration: Ints
    operations: tuple[Operation, ...]


def tens(values: npt.NDArray[Any]) -> Ints:
    """Rounded to the host clock's 10 ns."""
    rounded: Ints = (values / 10).astype(np.int64) * 10
    return rounded


def _chain(ready: Ints, duration: Ints, free: Ints) -> Ints:
    """Starts of things done one after another, none before it is ready, the first not before free.

    end[i] = max(end[i-1], ready[i]) + duration[i], for all ranks at once.
    """
    done = np.cumsum(duration, axis=1)
    latest = np.maximum.accumulate(ready + duration - done, axis=1)
    return np.maximum(latest, free[:, None]) + done - duration


def _noise(rngs: list[np.random.Generator], count: int) -> Floats:
    return np.stack([rng.standard_normal(count) for rng in rngs])


def kernel_durations(chunk: Chunk, rngs: list[np.random.Generator], slowness: Floats) -> Ints:
    """(ranks, tasks) durations; 0 for collectives. slowness: (ranks), 1 for a sound one."""
    kernels = chunk.kernels
    mean = np.array([k.mean_ns for k in kernels] + [0], dtype=np.float64)
    sigma = np.array([NOISE.get(k.core, OTHER_NOISE) for k in kernels] + [0.0])
    duration = mean[chunk.task_spec] * np.clip(
        1 + sigma[chunk.task_spec] * _noise(rngs, len(chunk.task_spec)), 0.7, 1.6
    )
    return (duration * slowness[:, None]).astype(np.int64)


def time_chunk(
    chunk: Chunk,
    clocks: Clocks,
    layout: Layout,
    rngs: list[np.random.Generator],
    shared: np.random.Generator,
    slowness: Floats,
) -> Times:
    """Time a chunk on all ranks and move their clocks on."""
    host_mean = np.array([c.host_ns for c in chunk.calls], dtype=np.float64)[chunk.call_ids]
    spread = np.exp(0.12 * _noise(rngs, len(host_mean)))
    host_duration = tens(host_mean * spread)
    gap = tens(900 + 700 * np.abs(spread - 1) * 10)
    passed = np.cumsum(host_duration + gap, axis=1)
    host_start = clocks.host[:, None] + passed - host_duration
    task_call = chunk.task_call
    enqueue = tens(host_duration[:, task_call] * chunk.task_share) + host_start[:, task_call]
    launch = tens(LAUNCH_NS * np.exp(0.15 * _noise(rngs, len(task_call))))
    dequeue = _chain(enqueue + ENQUEUE_NS, launch, clocks.dequeue)
    duration = kernel_durations(chunk, rngs, slowness)
    ready = dequeue + launch + LATENCY_NS
    start = np.empty_like(ready)
    clocks.host = clocks.host + passed[:, -1]
    clocks.dequeue = dequeue[:, -1] + launch[:, -1]
    operations = _run_device(chunk, clocks, layout, shared, ready, duration, start)
    return Times(
        chunk,
        host_start,
        host_duration,
        enqueue,
        dequeue,
        launch,
        start,
        duration,
        tuple(operations),
    )


def _run_device(
    chunk: Chunk,
    clocks: Clocks,
    layout: Layout,
    shared: np.random.Generator,
    ready: Ints,
    duration: Ints,
    start: Ints,
) -> list[Operation]:
    """Fill start (and collectives' durations), segment by segment between collectives."""
    calls, ids = chunk.calls, chunk.call_ids
    stop_calls = [bool(c.collective or c.waits) for c in calls]
    stops = [int(chunk.first_task[p]) for p in np.flatnonzero(np.array(stop_calls)[ids]).tolist()]
    side = np.array([k.side_stream for k in chunk.kernels] + [False])[chunk.task_spec]
    operations: list[Operation] = []
    begin = 0
    for stop in [*stops, ready.shape[1]]:
        _run_kernels(clocks, ready, duration, start, side, slice(begin, stop))
        begin = stop
        if stop == ready.shape[1]:
            break
        call = calls[ids[chunk.task_call[stop]]]
        for axis in call.waits:
            if axis in clocks.comm:
                clocks.stream = np.maximum(clocks.stream, clocks.comm[axis])
        spec = call.collective
        if spec is None:
            continue
        arrival = np.maximum(np.maximum(ready[:, stop], clocks.stream), clocks.comm[spec.axis])
        axis_of = layout.axes[spec.axis]
        number = clocks.operations[spec.axis]
        clocks.operations[spec.axis] = number + 1
        operation = run(spec, axis_of, number, arrival, shared)
        end = operation.end[axis_of.of_rank, axis_of.place]
        start[:, stop], duration[:, stop] = arrival, end - arrival
        clocks.comm[spec.axis] = end
        if spec.blocking:
            clocks.stream = np.maximum(clocks.stream, end)
        operations.append(operation)
        begin = stop + 1
    return operations


def _run_kernels(
    clocks: Clocks,
    ready: Ints,
    duration: Ints,
    start: Ints,
    side: npt.NDArray[np.bool_],
    part: slice,
) -> None:
    if part.start == part.stop:
        return
    on_side = side[part]
    length = duration[:, part].copy()
    length[:, on_side] = 0  # they run beside the main stream and do not hold it up
    gap = 240 + (duration[:, part] % 7) * 110
    free = clocks.stream + 600
    begins = _chain(ready[:, part], length + gap, free)
    start[:, part] = begins
    main = np.flatnonzero(~on_side)
    if len(main):
        clocks.stream = begins[:, main[-1]] + length[:, main[-1]]
    for i in np.flatnonzero(on_side).tolist():
        at = part.start + i
        start[:, at] = np.maximum(start[:, at], clocks.side + 100)
        clocks.side = start[:, at] + duration[:, at]
