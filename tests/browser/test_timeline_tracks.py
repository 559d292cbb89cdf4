"""The tracks: filtered, folded, pinned, moved, hidden, compact, of several ranks, aligned, coloured."""

from __future__ import annotations

import json
import re
import struct
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, expect

from .conftest import Tab, get_json
from .timeline import (
    RUN,
    act_on_row,
    bounds,
    canvas,
    details,
    expect_arrows,
    live,
    more,
    open_timeline,
    ready,
    row,
    searched,
    told,
    wait_for,
)

Make = Callable[..., Tab]
#: All rows are on screen.
TALL = (1440, 1500)
#: The colours on a line of the canvas.
LINE = """(canvas, y) => {
  const ratio = canvas.width / canvas.clientWidth;
  const line = canvas.getContext('2d').getImageData(0, Math.round(y * ratio), canvas.width, 1);
  const found = new Set();
  for (let i = 0; i < line.data.length; i += 4) found.add(`${line.data.slice(i, i + 3)}`);
  return [...found];
}"""


def names(frame: Any) -> Locator:
    return frame.locator(".tl-name.tl-track")  # type: ignore[no-any-return]


def from_the_top(frame: Any) -> list[str]:
    found = names(frame).locator("bdi").evaluate_all(
        "all => all.map(e => [e.getBoundingClientRect().top, e.innerText])"
    )  # fmt: skip
    return [text for _, text in sorted(found)]


def colours_of(frame: Any, label: Locator) -> set[str]:
    """What is drawn in the middle of a row."""
    place, picture = bounds(label), canvas(frame)
    return set(picture.evaluate(LINE, place["y"] + place["height"] / 2 - bounds(picture)["y"]))


def wait_for_colours(frame: Any, label: Locator, wanted: Callable[[set[str]], bool]) -> None:
    for _ in range(100):
        if wanted(colours_of(frame, label)):
            return
        frame.locator("body").page.wait_for_timeout(100)
    raise AssertionError(colours_of(frame, label))


def test_the_filter_leaves_tracks_that_match(tab_at: Make, job_url: str) -> None:
    tracks = told(job_url)["tracks"]
    planes = [track["label"] for track in tracks if track["label"] == "Plane 1"]
    assert len(tracks) > len(planes) > 1
    tab = tab_at(job_url, size=TALL)
    frame = open_timeline(tab)
    ready(frame)
    expect(names(frame)).to_have_count(len(tracks))
    box = frame.get_by_label("Find a track")
    box.fill("plane 1")
    expect(names(frame)).to_have_text(planes)
    expect(live(frame)).to_contain_text(f"{len(planes)} tracks")
    assert tab.state("tracks") == "plane 1"
    box.fill("nothing is called like this")
    expect(frame.get_by_text("No track matches")).to_be_visible()
    box.fill("")
    expect(names(frame)).to_have_count(len(tracks))


def test_a_track_is_pinned_and_stays_above_the_others(tab_at: Make, job_url: str) -> None:
    found = searched(job_url, "MatMul")["next"]
    begin, length = found["start"], found["duration"]
    tab = tab_at(job_url, size=(1440, 600))
    frame = open_timeline(tab, w=f"{begin - length:.0f}-{begin + 2 * length:.0f}")
    picture = ready(frame)
    track = next(t for t in told(job_url)["tracks"] if t["id"] == found["track"])
    act_on_row(frame, track["label"], "Pin to the top")
    pinned = frame.locator(".tl-pinned")
    expect(pinned).to_have_text(f"{track['label']} · {track['process']}")
    assert tab.state("pin") == str(track["id"])
    picture.press("PageDown")
    wait_for(tab, "y", lambda y: y is not None)
    tab.page.reload()
    picture = ready(tab.frame())
    place, box = bounds(pinned), bounds(picture)
    tab.page.mouse.click(box["x"] + box["width"] / 2, place["y"] + place["height"] / 2)
    expect(details(frame)).to_contain_text(found["name"])
    assert tab.state("slice") == found["id"]
    act_on_row(frame, f"{track['label']} · {track['process']}", "Unpin")
    expect(pinned).to_have_count(0)
    assert tab.state("pin") is None


def test_the_menu_of_a_row_is_whole_at_the_foot_of_the_page(tab_at: Make, job_url: str) -> None:
    told(job_url)
    tab = tab_at(job_url)
    frame = open_timeline(tab)
    ready(frame)
    label = row(frame, "Stream 2")
    foot = int(bounds(label)["y"] + 50)
    tab.page.set_viewport_size({"width": 1440, "height": foot})
    label.hover()
    label.get_by_role("button", name=re.compile("^More")).click()
    menu = frame.get_by_role("dialog", name="More: Stream 2")
    last = menu.get_by_role("button", name="Show only this")
    expect(last).to_be_in_viewport(ratio=1)
    box = bounds(menu)
    assert box["y"] + box["height"] <= bounds(label)["y"] + 4
    last.click()
    expect(names(frame)).to_have_text("Stream 2")


