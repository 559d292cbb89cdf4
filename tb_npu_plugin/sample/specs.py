"""What the model is made of: kernels, host operators, collectives, and one call of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CUBE_CORES = 24
VECTOR_CORES = 48
FREQ_MHZ = 1800
SLOW_MHZ = 1300

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Tensors:
    """Shapes, types and formats of a kernel's inputs or outputs."""

    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]

    def shape_text(self) -> str:
        return ";".join(",".join(map(str, shape)) for shape in self.shapes)

    def dtype_text(self) -> str:
        return ";".join(self.dtypes)

    def format_text(self) -> str:
        return ";".join("FORMAT_ND" for _ in self.shapes)


@dataclass(frozen=True)
class Kernel:
    """A device kernel. Ratios are shares of the core's cycles, by stage."""

    name: str
    type: str
    core: str  # AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV, AI_CPU, DSA_SQE
    mean_ns: int
    inputs: Tensors
    outputs: Tensors
    blocks: int = 0
    mix_blocks: int = 0
    aic: tuple[float, ...] = ()  # mac, scalar, mte1, mte2, fixpipe
    aiv: tuple[float, ...] = ()  # vec, scalar, mte2, mte3
    side_stream: bool = False

    @property
    def task_type(self) -> str:
        """Task Type of the trace, where cube and vector kernels are both AI_CORE."""
        return "AI_CORE" if self.core == "AI_VECTOR_CORE" else self.core


@dataclass(frozen=True)
class Collective:
    """A communication operation: its group's axis, payload, and who waits for it."""

    kind: str  # allReduce, allGather, reduceScatter
    axis: str  # tp, dp, world
    nbytes: int
    blocking: bool

    @property
    def rounds(self) -> int:
        """An all-reduce is a reduce-scatter and an all-gather."""
        return 2 if self.kind == "allReduce" else 1


@dataclass(frozen=True)
class Op:
    """One host operator of a call; begin and end are shares of the call's duration."""

    name: str
    parent: int
    begin: float
    end: float
    dims: tuple[Shape, ...] = ()
    kernels: tuple[int, ...] = ()  # positions in Call.kernels that this operator launches
    dtype: str = "c10::BFloat16"


@dataclass(frozen=True)
class Block:
    """Memory an operator allocates.

    life: call (freed when the call ends), next (freed in the call after it), until (freed by the
    call whose frees names key), comm (a collective works on it: freed when the step ends and
    reusable only after the host has waited for the device), ge (the graph engine's, of the name
    in key, freed when the call ends).
    """

    nbytes: int
    life: str
    key: str = ""


@dataclass(frozen=True)
class Call:
    """One top-level host operator with everything it launches, or one collective."""

    name: str
    ops: tuple[Op, ...]
    host_ns: int
    api: str
    kernels: tuple[Kernel, ...] = ()
    collective: Collective | None = None
    blocks: tuple[Block, ...] = ()
    frees: tuple[str, ...] = ()
    thread: str = "main"  # main or autograd
    where: str = ""  # the call stack's innermost place
    sequence: str = ""  # forward and backward calls with this key share sequence numbers
    waits: tuple[str, ...] = ()  # axes whose collectives the compute stream waits for first


def tensors(dtype: str, *shapes: Shape) -> Tensors:
    """Tensors of one data type."""
    return Tensors(shapes, (dtype,) * len(shapes))


def leaf(name: str, dims: Sequence[Shape], kernels: int = 1) -> tuple[Op, ...]:
    """A single operator that launches all kernels of its call."""
    return (Op(name, -1, 0.0, 1.0, tuple(dims), tuple(range(kernels))),)


def chain(names: Sequence[str], dims: Sequence[Shape], kernels: int = 1) -> tuple[Op, ...]:
    """Operators nested in each other; the innermost launches the kernels."""
    last = len(names) - 1
    return tuple(
        Op(
            name,
            depth - 1,
            0.08 * depth,
            1.0 - 0.05 * depth,
            tuple(dims),
            tuple(range(kernels)) if depth == last else (),
        )
        for depth, name in enumerate(names)
    )
