"""Several ranks on gloo in one job: ``ranks.py DIR WORLD JSON-options``."""

import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, directory, world, port, options):
    import torch_npu  # noqa: F401
    from tb_npu_handler import npu_handler
    from torch_npu import profiler

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, WORLD_SIZE=str(world))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    pair = dist.new_group([0, 1])
    handler = npu_handler(directory, on_error="raise", **options)
    weight = torch.ones(64)
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=2),
        on_trace_ready=handler,
    ) as prof:
        for _ in range(5):
            dist.all_reduce(weight)
            prof.step()
    if rank < 2:
        dist.all_reduce(weight, group=pair)
    # Rank 0 leaves at once; the others must not need it any more.
    handler.wait(None if rank else 0)
    if rank:
        time.sleep(0.2)
    dist.destroy_process_group()


if __name__ == "__main__":
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = str(probe.getsockname()[1])
    options = json.loads(sys.argv[3])
    world = int(sys.argv[2])
    shared = (sys.argv[1], world, free, options)
    mp.start_processes(rank_main, shared, nprocs=world, start_method="fork")
