"""Nothing there, something appearing, something gone, nobody answering."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tb_npu_plugin.sample import write_sample

from .conftest import Tab, free_port, tensorboard, wait_until_read
from .page import choose, grid, menu, picker, rows

Make = Callable[..., Tab]


def small_job(path: Path) -> Path:
    write_sample(path, ranks=1, steps=2, kernels_per_step=60, seed=5)
    return path


def reload_tensorboard(tab: Tab) -> None:
    tab.page.locator("app-header-reload button").click()


def test_a_capture_appears_and_goes_without_a_restart(tab_at: Make, tmp_path: Path) -> None:
    logdir = tmp_path / "runs"
    logdir.mkdir()
    small_job(tmp_path / "later")
    with tensorboard(logdir, tmp_path / "cache") as url:
        tab = tab_at(url)
        frame = tab.open()
        expect(frame.get_by_role("heading", name="No Ascend capture here yet")).to_be_visible()
        expect(frame.locator("main")).to_contain_text(str(logdir))
        expect(frame.locator("main")).to_contain_text("tb-npu sample")
        (tmp_path / "later").rename(logdir / "later")
        reload_tensorboard(tab)
        expect(frame.get_by_role("heading", level=1)).to_contain_text("per step", timeout=60_000)
        expect(picker(frame, "Run")).to_contain_text("later")

        small_job(tmp_path / "second").rename(logdir / "second")
        reload_tensorboard(tab)
        expect(frame.get_by_role("progressbar")).to_have_count(0)
        frame = tab.open(view="kernel", run="second")
        expect(rows(grid(frame, "Kernels")).first).to_be_visible(timeout=60_000)
        # What was deleted may be asked for before that is noticed.
        tab.allow("404", "500")
        shutil.rmtree(logdir / "second")
        reload_tensorboard(tab)
        gone = frame.get_by_role("heading", name="This run or recording is no longer there")
        expect(gone).to_be_visible(timeout=60_000)
        frame.get_by_role("button", name="Show the newest recording").click()
        expect(rows(grid(frame, "Kernels")).first).to_be_visible()


def test_backend_gone_and_back(tab_at: Make, tmp_path: Path) -> None:
    logdir = small_job(tmp_path / "runs" / "job").parent
    port = free_port()
    with tensorboard(logdir, tmp_path / "cache", port=port) as url:
        wait_until_read(url)
        tab = tab_at(url)
        tab.allow("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
        frame = tab.open(view="kernel")
        expect(rows(grid(frame, "Kernels")).first).to_be_visible()
    away = frame.get_by_text(re.compile("TensorBoard does not answer"))
    menu(frame, "Step time").click()
    expect(away.first).to_be_visible()
    with tensorboard(logdir, tmp_path / "cache", port=port):
        expect(away).to_have_count(0, timeout=60_000)
        expect(rows(grid(frame, "Step time")).first).to_be_visible()
        choose(frame, "Step", "12")
        expect(rows(grid(frame, "Step time"))).to_have_count(1)


def test_unknown_view_of_a_newer_version(tab_at: Make, job_url: str) -> None:
    frame = tab_at(job_url).open(view="flux")
    expect(frame.get_by_role("heading", name=re.compile("flux"))).to_be_visible()
    frame.get_by_role("link", name="Open the overview").click()
    expect(frame.get_by_role("heading", level=1)).to_contain_text("per step")


def test_bad_parameter_can_be_reset(tab_at: Make, job_url: str) -> None:
    tab = tab_at(job_url)
    tab.allow("400")
    frame = tab.open(view="memory", run="job-a", at="tea-time")
    expect(frame.get_by_text("tea-time")).to_be_visible()
    frame.get_by_role("button", name="Reset this page").click()
    expect(frame.get_by_role("heading", name="Memory over time")).to_be_visible()
