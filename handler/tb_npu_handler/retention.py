"""Delete what the handler wrote, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
from typing import List, Tuple

from . import manifest
from .verify import OUTPUT

RAW = re.compile(r"^(FRAMEWORK|PROF_\d+_\d+_[0-9a-zA-Z]+)$")
OURS = re.compile(
    r"^(FRAMEWORK|logs|PROF_\d+_\d+_[0-9a-zA-Z]+"
    r"|profiler_info(_\d+)?\.json|profiler_metadata\.json)$"
)


def drop_raw(capture: str) -> int:
    """Delete the raw recording (``FRAMEWORK``, ``PROF_*``); returns the bytes that were freed."""
    freed = 0
    for name in os.listdir(capture):
        path = os.path.join(capture, name)
        if RAW.match(name) and not os.path.islink(path):
            freed += sum(int(entry["bytes"]) for entry in manifest.list_files(path))
            shutil.rmtree(path, ignore_errors=True)
    return freed


def remove(capture: str, record: manifest.Manifest) -> None:
    """Delete a capture: torch_npu's and our files in it.  Foreign files stay, and so do their
    folders.
    """
    base = capture if record.get("kind") == "torch_npu" else os.path.dirname(capture)
    listed = [entry["path"] for entry in record.get("files", [])]
    for export in record.get("exports", []):
        if isinstance(export.get("path"), str):
            listed.append(export["path"])
    for relative in listed:
        path = os.path.normpath(os.path.join(base, relative))
        if _is_below(path, os.path.dirname(capture)):
            _unlink(path)
    if record.get("kind") == "torch_npu" and os.path.isdir(capture):
        for name in os.listdir(capture):
            path = os.path.join(capture, name)
            if OURS.match(name) and os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            elif OURS.match(name):
                _unlink(path)
        _unlink(os.path.join(capture, OUTPUT, "analyse.done"))
        _rmdir(os.path.join(capture, OUTPUT))
    _unlink(manifest.path_of(capture))
    if os.path.isdir(capture):
        _rmdir(capture)


def prune(capture: str, record: manifest.Manifest, keep: int) -> List[str]:
    """Keep the ``keep`` newest captures of this worker in this folder; returns what was removed.

    Only captures with a manifest of this handler count, and only finished ones are removed.
    """
    mine: List[Tuple[int, str, manifest.Manifest]] = []
    folder = os.path.dirname(capture)
    for path in captures_in(folder):
        found = manifest.read(path)
        if found is None or not str(found.get("writer", "")).startswith("tb-npu-handler"):
            continue
        if found.get("worker") == record.get("worker") and found.get("kind") == record.get("kind"):
            mine.append((int(found.get("end_ns") or found.get("updated_ns") or 0), path, found))
    removed: List[str] = []
    for _, path, found in sorted(mine, key=lambda item: (item[0], item[1]), reverse=True)[keep:]:
        if found["state"] in (manifest.COMPLETE, manifest.FAILED):
            remove(path, found)
            removed.append(path)
    return removed


def captures_in(folder: str) -> List[str]:
    """Capture directories and trace files in ``folder`` that have a manifest, sorted by name."""
    found: List[str] = []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    for name in names:
        path = os.path.join(folder, name)
        if name.endswith(manifest.SIDECAR_SUFFIX):
            stem = path[: -len(manifest.SIDECAR_SUFFIX)]
            packed, plain = (stem + suffix for suffix in manifest.TRACE_SUFFIXES)
            found.append(plain if os.path.exists(plain) else packed)
        elif os.path.isfile(os.path.join(path, manifest.MANIFEST_NAME)):
            found.append(path)
    return found


def _is_below(path: str, folder: str) -> bool:
    return os.path.commonpath([os.path.abspath(path), os.path.abspath(folder)]) == os.path.abspath(
        folder
    )


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _rmdir(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        pass
