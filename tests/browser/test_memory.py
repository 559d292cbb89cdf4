"""The memory page: components, totals, zoom, the moment, states, and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from .conftest import Tab, get_json
from .page import choose, expect_rows, filter_box, grid, head, rows

Make = Callable[..., Tab]


def chart(frame: object) -> Locator:
    return frame.get_by_role("slider", name=re.compile("Memory over time"))  # type: ignore[attr-defined]


@pytest.fixture
def memory(tab_at: Make, job_url: str) -> Tab:
    tab = tab_at(job_url)
    frame = tab.open(view="memory", run="job-a", rank="0")
    expect(chart(frame)).to_be_visible()
    expect(rows(grid(frame, "Memory")).first).to_be_visible()
    return tab


def drag(tab: Tab, start: float, end: float) -> None:
    """Over the chart, from one share of its width to another."""
    box = chart(tab.frame()).bounding_box()
    assert box
    y = box["y"] + box["height"] / 3
    tab.page.mouse.move(box["x"] + box["width"] * start, y)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] * (start + end) / 2, y)
    tab.page.mouse.move(box["x"] + box["width"] * end, y)
    tab.page.mouse.up()


def test_peaks_are_those_of_the_backend(memory: Tab, job_url: str) -> None:
    data = get_json(job_url, "memory", run="job-a", rank="0")["data"]
    peak = next(p for p in data["peaks"] if p["component"] == data["component"])
    shown = memory.frame().get_by_role("table", name="Peaks")
    expect(shown).to_contain_text(f"{peak['allocated_bytes'] / 2**30:.2f}")
    expect(memory.frame().locator("main")).to_contain_text(data["note"][:40])


def test_component(memory: Tab) -> None:
    frame = memory.frame()
    frame.get_by_role("radiogroup", name="Component").get_by_role("radio", name="APP").click()
    expect(frame.get_by_role("checkbox", name="Allocated")).to_be_disabled()
    expect(frame.get_by_role("heading", name="Peaks APP")).to_be_visible()
    assert memory.state("component") == "APP"


def test_totals(memory: Tab) -> None:
    frame = memory.frame()
    frame.get_by_role("checkbox", name="Reserved").uncheck()
    frame.get_by_role("checkbox", name="Active").uncheck()
    assert memory.state("show") == "allocated"
    # The last one stays: an empty chart says nothing.
    expect(frame.get_by_role("checkbox", name="Allocated")).to_be_checked()
    expect(frame.get_by_role("checkbox", name="Allocated")).to_be_disabled()
    frame.get_by_role("radiogroup", name="Component").get_by_role("radio", name="APP").click()
    expect(frame.get_by_role("checkbox", name="Reserved")).to_be_checked()
    expect(chart(frame)).to_be_visible()


def test_drag_zooms_and_double_click_shows_all(memory: Tab) -> None:
    frame = memory.frame()
    drag(memory, 0.3, 0.5)
    expect(frame.get_by_role("button", name="Whole recording")).to_be_visible()
    start, end = (float(memory.state(key) or 0) for key in ("start", "end"))
    assert 0 < start < end
    shown = chart(frame).get_attribute("aria-valuemin") or ""
    assert float(shown) == start / 1e6
    drag(memory, 0.4, 0.6)
    expect(chart(frame)).not_to_have_attribute("aria-valuemin", shown)
    inner = float(memory.state("start") or 0)
    assert start < inner < end
    chart(frame).dblclick(position={"x": 300, "y": 60})
    expect(frame.get_by_role("button", name="Whole recording")).to_have_count(0)
    assert memory.state("start") is None
    # A double click asks about no moment.
    assert memory.state("at") is None
    memory.page.go_back()
    expect(frame.get_by_role("button", name="Whole recording")).to_be_visible()


def test_click_asks_what_was_alive_then(memory: Tab) -> None:
    frame = memory.frame()
    expect(frame.get_by_role("heading", name="Alive at the PTA peak")).to_be_visible()
    chart(frame).click(position={"x": 500, "y": 60})
    expect(frame.get_by_role("heading", name=re.compile(r"Alive at [\d.]+ ms"))).to_be_visible()
    assert int(memory.state("at") or 0) > 0
    memory.page.reload()
    expect(frame.get_by_role("heading", name=re.compile(r"Alive at [\d.]+ ms"))).to_be_visible()
    frame.get_by_role("button", name="Back to the peak").click()
    expect(frame.get_by_role("heading", name="Alive at the PTA peak")).to_be_visible()


def test_hover_reads_exact_values(memory: Tab) -> None:
    frame = memory.frame()
    chart(frame).hover(position={"x": 600, "y": 60})
    card = frame.locator(".hover")
    expect(card).to_contain_text(re.compile(r"Rank 0 · [\d.]+.ms"))
    expect(card).to_contain_text(re.compile(r"Allocated.*[\d,]{9,}.B"))


def test_keyboard(memory: Tab) -> None:
    frame = memory.frame()
    chart(frame).focus()
    page = memory.page
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    first = chart(frame).get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    expect(chart(frame)).not_to_have_attribute("aria-valuetext", first or "")
    page.keyboard.press("+")
    expect(frame.get_by_role("button", name="Whole recording")).to_be_visible()
    page.keyboard.press("0")
    expect(frame.get_by_role("button", name="Whole recording")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(frame.get_by_role("heading", name=re.compile(r"Alive at [\d.]+ ms"))).to_be_visible()


def test_states_filter_the_blocks(memory: Tab, job_url: str) -> None:
    frame = memory.frame()
    wanted = get_json(job_url, "memory", run="job-a", rank="0")["data"]["states"][0]
    chip = frame.get_by_role("group", name="Filter by state").get_by_role("button").first
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect(filter_box(frame)).to_have_value(f"state={wanted['key']}")
    expect_rows(grid(frame, "Memory"), wanted["count"])
    chip.click()
    expect(filter_box(frame)).to_have_value("")


def test_holder_leads_to_its_blocks(memory: Tab) -> None:
    frame = memory.frame()
    holder = frame.locator(".holdings").get_by_role("listitem").get_by_role("link").first
    name = holder.inner_text()
    holder.click()
    table = grid(frame, "Memory")
    expect(head(table, "Share of the total").or_(head(table, "Size")).first).to_be_visible()
    assert memory.state("group") == "alive"
    assert memory.state("filter") == f'name="{name}"'


def test_all_ranks_have_a_lane_and_a_label_leads_to_one(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="memory", run="job-a")
    expect(chart(frame)).to_be_visible()
    for rank in range(8):
        expect(frame.locator(".lane-labels").get_by_text(f"Rank {rank}")).to_be_visible()
    frame.get_by_role("radio", name=re.compile("^Rank 6")).click()
    expect(frame.get_by_role("heading", name="Held most on Rank 6")).to_be_visible()
    frame.locator(".lane-labels").get_by_role("link", name="Rank 3").click()
    assert tab.state("rank") == "3"
    expect(frame.locator(".lanes-one")).to_have_count(1)
    choose(frame, "Run", "job-b")
    expect(frame.locator("main")).to_contain_text(re.compile("Memory|memory"))
