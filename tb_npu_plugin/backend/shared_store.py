"""A store that many machines share: the entries of a cache, and a description of each capture.

::

    store.json                                      what this is, and the version of its layout
    v1/captures/<capture_id>/<fingerprint>/…        entries, as in a cache; done.json is written last
    v1/descriptions/<capture_id>.json               written when all of a capture's entries are there

A directory is a cache at the same time, and read in place. Anywhere else (``s3://…``, through fsspec)
entries are uploaded, and downloaded into a cache when a view asks for them. Every file is complete
before another names it, so a reader never sees half of one, and writers of the same write the same.
"""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tb_npu_plugin.backend.cache import LAYOUT, Cache, Ingested
from tb_npu_plugin.backend.discovery import STORE_MARK
from tb_npu_plugin.backend.errors import RequestError

VERSION = 1
EXTRA = "pip install 'tb-npu-plugin[cluster]'"
_DONE = "done.json"


@dataclass(frozen=True)
class StoredEntry:
    """``written``: seconds since the epoch, of the newest of its files."""

    capture_id: str
    fingerprint: str
    bytes: int
    written: float


class SharedStore(Protocol):
    """What ingest and the tab need of a store. Methods raise OSError where it cannot be reached."""

    url: str

    def create(self) -> None:
        """Mark the place as a store. Raises RequestError where something else lies there."""

    def exists(self) -> bool:
        """Whether there is a store of a known version. Raises RequestError for a later one."""

    def listing(self) -> dict[str, str]:
        """Capture -> a word that changes when its description does."""

    def read(self, capture_ids: Iterable[str]) -> dict[str, bytes]:
        """The descriptions of those captures, as far as they are there."""

    def write(self, capture_id: str, description: bytes) -> None:
        """Publish the description of a capture whose entries are all there."""

    def load(self, capture_id: str, fingerprint: str) -> Ingested | None:
        """What an entry holds; None where it is not complete."""

    def entry(self, capture_id: str, fingerprint: str) -> str:
        """Where an entry lies, as :func:`fetch` takes it."""

    def publish(self, cache: Cache, capture_id: str, fingerprint: str) -> int:
        """Bring a cache's entry into the store; returns the bytes of it that were written."""

    def entries(self) -> Iterator[StoredEntry]:
        """Every entry of a capture, complete or not."""

    def remove(self, entry: StoredEntry) -> None:
        """Take an entry away."""


def open_store(place: str) -> SharedStore:
    """A store by its directory or URL. Raises RequestError where nothing here can open the URL."""
    local = local_path(place)
    return Directory(local) if local else Remote(place)


def local_path(place: str) -> Path | None:
    """The directory that a place names, also as ``file://``; None for any other URL."""
    if place.startswith("file://"):
        place = place.removeprefix("file://")
    return None if "://" in place else Path(place).expanduser().absolute()


