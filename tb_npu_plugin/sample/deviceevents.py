"""The trace's device events: CANN's calls, kernels, communication, overlap analysis, counters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .apis import api_calls
from .collectives import LOCAL_BYTES_PER_NS, Share, Task, plane_tasks
from .groups import Layout
from .parts import TRACKS, Pieces
from .rows import COMM_STREAM, RankChunk
from .text import NO_MODEL, us, us_list
from .traceids import TraceIds

SAMPLE_NS = 20_000_000


def cann(ids: TraceIds, part: RankChunk) -> Iterator[str]:
    """CANN's own slices (stripped at level 0)."""
    prefixes = {
        "acl": "AscendCL",
        "node": "Node",
        "runtime": "Runtime",
        ids.line.comm_level: ids.line.comm_api,
    }
    pid = ids.pids["CANN"]
    for calls in api_calls(part, ids.line, ids.level):
        thread = ids.threads[calls.thread]
        mode = "launch" if calls.level == "node" else "ACL_NN"
        yield from (
            f'{{"name": "{prefixes[calls.level]}@{calls.name}", "pid": {pid}, '
            f'"tid": {thread}, "ts": "{ts}", "dur": {dur!r}, "args": {{"Thread Id": {thread}, '
            f'"Mode": "{mode}", "level": "{calls.level}", "id": "{calls.name}", '
            f'"item_id": "0", "connection_id": {key}}}, "ph": "X"}}'
            for ts, dur, key in zip(
                us_list(calls.start),
                (calls.duration / 1000).tolist(),
                part.connection[calls.tasks].tolist(),
                strict=True,
            )
        )


def synchronize(ids: TraceIds, start: int, end: int) -> str:
    """The wait for the device at a step's end."""
    name, thread = "aclrtSynchronizeStreamWithTimeout", ids.threads["main"]
    return (
        f'{{"name": "AscendCL@{name}", "pid": {ids.pids["CANN"]}, "tid": {thread}, '
        f'"ts": "{us(start)}", "dur": {(end - start) / 1000!r}, "args": {{"Thread Id": {thread}, '
        f'"Mode": "ACL_RTS", "level": "acl", "id": "{name}", "item_id": "0", '
        f'"connection_id": {NO_MODEL}}}, "ph": "X"}}'
    )


def hardware(ids: TraceIds, part: RankChunk) -> Iterator[str]:
    """One slice per kernel, and the flow from its launch."""
    spec = part.chunk.task_spec
    at = np.flatnonzero(spec >= 0)
    pid, host, worker = ids.pids["Ascend Hardware"], ids.pids["CANN"], ids.threads["queue"]
    kernels = part.chunk.kernels
    for number, ts, dur, task, batch, stream, key, launched in zip(
        spec[at].tolist(),
        us_list(part.start[at]),
        (part.duration[at] / 1000).tolist(),
        part.task_id[at].tolist(),
        part.batch[at].tolist(),
        part.stream[at].tolist(),
        part.connection[at].tolist(),
        us_list(part.dequeue[at] + 400),
        strict=True,
    ):
        kernel = kernels[number]
        context = 0 if kernel.core.startswith("MIX") else NO_MODEL
        flow = stream << 64 | task << 48 | batch << 32 | context
        yield from (
            f'{{"name": "{kernel.name}", "pid": {pid}, "tid": {stream}, "ts": "{ts}", '
            f'"dur": {dur!r}, "args": {{"Model Id": {NO_MODEL}, '
            f'"Task Type": "{kernel.task_type}", "Physic Stream Id": {stream}, '
            f'"Task Id": {task}, "Batch Id": {batch}, "Subtask Id": {context}, '
            f'"connection_id": {key}}}, "ph": "X"}}',
            _host_to_device("s", flow, host, worker, launched),
            _host_to_device("f", flow, pid, stream, ts),
        )


def _host_to_device(phase: str, key: int, pid: int, tid: int, ts: str) -> str:
    end = ', "bp": "e"' if phase == "f" else ""
    return (
        f'{{"name": "HostToDevice{key}", "ph": "{phase}", "cat": "HostToDevice", "id": "{key}", '
        f'"pid": {pid}, "tid": {tid}, "ts": "{ts}"{end}}}'
    )


