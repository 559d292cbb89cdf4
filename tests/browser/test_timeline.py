"""The timeline: what the canvas shows is told by its live text, the link and the server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .conftest import Tab, get_json, tensorboard, wait_until_read
from .page import grid, picker, rows
from .timeline import RUN, ready, searched, span, wait_for

Make = Callable[..., Tab]


def test_keys_and_wheel_zoom_and_the_way_back(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="timeline", run=RUN, rank="0")
    picture = ready(frame)
    picture.focus()
    tab.page.keyboard.press("w")
    wait_for(tab, "w", lambda w: w is not None)
    near = span(tab)
    assert near is not None
    box = picture.bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 200)
    tab.page.keyboard.down("Control")
    tab.page.mouse.wheel(0, -200)
    tab.page.keyboard.up("Control")
    wait_for(tab, "w", lambda w: w is not None and span(tab) != near)
    nearer = span(tab)
    assert nearer is not None
    assert nearer[1] - nearer[0] < near[1] - near[0]
    tab.page.keyboard.press("z")
    tab.page.keyboard.press("0")
    wait_for(tab, "w", lambda w: w is None)


def test_a_click_tells_of_the_slice(tab_at: Make, job_url: str) -> None:
    """The window is laid around a kernel, so where to click is known."""
    wanted = searched(job_url, "MatMul", rank="0")["next"]
    length = wanted["duration"]
    begin = wanted["start"] - 2 * length
    tab = tab_at(job_url)
    frame = tab.open(view="timeline", run=RUN, rank="0", w=f"{begin:.0f}-{begin + 5 * length:.0f}")
    picture = ready(frame)
    label = frame.locator(".tl-name.tl-track").filter(
        has_text=wanted["where"].split(" · ")[-1]
    ).last  # fmt: skip
    label.scroll_into_view_if_needed()
    tab.page.wait_for_timeout(300)
    row, box = label.bounding_box(), picture.bounding_box()
    assert row is not None
    assert box is not None
    tab.page.mouse.click(box["x"] + box["width"] / 2, row["y"] + 8)
    details = frame.get_by_role("region", name="Details of the slice")
    expect(details).to_contain_text(wanted["name"])
    assert tab.state("slice") == wanted["id"]
    picture.press("Escape")
    expect(details).to_be_hidden()
    assert tab.state("slice") is None


def test_search_goes_from_match_to_match(tab_at: Make, job_url: str) -> None:
    total = searched(job_url, "matmul", rank="0")["total"]
    tab = tab_at(job_url)
    frame = tab.open(view="timeline", run=RUN, rank="0")
    ready(frame).press("/")
    box = frame.get_by_role("searchbox", name="Find slices")
    expect(box).to_be_focused()
    box.fill("matmul")
    box.press("Enter")
    count = frame.locator(".tl-count")
    expect(count).to_have_text(f"1 of {total}")
    first = tab.state("slice")
    box.press("Enter")
    expect(count).not_to_have_text(f"1 of {total}")
    assert first
    assert tab.state("slice") not in (None, first)
    box.press("Shift+Enter")
    expect(count).to_have_text(f"1 of {total}")
    assert tab.state("slice") == first
    expect(frame.locator("#tl-live")).to_contain_text("Selected:")


def test_neighbours_of_a_slice_by_keys(tab_at: Make, job_url: str) -> None:
    first = searched(job_url, "MatMul", rank="0")["next"]
    told = get_json(job_url, "timeline/slice", run=RUN, rank="0", id=first["id"])["data"]
    tab = tab_at(job_url)
    frame = tab.open(view="timeline", run=RUN, rank="0", slice=first["id"])
    details = frame.get_by_role("region", name="Details of the slice")
    expect(details).to_contain_text(first["name"])
    ready(frame).press("ArrowRight")
    expect(details.get_by_role("heading", name=told["next"]["name"]).first).to_be_visible()
    wait_for(tab, "slice", lambda each: each == told["next"]["id"])


def test_a_range_is_a_table(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="timeline", run=RUN, rank="0")
    box = ready(frame).bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 45)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 45, steps=4)
    tab.page.mouse.up()
    panel = frame.get_by_role("region", name="Selected range")
    expect(rows(grid(frame, "Slices")).first).to_be_visible()
    expect(panel.get_by_role("heading", name="Busy in this range")).to_be_visible()
    assert re.fullmatch(r"\d+-\d+", tab.state("range") or "")
    panel.get_by_role("radio", name="By name").click()
    expect(rows(grid(frame, "Slices")).first).to_be_visible()
    panel.get_by_role("button", name="Close", exact=True).first.click()
    expect(panel).to_be_hidden()


def test_folding_and_hiding_stand_in_the_link(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="timeline", run=RUN, rank="0")
    ready(frame)
    names = frame.locator(".tl-name")
    process = names.filter(has_text="Python").first
    before = names.count()
    process.get_by_role("button", expanded=True).first.click()
    expect(process.get_by_role("button", expanded=False).first).to_be_visible()
    assert names.count() < before or tab.state("fold")
    frame.get_by_label("Find a track").fill("overlap")
    expect(frame.locator(".tl-process")).to_have_count(1)
    again = tab_at(job_url)
    frame = again.open(
        view="timeline", run=RUN, rank="0",
        fold=tab.state("fold") or "", tracks=tab.state("tracks") or "",
    )  # fmt: skip
    ready(frame)
    expect(frame.locator(".tl-process")).to_have_count(1)
    expect(frame.get_by_label("Find a track")).to_have_value("overlap")


def test_a_link_shows_the_very_view(tab_at: Make, job_url: str) -> None:
    end = get_json(job_url, "timeline", run=RUN, rank="0")["data"]["end"]
    state = {
        "w": f"{end * 0.5:.0f}-{end * 0.6:.0f}", "colour": "duration", "dense": "1",
        "marks": f"{end * 0.55:.0f}:here", "range": f"{end * 0.52:.0f}-{end * 0.56:.0f}",
    }  # fmt: skip
    tab = tab_at(job_url)
    frame = tab.open(view="timeline", run=RUN, rank="0", **state)
    ready(frame)
    expect(frame.locator(".tl-legend")).to_contain_text("10–100 µs")
    frame.get_by_role("button", name="Markers 1").click()
    expect(frame.get_by_label(re.compile("^Note"))).to_have_value("here")
    expect(frame.get_by_role("region", name="Selected range")).to_be_visible()
    for key, value in state.items():
        assert tab.state(key) == value


def test_a_kernel_leads_to_its_moment(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="kernel", run=RUN, rank="0")
    first = rows(grid(frame, "Kernels")).first
    name = first.get_by_role("gridcell").first.inner_text()
    first.dblclick()
    frame.get_by_role("link", name="Find in the timeline").click()
    details = frame.get_by_role("region", name="Details of the slice")
    expect(details).to_contain_text(name)
    assert (tab.state("view"), tab.state("at")) == ("timeline", None)


def test_ranks_are_aligned(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="timeline", run=RUN)
    ready(frame)
    expect(frame.locator(".tl-rank")).to_have_count(8)
    expect(frame.locator(".tl-shift")).to_have_count(0)
    frame.get_by_role("button", name=re.compile("^Align")).click()
    frame.get_by_role("option").nth(1).click()
    expect(frame.locator(".tl-shift").first).to_be_visible()
    assert tab.state("align") == "step"


def test_other_ranks_put_aside_what_is_numbered(tab_at: Make, job_url: str) -> None:
    first = searched(job_url, "MatMul", rank="0,5")["next"]
    tab = tab_at(job_url)
    frame = tab.open(view="timeline", run=RUN, rank="0,5", slice=first["id"], pin="10001")
    ready(frame)
    expect(frame.locator(".tl-pinned")).to_have_count(1)
    picker(frame, "Rank").click()
    frame.get_by_role("button", name="3", exact=True).click()
    wait_for(tab, "pin", lambda pin: pin is None)
    assert tab.state("slice") is None
    tab.page.go_back()
    wait_for(tab, "pin", lambda pin: pin == "10001")
    assert tab.state("slice") == first["id"]


def test_dark_and_chinese(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url, color_scheme="dark")
    frame = tab.open(view="timeline", run=RUN, rank="0", lang="zh")
    expect(frame.locator("#tl-live")).to_contain_text("个区间")
    frame.locator("canvas.tl-canvas").press("?")
    keys = frame.get_by_role("dialog", name="按键与手势")
    expect(keys).to_contain_text("放大、缩小")
    keys.press("Escape")
    expect(keys).to_be_hidden()


def test_a_capture_without_a_trace_says_so(tab_at: Make, bare_url: str) -> None:
    frame = tab_at(bare_url).open(view="timeline")
    expect(frame.get_by_role("heading", name="No events in time")).to_be_visible()


@pytest.fixture(scope="module")
def bare_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A capture of which only the kernels' table was kept."""
    from tb_npu_plugin.sample import write_sample

    logdir: Path = tmp_path_factory.mktemp("bare")
    files = {"kernel_details.csv", "step_trace_time.csv"}
    write_sample(logdir, ranks=1, steps=2, kernels_per_step=40, files=files)
    with tensorboard(logdir, tmp_path_factory.mktemp("tb") / "cache") as url:
        wait_until_read(url)
        yield url


