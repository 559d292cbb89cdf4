"""Views as text for a terminal, JSON for a script, CSV for a spreadsheet."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table as RichTable
from rich.text import Text

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.api import reply, view_csv
from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected, no_permission
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views import captures as captures_view
from tb_npu_plugin.backend.views import health
from tb_npu_plugin.backend.views.acceptance import acceptance
from tb_npu_plugin.backend.views.capabilities import capabilities
from tb_npu_plugin.backend.views.registry import VIEWS, View
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.reports import (
    plain_csv,
    print_capabilities,
    print_findings,
    print_json,
    print_points,
)
from tb_npu_plugin.trace_reports import call_rows, print_calls, print_tracks, track_rows

MAX_CELL = 44
#: Between two columns.
GAP = 2
#: Control and bidirectional characters: a name must not move the cursor or turn text around.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_RIGHT = ("duration", "time", "bytes", "ratio", "rate", "int", "number", "frequency")


@contextmanager
def opened(path: Path, cache: Path | None, *, read: bool = True) -> Iterator[Captures]:
    """The captures below ``path``, read with a progress bar. Raises RequestError if there are none."""
    path.stat()
    store = Store([Root(path)], Cache(cache))
    try:
        store.rescan()
        if not store.captures():
            hint = no_permission(store) or (
                "A capture is a directory with ASCEND_PROFILER_OUTPUT, profiler_info*.json, "
                "FRAMEWORK or PROF_* in it."
            )
            raise RequestError(404, "no-captures", f"No Ascend captures below {path}.", hint)
        if read:
            _read(store)
        yield Captures(store)
        sys.stdout.flush()
    except BrokenPipeError:  # head has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    finally:
        store.close()


def _read(store: Store, ready: Callable[..., bool] | None = None) -> None:
    """Wait until every file is read, or until ``ready`` with a progress bar."""
    ready = ready or store.wait
    if ready(timeout=0.3):
        return
    console = Console(stderr=True)
    bar = Progress(TextColumn("Reading {task.description}"), BarColumn(), TextColumn(
        "{task.percentage:>3.0f} %"), console=console, transient=True,
        disable=not console.is_terminal)  # fmt: skip
    with bar:
        task = bar.add_task("…", total=1.0)
        while not ready(timeout=0.2):
            progress = captures_view.progress(store)
            name = progress.jobs[0].file.rsplit("/", 1)[-1] if progress.jobs else "…"
            bar.update(task, completed=progress.progress, description=name)


#: Views whose CSV is no table of the API's.
_OWN_CSV = ("health", "timeline", "flame")


def show_view(
    captures: Captures, view: str, selection: dict[str, Any], request: TableRequest, format: str,
    out: Console, options: dict[str, str] | None = None,
) -> None:  # fmt: skip
    """Print one view. JSON has the same shape as the HTTP API."""
    found = VIEWS[view]
    sel = captures.select(**selection).first(found.most)
    sel.options = options or {}
    store = captures._store
    _read(store, partial(store.fetch, sel.captures, found.tables, sel.prefer))
    if found.no_step and not sel.steps.everything:
        Console(stderr=True).print(Text(sel.word(*found.no_step)), soft_wrap=True)
    if sel.options.get("file"):
        found.run(sel, request)  # which asks for the file
        _read(store, partial(store.wait_for, sel.asked))
    if format == "json":
        print_json(reply(sel, found, request))
        return
    if format == "csv" and view not in _OWN_CSV:
        for block in view_csv(sel, found, request):
            sys.stdout.write(block)
        return
    data = found.run(sel, request)
    if isinstance(data, results.Overview):
        _overview(data, sel, out)
    elif isinstance(data, results.Health):
        if format == "table":
            print_capabilities(data.capabilities, out, sel)
        print_findings(data.findings, out, format)
    elif isinstance(data, results.Timeline):
        if format == "csv":
            plain_csv(*track_rows(data))
        else:
            print_tracks(data, out, sel)
    elif isinstance(data, results.Flame):
        if format == "csv":
            plain_csv(*call_rows(data))
        else:
            print_calls(data, out, request.limit)
    else:
        if getattr(data, "note", ""):
            out.print(Text(data.note, style="dim"), soft_wrap=True)
        if isinstance(data, results.Ranks):
            _suspects(data, out)
        _table(data.table, out, sel)
        _source(sel, found, out)
        print_findings([f for f in health.findings(sel) if view in f.views], out)


def _source(sel: Selected, view: View, out: Console) -> None:
    """What the table was taken from, and what else it could be taken from."""
    used = ", ".join(
        dict.fromkeys(n for names in sel.provenance.values() for n in names.split(", "))
    )
    kinds = sel.store.kinds(sel.captures, view.tables[0]) if view.tables else []
    line = sel.word(f"Source: {used}", f"来源：{used}") if used else ""
    if len(kinds) > 1:
        line += f" (--source {' | '.join(kinds)})"
    out.print(Text(line, style="dim"), soft_wrap=True)


def check_all(
    captures: Captures, lang: str, format: str, out: Console, *, strict: bool = False,
    parts: bool = False,
) -> int:  # fmt: skip
    """Findings of every recording; 1 if one is an error, or with ``strict`` a point is missed.

    ``parts``: also what each view can show of each recording.
    """
    found: list[results.Finding] = []
    points: list[results.Point] = []
    shown: list[tuple[Selected, list[results.Capability]]] = []
    store = captures._store
    _read(store, partial(store.fetch, store.captures(), ["tracks"]))  # also big traces
    for run, recordings in store.runs.items():
        for recording in recordings:
            sel = captures.select(run=run, recording=recording.recording, lang=lang)
            found += health.findings(sel)
            points += acceptance(sel) if strict else []
            shown += [(sel, capabilities(sel))] if parts else []
    names = {c.capture_id: f"{c.run}/{c.name}" for c in captures}
    if format == "json":
        more: dict[str, Any] = {"points": points} if strict else {}
        if parts:
            more["parts"] = [
                {"run": s.run, "recording": s.recording.recording, "parts": p} for s, p in shown
            ]
        print_json({"findings": found, **more} if more else found)
    elif format == "csv":
        print_findings(found, out, "csv")
    else:
        for sel, listed in shown:
            out.print(Text(f"{sel.run} {sel.recording.label}", style="bold"), soft_wrap=True)
            print_capabilities(listed, out, sel)
        if found:
            print_findings(found, out, names=names)
        else:
            out.print(f"{len(captures)} capture(s): nothing to report.")
    if strict and format == "table":
        print_points(points, out, names)
    missed = any(p.status == "missed" for p in points)
    return 1 if missed or any(f.severity == "error" for f in found) else 0


def _overview(data: results.Overview, sel: Selected, out: Console) -> None:
    out.print(Text(data.headline, style="bold"), soft_wrap=True)
    out.print()
    for card in data.cards:
        ratio = (
            f"{wording.percent(card.ratio)} {sel.word('of', '占')} {card.of}"
            if card.ratio is not None
            else ""
        )
        out.print(Text(f"  {card.label:32} {wording.duration(card.value_ns):>10}  {ratio:24} "
                       f"{card.note}"), soft_wrap=True)  # fmt: skip
    out.print()
    for fact in data.facts:
        if fact.value != "–":
            out.print(Text(f"  {fact.label:20} {fact.value} {fact.note}"), soft_wrap=True)
    if data.top_kernels:
        out.print()
        _table(data.top_kernels, out, sel)
    print_findings(data.findings, out)


def _suspects(data: results.Ranks, out: Console) -> None:
    if data.verdict:
        out.print(Text(data.verdict), soft_wrap=True)
    for suspect in data.suspects:
        out.print(Text(suspect.headline, style="bold"), soft_wrap=True)
        for line in suspect.evidence:
            out.print(Text(f"  {line}"), soft_wrap=True)


def _table(table: results.Table, out: Console, sel: Selected) -> None:
    shown = [c for c in table.columns if c.key in table.values]
    if not shown:
        out.print(
            sel.word("Nothing to show here; see the findings.", "没有可显示的内容，见“数据质量”。")
        )
        return
    count = len(table.values[shown[0].key])
    cells = {c.key: [cell(c.kind, v) for v in table.values[c.key]] for c in shown}
    # A program that reads the table finds its heading in one line.
    labels = {c.key: _heading(c, cells) if out.is_terminal else c.label for c in shown}
    fitting = _fitting(shown, labels, cells, out.width)
    grid = RichTable(box=None, header_style="bold", pad_edge=False)
    for column in fitting:
        right = column.kind in _RIGHT
        grid.add_column(Text(labels[column.key]), justify="right" if right else "left",
                        overflow="ellipsis", no_wrap=True, max_width=MAX_CELL)  # fmt: skip
    for i in range(count):
        grid.add_row(*(Text(cells[c.key][i]) for c in fitting))
    out.print(grid)
    if len(fitting) < len(shown):
        left_out = ", ".join(c.key for c in shown if c not in fitting)
        out.print(Text(sel.word(f"not shown for lack of width: {left_out}",
                                f"宽度不足，未显示：{left_out}"), style="dim"))  # fmt: skip
    end = table.offset + count
    if end < table.total or table.total != table.unfiltered:
        out.print(Text(sel.word(
            f"rows {table.offset + 1}-{end} of {table.total:,}"
            + (f" (of {table.unfiltered:,} before the filter)"
               if table.total != table.unfiltered else ""),
            f"第 {table.offset + 1}-{end} 行，共 {table.total:,} 行"), style="dim"))  # fmt: skip


def _fitting(
    columns: list[results.Column], labels: dict[str, str], cells: dict[str, list[str]], width: int
) -> list[results.Column]:
    """The columns that fit the terminal without losing a character of a value; at least two."""
    kept: list[results.Column] = []
    used = -GAP
    for column in columns:
        widths = (cell_len(line) for line in labels[column.key].split("\n"))
        needed = GAP + min(MAX_CELL, max(*widths, *map(cell_len, cells[column.key]), 0))
        if used + needed > width and len(kept) >= 2:
            continue
        used += needed
        kept.append(column)
    return kept


def _heading(column: results.Column, cells: dict[str, list[str]]) -> str:
    """The label in as many lines as its values are narrow."""
    widest = max([cell_len(c) for c in cells[column.key]], default=0)
    words = max(cell_len(word) for word in column.label.split() or [""])
    return textwrap.fill(column.label, max(widest, words, 1), break_on_hyphens=False)


def cell(kind: str, value: Any) -> str:
    """One table value as a person reads it."""
    if value is None:
        return "–"
    if kind in ("duration", "time"):
        return wording.duration(value)
    if kind == "ratio":
        return wording.percent(value)
    if kind == "bytes":
        size = float(value)
        for unit in ("B", "KiB", "MiB", "GiB"):
            if abs(size) < 1024 or unit == "GiB":
                return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
            size /= 1024
    if kind == "rate":
        return f"{value / 1e9:.2f} GB/s"
    if kind == "frequency":
        return f"{value:,.0f} MHz"
    if kind == "int" and isinstance(value, int):
        return f"{value:,}"
    if kind == "number" and isinstance(value, float):
        return f"{value:g}"
    return _UNSAFE.sub(lambda m: f"\\u{ord(m.group()):04x}", str(value))
