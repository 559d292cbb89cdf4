"""All kernels of the selection, or grouped by what a kernel tuner asks for."""

from __future__ import annotations

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.i18n import pick
from tb_npu_plugin.backend.readers.csv_file import ident, literal
from tb_npu_plugin.backend.schema import KERNELS, Field, is_communication, pmu_field
from tb_npu_plugin.backend.selection import ADDED, Selected
from tb_npu_plugin.backend.tables import Col, Query, TableRequest, col, empty_table, page
from tb_npu_plugin.backend.views import kernel_joins as joins

TABLES = ("kernels", "op_statistics", "l2_cache", "ai_cpu")
#: Group word -> grouping columns.
GROUPS: dict[str, tuple[str, ...]] = {
    "": (),
    "name": ("name",),
    "type": ("type", "core"),
    "core": ("core",),
    "shape": ("type", "input_shapes"),
    "stream": ("stream",),
    "step": ("step",),
    "rank": ("rank",),
}
#: Group words that show another file as it stands.
FILES = {
    "statistic": ("op_statistics", joins.statistic_query),
    "l2": ("l2_cache", joins.l2_query),
    "aicpu": ("ai_cpu", joins.ai_cpu_query),
}
#: Counters shown without being asked for, where the capture holds them.
SHOWN_COUNTERS = (
    "aic_mac_ratio",
    "aiv_vec_ratio",
    "mac_ratio",
    "vec_ratio",
    "cube_utilization_ratio",
)


def kernel(sel: Selected, request: TableRequest) -> results.Kernel:
    """A page of kernels or groups. Empty while nothing was read (``meta.findings`` says why)."""
    query = kernel_query(sel, request.group)
    if query is None:
        return results.Kernel(empty_table(_file_groups(sel)), "")
    return results.Kernel(page(sel.store, query, request), note(sel))


def kernel_query(sel: Selected, group: str) -> Query | None:
    """The kernel table of the selection; None while no kernels have been read.

    Raises RequestError 400 for an unknown group.
    """
    if group in FILES:
        found = FILES[group][1](sel)
        if found:
            found.group = group
            found.groups = _groups(sel, present_columns(sel)) if sel.paths("kernels") else []
        return found
    if group not in GROUPS:
        known = ", ".join([*(g for g in GROUPS if g), *FILES])
        raise RequestError(400, "bad-group", f"Kernels cannot be grouped by {group!r}.",
                           f"Groups: {known}")  # fmt: skip
    source = sel.source("kernels")
    if source is None:
        return None
    present = present_columns(sel)
    keys = list(GROUPS[group])
    columns = _grouped(sel, keys, source, present) if keys else _plain(sel, present)
    return Query(
        source,
        columns,
        keys[0] if keys else "name",
        "total_ns:desc" if keys else "dur_ns:desc",
        keys,
        group,
        _groups(sel, present),
        None if keys else base_ns(sel),
        two_stage=not keys,
    )


def present_columns(sel: Selected) -> dict[str, bool]:
    """column -> whether any row of the captures has a value in it (from Parquet's statistics)."""
    return sel.once("present", make=lambda: _present(sel))


def _present(sel: Selected) -> dict[str, bool]:
    if sel.folded("kernels"):
        source = sel.source("kernels", steps=False, devices=False, told=False)
        names = [row[0] for row in sel.rows(f"DESCRIBE SELECT * FROM {source}")]
        names = [name for name in names if name not in ADDED]
        counts = sel.row(f"SELECT {', '.join(f'count({ident(n)})' for n in names)} FROM {source}")
        return {name: count > 0 for name, count in zip(names, counts or (), strict=True)}
    files = ", ".join(map(literal, sel.paths("kernels")))
    rows = sel.rows(
        "SELECT path_in_schema, bool_or(coalesce(stats_null_count, 0) < num_values), "
        f"min(column_id) FROM parquet_metadata([{files}]) GROUP BY 1 ORDER BY 3, 1"
    )
    if not rows:  # no row groups: a header without kernels
        described = sel.rows(
            f"DESCRIBE SELECT * FROM read_parquet([{files}], hive_partitioning=false)"
        )
        rows = [(name[0], False, 0) for name in described]
    return {name: bool(held) for name, held, _ in rows}


def base_ns(sel: Selected) -> int | None:
    """Origin of the page's times: the earliest kernel of the captures, whatever steps are chosen."""
    source = sel.source("kernel_summary", steps=False, devices=False, told=False)
    row = sel.row(f"SELECT min(first_ns) FROM {source}") if source else None
    return int(row[0]) if row and row[0] is not None else None


def note(sel: Selected) -> str:
    """What the table covers: rows, computing and communication time, in a sentence."""
    source = sel.source("kernels")
    if source is None:  # the capture was deleted a moment ago
        return ""
    comm = is_communication("coalesce(core, '')")
    row = sel.row(
        f"SELECT count(*), count(*) FILTER ({comm}), "
        f"sum(dur_ns) FILTER (NOT {comm} AND dur_ns >= 0), "
        f"sum(dur_ns) FILTER ({comm} AND dur_ns >= 0) FROM {source}"
    )
    assert row is not None
    total, communications, computing, communicating = row
    text = sel.word(f"{total:,} kernels", f"{total:,} 个 Kernel")
    text += sel.word(f", {wording.duration(computing)} computing",
                     f"，计算 {wording.duration(computing)}")  # fmt: skip
    if communications:
        text += sel.word(
            f" and {wording.duration(communicating)} in {communications:,} communication operations",
            f"，{communications:,} 个通信算子共 {wording.duration(communicating)}",
        )
    text += sel.word(" (sums of durations).", "（耗时之和）。")
    return text + joins.l2_note(sel, present_columns(sel))


