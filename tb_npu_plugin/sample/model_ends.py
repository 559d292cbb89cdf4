"""The parts of the model around its layers: embedding, gradient clipping, optimizer."""

from __future__ import annotations

from dataclasses import replace

from .pieces import (
    ARITHMETIC_AIV,
    FP32,
    HIDDEN,
    REDUCING_AIV,
    TOKENS,
    VOCABULARY,
    backward,
    collective_call,
    vector,
)
from .specs import Block, Call, Kernel, Tensors, leaf, tensors

HIDDEN_BYTES = TOKENS * HIDDEN * 2


def before(tp: int) -> tuple[Call, ...]:
    """Embedding of the tokens, their statistics (an AI CPU operator), and the position's part."""
    del tp
    gather = replace(
        vector("aclnnEmbedding_GatherV2AiCore_GatherV2", "GatherV2", (TOKENS, HIDDEN), 1),
        inputs=Tensors(((VOCABULARY, HIDDEN), (TOKENS,), (1,)), ("DT_BF16", "INT64", "INT64")),
    )
    count = Kernel(
        "aclnnBincount_BincountAiCpu_Bincount",
        "Bincount",
        "AI_CPU",
        96_000,
        tensors("INT32", (TOKENS,)),
        tensors("INT32", (VOCABULARY,)),
    )
    return (
        Call(
            "embedding",
            leaf("aten::embedding", ((VOCABULARY, HIDDEN), (TOKENS,))),
            24_000,
            "aclnnEmbedding",
            (gather,),
            blocks=(Block(HIDDEN_BYTES, "until", "embedding"),),
            where="model.py(102): forward",
            sequence="embedding",
        ),
        Call(
            "bincount",
            leaf("aten::bincount", ((TOKENS,),)),
            31_000,
            "aclnnBincount",
            (count,),
            blocks=(Block(VOCABULARY * 4, "next"),),
            where="metrics.py(19): token_counts",
        ),
        Call(
            "position",
            leaf("aten::add", ((TOKENS, HIDDEN), (TOKENS, HIDDEN), ())),
            16_000,
            "aclnnAdd",
            (vector("aclnnAdd_AddAiCore_Add", "Add", (TOKENS, HIDDEN), 2),),
            blocks=(Block(HIDDEN_BYTES, "next"),),
            where="model.py(104): forward",
        ),
    )


def after(tp: int) -> tuple[Call, ...]:
    """Gradient of the embedding. The sort in it runs through the graph engine (a GE block)."""
    del tp
    grad = replace(
        vector(
            "aclnnEmbeddingDenseBackward_EmbeddingDenseGrad_EmbeddingDenseGrad",
            "EmbeddingDenseGrad",
            (VOCABULARY, HIDDEN),
            1,
            stages=ARITHMETIC_AIV,
        ),
        inputs=Tensors(((TOKENS, HIDDEN), (TOKENS,)), ("DT_BF16", "INT64")),
    )
    sort = vector("trans_SortIndices_0", "Sort", (TOKENS,), 1, FP32, REDUCING_AIV, blocks=8)
    call = backward(
        "EmbeddingBackward0",
        ("aten::embedding_dense_backward", "aten::embedding_dense_backward"),
        "aclnnEmbeddingDenseBackward",
        (sort, grad),
        (TOKENS, HIDDEN),
        "embedding",
        (Block(VOCABULARY * HIDDEN * 2, "next"), Block(3 << 20, "ge", "trans_SortIndices_0")),
        71_000,
    )
    return (call,)


def clip(tp: int) -> tuple[Call, ...]:
    """Norm of all gradients over all ranks, then scaling."""
    flat = (12 * HIDDEN // tp, HIDDEN)
    return (
        Call(
            "norm",
            leaf("aten::_foreach_norm", (flat,)),
            58_000,
            "aclnnForeachNorm",
            (
                vector(
                    "aclnnForeachNorm_ForeachNorm_ForeachNorm",
                    "ForeachNorm",
                    flat,
                    1,
                    FP32,
                    REDUCING_AIV,
                ),
            ),
            blocks=(Block(512, "next"),),
            where="optimizer.py(71): clip",
            waits=("dp",),
        ),
        Call(
            "norm_sum",
            leaf("aten::sum", ((12,),)),
            17_000,
            "aclnnReduceSum",
            (
                vector(
                    "aclnnReduceSum_ReduceSumOpAiCore_ReduceSum",
                    "ReduceSum",
                    (12,),
                    1,
                    FP32,
                    REDUCING_AIV,
                    "MIX_AIV",
                    1,
                ),
            ),
            where="optimizer.py(73): clip",
        ),
        collective_call("allReduce", "world", 4, True, "optimizer.py(74): clip"),
        Call(
            "scale",
            leaf("aten::_foreach_mul_", (flat,)),
            49_000,
            "aclnnForeachMulScalarInplace",
            (
                vector(
                    "aclnnForeachMulScalarInplace_ForeachMulScalar_ForeachMulScalar",
                    "ForeachMulScalar",
                    flat,
                    1,
                    FP32,
                    blocks=64,  # more than there are cores: they run in two rounds
                ),
            ),
            where="optimizer.py(79): clip",
        ),
    )


def update(tp: int) -> Call:
    """One parameter's AdamW update."""
    parameter = (HIDDEN // tp, HIDDEN)
    return Call(
        "adamw",
        leaf("npu::npu_apply_adam_w", (parameter,) * 4),
        19_000,
        "aclnnApplyAdamWV2",
        (
            vector(
                "aclnnApplyAdamWV2_ApplyAdamWV2_ApplyAdamWV2",
                "ApplyAdamWV2",
                parameter,
                6,
                FP32,
                ARITHMETIC_AIV,
            ),
        ),
        where="optimizer.py(96): step",
    )
