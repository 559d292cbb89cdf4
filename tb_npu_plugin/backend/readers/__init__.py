"""One module per on-disk format. Readers know formats; nobody else does.

A reader module has ``VERSION`` (raise it when what it yields changes, so that caches are renewed),
``TABLES`` (the canonical tables it yields), ``matches(name)`` and
``read(source) -> Iterator[Rows]``. ``SOURCE`` says what kind of source it reads, if not text: where
a capture holds a table in several kinds, the first of :data:`SOURCES` is shown. ``LAZY``: a big file
is not read before a view asks for its tables.
"""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType

from tb_npu_plugin.backend.readers import (
    analysis_db,
    api_statistic,
    communication,
    communication_matrix,
    data_preprocess,
    db_timeline,
    kernel_details,
    l2_cache,
    memory_record,
    msprof_db,
    msprof_files,
    msprof_timeline,
    npu_module_mem,
    op_statistic,
    operator_details,
    operator_memory,
    other,
    profiler_db,
    static_op_mem,
    step_trace_time,
    torch_derived,
    torch_trace,
    trace_derived,
    trace_view,
)

READERS: tuple[ModuleType, ...] = (
    step_trace_time,
    kernel_details,
    operator_details,
    op_statistic,
    api_statistic,
    l2_cache,
    data_preprocess,
    operator_memory,
    memory_record,
    npu_module_mem,
    static_op_mem,
    communication,
    communication_matrix,
    analysis_db,
    profiler_db,
    msprof_db,
    trace_view,
    torch_trace,
    other,  # last: takes any table that no other reader knows
)


#: Readers whose tables are worked out from those of another reader (``FROM``: its name), where no
#: better source has them.
DERIVED: tuple[ModuleType, ...] = (
    trace_derived,
    torch_derived,
    db_timeline,
    msprof_timeline,
)

#: Kinds of sources in order of preference; a table is taken from one of them, never summed.
#: ``msprof``: text that CANN exported itself, without what an analysis adds (steps, operators).
SOURCES = ("text", "db", "msprof", "trace", "torch", "raw")


@lru_cache(maxsize=4096)
def source_kind(reader: ModuleType, rel: str = "") -> str:
    """The kind of source that a reader reads in a file ``rel``, one of :data:`SOURCES`."""
    kind = str(getattr(reader, "SOURCE", "text"))
    return "msprof" if kind == "text" and msprof_files.exported_by_msprof(rel) else kind


def reader_for(name: str) -> ModuleType | None:
    """The reader of a file inside ``ASCEND_PROFILER_OUTPUT``, by its name; None if there is none."""
    return next((r for r in READERS if r.matches(name)), None)


@lru_cache(maxsize=4096)
def readers_for(name: str) -> tuple[ModuleType, ...]:
    """The reader of a file by its name, then those that derive further tables from its tables."""
    reader = reader_for(name)
    if reader is None:
        return ()
    return (reader, *(r for r in DERIVED if reader_name(reader) == r.FROM))


def reader_named(name: str) -> ModuleType:
    """The reader that :func:`reader_name` names."""
    return next(r for r in (*READERS, *DERIVED) if reader_name(r) == name)


def is_lazy(reader: ModuleType) -> bool:
    """Whether a big file of it is read only when a view asks for its tables."""
    return bool(getattr(reader, "LAZY", False))


@lru_cache(maxsize=256)
def reader_rank(kind: str, name: str) -> tuple[int, int]:
    """What a table is taken from first: by kind of source, then by the order of the readers."""
    names = [reader_name(r) for r in (*READERS, *DERIVED)]
    return (SOURCES.index(kind), names.index(name))


def reader_name(reader: ModuleType) -> str:
    return reader.__name__.rsplit(".", 1)[-1]
