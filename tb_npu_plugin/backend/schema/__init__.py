"""The canonical tables: every column with its type, unit, meaning and the names sources give it.

The ground floor: readers map source columns onto these, views name them, pages label them.
"""

from __future__ import annotations

from tb_npu_plugin.backend.schema.communication import (
    COMM_LINKS,
    COMM_MATRIX,
    COMM_OPS,
    COMM_PACKETS,
    OVERLAP_SUMMARY,
)
from tb_npu_plugin.backend.schema.fields import (
    NO_ID,
    Field,
    TableSchema,
    extra_key,
    header_key,
    scale,
    split_unit,
)
from tb_npu_plugin.backend.schema.kernels import (
    KERNEL_SUMMARY,
    KERNELS,
    PMU_DEFAULT_UNIT,
    is_communication,
    pmu_field,
)
from tb_npu_plugin.backend.schema.memory import (
    BLOCK_STATES,
    MEASURES,
    MEMORY_BLOCKS,
    MEMORY_CURVE,
    MEMORY_POINTS,
    MODULE_MEMORY,
    STATIC_MEMORY,
    block_state_sql,
)
from tb_npu_plugin.backend.schema.operators import (
    AI_CPU,
    API_STATISTICS,
    L2_CACHE,
    OP_STATISTICS,
    OPERATOR_NESTED,
    OPERATOR_SUMMARY,
    OPERATORS,
)
from tb_npu_plugin.backend.schema.steps import STEPS
from tb_npu_plugin.backend.schema.trace import COUNTERS, FLOWS, SLICES, TRACK_KINDS, TRACKS

__all__ = [
    "AI_CPU",
    "API_STATISTICS",
    "BLOCK_STATES",
    "COMM_LINKS",
    "COMM_MATRIX",
    "COMM_OPS",
    "COMM_PACKETS",
    "COUNTERS",
    "FLOWS",
    "KERNELS",
    "KERNEL_SUMMARY",
    "L2_CACHE",
    "MEASURES",
    "MEMORY_BLOCKS",
    "MEMORY_CURVE",
    "MEMORY_POINTS",
    "MODULE_MEMORY",
    "NO_ID",
    "OPERATORS",
    "OPERATOR_NESTED",
    "OPERATOR_SUMMARY",
    "OP_STATISTICS",
    "OVERLAP_SUMMARY",
    "PMU_DEFAULT_UNIT",
    "SLICES",
    "STATIC_MEMORY",
    "STEPS",
    "TABLES",
    "TRACKS",
    "TRACK_KINDS",
    "Field",
    "TableSchema",
    "block_state_sql",
    "extra_key",
    "header_key",
    "is_communication",
    "pmu_field",
    "scale",
    "split_unit",
]

#: Every canonical table by name.
TABLES = {
    t.name: t
    for t in (
        KERNELS,
        KERNEL_SUMMARY,
        STEPS,
        OPERATORS,
        OPERATOR_NESTED,
        OPERATOR_SUMMARY,
        OP_STATISTICS,
        API_STATISTICS,
        L2_CACHE,
        AI_CPU,
        MEMORY_BLOCKS,
        MEMORY_POINTS,
        MEMORY_CURVE,
        MODULE_MEMORY,
        STATIC_MEMORY,
        COMM_OPS,
        COMM_LINKS,
        COMM_PACKETS,
        COMM_MATRIX,
        OVERLAP_SUMMARY,
        TRACKS,
        SLICES,
        FLOWS,
        COUNTERS,
    )
}
