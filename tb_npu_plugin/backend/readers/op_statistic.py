"""op_statistic.csv: Totals per operator type and core, as CANN computed them (Level1 and up)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.readers.base import Rows, Source
from tb_npu_plugin.backend.readers.simple import read_table
from tb_npu_plugin.backend.schema import OP_STATISTICS

VERSION = 1
TABLES = ("op_statistics",)
_NAME = re.compile(r"^op_statistic(_\w+)?\.csv(\.gz)?$")


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``op_statistics``, a row a line."""
    yield from read_table(source, OP_STATISTICS, ("type", "count", "total_ns"))