def _groups(sel: Selected, present: dict[str, bool]) -> list[str]:
    allowed = []
    for word, keys in GROUPS.items():
        if word == "rank" and len(sel.captures) < 2:
            continue
        if all(present.get(k, True) for k in keys):
            allowed.append(word)
    return allowed + _file_groups(sel)


def _file_groups(sel: Selected) -> list[str]:
    return [word for word, (table, _) in FILES.items() if sel.parts(table)]


def _plain(sel: Selected, present: dict[str, bool]) -> list[Col]:
    columns: list[Col] = []
    for f in KERNELS.fields:
        shown = f.shown and present.get(f.key, False)
        columns.append(col(f, sel.lang, shown=shown or f.key in ("name", "dur_ns")))
    known = {f.key for f in KERNELS.fields}
    for name in present:
        if name in known or name in ("rank", "row"):
            continue
        counter = stored_counter(name)
        if counter:
            columns.append(col(counter, sel.lang, shown=counter.key in SHOWN_COUNTERS))
        else:
            columns.append(Col(name, "text", name.removeprefix("x_"), ident(name), shown=False))
    columns += joins.l2_columns(sel, present)
    unknown = any(c.rank is None for c in sel.captures) and len(sel.captures) > 1
    columns.insert(
        1, Col("rank", "rank", "Rank", "rank", shown=len(sel.captures) > 1 and not unknown)
    )
    columns.append(Col("capture", "text", sel.word("Capture", "采集"), "capture", shown=unknown))
    columns.append(Col("row", "int", sel.word("Row", "行"), "row", shown=False))
    return columns


def stored_counter(column: str) -> Field | None:
    """The counter that a stored column holds (``aic_mac_time_ns`` back from its header)."""
    for suffix, unit in (("_ns", ""), ("_bytes_per_s", ""), ("_bytes", "_datas"), ("_ratio", "")):
        if column.endswith(suffix):
            f = pmu_field(column.removesuffix(suffix) + unit)
            if f and f.key == column:
                return f
    return pmu_field(column)


def _grouped(sel: Selected, keys: list[str], source: str, present: dict[str, bool]) -> list[Col]:
    columns: list[Col] = []
    for key in keys:
        f = KERNELS.get(key)
        columns.append(col(f, sel.lang, shown=True) if f else Col(key, "rank", "Rank", ident(key)))
    if keys in (["name"], ["type", "input_shapes"]) and present.get("core"):
        core = KERNELS.get("core")
        assert core is not None
        columns.append(_agg(col(core, sel.lang, "any_value(core)")))
    if keys == ["name"] and present.get("type"):
        kind = KERNELS.get("type")
        assert kind is not None
        columns.insert(1, _agg(col(kind, sel.lang, "any_value(type)")))
    valid = "CASE WHEN dur_ns >= 0 THEN dur_ns END"
    whole = f"(SELECT sum({valid}) FROM {source})"
    w = sel.word

    def add(key: str, kind: results.Kind, en: str, zh: str, sql: str, about: str = "",
            shown: bool = True) -> None:  # fmt: skip
        columns.append(Col(key, kind, pick(sel.lang, en, zh), sql, about, shown, aggregate=True))

    add("count", "int", "Count", "次数", "count(*)")
    add("total_ns", "duration", "Total", "总耗时", f"sum({valid})")
    add("total_ratio", "ratio", "Share", "占比", f"sum({valid}) / nullif({whole}, 0)",
        w("Share of the kernel time of the selection", "占所选范围内 Kernel 总耗时的比例"))  # fmt: skip
    add("avg_ns", "duration", "Avg", "平均", f"avg({valid})")
    add("min_ns", "duration", "Min", "最小", f"min({valid})")
    add("max_ns", "duration", "Max", "最大", f"max({valid})")
    add("wait_ns", "duration", "Wait", "等待", "sum(wait_ns)",
        w("Sum of the gaps before these kernels", "这些 Kernel 之前间隔的总和"))  # fmt: skip
    for name in present:
        f = stored_counter(name)
        if f is None:
            continue
        sql, about = _counter_sum(f, present)
        if sql:
            columns.append(
                Col(f.key, f.kind, pick(sel.lang, f.en, f.zh), sql, w(*about),
                    f.key in SHOWN_COUNTERS, aggregate=True)
            )  # fmt: skip
    return columns + joins.statistic_columns(sel, keys)


def _agg(column: Col) -> Col:
    return Col(column.key, column.kind, column.label, column.sql, column.description,
               column.shown, column.concept, aggregate=True)  # fmt: skip


def _counter_sum(f: Field, present: dict[str, bool]) -> tuple[str, tuple[str, str]]:
    """How a counter sums up over kernels, and what that means. Ratios are weighted by core time."""
    key = ident(f.key)
    if f.kind == "ratio":
        if f.key == "cube_utilization_ratio":
            weight = "dur_ns"
        elif f.key.startswith("aiv_"):
            weight = "aiv_time_ns" if "aiv_time_ns" in present else "dur_ns"
        elif f.key.startswith("aic_") or "aicore_time_ns" in present:
            weight = "aicore_time_ns" if "aicore_time_ns" in present else "dur_ns"
        else:
            weight = "dur_ns"
        sql = (f"sum({key} * {ident(weight)}) / "
               f"nullif(sum({ident(weight)}) FILTER ({key} IS NOT NULL), 0)")  # fmt: skip
        return sql, (f"Mean, weighted by {weight}", f"按 {weight} 加权的平均值")
    if f.kind == "rate":
        return f"avg({key})", ("Mean over the kernels", "各 Kernel 的平均值")
    if f.kind in ("duration", "bytes", "number"):
        return f"sum({key})", ("Sum over the kernels", "各 Kernel 之和")
    return "", ("", "")
