"""The same trace in our timeline and in other viewers of Chrome traces: time to see it, and memory.

    python benchmarks/other_viewers.py
    python benchmarks/other_viewers.py --mb 20,100,400,1100 --seconds 300 --pictures /tmp/seen

A trace of each size is generated and opened, one after the other, each time in a fresh headless
Chromium of the same size, drawing on the CPU, from servers on 127.0.0.1:

- *our timeline* with an empty cache: the clock starts with TensorBoard's process, and the page is
  opened once that answers; then with the cache that this left: TensorBoard is there already;
- *speedscope*, the release in its npm package, told by its address to open the file;
- *the trace viewer* (catapult's) in the wheel of torch-tb-profiler, fed as that plugin's page feeds
  it: the file's JSON is posted into its frame. The polyfill that its page takes from a CDN is taken
  from npm. The plugin itself, which first reads the file with Python, is left out.

For the others the clock starts with the navigation and plain file serving costs next to nothing.
Their packages are fetched by `npm` and `pip` into a temporary directory that is removed.

What is told, of all in the same way, from the frames that Chromium's compositor makes:

- *first picture*: the first frame where, in the area in which a viewer draws its rows (names, rulers
  and bars left out), pixels in colours that differ cover 0.3 % or more. What all show before
  (blank, loading, empty rows) is grey there. With `--pictures` that frame is kept, to be looked at.
- *everything*: the first frame from which on that area stays as it is in the end; the viewer says
  that it has loaded, and nothing changed for two seconds. Ours may draw what is read so far first.
- *zoom*: from a press of the key that zooms in (W; in speedscope +) to the first frame that shows it.
- *browser*: the most memory (PSS) of all processes of Chromium at once; *server*: of TensorBoard and
  the processes that read for it.

A viewer that fails (an error, a crash, nothing to see in time) is a row that says so, in Chromium's
words: "Failed to fetch" is what it says of a file that is longer than its longest string (537 M
characters). *slices*: of those in the file, how many the viewer says it holds; speedscope, which
draws one thread at a time, does not say. *other work*: the share of the machine's processors that was
not ours or the viewer's meanwhile. It slows all of them, and most of all what reads for our timeline,
which gives way to others (niceness 10): figures mean something where it is near 0.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
from serving import Server, tensorboard
from trace_viewers import OTHERS, OURS, TRACE, Viewer, fetch, serve
from viewing import Bounds, Seen, joined, see

PAGE = "#npu_profiler&p.npu_profiler.lang=en&p.npu_profiler.view=timeline"
#: What is told of a viewer, below each other.
COLUMNS = (
    ("first", "picture"), ("every-", "thing"), ("zoom to", "picture"), ("browser", "peak"),
    ("server", "peak"), ("slices", "held"), ("other", "work"),
)  # fmt: skip
WIDTHS = (8, 8, 8, 8, 8, 10, 5)


def _ours(logdir: Path, cache: Path, bounds: Bounds, name: str, *, warm: bool) -> Seen:
    """With TensorBoard from its first moment, or with one that is there already."""
    up = 0.0
    with ExitStack() as stack:
        servers: list[Server] = []

        def begin() -> Server:
            server = stack.enter_context(tensorboard(logdir, cache))
            server.wait(lambda each: each.listing() >= 0, 60)
            servers.append(server)
            return server

        async def start() -> tuple[float, str]:
            nonlocal up
            if warm:
                return time.time(), servers[0].url + PAGE
            server = await asyncio.to_thread(begin)
            up = server.age()
            return time.time() - up, server.url + PAGE

        if warm:
            begin()
        seen = asyncio.run(see(OURS, start, bounds, name))
        seen.server, seen.slices = servers[0].peak_pss, _slices(servers[0])
    if not warm:
        seen.note = joined(seen.note, f"TensorBoard answers after {up:.1f} s")
    return seen


def _tried(run: Callable[[], Seen]) -> Seen:
    """Whatever befalls one of them is told in its row; the others are measured all the same."""
    before = _processor()
    try:
        seen = run()
    except Exception as error:
        seen = Seen(note=f"FAILED: {error}".splitlines()[0][:120])
    spent, busy, own = (now - then for now, then in zip(_processor(), before, strict=True))
    seen.others = max(0.0, busy - own) / spent
    return seen


def _processor() -> tuple[float, float, float]:
    """Seconds of all processors so far: that passed, that were used, that were used by what was
    started here and has ended."""
    times, own = psutil.cpu_times(), os.times()
    spent = sum(times) - times.guest - times.guest_nice
    mine = own.user + own.system + own.children_user + own.children_system
    return spent, spent - times.idle - times.iowait, mine


def _slices(server: Server) -> int | None:
    """In all tracks, once the trace is read."""
    try:
        reply = server.json("timeline?")
    except OSError:
        return None
    if reply["meta"]["state"] != "ready":
        return None
    return sum(int(track["slices"]) for track in reply["data"]["tracks"])


def _other(viewer: Viewer, url: str, bounds: Bounds, name: str) -> Seen:
    async def start() -> tuple[float, str]:
        return time.time(), url

    return asyncio.run(see(viewer, start, bounds, name))


def _missing(why: str, _: str) -> Seen:
    return Seen(note=f"FAILED: {why}")


def _generate(logdir: Path, mb: float) -> Path:
    from benchmarks.trace_ingest import STEP_BYTES
    from tb_npu_plugin.sample import write_sample

    steps = max(1, round(mb * 1e6 / STEP_BYTES))
    kernels = 4000 if mb * 1e6 >= STEP_BYTES else round(4000 * mb * 1e6 / STEP_BYTES)
    write_sample(logdir, ranks=1, steps=steps, kernels_per_step=kernels, files=(TRACE,))
    (path,) = logdir.glob(f"*/ASCEND_PROFILER_OUTPUT/{TRACE}")
    return path


def _print_row(name: str, cells: Sequence[str], note: str = "") -> None:
    line = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))
    print(f"{name:18} {line}  {note}".rstrip(), flush=True)


def _print(name: str, seen: Seen) -> None:
    def seconds(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f} s"

    def memory(value: int) -> str:
        return f"{value / 1e6:.0f} MB" if value else "-"

    held = "?" if seen.slices is None else f"{seen.slices:,}"
    times = [seconds(each) for each in (seen.first, seen.everything, seen.reacted)]
    sizes = [memory(seen.browser), memory(seen.server)]
    _print_row(name, [*times, *sizes, held, f"{seen.others:.0%}"], seen.note)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mb", default="20,100,400", help="sizes of the generated traces")
    parser.add_argument("--seconds", type=float, default=180, help="for which a viewer is awaited")
    parser.add_argument("--pictures", type=Path, help="a folder for what was seen")
    options = parser.parse_args()
    chromium = shutil.which("chromium")
    if not chromium:
        print("chromium is not installed", file=sys.stderr)
        return 1
    bounds = Bounds(chromium, options.seconds, options.pictures)
    with tempfile.TemporaryDirectory(prefix="other-viewers-") as text:
        work = Path(text)
        site = work / "site"
        site.mkdir()
        missing = fetch(site, work)
        with serve(site) as url:
            for size in options.mb.split(","):
                _compare(float(size), work / size, site, url, missing, bounds)
    return 0


def _compare(
    mb: float, work: Path, site: Path, url: str, missing: dict[str, str], bounds: Bounds
) -> None:
    logdir, cache = work / "logs", work / "cache"
    path = _generate(logdir, mb)
    slices = path.read_bytes().count(b'"ph": "X"')
    print(f"{path.stat().st_size / 1e6:,.0f} MB, {slices:,} slices")
    for line in (0, 1):
        _print_row("", [column[line] for column in COLUMNS])
    (site / TRACE).unlink(missing_ok=True)
    (site / TRACE).symlink_to(path)
    cases: dict[str, Callable[[str], Seen]] = {
        "ours, cache empty": lambda kept: _ours(logdir, cache, bounds, kept, warm=False),
        "ours, cache warm": lambda kept: _ours(logdir, cache, bounds, kept, warm=True),
    }
    for name, (viewer, page) in OTHERS.items():
        address = url + page.format(url)
        if name in missing:
            cases[name] = partial(_missing, missing[name])
        else:
            cases[name] = partial(_other, viewer, address, bounds)
    for name, run in cases.items():
        kept = f"{mb:g}-{name.replace(', ', '-').replace(' ', '-')}"
        _print(name, _tried(partial(run, kept)))
    print()
    shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
