"""Names that come from a file are text, whatever is in them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from .conftest import Tab, tensorboard, wait_until_read
from .page import filter_box, grid, rows

Make = Callable[..., Tab]
#: Elements that only a name taken for markup could have made.
FOREIGN = "img, script, svg[onload], iframe, object, embed, a[href^='javascript']"


def test_hostile_names_are_text(tab_at: Make, cases: Path, tmp_path: Path) -> None:
    logdir = tmp_path / "runs" / "<b onmouseover=alert(1)>bold & $(x)"
    logdir.mkdir(parents=True)
    shutil.copytree(cases / "C16-operator-hostile-names", logdir / "rank0_ascend_pt")
    with tensorboard(tmp_path / "runs", tmp_path / "cache") as url:
        wait_until_read(url)
        tab = tab_at(url)
        frame = tab.open(view="operator")
        table = grid(frame, "Operators")
        expect(rows(table)).to_have_count(4)
        expect(table).to_contain_text("<")
        assert frame.locator(f"main :is({FOREIGN})").count() == 0
        # A name of 20,000 characters is elided in the table and whole on demand.
        lengths = [
            len(text) for text in table.locator("[role=gridcell]:first-child").all_inner_texts()
        ]
        assert max(lengths) <= 310
        box, filtered = filter_box(frame), 0
        for at in range(4):
            rows(table).nth(at).dblclick()
            detail = frame.get_by_role("complementary", name=f"Row {at + 1}")
            expect(detail.locator("dd").first).not_to_be_empty()
            more = detail.get_by_role("button", name="characters")
            if more.count():
                more.first.click()
                assert len(detail.inner_text()) > 19_000
            # The link holds a name unless that would make it as long as the name.
            by_name = detail.locator("dd").first.get_by_role("button", name="Filter by this")
            if by_name.count():
                by_name.click()
                expect(rows(table)).to_have_count(1)
                box.fill("")
                expect(rows(table)).to_have_count(4)
                filtered += 1
            else:
                detail.get_by_role("button", name="Close").click()
            expect(detail).to_have_count(0)
        assert filtered == 3
        assert frame.locator(f"main :is({FOREIGN})").count() == 0
        # The run's own name, in the bar and in its list.
        frame.get_by_role("banner").get_by_role("button", name="Run").click()
        expect(frame.get_by_role("option").first).to_contain_text("<b onmouseover=alert(1)>bold")
        assert frame.locator("header b, [role=option] b").count() == 0
