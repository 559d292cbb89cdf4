"""When the ranks of a group start, wait, transfer and end one collective.

Full mesh, one plane per peer: on plane p a rank exchanges with the member p places after it. All
ranks of a group end together (within 200 ns); a rank that arrives early waits for the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .groups import Axis
from .specs import Collective
from .text import Floats, Ints

SETUP, NOTIFY = 1_300, 20  # ns from the operation's start to its first wait; the shortest wait
SETTLE, TURN, FINISH = 2_500, 1_000, 1_600
ONE_SHOT_BYTES = 4096  # a slice below this is not worth cutting: everyone sends everything
JITTER = 200
LOCAL_BYTES_PER_NS = 400.0  # a rank's own slice, copied on the chip


@dataclass(frozen=True)
class Operation:
    """One collective over all groups of an axis; arrays are (groups, size[, peers])."""

    spec: Collective
    axis: Axis
    index: int  # how many operations the groups of this axis have had before
    start: Ints
    end: Ints
    arrived: Ints  # (groups) when the last member was there
    sizes: tuple[Ints, ...]  # per round: bytes a member sends to the peer on plane p = 1, 2, …
    times: tuple[Ints, ...]  # per round: ns of that transfer
    round_start: tuple[Ints, ...]  # per round, (groups)


def slices(nbytes: int, members: int) -> Ints:
    """How a payload is cut; the last slice holds the remainder."""
    if nbytes < ONE_SHOT_BYTES * members:
        return np.full(members, nbytes, dtype=np.int64)
    width = -(-nbytes // members // 512) * 512
    whole = np.full(members, width, dtype=np.int64)
    whole[-1] = nbytes - width * (members - 1)
    return whole


def run(
    spec: Collective,
    axis: Axis,
    index: int,
    arrival: Ints,
    rng: np.random.Generator,
) -> Operation:
    """Time one collective. arrival is (world); the result's arrays follow the axis' groups."""
    start = arrival[axis.members]
    groups, size = start.shape
    arrived = start.max(axis=1)
    place = np.arange(size)
    peers = (place[:, None] + 1 + np.arange(size - 1)[None, :]) % size
    parts = slices(spec.nbytes, size)
    bandwidth: Floats = axis.bandwidth[:, place[:, None], peers]
    sizes: list[Ints] = []
    times: list[Ints] = []
    starts: list[Ints] = []
    at = arrived + SETTLE
    for number in range(spec.rounds):
        # Reducing sends each peer the peer's slice; gathering sends everyone one's own.
        reducing = spec.kind == "reduceScatter" or (spec.kind == "allReduce" and number == 0)
        sent = parts[peers] if reducing else np.repeat(parts[:, None], size - 1, axis=1)
        efficiency = rng.uniform(0.90, 1.0, bandwidth.shape)
        took = (1_500 + sent[None] / (bandwidth * efficiency)).astype(np.int64)
        sizes.append(np.broadcast_to(sent, took.shape))
        times.append(took)
        starts.append(at)
        at = at + took.max(axis=(1, 2)) + TURN
    end = at[:, None] - TURN + FINISH + rng.integers(0, JITTER, (groups, size))
    return Operation(
        spec, axis, index, start, end, arrived, tuple(sizes), tuple(times), tuple(starts)
    )


@dataclass(frozen=True)
class Task:
    """A task of one plane, as the trace shows it. peer is a position in the group."""

    plane: int
    name: str  # Notify_Record, Notify_Wait, Memcpy, Reduce_Inline
    start: int
    duration: int
    peer: int
    nbytes: int


def plane_tasks(operation: Operation, group: int, place: int, plane: int) -> list[Task]:
    """What one rank does on one plane (1, 2, …; plane 0 is the copy of its own slice)."""
    size = operation.start.shape[1]
    start = int(operation.start[group, place])
    end = int(operation.end[group, place])
    peer = (place + plane) % size
    tasks = [Task(plane, "Notify_Record", start + 400, 600, peer, 0)]
    waited = start + SETUP
    for number in range(operation.spec.rounds):
        begin = int(operation.round_start[number][group])
        # The first wait is for the last member to arrive, a later one for the slowest transfer.
        until = int(operation.arrived[group]) if number == 0 else begin - 200
        tasks.append(Task(plane, "Notify_Wait", waited, max(NOTIFY, until - waited), peer, 0))
        reducing = operation.spec.kind != "allGather" and number == 0
        took = int(operation.times[number][group, place, plane - 1])
        nbytes = int(operation.sizes[number][group, place, plane - 1])
        name = "Reduce_Inline" if reducing else "Memcpy"
        tasks.append(Task(plane, name, begin, took, peer, nbytes))
        waited = begin + took + 100
    tasks.append(Task(plane, "Notify_Wait", waited, end - 300 - waited, peer, 0))
    return tasks


@dataclass(frozen=True)
class Share:
    """One rank's part in one operation."""

    operation: Operation
    group: int
    place: int
    start: int
    end: int

    @property
    def name(self) -> str:
        """As HCCL names it: the last digits of the group's hash, a running number, the stream."""
        group = self.operation.axis.groups[self.group]
        kind = self.operation.spec.kind
        return f"hcom_{kind}__{group.hash[-3:]}_{self.operation.index}_1"


def share_of(operation: Operation, rank: int) -> Share:
    """The part of a rank in an operation."""
    group = int(operation.axis.of_rank[rank])
    place = int(operation.axis.place[rank])
    return Share(
        operation,
        group,
        place,
        int(operation.start[group, place]),
        int(operation.end[group, place]),
    )
