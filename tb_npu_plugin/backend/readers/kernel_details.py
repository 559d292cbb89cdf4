"""kernel_details.csv (and CANN's op_summary): one row per device task or communication operation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Rows, Source, columns_sql, parquet
from tb_npu_plugin.backend.readers.csv_file import CsvFile, open_csv
from tb_npu_plugin.backend.schema import KERNELS, PMU_DEFAULT_UNIT, is_communication, pmu_field
from tb_npu_plugin.backend.summaries import kernel_summary

VERSION = 2
TABLES = ("kernel_summary", "kernels")
_NAME = re.compile(r"^(kernel_details|op_summary(_\w+)?)\.csv(\.gz)?$")
#: Past this size a summary is made first, from a few columns, so that the overview need not wait.
SUMMARY_FIRST_BYTES = 20 << 20


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``kernels`` in file order; of big files their summary first."""
    csv = open_csv(source.con, source.path, source.rel, KERNELS, source.scratch)
    items, missing = columns_sql(csv, KERNELS, dynamic=pmu_field, default_unit=PMU_DEFAULT_UNIT)
    absent = {f.key for f in missing}
    if absent & {"start_ns", "dur_ns", "name"}:
        names = ", ".join(f.en for f in missing if f.key in ("start_ns", "dur_ns", "name"))
        source.notes.append(Note("column-missing", source.rel, "line 1", {"columns": names}))
    if (
        "task" in absent
        and "stream" in absent
        and "input_shapes" in absent
        and "type" not in absent
    ):
        source.notes.append(Note("level-too-low", source.rel, "line 1"))
    if "step" in absent:
        source.notes.append(Note("no-step-column", source.rel, "line 1"))

    if source.path.stat().st_size > SUMMARY_FIRST_BYTES:
        yield Rows("kernel_summary", lambda: _early(csv, items), csv.rejects, early=True)

    def check(table: str) -> None:
        _check(source, csv, table, absent)

    yield Rows(
        "kernels", lambda: f"SELECT {', '.join(items)} FROM {csv.scan()}", csv.rejects, check
    )
    source.notes.extend(csv.notes)


def _early(csv: CsvFile, items: list[str]) -> str:
    """The kernels' summary from a scan of no more columns than it needs."""
    wanted = ("type", "name", "core", "step", "device", "start_ns", "dur_ns", "wait_ns")
    narrow = [i for i in items if i.rsplit(" AS ", 1)[1].strip('"') in wanted]
    return kernel_summary(f"(SELECT {', '.join(narrow)} FROM {csv.scan()})", set())


def _check(source: Source, csv: CsvFile, table: str, absent: set[str]) -> None:
    """Findings about the finished table: no rows, rows outside steps, impossible values."""
    row = source.con.execute(
        "SELECT count(*), count(*) FILTER (step IS NULL), "
        "count(*) FILTER (dur_ns < 0), min(dur_ns), count(*) FILTER (dur_ns IS NULL), "
        "count(*) FILTER (start_ns IS NULL), "
        f"count(*) FILTER ({is_communication('core')}) "
        f"FROM {parquet(table)}"
    ).fetchone()
    assert row is not None
    total, outside, negative, least, no_duration, no_start, communications = row
    if total == 0:
        source.notes.append(Note("kernels-empty", source.rel))
        return
    if outside and "step" not in absent:
        source.notes.append(Note("rows-outside-steps", source.rel, None, {"count": outside}))
    if communications:
        source.notes.append(_without_communication(source, communications, absent))
    if negative:
        source.notes.append(
            Note("impossible-value", source.rel, None,
                 {"count": negative, "column": "Duration", "example": f"{least / 1000:g} µs"})
        )  # fmt: skip
    for key, count, kind in (
        ("start_ns", no_start, "DECIMAL(28, 6)"),
        ("dur_ns", 0 if csv.as_text else no_duration, "DOUBLE"),
    ):
        i = _column(csv, key)
        if count and i is not None:
            source.notes += csv.unreadable({i: kind})
    example = _spreadsheet_time(source, csv)
    if example:
        source.notes.append(Note("spreadsheet-times", source.rel, "line 2", {"example": example}))


def _without_communication(source: Source, count: int, absent: set[str]) -> Note:
    """Holds only where the capture has no communication.json, which this reader cannot know."""
    low = {"task", "stream"} <= absent
    return Note(
        "communication-missing", source.rel, None,
        {"count": count, "why": " (Level0 records none)" if low else "",
         "why_zh": "（Level0 不记录）" if low else ""},
    )  # fmt: skip


def _column(csv: CsvFile, key: str) -> int | None:
    f = KERNELS.get(key)
    return csv.column(f) if f else None


def _spreadsheet_time(source: Source, csv: CsvFile) -> str | None:
    """A start like ``1.69512E+15``, if the first row has one."""
    i = _column(csv, "start_ns")
    if i is None:
        return None
    row = source.con.execute(f"SELECT c{i} FROM {csv.scan(as_text=True)} LIMIT 1").fetchone()
    text = (row[0] or "").strip() if row else ""
    return text if re.match(r"^\d(\.\d+)?E\+\d+$", text, re.I) else None
