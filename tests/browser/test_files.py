"""Files: those that no view is made of open as tables of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect
from small_captures import OUTPUT, STEPS, info, write_capture

from .conftest import Tab, tensorboard, wait_until_read
from .page import grid, rows

Make = Callable[..., Tab]


def test_a_file_opens_as_a_table_and_back(tab_at: Make, tmp_path: Path) -> None:
    capture = write_capture(tmp_path / "runs/cap", info(0), step_trace_time=STEPS)
    (capture / OUTPUT / "nic.csv").write_text("Device_id,Bandwidth(MB/s)\n0,12.5\n1,<b>13\n")
    with tensorboard(tmp_path / "runs", tmp_path / "cache") as url:
        wait_until_read(url)
        tab = tab_at(url)
        frame = tab.open(view="files")
        expect(rows(grid(frame, "Files & settings"))).to_have_count(3)
        frame.get_by_role("link", name=f"{OUTPUT}/nic.csv").click()
        table = grid(frame, f"{OUTPUT}/nic.csv")
        expect(rows(table)).to_have_count(2)
        expect(table).to_contain_text("Bandwidth(MB/s)")
        expect(table).to_contain_text("<b>13")
        assert tab.state("file") == f"{OUTPUT}/nic.csv"
        frame.get_by_role("link", name="All files").click()
        expect(rows(grid(frame, "Files & settings"))).to_have_count(3)
        assert tab.state("file") is None
        tab.page.go_back()
        expect(rows(grid(frame, f"{OUTPUT}/nic.csv"))).to_have_count(2)
