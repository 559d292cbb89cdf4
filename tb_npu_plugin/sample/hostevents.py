"""The trace's host events: operators, queue, and the flows that start there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from .hosttree import OpTimes
from .operators import LOADER, call_stack, input_dims
from .rows import COMM_STREAM, RankChunk
from .text import Ints, us, us_list
from .traceids import TraceIds


def loader(ids: TraceIds, start: int, duration: int) -> str:
    """The data loader, ahead of every step."""
    return _cpu_op(ids, LOADER, start, duration, call_stack("data.py(33): batches"))


def profiler_step(ids: TraceIds, step: int, start: int, end: int) -> str:
    """A step's marker."""
    return _cpu_op(ids, f"ProfilerStep#{step}", start, end - start, call_stack("train.py(55): run"))


def _cpu_op(ids: TraceIds, name: str, start: int, duration: int, stack: str) -> str:
    event = {
        "ph": "X",
        "name": name,
        "pid": ids.pid,
        "tid": ids.pid,
        "ts": us(start),
        "dur": duration / 1000,
        "cat": "cpu_op",
        "args": {"Sequence number": -1, "Fwd thread id": 0, "Call stack": stack},
    }
    return json.dumps(event)


def operators(ids: TraceIds, times: OpTimes, sequence: Ints) -> Iterator[str]:
    """One slice per operator."""
    call = times.call
    thread = ids.threads[call.thread]
    numbers = sequence[times.positions].tolist()
    forward = 1 if call.thread == "autograd" and call.sequence else 0
    for i, op in enumerate(call.ops):
        args: dict[str, Any] = {"Fwd thread id": forward if i == 1 else 0}
        if op.dims:
            args["Input Dims"] = input_dims(op)
            args["Input type"] = ";\r\n".join(op.dtype if d else "Scalar" for d in op.dims)
        if call.where:
            args["Call stack"] = call_stack(call.where)
        rest = json.dumps(args)[1:]
        head = (
            f'{{"ph": "X", "name": {json.dumps(op.name)}, "pid": {ids.pid}, '
            f'"tid": {thread}, "cat": "cpu_op", "ts": "'
        )
        # The operator that autograd knows carries the number: the top one, or its node.
        own = i == (1 if call.thread == "autograd" and len(call.ops) > 1 else 0)
        yield from (
            f'{head}{ts}", "dur": {dur!r}, "args": {{"Sequence number": '
            f"{number if own else -1}, {rest}}}"
            for ts, dur, number in zip(
                us_list(times.start[:, i]),
                (times.duration[:, i] / 1000).tolist(),
                numbers,
                strict=True,
            )
        )


def queue(ids: TraceIds, part: RankChunk, times: OpTimes) -> Iterator[str]:
    """Enqueue on the calling thread, Dequeue on the queue's, and the flow between them."""
    call = times.call
    main, worker = ids.threads[call.thread], ids.threads["queue"]
    count = max(1, len(call.kernels))
    tasks = (times.tasks[:, None] + np.arange(count)).ravel()
    suffix = f"@{call.api}" if ids.line.extra_config else ""
    pid = ids.pid
    for begun, ran, took, key in zip(
        us_list(part.enqueue[tasks]),
        us_list(part.dequeue[tasks]),
        (part.dequeue_duration[tasks] / 1000).tolist(),
        part.connection[tasks].tolist(),
        strict=True,
    ):
        args = f'"args": {{"correlation_id": {key}}}}}'
        yield from (
            f'{{"ph": "X", "name": "Enqueue{suffix}", "pid": {pid}, "tid": {main}, '
            f'"ts": "{begun}", "dur": 0.4, "cat": "enqueue", {args}',
            f'{{"ph": "X", "name": "Dequeue@{call.api}", "pid": {pid}, "tid": {worker}, '
            f'"ts": "{ran}", "dur": {took!r}, "cat": "dequeue", {args}',
            f'{{"ph": "s", "bp": "e", "name": "enqueue_to_dequeue", "id": {key}, '
            f'"pid": {pid}, "tid": {main}, "ts": "{begun}", "cat": "async_task_queue"}}',
            f'{{"ph": "f", "bp": "e", "name": "enqueue_to_dequeue", "id": {key}, '
            f'"pid": {pid}, "tid": {worker}, "ts": "{ran}", "cat": "async_task_queue"}}',
        )


def flows(
    ids: TraceIds, part: RankChunk, times: OpTimes, sequence: Ints, paired: set[int]
) -> Iterator[str]:
    """torch_to_npu from operators to their tasks, fwdbwd from forward to backward calls."""
    call = times.call
    thread = ids.threads[call.thread]
    launcher = {k: i for i, op in enumerate(call.ops) for k in op.kernels} or {0: 0}
    threads = _task_threads(ids, part) if call.collective is not None else part.stream
    to = ids.pids["Communication" if call.collective is not None else "Ascend Hardware"]
    for kernel, op in launcher.items():
        tasks = times.tasks + kernel
        for key, tid, begun, ran in zip(
            part.start[tasks].tolist(),
            threads[tasks].tolist(),
            us_list(times.start[:, op]),
            us_list(part.start[tasks]),
            strict=True,
        ):
            head = f'"bp": "e", "name": "torch_to_npu", "id": {key}, '
            yield (
                f'{{"ph": "s", {head}"pid": {ids.pid}, "tid": {thread}, "ts": "{begun}", '
                f'"cat": "async_npu"}}'
            )
            yield (
                f'{{"ph": "f", {head}"pid": {to}, "tid": {tid}, "ts": "{ran}", "cat": "async_npu"}}'
            )
    if not call.sequence:
        return
    backward = call.thread == "autograd"
    for number, ts in zip(
        sequence[times.positions].tolist(),
        us_list(times.start[:, 1 if backward else 0]),
        strict=True,
    ):
        if number in paired:
            yield (
                f'{{"ph": "{"f" if backward else "s"}", "bp": "e", "name": "fwdbwd", '
                f'"id": {number}, "pid": {ids.pid}, "tid": {thread}, "ts": "{ts}", '
                f'"cat": "fwdbwd"}}'
            )


def _task_threads(ids: TraceIds, part: RankChunk) -> Ints:
    """The row of each collective's group."""
    threads: Ints = part.stream.copy()
    threads[part.stream == COMM_STREAM] = [
        ids.group_thread[share.operation.axis.groups[share.group].name] for share in part.shares
    ]
    return threads
