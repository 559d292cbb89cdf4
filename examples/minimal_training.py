"""The smallest training loop with a profile: one line more than torch_npu's own example.

python examples/minimal_training.py --logdir runs/minimal
tensorboard --logdir runs
"""

import argparse

import torch
import torch_npu
from tb_npu_handler import npu_handler

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--logdir", default="runs/minimal")
parser.add_argument("--device", default="npu:0")
args = parser.parse_args()

model = torch.nn.Sequential(
    torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)
).to(args.device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

with torch_npu.profiler.profile(
    schedule=torch_npu.profiler.schedule(wait=0, warmup=1, active=3, repeat=1),
    on_trace_ready=npu_handler(args.logdir),
    record_shapes=True,
) as prof:
    for _ in range(6):
        x = torch.randn(64, 256, device=args.device)
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        prof.step()
