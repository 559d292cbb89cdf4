"""Many ranks of ordinary size: from process start to everything, and every view after that.

python benchmarks/many_ranks.py [--ranks 64] [--kernels-per-step 190]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from first_paint import has_overview
from serving import Server, percentile, tensorboard

VIEWS = ("overview", "step", "kernel", "kernel?group=type", "operator?group=name", "api", "memory",
         "communication", "communication?group=matrix", "health", "files")  # fmt: skip


def idle(server: Server) -> bool:
    reply = server.json("captures")["data"]
    states = [c["state"] for run in reply["runs"] for r in run["recordings"] for c in r["captures"]]
    return bool(states) and all(state == "ready" for state in states)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--kernels-per-step", type=int, default=190)
    args = parser.parse_args()
    from tb_npu_plugin.sample import ALL_FILES, write_sample

    work = Path(tempfile.mkdtemp(prefix="npu-bench-"))
    try:
        files = tuple(f for f in ALL_FILES if f != "trace_view.json")
        write_sample(work / "runs", ranks=args.ranks, steps=1, files=files, seed=1,
                     kernels_per_step=args.kernels_per_step)  # fmt: skip
        with tensorboard(work / "runs", work / "cache") as server:
            server.wait(lambda s: s.listing() >= 0)
            overview = server.wait(has_overview)
            listing: list[float] = []
            while not idle(server):
                listing.append(server.listing())
                time.sleep(0.2)
            print(f"{args.ranks} ranks: first overview  {overview:6.2f} s")
            print(f"everything                {server.age():6.2f} s")
            print(f"peak PSS, process tree    {server.peak_pss / 1e9:6.2f} GB")
            if listing:
                print(f"p99 listing in ingest     {percentile(listing, 0.99) * 1000:6.1f} ms")
            for view in VIEWS:
                first = server.get(view)[1]
                again = min(server.get(view)[1] for _ in range(3))
                print(f"{view:27} {first * 1000:6.0f} ms first, {again * 1000:5.0f} ms again")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
