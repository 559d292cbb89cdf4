"""Members of a nested JSON object one at a time, also from a file that is cut or damaged.

Only the structure is scanned; each member is decoded alone, so that one bad object costs one object
and memory holds one object, not the file's tree. NaN, Infinity and N/A outside strings are unknown.
"""

from __future__ import annotations

import codecs
import mmap
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Source
from tb_npu_plugin.backend.readers.csv_file import Unreadable
from tb_npu_plugin.backend.readers.csv_text import (
    BLOCK_BYTES,
    binary,
    legacy_encoding,
    transcode,
)

#: Files up to this size are read whole; larger ones are copied beside the cache and mapped (a
#: mapped file that is cut short by its writer would kill the process).
WHOLE_BYTES = 64 << 20
_STRING = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_NEXT = re.compile(rb"[\s,]*(?:(" + _STRING + rb")\s*:\s*|(\}))", re.DOTALL)
_BRACKETS = re.compile(_STRING + rb"|[{}\[\]]", re.DOTALL)
_SCALAR = re.compile(rb"(?:" + _STRING + rb"|[^,}\]\s])+", re.DOTALL)
_BARE = re.compile(_STRING + rb"|-?(?:NaN|nan|Infinity|inf|N/A|NA)\b", re.DOTALL)
_BLANK = re.compile(rb"[\s,]*")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

Buffer = bytes | mmap.mmap


@dataclass
class Member:
    """A member ``levels`` deep: the keys that lead to it, its value, its byte in the file."""

    keys: tuple[str, ...]
    value: Any
    offset: int


@dataclass
class _Text:
    """The file as UTF-8, and what was wrong with it."""

    data: Buffer
    encoding: str
    broken: list[int] = field(default_factory=list)
    cut: int | None = None
    bare: int = 0

    def place(self, offset: int) -> int:
        """``offset`` as a byte of the original file (another encoding has other lengths)."""
        if self.encoding in ("utf-8", "utf-8-sig"):
            return offset
        return len(self.data[:offset].decode("utf-8", "replace").encode(self.encoding, "replace"))


def members(source: Source, keys: Sequence[str]) -> Iterator[Member]:
    """Every member ``len(keys)`` levels deep, in file order; notes go to ``source.notes``.

    ``keys``: per level, a regular expression of its keys, by which reading goes on behind a damaged
    place, and by which a key that a stray brace moved to another level is put back. Keys that fit
    no level are taken where they stand. Raises :class:`Unreadable` for an empty file or one that
    holds no JSON object.
    """
    text = _open(source)
    yield from _Walk(text, keys, source.rel).members()
    _tell(source, text)


class _Walk:
    """One pass over the structure. ``path``: keys that lead to ``pos``, without the deepest."""

    def __init__(self, text: _Text, keys: Sequence[str], rel: str) -> None:
        self.text, self.data, self.rel = text, text.data, rel
        self.levels = [re.compile(key) for key in keys]
        self.resume = re.compile(
            b"|".join(rb'("(?:' + key.encode() + rb')"\s*:\s*\{)' for key in keys), re.DOTALL
        )
        self.path: list[str] = []
        self.last = [""] * len(keys)
        self.pos = 0
        self.closed = False
        self.next_known: int | None = -1

    def members(self) -> Iterator[Member]:
        data = self.data
        self.pos = _skip(data, 3 if data[:3] == codecs.BOM_UTF8 else 0)
        if data[self.pos : self.pos + 1] != b"{":
            head = data[self.pos : self.pos + 60].decode("utf-8", "replace")
            place = f"byte {self.pos}"
            raise Unreadable(Note("json-no-object", self.rel, place, {"head": repr(head)}))
        self.pos += 1
        while True:
            match = None if self.closed else _NEXT.match(data, self.pos)
            if match is None:
                at = _skip(data, self.pos)
                if at < len(data) and self._skip_damage(at, at):
                    continue
                if not self.closed:
                    self.text.cut = at
                elif at < len(data):
                    self.text.broken.append(at)
                return
            if match.group(2):
                self.pos = match.end()
                if self.path:
                    self.path.pop()
                else:
                    self.closed = True
                continue
            key, begin, at = _key(match.group(1)), match.start(1), match.end()
            self._put_back(key, begin)
            level = len(self.path)
            self.last[level] = key
            if level + 1 < len(self.levels) and data[at : at + 1] == b"{":
                self.path.append(key)
                self.pos = at + 1
                continue
            end = _end(data, at, self._stop(at))
            if end is None:
                if self._skip_damage(begin, at):
                    continue
                self.text.cut = begin
                return
            self.pos = end
            if level + 1 < len(self.levels):
                continue
            value = _decode(self.text, data[at:end])
            if value is not _BAD:
                yield Member((*self.path, key), value, begin)
            elif not self._skip_damage(begin, at, end):
                self.text.broken.append(begin)

    def _put_back(self, key: str, begin: int) -> None:
        """Correct the path where a stray or missing brace moved ``key`` to another level."""
        here = len(self.path)
        if self.levels[here].fullmatch(key):
            return
        level = next((i for i, k in enumerate(self.levels) if k.fullmatch(key)), None)
        if level is not None:
            self.text.broken.append(begin)
            self._set_level(level)

    def _set_level(self, level: int) -> None:
        self.path = [*self.path[:level], *self.last[len(self.path) : level]]
        self.closed = False

    def _skip_damage(self, begin: int, after: int, before: int | None = None) -> bool:
        """Go on at the next known key behind ``after``; False where there is none."""
        end = len(self.data) if before is None else before
        found = self.resume.search(self.data, after, end)
        if found is None:
            return False
        self.text.broken.append(begin)
        self._set_level((found.lastindex or 1) - 1)
        self.pos = found.start()
        return True

    def _stop(self, at: int) -> int:
        """Where the value at ``at`` must have ended: in a damaged file, at the next known key.

        Without this bound each of many unclosed objects would be searched to the end of the file.
        """
        if not self.text.broken:
            return len(self.data)
        if self.next_known is not None and self.next_known <= at:
            found = self.resume.search(self.data, at)
            self.next_known = found.start() if found else None
        return len(self.data) if self.next_known is None else self.next_known


