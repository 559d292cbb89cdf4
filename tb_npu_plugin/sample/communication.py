"""communication.json and communication_matrix.json, from the same tasks as the trace (§5.6)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .collectives import LOCAL_BYTES_PER_NS, Share, plane_tasks
from .dbcapture import Databases
from .groups import Layout
from .text import Appender, Ints
from .truth import CommTruth

LINKS = ("RDMA", "HCCS", "PCIE", "SDMA", "SIO")
LARGE_PACKET = {"RDMA": 500_000}  # bytes; all others:
LARGE_SDMA_PACKET = 32_000_000
RANKED = ("top1", "middle", "bottom1", "bottom2", "bottom3")


@dataclass
class _Links:
    """All operations of one kind in one group: per operation and member, bytes and ns."""

    nbytes: list[Ints] = field(default_factory=list)
    times: list[Ints] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    place: int = 0
    transports: list[str] = field(default_factory=list)


class Communication:
    """Writes one rank's two communication files, an operation at a time."""

    def __init__(
        self,
        folder: Path,
        rank: int,
        layout: Layout,
        write: frozenset[str],
        databases: Databases | None = None,
    ) -> None:
        self._databases = databases
        self._rank, self._layout = rank, layout
        self._json = Appender(folder / "communication.json")
        self._matrix = Appender(folder / "communication_matrix.json")
        self._write = ("communication.json" in write, "communication_matrix.json" in write)
        self._links: dict[str, dict[str, _Links]] = {}
        self._sums = [0, 0, 0, 0, 0]
        self._bytes: dict[str, int] = {}
        self._times: dict[str, int] = {}
        self._spread: dict[str, dict[int, list[int]]] = {}
        self._step: int | None = None
        self._written = 0
        self.truths: list[CommTruth] = []

    def add(self, step: int, shares: Sequence[Share]) -> None:
        """Operations of a step, in any order within it."""
        if not shares:
            return
        if self._step != step:
            self._begin(step)
        for share in shares:
            record = self._record(share)
            if self._write[0]:
                lead = ", " if self._sums[0] > 1 else ""
                key = json.dumps(f"{share.name}@{_group_hash(share)}")
                self._json.add(f"{lead}{key}: {json.dumps(record)}")
            if self._databases is not None:
                self._databases.operation(step, share, _group_hash(share), record)
            if self._write[1] or self._databases is not None:
                self._remember(share)

    def _begin(self, step: int) -> None:
        self._step, self._sums = step, [0, 0, 0, 0, 0]
        self._bytes = dict.fromkeys(LINKS, 0)
        self._times = dict.fromkeys(LINKS, 0)
        self._spread = {link: {} for link in LINKS}
        self._links = {}
        lead = ", " if self._written else "{"
        self._written += 1
        if self._write[0]:
            self._json.add(f'{lead}"step{step}": {{"p2p": {{}}, "collective": {{')
        if self._write[1]:
            self._matrix.add(f'{lead}"step{step}": {{"p2p": {{}}, "collective": ')

    def _peers(self, share: Share) -> list[str]:
        """Link types on planes 1, 2, …"""
        ranks = share.operation.axis.groups[share.group].ranks
        size = len(ranks)
        return [
            self._layout.link(self._rank, ranks[(share.place + plane) % size])
            for plane in range(1, size)
        ]

    def _record(self, share: Share) -> dict[str, Any]:
        operation, group, place = share.operation, share.group, share.place
        tasks = plane_tasks(operation, group, place, 1)
        transfers = [t for t in tasks if t.nbytes]
        waits = [t for t in tasks if t.name == "Notify_Wait"]
        elapse = share.end - share.start
        transit = sum(t.duration for t in transfers)
        wait = sum(t.duration for t in waits)
        sync = sum(t.duration for t in waits if t.start < transfers[0].start)
        for i, value in enumerate((1, elapse, transit, wait, sync)):
            self._sums[i] += value
        links = np.array(self._peers(share))
        nbytes = np.concatenate([s[group, place] for s in operation.sizes])
        times = np.concatenate([t[group, place] for t in operation.times])
        of_link = np.tile(links, len(operation.sizes))
        bandwidth: dict[str, Any] = {}
        sdma = [0, 0]
        for link in LINKS:
            mine = of_link == link
            size, time = int(nbytes[mine].sum()), int(times[mine].sum())
            if link == "SDMA":
                continue
            if link != "RDMA":
                sdma[0] += size
                sdma[1] += time
            spread = self._distribute(link, nbytes[mine], times[mine])
            bandwidth[link] = _bandwidth(link, size, time, spread)
            self._bytes[link] += size
            self._times[link] += time
        bandwidth["SDMA"] = _bandwidth("SDMA", sdma[0], sdma[1], {})
        self._bytes["SDMA"] += sdma[0]
        self._times["SDMA"] += sdma[1]
        return {
            "Communication Time Info": {
                "Start Timestamp(us)": round(share.start / 250) * 0.25,
                **_time_info(elapse, transit, wait, sync),
            },
            "Communication Bandwidth Info": {link: bandwidth[link] for link in LINKS},
        }

    def _distribute(self, link: str, nbytes: Ints, times: Ints) -> dict[int, list[int]]:
        """Packets by size: count and time; added to the step's as well."""
        spread: dict[int, list[int]] = {}
        for size in np.unique(nbytes).tolist():
            mine = nbytes == size
            spread[size] = [int(mine.sum()), int(times[mine].sum())]
            total = self._spread[link].setdefault(size, [0, 0])
            total[0] += spread[size][0]
            total[1] += spread[size][1]
        return spread

    def _remember(self, share: Share) -> None:
        operation, group, place = share.operation, share.group, share.place
        kind = operation.spec.kind.lower()
        links = self._links.setdefault(kind, {}).setdefault(_group_hash(share), _Links())
        size = operation.start.shape[1]
        nbytes, times = np.zeros(size, np.int64), np.zeros(size, np.int64)
        peers = (place + np.arange(1, size)) % size
        for sent, took in zip(operation.sizes, operation.times, strict=True):
            nbytes[peers] += sent[group, place]
            times[peers] += took[group, place]
        nbytes[place] = int(nbytes[peers].max())  # its own slice, copied on the chip
        times[place] = 900 + int(nbytes[place] / LOCAL_BYTES_PER_NS)
        links.nbytes.append(nbytes)
        links.times.append(times)
        links.names.append(share.name)
        if not links.transports:
            links.place = place
            links.transports = ["LOCAL"] * size
            for peer, link in zip(peers.tolist(), self._peers(share), strict=True):
                links.transports[peer] = link

    def end_step(self) -> None:
        """Close the step with its totals."""
        if self._step is None:
            return
        ops, elapse, transit, wait, sync = self._sums
        if self._write[0]:
            total = {
                "Communication Time Info": _time_info(elapse, transit, wait, sync),
                "Communication Bandwidth Info": {
                    link: {
                        "Transit Time(ms)": self._times[link] / 1e6,
                        "Transit Size(MB)": self._bytes[link] / 1e6,
                        "Size Distribution": _distribution(self._spread[link]),
                    }
                    for link in LINKS
                },
            }
            self._json.add(f', "Total Op Info": {json.dumps(total)}}}}}')
        matrix = self._matrix_of_step()
        if self._write[1]:
            self._matrix.add(f"{json.dumps(matrix)}}}")
        if self._databases is not None:
            self._databases.matrix(self._step, matrix)
        self.truths.append(
            CommTruth(
                self._step, ops, elapse, transit, wait, sync, dict(self._bytes), dict(self._times)
            )
        )
        self._step = None

    def _matrix_of_step(self) -> dict[str, Any]:
        """Per link, the operations ranked by bandwidth, and their sum (new key style)."""
        result: dict[str, Any] = {}
        for kind, by_group in self._links.items():
            for group, links in by_group.items():
                nbytes, times = np.stack(links.nbytes), np.stack(links.times)
                order = np.argsort(-(nbytes / times), axis=0, kind="stable")
                count = len(order)
                place = {"top1": 0, "middle": count // 2} | {
                    f"bottom{i}": count - i for i in (1, 2, 3) if count >= i
                }
                for label in RANKED:
                    if label in place:
                        result[f"{kind}-{label}@{group}"] = {
                            f"{links.place}-{peer}": _link(
                                links.transports[peer],
                                int(nbytes[row, peer]),
                                int(times[row, peer]),
                                links.names[row],
                            )
                            for peer, row in enumerate(order[place[label]].tolist())
                        }
                result[f"{kind}-total@{group}"] = {
                    f"{links.place}-{peer}": _link(links.transports[peer], size, time, "")
                    for peer, (size, time) in enumerate(
                        zip(nbytes.sum(axis=0).tolist(), times.sum(axis=0).tolist(), strict=True)
                    )
                }
        return result

    def finish(self) -> None:
        """Close both files."""
        if self._written:
            if self._write[0]:
                self._json.add("}")
            if self._write[1]:
                self._matrix.add("}")


