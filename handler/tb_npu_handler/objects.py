"""Read the objects of a JSON array one by one, however long the file and whatever its end.

torch_npu's ``trace_view.json`` may be many GB, may lack its closing bracket, may end in ``,]``, and
may hold an object that is no JSON.  Memory stays at a few chunks; a bad object costs itself only.
"""

from __future__ import annotations

import gzip
import io
import json
import re
from typing import IO, Any, Dict, Iterator, List

CHUNK = 1 << 20
# An object that is not whole within this much text is taken for broken.
OBJECT_LIMIT = 16 << 20
NEXT_OBJECT = re.compile(r"\}\s*,\s*(?=\{)")


class Reading:
    """How a reading went: ``objects`` read, ``bad`` skipped, ``cut`` when the end was missing."""

    def __init__(self) -> None:
        self.objects, self.bad, self.cut = 0, 0, False


def open_text(path: str) -> IO[str]:
    """A JSON file as UTF-8 text, unpacked when its name ends in ``.gz``."""
    if path.endswith(".gz"):
        return io.TextIOWrapper(gzip.open(path, "rb"), encoding="utf-8", errors="replace")
    return open(path, encoding="utf-8", errors="replace")


def each(path: str, reading: Reading, chunk: int = CHUNK) -> Iterator[Dict[str, Any]]:
    """Yield the objects of the array in ``path``, or of ``traceEvents`` in an object."""
    decoder = json.JSONDecoder(strict=False)
    with open_text(path) as stream:
        text = stream.read(chunk)
        position = _first(text)
        ended = False
        while True:
            position = _skip(text, position)
            if position < len(text) and text[position] == "]":
                return
            if position < len(text) and text[position] == "{":
                try:
                    found, position = decoder.raw_decode(text, position)
                except ValueError:
                    found = None
                if found is not None:
                    if position > chunk:
                        text, position = text[position:], 0
                    reading.objects += 1
                    yield found
                    continue
                if ended or len(text) - position > OBJECT_LIMIT or _is_broken(text, position):
                    following = NEXT_OBJECT.search(text, position + 1)
                    if following is not None:
                        reading.bad += 1
                        position = following.end()
                        continue
            elif position < len(text):
                position += 1
                continue
            if ended:
                reading.cut = True
                return
            more = stream.read(chunk)
            ended = not more
            text, position = text[position:] + more, 0


def _is_broken(text: str, position: int) -> bool:
    """Whether the object at ``position`` cannot be whole although later ones are: a bad one."""
    ends: List[int] = [
        match.end() for match, _ in zip(NEXT_OBJECT.finditer(text, position), range(3))
    ]
    return len(ends) == 3


def _first(text: str) -> int:
    """Where the array's content begins."""
    stripped = text.lstrip("\ufeff \t\r\n")
    offset = len(text) - len(stripped)
    if stripped.startswith("["):
        return offset + 1
    named = re.search(r'"traceEvents"\s*:\s*\[', text)
    return named.end() if named else offset


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n,":
        position += 1
    return position
