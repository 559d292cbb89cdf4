"""A long run that is profiled now and then: two windows, only the newest two captures kept.

    python examples/scheduled_training.py --logdir runs/scheduled --steps 60

``npu_profile`` builds the profiler: Level1 with PipeUtilization on an NPU, ``torch.profiler`` elsewhere.
"""

import argparse

import torch
from tb_npu_handler import npu_profile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--logdir", default="runs/scheduled")
parser.add_argument("--device", default="npu:0")
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()

model = torch.nn.Transformer(32, 2, 1, 1, 64, batch_first=True).to(args.device)
optimizer = torch.optim.AdamW(model.parameters())

# 4 steps left out, then twice: 20 steps of waiting, 1 of warm-up, 2 recorded.
with npu_profile(
    args.logdir,
    steps=2,
    skip_first=4,
    wait=20,
    repeat=2,
    keep=2,
    metadata={"model": "tiny transformer", "batch": 4},
) as prof:
    for _ in range(args.steps):
        source = torch.randn(4, 10, 32, device=args.device)
        loss = model(source, source).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        prof.step()
