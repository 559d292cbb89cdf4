"""No NPU and no torch_npu: the same handler with ``torch.profiler``.

    python examples/cpu_only.py --logdir runs/cpu

The file it writes opens in the Ascend NPU tab and in the PyTorch Profiler tab.
"""

import argparse

import torch
from tb_npu_handler import npu_handler

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--logdir", default="runs/cpu")
args = parser.parse_args()

model = torch.nn.Conv2d(3, 8, 3)
with torch.profiler.profile(
    activities=[torch.profiler.ProfilerActivity.CPU],
    schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
    on_trace_ready=npu_handler(args.logdir),
    record_shapes=True,
    with_stack=True,
) as prof:
    for _ in range(5):
        model(torch.randn(4, 3, 32, 32)).sum().backward()
        prof.step()
