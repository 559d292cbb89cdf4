"""Who is named in generated jobs with a fault planted: hits and false alarms over seeds.

python scripts/measure_faults.py [--seeds 20]    prints the table of docs/views.md
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from planted import FAULTS, Fault

from tb_npu_plugin import load
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.ranks import ranks


def named(folder: Path, fault: Fault) -> set[str]:
    """Labels of everything that is held against somebody."""
    with load(folder, cache=folder / ".cache") as captures:
        sel = captures.select()
        sel.options = dict(fault.options)
        return {s.label for s in ranks(sel, TableRequest(limit=1)).suspects}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=20)
    args = parser.parse_args()
    print("| Planted | Jobs | Named | Missed | Others named |\n| --- | --- | --- | --- | --- |")
    for fault in FAULTS:
        hits = missed = wrong = 0
        for seed in range(1, args.seeds + 1):
            with tempfile.TemporaryDirectory(prefix="npu-faults-") as text:
                wanted = fault.plant(Path(text) / "job", seed)
                found = named(Path(text) / "job", fault)
            hits += len(wanted & found)
            missed += len(wanted - found)
            wrong += len(found - wanted)
            if found != wanted:
                print(f"{fault.name}, seed {seed}: {sorted(found)} for {sorted(wanted)}",
                      file=sys.stderr)  # fmt: skip
        print(f"| {fault.name} | {args.seeds} | {hits} | {missed} | {wrong} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
