"""The flame graph: what it weighs, looking into a call, finding one, the keyboard, the link."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from .conftest import Tab, get_json

Make = Callable[..., Tab]


def test_a_call_is_looked_into_and_the_link_keeps_it(tab_at: Make, real_url: str) -> None:
    tab = tab_at(real_url)
    frame = tab.open(view="flame", run="text_level1", rank="0", by="module")
    picture = frame.get_by_role("img", name=re.compile("Call tree of"))
    expect(picture).to_be_visible()  # the trace is read
    nodes = get_json(real_url, "flame", run="text_level1", rank="0", by="module")["data"]["nodes"]
    picture.hover(position={"x": 20, "y": 10})
    expect(frame.locator(".hover")).to_contain_text("DistributedDataParallel_0")
    picture.click(position={"x": 20, "y": 30})
    assert tab.state("zoom") == str(nodes["name"].index("AlexNet_0"))
    again = tab_at(real_url).open(
        view="flame", run="text_level1", rank="0", by="module", zoom=tab.state("zoom")
    )
    again.get_by_role("img", name=re.compile("Call tree")).hover(position={"x": 900, "y": 30})
    expect(again.locator(".hover")).to_contain_text("AlexNet_0")
    again.get_by_role("button", name="All calls").click()
    expect(again.get_by_role("button", name="All calls")).to_have_count(0)


def test_weight_order_search_and_keys(tab_at: Make, real_url: str) -> None:
    tab = tab_at(real_url)
    frame = tab.open(view="flame", run="text_level1", rank="0")
    frame.get_by_role("radio", name="Device time launched").click()
    expect(frame.get_by_role("radio", name="Device time launched")).to_be_checked()
    frame.get_by_role("radio", name="In time order").click()
    assert (tab.state("by"), tab.state("order")) == ("device", "time")
    nodes = get_json(real_url, "flame", run="text_level1", rank="0", by="device")["data"]["nodes"]
    wanted = sum("relu" in name.lower() for name in nodes["name"])
    assert wanted
    frame.get_by_role("searchbox", name="Find calls by name").fill("relu")
    expect(frame.get_by_text(f"{wanted} match")).to_be_visible()
    picture = frame.get_by_role("img", name=re.compile("Call tree"))
    picture.focus()
    picture.press("ArrowDown")
    picture.press("ArrowDown")
    expect(frame.locator(".hover")).to_be_visible()
    picture.press("Enter")
    expect(frame.get_by_role("button", name="All calls")).to_be_visible()
    picture.press("Escape")
    expect(frame.get_by_role("button", name="All calls")).to_have_count(0)


def test_what_is_not_there_is_said_in_both_languages(tab_at: Make, job_url: str) -> None:
    frame = tab_at(job_url).open(view="flame", run="job-a", rank="0", by="module")
    expect(frame.get_by_text("No nn.Module calls were recorded", exact=False)).to_be_visible()
    frame = tab_at(job_url).open(view="flame", run="job-a", rank="0", by="module", lang="zh")
    expect(frame.get_by_text("没有记录 nn.Module 调用", exact=False)).to_be_visible()
