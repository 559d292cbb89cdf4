"""One opener for every SQLite file a profiler writes: never a file beside it, never a lock on it.

Opened with ``immutable=1``; where a write-ahead log or a rollback journal lies beside it, or it
changes while it is read, a copy is opened. Tables and columns are found by name, in both spellings
(``startNs``, ``start_ns``), and case does not matter.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote_from_bytes

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Rows, Source
from tb_npu_plugin.backend.readers.csv_file import Unreadable, ident
from tb_npu_plugin.backend.readers.db_cells import Unfit
from tb_npu_plugin.backend.readers.db_pages import Pages

#: What a writer that still holds the database, or died, leaves beside it.
LOGS = ("-wal", "-journal")
_NUMERIC = re.compile(r"INT|REAL|FLOA|DOUB|NUM|DEC", re.IGNORECASE)
_WITHOUT_ROWID = re.compile(r"\)\s*(?:STRICT\s*,\s*)?WITHOUT\s+ROWID", re.IGNORECASE)
#: Tables of MindStudio Insight: it keeps its state in the databases it opens.
ALTERED = ("status_info", "connectionCats")
_HEADER = 100
#: What SQLite raises for a broken file; its message itself may be broken text.
BROKEN = (sqlite3.Error, ValueError)


def key(name: str) -> str:
    """What two names must share to be the same table or column: letters and digits in any case."""
    return name.replace("_", "").strip().lower()


@dataclass(frozen=True)
class Table:
    """A table of the file. ``columns``: position and name by :func:`key`; ``row_id``: position of
    the column that is an alias of the row id. ``plain``: it can be read page by page."""

    name: str
    root: int
    columns: dict[str, tuple[int, str]]
    row_id: int | None
    plain: bool
    numeric: bool

    def column(self, names: tuple[str, ...]) -> tuple[int, str] | None:
        """The first of ``names`` that the table has."""
        return next((self.columns[key(n)] for n in names if key(n) in self.columns), None)


@dataclass
class Database:
    """An opened database. ``pages`` is None where only sqlite3 can read it."""

    source: Source
    connection: sqlite3.Connection
    tables: dict[str, Table]
    pages: Pages | None

    def table(self, *names: str) -> Table | None:
        """The first of ``names`` that is there."""
        return next((self.tables[key(n)] for n in names if key(n) in self.tables), None)

    def has(self, *names: str) -> bool:
        """Whether one of ``names`` is there."""
        return self.table(*names) is not None

    def note(self, code: str, place: str | None = None, **params: object) -> None:
        """A finding about this file, each once."""
        note = Note(code, self.source.rel, place, dict(params))
        if note not in self.source.notes:
            self.source.notes.append(note)


@contextmanager
def open_database(source: Source, *, copy: bool = False) -> Iterator[Database]:
    """The database at ``source``; a copy of it if ``copy``, or if a log lies beside it.

    Raises Unreadable where it is none; what is wrong with parts of it become findings.
    """
    path = source.path
    if path.stat().st_size == 0:
        raise Unreadable(Note("file-empty", source.rel))
    if copy or any(_size(_beside(path, log)) for log in LOGS):
        path = _copied(source)
    try:
        connection = connect(path)
    except BROKEN as error:
        raise _unreadable(source, error) from error
    with path.open("rb", buffering=0) as file:
        try:
            tables = _tables(connection)
        except BROKEN as error:
            connection.close()
            raise _unreadable(source, error) from error
        try:
            database = Database(source, connection, tables, _pages(file))
            _tell(database, file)
            yield database
        finally:
            connection.close()


def read_whole(source: Source, tables: Callable[[Database], Iterator[Rows]]) -> Iterator[Rows]:
    """Yield the ``tables`` of a database; from a copy, again, if it was written to meanwhile."""
    before = stamp(source.path)
    with open_database(source) as db:
        yield from tables(db)
    if stamp(source.path) != before:
        source.notes.clear()
        with open_database(source, copy=True) as db:
            yield from tables(db)


def connect(path: Path) -> sqlite3.Connection:
    """A connection that neither writes nor locks. Bytes that are not UTF-8 show as �."""
    name = quote_from_bytes(os.fsencode(path.absolute()))
    connection = sqlite3.connect(
        f"file:{name}?mode=ro&immutable=1", uri=True, check_same_thread=False
    )
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    with suppress(*BROKEN):
        connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def stamp(path: Path) -> tuple[tuple[int, int], ...]:
    """Size and time of the database and what lies beside it: other after a write to it."""
    found = []
    for name in (path, *(_beside(path, log) for log in LOGS)):
        with suppress(OSError):
            stat = name.stat()
            found.append((stat.st_size, stat.st_mtime_ns))
    return tuple(found)


def _beside(path: Path, log: str) -> Path:
    return path.with_name(path.name + log)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _copied(source: Source) -> Path:
    """A copy in the scratch directory, with what its logs hold written into it."""
    copy = source.scratch / "database.db"
    used = []
    for log in ("", *LOGS):
        _beside(copy, log).unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            shutil.copyfile(_beside(source.path, log), _beside(copy, log))
            used += [log] if log and _size(_beside(copy, log)) else []
    if used:
        try:
            connection = sqlite3.connect(copy)
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                connection.execute("PRAGMA journal_mode=DELETE").fetchall()
            finally:
                connection.close()
        except BROKEN:  # a broken log: what the database itself holds is still good
            shutil.copyfile(source.path, copy)
        for log in LOGS:
            _beside(copy, log).unlink(missing_ok=True)
        logs = ", ".join(f"{source.path.name}{log}" for log in used)
        source.notes.append(Note("database-log", source.rel, None, {"logs": logs}))
    return copy


def _unreadable(source: Source, error: Exception) -> Unreadable:
    return Unreadable(Note("database-unreadable", source.rel, None, {"error": str(error)[:200]}))


def _pages(file: io.FileIO) -> Pages | None:
    try:
        return Pages(file)
    except Unfit:
        return None


def _tables(connection: sqlite3.Connection) -> dict[str, Table]:
    found = {}
    listed = connection.execute(
        "SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    ).fetchall()
    for name, root, sql in listed:
        try:
            rows = connection.execute(f"PRAGMA table_xinfo({ident(name)})").fetchall()
        except BROKEN:
            continue
        columns = {key(row[1]): (row[0], row[1]) for row in reversed(rows)}
        keys = [row for row in rows if row[5]]
        alias = [row[0] for row in keys if len(keys) == 1 and row[2].strip().upper() == "INTEGER"]
        odd = any(row[6] or row[4] not in (None, "NULL") for row in rows)
        found[key(name)] = Table(
            name, root, columns, alias[0] if alias else None,
            plain=not odd and not _WITHOUT_ROWID.search(sql or ""),
            numeric=all(_NUMERIC.search(row[2]) for row in rows),
        )  # fmt: skip
    return found


def _tell(database: Database, file: io.FileIO) -> None:
    """Findings about the file as a whole: cut off, or altered by another tool."""
    if database.pages:
        file.seek(0)
        head = file.read(_HEADER)
        told = int.from_bytes(head[28:32], "big")
        # Writers before SQLite 3.7 leave the number of pages out of date.
        if head[24:28] == head[92:96] and told > database.pages.count:
            database.note(
                "database-cut", None, missing=told - database.pages.count, pages=told,
            )  # fmt: skip
    extra = [name for name in ALTERED if database.has(name)]
    if extra:
        database.note("database-altered", None, tables=", ".join(extra))
