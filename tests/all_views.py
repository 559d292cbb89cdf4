"""Every view of every recording as JSON, to compare two ways to the same captures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec

from tb_npu_plugin.backend.api import reply
from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.schema import TABLES
from tb_npu_plugin.backend.selection import select
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.tables import TableRequest
from tb_npu_plugin.backend.views.registry import VIEWS

WAIT = 120


def all_views(
    logdir: Path,
    cache: Path,
    source: str | None = None,
    *,
    groups: bool = False,
    runs: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Reply by run, recording, view and (with ``groups`` all, else the first) group; all is read.

    ``runs``: only of these, and those that are there.
    """
    store = Store([Root(logdir)], Cache(cache), workers=1)
    found: dict[str, Any] = {}
    try:
        store.rescan()
        assert store.wait(timeout=WAIT)
        found["runs"] = list(store.runs)
        for run, recordings in store.runs.items():
            if runs and run not in runs:
                continue
            for recording in recordings:
                assert store.fetch(recording.captures, list(TABLES), source, timeout=WAIT)
                for view in VIEWS.values():
                    for group in (view.groups or ("",))[: None if groups else 1]:
                        name = f"{run} {recording.recording} {view.id} {group}"
                        sel = select(store, run=run, recording=recording.recording, source=source)
                        try:
                            answer = reply(sel, view, TableRequest(group=group, limit=1000))
                        except RequestError as error:
                            found[name] = error.message
                            continue
                        found[name] = _comparable(msgspec.json.decode(msgspec.json.encode(answer)))
    finally:
        store.close()
    return found


def _comparable(value: Any) -> Any:
    """Without the version of the store; that the raw files are not here is a fact among settings."""
    if isinstance(value, dict):
        return {k: _comparable(v) for k, v in value.items() if k != "version"}
    if isinstance(value, list):
        facts = [v for v in value if not (isinstance(v, dict) and v.get("key") == "store")]
        return [_comparable(v) for v in facts]
    return value


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two replies differ; by more than what adding in another order makes of a sum."""
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = [(f"{place}.{k}", one.get(k), other.get(k)) for k in {**one, **other}]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(f"{place}[{i}]", a, b) for i, (a, b) in enumerate(zip(one, other, strict=True))]
    elif isinstance(one, float) and isinstance(other, float):
        return [] if math.isclose(one, other, rel_tol=1e-9) else [f"{place}: {one} {other}"]
    else:
        return [] if one == other else [f"{place}: {one} {other}"]
    return [d for where, a, b in pairs for d in differences(a, b, where)]