def _skip(data: Buffer, at: int) -> int:
    """Index of the next character that is neither blank nor a comma."""
    match = _BLANK.match(data, at)
    return match.end() if match else at


_BAD = object()


def _decode(text: _Text, raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        pass
    bare = 0

    def unknown(match: re.Match[bytes]) -> bytes:
        nonlocal bare
        if match.group().startswith(b'"'):
            return match.group()
        bare += 1
        return b"null"

    try:
        value = msgspec.json.decode(_BARE.sub(unknown, raw))
    except (ValueError, RecursionError):
        return _BAD
    text.bare += bare
    return value


def _key(raw: bytes) -> str:
    try:
        return msgspec.json.decode(raw, type=str)
    except ValueError:
        return raw[1:-1].decode("utf-8", "replace")


def _end(data: Buffer, start: int, stop: int) -> int | None:
    """Index behind the value that starts at ``start``; None if it does not end before ``stop``."""
    if data[start : start + 1] not in (b"{", b"["):
        match = _SCALAR.match(data, start, stop)
        return match.end() if match and match.end() < len(data) else None
    depth = 0
    for match in _BRACKETS.finditer(data, start, stop):
        token = match.group()
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _open(source: Source) -> _Text:
    """The file's text as UTF-8, unpacked and converted where needed."""
    path = source.path
    encoding, clean = _encoding(path)
    if not encoding:
        raise Unreadable(Note("file-empty", source.rel))
    if not clean:
        source.notes.append(Note("encoding-damaged", source.rel))
    elif not encoding.startswith("utf-8"):
        source.notes.append(Note("encoding", source.rel, None, {"encoding": encoding.upper()}))
    if not clean or path.suffix == ".gz" or not encoding.startswith("utf-8"):
        path = transcode(path, encoding, source.scratch)
    elif path.stat().st_size > WHOLE_BYTES:
        path = Path(shutil.copy(path, source.scratch / "whole.json"))
    if path.stat().st_size <= WHOLE_BYTES:
        return _Text(path.read_bytes(), encoding)
    with path.open("rb") as stream:
        return _Text(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ), encoding)


def _encoding(path: Path) -> tuple[str, bool]:
    """By byte order mark, else UTF-8 if all of it is, else what it is most like; "" if empty.

    The second value: whether every byte can be read in it.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    with binary(path) as stream:
        block = stream.read(BLOCK_BYTES)
        if not block:
            return "", True
        for bom, name in _BOMS:
            if block.startswith(bom):
                return name, True
        try:
            while block:
                decoder.decode(block)
                block = stream.read(BLOCK_BYTES)
        except UnicodeDecodeError:
            encoding = legacy_encoding(path)
            return encoding, encoding != "utf-8"
    return "utf-8", True


def _tell(source: Source, text: _Text) -> None:
    if text.cut is not None:
        at = text.place(text.cut)
        size = text.place(len(text.data))
        source.notes.append(
            Note("json-cut", source.rel, f"byte {at}", {"offset": at, "size": size})
        )
    if text.broken:
        places = [str(text.place(offset)) for offset in text.broken[:5]]
        place = f"byte {', '.join(places)}" + (", …" if len(text.broken) > 5 else "")
        source.notes.append(
            Note("json-members-broken", source.rel, place, {"count": len(text.broken)})
        )
    if text.bare:
        source.notes.append(Note("json-not-numbers", source.rel, None, {"count": text.bare}))
