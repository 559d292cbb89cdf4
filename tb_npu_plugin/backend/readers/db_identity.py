"""What a profiler's database says of the capture itself: rank, window, metadata.

Read by the scan of the logdir, so a few small tables only, and whatever is wrong with the file is
left to its reader to tell.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.readers.db_file import BROKEN, connect, key

#: Names of databases that hold a capture.
NAME = re.compile(
    r"^(?:ascend_(?:pytorch|mindspore)_profiler(?:_(?P<rank>\d+))?|msprof_\w+|msmonitor_\w+)\.db$"
)
_MAX_ROWS, _MAX_TEXT = 10_000, 16 << 20


@dataclass(frozen=True)
class Identity:
    """``ranks``: (source, rank) candidates; the window is epoch ns; unknown is None."""

    ranks: tuple[tuple[str, int], ...] = ()
    start_ns: int | None = None
    end_ns: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    chip: str | None = None
    """``Ascend910B`` …; None where several are named."""


def identity(path: Path) -> Identity:
    """The identity of a database; empty for what it does not tell. Never raises for its content."""
    ranks: list[tuple[str, int]] = []
    match = NAME.match(path.name)
    if match and match.group("rank"):
        ranks.append((path.name, int(match.group("rank")[:18])))
    start = end = None
    metadata: dict[str, Any] = {}
    chips: set[str] = set()
    with suppress(*BROKEN, OSError), closing(connect(path)) as connection:
        mapped = {row[0] for row in _rows(connection, "RANK_DEVICE_MAP", "rankid")}
        for rank in sorted(r for r in mapped if isinstance(r, int) and 0 <= r < 1 << 32):
            if len(mapped) == 1:
                ranks.append((f"{path.name} RANK_DEVICE_MAP", rank))
        for first, last in _rows(connection, "SESSION_TIME_INFO", "starttimens", "endtimens"):
            if isinstance(first, int) and isinstance(last, int) and 0 < first <= last < 1 << 62:
                start, end = first, last
        for name, value in _rows(connection, "META_DATA", "name", "value"):
            if isinstance(name, str) and isinstance(value, str) and len(value) <= _MAX_TEXT:
                metadata.setdefault(name, _decoded(value))
        chips = {n for (n,) in _rows(connection, "NPU_INFO", "name") if isinstance(n, str) and n}
    chip = chips.pop() if len(chips) == 1 else None
    return Identity(tuple(ranks), start, end, metadata, chip)


def _rows(connection: sqlite3.Connection, table: str, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Columns of a table by :func:`~.db_file.key`; nothing where it, or one of them, is not there."""
    try:
        found = {key(row[1]): row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        if not all(c in found for c in columns):
            return
        names = ", ".join(ident(found[c]) for c in columns)
        yield from connection.execute(f"SELECT {names} FROM {table} LIMIT {_MAX_ROWS}").fetchall()
    except BROKEN:
        return


def _decoded(text: str) -> Any:
    """Values are JSON, but for the schema's version."""
    try:
        return msgspec.json.decode(text)
    except ValueError:
        return text
