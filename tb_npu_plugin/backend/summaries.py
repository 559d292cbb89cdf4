"""Small tables that are made of large ones when a file is read, so that nobody goes through its rows
for a sum: of each capture, whatever form it was read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

from tb_npu_plugin.backend.overlap import overlap_summary

#: Raise when a summary changes: what has one is read again.
VERSION = 2
#: More versions than any reader has.
_READERS = 1000
#: On cores of which kind a kernel ran, and the counters of that kind.
_CLOCKED = (("('AI_CORE', 'MIX_AIC')", "aic_total_cycles", "aicore_time_ns"),
            ("('AI_VECTOR_CORE', 'MIX_AIV')", "aiv_total_cycles", "aiv_time_ns"))  # fmt: skip


def kernel_summary(source: str, columns: set[str]) -> str:
    """Kernels per type, core, step and device; by name where they have no type (Level0)."""
    cases = [
        f"WHEN blocks > 0 AND core IN {cores} AND {time} > 0 THEN {cycles} / ({time} * blocks)"
        for cores, cycles, time in _CLOCKED
        if {cycles, time, "blocks"} <= columns
    ]
    clock = f"CASE {' '.join(cases)} END" if cases else "CAST(NULL AS DOUBLE)"
    return (
        "SELECT type, CASE WHEN type IS NULL THEN name END AS name, core, step, device, "
        "count(*) AS count, sum(valid_ns) AS total_ns, min(valid_ns) AS min_ns, "
        "max(valid_ns) AS max_ns, sum(wait_ns) AS wait_ns, min(start_ns) AS first_ns, "
        # Cycles per ns; times 1000 is MHz.
        "max(start_ns) AS last_ns, round(median(clock) * 1000, 1) AS clock_mhz, "
        "count(clock) AS clocked FROM (SELECT *, CASE WHEN dur_ns >= 0 THEN dur_ns END AS valid_ns, "
        f"{clock} AS clock FROM {source}) GROUP BY ALL"
    )


def operator_summary(source: str, _columns: set[str]) -> str:
    """Calls of operators by name."""
    return (
        "SELECT name, count(*) AS count, sum(host_self_ns) AS host_self_ns, "
        f"sum(device_self_ns) AS device_self_ns FROM {source} GROUP BY ALL"
    )


#: Table -> its summaries: name -> query over (table expression, its columns).
TABLES: dict[str, dict[str, Callable[[str, set[str]], str]]] = {
    "kernels": {"kernel_summary": kernel_summary, "overlap_summary": overlap_summary},
    "operators": {"operator_summary": operator_summary},
}


def provided(reader: ModuleType) -> tuple[str, ...]:
    """The tables that reading a file gives: the reader's own, and summaries of them."""
    made = [name for table in reader.TABLES for name in TABLES.get(table, ())]
    return tuple(dict.fromkeys((*reader.TABLES, *made)))


def version(reader: ModuleType) -> int:
    """The reader's version, and that of the summaries where there are any."""
    number: int = reader.VERSION
    return (
        number + _READERS * VERSION if any(table in TABLES for table in reader.TABLES) else number
    )


def of(table: str, source: str, columns: set[str]) -> Iterator[tuple[str, str]]:
    """(name, query) of the summaries of ``table``, which ``source`` holds with ``columns``."""
    for name, query in TABLES.get(table, {}).items():
        yield name, query(source, columns)
