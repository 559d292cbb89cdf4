"""Communication groups of a selection: their names, and which rank a position in one is."""

from __future__ import annotations

from dataclasses import replace

from tb_npu_plugin.backend import wording
from tb_npu_plugin.backend.readers.communication_group import CommGroup, of_analysis, of_metadata
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.schema import COMM_OPS
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.communication_operations import operations_source

#: What stands for "no world size known" in a comparison.
_ANY = 2**31
_LOCAL = "{}(src) FILTER (transport = 'LOCAL')"


def known_groups(sel: Selected) -> dict[str, CommGroup]:
    """Group id -> name and ranks, from an analysis beside the captures, else from metadata."""
    found: dict[str, CommGroup] = {}
    for directory in {c.path.parent for c in sel.recording.captures}:
        for group in of_analysis(directory):
            found.setdefault(group.id, group)
    for group in (g for c in sel.recording.captures for g in c.groups):
        found.setdefault(group.id, group)
    for group in sel.whole().once("groups", make=lambda: _of_captures(sel)):
        _merge(found, group)
    return found


def _of_captures(sel: Selected) -> list[CommGroup]:
    """Every group that the captures' metadata name, once."""
    found: dict[str, CommGroup] = {}
    complete: set[str] = set()  # the ranks of one group stand in the metadata of each of them
    for capture in sel.recording.captures:
        for group in of_metadata(capture.info.metadata, complete):
            _merge(found, group)
            if found[group.id].name and found[group.id].ranks:
                complete.add(group.id)
    return list(found.values())


def _merge(found: dict[str, CommGroup], group: CommGroup) -> None:
    old = found.get(group.id)
    if old is None:
        found[group.id] = group
    elif (group.name and not old.name) or (group.ranks and not old.ranks):
        found[group.id] = replace(old, name=old.name or group.name, ranks=old.ranks or group.ranks)


def communication_source(sel: Selected, table: str) -> str | None:
    """Table expression over a communication table with ``group_name``, ``group_ranks`` (text) and
    ``group_size``; the last two NULL where no file tells them.

    None while nothing of it has been read. These tables carry no device. ``comm_ops`` are those of
    :func:`operations_source`.
    """
    source = operations_source(sel) if table == COMM_OPS.name else sel.source(table, devices=False)
    if source is None:
        return None
    unnamed = quote(sel.word("unnamed", "未命名"))
    groups = known_groups(sel)
    if not groups:
        return (
            f"(SELECT *, coalesce(comm_group, {unnamed}) AS group_name, "
            f"CAST(NULL AS VARCHAR) AS group_ranks, CAST(NULL AS BIGINT) AS group_size FROM {source})"
        )
    return (
        f"(SELECT t.*, coalesce(g.group_label, t.comm_group, {unnamed}) AS group_name, "
        f"g.ranks AS group_ranks, g.size AS group_size FROM {source} t LEFT JOIN "
        f"{_values(groups)} ON g.id = t.comm_group)"
    )


def matrix_source(sel: Selected) -> str | None:
    """``comm_matrix`` with ``group_name``, ``group_ranks``, and ranks as ``src`` and ``dst`` where they
    are known.

    ``numbering``: ``rank`` (the group's ranks are known), ``assumed`` (positions are taken as
    ranks, see :func:`assumed_groups`) or ``local`` (a position in the group, no rank known).
    """
    # Written once for all ranks, then, rather than for each choice of them.
    base = sel.whole() if sel.folded("comm_matrix") else sel
    source = base.source("comm_matrix", steps=False, devices=False, told=False)
    if source is None:
        return None
    sel.parts("comm_matrix")  # told as provenance
    kept = base.kept("matrix", _matrix_sql(base, source), "comm_matrix")
    rows = kept if base is sel else f"({sel.narrowed(kept)})"
    unnamed = quote(sel.word("unnamed", "未命名"))
    chosen = "" if sel.steps.everything else f" WHERE {sel.steps.sql('step')}"
    return f"(SELECT * REPLACE (coalesce(group_name, {unnamed}) AS group_name) FROM {rows}{chosen})"


