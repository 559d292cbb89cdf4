"""What is told of a slice and of a range, what is marked, and what can be done by keys alone."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from .conftest import Tab, get_json
from .page import cells, expect_rows, grid, rows
from .timeline import (
    MAP,
    RUN,
    STEPS,
    bounds,
    details,
    drag,
    expect_written,
    live,
    open_timeline,
    ready,
    searched,
    slice_of,
    span,
    told,
    wait_for,
)

Make = Callable[..., Tab]
#: Of the ruler, in pixels of the canvas.
RULED = MAP + STEPS + 9


def facts(frame: Any) -> dict[str, str]:
    """The lines of the details."""
    told = details(frame).locator("dl > div").evaluate_all(
        "all => all.map(e => [e.querySelector('dt').innerText, e.querySelector('dd').innerText])"
    )  # fmt: skip
    return {label: " ".join(value.split()) for label, value in told}


def ns(value: float) -> str:
    return f"{value:,.0f} ns"


def test_a_slice_is_told_with_its_arguments_and_stack(tab_at: Make, job_url: str) -> None:
    wanted = slice_of(job_url, searched(job_url, "=aten::addmm")["next"]["id"])
    tab = tab_at(job_url)
    frame = open_timeline(tab, slice=wanted["id"])
    ready(frame)
    expect(details(frame)).to_contain_text("Input Dims")
    shown = facts(frame)
    assert ns(wanted["duration"]) in shown["Duration"]
    assert shown["Where"] == wanted["where"]
    assert shown["Step"] == str(wanted["step"])
    assert shown["Start"] == f"{wanted['start'] / 1e6:.6f}".rstrip("0") + " ms"
    assert len(wanted["facts"]) > 2
    for fact in wanted["facts"]:
        assert shown[fact["label"]] == " ".join(fact["value"].split())
    assert details(frame).locator("li code").all_inner_texts() == wanted["stack"]
    assert wanted["parent"]["name"] in shown["Inside"]
    details(frame).get_by_role("button", name=wanted["parent"]["name"], exact=True).click()
    wait_for(tab, "slice", lambda id_: id_ == wanted["parent"]["id"])
    expect(details(frame).get_by_role("heading", name=wanted["parent"]["name"])).to_be_visible()


def test_an_arrow_leads_from_the_host_to_the_device_and_back(tab_at: Make, job_url: str) -> None:
    host = slice_of(job_url, searched(job_url, "=aten::addmm")["next"]["id"])
    (flow,) = host["flows"]
    device = slice_of(job_url, flow["to"]["id"])
    assert flow["forward"]
    assert device["track"] != host["track"]
    tab = tab_at(job_url)
    begin, end = host["start"], host["end"]
    frame = open_timeline(tab, slice=host["id"], w=f"{begin}-{end}")
    ready(frame)
    expect(details(frame)).to_contain_text("leads to (async_npu)")
    details(frame).get_by_role("button", name=device["name"], exact=True).click()
    expect(details(frame).get_by_role("heading", name=device["name"])).to_be_visible()
    expect(live(frame)).to_contain_text(f"Selected: {device['name']}")
    assert tab.state("slice") == device["id"]

    def on_screen(_: str | None) -> bool:
        now = span(tab)
        return now is not None and now[0] <= device["start"] and device["end"] <= now[1]

    wait_for(tab, "w", on_screen)
    back = details(frame).locator(".tl-flows li").filter(has_text=host["name"])
    expect(back).to_contain_text("comes from (async_npu)")
    back.get_by_role("button").click()
    expect(details(frame).get_by_role("heading", name=host["name"])).to_be_visible()
    assert tab.state("slice") == host["id"]


def test_a_slice_leads_to_its_kernels_and_a_row_back(tab_at: Make, job_url: str) -> None:
    found = searched(job_url, "MatMul")["next"]
    (door,) = slice_of(job_url, found["id"])["doors"]
    wanted = get_json(job_url, "kernel", run=RUN, rank="0", filter=door["filter"])["data"]["table"]
    assert 1 < wanted["total"] < wanted["unfiltered"]
    tab = tab_at(job_url)
    frame = open_timeline(tab, slice=found["id"])
    ready(frame)
    details(frame).get_by_role("link", name=door["label"]).click()
    table = grid(frame, "Kernels")
    expect_rows(table, wanted["total"])
    assert set(cells(table, "Name")) == {found["name"]}
    assert (tab.state("view"), tab.state("filter")) == ("kernel", door["filter"])
    rows(table).first.dblclick()
    frame.get_by_role("link", name="Find in the timeline").click()
    expect(details(frame).get_by_role("heading", name=found["name"])).to_be_visible()
    wait_for(tab, "at", lambda at: at is None)
    start = slice_of(job_url, tab.state("slice") or "")["start"]
    base = int(told(job_url)["base_ns"])
    first = get_json(
        job_url, "kernel", run=RUN, rank="0", filter=door["filter"], limit="1",
        columns="start_ns", sort="dur_ns:desc",
    )["data"]  # fmt: skip
    moment = int(first["table"]["base_ns"] or 0) + int(first["table"]["values"]["start_ns"][0])
    assert base + start == moment
    tab.page.go_back()
    expect_rows(table, wanted["total"])
    tab.page.go_back()
    wait_for(tab, "slice", lambda id_: id_ == found["id"])
    expect(details(frame).get_by_role("heading", name=found["name"])).to_be_visible()


def test_a_range_is_told_and_taken_along(tab_at: Make, job_url: str, tmp_path: Path) -> None:
    told(job_url)
    tab = tab_at(job_url)
    frame = open_timeline(tab, w="20000000-34000000")
    box = bounds(ready(frame))
    y = box["y"] + RULED
    drag(tab, (box["x"] + box["width"] * 0.3, y), (box["x"] + box["width"] * 0.9, y))
    panel = frame.get_by_role("region", name="Selected range")
    expect(rows(grid(frame, "Slices")).first).to_be_visible()
    chosen = span(tab, "range")
    assert chosen is not None
    ends = {"from": f"{chosen[0]:.0f}", "to": f"{chosen[1]:.0f}"}
    assert abs(chosen[0] - 24_200_000) < 14e6 / box["width"] * 2
    query = {"run": RUN, "rank": "0", "group": "name", **ends}
    answer = get_json(job_url, "slices", limit="1000", **query)["data"]
    expect_rows(grid(frame, "Slices"), answer["table"]["total"])
    assert cells(grid(frame, "Slices"), "Name")[:3] == answer["table"]["values"]["name"][:3]
    with tab.page.expect_download() as download:
        panel.get_by_role("link", name="CSV").click()
    download.value.save_as(tmp_path / "slices.csv")
    head, *lines = csv.reader(io.StringIO((tmp_path / "slices.csv").read_text("utf-8-sig")))
    values = answer["table"]["values"]
    assert head == list(values)
    same = [[each if isinstance(each, str) else float(each) for each in line]
            for line in zip(*values.values(), strict=True)]  # fmt: skip
    assert [[line[0], *map(float, line[1:])] for line in lines] == same
    # How busy the tracks are, with what computing and communication share of it.
    busy = dict(panel.locator(".tl-occupancy li").evaluate_all(
        "all => all.map(e => [e.querySelector('bdi').innerText,"
        " e.querySelector('.figure').innerText.replaceAll('\\u00a0', ' ')])"
    ))  # fmt: skip
    overlap = [each for each in answer["occupancy"] if each["label"].startswith("Overlap")]
    assert len(overlap) == 4
    assert any(0 < each["share"] < 1 for each in overlap)
    for each in overlap:
        assert busy[each["label"]] == (f"{each['share'] * 100:.1f} %" if each["share"] else "0 %")
    panel.get_by_role("link", name="Flame graph").click()
    picture = frame.get_by_role("img", name=re.compile("Call tree of"))
    expect(picture).to_be_visible()
    assert (tab.state("view"), tab.state("from"), tab.state("to")) == (
        "flame", ends["from"], ends["to"],
    )  # fmt: skip


def test_a_marker_is_noted_kept_and_removed(tab_at: Make, job_url: str) -> None:
    told(job_url)
    tab = tab_at(job_url)
    frame = open_timeline(tab, w="40000000-50000000")
    picture = ready(frame)
    box = bounds(picture)
    tab.page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 200)
    picture.press("m")
    wait_for(tab, "marks", lambda marks: marks is not None)
    moment = int((tab.state("marks") or "").rstrip(":"))
    assert abs(moment - 42_500_000) < 10e6 / box["width"] * 2
    frame.get_by_role("button", name="Markers 1").click()
    note = frame.get_by_label(re.compile("^Note"))
    note.fill("late; why: rank 5?")
    note.press("Enter")
    expect_written(tab, "late; why: rank 5?")
    kept = tab.state("marks")
    assert kept == f"{moment}:late\\; why: rank 5?"
    frame.get_by_role("button", name="Mark the middle of the view").click()
    expect(frame.get_by_role("button", name="Markers 2")).to_be_visible()
    wait_for(tab, "marks", lambda marks: marks == f"{kept};45000000:")
    tab.page.reload()
    frame = tab.frame()
    ready(frame)
    expect_written(tab, "late; why: rank 5?")
    frame.get_by_role("button", name="Markers 2").click()
    expect(note.first).to_have_value("late; why: rank 5?")
    frame.get_by_title("Go there").first.click()
    wait_for(tab, "w", lambda w: w == f"{moment - 5_000_000}-{moment + 5_000_000}")
    frame.get_by_role("button", name="Remove").first.click()
    expect_written(tab, "late;", there=False)
    wait_for(tab, "marks", lambda marks: marks == "45000000:")
    frame.get_by_role("button", name="Remove").first.click()
    expect(frame.get_by_role("button", name="Markers", exact=True)).to_be_visible()
    assert tab.state("marks") is None


def test_all_by_keys(tab_at: Make, job_url: str) -> None:
    """Never a pointer: to the tracks, from slice to slice, into the details, to a range, back."""
    told(job_url)
    tab = tab_at(job_url)
    frame = open_timeline(tab)
    picture = ready(frame)
    press = tab.page.keyboard.press
    frame.get_by_role("button", name="Skip to content").focus()
    press("Enter")
    expect(frame.get_by_role("main")).to_be_focused()
    focused = "e => e === document.activeElement"
    for _ in range(20):
        if picture.evaluate(focused):
            break
        press("Tab")
    expect(picture).to_be_focused()
    press("ArrowRight")
    wait_for(tab, "slice", lambda id_: id_ is not None)

    def selected() -> Any:
        now = slice_of(job_url, tab.state("slice") or "")
        expect(live(frame)).to_contain_text(f"Selected: {now['name']},")
        expect(live(frame)).to_contain_text(now["where"])
        return now

    first = selected()
    assert first["depth"] == 0
    press("ArrowRight")
    wait_for(tab, "slice", lambda id_: id_ == first["next"]["id"])
    second = selected()
    press("ArrowLeft")
    wait_for(tab, "slice", lambda id_: id_ == first["id"])
    press("ArrowDown")
    wait_for(tab, "slice", lambda id_: id_ != first["id"])
    child = selected()
    assert (child["parent"]["id"], child["depth"]) == (first["id"], 1)
    press("ArrowUp")
    wait_for(tab, "slice", lambda id_: id_ == first["id"])
    selected()
    press("r")
    wait_for(tab, "range", lambda range_: range_ == f"{first['start']}-{first['end']}")
    press("Enter")
    expect(details(frame)).to_be_focused()
    press("Escape")
    expect(details(frame)).to_be_hidden()
    expect(picture).to_be_focused()
    expect(live(frame)).not_to_contain_text("Selected")
    press("Escape")
    wait_for(tab, "range", lambda range_: range_ is None)
    press("?")
    keys = frame.get_by_role("dialog", name="Keys and gestures")
    expect(keys).to_be_focused()
    press("Escape")
    expect(keys).to_be_hidden()
    expect(picture).to_be_focused()
    press("/")
    expect(frame.get_by_role("searchbox", name="Find slices")).to_be_focused()
    press("Escape")
    expect(picture).to_be_focused()
    assert second["id"] != first["id"]
