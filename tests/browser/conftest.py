"""A real TensorBoard and a real Chromium. A page that logs an error, breaks the CSP or asks another
host fails the test it was opened in."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api")
#: Generous: a slow machine is no failure.
playwright.expect.set_options(timeout=20_000)

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
START_SECONDS = 60
#: TensorBoard's own page says this of itself; it is not ours.
NOT_OURS = ("Multiple instances of Three.js",)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of Debian's Chromium; skips without, fails where it is required."""
    path = shutil.which("chromium")
    if path:
        return path
    if os.environ.get("TB_NPU_REQUIRE_BROWSER") == "1":
        pytest.fail("chromium is not installed: scripts/install_browser.sh")
    pytest.skip("chromium is not installed")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


#: Servers that were stopped, by a test or because it ended.
ENDED: set[str] = set()


@contextmanager
def tensorboard(logdir: Path, cache: Path, *flags: str, port: int = 0) -> Iterator[str]:
    """TensorBoard on 127.0.0.1; yields its URL and stops it afterwards."""
    port = port or free_port()
    log = cache.with_suffix(".log")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host",
             "127.0.0.1", "--port", str(port), "--npu_cache", str(cache), *flags],
            stdout=out, stderr=out,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/data/plugins_listing", timeout=5)
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(log.read_text(errors="replace")) from None
                time.sleep(0.1)
        ENDED.discard(f"http://127.0.0.1:{port}/")
        yield f"http://127.0.0.1:{port}/"
    finally:
        ENDED.add(f"http://127.0.0.1:{port}/")
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def get_json(url: str, route: str, **query: str) -> Any:
    """What a route of the plugin answers."""
    asked = f"{url}data/plugin/npu_profiler/{route}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(asked, timeout=30) as reply:
        return json.load(reply)


def wait_until_read(url: str) -> None:
    """Until every capture below the logdir has been found and read."""
    deadline = time.monotonic() + 2 * START_SECONDS
    while True:
        captures = get_json(url, "captures")["data"]
        idle = get_json(url, "progress")["data"]["state"] == "idle"
        if idle and captures["runs"] and not captures["scanning"]:
            return
        assert time.monotonic() < deadline, captures
        time.sleep(0.2)


@dataclass
class Tab:
    """The Ascend NPU tab in one browser page."""

    page: Any
    url: str
    problems: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def allow(self, *texts: str) -> None:
        """Problems that hold one of ``texts`` are what the test is about."""
        self.allowed += texts

    def report(self, problem: str) -> None:
        if self.url in ENDED and "net::ERR_" in problem:
            return  # a test ends its server before the page that still asks it
        if not any(text in problem for text in (*NOT_OURS, *self.allowed)):
            self.problems.append(problem)

    def open(self, **state: str) -> Any:
        """Open the tab with a deep link and return its frame, once it shows something."""
        quote = urllib.parse.quote
        state = {"lang": "en", **state}
        keys = "".join(f"&p.npu_profiler.{k}={quote(v)}" for k, v in state.items())
        self.page.goto("about:blank")
        self.page.goto(f"{self.url}#npu_profiler{keys}")
        return self.frame()

    def frame(self) -> Any:
        frame = self.page.frame_locator("iframe").first
        frame.locator("main").wait_for(timeout=20_000)
        return frame

    def hash(self) -> str:
        return str(self.page.evaluate("location.hash"))

    def state(self, key: str) -> str | None:
        """The value of a ``p.npu_profiler.*`` key in the link."""
        for part in self.hash().lstrip("#").split("&"):
            name, _, value = part.partition("=")
            if name == f"p.npu_profiler.{key}":
                return str(self.page.evaluate("v => decodeURIComponent(v)", value))
        return None


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def tab_at(browser: Any) -> Iterator[Callable[..., Tab]]:
    """Make a :class:`Tab` at a TensorBoard URL; checks at the end that nothing went wrong."""
    made: list[tuple[Tab, Any]] = []

    def make(url: str, *, size: tuple[int, int] = (1440, 900), **options: Any) -> Tab:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, accept_downloads=True, **options
        )
        page = context.new_page()
        tab = Tab(page, url)
        host = url.split("/")[2]

        def console(message: Any) -> None:
            if message.type == "error":
                tab.report(f"console: {message.text}")

        def request(sent: Any) -> None:
            address = sent.url
            if address.startswith("http") and address.split("/")[2] != host:
                tab.report(f"another host: {address}")

        page.on("console", console)
        page.on("pageerror", lambda error: tab.report(f"page error: {error}"))
        page.on("request", request)
        made.append((tab, context))
        return tab

    yield make
    for tab, context in made:
        context.close()
        assert tab.problems == []


@pytest.fixture(scope="session")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated logdir: an 8-rank job of four steps, and a smaller run beside it."""
    from tb_npu_plugin.sample import write_sample

    logdir = tmp_path_factory.mktemp("runs")
    write_sample(logdir / "job-a", ranks=8, steps=4, kernels_per_step=120, seed=3, straggler=5)
    write_sample(logdir / "job-b", ranks=1, steps=2, kernels_per_step=60, level=0, seed=4)
    return logdir


@pytest.fixture(scope="session")
def job_url(job: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with tensorboard(job, tmp_path_factory.mktemp("tb") / "cache") as url:
        wait_until_read(url)
        yield url


@pytest.fixture(scope="session")
def real_url(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """TensorBoard over the real captures."""
    with tensorboard(shared / "captures", tmp_path_factory.mktemp("tb") / "cache") as url:
        wait_until_read(url)
        yield url


@pytest.fixture(scope="session")
def many_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    from tb_npu_plugin.sample import write_sample

    logdir: Path = tmp_path_factory.mktemp("many")
    write_sample(logdir, ranks=64, steps=2, kernels_per_step=20, seed=5)
    with tensorboard(logdir, tmp_path_factory.mktemp("tb") / "cache") as url:
        wait_until_read(url)
        yield url