def _matrix_sql(sel: Selected, source: str) -> str:
    """The query of :func:`matrix_source`, whatever steps are chosen and whatever the language."""
    groups = known_groups(sel)
    assumed = ", ".join(quote(g) for g in sorted(assumed_groups(sel))) or "NULL"
    world = sel.recording.world_size or _ANY
    # One list of the ranks of all groups: a list for each group would be copied for each row.
    every: list[int] = []
    rows = []
    for group in groups.values():
        rows.append(
            f"({quote(group.id)}, {_label(group)}, {_ranks(group)}, {len(every)}, {len(group.ranks)})"
        )
        every += group.ranks
    rows = rows or [
        "('', CAST(NULL AS VARCHAR), CAST(NULL AS VARCHAR), 0, 0)"
    ]  # an empty VALUES list is no SQL
    listed = f"CAST([{', '.join(map(str, every))}] AS BIGINT[])"

    def rank(column: str) -> str:
        return (
            f"CASE WHEN g.size > 0 THEN CASE WHEN t.{column} < g.size "
            f'THEN {listed}[g."begin" + t.{column} + 1] END '
            f"WHEN coalesce(t.comm_group, '') IN ({assumed}) AND t.{column} < {world} "
            f"THEN t.{column} END"
        )

    return (
        "SELECT * EXCLUDE (src_rank, dst_rank, listed) REPLACE ("
        "CASE WHEN numbering = 'local' THEN src ELSE src_rank END AS src, "
        "CASE WHEN numbering = 'local' THEN dst ELSE dst_rank END AS dst) "
        "FROM (SELECT *, CASE WHEN src_rank IS NULL OR dst_rank IS NULL THEN 'local' "
        "WHEN listed THEN 'rank' ELSE 'assumed' END AS numbering FROM ("
        "SELECT t.*, coalesce(g.group_label, t.comm_group) AS group_name, g.ranks AS group_ranks, "
        f"coalesce(g.size > 0, false) AS listed, {rank('src')} AS src_rank, "
        f"{rank('dst')} AS dst_rank FROM {source} t "
        f'LEFT JOIN (VALUES {", ".join(rows)}) g(id, group_label, ranks, "begin", size) '
        "ON g.id = t.comm_group))"
    )


def _values(groups: dict[str, CommGroup]) -> str:
    rows = (
        f"({quote(g.id)}, {_label(g)}, {_ranks(g)}, CAST({len(g.ranks) or 'NULL'} AS BIGINT))"
        for g in groups.values()
    )
    return f"(VALUES {', '.join(rows)}) g(id, group_label, ranks, size)"


def _label(group: CommGroup) -> str:
    return _text(group.name.encode("utf-8", "replace").decode() if group.name else None)


def _ranks(group: CommGroup) -> str:
    return _text(wording.ranks(list(group.ranks)) if group.ranks else None)


def _text(text: str | None) -> str:
    return "CAST(NULL AS VARCHAR)" if text is None else quote(text)


def assumed_groups(sel: Selected) -> set[str]:
    """Groups whose ranks no file tells, but whose positions are the ranks as far as can be seen.

    In each capture's matrix its own position equals its rank, and at least one of these is not 0
    (in any group of rank 0, position 0 is rank 0). ``""`` is the group without a name.
    """
    source = sel.whole().source("comm_matrix", steps=False, devices=False, told=False)
    if source is None:
        return set()
    rows = sel.rows(
        "SELECT rank, id, own FROM (SELECT part, any_value(rank) AS rank, "
        "coalesce(comm_group, '') AS id, CASE WHEN min(src) = max(src) THEN min(src) "
        f"WHEN {_LOCAL.format('min')} = {_LOCAL.format('max')} THEN {_LOCAL.format('min')} END AS own "
        f"FROM {source} GROUP BY part, id) WHERE rank IS NOT NULL AND own IS NOT NULL"
    )
    fails = {group for rank, group, own in rows if own != rank}
    return {group for rank, group, own in rows if own == rank and rank > 0} - fails


def world_of_matrix(sel: Selected) -> int | None:
    """How many ranks the job has at least, by the links of the recording; None if it tells nothing.

    A group counts as :func:`group_sizes` has it, over all captures.
    """
    world = max(group_sizes(sel).values(), default=0)
    highest = max((c.rank for c in sel.recording.captures if c.rank is not None), default=-1)
    return world if world > max(1, highest) else None


def group_sizes(sel: Selected) -> dict[str, int]:
    """Group id -> how many ranks it links, where its positions run from 0 without a gap."""
    source = sel.whole().source("comm_matrix", steps=False, devices=False, told=False)
    if source is None:
        return {}
    ends = " UNION ".join(
        f"SELECT DISTINCT coalesce(comm_group, '') AS id, {end} AS position FROM {source}"
        for end in ("src", "dst")
    )
    return dict(
        sel.rows(
            f"SELECT id, count(*) FROM ({ends}) GROUP BY id HAVING max(position) + 1 = count(*)"
        )
    )
