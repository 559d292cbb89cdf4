"""What a capture can show, the points of a good one, tracks and call trees, as text for a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.wording import printable

_STATUS = {
    "available": ("✓", "green", ("available", "可用")),
    "partial": ("◐", "yellow", ("partial", "部分")),
    "missing": ("–", "dim", ("missing", "缺失")),
    "reading": ("…", "blue", ("reading", "读取中")),
}


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


def print_tracks(data: results.Timeline, out: Console, sel: Selected) -> None:
    """The tracks of a timeline, with how much is on each."""
    if data.note:
        out.print(Text(data.note, style="dim"), soft_wrap=True)
    table = RichTable(box=None, header_style="bold")
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
