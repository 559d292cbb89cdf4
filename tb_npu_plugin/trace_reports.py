"""Tracks of a timeline and call trees, as text for a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.wording import printable


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
