"""One viewer in a browser of its own: opened, awaited, moved, and what was seen of it."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from trace_viewers import Viewer
from watched_browser import (
    Box,
    Browser,
    browser,
    first_with_slices,
    has_slices,
    last_change,
    pixels,
    reacts,
    within,
)

QUIET_SECONDS, POLL_SECONDS, REACT_SECONDS = 2.0, 0.2, 30.0
#: A page that takes longer to answer is at work.
PROMPT_SECONDS = 0.5
#: What the focus changes (an outline) is no answer to a key.
FOCUS_SECONDS = 0.5
#: After an error of the page, so long is waited for a picture all the same.
GRACE_SECONDS = 10.0


@dataclass
class Seen:
    """What became of a viewer. Times in seconds since its clock started."""

    first: float | None = None
    everything: float | None = None
    reacted: float | None = None
    browser: int = 0
    server: int = 0
    slices: int | None = None
    #: The share of the machine that other work took meanwhile.
    others: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Bounds:
    chromium: str
    seconds: float
    pictures: Path | None


async def see(
    viewer: Viewer,
    start: Callable[[], Awaitable[tuple[float, str]]],
    bounds: Bounds,
    name: str,
) -> Seen:
    """``start`` gives when the clock started (in seconds since the epoch) and the address."""
    seen = Seen()
    async with browser(bounds.chromium) as watched:
        began, url = await start()
        opening = asyncio.ensure_future(
            within(watched.page.goto(url, wait_until="commit"), bounds.seconds)
        )
        boxes: list[tuple[float, Box]] = []
        state = await _until_there(viewer, watched, began + bounds.seconds, boxes)
        await opening
        frames = list(watched.frames)
        at = first_with_slices(frames, boxes)
        if at >= 0:
            seen.first = frames[at][0] - began
        if at >= 0 and state.get("state") == "loaded":
            box = boxes[-1][1]
            last = max(at, last_change(frames, box))
            seen.everything = frames[last][0] - began
            _keep(bounds.pictures, f"{name}-everything", frames[last][1])
            await watched.ask(viewer.frame, viewer.focus, 10)
            await asyncio.sleep(FOCUS_SECONDS)
            seen.reacted = await reacts(watched, viewer.zoom, box, REACT_SECONDS)
        seen.slices, seen.note = state.get("slices"), _told(watched, state, seen, bounds)
        if "begun" in state:
            seen.note = joined(seen.note, f"its frame begins at {state['begun'] - began:.1f} s")
        if frames:
            _keep(bounds.pictures, f"{name}-first", frames[at][1])
    seen.browser = watched.peak
    return seen


async def _until_there(
    viewer: Viewer, watched: Browser, deadline: float, boxes: list[tuple[float, Box]]
) -> dict[str, Any]:
    """The viewer's state once it is loaded and quiet, or has failed, or the time is over."""
    state: dict[str, Any] = {}
    busy, problem_at = time.time(), 0.0
    while (now := time.time()) < deadline and not watched.crashed:
        asked = await watched.ask(viewer.frame, viewer.state, deadline - now)
        state = asked or state
        answered = time.time()
        if asked and asked.get("box"):
            boxes.append((answered, tuple(asked["box"])))
        if state.get("state") == "failed":
            break
        if not asked or asked["state"] != "loaded" or answered - now > PROMPT_SECONDS:
            busy = answered
        if watched.frames:
            busy = max(busy, watched.frames[-1][0])
        if answered - busy > QUIET_SECONDS:
            # A frame that was made while others were under way may have been left out.
            await watched.look(deadline - answered)
            newest = watched.frames[-1][1] if watched.frames and boxes else b""
            if newest and has_slices(pixels(newest, boxes[-1][1])):
                break
            busy = time.time()
        if watched.problems and state.get("state") != "loaded":
            problem_at = problem_at or now
            if now - problem_at > GRACE_SECONDS:
                break
        await asyncio.sleep(POLL_SECONDS)
    return state


def _told(watched: Browser, state: dict[str, Any], seen: Seen, bounds: Bounds) -> str:
    """What went wrong, or what there is to say of a viewer that did not fail."""
    problem = watched.problems[0] if watched.problems else ""
    if watched.crashed:
        return "FAILED: the page crashed"
    if state.get("state") == "failed" or (problem and seen.everything is None):
        return f"FAILED: {problem or 'it says so'}"
    if seen.first is None:
        return f"FAILED: no picture within {bounds.seconds:.0f} s"
    if seen.everything is None:
        return f"FAILED: not everything within {bounds.seconds:.0f} s"
    if seen.reacted is None:
        return f"FAILED: no answer to a key within {REACT_SECONDS:.0f} s"
    return joined(state.get("note", ""), problem)


def joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _keep(folder: Path | None, name: str, picture: bytes) -> None:
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        Image.open(io.BytesIO(picture)).save(folder / f"{name}.png")
