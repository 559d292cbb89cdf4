"""Answers to queries over files that never change under their names: asked once, kept while there is room."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar

import duckdb

T = TypeVar("T")
#: Cells of all answers together, some 60 bytes each; a larger answer than a quarter is not kept.
MOST_CELLS = 400_000
#: Characters that take as much room as another cell.
_LONG = 60
#: Other results that are kept (:meth:`Answers.value`).
MOST_VALUES = 256


@dataclass(frozen=True)
class _Made:
    """``at``: when it was finished; ``took``: s."""

    value: Any
    version: Any
    at: float
    took: float


class Answers:
    """Thread-safe. Two that ask the same at once may both run it."""

    def __init__(self, cursor: Callable[[], duckdb.DuckDBPyConnection]) -> None:
        self._cursor = cursor
        self._lock = threading.Lock()
        self._rows: OrderedDict[bytes, tuple[list[tuple[Any, ...]], int]] = OrderedDict()
        self._values: OrderedDict[Any, _Made] = OrderedDict()
        self._cells = 0

    def rows(self, sql: str, params: list[Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a query whose text names everything it depends on. Do not change them."""
        text = f"{sql}\0{params!r}".encode("utf-8", "surrogatepass")
        key = hashlib.sha256(text).digest()
        with self._lock:
            if key in self._rows:
                self._rows.move_to_end(key)
                return self._rows[key][0]
        with closing(self._cursor()) as cursor:
            rows = cursor.execute(sql, params or []).fetchall()
        cells = _cells(rows)
        if cells <= MOST_CELLS // 4:
            with self._lock:
                if key not in self._rows:
                    self._rows[key] = (rows, cells)
                    self._cells += cells
                while self._cells > MOST_CELLS:
                    self._cells -= self._rows.popitem(last=False)[1][1]
        return rows

    def value(self, key: Any, version: Any, make: Callable[[], T], *, patience: float = 0.0) -> T:
        """What ``make`` returns for ``key`` and ``version``, which name everything it depends on.

        Of each key one version is kept. An older one will do for ``patience`` times as long as making
        it took.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                made = self._values[key]
                if made.version == version or time.monotonic() < made.at + patience * made.took:
                    found: T = made.value
                    return found
        began = time.monotonic()
        value = make()
        now = time.monotonic()
        with self._lock:
            self._values[key] = _Made(value, version, now, now - began)
            while len(self._values) > MOST_VALUES:
                self._values.popitem(last=False)
        return value


def _cells(rows: list[tuple[Any, ...]]) -> int:
    """Cells, those of long texts and lists as many times as they are larger than others."""
    return 1 + sum(
        1 + len(cell) // _LONG if isinstance(cell, str | list) else 1
        for row in rows
        for cell in row
    )
