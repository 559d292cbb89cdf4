"""The same captures read by `msprof-analyze cluster` and by us: the same figures, time and memory.

python benchmarks/peer_cluster.py --peer .peer/bin/msprof-analyze [--ranks 64 | --logdir DIR]

The peer is a program of its own (`pip install msprof-analyze` in an environment of its own). Its
analysis ends in files that another tool shows; ours ends with the ranks view answered.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import psutil
from serving import tree_bytes

OURS = """
import sys
from tb_npu_plugin import load
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.ranks import ranks
if __name__ == "__main__":
    with load(sys.argv[1], cache=sys.argv[2]) as captures:
        ranks(captures.select(), TableRequest())
        captures.steps().to_pickle(sys.argv[3] + "/steps")
        captures.communication().to_pickle(sys.argv[3] + "/operations")
"""
COLUMNS = {
    "Computing": "computing_ns",
    "Communication(Not Overlapped)": "communication_not_overlapped_ns",
    "Overlapped": "overlapped_ns",
    "Communication": "communication_ns",
    "Free": "free_ns",
    "Stage": "stage_ns",
}


def measured(command: list[str]) -> tuple[float, float]:
    """(seconds, most bytes of the process tree at once)."""
    started = time.monotonic()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        most = max(most, tree_bytes(process.pid))
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return time.monotonic() - started, float(most)


def compare_steps(peer: Path, steps: Any) -> None:
    ours = {(int(r.step), int(r.rank)): r for r in steps.itertuples()}
    values, worst = 0, 0.0
    with (peer / "cluster_step_trace_time.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            if row["Type"] != "rank":
                continue
            mine = ours.pop((int(row["Step"]), int(row["Index"])))
            for theirs, key in COLUMNS.items():
                values += 1
                worst = max(worst, abs(float(row[theirs]) * 1000 - getattr(mine, key)))
    print(f"step times     {values} values, {len(ours)} rows of ours it lacks, "
          f"greatest difference {worst:.3f} ns")  # fmt: skip


def compare_operations(peer: Path, operations: Any) -> None:
    # A name is not unique: what the peer keeps is one operation per step, name and rank.
    ours: dict[tuple[int, int, float], float] = {}
    for r in operations.itertuples():
        ours[int(r.step), int(r.rank), int(r.start_ns)] = r.elapse_ns
    values, unknown, worst = 0, 0, 0.0
    told_by_peer = json.loads((peer / "cluster_communication.json").read_text())
    for steps in told_by_peer.values():
        for step, names in steps.items():
            for by_rank in names.values():
                for rank, told in by_rank.items():
                    info = told["Communication Time Info"]
                    if "Start Timestamp(us)" not in info:  # a sum
                        continue
                    start = round(Decimal(info["Start Timestamp(us)"]) * 1000)
                    mine = ours.get((int(step.removeprefix("step")), int(rank), start))
                    if mine is None:
                        unknown += 1
                        continue
                    values += 1
                    worst = max(worst, abs(info["Elapse Time(ms)"] * 1e6 - mine))
    print(f"communication  {values} operations, {unknown} not found by start, "
          f"greatest difference {worst:.3f} ns")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--peer", required=True, help="the msprof-analyze program")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--logdir", type=Path)
    args = parser.parse_args()
    import pandas as pd

    from tb_npu_plugin.sample import ALL_FILES, write_sample

    with tempfile.TemporaryDirectory(prefix="npu-bench-") as text:
        work = Path(text)
        logdir = args.logdir
        if logdir is None:
            logdir = work / "runs"
            files = tuple(f for f in ALL_FILES if f != "trace_view.json")
            write_sample(logdir, ranks=args.ranks, steps=2, files=files, seed=1)
        ours = [sys.executable, "-c", OURS, str(logdir), str(work / "cache"), text]
        first = measured(ours)
        again = measured(ours)
        peer = measured([args.peer, "cluster", "-m", "all", "-d", str(logdir), "-o", text])
        for name, (seconds, memory) in (("ours, first", first), ("ours, again", again),
                                        ("msprof-analyze", peer)):  # fmt: skip
            print(f"{name:14} {seconds:6.2f} s {memory / 1e6:8.0f} MB")
        output = work / "cluster_analysis_output"
        compare_steps(output, pd.read_pickle(work / "steps"))
        compare_operations(output, pd.read_pickle(work / "operations"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
