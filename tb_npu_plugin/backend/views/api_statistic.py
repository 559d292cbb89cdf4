"""Host API calls by level (acl, node, model, communication, runtime)."""

from __future__ import annotations

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.schema import API_STATISTICS
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, TableRequest, col, empty_table, page

TABLES = ("api_statistics",)
GROUPS: dict[str, tuple[str, ...]] = {
    "": (),
    "name": ("name", "level"),
    "level": ("level",),
    "rank": ("rank",),
}


def api(sel: Selected, request: TableRequest) -> results.Api:
    """A page of host API statistics. Empty where they were not recorded."""
    query = api_query(sel, request.group)
    if query is None:
        return results.Api(empty_table(GROUPS), "")
    return results.Api(page(sel.store, query, request), _note(sel, query.source))


def api_query(sel: Selected, group: str) -> Query | None:
    """The API table of the selection; None while there is none. 400 for an unknown group."""
    if group not in GROUPS:
        known = ", ".join(g for g in GROUPS if g)
        raise RequestError(400, "bad-group", f"APIs cannot be grouped by {group!r}.",
                           f"Groups: {known}")  # fmt: skip
    source = sel.source("api_statistics", steps=False, devices=False)
    if source is None:
        return None
    keys = list(GROUPS[group])
    groups = [g for g in GROUPS if len(sel.captures) > 1 or g not in ("rank", "name")]
    whole = f"(SELECT sum(total_ns) FROM {source})"
    share = sel.word("Share of the listed API time; levels call each other, so the sum counts "
                     "some time twice", "占所列 API 耗时；层级间存在嵌套调用，合计会重复计时")  # fmt: skip
    by_key = {f.key: col(f, sel.lang) for f in API_STATISTICS.fields}
    if not keys:
        columns = list(by_key.values())
        columns.insert(2, Col("rank", "rank", "Rank", "rank", shown=len(sel.captures) > 1))
        columns.insert(5, Col("total_ratio", "ratio", sel.word("Share", "占比"),
                              f"total_ns / nullif({whole}, 0)", share, concept="host"))  # fmt: skip
        return Query(source, columns, "name", "total_ns:desc", [], group, groups)
    sums = {
        "count": "sum(count)",
        "total_ns": "sum(total_ns)",
        "avg_ns": "sum(total_ns) / nullif(sum(count), 0)",
        "min_ns": "min(min_ns)",
        "max_ns": "max(max_ns)",
    }
    columns = [by_key[k] if k in by_key else Col(k, "rank", "Rank", k) for k in keys]
    for key, sql in sums.items():
        base = by_key[key]
        columns.append(Col(key, base.kind, base.label, sql, base.description, True, base.concept,
                           aggregate=True))  # fmt: skip
    columns.insert(len(keys) + 2, Col("total_ratio", "ratio", sel.word("Share", "占比"),
                   f"sum(total_ns) / nullif({whole}, 0)", share, True, "host", True))  # fmt: skip
    return Query(source, columns, keys[0], "total_ns:desc", keys, group, groups)


def _note(sel: Selected, source: str) -> str:
    row = sel.rows(
        f"SELECT level, sum(count), sum(total_ns) FROM {source} GROUP BY level ORDER BY 3 DESC"
    )
    parts = [
        sel.word(
            f"{level or '?'}: {int(count or 0):,} calls, {wording.duration(total)}",
            f"{level or '?'}：{int(count or 0):,} 次，{wording.duration(total)}",
        )
        for level, count, total in row
    ]
    return sel.word("; ", "；").join(parts)
