"""Serving: prefill and decode profiled apart, each under its own role.

    python examples/inference_prefill_decode.py --logdir runs/serving

Two profilers in one process take turns; the roles keep their captures apart in one log directory.
"""

import argparse

import torch
from tb_npu_handler import npu_profile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--logdir", default="runs/serving")
parser.add_argument("--device", default="npu:0")
parser.add_argument("--tokens", type=int, default=8)
args = parser.parse_args()

WIDTH = 64
layer = torch.nn.MultiheadAttention(WIDTH, 4, batch_first=True).to(args.device).eval()

with torch.inference_mode():
    prompt = torch.randn(1, 128, WIDTH, device=args.device)
    with npu_profile(
        args.logdir,
        worker_name="prefill",
        steps=1,
        warmup=1,
        skip_first=1,
        metadata={"phase": "prefill"},
    ) as prof:
        for _ in range(3):
            layer(prompt, prompt, prompt)
            prof.step()

    cache = prompt
    with npu_profile(
        args.logdir,
        worker_name="decode",
        steps=4,
        warmup=1,
        skip_first=2,
        metadata={"phase": "decode"},
    ) as prof:
        for _ in range(args.tokens):
            token = torch.randn(1, 1, WIDTH, device=args.device)
            cache = torch.cat([cache, token], dim=1)
            layer(token, cache, cache)
            prof.step()
