"""Files that no other view is made of, each as a table with its own columns."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

import duckdb

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.file_state import FileState
from tb_npu_plugin.backend.readers.csv_file import ident, literal
from tb_npu_plugin.backend.results import Kind
from tb_npu_plugin.backend.schema import extra_key
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query

#: The reader's two tables: what the file holds, and what it calls its columns.
ROWS, COLUMNS = "file_rows", "file_columns"
_KINDS: dict[str, Kind] = {"BIGINT": "id", "DOUBLE": "number"}


def other_files(sel: Selected) -> list[str]:
    """Paths, relative to their captures, of the files that can be shown as tables of their own."""
    return sorted({state.source.rel for _, state in _states(sel)})


def _states(sel: Selected) -> list[tuple[int, FileState]]:
    return [
        (part, state)
        for part, capture in enumerate(sel.captures)
        for state in sel.store.files(capture.capture_id)
        if ROWS in state.provides
    ]


def file_query(sel: Selected, name: str) -> Query | None:
    """The rows of the selected captures' files of that path, or name; None while they are read.

    Raises RequestError 404 where there is none, 409 where it cannot be read.
    """
    chosen = [(p, s) for p, s in _states(sel) if s.source.rel == name]
    chosen = chosen or [(p, s) for p, s in _states(sel) if s.source.name == name]
    if not chosen:
        known = ", ".join(other_files(sel)) or sel.word("none here", "无")
        raise RequestError(404, "no-such-file", sel.word(
            f"There is no file {name!r} that is shown as a table of its own.",
            f"没有可单独以表格显示的文件 {name!r}。"),
            sel.word(f"Such files: {known}", f"可显示的文件：{known}"))  # fmt: skip
    sel.asked = [state for _, state in chosen]
    sel.store.read(sel.asked)
    there = [(p, s) for p, s in chosen if ROWS in s.tables and s.state == "ready"]
    if not there:
        if all(s.state == "failed" for s in sel.asked):
            raise RequestError(409, "unreadable-file", sel.word(
                f"{name} cannot be read.", f"{name} 无法读取。"),
                sel.word("Health says why.", "原因见“数据质量”。"))  # fmt: skip
        return None
    sel.provenance[ROWS] = ", ".join(sorted({s.source.name for _, s in there}))
    return _query(sel, there)


def _query(sel: Selected, there: list[tuple[int, FileState]]) -> Query:
    """The captures' files by the names of their columns, whose types may differ between them."""
    labels: dict[str, Kind] = {}
    with closing(sel.store.cursor()) as cursor:
        found = [(p, s, *_columns(cursor, s)) for p, s in there]
    for _, _, names, kinds in found:
        for key, label in names.items():
            labels[label] = kinds[key] if labels.get(label, kinds[key]) == kinds[key] else "text"
    keys = _keys(labels)
    parts = []
    for part, state, names, _ in found:
        own = {label: key for key, label in names.items()}
        items = ", ".join(
            f"CAST({own.get(label, 'NULL')} AS {_TYPES[labels[label]]}) AS {ident(keys[label])}"
            for label in labels
        )
        capture = sel.captures[part]
        rank = "NULL" if capture.rank is None else str(int(capture.rank))
        parts.append(
            f"SELECT CAST({rank} AS BIGINT) AS rank, {part} AS part, {items}, file_row_number AS row "
            f"FROM read_parquet({literal(state.tables[ROWS])}, file_row_number=true)"
        )
    columns = [Col(keys[label], kind, label, ident(keys[label])) for label, kind in labels.items()]
    if len(there) > 1:
        columns.append(Col("rank", "rank", "Rank", "rank"))
    columns.append(Col("row", "int", sel.word("Row", "行"), "row + 1", shown=False))
    columns.append(Col("part", "int", sel.word("Capture", "采集"), "part", shown=False))
    text = next((keys[label] for label, kind in labels.items() if kind == "text"), columns[0].key)
    return Query(f"({' UNION ALL '.join(parts)})", columns, text, "part,row")


def _keys(labels: Iterable[str]) -> dict[str, str]:
    """Names for filters and sorting: ``Bandwidth(MB/s)`` is ``bandwidth_mb_s``."""
    keys: dict[str, str] = {}
    for label in labels:
        key = extra_key(label).removeprefix("x_")
        while key in {*keys.values(), "rank", "row", "part"}:
            key += "_2"
        keys[label] = key
    return keys


_TYPES: dict[Kind, str] = {"id": "BIGINT", "number": "DOUBLE", "text": "VARCHAR"}


def _columns(
    cursor: duckdb.DuckDBPyConnection, state: FileState
) -> tuple[dict[str, str], dict[str, Kind]]:
    """Column -> the file's name for it (told apart where two are alike), and its kind."""
    names: dict[str, str] = {}
    rows = cursor.execute(f"SELECT key, label FROM read_parquet({literal(state.tables[COLUMNS])})")
    for key, label in rows.fetchall():
        unique, n = label, 2
        while unique in names.values():
            unique, n = f"{label} ({n})", n + 1
        names[key] = unique
    described = cursor.execute(
        f"DESCRIBE SELECT * FROM read_parquet({literal(state.tables[ROWS])})"
    ).fetchall()
    return names, {row[0]: _KINDS.get(row[1], "text") for row in described}
