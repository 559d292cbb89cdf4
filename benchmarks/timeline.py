"""Windows of a big trace: time cold and warm, bytes, memory of the process that answers.

    python benchmarks/timeline.py --mb 300
    python benchmarks/timeline.py --mb 1100 --windows 200
    python benchmarks/timeline.py --mb 13 --ranks 64

The trace is written with the sample generator and read into a cache once; windows are asked for as
the page asks (all tracks that fit on a screen, 2,000 pixels, positions and zooms at random). *Cold*:
a process that was just started, after the files of the index were dropped from the page cache.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS, WIDTH = 50, 2000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=float, default=300, help="size of the generated trace")
    parser.add_argument("--ranks", type=int, default=1, help="the size is that of each")
    parser.add_argument("--logdir", type=Path, help="existing captures instead of generated ones")
    parser.add_argument("--windows", type=int, default=100)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        logdir, cache, how = options.child
        print(json.dumps(_ask(Path(logdir), Path(cache), how, options.windows)))
        return 0
    with tempfile.TemporaryDirectory(prefix="timeline-") as scratch:
        logdir, cache = options.logdir or Path(scratch) / "logs", Path(scratch) / "cache"
        if not options.logdir:
            _generate(logdir, options.mb, options.ranks)
        for how in ("ingest", "cold", "warm"):
            child = subprocess.run(
                [sys.executable, __file__, "--child", str(logdir), str(cache), how,
                 "--windows", str(options.windows)],
                check=True, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            found = json.loads(child.stdout.splitlines()[-1])
            print(f"{how:7}", " ".join(f"{k} {v}" for k, v in found.items()))
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    return 0


def _generate(logdir: Path, mb: float, ranks: int) -> None:
    from benchmarks.trace_ingest import STEP_BYTES
    from tb_npu_plugin.sample import write_sample

    steps = max(1, round(mb * 1e6 / STEP_BYTES))
    write_sample(
        logdir, ranks=ranks, steps=steps, kernels_per_step=4000, files=("trace_view.json",)
    )


def _ask(logdir: Path, cache: Path, how: str, count: int) -> dict[str, object]:
    from tb_npu_plugin.backend.timeline.drawing import Window, window
    from tb_npu_plugin.backend.timeline.files import TABLES
    from tb_npu_plugin.backend.views.timeline import timeline
    from tb_npu_plugin.frames import load

    began = time.perf_counter()
    with load(logdir, cache=cache) as captures:
        sel = captures.select()
        sel.store.fetch(sel.captures, TABLES)
        if how == "ingest":
            view = timeline(sel)
            return {"seconds": round(time.perf_counter() - began, 1), "ranks": len(view.ranks),
                    "slices": sum(t.slices for t in view.tracks)}  # fmt: skip
        if how == "cold":
            _drop(cache)
        began = time.perf_counter()
        view = timeline(sel)
        opened = time.perf_counter() - began
        seed = random.Random(1)
        times, sizes = [], []
        for wanted in _windows(view, seed, count):
            start = time.perf_counter()
            body = window(sel, Window(*wanted))
            packed = gzip.compress(body, 1)
            times.append(1e3 * (time.perf_counter() - start))
            sizes.append(len(packed) / 1e3)
        times_sorted, sizes_sorted = sorted(times), sorted(sizes)
    status = Path("/proc/self/status").read_text()
    anonymous = int(status.split("RssAnon:")[1].split()[0]) / 1024
    return {
        "list_ms": round(1e3 * opened), "first_ms": round(times[0], 1),
        "p50_ms": round(times_sorted[len(times) // 2], 1),
        "p95_ms": round(times_sorted[int(len(times) * 0.95)], 1),
        "max_ms": round(times_sorted[-1], 1),
        "kB_p50": round(sizes_sorted[len(sizes) // 2]), "kB_max": round(sizes_sorted[-1]),
        "own_memory_MB": round(anonymous),
    }  # fmt: skip


def _windows(view, seed: random.Random, count: int):  # type: ignore[no-untyped-def]
    """The whole first; then zooms over six decades, each on about 50 rows of some tracks."""
    tracks = [t for t in view.tracks if t.slices]
    whole = view.end - view.start
    for i in range(count):
        span = whole * 10 ** (0 if i == 0 else -seed.uniform(0, 6))
        begin = seed.uniform(0, max(0.0, whole - span))
        rows, chosen = 0, []
        first = seed.randrange(len(tracks))
        for track in tracks[first:] + tracks[:first]:
            if rows >= ROWS:
                break
            rows += track.depths
            chosen.append(str(track.id))
        yield begin, begin + span + 1, WIDTH, ",".join(chosen)


def _drop(cache: Path) -> None:
    """Have the system forget the files of the cache."""
    for path in cache.rglob("*"):
        if path.is_file():
            fd = os.open(path, os.O_RDONLY)
            try:
                os.fsync(fd)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    sys.exit(main())
