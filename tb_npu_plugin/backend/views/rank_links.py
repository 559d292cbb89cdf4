"""Links between ranks that are slower than others of their kind, operation for operation."""

from __future__ import annotations

from tb_npu_plugin.backend import wording
from tb_npu_plugin.backend.results import Suspect
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.communication_groups import matrix_source
from tb_npu_plugin.backend.views.communication_matrix import LOCAL, TOTAL, chosen

#: A link is slow below this share of what its peers reach, and needs so many of them.
SLOW = 0.6
LEAST_LINKS = 4
#: Small messages measure latency, not bandwidth.
LEAST_BYTES = 1_000_000
MAX_LINKS = 5


def slow_links(sel: Selected) -> list[Suspect]:
    """The slowest links. Peers move the same type of operation over the same transport."""
    source = matrix_source(sel)
    if source is None:
        return []
    rows = sel.rows(
        "WITH links AS (SELECT numbering, CASE WHEN numbering = 'local' THEN group_name END "
        "AS domain, src, dst, transport, type, sum(size_bytes) AS size, sum(time_ns) AS time, "
        "sum(size_bytes) / sum(time_ns) * 1e9 AS rate "
        f"FROM {chosen(source, TOTAL)} WHERE transport <> '{LOCAL}' GROUP BY ALL "
        f"HAVING sum(time_ns) > 0 AND sum(size_bytes) >= {LEAST_BYTES}), "
        "judged AS (SELECT *, median(rate) OVER same AS usual, count(*) OVER same AS peers "
        "FROM links WINDOW same AS (PARTITION BY transport, type)) "
        "SELECT numbering = 'local', domain, src, dst, transport, "
        "sum(size) / sum(time) * 1e9, sum(size) / sum(size / usual), sum(size), min(peers) "
        f"FROM judged GROUP BY ALL "
        f"HAVING sum(size) / sum(time) * 1e9 < {SLOW} * sum(size) / sum(size / usual) "
        f"AND min(peers) >= {LEAST_LINKS} ORDER BY 6 / 7, 3, 4 LIMIT {MAX_LINKS}"
    )
    return [_suspect(sel, row) for row in rows]


def _suspect(sel: Selected, row: tuple[object, ...]) -> Suspect:
    local, domain, src, dst, transport, rate, usual, size, peers = row
    assert isinstance(rate, float)
    assert isinstance(usual, float)
    assert isinstance(size, float)
    w = sel.word
    name = f"{src} → {dst}"
    where = f" ({w('positions in', '域内序号，')} {domain})" if local else ""
    return Suspect(
        severity="warning",
        rank=None,
        label=w(f"Link {name}", f"链路 {name}"),
        headline=w(
            f"The {transport} link {name}{where} moves {wording.traffic(rate)}/s, its peers "
            f"{wording.traffic(usual)}/s",
            f"{transport} 链路 {name}{where} 带宽 {wording.traffic(rate)}/s，同类链路 "
            f"{wording.traffic(usual)}/s",
        ),
        evidence=[
            w(f"{wording.traffic(size)} in the chosen steps, against the median of {peers} links "
              "that moved the same operations",
              f"所选 Step 内传输 {wording.traffic(size)}；与传输相同算子的 {peers} 条链路的中位数相比")
        ],
        view="communication",
        group="matrix",
        filter=f"src={src} dst={dst}",
    )  # fmt: skip
