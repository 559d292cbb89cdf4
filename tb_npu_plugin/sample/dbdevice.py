"""The device's half of a database: tasks, kernels with their counters, communication."""

from __future__ import annotations

from typing import Any

from .dbfile import NO_ID, Database
from .deviceevents import operation_tasks
from .groups import Layout
from .kernels import Counters
from .rows import COMM_STREAM, MAIN_STREAM, SIDE_STREAM, DeviceRows
from .specs import Kernel, Tensors
from .text import Floats, Ints

AIC = ("mac", "scalar", "mte1", "mte2", "fixpipe")
AIV = ("vec", "scalar", "mte2", "mte3")
TASK_TYPES = {
    "AI_CORE": "KERNEL_AICORE", "AI_VECTOR_CORE": "KERNEL_AIVEC", "AI_CPU": "KERNEL_AICPU",
    "DSA_SQE": "STARS_COMMON",
}  # fmt: skip
PART_TYPES = {"Notify_Wait": "Notify Wait", "Notify_Record": "Write Value"}
LINK_TYPES = {"ON_CHIP": 0, "HCCS": 1, "RDMA": 3}
INVALID = 65535


class DeviceTables:
    """Adds one rank's tasks, in the order of their start."""

    def __init__(self, db: Database, level: int, device: int, pid: int, layout: Layout) -> None:
        self._db, self._level, self._device, self._pid = db, level, device, pid
        self._layout = layout
        self._task = self._operation = 0
        self._described: dict[Kernel, tuple[Any, ...]] = {}

    def add(self, rows: DeviceRows, kernels: tuple[Kernel, ...], counters: list[Counters]) -> None:
        """Rows of one step with the counters that kernel_details.csv has for them."""
        first = self._task
        self._task += len(rows.start)
        shares = iter(rows.shares)
        tasks, computed = [], []
        for number, (start, took, spec, task, connection) in enumerate(
            zip(
                rows.start.tolist(), rows.duration.tolist(), rows.spec.tolist(),
                rows.task_id.tolist(), rows.connection.tolist(), strict=True,
            ),
            first,
        ):  # fmt: skip
            if spec < 0:
                self._communication(next(shares), connection)
                continue
            kernel = kernels[spec]
            mixed = kernel.core.startswith("MIX")
            kind = self._db.name(TASK_TYPES.get(kernel.core, kernel.core))
            stream = SIDE_STREAM if kernel.side_stream else MAIN_STREAM
            tasks.append(
                (start, start + took, self._device, connection, number, self._pid, kind,
                 0 if mixed else NO_ID, stream, task, NO_ID)
            )  # fmt: skip
            name, *rest = self._describe(kernel)
            computed.append((name, number, *rest))
        self._db.add("TASK", tasks)
        self._db.add("COMPUTE_TASK_INFO", computed)
        for found in counters:
            self._counters(first, found)

    def _describe(self, kernel: Kernel) -> tuple[Any, ...]:
        """What COMPUTE_TASK_INFO says of a kernel, without its task's id."""
        if kernel not in self._described:
            name, none = self._db.name, self._db.name("N/A")
            if self._level == 0:
                row: tuple[Any, ...] = (name(kernel.name), 0, 0, *[none] * 9)
            else:
                row = (
                    name(kernel.name), kernel.blocks, kernel.mix_blocks, name(kernel.core),
                    name(kernel.type), *self._tensors(kernel.inputs),
                    *self._tensors(kernel.outputs), none,
                )  # fmt: skip
            if self._db.line.block == "Num":
                hf32 = "YES" if kernel.core == "AI_CORE" else "NO"
                told = (name("dynamic"), name(hf32)) if self._level else (none, none)
                row += (*told, none, none)
            self._described[kernel] = row
        return self._described[kernel]

    def _tensors(self, side: Tensors) -> tuple[int, int, int]:
        shapes = f'"{side.shape_text()}"' if side.shape_text() else "N/A"
        texts = (side.format_text() or "N/A", side.dtype_text() or "N/A", shapes)
        return (self._db.name(texts[0]), self._db.name(texts[1]), self._db.name(texts[2]))

    def _counters(self, first: int, found: Counters) -> None:
        """One row per kernel and counter; times in ns, not rounded."""
        ids = (found.at + first).tolist()
        for prefix, stages, core in (("aic", AIC, found.aic), ("aiv", AIV, found.aiv)):
            columns: dict[str, Ints | Floats | None] = {"total_time": None, "total_cycles": None}
            columns |= {f"{s}_{kind}": None for s in stages for kind in ("time", "ratio")}
            columns["icache_miss_rate"] = None
            if core is not None:
                time, cycles, ratios, misses = core
                columns |= {"total_time": time * 1000, "total_cycles": cycles}
                for i, stage in enumerate(stages):
                    columns[f"{stage}_time"] = ratios[:, i] * time * 1000
                    columns[f"{stage}_ratio"] = ratios[:, i]
                columns["icache_miss_rate"] = misses
            for name, values in columns.items():
                text = self._db.name(f"{prefix}_{name}")
                shown = [0] * len(ids) if values is None else values.tolist()
                rows = [(i, text, v) for i, v in zip(ids, shown, strict=True)]
                self._db.add("TASK_PMU_INFO", rows)

    def _communication(self, share: Any, connection: int) -> None:
        """An operation and the tasks of its planes."""
        name, group = self._db.name, share.operation.axis.groups[share.group]
        self._operation += 1
        number, low = self._operation, self._level == 0
        none = name("N/A")
        kind = none if low else name(share.name.split("__")[0] + "_")
        row = (
            name(share.name), share.start, share.end, connection, none if low else name(group.name),
            number, 0, 0, 65534 if low else 11, none if low else name("MESH-RING"),
            share.operation.spec.nbytes // 2, kind,
        )  # fmt: skip
        self._db.add("COMMUNICATION_OP", [row + (self._device,) * self._db.line.device_id])
        tasks: list[tuple[Any, ...]] = []
        parts: list[tuple[Any, ...]] = []
        for link, task in operation_tasks(self._layout, share):
            key = 1 << 40 | self._task << 12 | len(tasks)
            moved = task.nbytes > 0
            tasks.append(
                (task.start, task.start + task.duration, self._device, connection, key, self._pid,
                 name(PART_TYPES.get(task.name, "SDMA")), NO_ID, COMM_STREAM, 0, NO_ID)
            )  # fmt: skip
            rdma = moved and link == "RDMA"
            transport = 1 if rdma else 2 if task.name == "Notify_Wait" else 0
            parts.append(
                (name(share.name), key, name("RDMA_SEND_PAYLOAD" if rdma else task.name),
                 task.plane, name(group.name), 64 + task.plane, 1 if rdma else INVALID, share.place,
                 task.peer, transport, task.nbytes, 11 if moved else INVALID,
                 LINK_TYPES[link] if moved else INVALID, number)
            )  # fmt: skip
        self._task += 1
        self._db.add("TASK", tasks)
        if not low:
            self._db.add("COMMUNICATION_TASK_INFO", parts)
