"""The host's half of a database: operators, the queue, CANN's calls, and what links them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .apis import api_calls
from .dbfile import FRAMEWORK, NO_ID, Database
from .hosttree import OpTimes, op_times
from .operators import LOADER, call_stack, input_dims
from .rows import RankChunk
from .specs import Op
from .traceids import TraceIds

OP, QUEUE = 50001, 50002
LEVELS = {"runtime": 5000, "node": 10000, "acl": 20000}
COMMUNICATION = 5500
#: Connection ids of torch_npu lie apart from CANN's since 7.2; those of other calls behind them.
OWN_LINKS, OTHER_CALLS = 5 << 28, 1 << 24


class HostTables:
    """Adds one rank's host events."""

    def __init__(self, db: Database, ids: TraceIds) -> None:
        self._db, self._ids = db, ids
        self._link = self._chain = 0
        self._call = OTHER_CALLS
        self._stacks: dict[str, list[int]] = {}

    def begin_step(self, host_begin: int, loader_ns: int) -> None:
        """The data loader."""
        self._marker(LOADER, host_begin, host_begin + loader_ns, "data.py(33): batches")

    def end_step(self, step: int, host_begin: int, host_ready: int, host_end: int) -> None:
        """The step's marker, and the wait for the device at its end."""
        self._marker(f"ProfilerStep#{step}", host_begin, host_end, "train.py(55): run")
        self._db.add("STEP_TIME", [(step, host_begin, host_end)])
        if self._ids.level > 0:
            name = self._db.name("aclrtSynchronizeStreamWithTimeout")
            self._db.add("CANN_API", [(host_ready, host_end, LEVELS["acl"], self._thread("main"),
                                       self._other(), name)])  # fmt: skip

    def add(self, part: RankChunk) -> None:
        """A chunk's events."""
        for times in op_times(part):
            self._operators(part, times)
            self._queue(part, times)
        for calls in api_calls(part, self._ids.line, self._ids.level):
            if self._ids.level == 0 and calls.level != "node":
                continue
            level = LEVELS.get(calls.level, COMMUNICATION)
            name, thread = self._db.name(calls.name), self._thread(calls.thread)
            launches = calls.level == "node"
            keys = part.connection[calls.tasks].tolist()
            self._db.add("CANN_API", [
                (start, start + took, level, thread, key if launches else self._other(), name)
                for start, took, key in zip(
                    calls.start.tolist(), calls.duration.tolist(), keys, strict=True
                )
            ])  # fmt: skip

    def _operators(self, part: RankChunk, times: OpTimes) -> None:
        call, thread = times.call, self._thread(times.call.thread)
        chains = [self._add_chain(call.where) for _ in times.positions]
        for i, op in enumerate(call.ops):
            tasks = list(op.kernels)
            if call.collective is not None:
                tasks = [0] if i == 0 else []
            links = [self._linked(part, first, tasks) for first in times.tasks.tolist()]
            named = self._named(op)
            self._db.add("PYTORCH_API", [
                (str(start), str(start + took), thread, link, named[0], -1, 0, *named[1:], chain, OP)
                for start, took, link, chain in zip(
                    times.start[:, i].tolist(), times.duration[:, i].tolist(), links, chains,
                    strict=True,
                )
            ])  # fmt: skip

    def _named(self, op: Op) -> tuple[int, int | None, int | None]:
        """Ids of an operator's name, types and shapes."""
        name = self._db.name(op.name, FRAMEWORK)
        if not op.dims:
            return name, None, None
        types = ";\r\n".join(op.dtype if d else "Scalar" for d in op.dims)
        shapes = self._db.name(input_dims(op), FRAMEWORK)
        return name, self._db.name(types, FRAMEWORK), shapes

    def _linked(self, part: RankChunk, first: int, tasks: list[int]) -> int | None:
        """The id that links an operator to the launches of its tasks."""
        if not tasks:
            return None
        self._link += 1
        keys = part.connection[first + np.array(tasks)].tolist()
        self._db.add("CONNECTION_IDS", [(self._link, key) for key in keys])
        return self._link

    def _queue(self, part: RankChunk, times: OpTimes) -> None:
        """Enqueue on the calling thread, Dequeue on the queue's, under one connection."""
        call = times.call
        count = max(1, len(call.kernels))
        tasks = (times.tasks[:, None] + np.arange(count)).ravel()
        suffix = f"@{call.api}" if self._ids.line.extra_config else ""
        names = [self._db.name(n, FRAMEWORK) for n in (f"Enqueue{suffix}", f"Dequeue@{call.api}")]
        main, worker = self._thread(call.thread), self._thread("queue")
        rows: list[tuple[Any, ...]] = []
        for begun, ran, took, key in zip(
            part.enqueue[tasks].tolist(), part.dequeue[tasks].tolist(),
            part.dequeue_duration[tasks].tolist(), part.connection[tasks].tolist(), strict=True,
        ):  # fmt: skip
            for name, thread, start, end in (
                (names[0], main, begun, begun + 400), (names[1], worker, ran, ran + took)
            ):  # fmt: skip
                self._link += 1
                self._db.add("CONNECTION_IDS", [(self._link, OWN_LINKS + key)])
                rows.append((str(start), str(end), thread, self._link, name, *[None] * 5, QUEUE))
        self._db.add("PYTORCH_API", rows)

    def _marker(self, text: str, start: int, end: int, where: str) -> None:
        name, chain = self._db.name(text, FRAMEWORK), self._add_chain(where)
        self._db.add("PYTORCH_API", [(str(start), str(end), self._thread("main"), None, name, -1, 0,
                                      None, None, chain, OP)])  # fmt: skip

    def _add_chain(self, where: str) -> int | None:
        """A call stack's id, innermost frame first; the autograd thread has none."""
        if not where:
            return None
        if where not in self._stacks:
            frames = call_stack(where).split(";\r\n")
            self._stacks[where] = [self._db.name(frame, FRAMEWORK) for frame in frames]
        self._chain += 1
        stack = self._stacks[where]
        self._db.add("PYTORCH_CALLCHAINS", [(self._chain, f, i) for i, f in enumerate(stack)])
        return self._chain

    def _thread(self, role: str) -> int:
        return self._ids.pid << 32 | self._ids.threads[role]

    def _other(self) -> int:
        self._call += 1
        assert self._call < NO_ID
        return self._call
