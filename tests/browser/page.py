"""What tests of the page look for, by what a reader sees: roles, labels and words."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

VIEWS = {
    "overview": "Overview",
    "step": "Step time",
    "timeline": "Timeline",
    "operator": "Operators",
    "kernel": "Kernels",
    "api": "Host API",
    "memory": "Memory",
    "communication": "Communication",
    "ranks": "Ranks",
    "health": "Health",
    "files": "Files & settings",
}


def menu(frame: Any, name: str) -> Locator:
    """An entry of the menu at the left."""
    return frame.get_by_role("navigation", name="Views").get_by_role("link", name=name)


def grid(frame: Any, name: str) -> Locator:
    return frame.get_by_role("grid", name=name)


def rows(table: Locator) -> Locator:
    """The rows that are drawn, without the head."""
    return table.locator("[role=row]:not([aria-rowindex='1'])")


def head(table: Locator, label: str) -> Locator:
    return table.get_by_role("columnheader", name=re.compile(f"^{re.escape(label)}"))


def cells(table: Locator, label: str) -> list[str]:
    """The texts drawn in the column ``label``, from the top."""
    heads = table.locator("[role=columnheader] .head-label").all_inner_texts()
    labels = [text.split(" (")[0].strip() for text in heads]
    at = labels.index(label)
    found = rows(table).evaluate_all(
        "(rows, at) => rows.map(row => [Number(row.getAttribute('aria-rowindex')),"
        " row.querySelectorAll('[role=gridcell]')[at].innerText])",
        at,
    )
    return [text for _, text in sorted(found, key=lambda pair: pair[0])]


def figures(table: Locator, label: str) -> list[float]:
    """The same as numbers; a column has one unit, or this is not the column to compare by."""
    return [float(text.replace(",", "")) for text in cells(table, label)]


def row_count(table: Locator) -> int:
    return int(table.get_attribute("aria-rowcount") or 0) - 1


def expect_rows(table: Locator, count: int) -> None:
    expect(table).to_have_attribute("aria-rowcount", str(count + 1))


def filter_box(frame: Any) -> Locator:
    return frame.get_by_role("searchbox", name="Filter the rows")


def choose(frame: Any, caption: str, option: str) -> None:
    """Open one of the pickers of the bar and take an option of its list."""
    picker(frame, caption).click()
    frame.get_by_role("dialog", name=caption).get_by_role("option", name=option).first.click()


def picker(frame: Any, caption: str) -> Locator:
    return frame.get_by_role("banner").get_by_role("button", name=re.compile(f"^{caption}"))


def settled(page: Page, frame: Any) -> None:
    """Nothing is being asked for or read any more."""
    expect(frame.get_by_role("progressbar")).to_have_count(0)
