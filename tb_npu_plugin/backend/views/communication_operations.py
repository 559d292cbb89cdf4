"""Operations of communication, whichever files tell them, with what each cost its step."""

from __future__ import annotations

from tb_npu_plugin.backend.schema import COMM_OPS
from tb_npu_plugin.backend.selection import Selected

#: What the kernels tell of an operation where nothing else does (Level0).
TOLD = ("name", "type", "step", "start_ns", "elapse_ns")


def has_overlap(sel: Selected) -> bool:
    """Whether it is known of some operation how much of it nothing hides."""

    def make() -> bool:
        files = sel.files("overlap_summary").values()
        return any(state.rows.get("overlap_summary") for found in files for state, _ in found)

    return sel.once("overlap", make=make)


def from_kernels(sel: Selected) -> bool:
    """Whether the operations are known by the kernels alone: names and times, no waits and sizes."""
    return has_overlap(sel) and sel.settled("comm_ops") and not sel.paths("comm_ops")


def operations_source(sel: Selected, *, steps: bool = True, brief: bool = True) -> str | None:
    """``comm_ops`` of the selection with ``not_overlapped_ns`` (NULL where the kernels do not tell it).

    A capture without ``comm_ops`` has the columns :data:`TOLD` from its kernels, unless not ``brief``.
    None while nothing of either has been read.
    """
    base = sel.whole() if sel.folded("comm_ops") else sel
    told = base.source("overlap_summary", steps=False, devices=False, told=False)
    rows = base.source("comm_ops", steps=False, devices=False, told=False)
    tables: tuple[str, ...]
    if rows is None:
        if told is None or not brief or not from_kernels(sel):
            return None
        sql, tables = _of_kernels(told), ("overlap_summary",)
    elif told is None:
        sql = f"SELECT *, CAST(NULL AS DOUBLE) AS not_overlapped_ns FROM {rows}"
        tables = ("comm_ops",)
    else:
        sql, tables = _joined(rows, told), ("comm_ops", "overlap_summary")
        if brief and base.settled("comm_ops") and _some_without(base):
            sql += (
                f" UNION ALL BY NAME {_of_kernels(told)} "
                f"WHERE part NOT IN (SELECT DISTINCT part FROM {rows})"
            )
    sel.parts(tables[0])  # told as provenance
    kept = base.kept("operations", sql, *tables)
    found = kept if base is sel else f"({sel.narrowed(kept)})"
    if not steps or sel.steps.everything:
        return found
    return f"(SELECT * FROM {found} WHERE {sel.steps.sql('step')})"


def _some_without(sel: Selected) -> bool:
    return bool(sel.files("overlap_summary").keys() - sel.files("comm_ops").keys())


def _joined(rows: str, told: str) -> str:
    """The k-th operation of a name is the k-th of that name among the kernels, if there are as many:
    the two files have clocks that differ by up to some 20 us."""
    return (
        "SELECT o.* EXCLUDE (nth, alike), c.not_overlapped_ns FROM ("
        "SELECT *, row_number() OVER (PARTITION BY part, name ORDER BY start_ns, row) AS nth, "
        f"count(*) OVER (PARTITION BY part, name) AS alike FROM {rows}) o LEFT JOIN ("
        f"SELECT part, name, nth, alike, not_overlapped_ns FROM {told}) c "
        "USING (part, name, nth, alike)"
    )


def _of_kernels(told: str) -> str:
    """The columns of ``comm_ops`` as far as kernels tell them."""
    nothing = ", ".join(
        f"CAST(NULL AS {f.dtype}) AS {f.key}" for f in COMM_OPS.fields if f.key not in TOLD
    )
    return f"SELECT rank, capture, part, row, {', '.join(TOLD)}, {nothing}, not_overlapped_ns FROM {told}"
