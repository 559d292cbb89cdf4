"""Frames of the timeline in a headless Chromium while it is panned and zoomed.

    python benchmarks/timeline_frames.py
    python benchmarks/timeline_frames.py --kernels 60000 --size 2560x1440
    python benchmarks/timeline_frames.py --spans 100000     so many spans on screen, each drawn alone

A trace is generated and served by TensorBoard on 127.0.0.1. Keys are held and the wheel is turned;
told are the time from frame to frame, what of it the page's own code took, how long a redraw of all
that is on screen takes, and what was sent. Chromium draws on the CPU here (``--disable-gpu``).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import struct
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
from serving import Server, percentile, tensorboard

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
STEPS = 20
#: A frame at 60 Hz takes 16.7 ms; what is later than this was missed.
LATE_MS = 20
#: Keeps when every frame began and how long the page's own callbacks took in it.
RECORDER = """
(() => {
  const own = window.requestAnimationFrame.bind(window);
  const kept = { at: [], busy: [], on: false };
  let busy = 0;
  window.requestAnimationFrame = (callback) => own((now) => {
    const begun = performance.now();
    callback(now);
    busy += performance.now() - begun;
  });
  const watch = (now) => {
    if (!kept.on) return;
    kept.at.push(now);
    kept.busy.push(busy);
    busy = 0;
    own(watch);
  };
  window.frames_kept = {
    begin: () => { Object.assign(kept, { at: [], busy: [], on: true }); busy = 0; own(watch); },
    end: () => { kept.on = false; return { at: kept.at, busy: kept.busy }; },
  };
})();
"""
#: Bytes of the windows that came since it was last asked.
SENT = """
() => {
  const sent = performance.getEntriesByType('resource')
    .filter((each) => each.name.includes('/timeline/window')).map((each) => each.encodedBodySize);
  performance.clearResourceTimings();
  return sent;
}
"""
ASKED = """
() => performance.getEntriesByType('resource').map((each) => each.name)
  .filter((name) => name.includes('/timeline/window'))
