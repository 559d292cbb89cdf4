"""The Python API: captures as pandas DataFrames, by the same views as the tab and the CLI."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.schema import TABLES
from tb_npu_plugin.backend.selection import Selected, select
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.views import health, ranks
from tb_npu_plugin.backend.views.capabilities import capabilities
from tb_npu_plugin.backend.views.captures import condition, sources
from tb_npu_plugin.backend.views.communication_groups import communication_source, matrix_source

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
    state: str = "analysed"
    """``analysed``, ``raw`` (only recorded), ``exported`` (by msprof), ``trace`` (of torch.profiler),
    ``incomplete``, ``interrupted``, ``failed``, ``growing``, ``unreadable`` or ``empty``."""
    sources: tuple[str, ...] = ()
    """Kinds of sources it has, the preferred one first: ``text``, ``db``, ``msprof``, ``trace``."""


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
                       c.path, condition(self._store, c)[0], tuple(sources(self._store, c)))
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

    def operators(self, **selection: Any) -> pd.DataFrame:
        """One row per operator call, in order of start: ``name, input_shapes, stack`` (frames by
        line ends, innermost first), ``host_self_ns, host_total_ns, device_self_ns, …``. No steps.
        """
        return self._frame("operators", selection)

    def apis(self, **selection: Any) -> pd.DataFrame:
        """One row per host API and level (``acl, node, hccl, …``): ``count, total_ns, avg_ns, …``."""
        return self._frame("api_statistics", selection)

    def op_statistics(self, **selection: Any) -> pd.DataFrame:
        """CANN's own sums by type and core: ``count, total_ns, total_ratio`` (0..1), ``avg_ns, …``."""
        return self._frame("op_statistics", selection)

    def l2_cache(self, **selection: Any) -> pd.DataFrame:
        """L2 rates per kernel: ``stream, task, name, l2_hit_ratio, l2_victim_ratio`` (0..1)."""
        return self._frame("l2_cache", selection)

    def memory_blocks(self, **selection: Any) -> pd.DataFrame:
        """One row per memory block: ``name`` (operator), ``component`` (PTA, GE), ``size_bytes``
        (negative where only the release was seen), ``state`` (released, held, before, zero,
        unknown), ``alloc_ns, release_ns`` (int64 epoch ns, NA outside the capture), ``dur_ns``, and
        the component's totals at both moments (``alloc_allocated_bytes, …``). No steps.
        """
        return self._frame("memory_blocks", selection)

    def memory_points(self, **selection: Any) -> pd.DataFrame:
        """Every record of the totals: ``component`` (PTA, GE, PTA+GE, APP, …), ``time_ns`` (int64
        epoch ns), ``allocated_bytes, reserved_bytes, active_bytes``; each holds until the next of
        its component and device. In file order: sorted by component, not by time.
        """
        return self._frame("memory_points", selection)

    def module_memory(self, **selection: Any) -> pd.DataFrame:
        """Samples of what CANN's modules had reserved: ``component, time_ns, reserved_bytes``."""
        return self._frame("module_memory", selection)

    def static_memory(self, **selection: Any) -> pd.DataFrame:
        """Memory of static graphs' operators: ``name, size_bytes, graph, node_start, node_end``."""
        return self._frame("static_memory", selection)

    def communication(self, **selection: Any) -> pd.DataFrame:
        """One row per communication operation: ``name, type, kind, group_name, step, start_ns``
        (int64 epoch ns), ``elapse_ns = transit_ns + wait_ns + idle_ns, synchronization_ns`` (a part
        of the wait), ``size_bytes`` (over all link types), ``links``. Unknown is NA, never 0.
        """
        return self._frame("comm_ops", selection, _grouped("comm_ops"))

    def links(self, **selection: Any) -> pd.DataFrame:
        """One row per operation and link type: ``link, size_bytes, time_ns,
        bandwidth_bytes_per_s, large_packet_ratio, packets``; ``is_sum`` is 1 for SDMA, which is
        HCCS + PCIE + SIO: leave it out of sums.
        """
        return self._frame("comm_links", selection, _grouped("comm_links"))

    def matrix(self, **selection: Any) -> pd.DataFrame:
        """One row per link of the matrix file: ``src, dst`` (global ranks, or positions in the
        group where ``numbering`` is ``local``), ``transport, size_bytes, time_ns,
        bandwidth_bytes_per_s, operation``, and ``pick``: ``total``, or one operation by bandwidth
        (``top1, middle, bottom1, …``; ``op``: every operation). Choose one ``pick`` before summing.
        """
        return self._frame("comm_matrix", selection, matrix_source)

    def ranks(self, **selection: Any) -> pd.DataFrame:
        """One row per rank, with all that ranks are compared by: ``stage_ns``, ``computing_ns``, …
        (means per step), ``delay_ns`` (what it made the others wait), ``clock_ns``, ``core_mhz``,
        ``peak_reserved_bytes``, ``kernels``. Unknown is NA; what no rank has is no column.
        """
        sel = self.select(**selection)
        self._store.fetch(sel.captures, ranks.TABLES, sel.prefer)
        query = ranks.ranks_query(sel, "")
        if query is None:
            return pd.DataFrame(columns=["rank", "capture"])
        return self._rows(query.source, "part")

    def tracks(self, **selection: Any) -> pd.DataFrame:
        """Tracks of the traces in display order: ``track, kind`` (python, cann, hardware,
        communication, overlap, counter, …), ``device, process, thread, slices, depths``.
        """
        return self._frame("tracks", selection)

    def slices(self, **selection: Any) -> pd.DataFrame:
        """Slices and instants of the traces, by ``track, depth, start_ns`` (int64 epoch ns):
        ``dur_ns, name, cat, phase`` (X, or i: instant), ``args`` (JSON text). A big trace is read
        when this, :meth:`flows` or :meth:`counters` asks for it.
        """
        return self._frame("slices", selection)

    def flows(self, **selection: Any) -> pd.DataFrame:
        """Arrows between slices: ``cat, name, id`` (text), ``from_track, from_ns, to_track, to_ns``."""
        return self._frame("flows", selection)

    def counters(self, **selection: Any) -> pd.DataFrame:
        """Values of counters: ``track, name, series, time_ns, value``."""
        return self._frame("counters", selection)

    def findings(self, **selection: Any) -> pd.DataFrame:
        """What is missing, broken or suspicious: ``severity, code, rank, file, message, remedy``."""
        columns = ["severity", "code", "rank", "file", "place", "message", "remedy"]
        found = health.findings(self.select(**selection))
        return pd.DataFrame([[getattr(f, c) for c in columns] for f in found], columns=columns)

    def capabilities(self, **selection: Any) -> pd.DataFrame:
        """What each view can show: ``part, view, status`` (available, partial, missing, reading),
        ``ranks`` (a list), ``where`` (file or table), ``reason, remedy``; a row per distinct case.
        """
        columns = ["part", "view", "status", "ranks", "where", "reason", "remedy"]
        rows = [
            [part.key, part.view, case.status, case.ranks, case.where, case.reason, case.remedy]
            for part in capabilities(self.select(**selection))
            for case in part.cases
        ]
        return pd.DataFrame(rows, columns=columns)

    def select(self, **selection: Any) -> Selected:
        """The resolved selection that the view functions take. Raises RequestError."""
        allowed = {"run", "recording", "rank", "device", "step", "source", "lang"}
        if unknown := set(selection) - allowed:
            raise TypeError(f"unknown selection {sorted(unknown)}; use {sorted(allowed)}")
        words = {key: _words(value) for key, value in selection.items() if key != "lang"}
        return select(self._store, **words, lang=selection.get("lang", "en"))

    def _frame(
        self,
        table: str,
        selection: dict[str, Any],
        source_of: Callable[[Selected], str | None] | None = None,
    ) -> pd.DataFrame:
        sel = self.select(**selection)
        self._store.fetch(sel.captures, [table], sel.prefer)
        schema = TABLES[table]
        source = source_of(sel) if source_of else sel.source(
            table, steps=schema.get("step") is not None, devices=schema.get("device") is not None
        )  # fmt: skip
        if source is None:
            return pd.DataFrame(columns=["rank", "capture", *(f.key for f in schema.fields)])
        return self._rows(source, "part, row")

    def _rows(self, source: str, order: str) -> pd.DataFrame:
        with closing(self._store.cursor()) as cursor:
            columns = cursor.execute(
                f"SELECT * EXCLUDE (part) FROM {source} ORDER BY {order}"
            ).fetchnumpy()
        return pd.DataFrame({name: _series(values) for name, values in columns.items()})


def _grouped(table: str) -> Callable[[Selected], str | None]:
    """The rows of a communication table with the names of their groups."""
    return lambda sel: communication_source(sel, table)


def _series(values: Any) -> Any:
    """A column with its exact type: integers with gaps become Int64, not float64, which rounds."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if values.dtype.kind in "iub":
        if not values.mask.any():
            return values.data
        kind = "boolean" if values.dtype.kind == "b" else "Int64"
        array = pd.array(np.ma.filled(values, 0), dtype=kind)
        array[np.ma.getmaskarray(values)] = pd.NA
        return array
    if values.dtype.kind == "f":
        return np.ma.filled(values, np.nan)
    texts = values.data.astype(object)  # filled(None) would put numpy's default, "?", there
    texts[np.ma.getmaskarray(values)] = None
    return texts


def _words(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        if not value:
            raise RequestError(400, "bad-selection", "An empty selection selects nothing.",
                               "Leave it out for everything.")  # fmt: skip
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
