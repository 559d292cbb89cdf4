"""Parquet files made of many: a table of all captures of a recording, or what a query made of it.

Opening a file costs milliseconds and a capture's tables are often smaller than that is worth: a
thousand ranks are a thousand files for each query. A fold holds the rows of all of them. It lies in
the cache as an entry like any other, under the hash of the query that made it: that names files which
never change, so a fold never goes stale. It is trimmed and cleared with the rest.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import duckdb
import msgspec

from tb_npu_plugin.backend.cache import Cache, Ingested
from tb_npu_plugin.backend.readers.csv_file import literal, quote
from tb_npu_plugin.backend.schema import TABLES

logger = logging.getLogger(__name__)

#: Raise when what a fold holds changes with the same query.
VERSION = 1
#: Fewer files than this are opened as they are.
LEAST_PIECES = 16
#: Larger files, on average, cost by their bytes and not by their number.
MOST_BYTES = 256 << 10
#: Rows that are stored together: each thread holds as many, and kernels have sixty columns.
GROUP = 40_960
#: What takes the place of a capture's id in the cache.
HOME = "folds"
#: Columns that number the tracks of one file.
_TRACKS = ("track", "from_track", "to_track")
_SAME, _MIXED = "fold", "fold-mixed"


@dataclass(frozen=True)
class Piece:
    """One file of a table. ``part``: ordinal of its capture; ``slice``: of the file in its capture."""

    path: str
    rank: int | None
    capture: str
    part: int
    slice: int
    bytes: int


@dataclass(frozen=True)
class Fold:
    """``path``: all pieces in one file, as :func:`pieces_sql` gives them. ``same``: they all have
    the same columns."""

    path: Path
    same: bool


def pieces_sql(table: str, pieces: Sequence[Piece]) -> str:
    """A query of the rows of all pieces, with ``rank``, ``capture``, ``part`` and ``row``."""
    if len(pieces) == 1:  # by far the most frequent, and a join costs as much as a scan
        (piece,) = pieces
        return (
            f"SELECT CAST({_number(piece.rank)} AS BIGINT) AS rank, "
            f"{quote(piece.capture)} AS capture, {piece.part} AS part, "
            "* EXCLUDE (file_row_number), file_row_number AS row FROM "
            f"read_parquet({literal(piece.path)}, file_row_number=true, hive_partitioning=false)"
        )
    # Slices of one capture share their part; their rows and tracks must not share numbers.
    rows = ", ".join(
        f"({quote(p.path)}, {_number(p.rank)}, {quote(p.capture)}, {p.part}, "
        f"CAST({p.slice} AS BIGINT))"
        for p in pieces
    )
    tracks = [key for key in _TRACKS if TABLES[table].get(key)]
    moved = ", ".join(f"data.{key} + (part.slice << 20) AS {key}" for key in tracks)
    replaced = f" REPLACE ({moved})" if moved else ""
    return (
        "SELECT CAST(part.rank AS BIGINT) AS rank, part.capture, part.part, "
        f"data.* EXCLUDE (filename, file_row_number){replaced}, "
        "data.file_row_number + (part.slice << 40) AS row "
        f"FROM read_parquet([{_files(pieces)}], filename=true, file_row_number=true, "
        "union_by_name=true, hive_partitioning=false) data "
        f"JOIN (VALUES {rows}) part(filename, rank, capture, part, slice) USING (filename)"
    )


def worth_folding(pieces: Sequence[Piece]) -> bool:
    """Many small files."""
    return (
        len(pieces) >= LEAST_PIECES
        and sum(piece.bytes for piece in pieces) <= len(pieces) * MOST_BYTES
    )


def fold(cache: Cache, memory: str, table: str, pieces: Sequence[Piece]) -> Fold | None:
    """All pieces in one file, made now, with so much ``memory``, unless it is there; None where it
    cannot be made."""

    def kind(con: duckdb.DuckDBPyConnection) -> str:
        row = con.execute(
            "SELECT count(DISTINCT columns) FROM (SELECT list((name, type) ORDER BY name) AS columns "
            f"FROM parquet_schema([{_files(pieces)}]) GROUP BY file_name)"
        ).fetchone()
        return _SAME if row and row[0] == 1 else _MIXED

    found = _made(cache, memory, table, pieces_sql(table, pieces), kind)
    return Fold(found[0], found[1] == _SAME) if found else None


def kept(cache: Cache, memory: str, name: str, sql: str) -> Path | None:
    """The rows of a query over files of the cache, as a file; None where it cannot be made."""
    found = _made(cache, memory, name, sql, lambda _con: _SAME)
    return found[0] if found else None


def _made(
    cache: Cache,
    memory: str,
    name: str,
    sql: str,
    kind: Callable[[duckdb.DuckDBPyConnection], str],
) -> tuple[Path, str] | None:
    """(file, ``kind``) of the rows of ``sql``. Only one process makes them; others wait."""
    key = hashlib.sha256(f"{VERSION}|{name}|{sql}".encode()).hexdigest()[:20]
    try:
        done = cache.load(HOME, key)
        if done is None:
            with cache.writing_or_found(HOME, key) as (done, target):
                if target is not None:
                    done = _write(target, _engine(memory, cache.spill()), name, sql, kind)
        assert done is not None
    except (OSError, duckdb.Error) as error:  # a full disk, or a cache that was cleared meanwhile
        logger.info("No fold of %s: %s", name, str(error)[:200])
        return None
    return cache.entry(HOME, key) / f"{name}.parquet", done.reader


def _engine(memory: str, spill: Path) -> duckdb.DuckDBPyConnection:
    """An engine of its own: where the order of rows need not be kept, writing takes a third of the memory
    and half the time, and that is a setting of a whole engine."""
    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 2,
        "memory_limit": memory,
        "temp_directory": str(spill),
        "preserve_insertion_order": False,
    }
    return duckdb.connect(config=settings)


def _write(
    target: Path,
    engine: duckdb.DuckDBPyConnection,
    name: str,
    sql: str,
    kind: Callable[[duckdb.DuckDBPyConnection], str],
) -> Ingested:
    began = time.monotonic()
    with closing(engine) as con:
        path = quote(str(target / f"{name}.parquet"))
        options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {GROUP}"
        row = con.execute(f"COPY ({sql}) TO {path} ({options})").fetchone()
        done = Ingested(kind(con), {name: int(row[0]) if row else 0}, [], 0.0)
    done.seconds = round(time.monotonic() - began, 3)
    (target / "done.json").write_bytes(msgspec.json.encode(done))
    return done


def _files(pieces: Sequence[Piece]) -> str:
    return ", ".join(literal(piece.path) for piece in pieces)


def _number(value: int | None) -> str:
    return "NULL" if value is None else str(value)
