"""One rank with a million kernels: from process start to the first overview and to everything.

python benchmarks/first_paint.py [--kernels 1000000] [--logdir DIR]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from serving import Server, percentile, tensorboard

TABLES = {
    "first page": "kernel?limit=100",
    "deep page (row 500,000)": "kernel?offset=500000&limit=100",
    "all columns, deep": "kernel?offset=500000&limit=100&columns=",
    "sort by wait": "kernel?sort=wait_ns:desc&limit=100",
    "sort by name": "kernel?sort=name&limit=100",
    "filter": "kernel?filter=MatMul%20dur%3E10us&limit=100",
    "by type": "kernel?group=type",
    "by name": "kernel?group=name&limit=100",
    "by shape": "kernel?group=shape&limit=100",
    "overview": "overview?",
    "step": "step?limit=100",
    "operators by name": "operator?group=name&limit=100",
    "operators, deep page": "operator?offset=400000&limit=100",
    "memory": "memory?limit=100",
    "communication": "communication?limit=100",
}


def has_overview(server: Server) -> bool:
    data = server.json("overview")["data"]
    return bool(data["bars"]) and bool(data["top_kernels"])


def has_everything(server: Server) -> bool:
    """Every view that the files allow answers from all of its rows."""
    for view in ("kernel", "operator", "memory", "communication", "api"):
        reply = server.json(f"{view}?limit=1")
        if reply["meta"]["state"] != "ready":
            return False
    return bool(server.json("kernel?limit=1")["data"]["table"]["total"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=1_000_000)
    parser.add_argument("--all-files", action="store_true")
    parser.add_argument("--logdir", type=Path)
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="npu-bench-"))
    try:
        logdir = args.logdir or _write(work / "runs", args.kernels, args.all_files)
        cache = work / "cache"
        with tensorboard(logdir, cache) as server:
            up = server.wait(lambda s: s.listing() >= 0)
            listing: list[float] = []
            captures: list[float] = []
            overview = server.wait(has_overview)
            while True:
                listing.append(server.listing())
                captures.append(server.get("captures")[1])
                if has_everything(server):
                    break
                time.sleep(0.02)
            everything = server.age()
            print(f"TensorBoard up            {up:6.2f} s")
            print(f"first overview            {overview:6.2f} s")
            print(f"everything                {everything:6.2f} s")
            print(f"peak PSS, process tree    {server.peak_pss / 1e9:6.2f} GB")
            print(
                f"p99 /captures in ingest   {percentile(captures, 0.99) * 1000:6.1f} ms ({len(captures)})"
            )
            print(f"p99 listing in ingest     {percentile(listing, 0.99) * 1000:6.1f} ms")
            columns = ",".join(
                c["key"] for c in server.json("kernel?limit=1")["data"]["table"]["columns"]
            )
            for name, route in TABLES.items():
                full = route + columns if route.endswith("columns=") else route
                first = server.get(full)[1]
                again = min(server.get(full)[1] for _ in range(3))
                print(f"{name:25} {first * 1000:6.0f} ms first, {again * 1000:5.0f} ms again")
        with tensorboard(logdir, cache) as server:
            up = server.wait(lambda s: s.listing() >= 0)
            again = server.wait(lambda s: has_overview(s) and has_everything(s))
            print(f"second start              {again - up:6.2f} s after TensorBoard is up")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


def _write(out: Path, kernels: int, all_files: bool) -> Path:
    """A capture of ``kernels``; the other files come from one with a quarter of them."""
    from tb_npu_plugin.sample import ALL_FILES, write_sample

    steps = 100
    first = ("kernel_details.csv", "step_trace_time.csv")
    size = {"ranks": 1, "steps": steps, "level": 1, "seed": 1}
    write_sample(out, kernels_per_step=kernels // steps, files=first, **size)
    if all_files:
        rest = tuple(f for f in ALL_FILES if f not in (*first, "trace_view.json"))
        other = out.with_name("other")
        write_sample(other, kernels_per_step=kernels * 26 // 100 // steps, files=rest, **size)
        target = next(out.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT"))
        for file in next(other.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT")).iterdir():
            if file.name in rest:
                file.rename(target / file.name)
        shutil.rmtree(other)
    return out


if __name__ == "__main__":
    sys.exit(main())
