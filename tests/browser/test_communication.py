"""The communication page: time, links, and the matrix from rank to rank."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, expect

from .conftest import Tab, get_json
from .page import cells, expect_rows, filter_box, grid, rows

Make = Callable[..., Tab]


def heat_map(frame: object) -> Locator:
    return frame.get_by_role("img", name=re.compile("from rank to rank"))  # type: ignore[attr-defined]


def open_matrix(tab_at: Make, url: str, **state: str) -> Tab:
    tab = tab_at(url)
    frame = tab.open(view="communication", run="job-a", group="matrix", **state)
    expect(heat_map(frame)).to_be_visible()
    expect(rows(grid(frame, "Communication")).first).to_be_visible()
    return tab


def test_time_and_links_of_every_rank(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="communication", run="job-a")
    data = get_json(job_url, "communication", run="job-a")["data"]
    expect(frame.locator("main")).to_contain_text(data["note"])
    for rank in data["ranks"]:
        expect(frame.get_by_role("link", name=f"{rank['label']}: its operations")).to_be_visible()
    links = frame.get_by_role("table", name="Over which links")
    expect(links.get_by_role("row")).to_have_count(len(data["ranks"]) + 1)
    expect(frame.locator("main")).to_contain_text("SDMA is the sum of HCCS, PCIE and SIO")
    frame.get_by_role("link", name="Rank 5: its operations").hover()
    expect(frame.locator(".hover")).to_contain_text("Wait: synchronization")
    frame.get_by_role("link", name="Rank 5: its operations").click()
    expect_rows(grid(frame, "Communication"), data["ranks"][5]["operations"])
    assert tab.state("rank") == "5"


def test_groups_of_the_table(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="communication", run="job-a")
    table = grid(frame, "Communication")
    expect(rows(table).first).to_be_visible()
    for group, word in (("type", "By type"), ("link", "By link"), ("rank", "By rank")):
        wanted = get_json(job_url, "communication", run="job-a", group=group)["data"]["table"]
        frame.get_by_role("radiogroup", name="Group by").get_by_role("radio", name=word).click()
        expect_rows(table, wanted["total"])


def test_matrix_opens_beside_the_sums(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="communication", run="job-a")
    pages = frame.get_by_role("radiogroup", name="What to look at")
    pages.get_by_role("radio", name="Rank to rank").click()
    expect(heat_map(frame)).to_be_visible()
    assert tab.state("group") == "matrix"
    pages.get_by_role("radio", name="Time and links").click()
    expect(frame.get_by_role("table", name="Over which links")).to_be_visible()


def test_measure_local_and_operations(tab_at: Make, job_url: str) -> None:
    tab = open_matrix(tab_at, job_url)
    frame = tab.frame()
    expect(heat_map(frame)).to_have_attribute("aria-label", re.compile("^Bandwidth"))
    frame.get_by_role("radiogroup", name="Colour shows").get_by_role("radio", name="Size").click()
    expect(heat_map(frame)).to_have_attribute("aria-label", re.compile("^Size"))
    assert tab.state("show") == "size"
    frame.get_by_role("checkbox", name="LOCAL").check()
    assert tab.state("local") == "1"
    frame.get_by_role("button", name=re.compile("^Operations")).click()
    frame.get_by_role("option", name="allreduce-total", exact=True).click()
    expect(frame.get_by_role("button", name=re.compile("^Operations"))).to_contain_text("allreduce")
    assert tab.state("key") == "allreduce-total"
    tab.page.reload()
    expect(heat_map(frame)).to_have_attribute("aria-label", re.compile("^Size"))
    expect(frame.get_by_role("checkbox", name="LOCAL")).to_be_checked()


def test_click_filters_the_table_by_a_link(tab_at: Make, job_url: str) -> None:
    tab = open_matrix(tab_at, job_url)
    frame = tab.frame()
    heat_map(frame).focus()
    # The first cell, then one to the right: from rank 0 to rank 1.
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("ArrowRight")
    card = frame.locator(".hover")
    expect(card).to_contain_text("Rank 0 → Rank 1")
    expect(card).to_contain_text("HCCS")
    tab.page.keyboard.press("Enter")
    expect(filter_box(frame)).to_have_value("src=0 dst=1")
    table = grid(frame, "Communication")
    wanted = get_json(job_url, "communication", run="job-a", group="matrix", filter="src=0 dst=1")
    expect_rows(table, wanted["data"]["table"]["total"])
    assert set(cells(table, "From")) == {"0"}
    assert set(cells(table, "To")) == {"1"}
    # The same with the pointer, from rank 1 to rank 0.
    filter_box(frame).fill("")
    expect_rows(table, wanted["data"]["table"]["unfiltered"])
    heat_map(frame).focus()
    tab.page.keyboard.press("ArrowRight")
    row, column = (frame.locator(f".heat-{part}").bounding_box() for part in ("row", "column"))
    assert row
    assert column
    size = column["width"]
    tab.page.mouse.click(row["x"] + size / 2, row["y"] + size * 1.5)
    expect(filter_box(frame)).to_have_value("src=1 dst=0")
