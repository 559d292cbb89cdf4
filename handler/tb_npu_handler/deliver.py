"""Bring a finished capture to where it belongs: another directory, or a URL through fsspec.

It can be stopped and begun again: what is already there with its full size is not sent twice, and
the manifest that calls the capture finished is the last to arrive.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import Any, Callable, Dict, List, Tuple

from . import manifest
from .place import is_remote

Beat = Callable[[], None]


def deliver(capture: str, record: manifest.Manifest, target: str, beat: Beat = lambda: None) -> str:
    """Copy ``capture`` below ``target``; returns its new address.

    ``record`` is the manifest to arrive last.  The local copy stays.  Raises ``OSError``, or
    ``ImportError`` when a URL needs fsspec or one of its packages.
    """
    if is_remote(target):
        return _upload(capture, record, target.rstrip("/"), beat)
    return _copy(capture, record, target, beat)


def files_of(capture: str, record: manifest.Manifest) -> List[Tuple[str, str]]:
    """``[(local path, path below the target)]`` of a capture and its exports, less its manifest."""
    base = os.path.dirname(capture)
    found: List[Tuple[str, str]] = []
    if os.path.isdir(capture):
        name = os.path.basename(capture)
        for entry in manifest.list_files(capture):
            path = os.path.join(capture, entry["path"])
            if not os.path.islink(path):
                found.append((path, os.path.join(name, entry["path"])))
    elif os.path.exists(capture):
        found.append((capture, os.path.basename(capture)))
    for export in record.get("exports", []):
        path = os.path.normpath(os.path.join(capture, str(export.get("path", ""))))
        if os.path.dirname(path) == base and os.path.isfile(path):
            found.append((path, os.path.basename(path)))
    return found


def _upload(capture: str, record: manifest.Manifest, target: str, beat: Beat) -> str:
    try:
        import fsspec  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        raise ImportError(
            "uploading to {} needs fsspec: pip install fsspec".format(target)
        ) from None
    filesystem, root = fsspec.core.url_to_fs(target)
    base = os.path.dirname(capture)
    marker = os.path.relpath(manifest.path_of(capture), base)
    pending = dict(record, state=manifest.ANALYSING, stage="deliver")
    _put_text(filesystem, root + "/" + marker, pending)
    for path, relative in files_of(capture, record):
        beat()
        there = root + "/" + relative.replace(os.sep, "/")
        if _remote_size(filesystem, there) == os.path.getsize(path):
            continue
        filesystem.makedirs(there.rpartition("/")[0], exist_ok=True)
        filesystem.put_file(path, there)
    _put_text(filesystem, root + "/" + marker, record)
    return target + "/" + os.path.basename(capture)


def _copy(capture: str, record: manifest.Manifest, target: str, beat: Beat) -> str:
    os.makedirs(target, exist_ok=True)
    arrived = os.path.join(target, os.path.basename(capture))
    pending = dict(record, state=manifest.ANALYSING, stage="deliver")
    if os.path.isdir(capture):
        os.makedirs(arrived, exist_ok=True)
    manifest.write(arrived, pending)
    for path, relative in files_of(capture, record):
        beat()
        there = os.path.join(target, relative)
        if os.path.exists(there) and os.path.getsize(there) == os.path.getsize(path):
            continue
        os.makedirs(os.path.dirname(there), exist_ok=True)
        partial = os.path.join(os.path.dirname(there), ".partial-" + os.path.basename(there)[:200])
        shutil.copyfile(path, partial)
        os.replace(partial, there)
    manifest.write(arrived, dict(record))
    return arrived


def _put_text(filesystem: Any, path: str, record: Dict[str, Any]) -> None:
    filesystem.makedirs(path.rpartition("/")[0], exist_ok=True)
    text = json.dumps(record, ensure_ascii=False, indent=1, default=str)
    with filesystem.open(path, "wb") as stream:
        stream.write(text.encode("utf-8"))


def _remote_size(filesystem: Any, path: str) -> int:
    try:
        return int(filesystem.info(path)["size"])
    except (OSError, KeyError, TypeError, ValueError):
        return -1
