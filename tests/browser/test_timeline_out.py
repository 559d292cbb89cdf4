"""What is taken away from the timeline: a picture of the view, a window as a Chrome trace."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from .conftest import Tab, get_json
from .timeline import RUN, bounds, inner, more, open_timeline, ready, told

Make = Callable[..., Tab]
#: Beside the rows stand their names.
NAMES = 220
#: How large a PNG is, how many colours its names and its rows have, and how many pixels of the rows
#: are not those of the canvas.
LOOK = """async file => {
  const bytes = Uint8Array.from(atob(file), each => each.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
  const pixels = (source, left, width) => {
    const copy = new OffscreenCanvas(source.width, source.height);
    const ink = copy.getContext('2d');
    ink.drawImage(source, 0, 0);
    return new Uint32Array(ink.getImageData(left, 0, width, source.height).data.buffer);
  };
  const canvas = document.querySelector('canvas.tl-canvas');
  const left = image.width - canvas.width;
  const rows = pixels(image, left, canvas.width);
  const shown = pixels(canvas, 0, canvas.width);
  return {
    size: [image.width, image.height],
    canvas: [canvas.width, canvas.height],
    names: new Set(pixels(image, 0, left)).size,
    rows: new Set(rows).size,
    other: rows.reduce((sum, each, at) => sum + (each !== shown[at]), 0),
  };
}"""


def test_a_picture_of_the_view(tab_at: Make, job_url: str, tmp_path: Path) -> None:
    told(job_url)
    ratio = 2
    tab = tab_at(job_url, device_scale_factor=ratio)
    frame = open_timeline(tab, w="20000000-30000000")
    box = bounds(ready(frame))
    more(frame)
    with tab.page.expect_download() as download:
        frame.get_by_role("button", name="Picture of the view (PNG)").click()
    assert download.value.suggested_filename == "timeline.png"
    download.value.save_as(tmp_path / "timeline.png")
    png = (tmp_path / "timeline.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    seen = inner(tab).evaluate(LOOK, base64.b64encode(png).decode())
    assert seen["size"] == [(box["width"] + NAMES) * ratio, box["height"] * ratio]
    assert seen["canvas"] == [box["width"] * ratio, box["height"] * ratio]
    assert seen["names"] > 10
    assert seen["rows"] > 10
    assert seen["other"] == 0


def test_a_window_as_a_chrome_trace(tab_at: Make, job_url: str, tmp_path: Path) -> None:
    tracks = told(job_url)["tracks"]
    tab = tab_at(job_url)
    window = {"from": "20950000", "to": "21150000"}
    frame = open_timeline(tab, w="-".join(window.values()))
    ready(frame)

    def saved() -> list[Any]:
        more(frame)
        with tab.page.expect_download() as download:
            frame.get_by_role("link", name="Chrome trace of this window").click()
        assert download.value.suggested_filename == "window.trace.json"
        download.value.save_as(tmp_path / "trace.json")
        return list(json.loads((tmp_path / "trace.json").read_bytes()))

    def wanted(**query: str) -> Counter[tuple[str, int, float]]:
        table = get_json(
            job_url, "slices", run=RUN, rank="0", limit="1000", **window, **query
        )["data"]["table"]  # fmt: skip
        values = table["values"]
        assert len(values["name"]) == table["total"] > 5
        columns = (values["name"], values["start_ns"], values["dur_ns"])
        return Counter(zip(*columns, strict=True))

    def slices(events: list[Any]) -> Counter[tuple[str, int, float]]:
        return Counter(
            (each["name"], round(each["ts"] * 1e3), round(each["dur"] * 1e3))
            for each in events
            if each["ph"] == "X"
        )

    events = saved()
    assert slices(events) == wanted()
    # Each has a thread with the name of its track, and its arguments.
    threads = {
        each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"
    }
    assert threads == {track["id"]: track["label"] for track in tracks}
    kernel = next(each for each in events if each["ph"] == "X" and "MatMul" in each["name"])
    assert kernel["args"]["Task Type"] == "AI_CORE"
    # Of the tracks that are shown alone.
    frame.get_by_label("Find a track").fill("stream 2")
    expect(frame.get_by_label("Timeline of 1 track")).to_be_visible()
    (stream,) = [str(track["id"]) for track in tracks if track["label"] == "Stream 2"]
    assert slices(saved()) == wanted(tracks=stream)


def test_the_original_file(tab_at: Make, job_url: str, job: Path, tmp_path: Path) -> None:
    told(job_url)
    tab = tab_at(job_url)
    frame = open_timeline(tab)
    ready(frame)
    more(frame)
    with tab.page.expect_download() as download:
        frame.get_by_role("link", name="Original file").click()
    download.value.save_as(tmp_path / "original.json")
    (info,) = (job / RUN).rglob("profiler_info_0.json")
    trace = info.parent / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    assert (tmp_path / "original.json").read_bytes() == trace.read_bytes()
