"""l2_cache.csv: L2 cache hit and victim rates per kernel (l2_cache=True)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.readers.base import Rows, Source
from tb_npu_plugin.backend.readers.simple import read_table
from tb_npu_plugin.backend.schema import L2_CACHE

VERSION = 1
TABLES = ("l2_cache",)
_NAME = re.compile(r"^l2_cache(_\w+)?\.csv(\.gz)?$")


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``l2_cache``, a row a line."""
    yield from read_table(source, L2_CACHE, ("name",))
