"""Communication: operations, links, packet sizes, and what each rank sent to which other."""

from __future__ import annotations

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Query, TableRequest, empty_table, page
from tb_npu_plugin.backend.views.communication_groups import world_of_matrix
from tb_npu_plugin.backend.views.communication_matrix import matrix
from tb_npu_plugin.backend.views.communication_operations import from_kernels
from tb_npu_plugin.backend.views.communication_summary import communication_line, rank_sums
from tb_npu_plugin.backend.views.communication_tables import QUERIES
from tb_npu_plugin.backend.views.link_peaks import link_peaks, peaks_text

__all__ = [
    "GROUPS",
    "OPTIONS",
    "TABLES",
    "communication",
    "communication_line",
    "communication_query",
    "matrix",
    "world_of_matrix",
]

TABLES = ("comm_ops", "comm_links", "comm_packets", "comm_matrix", "overlap_summary")
GROUPS = tuple(QUERIES)
#: ``key``: which rows of the matrix the heat map shows. ``peak``: of links, ``HCCS=28,RDMA=25`` GB/s.
OPTIONS = ("key", "peak")
#: What kernels alone can tell.
_BRIEF = ("", "type", "step", "rank")


def communication(sel: Selected, request: TableRequest) -> results.Communication:
    """The chosen table, sums per rank, and for ``group=matrix`` the heat map.

    Empty while nothing was read, or the capture holds none (``meta.findings`` says why).
    """
    query = communication_query(sel, request.group)
    table = page(sel.store, query, request) if query else empty_table(_groups(sel))
    ranks, total = rank_sums(sel)
    shown = matrix(sel, sel.options.get("key", "")) if request.group == "matrix" else None
    return results.Communication(
        note=communication_line(sel), ranks=ranks, total_ranks=total, table=table, matrix=shown,
        peaks=peaks_text(link_peaks(sel)),
    )  # fmt: skip


def communication_query(sel: Selected, group: str) -> Query | None:
    """The table of a grouping; None while its file has not been read.

    Raises RequestError 400 for an unknown group.
    """
    if group not in QUERIES:
        known = ", ".join(g for g in GROUPS if g)
        raise RequestError(400, "bad-group", f"Communication cannot be grouped by {group!r}.",
                           f"Groups: {known}")  # fmt: skip
    query = QUERIES[group](sel)
    if query:
        query.groups = _groups(sel)
    return query


def _groups(sel: Selected) -> list[str]:
    """The groupings that what is there can tell."""
    brief = from_kernels(sel)
    return [
        group
        for group in GROUPS
        if (
            sel.paths("comm_matrix" if group == "matrix" else "comm_ops")
            or (brief and group in _BRIEF)
        )
        and (group != "rank" or len(sel.captures) > 1)
    ]
