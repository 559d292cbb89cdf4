"""Events of a Chrome trace: a block of JSON text into structs, whatever the damage.

The whole block at once where it is sound; else mended (bare NaN and N/A, raw control bytes); else
object by object, so that one bad object costs one object.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw

NOTHING = Raw(b"")
#: Objects that could be events are looked for behind a damaged place at most so many times.
MAX_TRIES = 500
_STRING = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_MENDABLE = re.compile(_STRING + rb"|-?(?:NaN|nan|Infinity|inf|N/A)(?![\w\"])", re.DOTALL)
_BARE = re.compile(r"(?<=[:,\[\s])N/A(?=[,\]}\s])")
_CONTROL = re.compile(rb"[\x00-\x1f]")
_SURROGATE = re.compile(rb"(\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F]\w\w")
_ESCAPES = {b"\n": rb"\n", b"\r": rb"\r", b"\t": rb"\t"}
BLANK = re.compile(rb"[\s,]*")
_OBJECT = re.compile(r'\{\s*"(?:ph|name|cat|pid|tid|ts|id|dur|bp|s|args)"\s*:')
_WIDE = re.compile(r"[\x81-\xfe][\x40-\x7e\x80-\xfe]")


class Event(msgspec.Struct, gc=False):
    """One event. Numbers that must stay exact, and arguments, are kept as their JSON text."""

    ph: str = ""
    name: str = ""
    cat: str | None = None
    pid: int | str = ""
    tid: int | str = ""
    ts: Raw = NOTHING
    dur: float | str | None = None
    id: Raw = NOTHING
    args: Raw = NOTHING


class _Loose(msgspec.Struct):
    """An event with members of any type, as other tools write them."""

    ph: Any = ""
    name: Any = ""
    cat: Any = None
    pid: Any = ""
    tid: Any = ""
    ts: Raw = NOTHING
    dur: Any = None
    id: Raw = NOTHING
    args: Raw = NOTHING


@dataclass
class Block:
    """What was found in a buffer. ``used``: bytes of it that are done; offsets are within it."""

    events: list[Event]
    used: int
    bad: list[int] = field(default_factory=list)
    bare: int = 0
    end: bool = False
    """The array's closing bracket lies at ``used - 1``."""
    comma: bool = False
    """There is a comma before that bracket."""


_whole = msgspec.json.Decoder(list[Event])
_single = msgspec.json.Decoder(Event)
_loose = msgspec.json.Decoder(_Loose)
_scanner = json.JSONDecoder(strict=False)


def decode_whole(text: bytes) -> list[Event] | None:
    """The events of ``text``, a JSON array of them; None if anything is wrong with it."""
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            return None
    try:
        return _whole.decode(text)
    except (ValueError, RecursionError):
        return None


def mend(text: bytes) -> tuple[bytes, int]:
    """``text`` with bare NaN, Infinity and N/A as null and control bytes in strings visible.

    Returns the number of bare words too.
    """
    bare = 0

    def fix(match: re.Match[bytes]) -> bytes:
        nonlocal bare
        word = match.group()
        if not word.startswith(b'"'):
            bare += 1
            return b"null"
        if rb"\u" in word:
            word = _SURROGATE.sub(lambda m: m.group(1) or rb"\ufffd", word)
        return _CONTROL.sub(lambda m: _ESCAPES.get(m.group()) or rb"\\u%04x" % ord(m.group()), word)

    return _MENDABLE.sub(fix, text), bare


def walk(buffer: bytes, encoding: str, *, final: bool) -> Block:
    """The events of ``buffer`` one by one, past damaged places and up to the array's end.

    ``final``: nothing follows, so an object that is not closed is damage or a cut; else it is left
    for the next call. ``encoding`` of what is not UTF-8.
    """
    # Latin-1 keeps every byte one character, so that places in text and buffer agree.
    text = _BARE.sub("NaN", buffer.decode("latin-1"))
    if encoding != "utf-8":  # the second byte of a character may look like a backslash or brace
        text = _WIDE.sub("__", text)
    found = Block([], 0)
    pos = 0
    while True:
        blank = BLANK.match(buffer, pos)
        after = blank.end() if blank else pos
        comma = b"," in buffer[pos:after]
        found.used = pos = after
        if pos >= len(buffer):
            found.comma = comma
            return found
        if buffer[pos : pos + 1] == b"]":
            found.used, found.end, found.comma = pos + 1, True, comma
            return found
        stop = _object_end(text, pos)
        if stop is not None:
            event = _event(buffer[pos:stop], encoding, found)
            if event is not None:
                found.events.append(event)
            else:
                found.bad.append(pos)
            pos = stop
            continue
        after_damage = _next_event(text, pos + 1)
        if after_damage is None:
            return found  # an object that is cut, or not all there yet
        found.bad.append(pos)
        pos = after_damage


def _object_end(text: str, pos: int) -> int | None:
    if text[pos] != "{":
        return None
    try:
        return _scanner.raw_decode(text, pos)[1]
    except (ValueError, RecursionError):
        return None


def _next_event(text: str, pos: int) -> int | None:
    """Where the next object begins that is whole and an event (nested objects have no ``ph``)."""
    for tries, match in enumerate(_OBJECT.finditer(text, pos)):
        if tries >= MAX_TRIES:
            break
        try:
            value, _ = _scanner.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "ph" in value:
            return match.start()
    return None


def _event(raw: bytes, encoding: str, found: Block) -> Event | None:
    """One object as an event; None if it cannot be read."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        raw = raw.decode(encoding, "replace").encode()
    try:
        return _single.decode(raw)
    except (ValueError, RecursionError):
        pass
    raw, bare = mend(raw)
    try:
        event = _loose.decode(raw)
    except (ValueError, RecursionError):
        return None
    found.bare += bare
    return Event(
        ph=_text(event.ph) or "",
        name=_text(event.name) or "",
        cat=_text(event.cat),
        pid=_key(event.pid),
        tid=_key(event.tid),
        ts=event.ts,
        dur=event.dur if isinstance(event.dur, int | float | str) else None,
        id=event.id,
        args=event.args,
    )


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode("utf-8", "replace")


def _key(value: Any) -> int | str:
    return value if isinstance(value, int) else _text(value) or ""
