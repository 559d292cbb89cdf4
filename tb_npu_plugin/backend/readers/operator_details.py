"""operator_details.csv: one row per operator call, in order of start; no times, threads or steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tb_npu_plugin.backend.readers.arrays import register
from tb_npu_plugin.backend.readers.base import Rows, Source, columns_sql, parquet
from tb_npu_plugin.backend.readers.csv_file import open_csv
from tb_npu_plugin.backend.schema import OPERATORS

VERSION = 2
TABLES = ("operators", "operator_nested")
_NAME = re.compile(r"^operator_details\.csv(\.gz)?$")
#: Host times have steps of 10 ns; sums of several are compared with this slack.
SLACK_NS = 5.0


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``operators`` (shapes joined by ``;``, frames by line ends) and ``operator_nested``."""
    csv = open_csv(source.con, source.path, source.rel, OPERATORS, source.scratch, multiline=True)
    items, _missing = columns_sql(csv, OPERATORS)
    tidy = (
        "nullif(rtrim(regexp_replace(input_shapes, ';\\s*', ';', 'g'), ';'), '') AS input_shapes, "
        "nullif(trim(regexp_replace(stack, ';\\s*', chr(10), 'g'), chr(10) || ' '), '') AS stack"
    )
    nested: list[np.ndarray] = []

    def check(table: str) -> None:
        rows = source.con.execute(
            f"SELECT name, host_total_ns, host_self_ns FROM {parquet(table)} "
            "ORDER BY file_row_number"
        ).fetchnumpy()
        found = nested_in_same_name(
            rows["name"].tolist(),
            np.ma.filled(rows["host_total_ns"].astype(float), 0.0),
            np.ma.filled(rows["host_self_ns"].astype(float), 0.0),
        )
        nested.append(np.asarray(found, dtype=np.int64))

    yield Rows(
        "operators",
        lambda: f"SELECT * REPLACE ({tidy}) FROM (SELECT {', '.join(items)} FROM {csv.scan()})",
        csv.rejects,
        check,
    )
    source.notes.extend(csv.notes)
    if nested:
        register(source.con, "nested_rows", {"nested_row": nested[0]})
        yield Rows("operator_nested", lambda: "SELECT * FROM nested_rows")


def nested_in_same_name(names: list[str], total_ns: np.ndarray, self_ns: np.ndarray) -> list[int]:
    """Ordinals of rows that run inside an operator of the same name (HcclAllreduce in itself).

    The file holds no times, but rows come in order of start and an operator's children account
    for ``total - self`` of it: a row that fits into what is left of the innermost open operator is
    its child. Agrees with the trace on every row of the real captures.
    """
    found: list[int] = []
    open_names: list[str] = []
    left: list[float] = []
    totals, selfs = total_ns.tolist(), self_ns.tolist()
    for row, name in enumerate(names):
        total = totals[row]
        while left and left[-1] < total - SLACK_NS:
            left.pop()
            open_names.pop()
        if left:
            left[-1] -= total
            if name in open_names:
                found.append(row)
        inside = total - selfs[row]
        if inside > SLACK_NS:
            open_names.append(name)
            left.append(inside)
    return found
