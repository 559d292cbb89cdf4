"""Rows that Python knows as a table of the database."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.schema.fields import DType


def listed(columns: Mapping[str, DType], rows: Iterable[Sequence[Any]]) -> str:
    """Table expression of ``rows``, with the names and types of ``columns``.

    As JSON in one literal: the database parses a list of values forty times slower. Text that is no
    Unicode is replaced where it is not; a number that is not finite is unknown.
    """
    cells = [dict(zip(columns, map(_cell, row), strict=True)) for row in rows]
    text = msgspec.json.encode(cells).decode()
    types = msgspec.json.encode([columns]).decode()
    return f"(SELECT unnest(from_json({quote(text)}, {quote(types)}), recursive := true))"


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return None if isinstance(value, float) and not math.isfinite(value) else value
