"""A small decoder-only transformer in bfloat16: forward, backward, optimizer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from .model_ends import after, before, clip, update
from .model_loss import loss
from .pieces import (
    ARITHMETIC_AIV,
    BF16,
    FLASH_AIC,
    FP32,
    HEADS,
    HIDDEN,
    LAYER_PARAMETERS,
    REDUCING_AIV,
    TOKENS,
    backward,
    collective_call,
    linear,
    linear_backward,
    vector,
)
from .specs import CUBE_CORES, VECTOR_CORES, Block, Call, Kernel, Tensors, chain, leaf, tensors


@dataclass(frozen=True)
class Model:
    """Calls by the part of a step in which they occur, for one rank's share of the model."""

    before: tuple[Call, ...]  # once per micro-batch, ahead of the layers
    forward: tuple[Call, ...]  # once per layer
    loss: tuple[Call, ...]
    backward: tuple[Call, ...]  # once per layer, in reverse
    after: tuple[Call, ...]  # once per micro-batch, behind the layers
    reduce_gradients: Call
    clip: tuple[Call, ...]
    update: Call  # once per parameter
    gather_parameters: Call


def _layer_forward(tp: int) -> tuple[Call, ...]:
    tokens_hidden = (TOKENS, HIDDEN)
    heads, wide = HEADS // tp, 4 * HIDDEN // tp
    qk = (TOKENS, heads, HIDDEN // HEADS)
    norm = Call(
        "layer_norm",
        chain(("aten::layer_norm", "aten::native_layer_norm"), (tokens_hidden, (HIDDEN,))),
        30_000,
        "aclnnLayerNorm",
        (
            vector(
                "aclnnLayerNorm_LayerNormV3_LayerNormV3",
                "LayerNormV3",
                tokens_hidden,
                2,
                stages=REDUCING_AIV,
            ),
        ),
        blocks=(Block(TOKENS * HIDDEN * 2, "until", "norm"), Block(TOKENS * 8, "until", "norm")),
        where="block.py(41): forward",
        sequence="norm",
    )
    rotary = vector(
        "aclnnRotaryPositionEmbedding_RotaryMul_RotaryMul",
        "RotaryMul",
        qk,
        3,
        stages=ARITHMETIC_AIV,
    )
    flash = Kernel(
        "aclnnFlashAttentionScore_FlashAttentionScore_FlashAttentionScore",
        "FlashAttentionScore",
        "MIX_AIC",
        210_000 // tp,
        tensors(BF16, qk, qk, qk),
        Tensors((qk, (heads, TOKENS, 8)), (BF16, FP32)),
        blocks=CUBE_CORES,
        mix_blocks=VECTOR_CORES,
        aic=FLASH_AIC,
        aiv=ARITHMETIC_AIV,
    )
    mask = Kernel(
        "aclnnDropoutGenMaskV2_DSAGenBitMask_DSAGenBitMask",
        "DSAGenBitMask",
        "DSA_SQE",
        3_100,
        Tensors((), ()),
        tensors("UINT8", (heads * TOKENS * 128,)),
    )
    add = Call(
        "add",
        leaf("aten::add", (tokens_hidden, tokens_hidden, ())),
        16_000,
        "aclnnAdd",
        (vector("aclnnAdd_AddAiCore_Add", "Add", tokens_hidden, 2),),
        blocks=(Block(TOKENS * HIDDEN * 2, "next"),),
        where="block.py(58): forward",
    )
    gelu = Call(
        "gelu",
        leaf("aten::gelu", ((TOKENS, wide),)),
        17_000,
        "aclnnGelu",
        (vector("aclnnGelu_GeluAiCore_Gelu", "Gelu", (TOKENS, wide), 1, stages=ARITHMETIC_AIV),),
        blocks=(Block(TOKENS * wide * 2, "until", "gelu"),),
        where="mlp.py(23): forward",
        sequence="gelu",
    )
    return (
        norm,
        linear("qkv", HIDDEN, 3 * HIDDEN // tp, "qkv", "attention.py(37): forward"),
        Call(
            "rotary",
            chain(("npu::npu_rotary_mul",), (qk,), 2),
            44_000,
            "aclnnRotaryPositionEmbedding",
            (rotary, rotary),
            blocks=(Block(2 * TOKENS * HIDDEN * 2 // tp, "until", "rotary"),),
            where="attention.py(52): apply_rotary",
            sequence="rotary",
        ),
        Call(
            "attention",
            leaf("npu::npu_fusion_attention", (qk, qk, qk), 2),
            61_000,
            "aclnnFlashAttentionScore",
            (mask, flash),
            blocks=(Block(TOKENS * HIDDEN * 2 // tp, "until", "attention"), Block(8 << 20, "call")),
            where="attention.py(66): forward",
            sequence="attention",
        ),
        linear("proj", HIDDEN // tp, HIDDEN, "proj", "attention.py(71): forward"),
        collective_call("allReduce", "tp", TOKENS * HIDDEN * 2, True, "parallel.py(88): reduce"),
        add,
        norm,
        linear("fc1", HIDDEN, wide, "fc1", "mlp.py(21): forward"),
        gelu,
        linear("fc2", wide, HIDDEN, "fc2", "mlp.py(26): forward"),
        collective_call("allReduce", "tp", TOKENS * HIDDEN * 2, True, "parallel.py(88): reduce"),
        add,
    )


def _layer_backward(tp: int) -> tuple[Call, ...]:
    tokens_hidden = (TOKENS, HIDDEN)
    heads, wide = HEADS // tp, 4 * HIDDEN // tp
    qk = (TOKENS, heads, HIDDEN // HEADS)
    next_block = (Block(TOKENS * HIDDEN * 2, "next"),)
    norm = backward(
        "NativeLayerNormBackward0",
        ("aten::native_layer_norm_backward",),
        "aclnnLayerNormBackward",
        (
            vector(
                "aclnnLayerNormBackward_LayerNormGradV3_LayerNormGradV3",
                "LayerNormGradV3",
                tokens_hidden,
                3,
                stages=REDUCING_AIV,
                core="MIX_AIV",
            ),
        ),
        tokens_hidden,
        "norm",
        next_block,
        41_000,
    )
    flash = Kernel(
        "aclnnFlashAttentionScoreGrad_FlashAttentionScoreGrad_FlashAttentionScoreGrad",
        "FlashAttentionScoreGrad",
        "MIX_AIC",
        470_000 // tp,
        tensors(BF16, qk, qk, qk, qk),
        tensors(BF16, qk, qk, qk),
        blocks=CUBE_CORES,
        mix_blocks=VECTOR_CORES,
        aic=FLASH_AIC,
        aiv=ARITHMETIC_AIV,
    )
    rotary = vector(
        "aclnnRotaryPositionEmbeddingGrad_RotaryMulGrad_RotaryMulGrad",
        "RotaryMulGrad",
        qk,
        3,
        stages=ARITHMETIC_AIV,
    )
    gelu = vector(
        "aclnnGeluBackward_GeluGrad_GeluGrad", "GeluGrad", (TOKENS, wide), 2, stages=ARITHMETIC_AIV
    )
    add = Call(
        "add_grad",
        leaf("aten::add_", (tokens_hidden, tokens_hidden, ())),
        15_000,
        "aclnnInplaceAdd",
        (vector("aclnnInplaceAdd_AddAiCore_Add", "Add", tokens_hidden, 2),),
        thread="autograd",
    )
    accumulate = vector("aclnnInplaceAdd_AddAiCore_Add", "Add", (HIDDEN, HIDDEN), 2, FP32)
    reduce = collective_call("allReduce", "tp", TOKENS * HIDDEN * 2, True, "")
    reduce = replace(reduce, thread="autograd")
    return (
        linear_backward(wide, HIDDEN, "fc2"),
        backward(
            "GeluBackward0",
            ("aten::gelu_backward",),
            "aclnnGeluBackward",
            (gelu,),
            (TOKENS, wide),
            "gelu",
            (Block(TOKENS * wide * 2, "next"),),
            33_000,
        ),
        linear_backward(HIDDEN, wide, "fc1"),
        reduce,
        norm,
        add,
        linear_backward(HIDDEN // tp, HIDDEN, "proj"),
        backward(
            "NpuFusionAttentionBackward0",
            ("npu::npu_fusion_attention_grad",),
            "aclnnFlashAttentionScoreGrad",
            (flash,),
            qk,
            "attention",
            (Block(3 * TOKENS * HIDDEN * 2 // tp, "next"), Block(24 << 20, "call")),
            64_000,
        ),
        backward(
            "NpuRotaryMulBackward0",
            ("npu::npu_rotary_mul_backward",) * 2,
            "aclnnRotaryPositionEmbeddingGrad",
            (rotary, rotary),
            qk,
            "rotary",
            next_block,
            49_000,
        ),
        linear_backward(HIDDEN, 3 * HIDDEN // tp, "qkv"),
        reduce,
        norm,
        add,
        Call(
            "accumulate",
            chain(("torch::autograd::AccumulateGrad", "aten::add_"), ((HIDDEN, HIDDEN),)),
            21_000,
            "aclnnInplaceAdd",
            (replace(accumulate, side_stream=True),),
            thread="autograd",
        ),
    )


@cache
def build(tp: int) -> Model:
    """The model as one rank of a tensor-parallel group of tp ranks runs it."""
    return Model(
        before(tp),
        _layer_forward(tp),
        loss(tp),
        _layer_backward(tp),
        after(tp),
        replace(
            collective_call("reduceScatter", "dp", LAYER_PARAMETERS * 2 // tp, False, ""),
            thread="autograd",
        ),
        clip(tp),
        update(tp),
        collective_call(
            "allGather", "dp", LAYER_PARAMETERS * 2 // tp, False, "optimizer.py(117): gather"
        ),
    )
