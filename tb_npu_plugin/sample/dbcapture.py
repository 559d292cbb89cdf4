"""One rank's two databases: what every chunk adds to them, and what is only known at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from .collectives import Share
from .dbdevice import DeviceTables
from .dbfile import NAMES, Database
from .dbhost import COMMUNICATION, HostTables
from .dbmemory import add_memory
from .groups import Layout
from .kernels import Counters
from .rows import DeviceRows, RankChunk
from .specs import Kernel
from .traceids import TraceIds
from .truth import StepTruth

FREQ_NS = 20_000_000


class Databases:
    """Writes ascend_pytorch_profiler_<rank>.db and analysis.db."""

    def __init__(self, output: Path, rank: int, ids: TraceIds, layout: Layout) -> None:
        self._rank, self._device, self._ids = rank, layout.device(rank), ids
        self._db = Database(output / f"ascend_pytorch_profiler_{rank}.db", ids.line)
        self._analysis = Database(output / "analysis.db", ids.line)
        self._host = HostTables(self._db, ids)
        self._tasks = DeviceTables(self._db, ids.level, self._device, ids.pid, layout)

    def begin_step(self, host_begin: int, loader_ns: int) -> None:
        """A step opens; the data loader runs first."""
        self._host.begin_step(host_begin, loader_ns)

    def add(self, part: RankChunk) -> None:
        """A chunk's host events."""
        self._host.add(part)
        self._db.flush()

    def device(
        self, rows: DeviceRows, kernels: tuple[Kernel, ...], counters: list[Counters]
    ) -> None:
        """Rows of the device, in the order of their start."""
        self._tasks.add(rows, kernels, counters)
        self._db.flush()

    def operation(self, step: int, share: Share, group: str, record: dict[str, Any]) -> None:
        """An operation as communication.json has it."""
        times, links = record["Communication Time Info"], record["Communication Bandwidth Info"]
        where = (f"step{step}", "collective")
        keys = ("Start Timestamp(us)", "Elapse Time(ms)", "Transit Time(ms)", "Wait Time(ms)",
                "Synchronization Time(ms)", "Idle Time(ms)")  # fmt: skip
        self._analysis.add(
            "CommAnalyzerTime", [(share.name, group, *(times[k] for k in keys), *where)]
        )
        for link, info in links.items():
            if not info["Transit Size(MB)"]:
                continue
            head = (share.name, group, link, info["Transit Size(MB)"], info["Transit Time(ms)"],
                    info["Bandwidth(GB/s)"], info["Large Packet Ratio"])  # fmt: skip
            spread = info["Size Distribution"] or {"0": [0, 0]}
            self._analysis.add("CommAnalyzerBandwidth", [
                (*head, float(size), count, total, *where) for size, (count, total) in spread.items()
            ])  # fmt: skip

    def matrix(self, step: int, matrix: dict[str, Any]) -> None:
        """A step's links as communication_matrix.json has them."""
        for key, links in matrix.items():
            name, _, group = key.rpartition("@")
            self._analysis.add("CommAnalyzerMatrix", [
                (name, group, *pair.split("-"), link["Transport Type"], link["Transit Size(MB)"],
                 link["Transit Time(ms)"], link["Bandwidth(GB/s)"], f"step{step}", "collective",
                 link.get("Op Name", ""))
                for pair, link in links.items()
            ])  # fmt: skip
        self._analysis.flush()

    def end_step(self, step: int, host_begin: int, host_ready: int, host_end: int) -> None:
        """A step closes."""
        self._host.end_step(step, host_begin, host_ready, host_end)
        self._db.flush()

    def finish(
        self,
        window: tuple[int, int],
        steps: list[StepTruth],
        metadata: dict[str, Any],
        memory: Path,
    ) -> None:
        """Steps, memory (from the text files in ``memory``), identity, enumerations."""
        db, line = self._db, self._ids.line
        self._analysis.add("StepTraceTime", [self._step(step) for step in steps])
        self._analysis.finish()
        add_memory(db, memory, self._device)
        db.add("AICORE_FREQ", [
            (self._device, time, self._ids.mhz)
            for time in np.arange(window[0] + 500_000, window[1], FREQ_NS).tolist()
        ])  # fmt: skip
        db.add("SESSION_TIME_INFO", [window])
        db.add("NPU_INFO", [(self._device, "Ascend910B")])
        db.add("HOST_INFO", [("4242", "node")])
        db.add("RANK_DEVICE_MAP", [(self._rank, self._device)])
        version = ("1", "2" if line.block == "Num" else "0", "0")
        db.add("META_DATA", [
            ("SCHEMA_VERSION", ".".join(version)),
            *((f"SCHEMA_VERSION_{part}", v)
              for part, v in zip(("MAJOR", "MINOR", "MICRO"), version, strict=True)),
            *((key, json.dumps(value)) for key, value in metadata.items()),
        ])  # fmt: skip
        for table, names in NAMES.items():
            added = {COMMUNICATION: line.comm_level} if table == "ENUM_API_TYPE" else {}
            db.add(table, sorted((names | added).items()))
        db.finish()

    def _step(self, step: StepTruth) -> tuple[Any, ...]:
        parts = (
            step.computing_ns, step.not_overlapped_ns, step.overlapped_ns, step.communication_ns,
            step.free_ns, step.stage_ns, step.bubble_ns,
            max(step.not_overlapped_ns - step.bubble_ns, 0), step.preparing_ns,
        )  # fmt: skip
        lead = (self._device,) * self._ids.line.device_id
        return (*lead, str(step.step), *(part / 1000 for part in parts))