def operation(
    ids: TraceIds, layout: Layout, share: Share, connection: int, launched: int
) -> Iterator[str]:
    """A communication operation, its flow, and the tasks of its planes."""
    group = share.operation.axis.groups[share.group]
    pid, first = ids.pids["Communication"], ids.group_thread[group.name]
    spec = share.operation.spec
    start = us(share.start)
    yield (
        f'{{"name": "{share.name}", "pid": {pid}, "tid": {first}, "ts": "{start}", '
        f'"dur": {(share.end - share.start) / 1000!r}, "args": {{"connection_id": {connection}, '
        f'"model id": {NO_MODEL}, "data_type": "BFP16", "alg_type": "MESH-RING", '
        f'"count": {spec.nbytes // 2}}}, "ph": "X"}}'
    )
    key = (connection - 1) << 32 | 0xFFFFFFFF
    yield _host_to_device("s", key, ids.pids["CANN"], ids.threads["queue"], us(launched))
    yield _host_to_device("f", key, pid, first, start)
    for link, task in operation_tasks(layout, share):
        yield _task(ids, first, share.place, link, task)


def operation_tasks(layout: Layout, share: Share) -> Iterator[tuple[str, Task]]:
    """(link, task) of all planes: the copy of the rank's own slice, then what it exchanges."""
    group = share.operation.axis.groups[share.group]
    own = int(share.operation.sizes[0][share.group, share.place].max())
    took = min(900 + int(own / LOCAL_BYTES_PER_NS), share.end - share.start - 200)
    yield "ON_CHIP", Task(0, "Memcpy", share.start + 200, took, share.place, own)
    for plane in range(1, len(group.ranks)):
        for task in plane_tasks(share.operation, share.group, share.place, plane):
            yield layout.link(group.ranks[share.place], group.ranks[task.peer]), task


def _task(ids: TraceIds, first: int, place: int, link: str, task: Task) -> str:
    moved = task.nbytes > 0
    transport = "RDMA" if link == "RDMA" else "SDMA" if task.name != "Notify_Wait" else "LOCAL"
    name = "RDMA_SEND_PAYLOAD" if moved and link == "RDMA" else task.name
    rate = task.nbytes / task.duration if moved else 0.0
    return (
        f'{{"name": "{name}", "pid": {ids.pids["Communication"]}, '
        f'"tid": {first + 1 + task.plane}, "ts": "{us(task.start)}", '
        f'"dur": {task.duration / 1000!r}, "args": {{"notify_id": "{64 + task.plane}", '
        f'"duration estimated(us)": {task.duration / 1000!r}, "stream id": {COMM_STREAM}, '
        f'"task type": "{name}", "src rank": {place}, "dst rank": {task.peer}, '
        f'"transport type": "{transport}", "size(Byte)": {task.nbytes}, '
        f'"data type": "{"BFP16" if moved else "INVALID_TYPE"}", '
        f'"link type": "{link if moved else "INVALID_TYPE"}", "bandwidth(GB/s)": {rate!r}, '
        f'"model id": {NO_MODEL}}}, "ph": "X"}}'
    )


def overlap(ids: TraceIds, slices: dict[str, Pieces]) -> Iterator[str]:
    """Overlap Analysis: one row per part of a step."""
    pid = ids.pids["Overlap Analysis"]
    for number, track in enumerate(TRACKS):
        for start, end in slices.get(track, []):
            yield (
                f'{{"name": "{track}", "pid": {pid}, "tid": {number}, "ts": "{us(start)}", '
                f'"dur": {(end - start) / 1000!r}, "ph": "X"}}'
            )


def counters(ids: TraceIds, window: tuple[int, int]) -> Iterator[str]:
    """The core's frequency (constant) and the device's memory in KB."""
    for ts in us_list(np.arange(window[0] + 500_000, window[1], SAMPLE_NS, dtype=np.int64)):
        for name, process, value in (
            ("AI Core Freq", "AI Core Freq", f'"MHz": {ids.mhz}'),
            ("APP/HBM", "NPU MEM", f'"KB": {12 << 20}'),
        ):
            yield (
                f'{{"name": "{name}", "ts": "{ts}", "pid": {ids.pids[process]}, "tid": 0, '
                f'"args": {{{value}}}, "ph": "C"}}'
            )
