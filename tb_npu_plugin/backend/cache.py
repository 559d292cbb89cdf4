"""Where ingested tables lie: ``captures/<capture_id>/<fingerprint>/<table>.parquet``.

The cache lies outside the logdir, is keyed per source file by content (relative path, size, mtime,
first and last bytes) and reader version, and is safe to delete at any time.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

import filelock
import msgspec
import platformdirs

from tb_npu_plugin.backend.discovery import STORE_MARK
from tb_npu_plugin.backend.findings import Note

logger = logging.getLogger(__name__)

#: Raise when the layout below the cache directory changes.
LAYOUT = "v1"
DEFAULT_LIMIT_BYTES = 20 << 30
_SAMPLE = 4096
_TRASH = ".trash-"
#: Tables published before their file is read in full lie beside the entry under this suffix.
EARLY = ".early"


class Ingested(msgspec.Struct):
    """What reading one file gave: rows per table, findings, how long it took."""

    reader: str
    tables: dict[str, int]
    notes: list[Note]
    seconds: float
    error: str | None = None


class Cache:
    """The cache directory. ``temporary`` tells that the wanted one could not be written."""

    def __init__(self, directory: str | os.PathLike[str] | None = None) -> None:
        wanted = Path(
            directory or os.environ.get("TB_NPU_CACHE") or platformdirs.user_cache_dir("tb-npu")
        ).expanduser()
        self.wanted = wanted
        self.temporary = False
        #: Of directories: a user's own cache is private, a store is as open as the umask allows.
        self.mode = 0o777 if (wanted / STORE_MARK).exists() else 0o700
        try:
            self.root = _prepare(wanted / LAYOUT, self.mode)
        except (OSError, UnicodeEncodeError):
            self.temporary = True
            temporary = Path(tempfile.mkdtemp(prefix="tb-npu-cache-"))
            self.root = _prepare(temporary / LAYOUT, self.mode)
        self.limit_bytes = _limit()

    def entry(self, capture_id: str, fingerprint: str) -> Path:
        return self.root / "captures" / capture_id / fingerprint

    def load(self, capture_id: str, fingerprint: str) -> Ingested | None:
        """What an earlier read left, or None. Marks the entry as used."""
        entry = self.entry(capture_id, fingerprint)
        try:
            done = msgspec.json.decode((entry / "done.json").read_bytes(), type=Ingested)
        except (OSError, msgspec.MsgspecError):
            return None
        if done.error:  # not a property of the file: try again next time
            return None
        if any(not (entry / f"{table}.parquet").exists() for table in done.tables):
            return None
        with suppress(OSError):
            os.utime(entry)
        return done

    def spill(self) -> Path:
        """Where this process's engine puts what does not fit into memory; may not exist yet."""
        return self.root / "scratch" / f"spill-{os.getpid()}"

    def scratch(self) -> Path:
        """A new private directory inside the cache; the caller removes it."""
        base = self.root / "scratch"
        base.mkdir(mode=self.mode, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=base))

    @contextmanager
    def writing_or_found(
        self, capture_id: str, fingerprint: str
    ) -> Iterator[tuple[Ingested | None, Path | None]]:
        """(what is there, None), or (None, a directory that becomes the entry if the block ends well).

        Only one process writes an entry; the others wait, then find it.
        """
        entry = self.entry(capture_id, fingerprint)
        entry.parent.mkdir(parents=True, exist_ok=True, mode=self.mode)
        with self._lock(capture_id, fingerprint):
            found = self.load(capture_id, fingerprint)
            if found is not None:
                yield found, None
                return
            temp = entry.parent / f".tmp-{uuid.uuid4().hex}"
            temp.mkdir(mode=self.mode)
            try:
                yield None, temp
                if temp.exists():
                    self._remove(entry)
                    temp.rename(entry)
            finally:
                shutil.rmtree(temp, ignore_errors=True)

    def _lock(self, capture_id: str, fingerprint: str) -> filelock.BaseFileLock:
        locks = self.root / "locks"
        locks.mkdir(mode=self.mode, exist_ok=True)
        path = locks / f"{capture_id}-{fingerprint}.lock"
        return filelock.FileLock(path) if _has_flock(locks) else filelock.SoftFileLock(path, 600)

    def entries(self) -> list[tuple[Path, int, float]]:
        """(entry, bytes, last use) of every complete entry."""
        out = []
        for done in self.root.glob("captures/*/*/done.json"):
            with suppress(OSError):
                size = sum(f.stat().st_size for f in done.parent.iterdir())
                out.append((done.parent, size, done.parent.stat().st_mtime))
        return out

    def trim(self, keep: set[Path] = frozenset()) -> int:  # type: ignore[assignment]
        """Remove least recently used entries beyond the limit, and leavings of dead processes.

        Entries in ``keep`` stay. Returns the bytes removed.
        """
        entries = sorted(self.entries(), key=lambda e: e[2])
        total, removed = sum(size for _, size, _ in entries), 0
        for entry, size, _ in entries:
            if total - removed <= self.limit_bytes:
                break
            if entry not in keep:
                self._remove(entry)
                removed += size
        day_ago = time.time() - 86_400
        for left in ("captures/*/.tmp-*", f"captures/*/*{EARLY}", "scratch/*"):
            for stale in self.root.glob(left):
                with suppress(OSError):
                    if stale.stat().st_mtime < day_ago:
                        shutil.rmtree(stale, ignore_errors=True)
        self._empty_trash()
        return removed

    def clear(self) -> int:
        """Remove every entry; returns the bytes removed."""
        total = sum(size for _, size, _ in self.entries())
        for part in ("captures", "scratch", "locks"):
            self._remove(self.root / part)
        self._empty_trash()
        return total

    def remove(self, capture_id: str, fingerprint: str) -> None:
        """Remove one entry, and its lock."""
        self._remove(self.entry(capture_id, fingerprint))
        with suppress(OSError):
            (self.root / "locks" / f"{capture_id}-{fingerprint}.lock").unlink()

    def _remove(self, directory: Path) -> None:
        """Take a directory away at once: who is writing to it or reading it finds all or nothing,
        never a part of its files."""
        trash = self.root / f"{_TRASH}{uuid.uuid4().hex}"
        try:
            directory.rename(trash)
        except OSError:  # not there, or a file in it is open (Windows)
            trash = directory
        shutil.rmtree(trash, ignore_errors=True)

    def _empty_trash(self) -> None:
        """What a process that was ended had not removed yet."""
        for trash in self.root.glob(f"{_TRASH}*"):
            shutil.rmtree(trash, ignore_errors=True)


