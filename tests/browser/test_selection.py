"""Run, rank, step, language and theme; and all of it in the link."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from .conftest import Tab, get_json
from .page import VIEWS, choose, expect_rows, grid, head, menu, picker, rows

Make = Callable[..., Tab]


def total(url: str, view: str, **query: str) -> int:
    return int(get_json(url, view, limit="1", **query)["data"]["table"]["total"])


def test_run(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="kernel", run="job-a", rank="3", step="12")
    expect(rows(grid(frame, "Kernels")).first).to_be_visible()
    choose(frame, "Run", "job-b")
    expect_rows(grid(frame, "Kernels"), total(job_url, "kernel", run="job-b"))
    # Another run has other ranks and steps.
    assert (tab.state("run"), tab.state("rank"), tab.state("step")) == ("job-b", None, None)


def test_rank_and_step(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="kernel", run="job-a")
    table = grid(frame, "Kernels")
    expect_rows(table, total(job_url, "kernel", run="job-a"))
    picker(frame, "Rank").click()
    dialog = frame.get_by_role("dialog", name="Rank")
    dialog.get_by_role("button", name="2", exact=True).click()
    dialog.get_by_role("button", name="4", exact=True).click(modifiers=["Shift"])
    expect_rows(table, total(job_url, "kernel", run="job-a", rank="2-4"))
    tab.page.keyboard.press("Escape")
    assert tab.state("rank") == "2-4"
    choose(frame, "Step", "12")
    expect_rows(table, total(job_url, "kernel", run="job-a", rank="2-4", step="12"))
    # Back undoes the step, then the ranks in one.
    tab.page.go_back()
    expect_rows(table, total(job_url, "kernel", run="job-a", rank="2-4"))
    tab.page.go_back()
    expect_rows(table, total(job_url, "kernel", run="job-a"))
    tab.page.go_forward()
    expect_rows(table, total(job_url, "kernel", run="job-a", rank="2-4"))


def test_unknown_rank_in_a_link_offers_all(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    tab.allow("404")
    frame = tab.open(view="kernel", run="job-a", rank="77")
    expect(frame.get_by_text("77").first).to_be_visible()
    frame.get_by_role("button", name="Show all ranks and steps").click()
    expect(rows(grid(frame, "Kernels")).first).to_be_visible()
    assert tab.state("rank") is None


def test_deep_link_survives_a_reload(tab_at: Make, job_url: str) -> None:
    link = {"view": "kernel", "run": "job-a", "rank": "0,5", "step": "13", "group": "type",
            "sort": "count:desc", "filter": "total>1us", "columns": "type,count,total_ns"}  # fmt: skip
    tab = tab_at(job_url)
    frame = tab.open(**link)

    def check() -> None:
        table = grid(frame, "Kernels")
        expect(head(table, "Count")).to_have_attribute("aria-sort", "descending")
        assert table.get_by_role("columnheader").count() == 3
        expect(picker(frame, "Rank")).to_contain_text("0, 5")
        expect(picker(frame, "Step")).to_contain_text("13")
        assert {key: tab.state(key) for key in link} == link

    check()
    text = grid(frame, "Kernels").inner_text()
    tab.page.reload()
    check()
    assert grid(frame, "Kernels").inner_text() == text


def test_share_copies_a_link_to_this_page(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url, permissions=["clipboard-read", "clipboard-write"])
    frame = tab.open(view="step", run="job-a", rank="1")
    expect(rows(grid(frame, "Step time")).first).to_be_visible()
    frame.get_by_role("button", name="Share link").click()
    expect(frame.get_by_role("button", name="Copied")).to_be_visible()
    link = tab.page.evaluate("navigator.clipboard.readText()")
    for part in ("view=step", "run=job-a", "rank=1", "recording="):
        assert f"p.npu_profiler.{part}" in link
    assert "lang" not in link
    tab.page.goto("about:blank")
    tab.page.goto(link)
    expect(rows(grid(tab.frame(), "Step time")).first).to_be_visible()


def test_back_and_forward_through_views(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="overview", run="job-a")
    for view in ("kernel", "memory", "health"):
        menu(frame, VIEWS[view]).click()
        expect(menu(frame, VIEWS[view])).to_have_attribute("aria-current", "page")
    for view in ("memory", "kernel", "overview"):
        tab.page.go_back()
        expect(menu(frame, VIEWS[view])).to_have_attribute("aria-current", "page")
    tab.page.go_forward()
    expect(menu(frame, "Kernels")).to_have_attribute("aria-current", "page")
    expect(rows(grid(frame, "Kernels")).first).to_be_visible()


def test_theme_follows_tensorboard(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="memory", run="job-a")
    expect(frame.get_by_role("slider")).to_be_visible()
    ground = "e => getComputedStyle(e).backgroundColor"
    body = frame.locator("body")
    light = body.evaluate(ground)
    for mode in ("Dark", "Light"):
        tab.page.get_by_role("button", name=re.compile("light or dark theme")).click()
        tab.page.get_by_role("menuitem", name=re.compile(mode)).click()
        expect(frame.locator("html")).to_have_attribute("data-theme", mode.lower())
    assert body.evaluate(ground) == light


def test_language(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="communication", run="job-a")
    expect(rows(grid(frame, "Communication")).first).to_be_visible()
    frame.get_by_role("button", name="中文").click()
    expect(rows(grid(frame, "通信")).first).to_be_visible()
    expect(frame.get_by_role("heading", name="通信时间去向")).to_be_visible()
    expect(frame.locator("html")).to_have_attribute("lang", "zh-CN")
    # It is remembered for links that name no language.
    tab.page.goto("about:blank")
    tab.page.goto(f"{tab.url}#npu_profiler&p.npu_profiler.view=memory")
    expect(tab.frame().get_by_role("heading", name="内存曲线")).to_be_visible()
    tab.frame().get_by_role("button", name="English").click()
    expect(tab.frame().get_by_role("heading", name="Memory over time")).to_be_visible()
