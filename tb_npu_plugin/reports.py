"""What there is, what it can show, what is wrong with it: as text for a terminal."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.findings import ordered, render
from tb_npu_plugin.backend.i18n import Lang
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.tables import csv_cell
from tb_npu_plugin.backend.views import captures as captures_view

_GLYPH = {"error": "✖", "warning": "▲", "info": "●"}
_STYLE = {"error": "red", "warning": "yellow", "info": "blue"}

_STATUS = {
    "available": ("✓", "green", ("available", "可用")),
    "partial": ("◐", "yellow", ("partial", "部分")),
    "none": ("–", "dim", ("does not apply", "不适用")),
    "missing": ("–", "dim", ("missing", "缺失")),
    "reading": ("…", "blue", ("reading", "读取中")),
}


def listing(store: Store, format: str, out: Console, lang: Lang = "en") -> None:
    """Captures by run and recording, how far each has come, and what brings it further."""
    rows, told = [], []
    for run, recording, capture in _captures(store):
        state, note = captures_view.condition(store, capture)
        rows.append(
            {"run": run, "recording": recording, "rank": capture.rank, "worker": capture.worker,
             "level": capture.info.level, "state": state,
             "sources": "+".join(captures_view.sources(store, capture)),
             "path": wording.printable(str(capture.path)), "remedy": ""}
        )  # fmt: skip
        if note:
            told.append(render(note, lang, capture.capture_id, capture.rank, capture.framework))
            rows[-1]["remedy"] = told[-1].remedy
    if format == "json":
        print_json(rows)
        return
    columns = ["run", "recording", "rank", "level", "state", "sources", "path"]
    if format == "csv":
        columns.append("remedy")
        plain_csv(columns, [[row[c] for c in columns] for row in rows])
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in columns:
        table.add_column(name, no_wrap=name != "path", overflow="fold")
    for row in rows:
        table.add_row(*(Text("–" if row[c] in (None, "") else str(row[c])) for c in columns))
    out.print(table)
    names = {c.capture_id: f"{run}/{c.name}" for run, _, c in _captures(store)}
    print_findings(ordered(told), out, names=names)


def _captures(store: Store) -> Iterable[tuple[str, str, Capture]]:
    for run, recordings in store.runs.items():
        for recording in recordings:
            yield from ((run, recording.recording, c) for c in recording.captures)


def who(ranks: list[int | None], sel: Selected) -> str:
    """``ranks 0-3``; captures without a rank are counted."""
    known = wording.ranks(ranks)
    if known and None not in ranks:
        return sel.word(f"{'ranks' if len(ranks) > 1 else 'rank'} {known}", f"Rank {known}")
    return sel.word(f"{len(ranks)} capture(s)", f"{len(ranks)} 个采集")


def print_capabilities(found: list[results.Capability], out: Console, sel: Selected) -> None:
    """A line per part of a view; below it why it is not there, and the setting that fills it."""
    width = max((len(c.key) for c in found), default=0)
    for part in found:
        glyph, style, words = _STATUS[part.status]
        line = Text(f"{glyph} {part.key:{width}}  ")
        line.append(sel.word(*words), style=style)
        out.print(line, soft_wrap=True)
        for case in part.cases:
            if not case.reason:
                continue
            told = f"{who(case.ranks, sel)}: " if len(part.cases) > 1 else ""
            out.print(Text(f"    {told}{case.reason}"), soft_wrap=True)
            if case.remedy:
                out.print(Text(f"    → {case.remedy}", style="dim"), soft_wrap=True)


_POINT = {"ok": ("✓", "green"), "missed": ("✖", "red"), "none": ("–", "dim")}


def print_points(points: list[results.Point], out: Console, names: dict[str, str]) -> None:
    """A line per point of a good capture; below it what is missed, where, and the remedy."""
    shown = ""
    for point in points:
        if point.capture_id != shown:
            shown = point.capture_id
            out.print(Text(names.get(shown, shown), style="bold"), soft_wrap=True)
        glyph, style = _POINT[point.status]
        out.print(Text(f"  {glyph} ", style=style) + Text(point.label), soft_wrap=True)
        if point.status == "ok":
            continue
        where = f"{point.file}: " if point.file else ""
        out.print(Text(f"      {where}{point.message}", style="dim"), soft_wrap=True)
        if point.remedy and point.status == "missed":
            out.print(Text(f"      → {point.remedy}", style="dim"), soft_wrap=True)


def print_findings(
    found: list[results.Finding], out: Console, format: str = "table",
    names: dict[str, str] | None = None,
) -> None:  # fmt: skip
    if format == "csv":
        keys = ["severity", "code", "rank", "file", "place", "message", "remedy"]
        plain_csv(keys, [[getattr(f, k) for k in keys] for f in found])
        return
    if found:
        out.print()
    for f in found:
        where = [_where(f, names), f.file or "", f.place or ""]
        line = Text(f"{_GLYPH[f.severity]} {f.severity} {f.code}  ", style=_STYLE[f.severity])
        line.append(" · ".join(w for w in where if w), style="dim")
        out.print(line, soft_wrap=True)
        out.print(Text(f"  {f.message}"), soft_wrap=True)
        out.print(Text(f"  → {f.remedy}", style="dim"), soft_wrap=True)


def _where(f: results.Finding, names: dict[str, str] | None) -> str:
    if len(f.ranks) > 1:
        known = wording.ranks(f.ranks)
        return f"ranks {known}" if known and None not in f.ranks else f"{len(f.ranks)} captures"
    if names:
        return names.get(f.capture_id or "", "")
    return f"rank {f.rank}" if f.rank is not None else ""


def plain_csv(columns: list[str], rows: list[list[Any]]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(columns)
    writer.writerows([csv_cell(value) for value in row] for row in rows)


def print_json(value: Any) -> None:
    """JSON is UTF-8, whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
