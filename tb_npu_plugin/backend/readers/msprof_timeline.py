"""The timeline of CANN's own database: read only when somebody looks at it."""

from __future__ import annotations

from collections.abc import Iterator

from tb_npu_plugin.backend.readers import db_timeline, msprof_db
from tb_npu_plugin.backend.readers.base import Rows, Source

VERSION = db_timeline.VERSION
TABLES = db_timeline.TABLES
SOURCE = "db"
FROM = "msprof_db"


def matches(name: str) -> bool:
    return msprof_db.matches(name)


def read(source: Source) -> Iterator[Rows]:
    """Yield the tables of :mod:`.db_timeline`, without the framework's half."""
    yield from db_timeline.read(source)
