"""Read one file into the cache. A plain function, so any executor can run it."""

from __future__ import annotations

import os
import shutil
import time
import traceback
import uuid
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from pathlib import Path

import duckdb
import msgspec

from tb_npu_plugin.backend import summaries
from tb_npu_plugin.backend.cache import EARLY, Cache, Ingested
from tb_npu_plugin.backend.engine import session
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers import reader_named
from tb_npu_plugin.backend.readers.base import Rows, Source, parquet
from tb_npu_plugin.backend.readers.csv_file import Unreadable, quote
from tb_npu_plugin.backend.readers.profiler_info import permission_note
from tb_npu_plugin.backend.shared_store import fetch

#: The cache is safe to delete at any time, also while an entry is being written.
ATTEMPTS = 5

Early = Callable[[dict[str, Path], bool], None]


class Job(msgspec.Struct, frozen=True):
    """One file to read. ``path``: absolute, as bytes (:func:`os.fsencode`), because not every path
    is text; ``rel``: relative to the capture."""

    capture_id: str
    path: bytes
    rel: str
    reader: str
    fingerprint: str
    size: int
    cache: str
    memory: str = "400MB"
    threads: int = 2
    origin: str = ""
    """Fingerprint of the entry that the reader derives its tables from, if it does (``FROM``)."""
    more: tuple[tuple[bytes, str], ...] = ()
    """(path, rel) of files that are read with it."""
    store: str = ""
    """The entry in a shared store that is taken in the file's place."""


