"""Frames of the pages that show all ranks at once, in a headless Chromium.

    python benchmarks/page_frames.py [--ranks 64]
    python benchmarks/page_frames.py --ranks 1024 --logdir RUNS --cache CACHE   of captures that are there

The pointer is moved over the picture and the page is scrolled; told are the time from frame to frame, what
of it the page's own code took, and how long the page takes from its address to its picture.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
from many_ranks import PATIENCE, idle, job
from serving import Server, tensorboard
from timeline_frames import FLAGS, RECORDER, Recorded

#: State of the page, and what is drawn once it is there.
PAGES = {
    "ranks": ("view=ranks", ".rank-map canvas"),
    "ranks, distribution": ("view=ranks&form=plot", ".rank-map canvas"),
    "rank to rank": ("view=communication&group=matrix", ".heat canvas, canvas"),
    "step time": ("view=step", ".row .seg, .row .cell"),
    "memory": ("view=memory", "canvas"),
}
SWEEPS = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--kernels-per-step", type=int, default=190)
    parser.add_argument("--logdir", type=Path, help="captures of so many ranks that are there")
    parser.add_argument("--cache", type=Path, help="where they were read to, or will be")
    parser.add_argument("--size", default="1920x1080", help="of the window")
    args = parser.parse_args()
    chromium = shutil.which("chromium")
    if not chromium:
        print("chromium is not installed", file=sys.stderr)
        return 1
    with job(args) as (logdir, cache), tensorboard(logdir, cache) as server:
        server.wait(idle, PATIENCE)
        print(f"{args.ranks} ranks, {args.size}")
        _drive(server, chromium, args.size)
    return 0


def _drive(server: Server, chromium: str, size: str) -> None:
    from playwright.sync_api import sync_playwright

    wide, tall = (int(n) for n in size.split("x"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for title, (state, there) in PAGES.items():
            page = browser.new_page(viewport={"width": wide, "height": tall})
            page.add_init_script(RECORDER)
            began = time.monotonic()
            words = "&".join(f"p.npu_profiler.{word}" for word in (*state.split("&"), "lang=en"))
            page.goto(f"{server.url}#npu_profiler&{words}")
            picture = page.frame_locator("iframe").first.locator(there).first
            picture.wait_for(state="visible", timeout=60_000)
            print(f"{title}: there after {time.monotonic() - began:.2f} s")
            page.wait_for_timeout(1500)
            frame = page.locator("iframe").first.element_handle().content_frame()
            assert frame is not None
            _move(Recorded(page, frame), picture)
            page.close()
        browser.close()


def _move(recorded: Recorded, picture: Any) -> None:
    page = recorded.page
    box = picture.bounding_box()
    wide, tall = box["width"], min(box["height"], 600)

    def sweep() -> None:
        for turn in range(SWEEPS):
            y = box["y"] + tall * (turn + 0.5) / SWEEPS
            page.mouse.move(box["x"] + 5, y)
            page.mouse.move(box["x"] + wide - 5, y, steps=60)

    def scroll() -> None:
        for _ in range(40):
            page.mouse.wheel(0, 240)
            page.wait_for_timeout(25)

    recorded.run("  pointer over the picture", sweep)
    recorded.run("  scrolled", scroll)


if __name__ == "__main__":
    sys.exit(main())
