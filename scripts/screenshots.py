"""Render the pictures of the documentation (docs/images/*.png) from a generated job.

    python scripts/screenshots.py [NAME ...]       e.g. overview memory

Needs the package with its `test` extra, the built frontend, and Chromium
(scripts/install_browser.sh). The job is that of `tb-npu demo`; without names, all are rendered.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tb_npu_plugin.sample import write_sample

IMAGES = Path(__file__).parent.parent / "docs" / "images"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SIZE = {"width": 1440, "height": 900}
SECONDS = 120


@dataclass(frozen=True)
class Picture:
    """A page of the tab. ``there``: what is drawn once it is complete."""

    state: str
    there: str
    dark: bool = False
    lang: str = "en"
    settle_ms: int = 0
    """For what comes after it and leaves no trace in the page (canvases)."""


PICTURES = {
    "overview": Picture("view=overview", ".simple tbody tr"),
    "overview_dark": Picture("view=overview", ".simple tbody tr", dark=True),
    "overview_zh": Picture("view=overview", ".simple tbody tr", lang="zh"),
    "step": Picture("view=step", ".row .seg"),
    "timeline": Picture("view=timeline&rank=0", ".timeline-view canvas", settle_ms=3000),
    "ranks": Picture("view=ranks", ".rank-map canvas"),
    "kernel": Picture("view=kernel&group=type", ".row .share"),
    "operator": Picture("view=operator&group=name", ".row .share"),
    "memory": Picture("view=memory&rank=0-1", ".holding"),
    "communication": Picture("view=communication", ".row .cell"),
}


def main(names: list[str]) -> None:
    unknown = set(names) - set(PICTURES)
    if unknown:
        raise SystemExit(
            f"no such picture: {', '.join(sorted(unknown))}; there are {list(PICTURES)}"
        )
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is not installed: scripts/install_browser.sh")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        logdir = Path(folder) / "runs"
        write_sample(
            logdir / "transformer-ddp", ranks=8, steps=4, kernels_per_step=400, seed=7, straggler=5
        )
        with tensorboard(logdir, Path(folder) / "cache") as url:
            wait_until_read(url)
            browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
            page = browser.new_page(viewport=SIZE)
            for name in names or PICTURES:
                draw(page, url, name, PICTURES[name])
            browser.close()


def draw(page: Page, url: str, name: str, picture: Picture) -> None:
    keys = "".join(
        f"&p.npu_profiler.{key}" for key in f"{picture.state}&lang={picture.lang}".split("&")
    )
    page.goto("about:blank")
    page.goto(f"{url}?darkMode={str(picture.dark).lower()}#npu_profiler{keys}")
    frame = page.frame_locator("iframe").first
    frame.locator(picture.there).first.wait_for()
    frame.get_by_role("progressbar").wait_for(state="detached")
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(picture.settle_ms)
    page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")
    print(IMAGES / f"{name}.png")


@contextmanager
def tensorboard(logdir: Path, cache: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "127.0.0.1",
         "--port", str(port), "--npu_cache", str(cache)],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


def wait_until_read(url: str) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            found = ask(url, "captures")
            if found["runs"] and not found["scanning"] and ask(url, "progress")["state"] == "idle":
                return
        except OSError:
            pass  # TensorBoard is still starting
        time.sleep(0.3)
    raise SystemExit("the sample was not read in time")


def ask(url: str, route: str) -> Any:
    with urllib.request.urlopen(f"{url}data/plugin/npu_profiler/{route}", timeout=10) as reply:
        return json.load(reply)["data"]


if __name__ == "__main__":
    main(sys.argv[1:])