def test_64_ranks_are_a_line_each(tab_at: Make, many_url: str) -> None:
    tab = tab_at(many_url, size=(1440, 900))
    frame = tab.open(view="timeline")
    ready(frame)
    drawn = frame.locator(".tl-rank")
    expect(drawn.first).to_contain_text("Rank 0")
    assert 20 <= drawn.count() <= 64
    drawn.first.get_by_role("button", expanded=False).first.click()
    expect(frame.locator(".tl-process").first).to_be_visible()
    assert tab.state("fold") == "r0"


def test_a_box_zooms_in_time_and_brings_its_rows_to_the_middle(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url, size=(1440, 700))
    frame = tab.open(view="timeline", run=RUN, rank="0")
    box = ready(frame).bounding_box()
    assert box is not None
    frame.get_by_role("button", name="Box zoom").click()
    tab.page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] - 90)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] - 10, steps=4)
    tab.page.mouse.up()
    wait_for(tab, "w", lambda w: w is not None)
    wait_for(tab, "y", lambda y: y is not None and float(y) > 100)
    expect(frame.get_by_role("button", name="Box zoom")).to_have_attribute("aria-pressed", "false")


def test_two_fingers_zoom(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url, has_touch=True)
    frame = tab.open(view="timeline", run=RUN, rank="0")
    box = ready(frame).bounding_box()
    assert box is not None
    middle, y = box["x"] + box["width"] / 2, box["y"] + 200
    touch = tab.page.context.new_cdp_session(tab.page)

    def fingers(kind: str, *apart: float) -> None:
        points = [{"x": middle + side * far, "y": y, "id": i}
                  for far in apart for i, side in enumerate((-1, 1))]  # fmt: skip
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", 60)
    for far in (90, 140, 200, 240):
        fingers("touchMove", far)
    fingers("touchEnd")
    wait_for(tab, "w", lambda w: w is not None)
    near = span(tab)
    whole = get_json(job_url, "timeline", run=RUN, rank="0")["data"]["end"]
    assert near is not None
    assert (near[1] - near[0]) / whole == pytest.approx(60 / 240, rel=0.2)
    assert sum(near) / 2 / whole == pytest.approx(0.5, abs=0.1)


def test_gaps_of_the_device_are_marked_or_not(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    frame = tab.open(view="timeline", run=RUN, rank="0", dense="1")
    picture = ready(frame)
    tab.page.wait_for_timeout(1000)
    marked = picture.screenshot()
    picture.press("g")
    wait_for(tab, "idle", lambda idle: idle == "0")
    tab.page.wait_for_timeout(300)
    assert picture.screenshot() != marked
    frame.get_by_role("button", name="More", exact=True).click()
    frame.get_by_label("Gaps of the device").check()
    wait_for(tab, "idle", lambda idle: idle is None)
