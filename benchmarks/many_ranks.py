"""Many ranks of ordinary size: from process start to everything, and every view after that.

python benchmarks/many_ranks.py [--ranks 64] [--kernels-per-step 190]
python benchmarks/many_ranks.py --ranks 1024 --logdir RUNS --cache CACHE   of captures that are there
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from first_paint import has_overview
from serving import Server, percentile, tensorboard

VIEWS = ("overview", "ranks", "ranks?group=host", "ranks?group=collective", "step", "kernel",
         "kernel?group=type", "operator?group=name", "api", "memory", "communication",
         "communication?group=matrix", "health", "files", "captures")  # fmt: skip
#: s; a thousand captures are read in minutes.
PATIENCE = 3600.0


def idle(server: Server) -> bool:
    reply = server.json("captures")["data"]
    states = [c["state"] for run in reply["runs"] for r in run["recordings"] for c in r["captures"]]
    return bool(states) and all(state == "ready" for state in states)


@contextmanager
def job(args: argparse.Namespace) -> Iterator[tuple[Path, Path]]:
    """(logdir, cache): those that were given, else generated ones that are removed afterwards."""
    if args.logdir and args.cache:
        yield args.logdir, args.cache
        return
    from tb_npu_plugin.sample import ALL_FILES, write_sample

    with tempfile.TemporaryDirectory(prefix="npu-bench-") as name:
        work = Path(name)
        logdir = args.logdir or work / "runs"
        if not args.logdir:
            files = tuple(f for f in ALL_FILES if f != "trace_view.json")
            write_sample(logdir, ranks=args.ranks, steps=1, files=files, seed=1,
                         kernels_per_step=args.kernels_per_step)  # fmt: skip
        yield logdir, args.cache or work / "cache"


def sizes(cache: Path) -> tuple[int, int]:
    """(bytes of all entries of captures, bytes of what was folded)."""
    found = [f for f in cache.glob("v*/captures/*/*/*") if f.is_file()]
    folded = sum(f.stat().st_size for f in found if f.parts[-3] == "folds")
    return sum(f.stat().st_size for f in found) - folded, folded


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--kernels-per-step", type=int, default=190)
    parser.add_argument("--logdir", type=Path, help="captures of so many ranks that are there")
    parser.add_argument("--cache", type=Path, help="where they were read to, or will be")
    args = parser.parse_args()
    with job(args) as (logdir, cache), tensorboard(logdir, cache) as server:
        server.wait(lambda s: s.listing() >= 0)
        overview = server.wait(has_overview, PATIENCE)
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
            first = server.get(view, PATIENCE)[1]
            again = min(server.get(view, PATIENCE)[1] for _ in range(3))
            print(f"{view:27} {first * 1000:6.0f} ms first, {again * 1000:5.0f} ms again")
        print(f"peak PSS, with the views  {server.peak_pss / 1e9:6.2f} GB")
        read, folded = sizes(cache)
        print(f"store, per rank           {read / args.ranks / 1e3:6.0f} kB")
        print(f"folded, per rank          {folded / args.ranks / 1e3:6.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
