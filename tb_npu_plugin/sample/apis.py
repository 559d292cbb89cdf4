"""The host calls into CANN that launch a chunk's tasks: for api_statistic.csv and the trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .lines import Line
from .rows import RankChunk
from .schedule import tens
from .statistics import Statistics
from .text import Ints


@dataclass(frozen=True)
class ApiCalls:
    """Calls of one API: level acl, node, runtime, hccl or communication."""

    level: str
    name: str
    thread: str  # main, autograd or queue
    tasks: Ints  # positions of the tasks they launch
    start: Ints
    duration: Ints


def api_calls(part: RankChunk, line: Line, level: int) -> Iterator[ApiCalls]:
    """All API calls of a chunk, grouped; at level 2 the runtime's too."""
    chunk = part.chunk
    call_of_task = chunk.call_ids[chunk.task_call]
    for index, call in enumerate(chunk.calls):
        tasks = np.flatnonzero(call_of_task == index)
        if not len(tasks):
            continue
        start, duration = part.dequeue[tasks], part.dequeue_duration[tasks]
        if call.collective is None:
            # Its second phase runs on the queue's thread; the first ends at the enqueueing.
            prepare = tens(0.07 * part.host_duration[chunk.task_call[tasks]])
            name = f"{call.api}GetWorkspaceSize"
            begin = part.enqueue[tasks] - prepare
            yield ApiCalls("acl", name, call.thread, tasks, begin, prepare)
        yield ApiCalls("acl", call.api, "queue", tasks, start + 100, duration - 200)
        yield ApiCalls("node", "launch", "queue", tasks, start + 300, duration - 600)
        if call.collective is not None:
            yield ApiCalls(
                line.comm_level, "Launch_Ffts", "queue", tasks, start + 500, duration - 1400
            )
        if level >= 2:
            runtime = (
                "KernelLaunchWithHandleV2" if call.collective is None else "FftsPlusTaskLaunch"
            )
            yield ApiCalls("runtime", runtime, "queue", tasks, start + 700, duration - 1800)


def count_apis(statistics: Statistics, part: RankChunk, line: Line, level: int) -> None:
    """Add a chunk's calls to the statistics."""
    for calls in api_calls(part, line, level):
        statistics.add_all((calls.level, calls.name), calls.duration)
