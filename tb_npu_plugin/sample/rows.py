"""One rank's device rows (kernels and communication operations) in the order of their start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .collectives import Share, share_of
from .plan import Chunk
from .schedule import Times
from .text import Ints

MAIN_STREAM, SIDE_STREAM, COMM_STREAM = 2, 3, 11


@dataclass(frozen=True)
class RankChunk:
    """What one rank did in one chunk: arrays over calls and over tasks, and its collectives."""

    rank: int
    step: int
    chunk: Chunk
    host_start: Ints
    host_duration: Ints
    enqueue: Ints
    dequeue: Ints
    dequeue_duration: Ints
    start: Ints
    duration: Ints
    task_id: Ints  # 16 bit, counted per stream
    batch: Ints  # how often the stream's task ids had wrapped
    stream: Ints
    connection: Ints  # connection id of the task's launch, correlation id of its queueing
    shares: tuple[Share, ...]


class TaskIds:
    """Hands out task ids per stream, and connection ids."""

    def __init__(self, first: int) -> None:
        self._next = {MAIN_STREAM: first, SIDE_STREAM: 300}
        self._connection = 1000

    def take(self, stream: Ints) -> tuple[Ints, Ints, Ints]:
        """(task ids, batch ids, connection ids) for tasks in launch order."""
        ids = np.zeros(len(stream), dtype=np.int64)
        for number, following in self._next.items():
            on = stream == number
            count = int(on.sum())
            # Ids wrap at 16 bits, so a long capture has (stream, task) pairs twice.
            ids[on] = following + np.arange(count)
            self._next[number] = following + count
        connections = self._connection + 2 * np.arange(len(stream), dtype=np.int64)
        self._connection += 2 * len(stream)
        return ids & 0xFFFF, ids >> 16, connections


def rank_chunk(rank: int, step: int, times: Times, ids: TaskIds) -> RankChunk:
    """One rank's rows of a timed chunk."""
    chunk = times.chunk
    side = np.array([k.side_stream for k in chunk.kernels] + [False])[chunk.task_spec]
    stream = np.where(side, SIDE_STREAM, MAIN_STREAM)
    stream[chunk.task_spec < 0] = COMM_STREAM
    task_id, batch, connection = ids.take(stream)
    return RankChunk(
        rank,
        step,
        chunk,
        times.host_start[rank],
        times.host_duration[rank],
        times.enqueue[rank],
        times.dequeue[rank],
        times.dequeue_duration[rank],
        times.start[rank],
        times.duration[rank],
        task_id,
        batch,
        stream,
        connection,
        tuple(share_of(operation, rank) for operation in times.operations),
    )


@dataclass(frozen=True)
class DeviceRows:
    """Rows sorted by start. spec is -1 for communication, whose names are in shares, in order."""

    start: Ints
    duration: Ints
    wait: Ints
    spec: Ints
    task_id: Ints
    connection: Ints
    shares: tuple[Share, ...]

    @property
    def is_comm(self) -> npt.NDArray[np.bool_]:
        return self.spec < 0


class Sorter:
    """Sorts rows over chunk borders and knows each row's wait since the end of the one before."""

    def __init__(self) -> None:
        self._held = np.empty((0, 6), dtype=np.int64)
        self._shares: dict[int, Share] = {}
        self._number = 0
        self._last_end: int | None = None

    def add(self, part: RankChunk) -> None:
        """Take a chunk's rows."""
        chunk = part.chunk
        number = np.full(len(chunk.task_spec), -1, dtype=np.int64)
        comm = np.flatnonzero(chunk.task_spec < 0)
        for place, share in zip(comm.tolist(), part.shares, strict=True):
            number[place] = self._number
            self._shares[self._number] = share
            self._number += 1
        rows = np.column_stack(
            [part.start, part.duration, chunk.task_spec, part.task_id, number, part.connection]
        )
        self._held = np.concatenate([self._held, rows])

    def take(self, before: int | None) -> DeviceRows:
        """Rows that start before a moment (None: all), for nothing earlier will come."""
        held = self._held[np.argsort(self._held[:, 0], kind="stable")]
        count = len(held) if before is None else int(np.searchsorted(held[:, 0], before))
        rows, self._held = held[:count], held[count:]
        start, duration, spec, task_id, number, connection = (rows[:, i] for i in range(6))
        end = start + duration
        wait = np.zeros(len(rows), dtype=np.int64)
        if len(rows):
            previous = int(start[0]) if self._last_end is None else self._last_end
            ends_before = np.concatenate([[previous], end[:-1]])
            wait = np.maximum(0, start - ends_before)
            self._last_end = int(end[-1])
        shares = tuple(self._shares.pop(n) for n in number[number >= 0].tolist())
        return DeviceRows(start, duration, wait, spec, task_id, connection, shares)