"""


class Recorded:
    """The page, and what its movements took."""

    def __init__(self, page: Any, frame: Any) -> None:
        self.page, self.frame = page, frame

    def run(self, title: str, move: Any) -> None:
        """Prints the frames while ``move()`` goes on."""
        self.frame.evaluate("frames_kept.begin()")
        move()
        kept = self.frame.evaluate("frames_kept.end()")
        times = [b - a for a, b in zip(kept["at"], kept["at"][1:], strict=False)]
        sent = self.frame.evaluate(SENT)
        self.page.wait_for_timeout(1000)
        print(f"{title:28} {_summary(times)}   own code {_summary(kept['busy'])}   "
              f"{sum(t > LATE_MS for t in times)} of {len(times)} late   "
              f"{len(sent)} windows, {sum(sent) / 1e3:.0f} kB")  # fmt: skip

    def held(self, key: str, seconds: float) -> Any:
        def move() -> None:
            self.page.keyboard.down(key)
            self.page.wait_for_timeout(1000 * seconds)
            self.page.keyboard.up(key)
            self.page.wait_for_timeout(300)

        return move

    def wheel(self, notches: int, by: int, key: str) -> Any:
        def move() -> None:
            self.page.keyboard.down(key)
            for _ in range(notches):
                self.page.mouse.wheel(0, by)
                self.page.wait_for_timeout(25)
            self.page.keyboard.up(key)
            self.page.wait_for_timeout(300)

        return move


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=20_000, help="of all steps together")
    parser.add_argument(
        "--spans", type=int, help="a trace of so many slices a pixel or wider instead"
    )
    parser.add_argument("--logdir", type=Path, help="an existing capture instead")
    parser.add_argument("--size", default="1920x1080", help="of the window")
    parser.add_argument("--seconds", type=float, default=3.0, help="for which a key is held")
    options = parser.parse_args()
    chromium = shutil.which("chromium")
    if not chromium:
        print("chromium is not installed", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="timeline-frames-") as scratch:
        logdir = options.logdir or Path(scratch) / "logs"
        if options.spans:
            _spread(logdir, options.spans)
        elif not options.logdir:
            _generate(logdir, options.kernels)
        with tensorboard(logdir, Path(scratch) / "cache") as server:
            server.wait(_is_read)
            _drive(server, chromium, options)
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    return 0


def _generate(logdir: Path, kernels: int) -> None:
    from tb_npu_plugin.sample import write_sample

    write_sample(logdir, ranks=1, steps=STEPS, kernels_per_step=kernels // STEPS,
                 files=("trace_view.json",))  # fmt: skip


def _spread(logdir: Path, spans: int) -> None:
    """Slices side by side on as many threads as are on screen together when rows are compact."""
    from tb_npu_plugin.backend.discovery import OUTPUT

    threads = 100
    events = [
        {"ph": "X", "pid": 1, "tid": t, "name": f"slice {i % 7}", "ts": f"{1000 + i * 10 + t}.000",
         "dur": 7}
        for t in range(threads)
        for i in range(spans // threads)
    ]  # fmt: skip
    output = logdir / "spans_ascend_pt" / OUTPUT
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text(json.dumps(events))


def _is_read(server: Server) -> bool:
    reply = server.json("timeline?")
    return bool(reply["data"]["tracks"]) and reply["meta"]["state"] == "ready"


def _drive(server: Server, chromium: str, options: argparse.Namespace) -> None:
    from playwright.sync_api import sync_playwright

    wide, tall = (int(n) for n in options.size.split("x"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": wide, "height": tall})
        page.add_init_script(RECORDER)
        page.goto(f"{server.url}#npu_profiler&p.npu_profiler.lang=en&p.npu_profiler.view=timeline")
        live = page.frame_locator("iframe").first.locator("#tl-live")
        live.filter(has_text=re.compile("slice")).wait_for(state="attached", timeout=60_000)
        page.wait_for_timeout(1000)
        frame = page.locator("iframe").first.element_handle().content_frame()
        drawn = sum(map(_items, frame.evaluate(ASKED)))
        print(f"{options.size}: {live.text_content()}, drawn as {drawn:,} items")
        recorded = Recorded(page, frame)
        _move(recorded, options.seconds)
        _redraw(recorded)
        browser.close()


def _move(recorded: Recorded, seconds: float) -> None:
    page = recorded.page
    canvas = page.frame_locator("iframe").first.locator("canvas.tl-canvas")
    canvas.focus()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    held, wheel = recorded.held, recorded.wheel
    recorded.run("at rest", lambda: page.wait_for_timeout(1000 * seconds / 2))
    recorded.run("zoom in, W held", held("w", seconds))
    recorded.run("zoom out, S held", held("s", seconds))
    recorded.run("zoom in, wheel", wheel(12, -100, "Control"))
    recorded.run("pan right, D held", held("d", seconds))
    recorded.run("pan left, A held", held("a", seconds))
    recorded.run("pan, wheel", wheel(40, 120, "Shift"))
    recorded.run("zoom out, wheel", wheel(14, 100, "Control"))


def _redraw(recorded: Recorded) -> None:
    """Everything anew at another density, there and back: no data are asked for."""
    page, frame = recorded.page, recorded.frame
    page.keyboard.press("0")
    page.wait_for_timeout(2000)
    page.frame_locator("iframe").first.get_by_role("button", name="More", exact=True).click()
    box = page.frame_locator("iframe").first.get_by_label(re.compile("^Compact rows"))
    took, busy = [], []
    for _ in range(6):
        frame.evaluate("frames_kept.begin()")
        page.wait_for_timeout(200)
        box.click()
        page.wait_for_timeout(600)
        kept = frame.evaluate("frames_kept.end()")
        took.append(max(b - a for a, b in zip(kept["at"], kept["at"][1:], strict=False)))
        busy.append(max(kept["busy"]))
    print(f"{'full redraw':28} {_summary(took)}   own code {_summary(busy)}")


def _summary(times: list[float]) -> str:
    p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
    return f"p50 {p50:5.1f} p95 {p95:5.1f} max {max(times):5.1f} ms"


def _items(url: str) -> int:
    """Items in the answer to a window."""
    with urllib.request.urlopen(url, timeout=30) as reply:
        body = reply.read()
    header = json.loads(body[8 : 8 + struct.unpack_from("<I", body, 4)[0]])
    return sum(lane[3] for lane in header["lanes"])


if __name__ == "__main__":
    sys.exit(main())
