"""msprof_*.db: CANN's own database, without the framework's half."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.readers import profiler_db
from tb_npu_plugin.backend.readers.base import Rows, Source

VERSION = profiler_db.VERSION
TABLES = profiler_db.TABLES
SOURCE = "db"
_NAME = re.compile(r"^msprof_\w+\.db$")


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield the tables that CANN's half gives: kernels, steps without markers, host calls, memory."""
    yield from profiler_db.read(source)
