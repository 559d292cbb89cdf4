"""``capture.json``: what a capture is, and how far it has got.

The handler writes one beside each capture's data: inside a torch_npu capture directory as
``capture.json``, next to a ``torch.profiler`` trace as ``<name>.capture.json``.  Every write
replaces the whole file at once, so a reader sees an old or a new manifest and never a half one.
The fields are described in ``docs/handler.md``.
"""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any, Dict, Iterable, List, Optional

from ._version import __version__

SCHEMA = 1
MANIFEST_NAME = "capture.json"
SIDECAR_SUFFIX = ".capture.json"
TRACE_SUFFIXES = (".pt.trace.json.gz", ".pt.trace.json")

RECORDING = "recording"
ANALYSING = "analysing"
COMPLETE = "complete"
FAILED = "failed"
STATES = (RECORDING, ANALYSING, COMPLETE, FAILED)

# Beyond this the process that was to go on with a capture is taken for dead (it writes every 5 s).
HEARTBEAT_S = 5.0
STALE_S = 60.0

Manifest = Dict[str, Any]


def path_of(capture: str) -> str:
    """Where the manifest of ``capture`` lies: a directory, or a ``*.pt.trace.json[.gz]``."""
    for suffix in TRACE_SUFFIXES:
        if capture.endswith(suffix):
            return capture[: -len(suffix)] + SIDECAR_SUFFIX
    return os.path.join(capture, MANIFEST_NAME)


def read(capture: str) -> Optional[Manifest]:
    """The manifest of a capture directory or trace file; ``None`` when there is none to be read.

    A file that is no JSON object, or whose ``schema`` is newer than this reader's, counts as none.
    """
    try:
        with open(path_of(capture), encoding="utf-8") as stream:
            found = json.load(stream)
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("schema"), int):
        return None
    if found["schema"] > SCHEMA or found.get("state") not in STATES:
        return None
    return found


def new(kind: str, **fields: Any) -> Manifest:
    """A manifest in state ``recording``; ``kind`` is ``torch_npu`` or ``torch``."""
    made: Manifest = {
        "schema": SCHEMA,
        "writer": "tb-npu-handler " + __version__,
        "kind": kind,
        "state": RECORDING,
        "stage": RECORDING,
        "reason": None,
        "files": [],
        "errors": [],
        "warnings": [],
        "advice": [],
        "exports": [],
        "raw": kind == "torch_npu",
    }
    made.update(fields)
    return made


def write(capture: str, manifest: Manifest) -> None:
    """Replace the manifest of ``capture`` at once.  Raises ``OSError`` when that cannot be done."""
    manifest["updated_ns"] = time.time_ns()
    manifest["keeper"] = {"host": socket.gethostname(), "pid": os.getpid()}
    target = path_of(capture)
    folder, name = os.path.split(target)
    partial = os.path.join(folder, ".{}.{}.tmp".format(name[:180], os.getpid()))
    try:
        with open(partial, "w", encoding="utf-8") as stream:
            json.dump(manifest, stream, ensure_ascii=False, indent=1, default=str)
            stream.write("\n")
        os.replace(partial, target)
    except OSError:
        try:
            os.unlink(partial)
        except OSError:
            pass
        raise


def claim(capture: str, manifest: Manifest) -> bool:
    """Write the first manifest of ``capture``; ``False`` when another process already has it."""
    target = path_of(capture)
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o640))
    except FileExistsError:
        return False
    write(capture, manifest)
    return True


def is_interrupted(manifest: Manifest, now_ns: Optional[int] = None) -> bool:
    """Whether the process that was to finish this capture is gone.

    On the same host the process id decides; from another host, a manifest in ``analysing`` that has
    not been renewed for ``STALE_S``.  A recording has no heartbeat (the handler starts no thread
    in the job), so from another host it is never called interrupted.
    """
    if manifest.get("state") not in (RECORDING, ANALYSING):
        return False
    keeper = manifest.get("keeper")
    if not isinstance(keeper, dict):
        return True
    if keeper.get("host") == socket.gethostname():
        return not _alive(keeper.get("pid"))
    if manifest["state"] == RECORDING:
        return False
    now = time.time_ns() if now_ns is None else now_ns
    updated = manifest.get("updated_ns")
    return isinstance(updated, int) and now - updated > STALE_S * 1e9


def list_files(capture: str, skip: Iterable[str] = ()) -> List[Dict[str, Any]]:
    """``[{"path", "bytes"}]`` of every file below ``capture``, sorted; links are not followed."""
    skipped = set(skip)
    found: List[Dict[str, Any]] = []
    for folder, subfolders, names in os.walk(capture):
        subfolders[:] = sorted(name for name in subfolders if name not in skipped)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name == MANIFEST_NAME or name.startswith(".capture.json."):
                continue
            try:
                size = os.lstat(path).st_size
            except OSError:
                continue
            found.append({"path": os.path.relpath(path, capture), "bytes": size})
    return found


def _alive(pid: object) -> bool:
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    try:
        with open("/proc/{}/stat".format(pid), encoding="ascii", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False