def _group_hash(share: Share) -> str:
    return share.operation.axis.groups[share.group].hash


def _ratio(part: int, other: int) -> float:
    return round(part / (part + other), 4) if part + other else 0.0


def _time_info(elapse: int, transit: int, wait: int, sync: int) -> dict[str, float]:
    return {
        "Elapse Time(ms)": elapse / 1e6,
        "Transit Time(ms)": transit / 1e6,
        "Wait Time(ms)": wait / 1e6,
        "Synchronization Time(ms)": sync / 1e6,
        "Idle Time(ms)": (elapse - transit - wait) / 1e6,
        "Wait Time Ratio": _ratio(wait, transit),
        "Synchronization Time Ratio": _ratio(sync, transit),
    }


def _rate(size: int, time: int) -> float:
    return round(size / time, 4) if time else 0


def _distribution(spread: dict[int, list[int]]) -> dict[str, list[float]]:
    return {repr(size / 1e6): [count, time / 1e6] for size, (count, time) in spread.items()}


def _bandwidth(link: str, size: int, time: int, spread: dict[int, list[int]]) -> dict[str, Any]:
    limit = LARGE_PACKET.get(link, LARGE_SDMA_PACKET)
    packets = sum(count for count, _ in spread.values())
    large = sum(count for nbytes, (count, _) in spread.items() if nbytes > limit)
    return {
        "Transit Size(MB)": size / 1e6,
        "Transit Time(ms)": time / 1e6,
        "Bandwidth(GB/s)": _rate(size, time),
        "Large Packet Ratio": round(large / packets, 4) if packets else 0,
        "Size Distribution": _distribution(spread),
    }


def _link(transport: str, size: int, time: int, name: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "Transport Type": transport,
        "Transit Size(MB)": size / 1e6,
        "Transit Time(ms)": time / 1e6,
        "Bandwidth(GB/s)": _rate(size, time),
    }
    return record | {"Op Name": name} if name else record
