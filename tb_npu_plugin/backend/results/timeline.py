"""Results of the timeline, of the slices in a range, and of the flame graph.

Times are ns after ``base_ns``. A track's id is ``part * 10000 + number``, a slice's ``part.row``.
"""

from __future__ import annotations

import msgspec

from tb_npu_plugin.backend.results.base import Meta, Table


class Choice(msgspec.Struct):
    id: str
    label: str


class TimelineRank(msgspec.Struct):
    """One capture. ``part``: its ordinal in the selection."""

    part: int
    rank: int | None
    label: str
    capture_id: str
    start: int
    end: int


class CounterSeries(msgspec.Struct):
    key: int
    name: str
    unit: str
    least: float
    most: float


class TimelineTrack(msgspec.Struct):
    id: int
    part: int
    kind: str
    device: int | None
    process: str
    """Heading that neighbouring tracks share."""
    label: str
    depths: int
    """Rows of slices; 0: counters alone."""
    instants: bool
    slices: int
    points: int
    start: int
    end: int
    counters: list[CounterSeries]
    unread: bool
    """The file is still being read: what is behind ``end`` is not known yet."""


class TimelineStep(msgspec.Struct):
    """A step as the host marks it."""

    part: int
    step: int | None
    name: str
    start: int
    end: int


class Alignment(msgspec.Struct):
    """``shifts``: per part, ns to add to its times; ``None`` where that cannot be told."""

    id: str
    label: str
    shifts: list[int | None]


class Timeline(msgspec.Struct):
    base_ns: str | None
    """``None``: nothing is there (yet)."""
    start: int
    end: int
    ranks: list[TimelineRank]
    tracks: list[TimelineTrack]
    kinds: list[Choice]
    colours: list[Choice]
    steps: list[TimelineStep]
    total_ranks: int
    note: str
    alignments: list[Alignment]


class TimelineReply(msgspec.Struct):
    data: Timeline
    meta: Meta


class SliceRef(msgspec.Struct):
    """A slice to jump to."""

    id: str
    track: int
    depth: int
    name: str
    start: int
    duration: float | None
    where: str


class SliceFact(msgspec.Struct):
    label: str
    value: str


class Siblings(msgspec.Struct):
    """Slices of one name on one track; ``rank``: the place of this one, 1 is the longest."""

    count: int
    total: float
    mean: float
    least: float
    most: float
    rank: int


class SliceFlow(msgspec.Struct):
    """An arrow from (``forward``) or to this slice."""

    kind: str
    forward: bool
    to: SliceRef


class SliceGap(msgspec.Struct):
    """Idle time on the track before a slice, and what the host did then."""

    before: float | None
    behind: str


class SliceDoor(msgspec.Struct):
    """Where a slice has rows of its own."""

    view: str
    label: str
    filter: str


class SliceDetail(msgspec.Struct):
    id: str
    track: int
    depth: int
    rank: int | None
    name: str
    category: str
    instant: bool
    start: int
    duration: float | None
    end: int
    self: float | None
    """Duration less what is nested in it."""
    step: int | None
    where: str
    facts: list[SliceFact]
    stack: list[str]
    siblings: Siblings
    parent: SliceRef | None
    flows: list[SliceFlow]
    flows_total: int
    previous: SliceRef | None
    next: SliceRef | None
    same_previous: SliceRef | None
    same_next: SliceRef | None
    gap: SliceGap
    doors: list[SliceDoor]


class SliceReply(msgspec.Struct):
    data: SliceDetail
    meta: Meta


class TimelineFlow(msgspec.Struct):
    kind: str
    from_track: int
    from_depth: int
    start: int
    to_track: int
    to_depth: int
    end: int


class Flows(msgspec.Struct):
    """The arrows between shown tracks in a window, and how many there are in all."""

    flows: list[TimelineFlow]
    total: int


class FlowsReply(msgspec.Struct):
    data: Flows
    meta: Meta


class TrackMatches(msgspec.Struct):
    track: int
    count: int


class Search(msgspec.Struct):
    """Slices that match: ``before`` of them come before the moment asked about, ``matches`` are the
    longest, ``tracks`` counts them."""

    total: int
    before: int
    names: int
    tracks: list[TrackMatches]
    matches: list[SliceRef]
    previous: SliceRef | None
    next: SliceRef | None


class SearchReply(msgspec.Struct):
    data: Search
    meta: Meta


class Occupancy(msgspec.Struct):
    """How much of a range a track's outermost slices cover."""

    track: int
    label: str
    busy: float
    share: float


class Slices(msgspec.Struct):
    table: Table
    occupancy: list[Occupancy]
    span: float
    """Length of the range, ns."""


class SlicesReply(msgspec.Struct):
    data: Slices
    meta: Meta


class FlameNodes(msgspec.Struct):
    """Nodes of a call tree by columns; ``parent`` is an index (-1: a root), parents come first.

    ``start``: where the first call of the node begins. ``hue``: as in windows of the timeline.
    """

    name: list[str]
    hue: list[int]
    parent: list[int]
    depth: list[int]
    total: list[float]
    self: list[float]
    count: list[int]
    start: list[int]


class Flame(msgspec.Struct):
    kind: str
    total: float
    by: list[Choice]
    note: str
    nodes: FlameNodes


class FlameReply(msgspec.Struct):
    data: Flame
    meta: Meta
