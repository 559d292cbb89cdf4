"""When the operators inside each host call run, and what their kernels take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .rows import RankChunk
from .schedule import tens
from .specs import Call
from .text import Ints


@dataclass(frozen=True)
class OpTimes:
    """All occurrences of one call; arrays are (occurrences, operators) unless said otherwise."""

    call: Call
    positions: Ints  # (occurrences) among the chunk's calls
    tasks: Ints  # (occurrences) first task
    start: Ints
    duration: Ints
    self_host: Ints
    self_device: Ints
    total_device: Ints
    self_ai_core: Ints  # only of tasks that the trace labels AI_CORE
    total_ai_core: Ints


def op_times(part: RankChunk) -> Iterator[OpTimes]:
    """The chunk's operators, call by call (not in the order of time)."""
    chunk = part.chunk
    for index, call in enumerate(chunk.calls):
        positions = np.flatnonzero(chunk.call_ids == index)
        if not len(positions):
            continue
        begin = part.host_start[positions, None]
        length = part.host_duration[positions, None]
        first = np.array([op.begin for op in call.ops])
        last = np.array([op.end for op in call.ops])
        start = begin + tens(length * first)
        duration = begin + tens(length * last) - start
        self_host = duration.copy()
        for i, op in enumerate(call.ops):
            if op.parent >= 0:
                self_host[:, op.parent] -= duration[:, i]
        tasks = chunk.first_task[positions]
        count = max(1, len(call.kernels))
        device = part.duration[tasks[:, None] + np.arange(count)]
        owns, holds = _launches(call, count)
        ai_core = np.array([k.task_type == "AI_CORE" for k in call.kernels] or [False])
        yield OpTimes(
            call,
            positions,
            tasks,
            start,
            duration,
            self_host,
            device @ owns,
            device @ holds,
            (device * ai_core) @ owns,
            (device * ai_core) @ holds,
        )


def _launches(call: Call, count: int) -> tuple[Ints, Ints]:
    """(tasks, operators) 0/1: which operator launches a task itself, and which above it."""
    owns = np.zeros((count, len(call.ops)), dtype=np.int64)
    for i, op in enumerate(call.ops):
        for kernel in op.kernels:
            owns[kernel, i] = 1
    if call.collective is not None:
        owns[0, 0] = 1
    holds = owns.copy()
    for i in range(len(call.ops) - 1, 0, -1):
        holds[:, call.ops[i].parent] += holds[:, i]
    return owns, holds
