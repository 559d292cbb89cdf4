"""Call trees out of nested slices: paths of names with their time, for the flame graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from tb_npu_plugin.backend.slice_index import Ints
from tb_npu_plugin.backend.timeline.files import TraceFile, flows_of
from tb_npu_plugin.backend.timeline.places import deepest
from tb_npu_plugin.backend.timeline.ranges import Range, lanes_in


@dataclass
class CallTree:
    """Nodes by columns; a parent stands before its children, -1 is none."""

    name: list[str] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    count: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    _known: dict[tuple[int, str], int] = field(default_factory=dict)

    def node(self, parent: int, name: str) -> int:
        known = self._known.get((parent, name))
        if known is not None:
            return known
        self._known[parent, name] = found = len(self.name)
        self.name.append(name)
        self.parent.append(parent)
        self.depth.append(0 if parent < 0 else self.depth[parent] + 1)
        self.total.append(0.0)
        self.count.append(0)
        self.start.append(2**62)
        return found

    def add(self, nodes: Ints, starts: Ints, lengths: Ints) -> None:
        """Count calls, each of a node, with the time it took."""
        different, where = np.unique(nodes, return_inverse=True)
        where = where.reshape(-1)
        totals, counts = np.bincount(where, weights=lengths), np.bincount(where)
        firsts = np.full(len(different), 2**62, dtype=np.int64)
        np.minimum.at(firsts, where, starts)
        for i, node in enumerate(different.tolist()):
            self.total[node] += float(totals[i])
            self.count[node] += int(counts[i])
            self.start[node] = min(self.start[node], int(firsts[i]))


#: Of one track: per lane its first row and the node of each of its slices.
Nodes = list[tuple[int, Ints]]
Lane = tuple[Any, int, int, Ints, Ints]
#: Slices of a track that are nested one by one where they overlap without nesting. Past that, they
#: are nested by their depths, and some callers may be missing.
MAX_ONE_BY_ONE = 2_000_000


def grow(
    tree: CallTree, wanted: Range, *, keep: Callable[[str], bool] | None = None, count: bool = True
) -> list[Nodes]:
    """Add the slices of the range's tracks to ``tree``; returns their nodes, track by track.

    A slice whose name ``keep`` refuses counts as part of what it is nested in. Time is what lies
    in the range; with ``count`` off, nodes are made without it.
    """
    found = []
    for file, track in wanted.tracks:
        names = file.index.names
        kept = [keep is None or keep(name) for name in names]
        lanes = list(lanes_in(wanted, file, track))
        codes = [file.index.codes[low:high].astype(np.int64) for _, low, high, _, _ in lanes]
        overlapping = not _nested_by_depth(lanes)
        few = sum(len(c) for c in codes) <= MAX_ONE_BY_ONE
        nodes = (_one_by_one if overlapping and few else _by_depth)(tree, lanes, codes, names, kept)
        if count:
            for (_, _, _, starts, ends), code, here in zip(lanes, codes, nodes, strict=True):
                own = (here >= 0) & np.array(kept)[code]
                tree.add(here[own], starts[own], (ends - starts)[own])
        found.append([(low, here) for (_, low, _, _, _), here in zip(lanes, nodes, strict=True)])
    return found


def _nested_by_depth(lanes: list[Lane]) -> bool:
    """Whether every slice lies within one of the depth before it."""
    for outer, inner in pairwise(lanes):
        at = np.searchsorted(outer[3], inner[3], side="right") - 1
        if (at < 0).any() or (outer[4][at] < inner[4]).any():
            return False
    return True


def _by_depth(
    tree: CallTree, lanes: list[Lane], codes: list[Ints], names: list[str], kept: list[bool]
) -> list[Ints]:
    nodes: list[Ints] = []
    for lane, (_, _, _, starts, _) in enumerate(lanes):
        above = np.full(len(starts), -1, dtype=np.int64)
        if lane:
            at = np.searchsorted(lanes[lane - 1][3], starts, side="right") - 1
            inside = (at >= 0) & (lanes[lane - 1][4][np.maximum(at, 0)] > starts)
            above[inside] = nodes[lane - 1][at[inside]]
        pairs, where = np.unique(above * len(names) + codes[lane], return_inverse=True)
        of_pair = [
            tree.node(pair // len(names), names[pair % len(names)])
            if kept[pair % len(names)] else pair // len(names)
            for pair in pairs.tolist()
        ]  # fmt: skip
        nodes.append(np.array(of_pair, dtype=np.int64)[where.reshape(-1)])
    return nodes


def _one_by_one(
    tree: CallTree, lanes: list[Lane], codes: list[Ints], names: list[str], kept: list[bool]
) -> list[Ints]:
    """As :func:`_by_depth`, by time alone: what began last and is still open is the caller.

    Where slices overlap without nesting (markers of steps among Python's frames) depths say where
    they are drawn, not what they are part of.
    """
    starts = np.concatenate([lane[3] for lane in lanes])
    ends = np.concatenate([lane[4] for lane in lanes])
    order = np.lexsort((-ends, starts))
    out = np.empty(len(starts), dtype=np.int64)
    stack: list[tuple[int, int]] = []
    every = np.concatenate(codes)
    columns = (order, starts[order], ends[order], every[order])
    for at, start, end, code in zip(*(c.tolist() for c in columns), strict=True):
        while stack and stack[-1][0] <= start:
            stack.pop()
        above = stack[-1][1] if stack else -1
        node = tree.node(above, names[code]) if kept[code] else above
        out[at] = node
        stack.append((end, node))
    bounds = np.cumsum([0, *(len(c) for c in codes)])
    return [out[low:high] for low, high in pairwise(bounds.tolist())]


def add_device_time(tree: CallTree, wanted: Range, nodes: list[Nodes]) -> None:
    """Give each node the time of the device's slices that its calls launched (arrows lead there)."""
    for (file, track), mine in zip(wanted.tracks, nodes, strict=True):
        for node, first, length in _launched(file, track.number, wanted, mine):
            while node >= 0:
                tree.total[node] += length
                tree.count[node] += 1
                tree.start[node] = min(tree.start[node], first)
                node = tree.parent[node]


def _launched(
    file: TraceFile, track: int, wanted: Range, nodes: Nodes
) -> list[tuple[int, int, float]]:
    """(node, moment of the call, ns on the device) for every device slice launched from a track."""
    flows = flows_of(file.store, str(file.paths["flows"]))
    device = [t.number for t in file.tracks if t.kind == "hardware"]
    begins = flows["from_ns"]
    mask = (flows["from_track"] == track) & np.isin(flows["to_track"], device)
    mask &= (begins >= wanted.begin) & (begins < wanted.end)
    index, seen, found = file.index, set(), []
    for n in np.flatnonzero(mask).tolist():
        target = deepest(index, int(flows["to_track"][n]), int(flows["to_ns"][n]))
        caller = deepest(index, track, int(begins[n]))
        if target is None or caller is None or target in seen:
            continue
        seen.add(target)
        for first, of_row in nodes:
            if first <= caller < first + len(of_row):
                length = float(index.ends[target] - index.starts[target])
                found.append((int(of_row[caller - first]), int(begins[n]), length))
                break
    return found
