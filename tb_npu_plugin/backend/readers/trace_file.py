"""A Chrome trace file as a stream of events: a bare array, or an object around ``traceEvents``.

Read in blocks that are cut between objects; memory holds one block whatever the size of the file.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.base import Source
from tb_npu_plugin.backend.readers.csv_file import Unreadable
from tb_npu_plugin.backend.readers.csv_text import transcode
from tb_npu_plugin.backend.readers.trace_events import BLANK, Event, decode_whole, mend, walk

#: What a processor cache holds: larger blocks are slower.
BLOCK_BYTES = 1 << 20
#: A longer object is none of a profiler's; it is skipped.
MAX_OBJECT_BYTES = 64 << 20
#: What stands around the events of an object; more of it is not read.
MAX_AROUND_BYTES = 64 << 20
_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[')
_CUT = re.compile(rb"\}\s*,\s*(?=\{)")
#: Where in a block's end the cut is looked for.
_CUT_WINDOW = 1 << 16
_ASCII = bytes(range(128))
#: A packed file that is cut loses no more than one such piece.
_PIECE = 1 << 16


class TraceFile:
    """Iterate over it for lists of events, then look at what was odd and at :attr:`metadata`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.events = 0
        self.skipped: list[int] = []
        """Byte offsets (in the unpacked file) of objects that cannot be read."""
        self.bare = 0
        self.closed = False
        self.comma = False
        self.cut: int | None = None
        """Where the object begins in which the file ends."""
        self.size = 0
        self.encoding = "utf-8"
        self.damaged = False
        self._head = self._tail = b""
        self._object = False

    def __iter__(self) -> Iterator[list[Event]]:
        size = max(1, self.source.path.stat().st_size)
        with _Stream(self.source) as stream:
            rest = self._begin(stream)
            wanted = BLOCK_BYTES
            while not self.closed:
                data = stream.read(wanted)
                buffer = rest + data
                events, used = self._block(buffer, not data)
                if events:
                    yield events
                    self.events += len(events)
                self.source.progress(min(1.0, stream.position() / size))
                rest = buffer[used:]
                self.size += used
                if not data and not self.closed:
                    self.cut = self.size if rest.strip(b", \t\r\n") else None
                    self.size += len(rest)
                    return
                wanted = BLOCK_BYTES if used else min(wanted * 2, MAX_OBJECT_BYTES)
            self._end(stream, rest)

    @property
    def metadata(self) -> dict[str, Any]:
        """What stands beside ``traceEvents``; complete once the events were read."""
        head, tail = self._head.rstrip(b", \t\r\n"), self._tail.strip(b", \t\r\n")
        tail = tail or b"}"
        for text in (head + (b"," if head.strip() != b"{" and tail != b"}" else b"") + tail,
                     head + b"}", b"{" + tail):  # fmt: skip
            try:
                found = msgspec.json.decode(mend(text)[0])
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                return found
        return {}

    def around(self, pattern: re.Pattern[bytes]) -> int:
        """How often ``pattern`` occurs beside the events."""
        return len(pattern.findall(self._head)) + len(pattern.findall(self._tail))

    def _begin(self, stream: _Stream) -> bytes:
        """Read up to the first event. Raises Unreadable where there is no trace."""
        buffer = stream.read(BLOCK_BYTES)
        if not buffer:
            raise Unreadable(Note("file-empty", self.source.rel))
        while not buffer.strip() and (more := stream.read(BLOCK_BYTES)):
            buffer += more
        start = buffer.removeprefix(codecs.BOM_UTF8).lstrip()
        if start.startswith(b"["):
            self.size = len(buffer) - len(start) + 1
            return start[1:]
        found = None
        if start.startswith(b"{"):
            self._object = True
            while (found := _EVENTS.search(buffer)) is None and len(buffer) < MAX_AROUND_BYTES:
                if not (more := stream.read(BLOCK_BYTES)):
                    break
                buffer += more
        if found is None:
            head = start[:60].decode("utf-8", "replace")
            raise Unreadable(Note("trace-no-events", self.source.rel, None, {"head": repr(head)}))
        self._head = buffer[: found.start()].removeprefix(codecs.BOM_UTF8)
        self.size = found.end()
        return buffer[found.end() :]

    def _block(self, buffer: bytes, final: bool) -> tuple[list[Event], int]:
        """The events of ``buffer`` and how many of its bytes are done."""
        if not final:
            cut = _cut(buffer)
            if cut is None and len(buffer) < MAX_OBJECT_BYTES:
                return [], 0
            blank = BLANK.match(buffer)
            begin = blank.end() if blank else 0
            text = b"".join((b"[", memoryview(buffer)[begin:cut], b"]"))
            events = decode_whole(text)
            if events is None:
                events = self._mended(text)
            if events is not None:
                return events, cut or 0
        found = walk(buffer, self._encoding_of(buffer), final=final)
        self.skipped += [self.size + at for at in found.bad]
        self.bare += found.bare
        self.closed, self.comma = found.end, found.comma
        if not found.used and len(buffer) >= MAX_OBJECT_BYTES:
            self.skipped.append(self.size)
            found.used = len(buffer)
        return found.events, found.used

    def _mended(self, text: bytes) -> list[Event] | None:
        encoding = self._encoding_of(text)
        if encoding != "utf-8":
            text = text.decode(encoding, "replace").encode()
        text, bare = mend(text)
        events = decode_whole(text)
        if events is not None:
            self.bare += bare
        return events

    def _encoding_of(self, data: bytes) -> str:
        """UTF-8, or the legacy encoding of Chinese systems, told by most of the bytes past ASCII."""
        if data.isascii():
            return self.encoding
        # An incremental decoder does not count a character that the end of the file cuts.
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(data.translate(None, _ASCII))
        broken = text.count("\ufffd")
        if broken and len(text) - broken <= broken:
            self.encoding = "gb18030"
        elif broken:
            self.damaged = True
        return self.encoding

    def _end(self, stream: _Stream, rest: bytes) -> None:
        self.size += len(rest)
        while len(rest) < MAX_AROUND_BYTES and (more := stream.read(BLOCK_BYTES)):
            rest += more
            self.size += len(more)
        self._tail = rest
        if self._object and not rest.rstrip().endswith(b"}"):
            self.closed = False


