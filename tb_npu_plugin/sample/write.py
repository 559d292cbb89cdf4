"""Writes the captures of one job: plans a step, times it chunk by chunk, and lets each rank's
capture take its share, so that memory holds one chunk whatever the size of the job."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from .capture import ALL_FILES, CaptureWriter, Settings
from .groups import Layout, default_tp, lay_out, share_payloads
from .lines import LINES
from .model import build
from .plan import plan_step
from .schedule import Clocks, time_chunk
from .specs import FREQ_MHZ, SLOW_MHZ
from .text import Floats, Ints
from .truth import RankTruth, SampleTruth

EPOCH_NS = 1_772_438_400_000_000_000  # 2026-03-02 08:00:00 UTC; a fixed date keeps files equal
LEAD_NS, TRAIL_NS = 18_000_000, 12_000_000  # the window around the steps
LOADER_NS, LOADER_SPREAD_NS = 2_600_000, 900_000
SYNC_NS = 21_000
STRAGGLER_FACTOR = 1.3
SLOW_LOADER_NS = 3_000_000


def write_sample(
    out: Path,
    *,
    ranks: int = 2,
    steps: int = 3,
    kernels_per_step: int = 200,
    level: int = 1,
    seed: int = 0,
    straggler: int | None = None,
    slow_clock: int | None = None,
    slow_host: int | None = None,
    slow_link: tuple[int, int] | None = None,
    memory_leak: bool = False,
    worker: str = "node",
    line: str = "26.0",
    first_step: int = 12,
    world: int | None = None,
    tp: int | None = None,
    devices_per_host: int = 8,
    files: Collection[str] = ALL_FILES,
    export: Collection[str] = ("text",),
    overwrite: bool = False,
) -> SampleTruth:
    """Write `ranks` captures below out, and return the numbers they hold.

    kernels_per_step: compute kernels; collectives come on top.
    straggler: a rank that computes 1.3 times as long; the others wait for it.
    slow_clock: a rank whose cores run at 1.3 instead of 1.8 GHz.
    slow_host: a rank whose data loader takes 3 ms longer in every step.
    slow_link: two ranks whose link has 0.15 of the bandwidth. Without tp given, tp becomes 1 where
        they would otherwise have no large payload to exchange.
    memory_leak: some blocks of every step are never freed.
    line: the release line whose columns and names are written, one of LINES.
    world: the job's size, by default ranks but at least 2. With more than ranks only the first
        ranks were collected, and they wait for others that are not there; 1 has no communication.
    tp: tensor-parallel size; the rest of the job is data-parallel.
    files: names of text files out of ALL_FILES. The truth of files that are left out is empty.
    export: "text", "db" or both: the text files, the databases of the same recording.

    The same arguments write the same bytes (with the same numpy).

    FileExistsError where a capture is already there, unless overwrite replaces it.
    ValueError for arguments that contradict each other.

    >>> truth = write_sample(Path("runs/a"), ranks=8, straggler=5)
    >>> truth.ranks[5].steps[0].computing_ns
    """
    world = max(ranks, 2) if world is None else world
    if tp is None:
        tp = default_tp(world)
        if slow_link is not None and not share_payloads(slow_link, tp):
            tp = 1
    wanted = tuple(kind for kind in ("text", "db") if kind in export)
    _check(ranks, steps, kernels_per_step, level, world, tp, line, files, slow_link)
    for name, rank in (
        ("straggler", straggler),
        ("slow_clock", slow_clock),
        ("slow_host", slow_host),
    ):
        if rank is not None and not 0 <= rank < world:
            raise ValueError(f"{name} is a rank of the job")
    if not wanted or len(wanted) < len(set(export)):
        raise ValueError("export is text, db or both")
    epoch = EPOCH_NS + (seed % 100_000) * 60_000_000_000
    layout = lay_out(world, tp, devices_per_host, slow_link, epoch // 1_000_000)
    chunks = plan_step(build(tp), kernels_per_step, list(layout.axes), world)
    settings = Settings(
        LINES[line], level, seed, steps, first_step, memory_leak,
        frozenset(files if "text" in wanted else ()), layout, chunks, wanted,
        slow_clock,
    )  # fmt: skip
    slowness, loader = np.ones(world), np.zeros(world, dtype=np.int64)
    if straggler is not None:
        slowness[straggler] *= STRAGGLER_FACTOR
    if slow_clock is not None:
        slowness[slow_clock] *= FREQ_MHZ / SLOW_MHZ
    if slow_host is not None:
        loader[slow_host] = SLOW_LOADER_NS
    random = np.random.default_rng([seed, 77])
    begin = epoch + LEAD_NS + random.integers(0, 40_000, world) * 10
    folders = [_folder(out, worker, rank, layout, seed, begin, overwrite) for rank in range(ranks)]
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".parts-", dir=out) as scratch:
        writers = [
            CaptureWriter(folder, Path(scratch) / str(rank), rank, process_id(seed, rank), settings)
            for rank, folder in enumerate(folders)
        ]
        truths = _run(writers, settings, begin, random, slowness, loader)
    groups = {g.name: g.ranks for axis in layout.axes.values() for g in axis.groups}
    return SampleTruth(
        out, world, truths, groups, straggler, slow_clock, slow_host, slow_link, memory_leak
    )


def _run(
    writers: list[CaptureWriter],
    settings: Settings,
    begin: Ints,
    random: np.random.Generator,
    slowness: Floats,
    late: Ints,
) -> tuple[RankTruth, ...]:
    """Time the job step by step; every rank of it, also those that nobody collected."""
    layout, seed, world = settings.layout, settings.seed, settings.layout.world
    clocks = Clocks.at(begin, list(layout.axes))
    host_end = begin
    for step in range(settings.first_step, settings.first_step + settings.steps):
        host_begin = host_end
        loader = LOADER_NS + late + random.integers(0, LOADER_SPREAD_NS // 10, world) * 10
        clocks.host = host_begin + loader
        clocks.dequeue = clocks.host.copy()
        for writer in writers:
            at = writer.rank
            writer.begin_step(step, int(host_begin[at]), int(loader[at]))
        for number, chunk in enumerate(settings.chunks):
            rngs = [
                np.random.Generator(np.random.SFC64([seed, 1, rank, step, number]))
                for rank in range(world)
            ]
            shared = np.random.Generator(np.random.SFC64([seed, 2, step, number]))
            times = time_chunk(chunk, clocks, layout, rngs, shared, slowness)
            for writer in writers:
                writer.add(times, int(clocks.stream[writer.rank]))
        host_ready = clocks.host
        host_end = np.maximum(host_ready, clocks.device_end()) + SYNC_NS
        host_end = -(-host_end // 10) * 10
        for writer in writers:
            writer.end_step(int(host_ready[writer.rank]), int(host_end[writer.rank]))
    return tuple(
        writer.finish((int(begin[writer.rank]) - LEAD_NS, int(host_end[writer.rank]) + TRAIL_NS))
        for writer in writers
    )


def _check(
    ranks: int,
    steps: int,
    kernels: int,
    level: int,
    world: int,
    tp: int,
    line: str,
    files: Collection[str],
    slow_link: tuple[int, int] | None,
) -> None:
    problems = [
        (ranks < 1 or steps < 1 or kernels < 1, "ranks, steps and kernels_per_step start at 1"),
        (level not in (0, 1, 2), "level is 0, 1 or 2"),
        (world < ranks, "world is at least the number of ranks"),
        (tp < 1 or world % tp != 0 or tp not in (1, 2, 4, 8, 16), "tp divides world and is 1…16"),
        (line not in LINES, f"line is one of {', '.join(LINES)}"),
        (not set(files) <= set(ALL_FILES), f"files are out of {', '.join(sorted(ALL_FILES))}"),
        (
            slow_link is not None
            and (slow_link[0] == slow_link[1] or not all(0 <= r < world for r in slow_link)),
            "slow_link is two different ranks of the job",
        ),
        (
            slow_link is not None and tp > 0 and not share_payloads(slow_link, tp),
            "slow_link is two ranks of one tp or dp group",
        ),
    ]
    for wrong, message in problems:
        if wrong:
            raise ValueError(message)


def _folder(
    out: Path, worker: str, rank: int, layout: Layout, seed: int, begin: Ints, overwrite: bool
) -> Path:
    """The capture's directory, not there yet: <worker><host>_<pid>_<17 digits>_ascend_pt."""
    host = layout.host(rank)
    pid = process_id(seed, rank)
    moment = int(begin[rank]) // 1_000_000
    stamp = datetime.fromtimestamp(moment // 1000, timezone.utc).strftime("%Y%m%d%H%M%S")
    folder = out / f"{worker}{host}_{pid}_{stamp}{moment % 1000:03d}_ascend_pt"
    if folder.exists():
        if not overwrite:
            raise FileExistsError(f"{folder} is already there")
        shutil.rmtree(folder)
    return folder


def process_id(seed: int, rank: int) -> int:
    """The process id of a rank."""
    return 40_000 + (seed * 7_919 + rank * 131) % 900_000
