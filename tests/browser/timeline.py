"""What tests of the timeline look for: the canvas, its live text, the link, the server's answers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, expect

from .conftest import START_SECONDS, Tab, get_json

RUN = "job-a"
#: Heights of the canvas's head: the line of the whole, the steps, the ruler.
MAP, STEPS, RULER = 18, 18, 22
#: Notes what each frame writes on the canvas, and how many arrows it draws.
NOTING = """(() => {
  const seen = { frame: -1, texts: [], arrows: 0 };
  window.drawnOnTimeline = seen;
  const noting = (name, note) => {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...given) {
      if (this.canvas.className?.includes('tl-canvas')) {
        const frame = document.timeline.currentTime;
        if (frame !== seen.frame) Object.assign(seen, { frame, texts: [], arrows: 0 });
        note(...given);
      }
      return draw.apply(this, given);
    };
  };
  noting('fillText', (text, x) => seen.texts.push([text.replaceAll('\\u00a0', ' '), x]));
  noting('bezierCurveTo', () => seen.arrows++);
})()"""


def canvas(frame: Any) -> Locator:
    return frame.get_by_label(re.compile(r"^Timeline of \d+ track"))  # type: ignore[no-any-return]


def live(frame: Any) -> Locator:
    return frame.locator("#tl-live")  # type: ignore[no-any-return]


def ready(frame: Any) -> Locator:
    """The canvas, once what it shows is told."""
    expect(live(frame)).to_contain_text("slice")
    return canvas(frame)


def details(frame: Any) -> Locator:
    return frame.get_by_role("region", name="Details of the slice")  # type: ignore[no-any-return]


def bounds(found: Locator) -> dict[str, float]:
    box = found.bounding_box()
    assert box is not None
    return dict(box)


def span(tab: Tab, key: str = "w") -> tuple[float, float] | None:
    found = re.fullmatch(r"(-?\d+)-(-?\d+)", tab.state(key) or "")
    return (float(found[1]), float(found[2])) if found else None


def wait_for(tab: Tab, key: str, wanted: Callable[[str | None], bool]) -> None:
    for _ in range(100):
        if wanted(tab.state(key)):
            return
        tab.page.wait_for_timeout(100)
    raise AssertionError(f"{key}={tab.state(key)}")


def wait_for_span(tab: Tab, wanted: tuple[float, float], within: float) -> None:
    """Until the link says that ``wanted`` is shown, to ``within`` ns."""

    def shown(_: str | None) -> bool:
        now = span(tab)
        return now is not None and all(
            abs(a - b) <= within for a, b in zip(now, wanted, strict=True)
        )

    wait_for(tab, "w", shown)


def around(begin: float, end: float, air: float) -> tuple[float, float]:
    return begin - air * (end - begin), end + air * (end - begin)


def told(url: str, rank: str = "0") -> Any:
    """What the timeline is made of, once all is there: a trace is read when it is asked for."""
    deadline = time.monotonic() + START_SECONDS
    while (reply := get_json(url, "timeline", run=RUN, rank=rank))["meta"]["state"] != "ready":
        assert time.monotonic() < deadline, reply["meta"]
        time.sleep(0.1)
    return reply["data"]


def searched(url: str, find: str, at: float = -1, rank: str = "0") -> Any:
    told(url, rank)
    query = {"run": RUN, "rank": rank, "find": find, "at": str(at)}
    data = get_json(url, "timeline/search", **query)["data"]
    assert data["total"] > 0
    return data


def slice_of(url: str, id_: str, rank: str = "0") -> Any:
    return get_json(url, "timeline/slice", run=RUN, rank=rank, id=id_)["data"]


def open_timeline(tab: Tab, **state: str) -> Any:
    """The frame of an open timeline whose drawing is noted; wait for it with :func:`ready`."""
    tab.page.add_init_script(NOTING)
    return tab.open(view="timeline", run=RUN, **{"rank": "0", **state})


def inner(tab: Tab) -> Any:
    """The frame of the plugin, to wait for a function of it."""
    (frame,) = (each for each in tab.page.frames if each != tab.page.main_frame)
    return frame


def expect_written(tab: Tab, text: str, there: bool = True) -> None:
    """That the canvas has ``text`` written on it, or not."""
    inner(tab).wait_for_function(
        "([text, there]) => drawnOnTimeline.texts.some(([each]) => each.includes(text)) === there",
        arg=[text, there],
    )


def written(tab: Tab) -> dict[str, float]:
    """The texts of the last frame, and where they begin."""
    return dict(inner(tab).evaluate("drawnOnTimeline.texts"))


def expect_arrows(tab: Tab, count: int) -> None:
    inner(tab).wait_for_function("count => drawnOnTimeline.arrows === count", arg=count)


def drag(tab: Tab, start: tuple[float, float], end: tuple[float, float]) -> None:
    tab.page.mouse.move(*start)
    tab.page.mouse.down()
    tab.page.mouse.move(*end, steps=4)
    tab.page.mouse.up()


def row(frame: Any, name: str) -> Locator:
    """The name of a row of the tracks."""
    label = frame.locator(".tl-name").filter(has=frame.get_by_text(name, exact=True))
    return label.first  # type: ignore[no-any-return]


def act_on_row(frame: Any, name: str, act: str) -> None:
    """Take an act of a row's menu."""
    label = row(frame, name)
    label.hover()
    label.get_by_role("button", name=re.compile("^More")).click()
    frame.get_by_role("button", name=act, exact=True).click()


def more(frame: Any) -> None:
    frame.get_by_role("button", name="More", exact=True).click()
