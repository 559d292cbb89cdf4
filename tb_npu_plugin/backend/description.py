"""What a shared store says of one capture: enough to list and show it without its raw files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from tb_npu_plugin.backend.cache import Ingested
from tb_npu_plugin.backend.capture import Capture, SourceFile

#: Raise when an older version could not read what is written.
VERSION = 1


class StoredFile(msgspec.Struct, frozen=True):
    """One file as one reader reads it, and what reading it gave.

    ``version``: of the reader; ``fingerprint``: "" where the file could not be opened; ``origin``:
    fingerprint of the entry that its tables are derived from; ``done``: None where it was left out.
    """

    source: SourceFile
    reader: str
    version: int
    fingerprint: str
    origin: str = ""
    done: Ingested | None = None


class Description(msgspec.Struct):
    """A capture as it was found, and its files. ``plugin``: the version that read it."""

    version: int
    plugin: str
    capture: Capture
    files: list[StoredFile]


class Unknown(ValueError):
    """A description that is damaged, or of a later version."""


def encode(description: Description) -> bytes:
    """As JSON, in ASCII: a path that is no text keeps its bytes as escaped surrogates."""
    plain = msgspec.to_builtins(description, enc_hook=_plain)
    return json.dumps(plain, separators=(",", ":")).encode()


def decode(data: bytes) -> Description:
    """Raises Unknown."""
    try:
        try:
            found = msgspec.json.decode(data)
        except msgspec.DecodeError:  # surrogates, which the standard library takes
            found = json.loads(data)
        version = found["version"]
        if version > VERSION:
            raise Unknown(f"written by a later version (format {version}, here {VERSION})")
        return msgspec.convert(found, Description, dec_hook=_typed)
    except Unknown:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unknown(str(error)) from error


def _plain(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))


def _typed(wanted: type, value: Any) -> Any:
    if wanted is Path:
        return Path(value)
    raise NotImplementedError(wanted)
