"""Call trees out of nested slices: paths of names with their time, for the flame graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tb_npu_plugin.backend.slice_index import Ints
from tb_npu_plugin.backend.timeline.files import TraceFile, flows_of
from tb_npu_plugin.backend.timeline.nesting import nested
from tb_npu_plugin.backend.timeline.places import deepest
from tb_npu_plugin.backend.timeline.ranges import Range, lanes_in
from tb_npu_plugin.backend.timeline.steps import without_number


@dataclass
class CallTree:
    """Nodes by columns; a parent stands before its children, -1 is none."""

    name: list[str] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    """Total less what is nested in it."""
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
        self.own.append(0.0)
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


#: Of one track: its rows, and the node of each; -1 for what is part of none.
Nodes = tuple[Ints, Ints]


def grow(
    tree: CallTree, wanted: Range, *, keep: Callable[[str], bool] | None = None, count: bool = True
) -> list[Nodes]:
    """Add the slices of the range's tracks to ``tree``; returns their nodes, track by track.

    A slice whose name ``keep`` refuses counts as part of what it is nested in. Time is what lies
    in the range; with ``count`` off, nodes are made without it.
    """
    found = []
    for file, track in wanted.tracks:
        names = [without_number(name) for name in file.index.names]
        kept = np.array([keep is None or keep(name) for name in names] or [True])
        calls = nested(file.index, list(lanes_in(wanted, file, track)))
        nodes = np.full(len(calls.rows), -1, dtype=np.int64)
        by_level = np.argsort(calls.levels, kind="stable")
        bounds = np.searchsorted(
            calls.levels[by_level], np.arange(calls.levels.max(initial=-1) + 2)
        )
        for low, high in pairwise(bounds.tolist()):
            here = by_level[low:high]
            parents = calls.parents[here]
            above = np.where(parents >= 0, nodes[parents], -1)
            pairs, where = np.unique(above * len(names) + calls.codes[here], return_inverse=True)
            of_pair = [
                tree.node(pair // len(names), names[pair % len(names)])
                if kept[pair % len(names)] else pair // len(names)
                for pair in pairs.tolist()
            ]  # fmt: skip
            nodes[here] = np.array(of_pair, dtype=np.int64)[where.reshape(-1)]
        if count:
            held = nodes >= 0
            for node, own in enumerate(np.bincount(nodes[held], weights=calls.selves()[held])):
                tree.own[node] += float(own)
            held &= kept[calls.codes]
            tree.add(nodes[held], calls.starts[held], (calls.ends - calls.starts)[held])
        found.append((calls.rows, nodes))
    return found


def add_device_time(tree: CallTree, wanted: Range, nodes: list[Nodes]) -> None:
    """Give each node the time of the device's slices that its calls launched (arrows lead there)."""
    for (file, track), mine in zip(wanted.tracks, nodes, strict=True):
        for node, first, length in _launched(file, track.number, wanted, mine):
            if node >= 0:
                tree.own[node] += length
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
    low, high = wanted.of(file)
    mask &= (begins >= low) & (begins < high)
    rows, of_row = nodes
    index, seen, found = file.index, set(), []
    for n in np.flatnonzero(mask).tolist():
        target = deepest(index, int(flows["to_track"][n]), int(flows["to_ns"][n]))
        caller = deepest(index, track, int(begins[n]))
        if target is None or caller is None or target in seen:
            continue
        seen.add(target)
        at = int(np.searchsorted(rows, caller))
        if at < len(rows) and rows[at] == caller:
            length = float(index.ends[target] - index.starts[target])
            found.append((int(of_row[at]), int(begins[n]), length))
    return found
