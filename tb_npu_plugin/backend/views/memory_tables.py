"""Tables of the memory view: allocations, operators, modules, static graphs."""

from __future__ import annotations

from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.results import Kind
from tb_npu_plugin.backend.schema import MEMORY_BLOCKS, MODULE_MEMORY, STATIC_MEMORY, TableSchema
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, col
from tb_npu_plugin.backend.views.memory_sources import base_ns, source

#: A block's size where it was allocated in the capture; else its sign tells of a release only.
_ALLOCATED = "CASE WHEN alloc_ns IS NOT NULL THEN size_bytes END"


def block_query(sel: Selected) -> Query | None:
    """Every block, a row each, as the file has them."""
    blocks = source(sel, "memory_blocks")
    if blocks is None:
        return None
    columns = [*_fields(sel, MEMORY_BLOCKS), *_extras(sel, blocks, MEMORY_BLOCKS)]
    return Query(blocks, _with_identity(sel, columns), "name", "size_bytes:desc",
                 base_ns=base_ns(sel), two_stage=True)  # fmt: skip


def operator_query(sel: Selected) -> Query | None:
    """Blocks by the operator that allocated them."""
    blocks = source(sel, "memory_blocks")
    if blocks is None:
        return None
    w = sel.word
    name = MEMORY_BLOCKS.get("name")
    assert name is not None
    columns = [col(name, sel.lang)]

    def add(
        key: str, kind: Kind, label: str, sql: str, about: str = "", shown: bool = True
    ) -> None:
        columns.append(Col(key, kind, label, sql, about, shown, aggregate=True))

    held = "state = 'held'"
    add("count", "int", w("Blocks", "块数"), "count(*)")
    add("total_bytes", "bytes", w("Total", "总量"), f"sum({_ALLOCATED})",
        w("Sum over the capture; freed memory may be counted again",
          "整段采集之和，复用的内存重复计入"))  # fmt: skip
    add("max_bytes", "bytes", w("Largest", "最大块"), f"max({_ALLOCATED})")
    add("avg_bytes", "bytes", w("Average", "平均"), f"avg({_ALLOCATED})", shown=False)
    add("held_count", "int", w("Still held", "未释放块数"), f"count(*) FILTER ({held})",
        w("Blocks not released in the capture", "采集期间未释放的内存块"))  # fmt: skip
    add("held_bytes", "bytes", w("Held size", "未释放大小"),
        f"coalesce(sum(size_bytes) FILTER ({held}), 0)")  # fmt: skip
    add("before_count", "int", w("From before", "采集前分配"), "count(*) FILTER (state = 'before')",
        shown=False)  # fmt: skip
    lifetime = "CASE WHEN dur_ns >= 0 THEN dur_ns END"
    add("avg_ns", "duration", w("Mean lifetime", "平均生命周期"), f"avg({lifetime})",
        w("Of the blocks that were released", "仅统计已释放的块"))  # fmt: skip
    add("max_ns", "duration", w("Longest lifetime", "最长生命周期"), f"max({lifetime})")
    return Query(blocks, columns, "name", "total_bytes:desc", ["name"], "operator")


def module_query(sel: Selected) -> Query | None:
    """CANN's and the driver's modules: highest, first and last of what each had reserved."""
    rows = source(sel, "module_memory")
    if rows is None:
        return None
    w = sel.word
    name = MODULE_MEMORY.get("component")
    assert name is not None
    columns = [
        col(name, sel.lang),
        Col("rank", "rank", "Rank", "rank", shown=len(sel.captures) > 1),
        Col("capture", "text", w("Capture", "采集"), "capture", shown=False),
        Col("device", "device", w("Device", "设备"), "device"),
    ]

    def add(key: str, kind: Kind, label: str, sql: str, shown: bool = True) -> None:
        columns.append(Col(key, kind, label, sql, shown=shown, aggregate=True))

    known = "FILTER (reserved_bytes IS NOT NULL AND time_ns IS NOT NULL)"
    first = f'(min(row(time_ns, "row", reserved_bytes)) {known})[3]'
    last = f'(max(row(time_ns, "row", reserved_bytes)) {known})[3]'
    add("peak_bytes", "bytes", w("Peak reserved", "峰值预留"), "max(reserved_bytes)")
    add("peak_at_ns", "time", w("Peak at", "峰值时刻"),
        f"-((max(row(reserved_bytes, -time_ns)) {known})[2])")  # fmt: skip
    add("first_bytes", "bytes", w("First", "起始"), first)
    add("last_bytes", "bytes", w("Last", "结束"), last)
    add("growth_bytes", "bytes", w("Growth", "增长"), f"{last} - {first}")
    add("samples", "int", w("Samples", "采样数"), "count(*)", shown=False)
    keys = ["part", "rank", "capture", "device", "component"]
    return Query(rows, columns, "component", "peak_bytes:desc", keys, "module",
                 base_ns=base_ns(sel))  # fmt: skip


def static_query(sel: Selected) -> Query | None:
    """Operators of static graphs; the file's TOTAL rows are sums of them and left out."""
    rows = source(sel, "static_memory")
    if rows is None:
        return None
    rows = f"(SELECT * FROM {rows} WHERE upper(coalesce(name, '')) <> 'TOTAL')"
    columns = [*_fields(sel, STATIC_MEMORY), *_extras(sel, rows, STATIC_MEMORY)]
    return Query(rows, _with_identity(sel, columns), "name", "size_bytes:desc", group="static",
                 two_stage=True)  # fmt: skip


def _fields(sel: Selected, table: TableSchema) -> list[Col]:
    return [col(f, sel.lang) for f in table.fields]


def _extras(sel: Selected, rows: str, table: TableSchema) -> list[Col]:
    """Columns the schema does not know, as the file names them."""
    names = sel.query(
        lambda cur: [r[0] for r in cur.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()]
    )
    return [
        Col(n, "text", n.removeprefix("x_"), ident(n), shown=False)
        for n in names
        if n.startswith("x_") and table.get(n) is None
    ]


def _with_identity(sel: Selected, columns: list[Col]) -> list[Col]:
    several = len(sel.captures) > 1
    unknown = several and any(c.rank is None for c in sel.captures)
    columns.insert(1, Col("rank", "rank", "Rank", "rank", shown=several and not unknown))
    columns.append(Col("capture", "text", sel.word("Capture", "采集"), "capture", shown=unknown))
    columns.append(Col("row", "int", sel.word("Row", "行"), '"row"', shown=False))
    return columns
