"""Tracks of a timeline and call trees, as text for a terminal or as CSV."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.wording import printable

Rows = tuple[list[str], list[list[Any]]]


def print_tracks(data: results.Timeline, out: Console, sel: Selected) -> None:
    """The tracks of a timeline, with how much is on each."""
    if data.note:
        out.print(Text(data.note, style="dim"), soft_wrap=True)
    table = Table(box=None, header_style="bold")
    for label in (
        sel.word("Rank", "卡"), sel.word("Process", "进程"), sel.word("Track", "轨道"),
        sel.word("Rows", "行"), sel.word("Slices", "区间"), sel.word("Counter values", "计数值"),
        sel.word("From", "起"), sel.word("To", "止"),
    ):  # fmt: skip
        table.add_column(label, overflow="fold")
    ranks = {rank.part: rank.label for rank in data.ranks}
    for track in data.tracks:
        cells = (
            ranks[track.part], track.process, track.label, str(track.depths), f"{track.slices:,}",
            f"{track.points:,}", wording.duration(track.start), wording.duration(track.end),
        )  # fmt: skip
        table.add_row(*(Text(printable(cell)) for cell in cells))
    out.print(table)


def track_rows(data: results.Timeline) -> Rows:
    """(columns, rows) for CSV: one row per track; times in ns after ``base_ns``, the first event.

    Raises RequestError 409 where there is none.
    """
    if not data.tracks:
        raise _nothing(data.note)
    ranks = {rank.part: rank for rank in data.ranks}
    columns = ["id", "rank", "kind", "device", "process", "track", "depths", "slices", "points",
               "base_ns", "start_ns", "end_ns"]  # fmt: skip
    return columns, [
        [t.id, ranks[t.part].rank, t.kind, t.device, t.process, t.label, t.depths, t.slices,
         t.points, data.base_ns, t.start, t.end]
        for t in data.tracks
    ]  # fmt: skip


def call_rows(data: results.Flame) -> Rows:
    """(columns, rows) for CSV: every node of the call tree; ``parent`` is the number of a row.

    Raises RequestError 409 where there is none.
    """
    if not data.nodes.name:
        raise _nothing(data.note)
    nodes = data.nodes
    paths: list[str] = []
    for name, parent in zip(nodes.name, nodes.parent, strict=True):
        paths.append(name if parent < 0 else f"{paths[parent]} > {name}")
    columns = [
        "node",
        "parent",
        "depth",
        "name",
        "path",
        "count",
        "total_ns",
        "self_ns",
        "start_ns",
    ]
    return columns, [
        [i, None if nodes.parent[i] < 0 else nodes.parent[i], nodes.depth[i], nodes.name[i],
         paths[i], nodes.count[i], nodes.total[i], nodes.self[i], nodes.start[i]]
        for i in range(len(paths))
    ]  # fmt: skip


def _nothing(note: str) -> RequestError:
    return RequestError(409, "nothing-to-export", "There is nothing to export here.",
                        note or "No trace of these captures is read; see Health.")  # fmt: skip


def print_calls(data: results.Flame, out: Console, limit: int) -> None:
    """The heaviest ``limit`` nodes of a call tree, indented."""
    if data.note:
        out.print(Text(data.note), soft_wrap=True)
    nodes = data.nodes
    heaviest = sorted(range(len(nodes.name)), key=lambda n: -nodes.total[n])[:limit]
    children: dict[int, list[int]] = {}
    for node in heaviest:
        children.setdefault(nodes.parent[node], []).append(node)
    waiting = children.get(-1, [])[::-1]
    while waiting:
        node = waiting.pop()
        share = wording.percent(wording.share(nodes.total[node], data.total))
        line = f"{wording.duration(nodes.total[node]):>9} {share:>7} {nodes.count[node]:>6}×  "
        name = printable(nodes.name[node])
        out.print(Text(line + "  " * nodes.depth[node] + name), no_wrap=True, crop=False)
        waiting += children.get(node, [])[::-1]
