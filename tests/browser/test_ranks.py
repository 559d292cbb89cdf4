"""The ranks page: who stands out, the map of ranks by measures, the collectives."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from .conftest import Tab, get_json
from .page import cells, expect_rows, grid, rows

Make = Callable[..., Tab]


def test_the_straggler_is_named_and_leads_to_its_kernels(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="ranks", run="job-a")
    suspects = frame.get_by_role("region", name="What holds the others up")
    expect(suspects.locator(".finding")).to_have_count(1)
    expect(suspects).to_contain_text("Rank 5 computes")
    suspects.get_by_role("link", name="Kernels").click()
    expect(rows(grid(frame, "Kernels")).first).to_be_visible()
    assert (tab.state("view"), tab.state("rank")) == ("kernel", "5")


def test_the_map_sorts_tells_and_opens(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="ranks", run="job-a")
    region = frame.get_by_role("region", name="Distance from the median rank")
    region.get_by_role("button", name="Computing").click()
    expect(region.get_by_role("button", name="Computing ↓")).to_be_visible()
    assert tab.state("sort") == "computing_ns:desc"
    first = rows(grid(frame, "Ranks")).first.get_by_role("gridcell").first
    expect(first).to_have_text("5")
    expect(frame.locator(".ranks-view:not(.refreshing)")).to_be_visible()
    picture = region.get_by_role("img", name=re.compile("8 ranks by"))
    picture.focus()
    picture.press("ArrowRight")
    picture.press("ArrowRight")
    expect(frame.locator(".hover")).to_contain_text("Rank 5 · Computing")
    picture.press("Enter")
    expect(rows(grid(frame, "Step time"))).to_have_count(4)
    assert (tab.state("view"), tab.state("rank")) == ("step", "5")


def test_collectives_say_who_came_last(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="ranks", run="job-a")
    wanted = get_json(job_url, "ranks", run="job-a", group="collective")["data"]["table"]
    frame.get_by_role("radiogroup", name="Group by").get_by_role(
        "radio", name="Collectives"
    ).click()
    expect_rows(grid(frame, "Ranks"), wanted["total"])
    expect(rows(grid(frame, "Ranks")).first).to_contain_text("hcom_")
    assert "Rank 5" in cells(grid(frame, "Ranks"), "Last to join")
