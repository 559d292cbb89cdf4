"""Slices in a range of the timeline: summed up by name, or one by one; how busy each track is."""

from __future__ import annotations

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, TableRequest, empty_table, page
from tb_npu_plugin.backend.timeline.files import TABLES as TABLES
from tb_npu_plugin.backend.timeline.files import by_file, end_sql
from tb_npu_plugin.backend.timeline.ranges import OPTIONS as OPTIONS
from tb_npu_plugin.backend.timeline.ranges import Range, busy_ns, range_of, sums_by_name

GROUPS = ("name", "")
#: Names in the summary; those with the most time.
MAX_NAMES = 20_000


def slices(sel: Selected, request: TableRequest) -> results.Slices:
    """The range that ``from``, ``to``, ``tracks`` and ``shift`` of ``sel.options`` give; default: everything.

    Times of the summary are what lies within the range.
    """
    wanted = range_of(sel)
    query = slices_query(sel, request.group)
    if wanted is None or query is None:
        return results.Slices(empty_table(GROUPS), [], 0.0)
    span = wanted.end - wanted.begin
    occupancy = []
    several = len({f.part for f, _ in wanted.tracks}) > 1
    for file, track in wanted.tracks:
        busy = busy_ns(wanted, file, track)
        label = f"{file.rank_label} · {track.where}" if several else track.where
        occupancy.append(results.Occupancy(track.id, label, float(busy), busy / span))
    return results.Slices(page(sel.store, query, request), occupancy, float(span))


def slices_query(sel: Selected, group: str) -> Query | None:
    """The table of the range; None while nothing is read. Raises RequestError 400."""
    if group not in GROUPS:
        raise RequestError(400, "bad-group", f"Slices cannot be grouped by {group!r}.",
                           "Groups: name, or none.")  # fmt: skip
    wanted = range_of(sel)
    if wanted is None:
        return None
    return _by_name(sel, wanted) if group == "name" else _one_by_one(sel, wanted)


def _by_name(sel: Selected, wanted: Range) -> Query:
    sums = sorted(sums_by_name(wanted).items(), key=lambda item: -item[1].total)[:MAX_NAMES]
    rows = ", ".join(
        f"({quote(name)}, {s.count}, {float(s.total)!r}, {float(s.self)!r}, {float(s.longest)!r})"
        for name, s in sums
    ) or "(NULL, 0, 0.0, 0.0, 0.0)"  # fmt: skip
    where = "" if sums else " WHERE name IS NOT NULL"
    source = (
        "(SELECT name, count, CAST(total_ns AS DOUBLE) AS total_ns, "
        "CAST(self_ns AS DOUBLE) AS self_ns, CAST(longest_ns AS DOUBLE) AS longest_ns "
        f"FROM (VALUES {rows}) t(name, count, total_ns, self_ns, longest_ns){where})"
    )
    word = sel.word
    columns = [
        Col("name", "name", word("Name", "名称"), "name"),
        Col("count", "int", word("Count", "次数"), "count"),
        Col("total_ns", "duration", word("Total", "总耗时"), "total_ns",
            word("Time within the range", "区间内的时间")),
        Col("total_ratio", "ratio", word("Of the range", "占区间"),
            f"total_ns / {float(wanted.end - wanted.begin)!r}",
            word("Total by the length of the range; tracks add up", "总耗时除以区间长度；多条轨道会累加")),
        Col("self_ns", "duration", word("Self", "自身耗时"), "self_ns",
            word("Total less what is nested in it", "扣除嵌套其中的部分")),
        Col("mean_ns", "duration", word("Mean", "平均"), "total_ns / nullif(count, 0)"),
        Col("longest_ns", "duration", word("Longest", "最长"), "longest_ns"),
    ]  # fmt: skip
    return Query(source, columns, "name", "self_ns:desc", [], "name", list(GROUPS))


def _one_by_one(sel: Selected, wanted: Range) -> Query:
    parts = []
    for file, tracks in by_file(wanted.tracks):
        named = ", ".join(f"({t.number}, {t.id}, {quote(t.where)})" for t in tracks)
        first = int(file.slice_id(0).partition(".")[2])
        begin, end = wanted.of(file)
        shift = wanted.shifts.get(file.part, 0)
        rank = "NULL" if file.capture.rank is None else str(file.capture.rank)
        parts.append(
            f"SELECT CAST({rank} AS BIGINT) AS rank, {quote(file.rank_label)} AS capture, "
            f"{file.part} AS part, s.file_row_number + {first} AS row, "
            f"'{file.part}.' || (s.file_row_number + {first}) AS slice, t.id AS track, "
            f"t.label AS place, s.name, s.cat, s.start_ns + {shift} AS start_ns, s.dur_ns, s.depth "
            f"FROM {file.sql('slices')} s "
            f"JOIN (VALUES {named}) t(number, id, label) ON t.number = s.track "
            f"WHERE s.phase = 'X' AND s.start_ns < {end} AND (s.start_ns >= {begin} "
            f"OR {end_sql('s.start_ns', 's.dur_ns')} > {begin})"
        )
    empty = ("SELECT NULL::BIGINT AS rank, '' AS capture, 0 AS part, 0 AS row, '' AS slice, "
             "0 AS track, '' AS place, '' AS name, '' AS cat, 0::BIGINT AS start_ns, "
             "0.0 AS dur_ns, 0 AS depth WHERE false")  # fmt: skip
    source = f"({' UNION ALL '.join(parts) or empty})"
    word = sel.word
    several = len({f.part for f, _ in wanted.tracks}) > 1
    columns = [
        Col("name", "name", word("Name", "名称"), "name"),
        Col("start_ns", "time", word("Start", "开始"), "start_ns"),
        Col("dur_ns", "duration", word("Duration", "耗时"), "dur_ns"),
        Col("capture", "text", word("Rank", "卡"), "capture", shown=several),
        Col("place", "text", word("Track", "轨道"), "place"),
        Col("depth", "int", word("Depth", "层"), "depth", shown=False),
        Col("cat", "text", word("Category", "类别"), "cat", shown=False),
        Col("slice", "id", word("Slice", "区间编号"), "slice", shown=False),
        Col("track", "id", word("Track number", "轨道编号"), "track", shown=False),
    ]
    return Query(source, columns, "name", "dur_ns:desc", [], "", list(GROUPS),
                 base_ns=wanted.base, two_stage=True)  # fmt: skip
