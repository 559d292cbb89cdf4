"""Flame graph: what called what, on the host or for the device, in a range of the timeline."""

from __future__ import annotations

from dataclasses import replace

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.timeline.calls import CallTree, add_device_time, grow
from tb_npu_plugin.backend.timeline.drawing import hue_of
from tb_npu_plugin.backend.timeline.files import TABLES as TABLES
from tb_npu_plugin.backend.timeline.ranges import Range, range_of

OPTIONS = ("from", "to", "tracks", "shift", "by")
BY = {
    "host": ("Host time", "主机时间"),
    "device": ("Device time launched", "下发的设备时间"),
    "module": ("Modules", "模块"),
    "module_device": ("Modules, device time", "模块（设备时间）"),
}
#: Nodes in one answer, and the least share of the whole that is worth one.
MAX_NODES = 5000
LEAST = 1e-4
_MODULE = "nn.Module: "


def flame(sel: Selected) -> results.Flame:
    """The call tree of the host's threads within ``from``..``to`` and on ``tracks``.

    ``by``: ``host`` weighs calls by their own duration, ``device`` by what they launched there;
    ``module`` keeps ``nn.Module`` calls alone. Raises RequestError 400 for another word.
    """
    by = sel.options.get("by") or "host"
    if by not in BY:
        raise RequestError(400, "bad-group", f"There is no flame graph by {by!r}.",
                           f"by: {', '.join(BY)}")  # fmt: skip
    wanted = range_of(sel)
    tree = CallTree()
    if wanted is not None:
        wanted = _on_the_host(wanted)
        keep = (lambda name: name.startswith(_MODULE)) if by.startswith("module") else None
        on_device = by.endswith("device")
        nodes = grow(tree, wanted, keep=keep, count=not on_device)
        if on_device:
            add_device_time(tree, wanted, nodes)
    choices = [results.Choice(k, sel.word(*words)) for k, words in BY.items()]
    total = sum(t for t, p in zip(tree.total, tree.parent, strict=True) if p < 0)
    base = wanted.base if wanted else 0
    return results.Flame(by, total, choices, _note(sel, by, tree), _nodes(tree, total, base))


def _on_the_host(wanted: Range) -> Range:
    """The framework's threads; where there are none, whatever calls CANN."""
    for kinds in (("python",), ("cann", "runtime")):
        tracks = [(f, t) for f, t in wanted.tracks if t.kind in kinds]
        if tracks:
            return replace(wanted, tracks=tracks)
    return replace(wanted, tracks=[])


def _nodes(tree: CallTree, total: float, base: int) -> results.FlameNodes:
    """The nodes that matter, by columns; what is left out stays in its parent's ``self``."""
    order = sorted(range(len(tree.name)), key=lambda n: -tree.total[n])[:MAX_NODES]
    kept = {n for n in order if tree.total[n] > 0 and tree.total[n] >= LEAST * total}
    # A parent has at least the time of its child, but equal ones may fall on either side of the cut.
    chosen: list[int] = []
    held: set[int] = {-1}
    for n, parent in enumerate(tree.parent):
        if n in kept and parent in held:
            held.add(n)
            chosen.append(n)
    place = {n: i for i, n in enumerate(chosen)}
    own = list(tree.own)
    for n in range(len(own) - 1, -1, -1):  # callers stand before what they call
        if n not in place and tree.parent[n] >= 0:
            own[tree.parent[n]] += own[n]
    return results.FlameNodes(
        name=[tree.name[n].removeprefix(_MODULE) for n in chosen],
        hue=[hue_of(tree.name[n]) for n in chosen],
        parent=[place[tree.parent[n]] if tree.parent[n] >= 0 else -1 for n in chosen],
        depth=[tree.depth[n] for n in chosen],
        total=[tree.total[n] for n in chosen],
        self=[own[n] for n in chosen],
        count=[tree.count[n] for n in chosen],
        start=[tree.start[n] - base for n in chosen],
    )


def _note(sel: Selected, by: str, tree: CallTree) -> str:
    if any(tree.total):
        return ""
    if by.startswith("module"):
        return sel.word(
            "No nn.Module calls were recorded: profile(..., with_modules=True) or with_stack=True.",
            "没有记录 nn.Module 调用：profile(..., with_modules=True) 或 with_stack=True。",
        )
    if by == "device":
        return sel.word(
            "No arrow leads from a host call to the device in this range.",
            "该区间内没有从主机调用指向设备的连线。",
        )
    return sel.word("No host calls lie in this range.", "该区间内没有主机调用。")
