"""Who sent how much to whom, how fast and over what: dense arrays for a heat map."""

from __future__ import annotations

from typing import Any

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.communication_groups import matrix_source
from tb_npu_plugin.backend.views.communication_tables import MOVED, TIMED

#: A dense matrix of more ranks than this is megabytes of JSON.
MAX_RANKS = 256
MAX_KEYS = 200
TOTAL = "total"
LOCAL = "LOCAL"

#: (numbering is local, its group if so, position or rank): what a row and column stand for.
_End = tuple[bool, str, int]


def matrix(sel: Selected, key: str = "") -> results.RankMatrix | None:
    """The matrix of one key, summed over the selected steps and captures; None if nothing is read.

    ``key``: ``total`` (default; all operations), a key of the file (``allreduce-top1``, or an
    operation's name in the old form), either with ``@`` and the group's id to take one group only.
    An unknown key gives an empty matrix.
    """
    source = matrix_source(sel)
    if source is None:
        return None
    key = key or TOTAL
    keys, total_keys = _keys(sel, source)
    links = (
        "(SELECT *, numbering = 'local' AS local, "
        "CASE WHEN numbering = 'local' THEN group_name ELSE '' END AS domain "
        f"FROM {chosen(source, key)})"
    )
    ends = _all_ends(sel, links)
    among, block = len(ends), 1
    if len(ends) > MAX_RANKS and not any(local for local, *_ in ends):
        own = {c.rank for c in sel.captures if c.rank is not None}
        if len(sel.captures) < len(sel.recording.captures) and len(own) > 1:
            listed = ", ".join(map(str, sorted(own)))
            links = f"(SELECT * FROM {links} WHERE src IN ({listed}) AND dst IN ({listed}))"
        else:
            block = _block(len(ends))
            links = (
                f"(SELECT * REPLACE (src // {block} * {block} AS src, dst // {block} * {block} AS "
                f"dst) FROM {links} WHERE transport <> '{LOCAL}')"
            )
        ends = _all_ends(sel, links)
    rows = sel.rows(
        # Transports are told apart first: text is many times slower to sum up than numbers.
        "SELECT local, domain, src, dst, string_agg(transport, '+' ORDER BY transport), sum(size), "
        "sum(time), sum(moved) / nullif(sum(known), 0) * 1e9, bool_or(assumed) "
        f"FROM (SELECT local, domain, src, dst, transport, sum(size_bytes) AS size, "
        f"sum(time_ns) AS time, {MOVED} AS moved, {TIMED} AS known, "
        f"bool_or(numbering = 'assumed') AS assumed FROM {links} WHERE {_among_first(ends)} "
        "GROUP BY ALL) GROUP BY ALL ORDER BY ALL"
    )
    return _dense(sel, key, keys, total_keys, ends, rows, among, block)


def _all_ends(sel: Selected, links: str) -> list[_End]:
    """What the links join, in order."""
    return sorted(
        sel.rows(
            " UNION ".join(f"SELECT local, domain, {end} FROM {links}" for end in ("src", "dst"))
        )
    )


def _block(ranks: int) -> int:
    """Neighbouring ranks that share a row: a host's eight, or more until they can be drawn."""
    block = 8
    while ranks > block * MAX_RANKS:
        block *= 2
    return block


def _among_first(ends: list[_End]) -> str:
    """Predicate: both ends of the link are shown."""
    if len(ends) <= MAX_RANKS:
        return "TRUE"
    local, domain, number = ends[MAX_RANKS - 1]
    last = f"row({local}, {quote(domain)}, {number})"
    return f"row(local, domain, src) <= {last} AND row(local, domain, dst) <= {last}"


def chosen(source: str, key: str) -> str:
    """The rows of ``source`` that ``key`` stands for.

    ``total`` takes the sums a file holds, and where a step of it holds none, its operations.
    """
    base, at, group = key.rpartition("@")
    if not at:
        base, group = key, ""
    of_group = f" AND coalesce(comm_group, '') = {quote(group)}" if at else ""
    if base != TOTAL:
        return f"(SELECT * FROM {source} WHERE key = {quote(base)}{of_group})"
    sums = f"SELECT DISTINCT part, step, kind FROM {source} WHERE pick = 'total'"
    same = " AND ".join(f"o.{c} IS NOT DISTINCT FROM s.{c}" for c in ("part", "step", "kind"))
    return (
        f"(SELECT * FROM {source} WHERE pick = 'total'{of_group} UNION ALL "
        f"SELECT * FROM (SELECT * FROM {source} WHERE pick = 'op'{of_group}) o "
        f"ANTI JOIN ({sums}) s ON {same})"
    )


