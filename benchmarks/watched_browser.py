"""A fresh headless Chromium whose pictures are kept with their times, and whose memory is weighed.

Pictures are the frames that Chromium's compositor makes (its screencast): nothing has to be asked of
the page to get them, so one that is busy for seconds is told at its true time, and not held up.
"""

from __future__ import annotations

import asyncio
import base64
import io
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import psutil
from PIL import Image
from serving import tree_bytes

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SIZE = (1440, 900)
FORMAT = {"format": "jpeg", "quality": 80}
WEIGH_SECONDS = 0.2
#: Warnings are counted and not printed: a DevTools client is attached here, and would be sent each
#: with its arguments, which nobody who just looks at a trace has to pay for.
INIT = """
window.warnings_counted = 0;
console.log = console.info = console.debug = console.timeEnd = () => {};
console.warn = () => { window.warnings_counted++; };
"""
#: Colour of a pixel, from 0 to 255, from which on it is no grey.
CHROMA = 20
#: Of the area that is in colour once slices are drawn, and of that in each of two colours.
COLOURED, HUE_SHARE = 0.003, 0.02
#: A pixel that differs by more is another one; and how many make another picture.
OTHER, CHANGED = 40, 0.0005

Box = tuple[float, float, float, float]
T = TypeVar("T")


@dataclass
class Browser:
    """``frames``: (seconds since the epoch, JPEG) of what was on screen, oldest first."""

    page: Any
    cdp: Any
    root: psutil.Process
    frames: list[tuple[float, bytes]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    crashed: bool = False
    peak: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    def weigh(self) -> None:
        while not self._stop.wait(WEIGH_SECONDS):
            self.peak = max(self.peak, tree_bytes(self.root.pid))

    async def ask(self, frame: str, script: str, seconds: float) -> Any:
        """What a script gives in the newest frame whose address has ``frame`` in it; None where
        there is no such frame or no answer in time."""
        found = [each for each in self.page.frames if frame in each.url]
        if not found or self.crashed:
            return None
        return await within(found[-1].evaluate(script), seconds)

    async def look(self, seconds: float) -> None:
        """What is on screen now is the newest frame, if it is another one."""
        taken = await within(self.cdp.send("Page.captureScreenshot", FORMAT), seconds)
        if taken:
            picture, at = base64.b64decode(taken["data"]), time.time()
            whole = (0.0, 0.0, float(SIZE[0]), float(SIZE[1]))
            last = pixels(self.frames[-1][1], whole) if self.frames else None
            if last is None or differs(last, pixels(picture, whole)):
                self.frames.append((at, picture))


async def within(work: Coroutine[Any, Any, T], seconds: float) -> T | None:
    """Its result, or None where it fails or takes longer."""
    from playwright.async_api import Error

    with suppress(Error, asyncio.TimeoutError):
        return await asyncio.wait_for(work, max(0.1, seconds))
    return None


@asynccontextmanager
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """An empty page in a browser of its own, with a profile of its own; ended at the end."""
    from playwright.async_api import async_playwright

    before = set(psutil.Process().children(recursive=True))
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        async with async_playwright() as playwright:
            context = await playwright.chromium.launch_persistent_context(
                profile, executable_path=chromium, args=FLAGS,
                viewport={"width": SIZE[0], "height": SIZE[1]},
            )  # fmt: skip
            root = _main_process(before, profile)
            page = context.pages[0]
            watched = Browser(page, await context.new_cdp_session(page), root)
            weigher = threading.Thread(target=watched.weigh, daemon=True)
            weigher.start()
            try:
                await _listen(context, watched)
                yield watched
            finally:
                watched._stop.set()
                weigher.join(timeout=5)
                await within(context.close(), 15)
                _end(root)


def _main_process(before: set[psutil.Process], profile: str) -> psutil.Process:
    for process in set(psutil.Process().children(recursive=True)) - before:
        with suppress(psutil.Error):
            words = process.cmdline()
            mine = any(profile in word for word in words) and "chrom" in process.name()
            if mine and not any(word.startswith("--type=") for word in words):
                return process
    raise RuntimeError("Chromium's process was not found")


def _end(root: psutil.Process) -> None:
    """What did not end by itself."""
    with suppress(psutil.Error):
        for process in (*root.children(recursive=True), root):
            with suppress(psutil.Error):
                process.kill()


async def _listen(context: Any, watched: Browser) -> None:
    page, cdp = watched.page, watched.cdp
    await context.add_init_script(INIT)
    sending: set[asyncio.Task[Any]] = set()

    def keep(event: Any) -> None:
        picture = base64.b64decode(event["data"])
        if not watched.frames or watched.frames[-1][1] != picture:
            watched.frames.append((event["metadata"]["timestamp"], picture))
        answer = cdp.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})
        task = asyncio.ensure_future(within(answer, 10))
        sending.add(task)
        task.add_done_callback(sending.discard)

    def note(problem: str) -> None:
        if "Failed to load resource" not in problem:
            watched.problems.append(problem.splitlines()[0][:100] if problem else "an error")

    def crash(_: Any) -> None:
        watched.crashed = True

    async def dismiss(dialog: Any) -> None:
        note(dialog.message)
        await within(dialog.dismiss(), 10)

    page.on("crash", crash)
    page.on("dialog", dismiss)
    page.on("pageerror", lambda error: note(str(error)))
    page.on("console", lambda said: note(said.text) if said.type == "error" else None)
    cdp.on("Page.screencastFrame", keep)
    await cdp.send("Page.startScreencast", FORMAT)


