"""What calls are put together from: matrix products, vector kernels, autograd, collectives."""

from __future__ import annotations

from dataclasses import replace

from .specs import (
    CUBE_CORES,
    VECTOR_CORES,
    Block,
    Call,
    Collective,
    Kernel,
    Op,
    Shape,
    tensors,
)

TOKENS, HIDDEN, HEADS, VOCABULARY = 2048, 2048, 16, 16000
BF16, FP32 = "DT_BF16", "FLOAT"
LAYER_PARAMETERS = 12 * HIDDEN * HIDDEN

# Shares of a core's cycles per stage. Pipes run side by side, so they sum to more than 1.
MATMUL_AIC = (0.83, 0.22, 0.47, 0.74, 0.11)
FLASH_AIC = (0.52, 0.31, 0.36, 0.49, 0.18)
STREAMING_AIV = (0.17, 0.05, 0.55, 0.51)
REDUCING_AIV = (0.34, 0.22, 0.48, 0.12)
ARITHMETIC_AIV = (0.62, 0.08, 0.33, 0.29)


def matmul(api: str, m: int, k: int, n: int, dtype: str = BF16) -> Kernel:
    """A cube kernel whose duration follows from its size at 68 % of the peak."""
    flops = 2.0 * m * k * n
    return Kernel(
        f"{api}_MatMulCommon_MatMulV2",
        "MatMulV2",
        "AI_CORE",
        max(6_000, round(flops / 240e3)),
        tensors(dtype, (m, k), (k, n)),
        tensors(dtype, (m, n)),
        blocks=CUBE_CORES,
        aic=MATMUL_AIC,
    )


def vector(
    name: str,
    type_: str,
    out: Shape,
    reads: int,
    dtype: str = BF16,
    stages: tuple[float, ...] = STREAMING_AIV,
    core: str = "AI_VECTOR_CORE",
    blocks: int = 0,
) -> Kernel:
    """A memory-bound vector kernel: reads + 1 tensors of the output's size at 1.1 TB/s."""
    size = 4 if dtype == FP32 else 2
    elements = 1
    for dim in out:
        elements *= dim
    return Kernel(
        name,
        type_,
        core,
        max(1_500, round(elements * size * (reads + 1) / 1100)),
        tensors(dtype, *([out] * reads)),
        tensors(dtype, out),
        blocks=blocks or min(VECTOR_CORES, max(1, elements // 2048)),
        aiv=stages,
    )


def linear(name: str, k: int, n: int, key: str, where: str) -> Call:
    """aten::linear; its input is kept for the backward pass."""
    dims: tuple[Shape, ...] = ((n,), (TOKENS, k), (k, n), (), ())
    return Call(
        name,
        (
            Op("aten::linear", -1, 0.0, 1.0, ((TOKENS, k), (n, k), (n,))),
            Op("aten::t", 0, 0.06, 0.24, ((n, k),)),
            Op("aten::transpose", 1, 0.10, 0.21, ((n, k), (), ())),
            Op("aten::addmm", 0, 0.27, 0.95, dims, (0,)),
        ),
        host_ns=38_000,
        api="aclnnAddmm",
        kernels=(matmul("aclnnAddmm", TOKENS, k, n),),
        blocks=(Block(TOKENS * n * 2, "until", key), Block(16 << 20, "call")),
        where=where,
        sequence=key,
    )


def backward(
    node: str,
    inner: tuple[str, ...],
    api: str,
    kernels: tuple[Kernel, ...],
    dims: Shape,
    key: str,
    blocks: tuple[Block, ...],
    host_ns: int,
) -> Call:
    """What autograd runs for one forward operator: one child per kernel."""
    head = (
        Op(f"autograd::engine::evaluate_function: {node}", -1, 0.0, 1.0),
        Op(node, 0, 0.05, 0.93, (dims,)),
    )
    share = 0.82 / len(inner)
    children = tuple(
        Op(name, 1, 0.08 + i * share, 0.08 + (i + 0.9) * share, (dims,), (i,))
        for i, name in enumerate(inner)
    )
    return Call(
        node,
        head + children,
        host_ns,
        api,
        kernels,
        blocks=blocks,
        frees=(key,),
        thread="autograd",
        sequence=key,
    )


def linear_backward(k: int, n: int, key: str) -> Call:
    """Gradients of a linear layer: two matrix products and a reduction for the bias."""
    bias = vector(
        "aclnnReduceSum_ReduceSumOpAiCore_ReduceSum",
        "ReduceSum",
        (n,),
        TOKENS // 64,
        stages=REDUCING_AIV,
        core="MIX_AIV",
        blocks=VECTOR_CORES,
    )
    bias = replace(bias, inputs=tensors(BF16, (TOKENS, n)))
    return backward(
        "AddmmBackward0",
        ("aten::mm", "aten::mm", "aten::sum"),
        "aclnnMm",
        (matmul("aclnnMm", TOKENS, n, k), matmul("aclnnMm", k, TOKENS, n), bias),
        (TOKENS, n),
        key,
        (Block(TOKENS * k * 2, "next"), Block(16 << 20, "call")),
        82_000,
    )


def collective_call(kind: str, axis: str, nbytes: int, blocking: bool, where: str) -> Call:
    """A collective as c10d launches it."""
    op = {"allReduce": "c10d::allreduce_", "allGather": "c10d::_allgather_base_"}.get(
        kind, "c10d::_reduce_scatter_base_"
    )
    key = f"{kind}.{axis}"
    held = (Block(nbytes, "comm", key),) if not blocking else (Block(nbytes, "call"),)
    return Call(
        f"{kind}.{axis}",
        (Op(op, -1, 0.0, 1.0, ((nbytes // 2,),), ()),),
        host_ns=46_000,
        api=f"hcom_{kind}_",
        collective=Collective(kind, axis, nbytes, blocking),
        blocks=held if nbytes > 512 else (),
        where=where,
    )
