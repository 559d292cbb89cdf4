"""Every view opens, from the menu and from a link, and says something."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .conftest import Tab
from .page import VIEWS, grid, menu, picker, rows

Make = Callable[..., Tab]

TABLES = {"step", "operator", "kernel", "api", "memory", "communication", "ranks", "files"}


def test_menu_opens_every_view(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(run="job-a")
    for view, name in VIEWS.items():
        menu(frame, name).click()
        expect(menu(frame, name)).to_have_attribute("aria-current", "page")
        assert tab.state("view") == view
        if view in TABLES:
            expect(rows(grid(frame, name)).first).to_be_visible()


@pytest.mark.parametrize("view", sorted(TABLES))
def test_level0_capture_says_what_is_missing(tab_at: Make, job_url: str, view: str) -> None:
    """A view either has rows or says why it has none, with a remedy."""
    frame = tab_at(job_url).open(view=view, run="job-b")
    some = rows(grid(frame, VIEWS[view])).first
    none = frame.get_by_role("heading", name="Not captured")
    expect(some.or_(none).first).to_be_visible()
    if view == "api":
        expect(none).to_be_visible()
    if view == "communication":  # operations and their times, from the kernels; no waits
        expect(some).to_be_visible()
        expect(frame.locator(".strip").first).to_contain_text("Level1")


def test_overview_leads_on(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="overview", run="job-a")
    expect(frame.get_by_role("heading", level=1)).to_contain_text("per step")
    expect(frame.get_by_role("heading", name="Where the step went")).to_be_visible()
    for view in ("operator", "communication", "memory"):
        expect(
            frame.locator("main").get_by_role("link", name=VIEWS[view], exact=True)
        ).to_be_visible()
    frame.get_by_role("link", name="Rank 5: open its steps").click()
    expect(rows(grid(frame, "Step time"))).to_have_count(4)
    assert (tab.state("view"), tab.state("rank")) == ("step", "5")
    tab.page.go_back()
    frame.locator("main").get_by_role("link", name="Memory", exact=True).click()
    expect(frame.get_by_role("heading", name="Memory over time")).to_be_visible()


def test_overview_kernels_lead_to_their_rows(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="overview", run="job-a")
    first = frame.get_by_role("table", name="Longest kernels").get_by_role("link").first
    name = first.inner_text()
    first.click()
    expect(rows(grid(frame, "Kernels")).first).to_be_visible()
    assert tab.state("filter") == f"type={name}"


@pytest.mark.parametrize("view", ["operator", "api", "memory"])
def test_step_picker_says_why_it_does_nothing(tab_at: Make, job_url: str, view: str) -> None:
    frame = tab_at(job_url).open(view=view, run="job-a")
    expect(rows(grid(frame, VIEWS[view])).first).to_be_visible()
    step = picker(frame, "Step")
    expect(step).to_have_attribute("aria-disabled", "true")
    step.focus()
    step.press("Enter")
    expect(frame.get_by_role("dialog", name="Step")).to_contain_text("step")
    expect(frame.get_by_role("dialog", name="Step").get_by_role("option")).to_have_count(0)


def test_real_captures(tab_at: Make, real_url: str) -> None:
    tab = tab_at(real_url)
    for run in ("text_level1", "db_level1", "text_level0"):
        frame = tab.open(view="overview", run=run)
        expect(frame.get_by_role("heading", level=1)).to_contain_text("step")
        frame = tab.open(view="kernel", run=run)
        expect(rows(grid(frame, "Kernels")).first).to_be_visible()
