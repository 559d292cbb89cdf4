"""The Python API: captures as pandas DataFrames, by the same views as the tab and the CLI."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected, select
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.views import health

__all__ = ["Captures", "RequestError", "load"]


@dataclass(frozen=True)
class CaptureRow:
    """Identity of one capture: ``run``, ``recording``, ``rank`` (None: unknown), ``path``, …"""

    capture_id: str
    run: str
    recording: str
    name: str
    worker: str
    rank: int | None
    level: str | None
    path: Path


class Captures:
    """Captures below a directory, read. Close it, or use it in a ``with`` block.

    Every method takes the selection ``run``, ``recording``, ``rank``, ``device``, ``step``: strings
    as in the tab (``"0,2,5-7"``), or an int, or a sequence of ints. Frames hold all selected rows,
    times in ns, unknown as NA; ``rank`` and ``capture`` tell where a row came from.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def __enter__(self) -> Captures:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the reading processes. Frames that were returned stay usable."""
        self._store.close()

    def __iter__(self) -> Iterator[CaptureRow]:
        return iter(self.captures)

    def __len__(self) -> int:
        return len(self.captures)

    def __repr__(self) -> str:
        return f"<Captures: {len(self)} in {len(self._store.runs)} run(s)>"

    @property
    def captures(self) -> list[CaptureRow]:
        """All captures, by run, newest recording first, ranks in order of number."""
        return [
            CaptureRow(c.capture_id, run, r.recording, c.name, c.worker, c.rank, c.info.level,
                       c.path)
            for run, recordings in self._store.runs.items()
            for r in recordings
            for c in r.captures
        ]  # fmt: skip

    @property
    def runs(self) -> list[str]:
        return list(self._store.runs)

    def kernels(self, **selection: Any) -> pd.DataFrame:
        """One row per kernel or communication operation of the selected recording.

        Columns: ``rank, capture, name, type, core, step, device, start_ns`` (int64 epoch ns),
        ``dur_ns, wait_ns`` (float64 ns), ``stream, task, blocks, input_shapes, …``, the hardware
        counters the capture holds (``aic_mac_ratio`` 0..1, ``aic_mac_time_ns``, …), unknown source
        columns as ``x_…``, and ``row``, its ordinal in the source file.
        """
        return self._frame("kernels", selection)

    def steps(self, **selection: Any) -> pd.DataFrame:
        """One row per step, rank and device: ``computing_ns, communication_ns, free_ns, …``.

        ``step`` is NA for a capture without step markers; parts that are unknown are NA.
        """
        return self._frame("steps", selection)

    def findings(self, **selection: Any) -> pd.DataFrame:
        """What is missing, broken or suspicious: ``severity, code, rank, file, message, remedy``."""
        columns = ["severity", "code", "rank", "file", "place", "message", "remedy"]
        found = health.findings(self.select(**selection))
        return pd.DataFrame([[getattr(f, c) for c in columns] for f in found], columns=columns)

    def select(self, **selection: Any) -> Selected:
        """The resolved selection that the view functions take. Raises RequestError."""
        allowed = {"run", "recording", "rank", "device", "step", "lang"}
        if unknown := set(selection) - allowed:
            raise TypeError(f"unknown selection {sorted(unknown)}; use {sorted(allowed)}")
        words = {key: _words(value) for key, value in selection.items() if key != "lang"}
        return select(self._store, **words, lang=selection.get("lang", "en"))

    def _frame(self, table: str, selection: dict[str, Any]) -> pd.DataFrame:
        sel = self.select(**selection)
        source = sel.source(table)
        if source is None:
            return pd.DataFrame()
        with closing(self._store.cursor()) as cursor:
            frame = cursor.execute(f"SELECT * EXCLUDE (file) FROM {source}").df()
        for name in frame.columns:
            # Integers with gaps arrive as float64, which rounds ids and epoch ns: keep them exact.
            if name in ("step", "device", "rank", "stream", "task", "model", "start_ns"):
                frame[name] = (
                    _integers(sel, source, name) if frame[name].isna().any() else frame[name]
                )
        return frame


def _integers(sel: Selected, source: str, name: str) -> Any:
    rows = sel.query(lambda cur: cur.execute(f"SELECT {name} FROM {source}").fetchall())
    return pd.array([r[0] for r in rows], dtype="Int64")


def _words(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return ",".join(str(int(v)) for v in value)
    return str(value)


def load(
    path: str | os.PathLike[str],
    *,
    cache: str | os.PathLike[str] | None = None,
    workers: int | None = None,
) -> Captures:
    """Find and read every capture below ``path`` (a logdir, a run, or one capture).

    Reading is done once: the tables go to the cache (``cache``, default ``$TB_NPU_CACHE``).
    Raises FileNotFoundError if ``path`` does not exist; a path without captures gives none.

    >>> captures = load("runs")                                            # doctest: +SKIP
    >>> captures.kernels(rank=0, step="10-20").groupby("type").dur_ns.sum()  # doctest: +SKIP
    """
    root = Path(path).expanduser()
    if not root.exists():
        raise FileNotFoundError(f"{root} does not exist")
    store = Store([Root(root)], Cache(cache), workers=workers)
    store.rescan()
    store.wait()
    return Captures(store)
