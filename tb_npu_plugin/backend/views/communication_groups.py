"""Communication groups of a selection: their names, and which rank a position in one is."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache

from tb_npu_plugin.backend import wording
from tb_npu_plugin.backend.readers.communication_group import CommGroup, of_analysis, of_metadata
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.store import Store

#: What stands for "no world size known" in a comparison.
_ANY = 2**31


@dataclass(frozen=True)
class _Positions:
    """What one capture's matrix says about one group: its own position, and all it links."""

    rank: int | None
    group: str
    own: int | None
    seen: frozenset[int]


def known_groups(sel: Selected) -> dict[str, CommGroup]:
    """Group id -> name and ranks, from an analysis beside the captures, else from metadata."""
    found: dict[str, CommGroup] = {}
    for directory in {c.path.parent for c in sel.recording.captures}:
        for group in of_analysis(directory):
            found.setdefault(group.id, group)
    for group in (g for c in sel.recording.captures for g in c.groups):
        found.setdefault(group.id, group)
    for capture in sel.recording.captures:
        for group in of_metadata(capture.info.metadata):
            old = found.get(group.id)
            if old is None:
                found[group.id] = group
            elif (group.name and not old.name) or (group.ranks and not old.ranks):
                found[group.id] = replace(
                    old, name=old.name or group.name, ranks=old.ranks or group.ranks
                )
    return found


def communication_source(sel: Selected, table: str) -> str | None:
    """Table expression over a communication table with ``group_name`` and ``group_ranks``.

    None while nothing of it has been read. These tables carry no device.
    """
    source = sel.source(table, devices=False)
    if source is None:
        return None
    unnamed = quote(sel.word("unnamed", "未命名"))
    groups = known_groups(sel)
    if not groups:
        return (
            f"(SELECT *, coalesce(comm_group, {unnamed}) AS group_name, "
            f"CAST(NULL AS VARCHAR) AS group_ranks FROM {source})"
        )
    return (
        f"(SELECT t.*, coalesce(g.group_label, t.comm_group, {unnamed}) AS group_name, "
        f"g.ranks AS group_ranks FROM {source} t LEFT JOIN {_values(groups)} "
        "ON g.id = t.comm_group)"
    )


def matrix_source(sel: Selected) -> str | None:
    """``comm_matrix`` with ``src`` and ``dst`` as ranks where they are known to be.

    ``numbering``: ``rank`` (the group's ranks are known), ``assumed`` (positions are taken as
    ranks, see :func:`assumed_groups`) or ``local`` (a position in the group, no rank known).
    """
    source = sel.source("comm_matrix", devices=False)
    if source is None:
        return None
    groups = known_groups(sel)
    assumed = ", ".join(quote(g) for g in sorted(assumed_groups(sel))) or "NULL"
    world = max((c.info.world_size or 0 for c in sel.recording.captures), default=0) or _ANY
    unnamed = quote(sel.word("unnamed", "未命名"))
    blank = {"": CommGroup("", "")}  # an empty VALUES list is no SQL; no row has this id

    def rank(column: str) -> str:
        return (
            f"CASE WHEN g.list IS NOT NULL THEN g.list[t.{column} + 1] "
            f"WHEN coalesce(t.comm_group, '') IN ({assumed}) AND t.{column} < {world} "
            f"THEN t.{column} END"
        )

    return (
        "(SELECT * EXCLUDE (src_rank, dst_rank, listed) REPLACE ("
        "CASE WHEN numbering = 'local' THEN src ELSE src_rank END AS src, "
        "CASE WHEN numbering = 'local' THEN dst ELSE dst_rank END AS dst) "
        "FROM (SELECT *, CASE WHEN src_rank IS NULL OR dst_rank IS NULL THEN 'local' "
        "WHEN listed THEN 'rank' ELSE 'assumed' END AS numbering FROM ("
        f"SELECT t.*, coalesce(g.group_label, t.comm_group, {unnamed}) AS group_name, "
        f"g.ranks AS group_ranks, g.list IS NOT NULL AS listed, {rank('src')} AS src_rank, "
        f"{rank('dst')} AS dst_rank FROM {source} t LEFT JOIN {_values(groups or blank)} "
        "ON g.id = t.comm_group)))"
    )


def _values(groups: dict[str, CommGroup]) -> str:
    rows = []
    for group in groups.values():
        label = quote(group.name.encode("utf-8", "replace").decode()) if group.name else "NULL"
        ranks = quote(wording.ranks(list(group.ranks))) if group.ranks else "NULL"
        listed = f"[{', '.join(str(r) for r in group.ranks)}]" if group.ranks else "NULL"
        rows.append(
            f"({quote(group.id)}, CAST({label} AS VARCHAR), CAST({ranks} AS VARCHAR), "
            f"CAST({listed} AS BIGINT[]))"
        )
    return f"(VALUES {', '.join(rows)}) g(id, group_label, ranks, list)"


def assumed_groups(sel: Selected) -> set[str]:
    """Groups whose ranks no file tells, but whose positions are the ranks as far as can be seen.

    In each capture's matrix its own position equals its rank, and at least one of these is not 0
    (in any group of rank 0, position 0 is rank 0). ``""`` is the group without a name.
    """
    fits: dict[str, bool] = {}
    fails: set[str] = set()
    for p in _positions(sel):
        if p.rank is None or p.own is None:
            continue
        if p.own != p.rank:
            fails.add(p.group)
        elif p.rank > 0:
            fits[p.group] = True
    return set(fits) - fails


def world_of_matrix(sel: Selected) -> int | None:
    """How many ranks the job has at least, by the links of the recording; None if it tells nothing.

    A group counts if its positions run from 0 without a gap, over all captures.
    """
    seen: dict[str, set[int]] = {}
    for p in _positions(sel):
        seen.setdefault(p.group, set()).update(p.seen)
    sizes = [len(s) for s in seen.values() if s and max(s) + 1 == len(s)]
    world = max(sizes, default=0)
    highest = max((c.rank for c in sel.recording.captures if c.rank is not None), default=-1)
    return world if world > max(1, highest) else None


def _positions(sel: Selected) -> tuple[_Positions, ...]:
    parts = sel.store.parts(sel.recording.captures, "comm_matrix", sel.prefer)
    return _read_positions(sel.store, tuple((str(path), c.rank) for c, _, path in parts))


@lru_cache(maxsize=64)
def _read_positions(
    store: Store, files: tuple[tuple[str, int | None], ...]
) -> tuple[_Positions, ...]:
    if not files:
        return ()
    ranks = dict(files)
    listed = ", ".join(quote(path) for path in ranks)
    with closing(store.cursor()) as cursor:
        rows = cursor.execute(
            "SELECT filename, coalesce(comm_group, ''), list(DISTINCT src), list(DISTINCT dst), "
            "list(DISTINCT src) FILTER (transport = 'LOCAL') "
            f"FROM read_parquet([{listed}], filename=true, union_by_name=true) GROUP BY ALL"
        ).fetchall()
    found = []
    for path, group, sources, targets, local in rows:
        own = sources if len(sources) == 1 else local or []
        found.append(
            _Positions(ranks[path], group, own[0] if len(own) == 1 else None,
                       frozenset(sources) | frozenset(targets))
        )  # fmt: skip
    return tuple(found)
