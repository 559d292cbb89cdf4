"""operator_memory.csv and memory_record.csv: blocks, and the allocators' totals over time.

Times are host times. A block's Active Release differs from its Release where a collective still
works on it: the user has let go of it, but it can only be reused after the device is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .lines import Line
from .plan import LIVES
from .rows import RankChunk
from .schedule import tens
from .text import CRLF, Appender, Ints, us
from .truth import MemoryTruth

MIB = 1 << 20
SEGMENT = 20 * MIB  # the allocator takes device memory in pieces of this size
GE_RESERVED = 72 * MIB
APP_OVERHEAD = 640 * MIB
SAMPLE_NS = 20_000_000
LEAKED_BLOCKS = 4
CALL, NEXT, UNTIL, COMM, GE = range(len(LIVES))

OPERATOR_HEADER = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
    "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
    "Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"
    "Release Total Active(MB),Stream Ptr,Device Type" + CRLF
)
RECORD_HEADER = (
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),"
    "Stream Ptr,Device Type" + CRLF
)


@dataclass
class _Held:
    """A row whose block is freed when the step ends."""

    head: str
    nbytes: int
    time: int
    totals: str


class Memory:
    """Writes one rank's two memory files."""

    def __init__(
        self,
        folder: Path,
        scratch: Path,
        line: Line,
        device: int,
        before: int,
        write: frozenset[str],
    ) -> None:
        self._operators = Appender(folder / "operator_memory.csv", OPERATOR_HEADER)
        self._ge_rows = scratch / "ge_rows"
        self._record = Appender(folder / "memory_record.csv", RECORD_HEADER)
        self._merged = scratch / "merged_rows"
        self._write = ("operator_memory.csv" in write, "memory_record.csv" in write)
        self._tail = f",{281_470_000 + device * 4096},NPU:{device}{CRLF}"
        self._ge_tail = f",,,NPU:{device}{CRLF}"
        self._app_tail = f",,,NPU:{device}{CRLF}"
        self._workspace = line.extra_config
        self._before = before
        self._allocated = self._active = before
        self._reserved = -(-(before + before // 40) // SEGMENT) * SEGMENT
        self._grown: list[tuple[int, int]] = [(0, self._reserved)]
        self._ge = 0
        self._held: list[str | _Held] = []
        self._peak = before
        self._blocks = self._never = self._never_bytes = self._ge_blocks = 0

    def add(self, part: RankChunk, leak: bool) -> None:
        """A chunk's blocks; with leak some of its first ones are never freed."""
        blocks = part.chunk.blocks
        if not len(blocks.call):
            return
        names = [call.ops[-1].name for call in part.chunk.calls]
        life = blocks.life
        freed_by = blocks.freed_by.copy()
        if leak:
            freed_by[np.flatnonzero((life == NEXT) | (life == UNTIL))[:LEAKED_BLOCKS]] = -1
        start, length = part.host_start[blocks.call], part.host_duration[blocks.call]
        born = start + tens(0.25 * length) + 10 * blocks.number
        freer = np.maximum(freed_by, 0)
        begin, took = part.host_start[freer], part.host_duration[freer]
        # What the call before left is freed early in a call, the call's own things at its end.
        died = np.where(life == NEXT, begin + 40 + 10 * blocks.number, begin + took - 60)
        died = died + 10 * blocks.number * (life != NEXT)
        names_of = [names[i] for i in part.chunk.call_ids[blocks.call].tolist()]
        ge_names = [
            call.blocks[n].key if g else ""
            for call, n, g in zip(
                (part.chunk.calls[i] for i in part.chunk.call_ids[blocks.call].tolist()),
                blocks.number.tolist(),
                (life == GE).tolist(),
                strict=True,
            )
        ]
        self._events(names_of, ge_names, blocks.nbytes, life, born, died, freed_by >= 0)

    def _events(
        self,
        names: list[str],
        ge_names: list[str],
        nbytes: Ints,
        life: Ints,
        born: Ints,
        died: Ints,
        freed: np.ndarray[tuple[int], np.dtype[np.bool_]],
    ) -> None:
        """Run through a chunk's events in time; write their totals and the blocks' rows."""
        count = len(nbytes)
        gone = np.flatnonzero(freed)
        time = np.concatenate([born, died[gone]])
        which = np.concatenate([np.arange(count), gone])
        sign = np.concatenate([np.ones(count, np.int64), -np.ones(len(gone), np.int64)])
        order = np.argsort(time, kind="stable")
        time, which, sign = time[order], which[order], sign[order]
        is_ge = life[which] == GE
        change = sign * nbytes[which]
        allocated = self._allocated + np.cumsum(np.where(is_ge, 0, change))
        shift = self._active - self._allocated
        active = allocated + shift
        ge = self._ge + np.cumsum(np.where(is_ge, change, 0))
        wanted = -(-(active + active // 40) // SEGMENT) * SEGMENT  # some of it is fragments
        reserved = np.maximum(np.maximum.accumulate(wanted), self._reserved)
        for i in np.flatnonzero(np.diff(reserved, prepend=self._reserved)).tolist():
            self._grown.append((int(time[i]), int(reserved[i])))
        self._allocated, self._active = int(allocated[-1]), int(active[-1])
        self._reserved, self._ge = int(reserved[-1]), int(ge[-1])
        self._peak = max(self._peak, int(allocated.max()))
        if self._write[1]:
            self._merged_rows(time, is_ge, allocated, active, reserved, ge)
        at_birth = np.zeros(count, np.int64)
        at_death = np.zeros(count, np.int64)
        events = np.arange(len(time))
        at_birth[which[sign > 0]], at_death[which[sign < 0]] = events[sign > 0], events[sign < 0]
        totals = [
            f"{a / MIB!r},{r / MIB!r},{v / MIB!r}"
            for a, r, v in zip(allocated.tolist(), reserved.tolist(), active.tolist(), strict=True)
        ]
        ge_totals = [f"{g / MIB!r},{GE_RESERVED / MIB!r}," for g in ge.tolist()]
        ge_lines: list[str] = []
        for i, size, kind, begun, ended, was_freed, birth, death in zip(
            range(count),
            nbytes.tolist(),
            life.tolist(),
            born.tolist(),
            died.tolist(),
            freed.tolist(),
            at_birth.tolist(),
            at_death.tolist(),
            strict=True,
        ):
            if kind == GE:
                self._ge_blocks += 1
                ge_lines.append(
                    f"cann::{ge_names[i]},{size / 1024!r},{us(begun)}\t,{us(ended)}\t,,"
                    f"{(ended - begun) / 1000!r},,{ge_totals[birth]},{ge_totals[death]}"
                    f"{self._ge_tail[1:]}"
                )
                continue
            self._blocks += 1
            head = f"{names[i]},{size / 1024!r},{us(begun)}\t,"
            if kind == COMM:
                self._held.append(_Held(head, size, begun, totals[birth]))
            elif was_freed:
                lasted = us(ended - begun)
                self._held.append(
                    f"{head}{us(ended)}\t,{us(ended)}\t,{lasted}\t,{lasted}\t,"
                    f"{totals[birth]},{totals[death]}{self._tail}"
                )
            else:
                self._never += 1
                self._never_bytes += size
                self._held.append(f"{head},,,,{totals[birth]},,,{self._tail}")
        self._flush()
        if self._write[0]:
            Appender(self._ge_rows).add_lines(ge_lines)

    def _merged_rows(
        self,
        time: Ints,
        is_ge: np.ndarray[tuple[int], np.dtype[np.bool_]],
        allocated: Ints,
        active: Ints,
        reserved: Ints,
        ge: Ints,
    ) -> None:
        """A PTA or GE row per event, each followed by the sum of both."""
        lines = []
        seen_ge = GE_RESERVED if self._ge_blocks else 0
        for t, of_ge, a, v, r, g in zip(
            time.tolist(),
            is_ge.tolist(),
            allocated.tolist(),
            active.tolist(),
            reserved.tolist(),
            ge.tolist(),
            strict=True,
        ):
            stamp = f"{us(t)}\t"
            if of_ge:
                seen_ge = GE_RESERVED
                lines.append(f"GE,{stamp},{g / MIB!r},{seen_ge / MIB!r}{self._ge_tail}")
            else:
                lines.append(f"PTA,{stamp},{a / MIB!r},{r / MIB!r},{v / MIB!r}{self._tail}")
            both = f"{(a + g) / MIB!r},{(r + seen_ge) / MIB!r},{(v + g) / MIB!r}"
            lines.append(f"PTA+GE,{stamp},{both}{self._tail}")
        Appender(self._merged).add_lines(lines)

    def end_step(self, host_ready: int, host_end: int) -> None:
        """What collectives worked on is let go, and reusable once the device is done."""
        waiting = [row for row in self._held if isinstance(row, _Held)]
        times, steps = [], []
        done: dict[int, tuple[int, int, str]] = {}
        for number, row in enumerate(waiting):
            released = host_ready + 10 * number
            self._allocated -= row.nbytes
            times.append(released)
            steps.append((self._allocated, self._active))
            totals = f"{self._allocated / MIB!r},{self._reserved / MIB!r},{self._active / MIB!r}"
            done[id(row)] = (released, host_end + 10 * number, totals)
        for number, row in enumerate(waiting):
            self._active -= row.nbytes
            times.append(host_end + 10 * number)
            steps.append((self._allocated, self._active))
        if times and self._write[1]:
            values = np.array(steps, dtype=np.int64)
            same = np.full(len(times), 0, dtype=np.int64)
            self._merged_rows(
                np.array(times, dtype=np.int64),
                same > 0,
                values[:, 0],
                values[:, 1],
                same + self._reserved,
                same + self._ge,
            )
        for place, held in enumerate(self._held):
            if isinstance(held, _Held):
                released, reusable, totals = done[id(held)]
                self._held[place] = (
                    f"{held.head}{us(released)}\t,{us(reusable)}\t,{us(released - held.time)}\t,"
                    f"{us(reusable - held.time)}\t,{held.totals},{totals}{self._tail}"
                )
        self._flush()

    def _flush(self) -> None:
        """Write rows in the order of allocation, up to the first that is not complete."""
        ready = 0
        while ready < len(self._held) and isinstance(self._held[ready], str):
            ready += 1
        if self._write[0]:
            self._operators.add_lines(r for r in self._held[:ready] if isinstance(r, str))
        del self._held[:ready]

    def finish(self, window: tuple[int, int]) -> MemoryTruth:
        """Put the parts of both files together: APP samples first, then the rest."""
        if self._write[0]:
            self._operators.take(self._ge_rows)
        if self._write[1]:
            times = np.arange(window[0] + 700_000, window[1], SAMPLE_NS, dtype=np.int64)
            grown = np.array(self._grown, dtype=np.int64)
            held = grown[np.searchsorted(grown[:, 0], times, side="right") - 1, 1]
            self._record.add_lines(
                f"APP,{us(t)}\t,,{(r + GE_RESERVED + APP_OVERHEAD) / MIB!r}{self._app_tail}"
                for t, r in zip(times.tolist(), held.tolist(), strict=True)
            )
            self._record.take(self._merged)
            if self._workspace:
                size = f"{64 * MIB / MIB!r}"
                self._record.add(
                    f"WORKSPACE,{us(window[0] + 900_000)}\t,{size},{size},{size}{self._tail}"
                )
        return MemoryTruth(
            self._before,
            self._peak,
            self._reserved,
            self._allocated,
            self._blocks,
            self._never,
            self._never_bytes,
            self._ge_blocks,
        )