def ingest(
    job: Job,
    on_early: Early | None = None,
    on_connection: Callable[[duckdb.DuckDBPyConnection], None] = lambda _con: None,
    on_progress: Callable[[float], None] = lambda _done: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Ingested:
    """Read ``job``'s file unless another process did meanwhile; returns what is in the cache.

    ``on_early`` is told of tables that can be used before the file is read in full: (table ->
    where it lies, whether all of its rows are there); ``on_progress`` of how far readers are that
    tell it themselves (0 to 1). Errors of the file are findings; an unforeseen one is the finding
    ``reader-failed``. Raises Cancelled, and leaves nothing, where ``cancelled`` says so after the
    file was read or given up.
    """
    cache = _cache(job.cache)
    if job.store:
        try:
            return fetch(job.store, cache, job.capture_id, job.fingerprint)
        except Exception as error:  # of whichever package speaks the store's protocol
            if not Path(os.fsdecode(job.path)).is_file():
                return _unfetched(job, error)
    if job.origin:
        origin = reader_named(job.reader).FROM
        first = msgspec.structs.replace(job, reader=origin, fingerprint=job.origin, origin="")
        ingest(first, on_connection=on_connection, on_progress=on_progress, cancelled=cancelled)
    for attempt in range(ATTEMPTS):
        try:
            return _ingest(job, cache, on_early, on_connection, on_progress, cancelled)
        except (CacheVanished, FileNotFoundError):  # cleared by someone meanwhile: start over
            if attempt == ATTEMPTS - 1 or not Path(os.fsdecode(job.path)).exists():
                raise
            _cache.cache_clear()
            cache = _cache(job.cache)
    raise AssertionError


def _unfetched(job: Job, error: Exception) -> Ingested:
    note = Note("store-unreachable", job.rel, None, {"store": job.store, "error": str(error)[:300]})
    return Ingested(job.reader, {}, [note], 0.0, str(error) or type(error).__name__)


@lru_cache(maxsize=1)
def _cache(directory: str) -> Cache:
    """One per process: that a directory can be written is tried once, not for each small file."""
    return Cache(directory)


class Cancelled(Exception):
    """Nobody waits for the result any more."""


class CacheVanished(OSError):
    """The directory that an entry was being written to is gone."""


def _ingest(
    job: Job,
    cache: Cache,
    on_early: Early | None,
    on_connection: Callable[[duckdb.DuckDBPyConnection], None],
    on_progress: Callable[[float], None],
    cancelled: Callable[[], bool],
) -> Ingested:
    with cache.writing_or_found(job.capture_id, job.fingerprint) as (found, target):
        if found is not None:
            return found
        assert target is not None
        started = time.monotonic()
        early = cache.entry(job.capture_id, job.fingerprint + EARLY)
        try:
            done = _read(job, cache, target, early, on_early, on_connection, on_progress)
        finally:
            shutil.rmtree(early, ignore_errors=True)
        if cancelled():  # what the reader made of it is no property of the file
            raise Cancelled
        if not _all_there(target, done):
            raise CacheVanished(f"{target} was removed")
        done.seconds = round(time.monotonic() - started, 3)
        (target / "done.json").write_bytes(msgspec.json.encode(done))
    return done


def _read(
    job: Job,
    cache: Cache,
    target: Path,
    early: Path,
    on_early: Early | None,
    on_connection: Callable[[duckdb.DuckDBPyConnection], None],
    on_progress: Callable[[float], None],
) -> Ingested:
    reader = reader_named(job.reader)
    location = Path(os.fsdecode(job.path))
    done = Ingested(job.reader, {}, [], 0.0)
    scratch = cache.scratch()
    try:
        with session(job.memory, job.threads, job.size, cache.spill()) as con:
            on_connection(con)
            more = tuple((Path(os.fsdecode(path)), rel) for path, rel in job.more)
            source = Source(con, location, job.rel, scratch, done.notes, on_progress, more=more)
            if on_early:
                source.show = partial(_show, con, early, on_early)
            if job.origin:
                source.tables = _tables(cache, job.capture_id, job.origin)
            for rows in reader.read(source):
                path = target / f"{rows.table}.parquet"
                done.tables[rows.table] = _write(con, rows, path)
                if rows.early and on_early:
                    on_early({rows.table: _copy(path, early)}, True)
                rows.check(str(path))
                done.tables |= _summaries(con, rows.table, path)
    except Unreadable as error:
        done.notes.append(error.note)
    except PermissionError as error:
        done.error = str(error)
        done.notes.append(permission_note(location, job.rel))
    except (OSError, duckdb.IOException) as error:
        if not (scratch.exists() and _all_there(target, done)):
            raise CacheVanished(str(error)) from error
        done.error = str(error)
        done.notes.append(Note("file-unreadable", job.rel, None, {"error": str(error)[:300]}))
    except Exception as error:
        if not (scratch.exists() and _all_there(target, done)):
            raise CacheVanished(str(error)) from error
        done.error = traceback.format_exc(limit=8)
        text = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        done.notes.append(Note("reader-failed", job.rel, None, {"error": text[:300]}))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return done


def _all_there(target: Path, done: Ingested) -> bool:
    """Whether nobody removed what has been written so far, or a part of it."""
    return target.exists() and all((target / f"{t}.parquet").exists() for t in done.tables)


def _summaries(con: duckdb.DuckDBPyConnection, table: str, path: Path) -> dict[str, int]:
    """Write the summaries of a table beside it; returns their rows."""
    found: dict[str, int] = {}
    if table in summaries.TABLES:
        source = parquet(str(path))
        columns = {row[0] for row in con.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
        for name, sql in summaries.of(table, source, columns):
            rows = Rows(name, partial(str, sql))
            found[name] = _write(con, rows, path.with_name(f"{name}.parquet"))
    return found


def _tables(cache: Cache, capture_id: str, fingerprint: str) -> dict[str, Path]:
    """The tables of another entry. Raises OSError where there are none."""
    found = cache.load(capture_id, fingerprint)
    if found is None or not found.tables:
        raise OSError("what its tables are derived from could not be read")
    entry = cache.entry(capture_id, fingerprint)
    return {table: entry / f"{table}.parquet" for table in found.tables}


def _copy(path: Path, folder: Path) -> Path:
    folder.mkdir(exist_ok=True, mode=0o700)
    shutil.copy(path, folder / f".{path.name}")
    return (folder / f".{path.name}").rename(folder / path.name)


def _show(
    con: duckdb.DuckDBPyConnection, early: Path, on_early: Early, tables: Iterable[Rows]
) -> None:
    """Write tables of what was read so far under names of their own, and tell them together."""
    folder = early / uuid.uuid4().hex
    folder.mkdir(parents=True, mode=0o700)
    paths = {}
    for rows in tables:
        paths[rows.table] = folder / f"{rows.table}.parquet"
        _write(con, rows, paths[rows.table])
        rows.check(str(paths[rows.table]))
    on_early(paths, False)


def _write(con: duckdb.DuckDBPyConnection, rows: Rows, path: Path) -> int:
    """Write the rows as Parquet, again as long as the reader asks for it; returns their number."""
    group = f", ROW_GROUP_SIZE {rows.group}" if rows.group else ""
    options = f"{quote(str(path))} (FORMAT parquet, COMPRESSION zstd{group})"
    while True:
        error: duckdb.Error | None = None
        count = 0
        try:
            result = con.execute(f"COPY ({rows.sql()}) TO {options}").fetchone()
            count = int(result[0]) if result else 0
        except (
            duckdb.InvalidInputException, duckdb.IOException, duckdb.OutOfMemoryException
        ) as refused:  # fmt: skip
            error = refused
        if not rows.again(error):
            if error:
                raise error
            return count
