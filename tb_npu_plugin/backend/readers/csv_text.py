"""Copies of a CSV that DuckDB can read: in UTF-8, and with every record as wide as the header.

Both are written to a scratch directory; the file itself is never touched.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

BLOCK_BYTES = 1 << 22
#: A quoted cell that holds line ends spans at most so many lines; more means its quote is not closed.
MAX_LINES, MAX_LINES_MULTILINE = 20, 5000
#: After so many of these the shorter limit holds everywhere, so that a hostile file ends too.
MAX_BROKEN = 100


class _Unpacked(io.RawIOBase):
    """A decompressed stream that ends where the packed file was cut."""

    def __init__(self, path: Path) -> None:
        self._stream = gzip.open(path)  # noqa: SIM115 - closed with this object

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read1(len(buffer))
        except (EOFError, zlib.error):
            return 0
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def binary(path: Path) -> io.BufferedReader:
    """``path`` opened for reading, decompressed where its name says so."""
    return io.BufferedReader(_Unpacked(path)) if path.suffix == ".gz" else path.open("rb")


def pack_is_cut(path: Path) -> bool:
    """Whether a packed file ends before its end, or cannot be unpacked to it: other readers go by what
    they get, and a cut between two lines looks like a shorter file."""
    try:
        with gzip.open(path) as stream:
            while stream.read(BLOCK_BYTES):
                pass
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return True
    return False


def is_utf8(data: bytes) -> bool:
    """Whether ``data``, which may end inside a character, is UTF-8 so far."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def legacy_encoding(path: Path) -> str:
    """The encoding of a file that is not UTF-8 throughout: ``gb18030``, or ``utf-8`` with damage.

    A file that was cut inside a character, or has a few odd bytes, is mostly valid UTF-8; in one
    written under a Chinese locale hardly any character is.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    valid = broken = 0
    with binary(path) as stream:
        while block := stream.read(BLOCK_BYTES):
            text = decoder.decode(block)
            bad = text.count("\ufffd")
            broken += bad
            valid += sum(c > "\x7f" for c in text) - bad
    return "utf-8" if valid > broken else "gb18030"


def transcode(path: Path, encoding: str, scratch: Path) -> Path:
    """A UTF-8 copy of ``path`` with LF line ends, in ``scratch``; undecodable bytes become U+FFFD."""
    scratch.mkdir(parents=True, exist_ok=True)
    target = scratch / "transcoded.csv"
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder(encoding)(errors="replace"), translate=True
    )
    with binary(path) as source, target.open("w", encoding="utf-8", newline="") as out:
        while block := source.read(BLOCK_BYTES):
            out.write(decoder.decode(block))
        out.write(decoder.decode(b"", final=True))
    return target


@dataclass
class Repaired:
    """A copy in which every record fits, and the lines of those that did not."""

    path: Path
    padded: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    cut: int | None = None


def repair(path: Path, delimiter: str, width: int, scratch: Path, *, multiline: bool) -> Repaired:
    """Write every record of ``path`` again with ``width`` cells, in file order.

    Missing cells become empty, surplus ones are left out; a record whose quote is never closed is
    lost alone, not with everything after it; the last one is dropped if the file ends inside it.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    result = Repaired(scratch / "repaired.csv")
    limit = csv.field_size_limit(1 << 30)
    try:
        with (
            io.TextIOWrapper(binary(path), encoding="utf-8-sig", errors="replace") as source,
            result.path.open("w", encoding="utf-8", newline="") as out,
        ):
            writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
            for line, text, whole in _records(source, delimiter, width, multiline):
                cells = _cells(text, delimiter) if whole else None
                if cells is None or (len(cells) < width and not text.endswith("\n")):
                    if text.endswith("\n"):
                        result.lost.append(line)
                    else:
                        result.cut = line
                elif cells:
                    if len(cells) != width:
                        result.padded.append(line)
                    writer.writerow([*cells[:width], *[""] * (width - len(cells))])
    finally:
        csv.field_size_limit(limit)
    return result


def _records(
    source: IO[str], delimiter: str, width: int, multiline: bool
) -> Iterator[tuple[int, str, bool]]:
    """(line number, record, whether its quotes are balanced)."""
    again: deque[str] = deque()
    number = broken = 0

    def take() -> str | None:
        return again.popleft() if again else next(source, None)

    def fits(text: str) -> bool:
        return len(_cells(text, delimiter, strict=True) or []) == width

    while (first := take()) is not None:
        number += 1
        if first.isspace():
            continue
        held = [first]
        odd = first.count('"') % 2
        most = MAX_LINES_MULTILINE if multiline and broken < MAX_BROKEN else MAX_LINES
        while odd and len(held) < most and (more := take()) is not None:
            held.append(more)
            odd ^= more.count('"') % 2
        text = "".join(held)
        if not odd and (len(held) == 1 or fits(text)):
            yield number, text, True
            number += len(held) - 1
            continue
        broken += 1
        at_end = odd and len(held) < most
        if at_end and (len(held) == 1 or (multiline and not any(map(fits, held[1:])))):
            yield number, text, False  # the file ends inside this record
            return
        again.extendleft(reversed(held[1:]))
        yield number, first, False


def _cells(text: str, delimiter: str, *, strict: bool = False) -> list[str] | None:
    """``strict``: text after a closing quote is an error, and not part of the cell."""
    try:
        return next(csv.reader([text.replace("\0", "")], delimiter=delimiter, strict=strict), [])
    except csv.Error:
        return None
