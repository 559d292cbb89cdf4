"""Give back what a recording lost when its process was killed.

torch_npu writes ``profiler_info.json`` when a recording ends; without it the raw host data has no
time base and no settings.  The manifest of the recording phase holds both clocks and the settings.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Optional

from . import manifest
from .verify import is_raw, profiler_info


def restore_info(capture: str, record: manifest.Manifest) -> Optional[str]:
    """Write the missing ``profiler_info[_rank].json`` from the manifest; returns its path.

    ``None`` when it is there already or the manifest knows too little.  Raises ``OSError``.
    """
    clock, config = record.get("clock"), record.get("config")
    if profiler_info(capture) or not is_raw(capture):
        return None
    if not isinstance(clock, dict) or not isinstance(config, dict):
        return None
    last_ns = _last_write_ns(capture) or int(clock["epoch_ns"])
    info: Dict[str, Any] = {
        "config": config,
        "start_info": {
            "syscnt_enable": bool(clock.get("syscnt_enable", False)),
            "freq": clock.get("freq", 100),
            "start_cnt": clock.get("start_cnt", 0),
            "start_monotonic": clock.get("start_monotonic", clock["monotonic_ns"]),
        },
        "end_info": {
            "collectionTimeEnd": last_ns,
            "MonotonicTimeEnd": last_ns - int(clock["epoch_ns"]) + int(clock["monotonic_ns"]),
        },
        "torch_npu_version": (record.get("versions") or {}).get("torch_npu") or "",
        "restored_by": record.get("writer"),
    }
    rank = record.get("rank")
    if rank is not None:
        info["rank_id"] = rank
    name = "profiler_info.json" if rank is None else "profiler_info_{}.json".format(rank)
    path = os.path.join(capture, name)
    partial = path + ".tmp"
    with open(partial, "w", encoding="utf-8") as stream:
        json.dump(info, stream, indent=4)
    os.replace(partial, path)
    return path


def _last_write_ns(capture: str) -> Optional[int]:
    times = []
    for folder, _, names in os.walk(capture):
        for name in names:
            if name == manifest.MANIFEST_NAME:
                continue
            try:
                times.append(os.stat(os.path.join(folder, name)).st_mtime_ns)
            except OSError:
                continue
    return max(times) if times else None
