"""Results of the communication view."""

from __future__ import annotations

import msgspec

from tb_npu_plugin.backend.results.base import Meta, Table


class LinkTraffic(msgspec.Struct):
    """What went over one link type. ``time_ns`` is over all planes, not a part of the elapse."""

    link: str
    size_bytes: float | None
    time_ns: float | None
    bandwidth_bytes_per_s: float | None
    """Size over time; ``None`` where no time passed or either is unknown."""
    large_packet_ratio: float | None
    packets: int | None
    sum_of_others: bool
    """SDMA: HCCS + PCIE + SIO. Never add it to them."""


class CommunicationRank(msgspec.Struct):
    """Sums over the operations of one capture: ``elapse = transit + wait + idle + rest``.

    The times cover the operations whose parts are all known; ``incomplete`` are left out of them.
    """

    rank: int | None
    label: str
    operations: int
    incomplete: int
    elapse_ns: float | None
    transit_ns: float | None
    wait_ns: float | None
    idle_ns: float | None
    rest_ns: float | None
    """What the parts miss of the elapse: 0 where they add up."""
    synchronization_ns: float | None
    """A part of the wait: before the first transit."""
    transit_of_elapse_ratio: float | None
    wait_of_elapse_ratio: float | None
    idle_of_elapse_ratio: float | None
    wait_ratio: float | None
    """Wait / (wait + transit), as the exporter defines it."""
    synchronization_ratio: float | None
    """Synchronisation / (synchronisation + transit)."""
    size_bytes: float | None
    not_overlapped_ns: float | None
    """Of all operations: the time within them in which nothing computes."""
    links: list[LinkTraffic]


class MatrixKey(msgspec.Struct):
    """One choice of rows for the heat map (parameter ``key``)."""

    key: str
    label: str


class MatrixRank(msgspec.Struct):
    """One row and column of the matrix. ``rank`` is None where only the position is known."""

    label: str
    rank: int | None
    position: int | None
    group: str | None
    """The communication group that ``position`` counts in."""
    ranks: str | None
    """As the ``rank`` parameter takes them: several where neighbours share a row; ``None`` where only
    the position is known."""


class RankMatrix(msgspec.Struct):
    """Rank to rank, dense: cell ``src * len(ranks) + dst`` of each array; ``None``: no such link."""

    key: str
    keys: list[MatrixKey]
    ranks: list[MatrixRank]
    size_bytes: list[float | None]
    time_ns: list[float | None]
    bandwidth_bytes_per_s: list[float | None]
    """Without LOCAL copies: they are ten times any link and would hide the rest."""
    transport: list[int]
    """Index into ``transports``; -1: no such link."""
    transports: list[str]
    local_bandwidth_bytes_per_s: list[float | None]
    """Per rank, the bandwidth of its LOCAL copies, for those who want the diagonal."""
    total_ranks: int
    """Ranks there are; ``ranks`` holds the first of them where they are too many."""
    total_keys: int
    note: str
    """How ranks were numbered, and what is left out, in a sentence."""


class Communication(msgspec.Struct):
    note: str
    ranks: list[CommunicationRank]
    total_ranks: int
    """Captures with communication; ``ranks`` holds the first of them where they are too many."""
    table: Table
    matrix: RankMatrix | None
    """Only for ``group=matrix``."""
    peaks: str
    """Peaks of links in GB/s, one direction: ``HCCS=28 RDMA=25``; "" where unknown."""


class CommunicationReply(msgspec.Struct):
    data: Communication
    meta: Meta
