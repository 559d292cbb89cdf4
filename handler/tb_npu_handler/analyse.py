"""Analyse raw captures afterwards, and finish what was interrupted.

>>> from tb_npu_handler.analyse import analyse_tree
>>> for result in analyse_tree("runs"):
...     print(result.state, result.path, result.reason)
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional

from . import launch, manifest, repair, slots, verify
from .options import Options

COMPLETE = manifest.COMPLETE
FAILED = manifest.FAILED
SKIPPED = "skipped"

Progress = Callable[[int, int, "Result"], None]


@dataclass(frozen=True)
class Result:
    """What became of one capture.

    ``state``: ``complete``, ``failed`` or ``skipped``; ``reason``: why, in one sentence; ``files``:
    how many the capture now has; ``errors``: the parsers' own, ``{"where", "message"}`` each.
    """

    path: str
    state: str
    reason: Optional[str] = None
    seconds: float = 0.0
    files: int = 0
    errors: List[Dict[str, str]] = field(default_factory=list)


def analyse_tree(
    path: str,
    workers: int = 1,
    scratch: Optional[str] = None,
    progress: Optional[Progress] = None,
    timeout_s: Optional[float] = None,
) -> List[Result]:
    """Analyse every capture at or below ``path`` that needs it; one result each, in order of path.

    Finished captures and those that another process is at work on are skipped, so it can be run
    again at any time.  ``workers``: how many at once; ``scratch``: a directory on another
    filesystem to copy the raw data to and analyse there; ``progress(done, total, result)`` is
    called after each.  torch_npu must be importable by this interpreter, or by the one in
    ``$TB_NPU_PYTHON``.  Raises ``FileNotFoundError`` when ``path`` is not there.
    """
    if not os.path.exists(path):
        raise FileNotFoundError("no such file or directory: " + path)
    found = find(os.path.abspath(path))
    results: Dict[str, Result] = {}
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        waiting = {
            pool.submit(_one, capture, max(1, workers), scratch, timeout_s): capture
            for capture in found
        }
        for future in as_completed(waiting):
            result = future.result()
            results[waiting[future]] = result
            if progress is not None:
                progress(len(results), len(found), result)
    return [results[capture] for capture in found]


def find(path: str) -> List[str]:
    """Capture directories and unfinished trace files at or below ``path``, sorted; links are not
    followed.
    """
    if os.path.isfile(path):
        return [path]
    found: List[str] = []
    for folder, subfolders, names in os.walk(path):
        if verify.is_raw(folder) or manifest.MANIFEST_NAME in names or verify.OUTPUT in subfolders:
            found.append(folder)
            subfolders[:] = []
            continue
        subfolders.sort()
        for name in sorted(names):
            if name.endswith(manifest.SIDECAR_SUFFIX):
                stem = os.path.join(folder, name[: -len(manifest.SIDECAR_SUFFIX)])
                plain = stem + manifest.TRACE_SUFFIXES[1]
                found.append(plain if os.path.exists(plain) else stem + manifest.TRACE_SUFFIXES[0])
    return sorted(found)


def _one(capture: str, workers: int, scratch: Optional[str], timeout_s: Optional[float]) -> Result:
    began = time.monotonic()
    try:
        record = manifest.read(capture)
        told = _not_needed(capture, record)
        if told is not None:
            return told
        prepared = _prepare(capture, record, timeout_s)
        if isinstance(prepared, Result):
            return prepared
        job = {"capture": capture, "scratch": scratch, "partial": None}
        env = dict(launch.environment(), TB_NPU_SLOTS=str(max(workers, slots.count())))
        done = subprocess.run(
            launch.command("worker", json.dumps(job)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=env,
            check=False,
        )
    except OSError as error:
        return Result(capture, FAILED, str(error), time.monotonic() - began)
    return _result(capture, prepared, done, time.monotonic() - began)


def _result(
    capture: str,
    record: manifest.Manifest,
    done: "subprocess.CompletedProcess[bytes]",
    seconds: float,
) -> Result:
    after = manifest.read(capture)
    if after is None:
        target = (record.get("request") or {}).get("target")
        if done.returncode == 0 and target:
            return Result(capture, COMPLETE, "delivered to {}".format(target), seconds)
        text = done.stdout.decode("utf-8", "replace").strip().splitlines()[-1:]
        return Result(capture, FAILED, "".join(text) or "the analysis process died", seconds)
    state = COMPLETE if after["state"] == manifest.COMPLETE else FAILED
    reason = after.get("reason")
    if state == FAILED and not reason:
        reason = "the analysis process was ended before it was done"
    return Result(capture, state, reason, seconds, len(after["files"]), list(after["errors"]))


def _not_needed(capture: str, record: Optional[manifest.Manifest]) -> Optional[Result]:
    """A result for a finished capture or one in another's hands; ``None`` when there is work."""
    if record is None:
        if not verify.is_raw(capture):
            return Result(capture, SKIPPED, "no raw data: nothing to analyse")
        if not verify.missing_outputs(capture) and os.path.isdir(
            os.path.join(capture, verify.OUTPUT)
        ):
            return Result(capture, SKIPPED, "already analysed")
        return None
    if record["state"] == manifest.COMPLETE and record.get("stage") != "raw":
        return Result(capture, SKIPPED, "already complete", files=len(record["files"]))
    unfinished = record["state"] in (manifest.RECORDING, manifest.ANALYSING)
    if not unfinished or manifest.is_interrupted(record):
        return None
    keeper = record.get("keeper") or {}
    what = "recorded" if record["state"] == manifest.RECORDING else "worked on"
    told = "being {} by process {} on {}".format(what, keeper.get("pid"), keeper.get("host"))
    return Result(capture, SKIPPED, told)


def _prepare(
    capture: str, record: Optional[manifest.Manifest], timeout_s: Optional[float]
) -> "manifest.Manifest | Result":
    """Write the manifest that the worker will act on, or say why there is nothing it could do."""
    if record is None:
        info = verify.profiler_info(capture)
        rank = info.get("rank_id")
        record = manifest.new("torch_npu", request=Options().request())
        record["rank"] = int(str(rank)) if str(rank).isdigit() else None
        record["worker"] = os.path.basename(capture)
    request: Dict[str, Any] = dict(record.get("request") or Options().request())
    request["analyse"] = True
    if timeout_s is not None:
        request["timeout_s"] = timeout_s
    if record["kind"] == "torch_npu":
        if record.get("stage") == "deliver" and not verify.missing_outputs(capture):
            request["analyse"] = False
        elif not verify.is_raw(capture):
            return Result(capture, FAILED, record.get("reason") or "the raw data is gone")
        elif not _has_torch_npu():
            return Result(
                capture,
                FAILED,
                "torch_npu is not installed for this Python; run it where the job ran, or set "
                "TB_NPU_PYTHON to that interpreter",
            )
        repair.restore_info(capture, record)
    record["request"] = request
    manifest.write(capture, record)
    return record


def _has_torch_npu() -> bool:
    return bool(os.environ.get("TB_NPU_PYTHON")) or (
        importlib.util.find_spec("torch_npu") is not None
    )