@lru_cache(maxsize=8)
def _has_flock(directory: Path) -> bool:
    """Whether the filesystem of ``directory`` locks files; some network mounts do not."""
    try:
        with filelock.FileLock(directory / f"probe-{os.getpid()}.lock"):
            return True
    except (OSError, NotImplementedError):
        return False


def _limit() -> int:
    """$TB_NPU_CACHE_LIMIT, in bytes."""
    wanted = os.environ.get("TB_NPU_CACHE_LIMIT") or str(DEFAULT_LIMIT_BYTES)
    try:
        return int(float(wanted))
    except (ValueError, OverflowError):
        logger.warning("TB_NPU_CACHE_LIMIT=%s is no number of bytes; it is ignored", wanted)
        return DEFAULT_LIMIT_BYTES


def _prepare(path: Path, mode: int) -> Path:
    str(path).encode()  # the database needs paths that are text
    path.mkdir(parents=True, exist_ok=True, mode=mode)
    with tempfile.TemporaryFile(dir=path):
        pass
    return path


def fingerprint(path: Path, rel: str, size: int, mtime_ns: int, reader: str, version: int) -> str:
    """Key of one source file as one reader reads it.

    The first and last bytes are in it because two logdirs may hold files of one name, size and
    time (unpacked archives) with different content. Raises OSError if the file cannot be read.
    """
    digest = hashlib.sha256(
        f"{rel}|{size}|{mtime_ns}|{reader}|{version}".encode("utf-8", "replace")
    )
    with path.open("rb") as stream:
        digest.update(stream.read(_SAMPLE))
        if size > _SAMPLE:
            stream.seek(max(0, size - _SAMPLE))
            digest.update(stream.read(_SAMPLE))
    return digest.hexdigest()[:20]


def combined(keys: Iterable[str]) -> str:
    """The key of files that are read as one: that of the first, if there are no others."""
    first, *others = keys
    if not others:
        return first
    return hashlib.sha256("|".join((first, *others)).encode()).hexdigest()[:20]
