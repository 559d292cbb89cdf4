"""step_trace_time.csv: per step and device, where the time went (definitions: docs/views.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Rows, Source, columns_sql, parquet
from tb_npu_plugin.backend.readers.csv_file import ident, open_csv
from tb_npu_plugin.backend.schema import STEPS

VERSION = 2
TABLES = ("steps",)
_NAME = re.compile(r"^step_trace_time\.csv(\.gz)?$")
#: No step of a training or serving job lasts longer; Preparing of −1.7e15 µs occurs.
LONGEST_NS = 30 * 86_400 * 1e9
#: Stage and Preparing have the 0.25 µs granularity of a double of epoch-µs.
SUM_TOLERANCE_NS = 1_000.0
SUM_TOLERANCE_RATIO = 0.005


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``steps``. A blank step is NULL, device −1 is NULL, impossible times are NULL."""
    csv = open_csv(source.con, source.path, source.rel, STEPS, source.scratch)
    items, missing = columns_sql(csv, STEPS)
    absent = [f for f in missing if f.dtype == "DOUBLE"]
    if any(f.key not in ("preparing_ns", "communication_exclude_receive_ns") for f in absent):
        names = ", ".join(f.en for f in absent)
        source.notes.append(Note("column-missing", source.rel, "line 1", {"columns": names}))

    yield Rows(
        "steps",
        lambda: sane_sql(source, f"SELECT {', '.join(items)} FROM {csv.scan()}"),
        csv.rejects,
        lambda table: check_steps(source, table),
    )
    source.notes.extend(csv.notes)


def sane_sql(source: Source, rows: str) -> str:
    """``rows`` of steps without times that cannot be; :func:`check_steps` tells of those."""
    sane = ", ".join(
        f"CASE WHEN {ident(f.key)} BETWEEN 0 AND {LONGEST_NS!r} THEN {ident(f.key)} END "
        f"AS {ident(f.key)}"
        for f in STEPS.fields
        if f.dtype == "DOUBLE"
    )
    source.con.execute(f"CREATE OR REPLACE TEMP VIEW raw_steps AS {rows}")
    return f"SELECT * REPLACE ({sane}) FROM raw_steps"


def check_steps(source: Source, table: str) -> None:
    """Findings about the finished table of :func:`sane_sql`."""
    _impossible(source)
    _check(source, table)


def _impossible(source: Source) -> None:
    fields = [f for f in STEPS.fields if f.dtype == "DOUBLE"]
    tests = []
    for f in fields:
        wrong = f"{ident(f.key)} NOT BETWEEN 0 AND {LONGEST_NS!r}"
        tests.append(f"count(*) FILTER ({wrong}), any_value({ident(f.key)}) FILTER ({wrong})")
    row = source.con.execute(f"SELECT {', '.join(tests)} FROM raw_steps").fetchone() or ()
    for f, count, example in zip(fields, row[::2], row[1::2], strict=True):
        if count:
            source.notes.append(
                Note(
                    "impossible-value",
                    source.rel,
                    None,
                    {"count": count, "column": f.en, "example": f"{example / 1000:g} µs"},
                )
            )


def _check(source: Source, table: str) -> None:
    rows = source.con.execute(
        "SELECT step, computing_ns + communication_not_overlapped_ns + free_ns, "
        f"stage_ns + coalesce(bubble_ns, 0) FROM {parquet(table)}"
    ).fetchall()
    if any(step is None for step, _, _ in rows):
        source.notes.append(Note("steps-unmarked", source.rel))
    for step, parts, whole in rows:
        if parts is None or whole is None:
            continue
        if abs(parts - whole) > max(SUM_TOLERANCE_NS, SUM_TOLERANCE_RATIO * whole):
            source.notes.append(
                Note("step-sum", source.rel, f"step {'?' if step is None else step}",
                     {"step": "?" if step is None else step,
                      "sum_us": f"{parts / 1000:.3f}", "stage_us": f"{whole / 1000:.3f}"})
            )  # fmt: skip
            break
