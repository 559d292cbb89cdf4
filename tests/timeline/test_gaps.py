"""Idle gaps of the device in a window."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.timeline.drawing import Window, window
from tb_npu_plugin.backend.views.timeline import timeline

from .test_hostile import device, shown, x
from .test_timeline import parsed

MS = 1_000_000


def told(sel: Selected, wanted: Window) -> list[tuple[int, int, int]]:
    """(begin, length, whole duration) of each gap, in µs."""
    header, column = parsed(window(sel, wanted))
    found = []
    for track, first, count in header["gaps"]:
        assert track in {t.id for t in timeline(sel).tracks if t.kind == "hardware"}
        for i in range(first, first + count):
            begin = wanted.begin + float(column["gap_start"][i]) * header["tick"]
            length = float(column["gap_length"][i]) * header["tick"]
            found.append((round(begin / 1e3), round(length / 1e3),
                          round(float(column["gap_duration"][i]) / 1e3)))  # fmt: skip
    return found


@pytest.fixture
def events() -> list[dict[str, object]]:
    """B begins within A and outlives it; the host's own pause is no gap of the device."""
    return device([
        x("op", 0, 10), x("op", 5000, 10),
        x("A", 1000, 100, pid=9), x("B", 1050, 450, pid=9), x("C", 2000, 100, pid=9),
        x("D", 2105, 100, pid=9), x("E", 9000, 1000, pid=9),
    ])  # fmt: skip


def test_where_nothing_of_a_stream_runs(tmp_path: Path, events: list[dict[str, object]]) -> None:
    with shown(tmp_path, events) as sel:
        wide = Window(0, 10 * MS, 1000)
        assert told(sel, wide) == [(1500, 500, 500), (2205, 6795, 6795)]
        # 5 µs from C to D are a launch, however near one looks.
        assert told(sel, Window(2 * MS, 2.2 * MS, 1000)) == []


def test_a_gap_is_told_whole_where_the_window_cuts_it(
    tmp_path: Path, events: list[dict[str, object]]
) -> None:
    with shown(tmp_path, events) as sel:
        assert told(sel, Window(3 * MS, 4 * MS, 1000)) == [(3000, 1000, 6795)]
        assert told(sel, Window(1.2 * MS, 1.6 * MS, 1000)) == [(1500, 100, 500)]
        assert told(sel, Window(0, 0.9 * MS, 1000)) == []
        moved = Window(3 * MS, 4 * MS, 1000, shifts={0: MS})
        assert told(sel, moved) == [(3205, 795, 6795)]
        # Too narrow to be seen.
        assert told(sel, Window(0, 100 * MS, 100)) == []
