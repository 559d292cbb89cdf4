"""The end of the job's part: leave a finished recording to the detached process."""

from __future__ import annotations

import os
import shutil
from typing import Any, Dict, Mapping, Optional

from . import launch, manifest
from .options import INLINE, Options
from .place import Place
from .say import reason_of


def hand_over(
    capture: str,
    record: manifest.Manifest,
    options: Options,
    place: Place,
    exported: Optional[str] = None,
) -> Optional[Any]:
    """Start the work on ``capture``; returns its process, or ``None`` when there is nothing to do.

    ``exported``: the not yet published file of a ``torch.profiler`` trace.  Raises ``OSError`` when
    it cannot start, and ``RuntimeError`` when an inline analysis failed.
    """
    analyses = record["kind"] == "torch" or options.analyses(record.get("rank"))
    target = _target(capture, place)
    record["request"] = dict(options.request(), analyse=analyses, target=target)
    if not (analyses or target or options.keep or _is_short_of_space(capture, options)):
        record["state"], record["stage"] = manifest.COMPLETE, "raw"
        record["files"] = manifest.list_files(capture)
        manifest.write(capture, record)
        return None
    record["state"], record["stage"] = manifest.ANALYSING, "queued"
    job: Dict[str, Any] = {"capture": capture, "partial": exported}
    try:
        manifest.write(capture, record)
    except OSError:  # a full disk: the worker makes room and writes it again
        job["fallback"] = dict(record, parallel_groups=[], metadata={})
    return _start(capture, record, job, options)


def publish_plain(trace: str, record: manifest.Manifest, exported: str) -> str:
    """Give an exported trace its name as it is, unpacked; returns its path.  Raises ``OSError``."""
    published = trace[: -len(".gz")]
    os.replace(exported, published)
    record["state"], record["stage"] = manifest.COMPLETE, "done"
    size = os.path.getsize(published)
    record["files"] = [{"path": os.path.basename(published), "bytes": size}]
    manifest.write(published, record)
    return published


def _target(capture: str, place: Place) -> Optional[str]:
    """Where the capture must still be brought; ``None`` when it was recorded in its place."""
    if place.target is not None:
        return place.target
    folder = os.path.dirname(capture)
    same = os.path.realpath(folder) == os.path.realpath(place.folder)
    return None if same else place.folder


def _start(
    capture: str, record: manifest.Manifest, job: Mapping[str, Any], options: Options
) -> Any:
    log = os.devnull
    if record["kind"] == "torch_npu":
        try:
            os.makedirs(os.path.join(capture, "logs"), exist_ok=True)
            log = os.path.join(capture, "logs", "tb_npu_handler.log")
        except OSError:
            pass
    try:
        process = launch.start(job, log)
    except OSError as error:
        record["state"], record["reason"] = manifest.FAILED, "cannot start: " + reason_of(error)
        manifest.write(capture, record)
        raise
    if options.mode == INLINE:
        process.wait()
        done = manifest.read(capture)
        if done is not None and done["state"] == manifest.FAILED:
            raise RuntimeError("the analysis failed: {}".format(done.get("reason")))
    return process


def _is_short_of_space(capture: str, options: Options) -> bool:
    try:
        return shutil.disk_usage(os.path.dirname(capture)).free < options.min_free_bytes
    except OSError:
        return False
