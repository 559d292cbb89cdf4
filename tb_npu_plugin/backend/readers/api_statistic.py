"""api_statistic.csv: Totals per host API and level, as CANN computed them (Level1 and up)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.readers.base import Rows, Source
from tb_npu_plugin.backend.readers.simple import read_table
from tb_npu_plugin.backend.schema import API_STATISTICS

VERSION = 1
TABLES = ("api_statistics",)
_NAME = re.compile(r"^api_statistic(_\w+)?\.csv(\.gz)?$")


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``api_statistics``, a row a line."""
    yield from read_table(source, API_STATISTICS, ("name", "count", "total_ns"))
