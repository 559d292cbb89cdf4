"""Last norm, vocabulary projection and cross entropy, and the backward pass of these."""

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
    matmul,
    vector,
)
from .specs import Block, Call, Kernel, Tensors, chain, leaf, tensors

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


def loss(tp: int) -> tuple[Call, ...]:
    """Last norm, vocabulary projection, cross entropy, and the backward pass of these."""
    width = VOCABULARY // tp
    logits = (TOKENS, width)
    size = TOKENS * width
    softmax = vector(
        "aclnnLogSoftmax_LogSoftmaxV2_LogSoftmaxV2", "LogSoftmaxV2", logits, 1, FP32, REDUCING_AIV
    )
    nll = Kernel(
        "aclnnNLLLoss_NLLLossAiCore_NLLLoss",
        "NLLLoss",
        "MIX_AIV",
        14_000,
        Tensors((logits, (TOKENS,), ()), (FP32, "INT64", FP32)),
        tensors(FP32, (), ()),
        blocks=48,
        aiv=ARITHMETIC_AIV,
    )
    cast = vector("aclnnCast_CastAiCore_Cast", "Cast", logits, 1)
    return (
        Call(
            "final_norm",
            chain(("aten::layer_norm", "aten::native_layer_norm"), ((TOKENS, HIDDEN), (HIDDEN,))),
            30_000,
            "aclnnLayerNorm",
            (
                vector(
                    "aclnnLayerNorm_LayerNormV3_LayerNormV3",
                    "LayerNormV3",
                    (TOKENS, HIDDEN),
                    2,
                    stages=REDUCING_AIV,
                ),
            ),
            blocks=(Block(HIDDEN_BYTES, "until", "final"),),
            where="model.py(111): forward",
            sequence="final",
        ),
        Call(
            "logits",
            chain(
                ("aten::linear", "aten::matmul", "aten::mm"), ((TOKENS, HIDDEN), (HIDDEN, width))
            ),
            39_000,
            "aclnnMatmul",
            (matmul("aclnnMatmul", TOKENS, HIDDEN, width),),
            blocks=(Block(size * 2, "until", "logits"),),
            where="model.py(113): forward",
            sequence="logits",
        ),
        Call(
            "cast",
            chain(("aten::to", "aten::_to_copy", "npu::npu_dtype_cast"), (logits,)),
            26_000,
            "aclnnCast",
            (cast,),
            blocks=(Block(size * 4, "next"),),
            where="loss.py(12): forward",
        ),
        Call(
            "log_softmax",
            chain(("aten::log_softmax", "aten::_log_softmax"), (logits,)),
            25_000,
            "aclnnLogSoftmax",
            (softmax,),
            blocks=(Block(size * 4, "until", "softmax"),),
            where="loss.py(13): forward",
            sequence="softmax",
        ),
        Call(
            "nll",
            chain(("aten::nll_loss", "aten::nll_loss_forward"), (logits, (TOKENS,))),
            27_000,
            "aclnnNLLLoss",
            (nll,),
            blocks=(Block(512, "until", "nll"),),
            where="loss.py(14): forward",
            sequence="nll",
        ),
        backward(
            "NllLossBackward0",
            ("aten::nll_loss_backward",),
            "aclnnNLLLossBackward",
            (
                vector(
                    "aclnnNLLLossBackward_NLLLossGrad_NLLLossGrad", "NLLLossGrad", logits, 0, FP32
                ),
            ),
            logits,
            "nll",
            (Block(size * 4, "next"),),
            35_000,
        ),
        backward(
            "LogSoftmaxBackward0",
            ("aten::_log_softmax_backward_data",),
            "aclnnLogSoftmaxBackward",
            (
                vector(
                    "aclnnLogSoftmaxBackward_LogSoftmaxGrad_LogSoftmaxGrad",
                    "LogSoftmaxGrad",
                    logits,
                    2,
                    FP32,
                    REDUCING_AIV,
                ),
            ),
            logits,
            "softmax",
            (Block(size * 4, "next"),),
            34_000,
        ),
        backward(
            "MmBackward0",
            ("aten::mm", "aten::mm"),
            "aclnnMm",
            (matmul("aclnnMm", TOKENS, width, HIDDEN), matmul("aclnnMm", HIDDEN, TOKENS, width)),
            logits,
            "logits",
            (Block(HIDDEN_BYTES, "next"),),
            63_000,
        ),
        backward(
            "NativeLayerNormBackward0",
            ("aten::native_layer_norm_backward",),
            "aclnnLayerNormBackward",
            (
                vector(
                    "aclnnLayerNormBackward_LayerNormGradV3_LayerNormGradV3",
                    "LayerNormGradV3",
                    (TOKENS, HIDDEN),
                    3,
                    stages=REDUCING_AIV,
                    core="MIX_AIV",
                ),
            ),
            (TOKENS, HIDDEN),
            "final",
            (Block(HIDDEN_BYTES, "next"),),
            41_000,
        ),
    )
