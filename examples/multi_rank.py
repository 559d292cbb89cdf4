"""Several ranks, each with its own capture in one log directory; ranks 0 and 1 are analysed.

    torchrun --nproc-per-node 8 examples/multi_rank.py --logdir runs/multi --backend hccl
    torchrun --nproc-per-node 2 examples/multi_rank.py --device cpu --backend gloo

No rank waits for another: analysis is a matter of each rank's own detached process.
"""

import argparse
import os

import torch
import torch.distributed as dist
from tb_npu_handler import npu_profile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--logdir", default="runs/multi")
parser.add_argument("--device", default="npu")
parser.add_argument("--backend", default="hccl")
args = parser.parse_args()

dist.init_process_group(args.backend)
local_rank = int(os.environ["LOCAL_RANK"])
device = args.device if args.device == "cpu" else "{}:{}".format(args.device, local_rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(128, 128).to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

with npu_profile(args.logdir, steps=2, skip_first=1, analyse=[0, 1]) as prof:
    for _ in range(6):
        loss = model(torch.randn(16, 128, device=device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        prof.step()
dist.destroy_process_group()
