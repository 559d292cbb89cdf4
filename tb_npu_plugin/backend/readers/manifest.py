"""capture.json: what the handler says of a capture it records (fields: docs/handler.md).

Read, not imported: the record side and the look side share only files.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

NAME = "capture.json"
SIDECAR = ".capture.json"
SCHEMA = 1
STATES = ("recording", "analysing", "complete", "failed")
MAX_BYTES = 16 << 20
#: An analysis on another host renews its manifest every 5 s; past this it is taken for dead.
STALE_SECONDS = 60.0


@dataclass(frozen=True)
class Manifest:
    """The fields a reader needs. ``state``: one of :data:`STATES`; ``stage`` is finer."""

    state: str
    stage: str
    reason: str | None
    job: str | None
    cycle: int | None
    worker: str | None
    rank: int | None
    world_size: int | None
    start_ns: int | None
    end_ns: int | None
    errors: tuple[str, ...]
    keeper: tuple[str, int] | None
    updated_ns: int | None

    @property
    def unfinished(self) -> bool:
        """Recording or analysing, by its own word."""
        return self.state in ("recording", "analysing")

    def interrupted(self) -> bool:
        """Unfinished, and the process that was to finish it is gone.

        On its host the process decides; from elsewhere an analysis that was not renewed. A
        recording has no heartbeat, so from another host it is never called interrupted.
        """
        if not self.unfinished:
            return False
        if self.keeper is None:
            return True
        host, pid = self.keeper
        if host == socket.gethostname():
            return not _alive(pid)
        if self.state == "recording" or self.updated_ns is None:
            return False
        return time.time_ns() - self.updated_ns > STALE_SECONDS * 1e9


def read(capture: Path) -> Manifest | None:
    """The manifest of a capture directory or of a ``*.pt.trace.json[.gz]``; None without one.

    One that cannot be read, or is of a newer schema, counts as none.
    """
    path = capture / NAME
    for suffix in (".pt.trace.json.gz", ".pt.trace.json"):
        if capture.name.endswith(suffix):
            path = capture.with_name(capture.name.removesuffix(suffix) + SIDECAR)
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        found = msgspec.json.decode(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("state") not in STATES:
        return None
    schema = _int(found.get("schema"))
    if schema is None or schema > SCHEMA:
        return None
    keeper = found.get("keeper")
    errors = found.get("errors")
    return Manifest(
        state=found["state"],
        stage=_text(found.get("stage")) or found["state"],
        reason=_text(found.get("reason")),
        job=_text(found.get("job")),
        cycle=_int(found.get("cycle")),
        worker=_text(found.get("worker")),
        rank=_int(found.get("rank")),
        world_size=_int(found.get("world_size")),
        start_ns=_int(found.get("start_ns")),
        end_ns=_int(found.get("end_ns")),
        errors=tuple(
            f"{e.get('where', '?')}: {e.get('message', '?')}"[:200]
            for e in (errors if isinstance(errors, list) else [])
            if isinstance(e, dict)
        ),
        keeper=_keeper(keeper),
        updated_ns=_int(found.get("updated_ns")),
    )


def _keeper(value: Any) -> tuple[str, int] | None:
    if not isinstance(value, dict):
        return None
    host, pid = _text(value.get("host")), _int(value.get("pid"))
    return None if host is None or pid is None else (host, pid)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and not ours
        return True
    return True


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _int(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
