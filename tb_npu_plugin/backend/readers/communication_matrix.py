"""communication_matrix.json: what each rank of a communication group sent to which other.

Two forms: keys ``allreduce-top1@hash`` (torch_npu after 5.0), where each link of a key may be of
another operation, and keys ``hcom_allReduce__822_0@hash``, one per operation (5.0 and before).
"""

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
from tb_npu_plugin.backend.schema.communication import COMM_MATRIX, type_of

VERSION = 1
TABLES = ("comm_matrix",)
_NAME = re.compile(r"^communication_matrix\.json(\.gz)?$")
_PICKED = re.compile(r"^(.+)-(top\d*|middle|bottom\d*|total)$")
_LINK = re.compile(r"^\s*(\d{1,9})\s*-\s*(\d{1,9})\s*$")


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``comm_matrix``: a row per step, key and link, positions as they stand in the file."""
    yield from links(source, members(source, LEVELS))


def links(source: Source, found: Iterable[Member]) -> Iterator[Rows]:
    """The table of links that stand as in this file, wherever they come from."""
    columns = Columns(source.con, COMM_MATRIX)
    values = Values(source.rel)
    undefined: list[str] = []
    skipped: list[tuple[str, str]] = []

    def link_row(key: tuple[Any, ...], where: str, link: str, record: Any) -> None:
        match = _LINK.match(link)
        info = cells(record)
        transport = info.get("transport type", (None, 1.0))[0]
        if match is None or not isinstance(transport, str) or not transport.strip():
            skipped.append((where, link))
            return
        size, time = values.number(info, "transit size"), values.number(info, "transit time")
        if size and time == 0:
            undefined.append(f"{where} {link}")
        name = info.get("op name", (None, 1.0))[0]
        operation, base, type_, part, *rest = key
        columns.add(
            (int(match.group(1)), int(match.group(2)), transport.strip().upper(), size, time,
             bandwidth(size, time, values.number(info, "bandwidth")),
             operation or (split_group(name)[0] if isinstance(name, str) else None),
             base, type_, part, *rest)
        )  # fmt: skip

    for member in found:
        # Old files add up positions of different groups there: the operations tell more.
        if split_group(member.keys[2])[0] == TOTAL or not isinstance(member.value, dict):
            continue
        key, where = _key(member), f"{member.keys[0]} {member.keys[2]}"
        for link, record in member.value.items():
            link_row(key, where, link, record)
    columns.flush()
    _tell(source, undefined, skipped)
    source.notes.extend(values.notes())
    yield Rows("comm_matrix", columns.sql)


def _key(member: Member) -> tuple[Any, ...]:
    """(operation of all links or None, key, type, part, kind, group, step) of a member."""
    step, kind, text = member.keys
    base, group = split_group(text)
    picked = _PICKED.match(base)
    if picked:
        return None, base, picked.group(1).lower(), picked.group(2), kind, group, step_of(step)
    return base, base, type_of(base), "op", kind, group, step_of(step)


def _tell(source: Source, undefined: list[str], skipped: list[tuple[str, str]]) -> None:
    if skipped:
        where, link = skipped[0]
        source.notes.append(
            Note("links-skipped", source.rel, where, {"count": len(skipped), "example": repr(link)})
        )
    if undefined:
        source.notes.append(
            Note("bandwidth-undefined", source.rel, None,
                 {"count": len(undefined), "example": undefined[0]})
        )  # fmt: skip
