"""A notebook's cell and a small window: nothing runs out of the page, all can be reached."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .conftest import Tab
from .page import VIEWS, grid, menu, rows

Make = Callable[..., Tab]


@pytest.mark.parametrize("size", [(1024, 600), (800, 600)], ids=["1024x600", "800x600"])
def test_small_window(tab_at: Make, job_url: str, size: tuple[int, int]) -> None:
    tab = tab_at(job_url, size=size)
    frame = tab.open(view="overview", run="job-a")
    for view, name in VIEWS.items():
        if size[0] >= 1024:
            menu(frame, name).click()
        else:
            frame.locator(".view-picker").get_by_role("button").first.click()
            frame.get_by_role("option", name=name, exact=True).click()
        if view not in ("overview", "timeline", "health"):
            table = grid(frame, name)
            expect(rows(table).first).to_be_attached()
            table.scroll_into_view_if_needed()
            seen = table.evaluate("e => e.clientHeight")
            assert seen >= 120, f"{view}: {seen} px of rows"
        for part in ("main", ".topbar"):
            over = frame.locator(part).evaluate("e => e.scrollWidth - e.clientWidth")
            assert over <= 0, f"{view}: {part} is {over} px too wide"
    expect(frame.get_by_role("button", name="中文")).to_be_in_viewport()