def pixels(picture: bytes, box: Box) -> np.ndarray[Any, np.dtype[np.int16]]:
    """Red, green, blue of the box (left, top, width, height, in pixels of the window)."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    across, down = image.width / SIZE[0], image.height / SIZE[1]
    left, top, wide, tall = box
    part = (left * across, top * down, (left + wide) * across, (top + tall) * down)
    return np.asarray(image.crop(tuple(round(edge) for edge in part)), dtype=np.int16)  # type: ignore[arg-type]


def has_slices(area: np.ndarray[Any, np.dtype[np.int16]]) -> bool:
    """Coloured boxes, in two colours at least 30 degrees apart. What is grey (grounds, grids, rulers,
    what says that it is loading) is none, and neither is one colour alone (a link, a spinner)."""
    most, least = area.max(axis=2), area.min(axis=2)
    chroma = most - least
    vivid = chroma >= CHROMA
    if vivid.mean() < COLOURED:
        return False
    red, green, blue = (area[..., i][vivid].astype(np.float32) for i in range(3))
    top, range_ = most[vivid], chroma[vivid].astype(np.float32)
    hue = np.select([top == red, top == green],
                    [(green - blue) / range_ % 6, (blue - red) / range_ + 2],
                    (red - green) / range_ + 4)  # fmt: skip
    shares = np.bincount((hue * 2).astype(int) % 12, minlength=12) / len(hue)
    seen = shares > HUE_SHARE
    return any(seen[i] and seen[(i + apart) % 12] for i in range(12) for apart in range(2, 7))


def differs(
    one: np.ndarray[Any, np.dtype[np.int16]], other: np.ndarray[Any, np.dtype[np.int16]]
) -> bool:
    if one.shape != other.shape:
        return True
    return float((np.abs(one - other).max(axis=2) > OTHER).mean()) > CHANGED


def first_with_slices(frames: list[tuple[float, bytes]], boxes: list[tuple[float, Box]]) -> int:
    """The first frame with slices, or -1. Where their area is was asked now and then: ``boxes``."""
    for i, (at, picture) in enumerate(frames):
        box = next((b for when, b in boxes if when >= at), boxes[-1][1] if boxes else None)
        if box and box[2] > 0 and box[3] > 0 and has_slices(pixels(picture, box)):
            return i
    return -1


def last_change(frames: list[tuple[float, bytes]], box: Box) -> int:
    """The first frame from which on the area looks as it does in the end."""
    end = pixels(frames[-1][1], box)
    for i in range(len(frames) - 2, -1, -1):
        if differs(pixels(frames[i][1], box), end):
            return i + 1
    return 0


async def reacts(watched: Browser, key: str, box: Box, seconds: float) -> float | None:
    """Seconds from the press of a key to the first picture that shows it."""
    before = pixels(watched.frames[-1][1], box)
    seen, pressed = len(watched.frames), time.time()
    pressing = asyncio.ensure_future(within(watched.page.keyboard.press(key), seconds))
    try:
        while time.time() < pressed + seconds and not watched.crashed:
            for at, picture in watched.frames[seen:]:
                seen += 1
                if at > pressed and differs(pixels(picture, box), before):
                    return at - pressed
            await asyncio.sleep(0.02)
        return None
    finally:
        await pressing