def test_tracks_are_moved_hidden_and_shown_again(tab_at: Make, job_url: str) -> None:
    tracks = told(job_url)["tracks"]
    labels = [track["label"] for track in tracks]
    at = labels.index("Stream 2")
    swapped = [*labels[:at], labels[at + 1], labels[at], *labels[at + 2 :]]
    tab = tab_at(job_url, size=TALL)
    frame = open_timeline(tab)
    ready(frame)
    assert from_the_top(frame) == labels
    act_on_row(frame, "Stream 2", "Move down")
    wait_for(tab, "move", lambda move: move is not None)
    assert from_the_top(frame) == swapped
    act_on_row(frame, "Stream 3", "Hide")
    expect(names(frame)).to_have_count(len(labels) - 1)
    assert tab.state("hide") == str(tracks[labels.index("Stream 3")]["id"])
    tab.page.reload()
    ready(tab.frame())
    expect(names(frame)).to_have_count(len(labels) - 1)
    assert from_the_top(frame) == [each for each in swapped if each != "Stream 3"]
    frame.get_by_role("button", name="Show 1 hidden track").click()
    expect(names(frame)).to_have_count(len(labels))
    act_on_row(frame, "Stream 2", "Move up")
    expect(row(frame, "Stream 2")).to_be_visible()
    assert from_the_top(frame) == labels
    hardware = [track["label"] for track in tracks if track["kind"] == "hardware"]
    act_on_row(frame, tracks[at]["process"], "Show only this")
    expect(names(frame)).to_have_text(hardware)
    frame.get_by_role("button", name=f"Show {len(labels) - len(hardware)} hidden tracks").click()
    expect(names(frame)).to_have_count(len(labels))


def test_rows_are_compact_folded_and_previewed(tab_at: Make, job_url: str) -> None:
    tracks = told(job_url)["tracks"]
    deep, overlap = tracks[0], next(t for t in tracks if t["kind"] == "overlap")
    tab = tab_at(job_url, size=TALL)
    frame = open_timeline(tab)
    ready(frame)
    label = names(frame).first

    def height() -> float:
        return bounds(label)["height"]

    high = height()
    more(frame)
    frame.get_by_label("Compact rows").check()
    wait_for(tab, "dense", lambda dense: dense == "1")
    assert height() < 0.75 * high
    frame.get_by_label("Compact rows").uncheck()
    wait_for(tab, "dense", lambda dense: dense is None)
    assert height() == high
    assert deep["depths"] > 1
    label.get_by_role("button", expanded=True).first.click()
    expect(label.get_by_role("button", expanded=False).first).to_be_visible()
    assert height() < 0.5 * high
    assert tab.state("fold") == f"t{deep['id']}"
    # A process has a line of its own, empty as long as its tracks stand below it.
    process = row(frame, overlap["process"])
    assert len(colours_of(frame, process)) == 1
    process.get_by_role("button", expanded=True).first.click()
    expect(row(frame, overlap["label"])).to_have_count(0)
    wait_for_colours(frame, process, lambda found: len(found) > 3)


def test_ranks_stand_below_each_other(tab_at: Make, job_url: str) -> None:
    tracks = told(job_url, "0,5")["tracks"]
    tab = tab_at(job_url, size=TALL)
    frame = open_timeline(tab, rank="0,5")
    ready(frame)
    ranks = frame.locator(".tl-rank")
    expect(ranks.first).to_contain_text("Rank 0")
    expect(frame.get_by_label(f"Timeline of {len(tracks)} tracks")).to_be_visible()
    assert len(colours_of(frame, ranks.first)) == 1
    frame.get_by_role("button", name="Collapse all").click()
    expect(ranks).to_have_text([re.compile("Rank 0"), re.compile("Rank 5")])
    expect(names(frame)).to_have_count(0)
    assert tab.state("fold") == "r0,r1"
    for rank in (ranks.first, ranks.last):
        wait_for_colours(frame, rank, lambda found: len(found) > 3)
    ranks.last.get_by_role("button", expanded=False).first.click()
    expect(names(frame)).to_have_text([t["label"] for t in tracks if t["part"] == 1])
    frame.get_by_role("button", name="Expand all").click()
    wait_for(tab, "fold", lambda fold: fold is None)
    expect(names(frame).first).to_have_text(tracks[0]["label"])


