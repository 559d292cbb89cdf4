"""Names and ranks of communication groups: from a capture's metadata, or an analysis of the job.

communication.json knows a group by a 64-bit hash of its full name only. The full names stand in
profiler_metadata.json (``parallel_group_info``); ``communication_group.json``, which a cluster
analysis leaves beside the captures, tells hash and name.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

FILE = Path("cluster_analysis_output") / "communication_group.json"
#: A job of 10,000 ranks has a few MB of groups; anything larger is not this file.
MAX_BYTES = 64 << 20
_MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class CommGroup:
    """``id``: the hash in communication.json. ``name`` is "" where none was given."""

    id: str
    name: str
    ranks: tuple[int, ...] = ()
    """Global ranks by their position in the group; empty if unknown."""


@lru_cache(maxsize=1 << 16)
def group_id(full_name: str) -> str:
    """The hash by which CANN's exporter writes a group's full name (two 32-bit products).

    >>> group_id("90.91.105.46%enp189s0f0_60000_0_1736410538306028")
    '17148521525495523210'
    """
    high = low = 0
    for byte in full_name.encode():
        high = (high * 29 + byte) & _MASK
        low = (low * 131 + byte) & _MASK
    return str(high << 32 | low)


def of_metadata(metadata: Mapping[str, Any], skip: Container[str] = ()) -> list[CommGroup]:
    """Groups of ``parallel_group_info {full name: {group_name, global_ranks}}``, without the ids in
    ``skip``."""
    info = metadata.get("parallel_group_info")
    if not isinstance(info, dict):
        return []
    return [
        CommGroup(group_id(str(full)), _text(group.get("group_name")),
                  _ranks(group.get("global_ranks")))
        for full, group in info.items()
        if isinstance(group, dict) and group_id(str(full)) not in skip
    ]  # fmt: skip


def of_analysis(directory: Path) -> list[CommGroup]:
    """Groups of ``communication_group.json`` of an analysis that lies in ``directory``, if any."""
    path = directory / FILE
    try:
        stat = path.stat()
    except OSError:
        return []
    if stat.st_size > MAX_BYTES:
        return []
    return list(_read(path, stat.st_size, stat.st_mtime_ns))


@lru_cache(maxsize=64)
def _read(path: Path, _size: int, _mtime_ns: int) -> tuple[CommGroup, ...]:
    try:
        content = msgspec.json.decode(path.read_bytes())
    except (OSError, ValueError):
        return ()
    listed = content.get("comm_group_parallel_info") if isinstance(content, dict) else None
    found = []
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, dict):
            continue
        id_, full = _text(entry.get("group_name")), _text(entry.get("group_id"))
        if id_ or full:
            found.append(
                CommGroup(id_ or group_id(full), _text(entry.get("pg_name")),
                          _ranks(entry.get("rank_set")))
            )  # fmt: skip
    return tuple(found)


def _text(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int) else ""


def _ranks(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(r) is int and r >= 0 for r in value):
        return ()
    return tuple(value)