def _keys(sel: Selected, source: str) -> tuple[list[results.MatrixKey], int]:
    """What can be chosen, ``total`` first, and how many choices there are."""
    rows = sel.rows(
        "SELECT key, coalesce(comm_group, ''), any_value(group_name), any_value(pick) "
        f"FROM {source} GROUP BY key, comm_group ORDER BY any_value(pick) <> 'total', key, comm_group"
    )
    several = len({group for _, group, *_ in rows}) > 1
    found = {TOTAL: sel.word("all operations", "全部算子")}
    for key, group, name, _ in rows:
        if key != TOTAL:
            found.setdefault(key, key)
        if several:
            found.setdefault(f"{key}@{group}", f"{key} · {name}")
    choices = [results.MatrixKey(k, label) for k, label in found.items()]
    return choices[:MAX_KEYS], len(choices)


def _ends(row: tuple[Any, ...]) -> tuple[_End, _End]:
    local, group, src, dst = row[:4]
    return (local, group, src), (local, group, dst)


def _dense(
    sel: Selected,
    key: str,
    keys: list[results.MatrixKey],
    total_keys: int,
    ends: list[_End],
    rows: list[tuple[Any, ...]],
    among: int,
    block: int,
) -> results.RankMatrix:
    shown = ends[:MAX_RANKS]
    place = {end: i for i, end in enumerate(shown)}
    n = len(shown)
    size: list[float | None] = [None] * (n * n)
    time, rate = size.copy(), size.copy()
    transport = [-1] * (n * n)
    names: dict[str, int] = {}
    own: list[float | None] = [None] * n
    for row in rows:
        src, dst = (place.get(end) for end in _ends(row))
        if src is None or dst is None:
            continue
        cell = src * n + dst
        *_, name, size[cell], time[cell], speed, _ = row
        transport[cell] = names.setdefault(name, len(names))
        if name == LOCAL:
            own[src] = speed
        else:
            rate[cell] = speed
    return results.RankMatrix(
        key=key,
        keys=keys,
        ranks=[_rank(sel, end, len({e[1] for e in shown if e[0]}) > 1, block) for end in shown],
        size_bytes=size,
        time_ns=time,
        bandwidth_bytes_per_s=rate,
        transport=transport,
        transports=list(names),
        local_bandwidth_bytes_per_s=own,
        total_ranks=among,
        total_keys=total_keys,
        note=_note(sel, ends, rows, among, block),
    )


def _rank(sel: Selected, end: _End, name_group: bool, block: int) -> results.MatrixRank:
    local, group, number = end
    if block > 1:
        ranks = f"{number}-{number + block - 1}"
        return results.MatrixRank(f"Rank {ranks}", None, None, None, ranks)
    if not local:
        return results.MatrixRank(f"Rank {number}", number, None, None, str(number))
    label = sel.word(f"local {number}", f"域内 {number}")
    label = f"{label} · {group}" if name_group else label
    return results.MatrixRank(label, None, number, group, None)


def _note(
    sel: Selected, ends: list[_End], rows: list[tuple[Any, ...]], among: int, block: int
) -> str:
    w = sel.word
    notes = []
    if any(end[0] for end in ends):
        first = next(end for end in reversed(ends) if end[0])
        notes.append(w(
            f"Local ranks (e.g. local rank {first[2]}) are positions in a communication group: "
            "no file tells which global ranks they are.",
            f"域内序号（例如 {first[2]}）是在通信域中的位置：没有文件说明对应的全局卡号。"))  # fmt: skip
    if any(row[8] for row in rows):
        notes.append(w(
            "Positions in the group are taken as ranks: each capture's own position is its rank.",
            "将通信域内的序号视为卡号：各采集自身的序号与其卡号一致。"))  # fmt: skip
    if any(row[4] == LOCAL for row in rows):
        notes.append(w("LOCAL copies have no link bandwidth and are left out of it.",
                       "LOCAL 为芯片内拷贝，不计入链路带宽。"))  # fmt: skip
    if block > 1:
        notes.append(w(
            f"{among:,} ranks, {block} of them in a row. A click on a cell shows its ranks one by one.",
            f"共 {among:,} 张卡，每行 {block} 张；单击一格可逐卡查看。"))  # fmt: skip
    elif len(ends) < among:
        notes.append(w("Links to ranks that are not selected are left out.",
                       "未选择的卡的链路未显示。"))  # fmt: skip
    if len(ends) > MAX_RANKS:
        notes.append(w(f"The first {MAX_RANKS} of {len(ends):,} ranks are shown: select ranks to see others.",
                       f"仅显示 {len(ends):,} 个中的前 {MAX_RANKS} 个：可选择卡号查看其他。"))  # fmt: skip
    return " ".join(notes)
