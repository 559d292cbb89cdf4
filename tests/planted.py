"""Jobs with a fault planted, and who must be named for it: for tests and for the table of hits.

Each plant writes a generated job to a folder and returns the labels that the suspects must have.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tb_npu_plugin.sample import write_sample

OUTPUT = "ASCEND_PROFILER_OUTPUT"
RANKS, STEPS, KERNELS = 8, 3, 300


@dataclass(frozen=True)
class Fault:
    """``plant(folder, seed)`` -> labels. ``options``: of the ranks view."""

    name: str
    plant: Callable[[Path, int], set[str]]
    options: dict[str, str] = field(default_factory=dict)


def write(folder: Path, seed: int, **fault: object) -> None:
    size = {"ranks": RANKS, "steps": STEPS, "kernels_per_step": KERNELS, **fault}
    write_sample(folder, seed=seed, **size)  # type: ignore[arg-type]


def chosen(seed: int, count: int = RANKS) -> int:
    """The rank at fault: another one for each seed."""
    return seed * 5 % count


def capture_of(folder: Path, rank: int) -> Path:
    (info,) = folder.glob(f"*_ascend_pt/profiler_info_{rank}.json")
    return info.parent


def sound(folder: Path, seed: int) -> set[str]:
    write(folder, seed)
    return set()


def computes_longer(folder: Path, seed: int) -> set[str]:
    write(folder, seed, straggler=chosen(seed))
    return {f"Rank {chosen(seed)}"}


def slow_clock(folder: Path, seed: int) -> set[str]:
    write(folder, seed, slow_clock=chosen(seed))
    return {f"Rank {chosen(seed)}"}


def slow_host(folder: Path, seed: int) -> set[str]:
    write(folder, seed, slow_host=chosen(seed))
    return {f"Rank {chosen(seed)}"}


def two_at_once(folder: Path, seed: int) -> set[str]:
    slow, late = chosen(seed), chosen(seed + 1)
    write(folder, seed, straggler=slow, slow_host=late)
    return {f"Rank {slow}", f"Rank {late}"}


def slow_link(folder: Path, seed: int) -> set[str]:
    a = chosen(seed)
    b = (a + 2) % RANKS  # of one data-parallel group
    write(folder, seed, slow_link=(a, b))
    return {f"Link {a} → {b}", f"Link {b} → {a}"}


def clock_offset(folder: Path, seed: int) -> set[str]:
    """One rank's clock is 2 ms ahead: nobody is late."""
    write(folder, seed)
    shift_clock(capture_of(folder, chosen(seed)), 2000.0)
    return set()


def shift_clock(capture: Path, by_us: float) -> None:
    path = capture / OUTPUT / "communication.json"
    key = r'("Start Timestamp\(us\)": )([0-9.]+)'
    moved = re.sub(key, lambda m: m[1] + repr(float(m[2]) + by_us), path.read_text())
    path.write_text(moved)


def missing_rank(folder: Path, seed: int) -> set[str]:
    """The straggler was not collected: the others wait for somebody who is not here."""
    write(folder, seed, straggler=chosen(seed), tp=1)
    shutil.rmtree(capture_of(folder, chosen(seed)))
    return {"A rank that is not here"}


def starts_later(folder: Path, seed: int) -> set[str]:
    """Two captures begin some collectives later than the others."""
    write(folder, seed, straggler=chosen(seed))
    for rank, count in ((chosen(seed + 1), 3), (chosen(seed + 2), 7)):
        drop_first(capture_of(folder, rank), count)
    return {f"Rank {chosen(seed)}"}


def drop_first(capture: Path, count: int) -> None:
    """Leave out the first collectives of a capture, and the rest of the numbers as they are."""
    path = capture / OUTPUT / "communication.json"
    content = json.loads(path.read_text())
    first = content[min(content, key=lambda step: int(step.removeprefix("step")))]["collective"]

    def start(name: str) -> float:
        info = first[name]["Communication Time Info"]
        return float(info.get("Start Timestamp(us)", float("inf")))

    for name in sorted(first, key=start)[:count]:
        del first[name]
    path.write_text(json.dumps(content))


def duplicate_rank(folder: Path, seed: int) -> set[str]:
    """The straggler's partner was collected twice, as copying does."""
    write(folder, seed, straggler=chosen(seed))
    copied = capture_of(folder, chosen(seed + 1))
    shutil.copytree(copied, copied.with_name(f"copy_{copied.name}"))
    return {f"Rank {chosen(seed)}"}


def uneven_stage(folder: Path, seed: int) -> set[str]:
    """The last of two pipeline stages computes 1.4 times as long, which is nobody's fault."""
    write(folder, seed)
    for rank in range(RANKS // 2, RANKS):
        compute_longer(capture_of(folder, rank), 1.4)
    return {"Stage 1"}


def compute_longer(capture: Path, factor: float) -> None:
    path = capture / OUTPUT / "step_trace_time.csv"
    header, *rows = path.read_text().splitlines()
    names = header.split(",")
    lines = []
    for row in rows:
        cells = row.split(",")
        at, stage = names.index("Computing"), names.index("Stage")
        more = float(cells[at]) * (factor - 1)
        cells[at], cells[stage] = str(float(cells[at]) + more), str(float(cells[stage]) + more)
        lines.append(",".join(cells))
    path.write_text("\n".join([header, *lines]) + "\n")


def uneven_experts(folder: Path, seed: int) -> set[str]:
    """One rank's experts get most tokens: it receives more and computes longer."""
    write(folder, seed, straggler=chosen(seed))
    for rank in range(RANKS):
        path = capture_of(folder, rank) / OUTPUT / "communication.json"
        content = json.loads(path.read_text())
        for step in content.values():
            step["collective"] = {
                name.replace("hcom_reduceScatter", "hcom_alltoallv"): _sized(
                    entry, 1.8 if rank == chosen(seed) and "reduceScatter" in name else 1.0
                )
                for name, entry in step["collective"].items()
            }
        path.write_text(json.dumps(content))
    return {f"Rank {chosen(seed)}"}


def _sized(entry: dict[str, dict[str, dict[str, object]]], factor: float) -> object:
    for link in entry["Communication Bandwidth Info"].values():
        if isinstance(link, dict) and "Transit Size(MB)" in link:
            link["Transit Size(MB)"] = float(str(link["Transit Size(MB)"])) * factor
    return entry


FAULTS = (
    Fault("none", sound),
    Fault("computes 1.3 times as long", computes_longer),
    Fault("cores at 1.3 instead of 1.8 GHz", slow_clock),
    Fault("data loader 3 ms late", slow_host),
    Fault("one computes longer, another's loader is late", two_at_once),
    Fault("a link at 15 % of its bandwidth", slow_link),
    Fault("a clock 2 ms ahead", clock_offset),
    Fault("the slow rank is not in the folder", missing_rank),
    Fault("captures begin at other collectives; one computes longer", starts_later),
    Fault("a capture is there twice; another computes longer", duplicate_rank),
    Fault("a pipeline stage computes 1.4 times as long", uneven_stage, {"shape": "pp=2"}),
    Fault("experts get 1.8 times the tokens on one rank", uneven_experts),
)
