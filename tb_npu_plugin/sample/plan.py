"""What one step does, in launch order: the same for every rank and every step.

A step is cut into chunks: whole micro-batches (so that what a forward pass allocates is freed in
the same chunk), then the optimizer in pieces. One chunk of all ranks is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .model import Model
from .specs import Call, Kernel
from .text import Floats, Ints

MAX_LAYERS = 24
CHUNK_CALLS = 8_000  # of one rank; fewer where many ranks are timed together
CHUNK_CALLS_OF_ALL = 500_000


LIVES = ("call", "next", "until", "comm", "ge")


@dataclass(frozen=True)
class BlockTable:
    """Memory blocks in the order of their allocation, as arrays."""

    call: Ints  # position of the allocating call
    number: Ints  # among the call's blocks
    nbytes: Ints
    life: Ints  # index into LIVES
    freed_by: Ints  # position of the freeing call, -1 for none in this chunk


@dataclass(frozen=True)
class Chunk:
    """Calls and their tasks (kernels and collectives) as arrays, ready to be timed.

    Chunks of one step number their calls and kernels alike.
    """

    calls: tuple[Call, ...]  # all distinct ones of the step
    kernels: tuple[Kernel, ...]  # all distinct ones of the step
    call_ids: Ints  # (calls) index into calls
    first_task: Ints  # (calls) position of a call's first task
    task_call: Ints  # (tasks) position of the task's call
    task_spec: Ints  # (tasks) index into kernels, -1 for a collective
    task_share: Floats  # (tasks) when in its call the task is launched, 0..1
    blocks: BlockTable


def _without(axes: Sequence[str], calls: Sequence[Call]) -> list[Call]:
    """Leave out collectives over groups of one rank."""
    return [c for c in calls if c.collective is None or c.collective.axis in axes]


def _micro_batch(model: Model, layers: int, axes: Sequence[str], last: bool) -> list[Call]:
    calls = list(model.before)
    for _ in range(layers):
        calls += model.forward
    calls += model.loss
    for _ in range(layers):
        calls += model.backward
        # Gradients are only reduced once they are complete: in the last micro-batch.
        if last:
            calls.append(model.reduce_gradients)
    calls += model.after
    return _without(axes, calls)


def _kernels(calls: Sequence[Call]) -> int:
    return sum(len(c.kernels) for c in calls)


def _cut(calls: Sequence[Call], kernels: int) -> list[Call]:
    """The longest beginning with at most that many kernels."""
    kept: list[Call] = []
    for call in calls:
        kernels -= len(call.kernels)
        if kernels < 0:
            break
        kept.append(call)
    return kept


def plan_step(model: Model, kernels: int, axes: Sequence[str], world: int) -> list[Chunk]:
    """Chunks of a step with exactly that many kernels (collectives come on top)."""
    layer = _kernels(model.forward) + _kernels(model.backward)
    fixed = _kernels(model.before) + _kernels(model.loss) + _kernels(model.after)
    tail_fixed = _kernels(model.clip)
    full = fixed + MAX_LAYERS * layer
    per_layer_update = 12
    batches, layers = 1, (kernels - fixed - tail_fixed) // (layer + per_layer_update)
    if layers > MAX_LAYERS:
        layers = MAX_LAYERS
        batches = max(1, (kernels - tail_fixed - per_layer_update * MAX_LAYERS) // full)
    tail = _without(axes, model.clip)
    if layers < 1:  # too few for a layer: a beginning of it, then updates
        body = [_cut(_micro_batch(model, 1, axes, True), max(0, kernels - tail_fixed - 1))]
        tail = _cut(tail, kernels - _kernels(body[0]))
    else:
        inner = _micro_batch(model, layers, axes, False)
        body = [inner] * (batches - 1) + [_micro_batch(model, layers, axes, True)]
    updates = kernels - sum(map(_kernels, body)) - _kernels(tail)
    # Each rank of a dp group updates its part of the weights and then shares it, layer by layer.
    gather = [model.gather_parameters] if "dp" in axes and layers > 0 else []
    count = max(1, min(layers, updates))
    for i in range(count):
        tail += [model.update] * ((i + 1) * updates // count - i * updates // count) + gather
    return _chunks(body, tail, max(1, min(CHUNK_CALLS, CHUNK_CALLS_OF_ALL // world)))


class _Builder:
    """Makes chunks that number their calls and kernels alike, each distinct content once."""

    def __init__(self, sequence: Sequence[Call]) -> None:
        self.calls = list({id(c): c for c in sequence}.values())
        self.call_index = {id(c): i for i, c in enumerate(self.calls)}
        numbers: dict[Kernel, int] = {}
        # A call without kernels is a collective.
        self.specs = [
            [numbers.setdefault(k, len(numbers)) for k in call.kernels] or [-1]
            for call in self.calls
        ]
        self.shares = [_launch_shares(call) for call in self.calls]
        self.kernels = tuple(numbers)
        self._made: dict[tuple[int, ...], Chunk] = {}

    def chunk(self, sequence: Sequence[Call]) -> Chunk:
        """The chunk of these calls."""
        ids = tuple(self.call_index[id(c)] for c in sequence)
        if ids not in self._made:
            counts = np.array([len(self.specs[i]) for i in ids], dtype=np.int64)
            self._made[ids] = Chunk(
                tuple(self.calls),
                self.kernels,
                np.array(ids, dtype=np.int64),
                np.cumsum(counts) - counts,
                np.repeat(np.arange(len(ids)), counts),
                np.array([s for i in ids for s in self.specs[i]], dtype=np.int64),
                np.array([s for i in ids for s in self.shares[i]], dtype=np.float64),
                _pair_blocks(sequence),
            )
        return self._made[ids]


def _chunks(body: list[list[Call]], tail: list[Call], limit: int) -> list[Chunk]:
    builder = _Builder([c for calls in body for c in calls] + tail)
    per_chunk = max(1, limit // max(1, len(body[0])))
    groups = [
        [c for calls in body[i : i + per_chunk] for c in calls]
        for i in range(0, len(body), per_chunk)
    ]
    pieces = [tail[i : i + limit] for i in range(0, len(tail), limit)]
    # A short tail stays with the last micro-batches: blocks that wait for them are freed there.
    if len(pieces) == 1 and len(groups[-1]) + len(tail) <= max(limit, 2 * len(body[-1])):
        groups[-1] = groups[-1] + pieces.pop()
    return [builder.chunk(group) for group in [*groups, *pieces]]


def _launch_shares(call: Call) -> list[float]:
    shares = [1.0] * len(call.kernels)
    for op in call.ops:
        for place, kernel in enumerate(op.kernels):
            shares[kernel] = op.begin + (op.end - op.begin) * (place + 0.8) / len(op.kernels)
    return shares or [0.9]


def _pair_blocks(sequence: Sequence[Call]) -> BlockTable:
    """All blocks of the calls, and which call frees each."""
    rows: list[tuple[int, int, int, int]] = []
    freed: list[int] = []
    held: dict[str, list[int]] = {}
    awaiting: list[int] = []  # blocks of the call before that this call frees
    for position, call in enumerate(sequence):
        for row in awaiting:
            freed[row] = position
        awaiting = []
        for key in call.frees:
            # A layer's backward frees what the latest forward of that name kept.
            stack = held.get(key, [])
            newest = rows[stack[-1]][0] if stack else -1
            while stack and rows[stack[-1]][0] == newest:
                freed[stack.pop()] = position
        for number, block in enumerate(call.blocks):
            row = len(rows)
            # Nothing outlives its chunk but what a collective works on.
            last = block.life == "next" and position == len(sequence) - 1
            life = "call" if last else block.life
            rows.append((position, number, -(-block.nbytes // 512) * 512, LIVES.index(life)))
            freed.append(position if life in ("call", "ge") else -1)
            if life == "next":
                awaiting.append(row)
            elif life == "until":
                held.setdefault(block.key, []).append(row)
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return BlockTable(
        table[:, 0], table[:, 1], table[:, 2], table[:, 3], np.array(freed, dtype=np.int64)
    )


def layers_of(chunks: Sequence[Chunk]) -> int:
    """Layers of the model that these chunks run (micro-batches repeat them)."""
    counts = dict.fromkeys(("qkv", "embedding"), 0)
    for chunk in chunks:
        for i, call in enumerate(chunk.calls):
            if call.name in counts:
                counts[call.name] += int((chunk.call_ids == i).sum())
    return max(1, counts["qkv"] // max(1, counts["embedding"]))
