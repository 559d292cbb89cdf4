"""Files that no view is made of, as tables with their own columns: task_time, nic, roce, pcie, hccs,
soc_pmu, fusion_op, dataset, minddata_pipeline_…, and rules and summaries in JSON.

``file_rows`` holds columns ``c0, c1, …``, numbers where all of a column are, else text as it stands;
``file_columns`` says what the file calls them. JSON: a row per object of a list, else one per value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import duckdb
import msgspec
import numpy as np

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.arrays import register
from tb_npu_plugin.backend.readers.base import Rows, Source
from tb_npu_plugin.backend.readers.csv_file import CsvFile, Unreadable, ident, open_csv, quote
from tb_npu_plugin.backend.readers.csv_text import binary

VERSION = 1
TABLES = ("file_rows", "file_columns")
#: Read when somebody opens it, unless it is small.
LAZY = True
#: Larger JSON files are data that some view should show; a table of single values helps nobody.
MAX_JSON = 64 << 20
_NAME = re.compile(
    r"^(?:.+\.csv|(?:prof_rule|step_trace|minddata_pipeline_summary)_\w+\.json)(?:\.gz)?$"
)
#: What surrounds a cell: times end in a tab, against spreadsheets.
_BLANK = "' ' || chr(9) || chr(10) || chr(13)"
#: Beyond, a double is not exact, and the cell stays text.
_EXACT = 1e15


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``file_columns`` and ``file_rows``, in file order."""
    if ".json" in source.path.name:
        yield from _json(source)
    else:
        yield from _csv(source)


def _csv(source: Source) -> Iterator[Rows]:
    csv = open_csv(source.con, source.path, source.rel, None, source.scratch)
    yield _columns(csv.header)
    yield Rows("file_rows", lambda: _typed(csv), csv.rejects)
    source.notes.extend(csv.notes)


def _typed(csv: CsvFile) -> str:
    """The rows, each column as narrow as all of its cells allow."""
    cells = [f"trim(c{i}, {_BLANK})" for i in range(len(csv.header))]
    tests = ", ".join(
        f"count(*) FILTER ({cell} <> ''), "
        f"count(*) FILTER (CAST(TRY_CAST({cell} AS BIGINT) AS VARCHAR) = {cell}), "
        f"count(*) FILTER (abs(TRY_CAST({cell} AS DOUBLE)) < {_EXACT} "
        f"AND NOT regexp_matches({cell}, '^[+-]?0\\d'))"
        for cell in cells
    )
    scan = csv.scan(as_text=True)
    row = csv.con.execute(f"SELECT {tests} FROM {scan}").fetchone() or ()
    items = []
    for i, cell in enumerate(cells):
        held, whole, number = row[3 * i : 3 * i + 3]
        kind = "BIGINT" if held == whole else "DOUBLE" if held == number else "VARCHAR"
        items.append(f"CAST(nullif({cell}, '') AS {kind if held else 'VARCHAR'}) AS c{i}")
    return f"SELECT {', '.join(items)} FROM {scan}"


def _columns(header: list[str]) -> Rows:
    values = ", ".join(f"('c{i}', {quote(_clean(h) or f'c{i}')})" for i, h in enumerate(header))
    return Rows("file_columns", lambda: f"SELECT * FROM (VALUES {values}) t(key, label)")


def _json(source: Source) -> Iterator[Rows]:
    header, rows = _table(_document(source))
    yield _columns(header)
    yield Rows("file_rows", lambda: _stored(source.con, header, rows))


def _document(source: Source) -> Any:
    with binary(source.path) as stream:
        data = stream.read(MAX_JSON + 1)
    if not data:
        raise Unreadable(Note("file-empty", source.rel))
    try:
        if len(data) > MAX_JSON:
            raise ValueError(f"larger than {MAX_JSON >> 20} MiB")
        return msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        told = {"error": str(error)[:200]}
        raise Unreadable(Note("json-broken", source.rel, None, told)) from error


def _table(document: Any) -> tuple[list[str], list[list[str | None]]]:
    """Header and rows: of a list of objects their members, of anything else the paths to its values."""
    if isinstance(document, list) and document and all(isinstance(d, dict) for d in document):
        header = list(dict.fromkeys(key for d in document for key in d))
        return header, [[_text(d.get(key)) for key in header] for d in document]
    return ["Key", "Value"], [[path, _text(value)] for path, value in _leaves("", document)]


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Values of an object with the way to them, ``a.b[2].c``; a list of plain values is one."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(f"{path}.{key}" if path else str(key), inner)
    elif isinstance(value, list) and any(isinstance(v, dict | list) for v in value):
        for number, inner in enumerate(value):
            yield from _leaves(f"{path}[{number}]", inner)
    else:
        yield path, value


def _text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _stored(con: duckdb.DuckDBPyConnection, header: list[str], rows: list[list[str | None]]) -> str:
    """SQL over ``rows``; an empty text is unknown."""
    columns = {
        f"c{i}": np.array([_clean(row[i] or "") for row in rows], dtype=object)
        for i in range(len(header))
    }
    register(con, "other_rows", {"n": np.arange(len(rows)), **columns})
    items = ", ".join(f"nullif(CAST({ident(c)} AS VARCHAR), '') AS {ident(c)}" for c in columns)
    return f"SELECT {items} FROM other_rows ORDER BY n"


def _clean(text: str) -> str:
    """Lone surrogates are text to Python but not to a database."""
    return text.strip().strip("\ufeff").encode("utf-8", "replace").decode()
