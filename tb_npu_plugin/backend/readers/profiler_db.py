"""ascend_pytorch_profiler[_rank].db and its kin: everything of one capture in one SQLite file.

``msprof_*.db`` holds CANN's half of the same tables, ``ascend_mindspore_profiler*.db`` another
framework's. What text captures have in files of their own is derived, so that every view shows the
same of either form. The timeline is read apart (:mod:`.db_timeline`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers import db_kernels, db_steps
from tb_npu_plugin.backend.readers.base import Rows, Source
from tb_npu_plugin.backend.readers.db_communication import communication, load_communication
from tb_npu_plugin.backend.readers.db_file import Database, read_whole
from tb_npu_plugin.backend.readers.db_memory import memory
from tb_npu_plugin.backend.readers.db_operators import operators
from tb_npu_plugin.backend.readers.db_statistics import api_statistics, op_statistics
from tb_npu_plugin.backend.readers.db_strings import load_strings
from tb_npu_plugin.backend.readers.spill import memory_at_most, with_more_memory

VERSION = 2
#: The database engine's share of memory: the rest is for numbers on their way to it.
MEMORY = "200MB"
TABLES = (
    "steps", "kernels", "op_statistics", "operators", "operator_nested", "api_statistics",
    "comm_ops", "comm_links", "comm_packets", "memory_points", "memory_curve", "memory_blocks",
    "module_memory",
)  # fmt: skip
SOURCE = "db"
_NAME = re.compile(r"^(?:ascend_(?:pytorch|mindspore)_profiler(?:_\d+)?|msmonitor_\w+)\.db$")


#: What a database without the framework's half lacks.
_HALF = ("db-operators-missing", "db-steps-missing", "db-memory-missing")


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield every table that the database has rows for; the small and most wanted ones first."""
    with memory_at_most(source.con, MEMORY):
        yield from with_more_memory(source.con, read_whole(source, tables))
    if source.path.name.startswith("ascend_mindspore"):
        _only_half(source)


def _only_half(source: Source) -> None:
    """MindSpore renames CANN's database and adds nothing of its own: one finding says so."""
    lacking = [n for n in source.notes if n.code in _HALF]
    if lacking:
        source.notes[:] = [n for n in source.notes if n not in lacking]
        source.notes.append(Note("mindspore-database", source.rel))


def tables(db: Database) -> Iterator[Rows]:
    """The tables of a capture."""
    progress = db.source.progress
    load_strings(db)
    yield from api_statistics(db)
    db_kernels.load_tasks(db)
    db_kernels.load_operations(db)
    load_communication(db)
    db_steps.load_steps(db)
    progress(0.1)
    written: list[str] = []
    yield from db_kernels.kernels(db, written)
    progress(0.4)
    if written:
        yield from op_statistics(db, written[-1])
    yield from operators(db)
    if written:
        yield from db_steps.recomputed(db, written[-1])
    progress(0.7)
    yield from communication(db)
    yield from memory(db)
