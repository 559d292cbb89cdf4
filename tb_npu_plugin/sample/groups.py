"""Communication groups of a job, where its ranks run, and the links between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_npu_plugin.backend.readers.communication_group import group_id

from .text import Floats, Ints

BANDWIDTH = {"HCCS": 28.0, "RDMA": 9.0}  # bytes per ns = GB/s, one link, one direction
SLOW_LINK_FACTOR = 0.15


@dataclass(frozen=True)
class Group:
    """One communicator."""

    axis: str
    name: str
    ranks: tuple[int, ...]

    @property
    def hash(self) -> str:
        """The decimal 64-bit number that stands for the name in communication.json."""
        return group_id(self.name)

    @property
    def group_name(self) -> str:
        return "default_group" if self.axis == "world" else self.axis


@dataclass(frozen=True)
class Axis:
    """All groups along one axis of the job; every rank is in exactly one of them."""

    groups: tuple[Group, ...]
    members: Ints  # (groups, size) global ranks
    of_rank: Ints  # (world) group of a rank
    place: Ints  # (world) position of a rank in its group
    bandwidth: Floats  # (groups, size, size) bytes per ns from member to member


@dataclass(frozen=True)
class Layout:
    """Ranks on hosts and devices, and the axes that have more than one rank in a group."""

    world: int
    tp: int
    devices_per_host: int
    axes: dict[str, Axis]

    def host(self, rank: int) -> int:
        return rank // self.devices_per_host

    def device(self, rank: int) -> int:
        return rank % self.devices_per_host

    def link(self, a: int, b: int) -> str:
        return "HCCS" if self.host(a) == self.host(b) else "RDMA"


def default_tp(world: int) -> int:
    """Tensor-parallel size: within a host, growing with the job."""
    for tp, at_least in ((8, 64), (4, 16), (2, 4)):
        if world >= at_least and world % tp == 0:
            return tp
    return 1


def share_payloads(pair: tuple[int, int], tp: int) -> bool:
    """Whether two ranks are in a tensor- or data-parallel group together."""
    a, b = pair
    return a // tp == b // tp or a % tp == b % tp


def lay_out(
    world: int,
    tp: int,
    devices_per_host: int,
    slow_link: tuple[int, int] | None,
    epoch_ms: int,
) -> Layout:
    """Groups of neighbouring ranks for tp, of equal places for dp, of all ranks for world."""
    dp = world // tp
    members = {
        "tp": np.arange(world).reshape(dp, tp),
        "dp": np.arange(world).reshape(dp, tp).T,
        "world": np.arange(world).reshape(1, world),
    }
    axes: dict[str, Axis] = {}
    port = 60_000
    for axis, ranks in members.items():
        if ranks.shape[1] < 2:
            continue
        groups: list[Group] = []
        for row in ranks.tolist():
            host = row[0] // devices_per_host
            name = f"10.20.0.{host + 1}%eth0_{port}_{len(groups)}_{epoch_ms}"
            groups.append(Group(axis, name, tuple(row)))
        port += 16
        hosts = ranks // devices_per_host
        same = hosts[:, :, None] == hosts[:, None, :]
        bandwidth = np.where(same, BANDWIDTH["HCCS"], BANDWIDTH["RDMA"])
        if slow_link is not None:
            for a, b in (slow_link, slow_link[::-1]):
                pair = (ranks[:, :, None] == a) & (ranks[:, None, :] == b)
                bandwidth = np.where(pair, bandwidth * SLOW_LINK_FACTOR, bandwidth)
        of_rank, place = np.zeros(world, np.int64), np.zeros(world, np.int64)
        rows, columns = np.indices(ranks.shape)
        of_rank[ranks], place[ranks] = rows, columns
        axes[axis] = Axis(tuple(groups), ranks.astype(np.int64), of_rank, place, bandwidth)
    return Layout(world, tp, devices_per_host, axes)