class Directory:
    """A store on a disk or a mount."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = str(path)

    def create(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        if not self.exists():
            if any(name != LAYOUT for name in os.listdir(self.path)):
                raise _no_store(self.url)
            _replace(self.path / STORE_MARK, _mark())
        if self.cache.temporary:
            raise PermissionError(f"{self.url} cannot be written")

    def exists(self) -> bool:
        try:
            return _known((self.path / STORE_MARK).read_bytes(), self.url)
        except (FileNotFoundError, NotADirectoryError):
            return False

    @cached_property
    def cache(self) -> Cache:
        return Cache(self.path)

    @property
    def _descriptions(self) -> Path:
        return self.path / LAYOUT / "descriptions"

    def listing(self) -> dict[str, str]:
        if not self.exists():
            raise FileNotFoundError(f"there is no store at {self.url}")
        found = {}
        with suppress(FileNotFoundError), os.scandir(self._descriptions) as entries:
            for entry in entries:
                name, dot, kind = entry.name.partition(".")
                if f"{dot}{kind}" == ".json":
                    stat = entry.stat()
                    found[name] = f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"
        return found

    def read(self, capture_ids: Iterable[str]) -> dict[str, bytes]:
        found = {}
        for name in capture_ids:
            with suppress(FileNotFoundError):
                found[name] = (self._descriptions / f"{name}.json").read_bytes()
        return found

    def write(self, capture_id: str, description: bytes) -> None:
        self._descriptions.mkdir(parents=True, exist_ok=True)
        _replace(self._descriptions / f"{capture_id}.json", description)

    def load(self, capture_id: str, fingerprint: str) -> Ingested | None:
        return self.cache.load(capture_id, fingerprint)

    def entry(self, capture_id: str, fingerprint: str) -> str:
        return str(self.path / LAYOUT / "captures" / capture_id / fingerprint)

    def publish(self, cache: Cache, capture_id: str, fingerprint: str) -> int:
        return entry_bytes(cache.entry(capture_id, fingerprint))  # the store is that cache

    def entries(self) -> Iterator[StoredEntry]:
        for entry in (self.path / LAYOUT / "captures").glob("*/*"):
            with suppress(OSError):
                found = [f.stat() for f in entry.iterdir()]
                written = max((s.st_mtime for s in found), default=entry.stat().st_mtime)
                size = sum(s.st_size for s in found)
                yield StoredEntry(entry.parent.name, entry.name, size, written)

    def remove(self, entry: StoredEntry) -> None:
        self.cache.remove(entry.capture_id, entry.fingerprint)


class Remote:
    """A store behind a URL that fsspec opens."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._fs, self._root = _filesystem(self.url)

    def create(self) -> None:
        if self.exists():
            return
        with suppress(FileNotFoundError):
            if self._fs.ls(self._root, detail=False):
                raise _no_store(self.url)
        self._fs.makedirs(self._root, exist_ok=True)
        self._fs.pipe_file(f"{self._root}/{STORE_MARK}", _mark())

    def exists(self) -> bool:
        try:
            return _known(self._fs.cat_file(f"{self._root}/{STORE_MARK}"), self.url)
        except FileNotFoundError:
            return False

    @property
    def _descriptions(self) -> str:
        return f"{self._root}/{LAYOUT}/descriptions"

    def listing(self) -> dict[str, str]:
        if not self.exists():
            raise FileNotFoundError(f"there is no store at {self.url}")
        self._fs.invalidate_cache(self._descriptions)
        try:
            entries = self._fs.ls(self._descriptions, detail=True)
        except FileNotFoundError:
            return {}
        named = {str(e["name"]).rsplit("/", 1)[-1]: str(e) for e in entries}
        return {n.removesuffix(".json"): e for n, e in named.items() if n.endswith(".json")}

    def read(self, capture_ids: Iterable[str]) -> dict[str, bytes]:
        paths = {f"{self._descriptions}/{name}.json": name for name in capture_ids}
        if not paths:
            return {}
        found = self._fs.cat(list(paths), on_error="omit")  # many at once, where it can
        return {str(path).rsplit("/", 1)[-1].removesuffix(".json"): d for path, d in found.items()}

    def write(self, capture_id: str, description: bytes) -> None:
        self._fs.makedirs(self._descriptions, exist_ok=True)
        self._fs.pipe_file(f"{self._descriptions}/{capture_id}.json", description)

    def _entry(self, capture_id: str, fingerprint: str) -> str:
        return f"{self._root}/{LAYOUT}/captures/{capture_id}/{fingerprint}"

    def load(self, capture_id: str, fingerprint: str) -> Ingested | None:
        try:
            data = self._fs.cat_file(f"{self._entry(capture_id, fingerprint)}/{_DONE}")
            done = msgspec.json.decode(data, type=Ingested)
        except (FileNotFoundError, msgspec.MsgspecError):
            return None
        return None if done.error else done

    def entry(self, capture_id: str, fingerprint: str) -> str:
        return f"{self.url}/{LAYOUT}/captures/{capture_id}/{fingerprint}"

    def publish(self, cache: Cache, capture_id: str, fingerprint: str) -> int:
        if self.load(capture_id, fingerprint) is not None:  # someone else's, meanwhile
            return 0
        entry, target = cache.entry(capture_id, fingerprint), self._entry(capture_id, fingerprint)
        names = [f.name for f in entry.iterdir() if f.name != _DONE]
        self._fs.makedirs(target, exist_ok=True)
        if names:
            self._fs.put([str(entry / n) for n in names], [f"{target}/{n}" for n in names])
        self._fs.put_file(str(entry / _DONE), f"{target}/{_DONE}")
        return entry_bytes(entry)

    def entries(self) -> Iterator[StoredEntry]:
        root = f"{self._root}/{LAYOUT}/captures"
        self._fs.invalidate_cache()
        sizes: dict[tuple[str, str], int] = {}
        newest: dict[tuple[str, str], float] = {}
        for path, details in self._fs.find(root, detail=True).items():
            capture_id, fingerprint, _ = str(path).rsplit("/", 3)[-3:]
            key = capture_id, fingerprint
            sizes[key] = sizes.get(key, 0) + int(details["size"] or 0)
            newest[key] = max(newest.get(key, 0.0), _written(self._fs, str(path), details))
        for (capture_id, fingerprint), size in sizes.items():
            written = newest[capture_id, fingerprint]
            yield StoredEntry(capture_id, fingerprint, size, written)

    def remove(self, entry: StoredEntry) -> None:
        self._fs.rm(self._entry(entry.capture_id, entry.fingerprint), recursive=True)


