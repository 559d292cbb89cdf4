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


def test_parallel_groups_are_compared(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="ranks", run="job-a")
    groups = frame.get_by_role("radiogroup", name="Group by")
    groups.get_by_role("radio", name="Tensor parallel").click()
    region = frame.get_by_role("region", name="Distance from the median rank")
    expect(region.get_by_role("img", name=re.compile("4 groups by"))).to_be_visible()
    expect(rows(grid(frame, "Ranks"))).to_have_count(4)
    assert cells(grid(frame, "Ranks"), "Ranks") == ["0-1", "2-3", "4-5", "6-7"]
    picture = region.get_by_role("img")
    picture.focus()
    picture.press("ArrowDown")
    picture.press("ArrowDown")
    expect(frame.locator(".hover")).to_contain_text("TP 1")
    picture.press("Enter")
    expect(rows(grid(frame, "Step time")).first).to_be_visible()
    assert tab.state("rank") == "2-3"


def test_the_shape_of_a_job_can_be_set(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    tab.allow("400 (BAD REQUEST)")
    frame = tab.open(view="ranks", run="job-a")
    setting = frame.locator(".text-setting")
    expect(setting).to_contain_text("tp=2 dp=4")
    setting.get_by_role("button", name="set", exact=True).click()
    box = setting.get_by_role("textbox")
    box.fill("pp=3")
    box.press("Enter")
    expect(frame.get_by_text("does not make the 8 ranks of this job")).to_be_visible()
    setting.get_by_role("button", name="set", exact=True).click()
    setting.get_by_role("textbox").fill("tp=2,pp=2")
    setting.get_by_role("textbox").press("Enter")
    expect(setting).to_contain_text("tp=2 pp=2")
    frame.get_by_role("radio", name="Pipeline stages").click()
    expect(rows(grid(frame, "Ranks"))).to_have_count(2)
    assert cells(grid(frame, "Ranks"), "Ranks") == ["0-3", "4-7"]
    assert tab.state("shape") == "tp=2,pp=2"


def test_a_measure_step_by_step(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="ranks", run="job-a")
    region = frame.get_by_role("region", name="Distance from the median rank")
    region.get_by_role("button", name=re.compile("^Show")).click()
    frame.get_by_role("option", name="Computing, step by step").click()
    data = get_json(job_url, "ranks", run="job-a", measure="computing_ns")["data"]["grid"]
    steps = [each["key"] for each in data["measures"]]
    expect(region.locator(".rank-map-label")).to_have_text(steps)
    region.get_by_role("button", name=steps[1], exact=True).click()
    expect(frame.locator(".ranks-view:not(.refreshing)")).to_be_visible()
    assert (tab.state("step"), tab.state("measure")) == (steps[1], None)


def test_ranks_side_by_side(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="ranks", run="job-a", rank="4,5", group="type")
    table = grid(frame, "Ranks")
    expect(rows(table).first).to_contain_text("Rank 5")
    assert set(cells(table, "Most on")[:3]) == {"Rank 5"}


def test_the_distribution_shows_who_is_far_out(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="ranks", run="job-a")
    frame.get_by_role("radio", name="Distribution").click()
    region = frame.get_by_role("region", name="Distribution over the ranks")
    assert tab.state("form") == "plot"
    picture = region.get_by_role("img", name=re.compile("8 ranks by"))
    box = picture.bounding_box()
    assert box is not None
    # The farthest rank lies at the end of the axis; Computing is the second strip.
    picture.hover(position={"x": box["width"] - 14, "y": 54 + 19})
    expect(frame.locator(".hover")).to_contain_text("Rank 5 · Computing")
    picture.click(position={"x": box["width"] - 14, "y": 54 + 19})
    expect(rows(grid(frame, "Step time"))).to_have_count(4)
    assert (tab.state("view"), tab.state("rank")) == ("step", "5")


def test_lines_over_the_steps(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="ranks", run="job-a", measure="computing_ns", form="plot")
    region = frame.get_by_role("region", name="Computing, step by step")
    picture = region.get_by_role("img")
    expect(picture).to_be_visible()
    data = get_json(job_url, "ranks", run="job-a", measure="computing_ns")["data"]["grid"]
    first = data["measures"][0]["key"]
    # The slowest rank's line is the uppermost, and begins at the axis.
    picture.hover(position={"x": 76, "y": 28})
    expect(frame.locator(".hover")).to_contain_text(f"Rank 5 · step {first}")
    picture.click(position={"x": 76, "y": 28})
    expect(rows(grid(frame, "Step time"))).to_have_count(1)
    assert (tab.state("rank"), tab.state("step")) == ("5", first)


def test_two_chosen_ranks_are_followed_over_the_steps(tab_at: Make, job_url: str) -> None:
    """With two there is no median to be far from."""
    tab = tab_at(job_url)
    frame = tab.open(view="ranks", run="job-a", rank="4,5")
    region = frame.get_by_role("region", name="Step by step")
    expect(region).to_contain_text("Choose a measure")
    region.get_by_role("button", name=re.compile("^Show")).click()
    frame.get_by_role("option", name="Computing, step by step").click()
    lines = frame.get_by_role("region", name="Computing, step by step")
    picture = lines.get_by_role("img", name=re.compile("2 ranks by"))
    picture.focus()
    picture.press("ArrowDown")
    picture.press("ArrowDown")
    expect(frame.locator(".hover")).to_contain_text("Rank 5 · step")


def test_64_ranks_are_not_64_rows_on_the_page(tab_at: Make, many_url: str) -> None:
    """Rows that nobody sees cost a tenth of a second in each frame where there are a thousand."""
    frame = tab_at(many_url).open(view="ranks")
    table = grid(frame, "Ranks")
    expect_rows(table, 64)
    expect(rows(table).first).to_be_visible()
    assert rows(table).count() < 40
