"""Everything can be reached and done without a pointer."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from .conftest import Tab
from .page import cells, filter_box, grid, rows

Make = Callable[..., Tab]


def test_table_by_keyboard(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url, permissions=["clipboard-read", "clipboard-write"])
    frame = tab.open(view="kernel", run="job-a")
    table = grid(frame, "Kernels")
    expect(rows(table).first).to_be_visible()
    press = tab.page.keyboard.press
    table.focus()
    press("ArrowDown")
    press("ArrowDown")
    active = table.locator(".cell-active")
    expect(active).to_have_text(cells(table, "Name")[1])
    press("c")
    expect(frame.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    assert tab.page.evaluate("navigator.clipboard.readText()") == cells(table, "Name")[1]
    press("Enter")
    detail = frame.get_by_role("complementary", name="Row 2")
    expect(detail).to_be_focused()
    press("Escape")
    expect(detail).to_have_count(0)
    expect(table).to_be_focused()
    press("/")
    expect(filter_box(frame)).to_be_focused()
    tab.page.keyboard.type("MatMul")
    press("Enter")
    expect(table).to_be_focused()
    expect(active).to_have_count(0)
    press("End")
    expect(table.locator(".row-active")).to_be_visible()
    press("Home")
    press("PageDown")
    expect(table.locator(".row-active")).to_be_visible()


def test_pages_by_keyboard(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="overview", run="job-a")
    expect(frame.get_by_role("heading", level=1)).to_be_visible()
    skip = frame.get_by_role("button", name="Skip to content")
    skip.focus()
    tab.page.keyboard.press("Enter")
    expect(frame.get_by_role("main")).to_be_focused()
    entry = frame.get_by_role("navigation", name="Views").get_by_role("link", name="Kernels")
    entry.focus()
    tab.page.keyboard.press("Enter")
    expect(rows(grid(frame, "Kernels")).first).to_be_visible()
    groups = frame.get_by_role("radiogroup", name="Group by")
    groups.get_by_role("radio", checked=True).focus()
    tab.page.keyboard.press("ArrowRight")
    expect(groups.get_by_role("radio", name="By name")).to_be_focused()
    assert tab.state("group") == "name"
    rank = frame.get_by_role("banner").get_by_role("button", name="Rank")
    rank.focus()
    tab.page.keyboard.press("Enter")
    expect(frame.get_by_role("dialog", name="Rank")).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(frame.get_by_role("dialog", name="Rank")).to_have_count(0)
    expect(rank).to_be_focused()