def test_ranks_are_aligned_and_moved_by_hand(tab_at: Make, job_url: str) -> None:
    data = told(job_url, "0,5")
    by = {each["id"]: each["shifts"] for each in data["alignments"]}
    assert {"clock", "step", "collective"} == set(by)
    tab = tab_at(job_url)
    frame = open_timeline(tab, rank="0,5", fold="r0,r1")
    ready(frame)
    last = frame.locator(".tl-rank").last
    for label, key in (("Start of a step", "step"), ("Ends of collectives", "collective")):
        frame.get_by_role("button", name=re.compile("^Align")).click()
        frame.get_by_role("option", name=label).click()
        wait_for(tab, "align", lambda align, key=key: align == key)  # type: ignore[misc]
        assert abs(by[key][1]) < 1e6
        expect(last.locator(".tl-shift")).to_have_text(duration(by[key][1]))
    # The end of the whole moves with its last rank.
    end = data["ranks"][1]["end"] + by["collective"][1]
    expect(live(frame)).to_contain_text(f"to {end / 1e6:.6f}".rstrip("0"))
    last.hover()
    last.get_by_role("button", name=re.compile("^More")).click()
    offset = frame.get_by_label("Offset of this rank")
    offset.fill("two days")
    expect(offset).to_have_attribute("aria-invalid", "true")
    offset.press("Enter")
    assert tab.state("shift") is None
    offset.fill("2.5ms")
    offset.press("Enter")
    wait_for(tab, "shift", lambda shift: shift == "1:2500000")
    expect(last.locator(".tl-shift")).to_have_text("+2.50\N{NO-BREAK SPACE}ms")
    expect(live(frame)).to_contain_text(f"to {(end + 2_500_000) / 1e6:.6f}".rstrip("0"))
    offset.fill("")
    offset.press("Enter")
    wait_for(tab, "shift", lambda shift: shift is None)
    expect(last.locator(".tl-shift")).to_have_text(duration(by["collective"][1]))


def duration(ns: int) -> re.Pattern[str]:
    """A short time as the page writes it."""
    sign, size = (r"\+" if ns > 0 else "[−-]"), abs(ns)
    text = f"{size:#.3g} ns" if size < 1_000 else f"{size / 1e3:#.3g} µs"
    return re.compile("^" + sign + text.replace(" ", r"\s") + "$")


def legend_of(url: str, colour: str, end: float) -> list[str]:
    """The labels that a window's header gives."""
    query = {"run": RUN, "rank": "0", "from": "0", "to": str(end), "width": "1000"}
    route = f"{url}data/plugin/npu_profiler/timeline/window"
    asked = f"{route}?{urllib.parse.urlencode({**query, 'colour': colour})}"
    with urllib.request.urlopen(asked, timeout=30) as reply:
        body = reply.read()
    (length,) = struct.unpack_from("<I", body, 4)
    return list(json.loads(body[8 : 8 + length])["legend"])


def test_each_way_of_colouring_has_its_legend(tab_at: Make, job_url: str) -> None:
    data = told(job_url)
    tab = tab_at(job_url, size=TALL)
    frame = open_timeline(tab)
    ready(frame)
    stream, items = row(frame, "Stream 2"), frame.locator(".tl-legend li")
    looks = []
    assert data["colours"][0]["id"] == "name"
    for colour in [*data["colours"][1:], data["colours"][0]]:
        frame.get_by_role("button", name=re.compile("^Colour")).click()
        option = frame.get_by_role("option", name=colour["label"], exact=True)
        option.click()
        if colour["id"] == "name":
            expect(items).to_have_count(0)
            assert tab.state("colour") is None
            continue
        legend = legend_of(job_url, colour["id"], data["end"])
        assert legend
        expect(items).to_have_text([each or "–" for each in legend[:14]])
        assert tab.state("colour") == colour["id"]
        fills = items.locator(".swatch").evaluate_all(
            "all => all.map(e => getComputedStyle(e).backgroundColor.match(/\\d+/g).join(','))"
        )
        # Tracks that have the property are drawn in the colours of the legend.
        if colour["id"] != "category":
            wait_for_colours(frame, stream, lambda found, f=fills: bool(found & set(f)))  # type: ignore[misc]
        looks.append((tuple(legend), tuple(fills)))
    assert len(set(looks)) == len(data["colours"]) - 1


def test_arrows_are_drawn_where_they_are_wanted(tab_at: Make, job_url: str) -> None:
    told(job_url)
    window = {"from": "20800000", "to": "21200000"}
    flows = get_json(job_url, "timeline/flows", run=RUN, rank="0", limit="500", **window)["data"]
    assert flows["total"] == len(flows["flows"]) > 10
    tab = tab_at(job_url, size=TALL)
    frame = open_timeline(tab, w="-".join(window.values()))
    ready(frame)
    expect_arrows(tab, 0)
    more(frame)
    box = frame.get_by_label("All arrows")
    box.check()
    expect_arrows(tab, flows["total"])
    expect(frame.locator("label", has=box)).to_contain_text(str(flows["total"]))
    assert tab.state("arrows") == "1"
    box.uncheck()
    expect_arrows(tab, 0)
    assert tab.state("arrows") is None
