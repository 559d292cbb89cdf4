"""communication.json: per step and operation, times, link types and packet sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Rows, Source
from tb_npu_plugin.backend.readers.columns import Columns
from tb_npu_plugin.backend.readers.communication_values import (
    LEVELS,
    TOTAL,
    Values,
    bandwidth,
    cells,
    split_group,
    step_of,
)
from tb_npu_plugin.backend.readers.json_members import Member, members
from tb_npu_plugin.backend.schema.communication import (
    COMM_LINKS,
    COMM_OPS,
    COMM_PACKETS,
    MEGABYTE,
    type_of,
)

VERSION = 1
TABLES = ("comm_ops", "comm_links", "comm_packets")
_NAME = re.compile(r"^communication\.json(\.gz)?$")
_TIMES, _LINKS = "Communication Time Info", "Communication Bandwidth Info"
_INFO = {_TIMES, _LINKS}
#: What the link type SDMA sums up.
_SDMA_PARTS = ("HCCS", "PCIE", "SIO")
#: Parts may miss the whole by this much (times are doubles of ms).
SUM_TOLERANCE_NS = 1_000.0
SUM_TOLERANCE_RATIO = 0.005


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``comm_ops``, ``comm_links`` and ``comm_packets``, in file order.

    Step key ``step`` without a number is NULL; ``Total Op Info`` is not an operation. Unknown
    times and sizes are NULL; a size without time has no bandwidth.
    """
    yield from operations(source, members(source, LEVELS))


def operations(source: Source, found: Iterable[Member]) -> Iterator[Rows]:
    """The three tables of operations that stand as in this file, wherever they come from."""
    tables = _Tables(source)
    for member in found:
        tables.add(member)
    tables.tell()
    filled = (tables.ops, tables.links, tables.packets)
    for columns in filled:
        columns.flush()
    for columns in filled:
        yield Rows(columns.schema.name, columns.sql)


class _Tables:
    """The three tables while the file is read, and what was odd."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.ops = Columns(source.con, COMM_OPS)
        self.links = Columns(source.con, COMM_LINKS)
        self.packets = Columns(source.con, COMM_PACKETS)
        self.values = Values(source.rel)
        self.count = 0
        self.strange: list[int] = []
        self.without_times: list[str] = []
        self.without_bandwidth: list[str] = []
        self.undefined: list[str] = []
        self.uneven: list[tuple[str, float, float]] = []

    def add(self, member: Member) -> None:
        """One operation of a step."""
        step, kind, key = member.keys
        name, group = split_group(key)
        if name == TOTAL or not isinstance(member.value, dict):
            return
        if group is None and "@" not in key and not _INFO & member.value.keys():
            self.strange.append(member.offset)  # a part of one, after a stray brace
            return
        self.count += 1
        type_ = type_of(name)
        head = (name, type_, kind, group, step_of(step))
        size, links = self._links(head, member.value.get(_LINKS))
        self.ops.add((*head, *self._times(name, member.value), size, links))

    def _times(self, name: str, record: dict[str, Any]) -> tuple[float | None, ...]:
        info = cells(record.get(_TIMES))
        if not info:
            self.without_times.append(name)
        number = self.values.number
        elapse, transit = number(info, "elapse time"), number(info, "transit time")
        wait = number(info, "wait time")
        idle = self._idle(info, elapse, transit, wait)
        if None not in (elapse, transit, wait, idle):
            assert elapse is not None
            parts = (transit or 0.0) + (wait or 0.0) + (idle or 0.0)
            if abs(parts - elapse) > max(SUM_TOLERANCE_NS, SUM_TOLERANCE_RATIO * elapse):
                self.uneven.append((name, parts, elapse))
        return (
            self.values.instant(info, "start timestamp"),
            elapse, transit, wait, number(info, "synchronization time"), idle,
        )  # fmt: skip

    def _idle(
        self,
        info: dict[str, tuple[Any, float]],
        elapse: float | None,
        transit: float | None,
        wait: float | None,
    ) -> float | None:
        """Idle time; what is left of the elapse where the file does not tell it."""
        raw = info.get("idle time", (None, 1.0))[0]
        if isinstance(raw, float) and -1e-6 < raw < 0:
            return 0.0  # a difference of doubles
        if raw is not None:
            return self.values.number(info, "idle time")
        if elapse is None or transit is None or wait is None:
            return None
        return max(0.0, round(elapse - transit - wait, 6))

    def _links(self, head: tuple[Any, ...], info: Any) -> tuple[float | None, str | None]:
        """Rows per link type; returns the size over all of them and the names of those used."""
        name = head[0]
        records = {k: v for k, v in info.items() if isinstance(v, dict)} if isinstance(
            info, dict) else {}  # fmt: skip
        if not records:
            self.without_bandwidth.append(name)
            return None, None
        summed = any(part in records for part in _SDMA_PARTS)
        total: float | None = 0.0
        used = []
        for link, record in records.items():
            is_sum = summed and link == "SDMA"
            size = self._link(head, link, record, is_sum)
            if is_sum:
                continue
            total = None if total is None or size is None else total + size
            if size:
                used.append(link)
        return total, ", ".join(used)

    def _link(
        self, head: tuple[Any, ...], link: str, record: dict[str, Any], is_sum: bool
    ) -> float | None:
        info = cells(record)
        number = self.values.number
        size, time = number(info, "transit size"), number(info, "transit time")
        spread = info.get("size distribution", ({}, 1.0))[0]
        packets = self._packets(head, link, spread)
        large = number(info, "large packet ratio")
        if not packets and not large:
            large = None  # the file says 0 where there are no packets
        told = number(info, "bandwidth")
        if size and time == 0:
            self.undefined.append(head[0])
        self.links.add(
            (*head, link, size, time, bandwidth(size, time, told), large,
             None if is_sum else packets, int(is_sum))
        )  # fmt: skip
        return size

    def _packets(self, head: tuple[Any, ...], link: str, spread: Any) -> int | None:
        """Rows per packet size; returns the number of packets, None where it is not told."""
        if not isinstance(spread, dict):
            return None
        total = 0
        for size, entry in spread.items():
            count, time = (*entry, None, None)[:2] if isinstance(entry, list) else (entry, None)
            packets = self.values.whole(count, "packet count") or 0
            named = {"packet size": (size, float(MEGABYTE)), "packet time": (time, 1e6)}
            self.packets.add(
                (*head, link, self.values.number(named, "packet size"), packets,
                 self.values.number(named, "packet time"))
            )  # fmt: skip
            total += packets
        return total

    def tell(self) -> None:
        """Findings about the file."""
        rel, notes = self.source.rel, self.source.notes
        if self.strange:
            place = "byte " + ", ".join(str(at) for at in self.strange[:5])
            notes.append(Note("json-members-broken", rel, place, {"count": len(self.strange)}))
        if not self.count:
            notes.append(Note("communication-empty", rel))
        for code, names in (
            ("communication-times-missing", self.without_times),
            ("bandwidth-unknown", self.without_bandwidth),
            ("bandwidth-undefined", self.undefined),
        ):
            if names:
                notes.append(Note(code, rel, None, {"count": len(names), "example": names[0]}))
        if self.uneven:
            name, parts, whole = self.uneven[0]
            notes.append(
                Note("communication-sum", rel, name,
                     {"count": len(self.uneven), "sum_us": f"{parts / 1000:.3f}",
                      "elapse_us": f"{whole / 1000:.3f}"})
            )  # fmt: skip
        notes.extend(self.values.notes())
