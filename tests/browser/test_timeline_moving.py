"""Moving about in the timeline: by hand, by the line of the whole, to the selection, by steps, back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import Tab
from .timeline import (
    MAP,
    STEPS,
    around,
    bounds,
    details,
    drag,
    expect_written,
    more,
    open_timeline,
    ready,
    searched,
    span,
    told,
    wait_for,
    wait_for_span,
    written,
)

Make = Callable[..., Tab]


def pixels(box: dict[str, float], length: float, count: float = 2) -> float:
    """ns of so many pixels."""
    return count * length / box["width"]


def pause(tab: Tab) -> None:
    """Movements without a pause between them are taken back as one."""
    tab.page.wait_for_timeout(700)


def test_dragging_and_the_wheel_move_rows_and_time(tab_at: Make, job_url: str) -> None:
    told(job_url)
    tab = tab_at(job_url, size=(1440, 600))
    frame = open_timeline(tab, w="40000000-50000000")
    box = bounds(ready(frame))
    x, y = box["x"] + box["width"] / 2, box["y"] + 400
    drag(tab, (x, y), (x - 300, y - 120))
    by = 10e6 * 300 / box["width"]
    wait_for_span(tab, (40e6 + by, 50e6 + by), pixels(box, 10e6))
    wait_for(tab, "y", lambda now: now == "120")
    tab.page.keyboard.down("Shift")
    tab.page.mouse.wheel(0, -200)
    tab.page.keyboard.up("Shift")
    by -= 10e6 * 200 / box["width"]
    wait_for_span(tab, (40e6 + by, 50e6 + by), pixels(box, 10e6))
    # One movement or two, as quickly as they came.
    frame.get_by_role("button", name="Zoom back (Z)").click()
    frame.get_by_role("button", name="Zoom back (Z)").click()
    wait_for(tab, "w", lambda now: now == "40000000-50000000")


def test_the_line_of_the_whole_is_clicked_and_dragged(tab_at: Make, job_url: str) -> None:
    end = told(job_url)["end"]
    tab = tab_at(job_url)
    frame = open_timeline(tab, w="40000000-50000000")
    picture = ready(frame)
    box = bounds(picture)
    y = box["y"] + MAP / 2

    def at(share: float) -> tuple[float, float]:
        return box["x"] + box["width"] * share, y

    def shown(share: float) -> tuple[float, float]:
        return share * end - 5e6, share * end + 5e6

    tab.page.mouse.click(*at(0.75))
    wait_for_span(tab, shown(0.75), pixels(box, end))
    pause(tab)
    drag(tab, at(0.6), at(0.3))
    wait_for_span(tab, shown(0.3), pixels(box, end))
    picture.press("z")
    wait_for_span(tab, shown(0.75), pixels(box, end))
    picture.press("z")
    wait_for(tab, "w", lambda now: now == "40000000-50000000")


def test_the_selection_fits_and_all_is_shown_again(tab_at: Make, job_url: str) -> None:
    found = searched(job_url, "MatMul", at=40_000_000)["next"]
    begin, end = found["start"], found["start"] + found["duration"]
    tab = tab_at(job_url)
    frame = open_timeline(tab, slice=found["id"], range="50000000-60000000")
    expect(details(frame)).to_contain_text(found["name"])
    picture = ready(frame)
    box = bounds(picture)

    def whole() -> None:
        wait_for(tab, "w", lambda now: now is None)

    picture.press("f")
    wait_for_span(tab, around(begin, end, 0.1), 2)
    picture.press("0")
    whole()
    details(frame).get_by_role("button", name="Fit (F)").click()
    wait_for_span(tab, around(begin, end, 0.1), 2)
    frame.get_by_role("button", name="Whole", exact=True).click()
    whole()
    # Without a slice, the range is what is selected.
    picture.press("Escape")
    expect(details(frame)).to_be_hidden()
    picture.press("f")
    wait_for_span(tab, (49e6, 61e6), 2)
    picture.press("Home")
    whole()
    frame.get_by_role("button", name="Fit (F)").click()
    wait_for_span(tab, (49e6, 61e6), 2)
    tab.page.mouse.dblclick(box["x"] + 500, box["y"] + MAP / 2)
    whole()


def test_each_movement_is_taken_back(tab_at: Make, job_url: str) -> None:
    told(job_url)
    tab = tab_at(job_url)
    picture = ready(open_timeline(tab, w="30000000-60000000"))

    def move(*keys: str) -> tuple[float, float]:
        """What follows at once is one movement, what comes after a pause another."""
        before = span(tab)
        pause(tab)
        for key in keys:
            picture.press(key)
        wait_for(tab, "w", lambda _: span(tab) != before)
        after = span(tab)
        assert after is not None
        return after

    near = move("w", "w")
    later = move("d")
    farther = move("s")
    assert near[1] - near[0] < 30e6
    assert later[0] > near[0]
    assert later[1] - later[0] == pytest.approx(near[1] - near[0], abs=2)
    assert farther[1] - farther[0] > near[1] - near[0]
    for key, wanted in (("z", later), ("u", near), ("z", (30e6, 60e6))):
        picture.press(key)
        wait_for_span(tab, wanted, 2)


def test_from_step_to_step(tab_at: Make, job_url: str) -> None:
    data = told(job_url)
    steps = data["steps"]
    tab = tab_at(job_url)
    frame = open_timeline(tab)
    picture = ready(frame)
    box = bounds(picture)

    # Each stands where it begins.
    for step in steps:
        expect_written(tab, step["name"])
    places = {text.split(" · ")[0]: x for text, x in written(tab).items()}
    for step in steps:
        begin = box["width"] * step["start"] / data["end"]
        assert places[step["name"]] == pytest.approx(begin, abs=6)

    def shown(at: int) -> None:
        step = steps[at]
        wait_for_span(tab, around(step["start"], step["end"], 0.03), 2)
        expect_written(tab, step["name"])

    for key, at in (("]", 0), ("]", 1), ("]", 2), ("[", 1)):
        picture.press(key)
        shown(at)
    choose_step(frame, steps[3]["name"])
    shown(3)
    picture.press("0")
    wait_for(tab, "w", lambda now: now is None)
    length = data["end"]
    middle = (steps[2]["start"] + steps[2]["end"]) / 2
    place = box["x"] + box["width"] * middle / length
    tab.page.mouse.dblclick(place, box["y"] + MAP + STEPS / 2)
    shown(2)


def choose_step(frame: Any, name: str) -> None:
    frame.get_by_role("button", name="Step", exact=True).click()
    frame.get_by_role("dialog", name="Go to a step").get_by_role("option", name=name).click()


def test_the_ruler_counts_from_the_start_or_tells_the_time(tab_at: Make, job_url: str) -> None:
    """The capture begins at 2026-03-02 08:03:00.000000562 UTC."""
    told(job_url)
    tab = tab_at(job_url, timezone_id="Asia/Shanghai")
    frame = open_timeline(tab, w="40000000-50000000")
    ready(frame)
    expect_written(tab, "42 ms")
    more(frame)
    frame.get_by_label("Clock time").check()
    expect_written(tab, "2026-03-02 16h")
    expect_written(tab, "03:00.042")
    expect_written(tab, "42 ms", there=False)
    assert tab.state("clock") == "1"
    tab.page.reload()
    frame = tab.frame()
    ready(frame)
    expect_written(tab, "03:00.042")
    more(frame)
    frame.get_by_label("Clock time").uncheck()
    expect_written(tab, "42 ms")
    expect_written(tab, "2026-03-02", there=False)
    assert tab.state("clock") is None
