"""Did the analysis do what the recording calls for?  torch_npu itself does not say.

Its ``analyse.done`` is written after failed parsers too; what counts are the files that the
settings promise and the errors in the parsers' logs.
"""

from __future__ import annotations

import glob
import json
import os
import re
from typing import Any, Dict, List, Optional, Tuple

OUTPUT = "ASCEND_PROFILER_OUTPUT"
NO_DEVICE_DATA = "CANN Profiling data does not exist"
ERROR_LIMIT = 50

Problem = Dict[str, str]


def profiler_info(capture: str) -> Dict[str, Any]:
    """``profiler_info[_rank].json`` of a capture; empty when it is missing or broken."""
    for path in sorted(glob.glob(os.path.join(glob.escape(capture), "profiler_info*.json"))):
        try:
            with open(path, encoding="utf-8", errors="replace") as stream:
                found = json.load(stream)
        except (OSError, ValueError):
            continue
        if isinstance(found, dict):
            return found
    return {}


def has_profiler_info(capture: str) -> bool:
    """Whether torch_npu has ended this recording: it writes ``profiler_info`` last."""
    return any(name.startswith("profiler_info") for name in os.listdir(capture))


def is_raw(capture: str) -> bool:
    """Whether raw data lies there that torch_npu can analyse."""
    return os.path.isdir(os.path.join(capture, "FRAMEWORK")) or bool(device_folders(capture))


def device_folders(capture: str) -> List[str]:
    try:
        names = os.listdir(capture)
    except OSError:
        return []
    return [name for name in names if re.match(r"PROF_\d+_\d+_[0-9a-zA-Z]+", name)]


def missing_outputs(capture: str, exports: Optional[Tuple[str, ...]] = None) -> List[Problem]:
    """The files that must be there after an analysis and are not.

    Only what the raw data promises counts: torch_npu writes no file where it has no rows.
    """
    output = os.path.join(capture, OUTPUT)
    try:
        present = set(os.listdir(output))
    except OSError:
        return [_problem(OUTPUT, "the analysis left no output directory")]
    kinds = exports or _recorded_exports(profiler_info(capture))
    wanted: List[str] = []
    if "text" in kinds:
        if _has_bytes(os.path.join(capture, "FRAMEWORK", "torch.op_range")):
            wanted += ["operator_details.csv", "trace_view.json"]
        if _has_bytes(os.path.join(capture, "FRAMEWORK", "torch.memory_usage")) and (
            _switch(profiler_info(capture), "profile_memory")
        ):
            wanted += ["memory_record.csv"]
        if device_folders(capture):
            wanted += ["trace_view.json"]
            if _level(capture) != "Level_none":
                wanted += ["kernel_details.csv", "step_trace_time.csv"]
    lost = [name for name in dict.fromkeys(wanted) if not _is_there(output, name)]
    problems = [_problem(name, "not written by the analysis") for name in lost]
    if "db" in kinds and not any(name.startswith("ascend_pytorch_profiler") for name in present):
        problems.append(_problem("ascend_pytorch_profiler.db", "not written by the analysis"))
    return problems


def messages(text: str) -> Tuple[List[Problem], List[Problem]]:
    """(errors, warnings) among the lines torch_npu printed."""
    errors: List[Problem] = []
    warnings: List[Problem] = []
    for line in text.splitlines():
        match = re.search(r"\[ERROR\] (?:\[\d+\] )?(?:(\S+?): )?(.*)", line)
        if match is None:
            continue
        found = _problem(match.group(1) or "torch_npu", match.group(2).strip())
        (warnings if NO_DEVICE_DATA in line else errors).append(found)
    return errors[:ERROR_LIMIT], warnings[:ERROR_LIMIT]


def log_errors(capture: str, since_s: float) -> List[Problem]:
    """Errors in the parsers' logs (``logs/profiler_*.log``) written after ``since_s`` (epoch
    seconds).
    """
    found: List[Problem] = []
    for path in sorted(glob.glob(os.path.join(glob.escape(capture), "logs", "profiler_*.log"))):
        try:
            if os.path.getmtime(path) < since_s - 2:
                continue
            with open(path, encoding="utf-8", errors="replace") as stream:
                lines = stream.read(4_000_000).splitlines()
        except OSError:
            continue
        parser = os.path.basename(path).rpartition("_")[2][: -len(".log")]
        for number, line in enumerate(lines):
            if "[ERROR]" not in line and "| Failed" not in line:
                continue
            text = line.split("] ")[-1].strip()
            cause = _exception_after(lines, number)
            entry = _problem(parser, text + (": " + cause if cause else ""))
            if entry not in found and NO_DEVICE_DATA not in line:
                found.append(entry)
    return found[:ERROR_LIMIT]


def looks_like_bad_mount(capture: str) -> bool:
    """Device data is there, the analysis ended, and yet no CSV: seen on some network mounts."""
    if not device_folders(capture):
        return False
    output = os.path.join(capture, OUTPUT)
    try:
        names = os.listdir(output)
    except OSError:
        return False
    device_files = ("kernel_details.csv", "step_trace_time.csv", "op_statistic.csv")
    return not any(name in names for name in device_files)


def _exception_after(lines: List[str], number: int) -> str:
    """The last line of the traceback that follows line ``number``."""
    last = ""
    for line in lines[number + 1 : number + 200]:
        if re.match(r"\[\d{4}-\d\d-\d\d", line):
            break
        if line.strip():
            last = line.strip()
    return last


def _recorded_exports(info: Dict[str, Any]) -> Tuple[str, ...]:
    kinds = (info.get("config", {}).get("experimental_config", {}) or {}).get(
        "_export_type", "text"
    )
    return (kinds,) if isinstance(kinds, str) else tuple(str(kind) for kind in kinds)


def _switch(info: Dict[str, Any], name: str) -> bool:
    return bool((info.get("config", {}).get("common_config", {}) or {}).get(name))


def _level(capture: str) -> str:
    info = profiler_info(capture)
    config = info.get("config", {}).get("experimental_config", {}) or {}
    return str(config.get("_profiler_level", ""))


def _has_bytes(path: str) -> bool:
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False


def _is_there(output: str, name: str) -> bool:
    path = os.path.join(output, name)
    return _has_bytes(path) or _has_bytes(path + ".gz")


def _problem(where: str, message: str) -> Problem:
    return {"where": where, "message": message[:2000]}