def fetch(place: str, cache: Cache, capture_id: str, fingerprint: str) -> Ingested:
    """Copy an entry of a store into ``cache``, unless it is there; returns what it holds.

    Raises FileNotFoundError where the store has it no more, OSError where it cannot be reached.
    """
    with cache.writing_or_found(capture_id, fingerprint) as (found, target):
        if found is not None:
            return found
        assert target is not None
        if "://" in place:
            fs, path = _filesystem(place)
            fs.invalidate_cache(path)
            names = [str(name).rsplit("/", 1)[-1] for name in fs.ls(path, detail=False)]
            _complete(names, place)
            fs.get([f"{path}/{n}" for n in names], [str(target / n) for n in names])
        else:
            names = os.listdir(place)
            _complete(names, place)
            for name in names:
                shutil.copyfile(Path(place, name), target / name)
    done = cache.load(capture_id, fingerprint)
    if done is None:
        raise FileNotFoundError(f"{place} is not complete")
    return done


def _written(fs: Any, path: str, details: dict[str, Any]) -> float:
    """When a file was written; now where its store does not tell, so that nothing takes it for old."""
    for key in ("LastModified", "mtime", "last_modified", "updated", "created"):
        value = details.get(key)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, int | float):
            return float(value)
    with suppress(Exception):  # whatever the package of the protocol raises
        return float(fs.modified(path).timestamp())
    return time.time()


def _complete(names: list[str], place: str) -> None:
    if _DONE not in names:
        raise FileNotFoundError(f"{place} is not complete")


def entry_bytes(entry: Path) -> int:
    return sum(f.stat().st_size for f in entry.iterdir())


def _mark() -> bytes:
    return msgspec.json.encode({"store": "tb-npu", "version": VERSION}) + b"\n"


def _known(mark: bytes, url: str) -> bool:
    try:
        version = msgspec.json.decode(mark, type=dict[str, Any])["version"]
    except (msgspec.MsgspecError, KeyError):
        return False
    if not isinstance(version, int) or version > VERSION:
        raise RequestError(409, "store-newer", f"{url} was written by a later version.",
                           "pip install --upgrade tb-npu-plugin")  # fmt: skip
    return True


def _no_store(url: str) -> RequestError:
    return RequestError(400, "no-store", f"{url} is not empty, and no store of tb-npu.",
                        "Name an empty or a new directory, outside the logdir.")  # fmt: skip


def _replace(path: Path, data: bytes) -> None:
    """Write a file so that readers see the old one or the new one."""
    temporary = path.with_name(f".tmp-{uuid.uuid4().hex}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _filesystem(url: str) -> tuple[Any, str]:
    """fsspec's filesystem of a URL, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise RequestError(400, "no-fsspec", f"{url} needs fsspec, which is not installed.",
                           EXTRA) from None  # fmt: skip
    try:
        fs, path = url_to_fs(url)
    except (ImportError, ValueError) as error:  # the protocol's own package is missing, or unknown
        raise RequestError(400, "bad-store", f"{url} cannot be opened: {error}",
                           "Stores are directories and URLs of fsspec, e.g. s3://bucket/cache "
                           "(pip install s3fs).") from error  # fmt: skip
    return fs, str(path).rstrip("/")
