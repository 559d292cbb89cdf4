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
    place. Raises :class:`Unreadable` for an empty file or one that holds no JSON object.
    """
    text = _open(source)
    resume = re.compile(
        b"|".join(rb'("(?:' + k.encode() + rb')"\s*:\s*\{)' for k in keys), re.DOTALL
    )
    yield from _walk(text, len(keys), resume, source.rel)
    _tell(source, text)


def _walk(text: _Text, levels: int, resume: re.Pattern[bytes], rel: str) -> Iterator[Member]:
    data = text.data
    start = _BLANK.match(data, 3 if data[:3] == codecs.BOM_UTF8 else 0)
    pos = start.end() if start else 0
    if data[pos : pos + 1] != b"{":
        head = data[pos : pos + 60].decode("utf-8", "replace")
        raise Unreadable(Note("json-no-object", rel, f"byte {pos}", {"head": repr(head)}))
    pos += 1
    path: list[str] = []
    open_ = True  # the outermost object is not closed yet

    def skip_damage(at: int, after: int) -> int | None:
        """Where reading can go on after a damaged member, None where the file is simply cut."""
        nonlocal open_
        found = resume.search(data, after)
        if found is None:
            return None
        text.broken.append(at)
        level = (found.lastindex or 1) - 1
        path[:] = path[:level] + [""] * (level - len(path))
        open_ = True
        return found.start()

    while True:
        match = _NEXT.match(data, pos) if open_ else None
        if match is None:
            blank = _BLANK.match(data, pos)
            at = blank.end() if blank else pos
            if at >= len(data):
                text.cut = pos if open_ else None
                return
            after = skip_damage(at, at)
            if after is None:
                if open_:
                    text.cut = at
                else:
                    text.broken.append(at)
                return
            pos = after
            continue
        if match.group(2):
            pos = match.end()
            if path:
                path.pop()
            else:
                open_ = False
            continue
        key, at = _key(match.group(1)), match.end()
        deep = len(path) + 1 == levels
        if not deep and data[at : at + 1] == b"{":
            path.append(key)
            pos = at + 1
            continue
        end = _end(data, at)
        if end is None:
            after = skip_damage(match.start(1), at + 1)
            if after is None:
                text.cut = match.start(1)
                return
            pos = after
            continue
        pos = end
        if not deep:
            continue
        value = _decode(text, data[at:end])
        if value is _BAD:
            inside = resume.search(data, at + 1, end)
            if inside:
                pos = skip_damage(match.start(1), at + 1) or end
            else:
                text.broken.append(match.start(1))
            continue
        yield Member((*path, key), value, match.start(1))


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


def _end(data: Buffer, start: int) -> int | None:
    """Index behind the value that starts at ``start``; None if the file ends first."""
    if data[start : start + 1] not in (b"{", b"["):
        match = _SCALAR.match(data, start)
        return match.end() if match and match.end() < len(data) else None
    depth = 0
    for match in _BRACKETS.finditer(data, start):
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
