"""One module per on-disk format. Readers know formats; nobody else does.

A reader module has ``VERSION`` (raise it when what it yields changes, so that caches are renewed),
``TABLES`` (the canonical tables it yields), ``matches(name)`` and
``read(source) -> Iterator[Rows]``.
"""

from __future__ import annotations

from types import ModuleType

from tb_npu_plugin.backend.readers import (
    api_statistic,
    data_preprocess,
    kernel_details,
    l2_cache,
    op_statistic,
    operator_details,
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
)


def reader_for(name: str) -> ModuleType | None:
    """The reader of a file inside ``ASCEND_PROFILER_OUTPUT``, by its name; None if there is none."""
    return next((r for r in READERS if r.matches(name)), None)


def reader_name(reader: ModuleType) -> str:
    return reader.__name__.rsplit(".", 1)[-1]
