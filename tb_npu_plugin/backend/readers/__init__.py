"""One module per on-disk format. Readers know formats; nobody else does.

A reader module has ``VERSION`` (raise it when what it yields changes, so that caches are renewed),
``TABLES`` (the canonical tables it yields), ``matches(name)`` and
``read(source) -> Iterator[Rows]``. ``SOURCE`` says what kind of source it reads, if not text: where
a capture holds a table in several kinds, the first of :data:`SOURCES` is shown.
"""

from __future__ import annotations

from types import ModuleType

from tb_npu_plugin.backend.readers import (
    api_statistic,
    communication,
    communication_matrix,
    data_preprocess,
    kernel_details,
    l2_cache,
    memory_record,
    npu_module_mem,
    op_statistic,
    operator_details,
    operator_memory,
    static_op_mem,
    step_trace_time,
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
)


#: Kinds of sources in order of preference; a table is taken from one of them, never summed.
SOURCES = ("text", "db", "trace", "torch", "raw")


def source_kind(reader: ModuleType) -> str:
    """The kind of source that a reader reads, one of :data:`SOURCES`."""
    return getattr(reader, "SOURCE", "text")


def reader_for(name: str) -> ModuleType | None:
    """The reader of a file inside ``ASCEND_PROFILER_OUTPUT``, by its name; None if there is none."""
    return next((r for r in READERS if r.matches(name)), None)


def reader_name(reader: ModuleType) -> str:
    return reader.__name__.rsplit(".", 1)[-1]