def _cut(buffer: bytes) -> int | None:
    """Behind the last object of ``buffer`` that another one follows."""
    for window in (_CUT_WINDOW, len(buffer)):
        last = None
        for match in _CUT.finditer(buffer, max(0, len(buffer) - window)):
            last = match.start() + 1
        if last is not None:
            return last
    return None


class _Stream:
    """The file's bytes, unpacked, in UTF-8 where it was UTF-16."""

    def __init__(self, source: Source) -> None:
        self._raw = source.path.open("rb")
        self._bytes: Any = self._raw
        if source.path.suffix == ".gz":
            self._bytes = gzip.GzipFile(fileobj=self._raw)
        first = self._peek()
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self._bytes = transcode(source.path, "utf-16", source.scratch).open("rb")
            source.notes.append(Note("encoding", source.rel, None, {"encoding": "UTF-16"}))
            self._first = b""
        else:
            self._first = first

    def _peek(self) -> bytes:
        self._first = b""
        return self.read(2)

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._bytes.close()
        self._raw.close()

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes, fewer only at the end; a packed file that is cut ends there."""
        if self._bytes is self._raw:
            first, self._first = self._first, b""
            rest: bytes = self._raw.read(size - len(first))
            return first + rest if first else rest
        parts, self._first = [self._first], b""
        missing = size - len(parts[0])
        while missing > 0:
            try:
                data = self._bytes.read(min(missing, _PIECE))
            except (EOFError, zlib.error):
                break
            if not data:
                break
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)

    def position(self) -> int:
        """Bytes of the file on disk that were read."""
        return self._raw.tell()
