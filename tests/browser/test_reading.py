"""A trace that is looked at while it is being read."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import expect
from reading_processes import workers_of

from .conftest import Tab, get_json, tensorboard

MEGABYTES, LENGTH_US = 110, 100
BEGIN_US = 1_772_438_400_000_000
#: The colour turns often along a line at the right end of the second row; its ground has one.
HATCHED = """canvas => {
  const ratio = canvas.width / canvas.clientWidth;
  const right = canvas.getContext('2d')
    .getImageData(canvas.width - 60 * ratio, 110 * ratio, 50 * ratio, 1).data;
  let turns = 0;
  for (let i = 4; i < right.length; i += 4) turns += right[i] !== right[i - 4];
  return turns >= 8;
}"""


@pytest.fixture
def big_trace(tmp_path: Path) -> Path:
    """A logdir with a trace of a stream of a device, in order of time, and of one with a single slice
    at the beginning; no other file of a view."""
    output = tmp_path / "runs" / "cap_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / "profiler_info_0.json").write_text('{"rank_id": 0}')
    event = (
        '{{"ph":"X","name":"MatMulV2","pid":7,"tid":{},"ts":"{}.000","dur":90.0,'
        '"args":{{"Model Id":4294967295,"Task Type":"AI_CORE","Stream Id":3,"Task Id":12345}}}},\n'
    )
    count = MEGABYTES * 2**20 // len(event.format(3, BEGIN_US))
    with (output / "trace_view.json").open("w") as stream:
        stream.write(
            '[{"ph":"M","name":"process_name","pid":7,"args":{"name":"Ascend Hardware"}},\n'
        )
        stream.write(event.format(4, BEGIN_US))
        for first in range(0, count, 10_000):
            times = range(first, min(first + 10_000, count))
            stream.write("".join([event.format(3, BEGIN_US + LENGTH_US * i) for i in times]))
        stream.write(event.format(3, BEGIN_US + LENGTH_US * count).rstrip(",\n") + "]")
    return tmp_path / "runs"


@contextmanager
def paused(cache: Path) -> Iterator[None]:
    """The server's reading processes stand still."""
    server = next(p for p in psutil.process_iter() if str(cache) in " ".join(cmdline(p)))
    workers = workers_of(server.pid)
    for worker in workers:
        worker.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGCONT)


def cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def timeline(url: str) -> Any:
    return get_json(url, "timeline", run=".")


@pytest.fixture
def board(big_trace: Path, tmp_path: Path) -> Iterator[str]:
    with tensorboard(big_trace, tmp_path / "cache") as url:
        yield url


def test_a_trace_is_drawn_while_it_is_read(
    board: str, tab_at: Callable[..., Tab], tmp_path: Path
) -> None:
    deadline = time.monotonic() + 60
    while not (reply := timeline(board))["data"]["tracks"]:
        assert time.monotonic() < deadline, reply
        time.sleep(0.02)
    with paused(tmp_path / "cache"):
        track, short = timeline(board)["data"]["tracks"]
        assert track["unread"], "the trace was read before it could be looked at"
        assert short["unread"]
        tab = tab_at(board)
        frame = tab.open(view="timeline")
        expect(frame.get_by_text(re.compile("^Reading the capture"))).to_be_visible()
        live = frame.locator("#tl-live")
        expect(live).to_contain_text("slice")
        picture = frame.get_by_label(re.compile(r"^Timeline of 2 track"))
        expect(picture).to_be_visible()
        # Rows are numbered anew when more is read: a click chooses nothing that a link could name.
        picture.click(position={"x": 300, "y": 88})
        expect(frame.get_by_text("The trace is still being read").first).to_be_visible()
        assert tab.state("slice") is None
        # Behind the only slice of the second stream: hatched.
        tab.page.wait_for_function(HATCHED, arg=picture.element_handle())
        tab.allow("404 (NOT FOUND)")
        frame = tab.open(view="timeline", slice="0.7")
        expect(frame.get_by_role("heading", name="The trace is still being read")).to_be_visible()
    expect(frame.get_by_text(re.compile("^Reading the capture"))).to_have_count(0)
    # A link that somebody else made while all was there waits, then opens.
    expect(frame.get_by_role("heading", name="MatMulV2")).to_be_visible()
    whole, _ = timeline(board)["data"]["tracks"]
    assert not whole["unread"]
    assert whole["slices"] > track["slices"]
    assert whole["end"] > track["end"]
