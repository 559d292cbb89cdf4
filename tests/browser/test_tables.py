"""The table of every view: sort, filter, groups, columns, pages, rows and the CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from small_captures import KERNEL_HEADER, info, write_capture

from .conftest import Tab, get_json, tensorboard, wait_until_read
from .page import cells, expect_rows, figures, filter_box, grid, head, row_count, rows

Make = Callable[..., Tab]


@pytest.fixture
def kernels(tab_at: Make, job_url: str) -> Tab:
    tab = tab_at(job_url)
    tab.open(view="kernel", run="job-a")
    expect(rows(grid(tab.frame(), "Kernels")).first).to_be_visible()
    return tab


def test_starts_with_the_longest_and_sorts_on_click(kernels: Tab) -> None:
    table = grid(kernels.frame(), "Kernels")
    expect(head(table, "Duration")).to_have_attribute("aria-sort", "descending")
    durations = figures(table, "Duration")
    assert durations == sorted(durations, reverse=True)
    head(table, "Duration").get_by_role("button").click()
    expect(head(table, "Duration")).to_have_attribute("aria-sort", "ascending")
    assert kernels.state("sort") == "dur_ns"


def test_second_sort_with_shift(kernels: Tab) -> None:
    table = grid(kernels.frame(), "Kernels")
    head(table, "Type").get_by_role("button").click()
    expect(head(table, "Type")).to_have_attribute("aria-sort", "ascending")
    head(table, "Duration").get_by_role("button").click(modifiers=["Shift"])
    expect(head(table, "Duration")).to_have_attribute("aria-sort", "descending")
    assert kernels.state("sort") == "type,dur_ns:desc"
    expect(head(table, "Type")).to_have_attribute("aria-sort", "ascending")
    types = cells(table, "Type")
    assert types == sorted(types)


def test_filter_keeps_what_matches_and_is_in_the_link(kernels: Tab, job_url: str) -> None:
    frame = kernels.frame()
    wanted = get_json(job_url, "kernel", run="job-a", filter="MatMul dur>20us")["data"]["table"]
    filter_box(frame).fill("MatMul dur>20us")
    table = grid(frame, "Kernels")
    expect_rows(table, wanted["total"])
    assert all("MatMul" in name for name in cells(table, "Name"))
    assert kernels.state("filter") == "MatMul dur>20us"
    filter_box(frame).fill("")
    expect_rows(table, wanted["unfiltered"])


def test_bad_filter_is_pointed_at_and_the_rows_stay(kernels: Tab) -> None:
    kernels.allow("400")
    frame = kernels.frame()
    before = row_count(grid(frame, "Kernels"))
    filter_box(frame).fill("MatMul durr>20us")
    problem = frame.get_by_role("alert")
    expect(problem).to_contain_text("durr")
    expect(problem.locator("mark")).to_have_text("d")
    expect(filter_box(frame)).to_have_attribute("aria-invalid", "true")
    expect(rows(grid(frame, "Kernels")).first).to_be_visible()
    assert row_count(grid(frame, "Kernels")) == before
    filter_box(frame).fill("MatMul")
    expect(problem).to_have_count(0)


def test_filter_without_a_match_can_be_cleared(kernels: Tab) -> None:
    frame = kernels.frame()
    filter_box(frame).fill("no_such_kernel")
    expect(frame.get_by_role("heading", name="No row matches the filter")).to_be_visible()
    frame.get_by_role("button", name="Clear the filter").click()
    expect(rows(grid(frame, "Kernels")).first).to_be_visible()


def test_scrolling_brings_the_later_pages(kernels: Tab) -> None:
    table = grid(kernels.frame(), "Kernels")
    total = row_count(table)
    assert total > 1_000
    table.evaluate("e => { e.scrollTop = e.scrollHeight }")
    last = table.locator(f"[aria-rowindex='{total + 1}']")
    expect(last.get_by_role("gridcell").first).not_to_be_empty()
    expect(last.locator(".bone")).to_have_count(0)
    # A link to this place opens there.
    kernels.page.wait_for_function("() => location.hash.includes('offset=')")
    assert int(kernels.state("offset") or 0) > total - 100
    kernels.page.reload()
    expect(table.locator(f"[aria-rowindex='{total + 1}']")).to_be_visible()


def test_groups(kernels: Tab, job_url: str) -> None:
    frame = kernels.frame()
    table = grid(frame, "Kernels")
    wanted = get_json(job_url, "kernel", run="job-a", group="type")["data"]["table"]
    frame.get_by_role("radiogroup", name="Group by").get_by_role("radio", name="By type").click()
    expect_rows(table, wanted["total"])
    expect(head(table, "Total")).to_have_attribute("aria-sort", "descending")
    assert cells(table, "Type")[:3] == wanted["values"]["type"][:3]
    assert kernels.state("group") == "type"


def test_columns_are_chosen_and_kept_in_the_link(kernels: Tab) -> None:
    frame = kernels.frame()
    table = grid(frame, "Kernels")
    frame.get_by_role("button", name="Columns").click()
    box = frame.get_by_role("checkbox", name=re.compile("^Wait"))
    assert box.is_checked()
    box.click()
    expect(head(table, "Wait")).to_have_count(0)
    kernels.page.reload()
    expect(rows(table).first).to_be_visible()
    expect(head(table, "Wait")).to_have_count(0)
    frame.get_by_role("button", name="Columns").click()
    frame.get_by_role("button", name="Default columns").click()
    expect(head(table, "Wait")).to_have_count(1)


def test_csv_is_the_filtered_and_sorted_table(kernels: Tab, tmp_path: Path) -> None:
    frame = kernels.frame()
    table = grid(frame, "Kernels")
    before = row_count(table)
    filter_box(frame).fill("MatMul")
    expect(table).not_to_have_attribute("aria-rowcount", str(before + 1))
    head(table, "Duration").get_by_role("button").click()
    expect(head(table, "Duration")).to_have_attribute("aria-sort", "ascending")
    with kernels.page.expect_download() as download:
        frame.get_by_role("link", name="CSV").click()
    download.value.save_as(tmp_path / "kernels.csv")
    text = (tmp_path / "kernels.csv").read_text(encoding="utf-8-sig")
    exported = list(csv.DictReader(io.StringIO(text)))
    assert len(exported) == row_count(table)
    names = cells(table, "Name")
    assert [row["name"] for row in exported[: len(names)]] == names
    durations = [float(row["dur_ns"]) for row in exported]
    assert durations == sorted(durations)
    shown = figures(table, "Duration")
    assert shown == pytest.approx([ns / 1e3 for ns in durations[: len(shown)]], rel=0.01)


def test_row_opens_and_filters_by_its_value(kernels: Tab) -> None:
    frame = kernels.frame()
    table = grid(frame, "Kernels")
    name = cells(table, "Name")[0]
    rows(table).first.dblclick()
    detail = frame.get_by_role("complementary", name="Row 1")
    expect(detail).to_contain_text(name)
    detail.get_by_role("button", name="Filter by this").first.click()
    expect(filter_box(frame)).to_have_value(f"name={name}")
    assert kernels.state("filter") == f"name={name}"


def test_operator_row_shows_where_it_was_called_from(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="operator", run="job-a", group="name", filter="name=aten::addmm")
    table = grid(frame, "Operators")
    rows(table).first.dblclick()
    stacks = frame.get_by_role("region", name="Called from")
    frames = stacks.get_by_role("list").first.get_by_role("listitem")
    expect(frames.first).to_contain_text(".py(")
    assert frames.count() > 1


def test_source_is_named_and_can_be_changed(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="step", run="job-a")
    sources = get_json(job_url, "step", run="job-a")["meta"]["sources"]
    assert sources[:2] == ["text", "trace"]
    source = frame.get_by_role("button", name=re.compile("^Source"))
    expect(source).to_contain_text("step_trace_time.csv")
    source.click()
    frame.get_by_role("option", name="Trace", exact=True).click()
    expect(source).to_contain_text("trace_view.json")
    expect(rows(grid(frame, "Step time")).first).to_be_visible()
    assert tab.state("source") == "trace"


CUT = """
() => [...document.querySelectorAll('.grid .cell.figure')]
  .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.innerText)
"""


def test_no_figure_is_cut(tab_at: Make, tmp_path: Path) -> None:
    """Names may end in dots, figures and their units never. Here they are as many characters in units of
    three widths, below short heads."""
    rows = "".join(
        f"1,k{i},T{i},AI_CORE,{1000 + i * 10_000_000},{dur},0,8,2\n"
        for i, dur in enumerate(("0.001", "8880", "3330000", "5.55"))
    )
    write_capture(tmp_path / "runs" / "cap", info(0), kernel_details=f"{KERNEL_HEADER}\n{rows}")
    with tensorboard(tmp_path / "runs", tmp_path / "cache") as url:
        wait_until_read(url)
        tab = tab_at(url)
        for group in ("type", ""):
            frame = tab.open(view="kernel", group=group)
            expect_rows(grid(frame, "Kernels"), 4)
            expect(grid(frame, "Kernels")).to_contain_text("8.88 ms")
            content = tab.page.locator("iframe").element_handle().content_frame()
            assert content is not None
            assert content.evaluate(CUT) == []
