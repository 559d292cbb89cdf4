"""Which part of the data a request is about: run, recording, ranks, devices, steps."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeVar

import duckdb

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.capture import Capture, Recording, rank_key
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.i18n import Lang, pick
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.store import FileState, Store

T = TypeVar("T")
_RANGE = re.compile(r"^(\d+)(?:-(\d+))?$")


@dataclass(frozen=True)
class Ranges:
    """Integers and ranges as the user wrote them; ``none`` also (or only) selects NULL."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()
    null: bool = False

    @property
    def everything(self) -> bool:
        return not self.spans and not self.null

    def holds(self, value: int | None) -> bool:
        if self.everything:
            return True
        if value is None:
            return self.null
        return any(low <= value <= high for low, high in self.spans)

    def sql(self, column: str) -> str:
        """Predicate on an integer column. Built from integers only."""
        if self.everything:
            return "TRUE"
        tests = [f"{column} BETWEEN {low} AND {high}" for low, high in self.spans]
        if self.null:
            tests.append(f"{column} IS NULL")
        return f"({' OR '.join(tests)})"


def parse_ranges(text: str | None, name: str, null_word: str) -> Ranges:
    """``all``, ``5``, ``0,2,5-7``, ``none``. Raises RequestError 400 with the position at fault."""
    text = (text or "all").strip().lower()
    if text in ("all", ""):
        return Ranges("all")
    spans: list[tuple[int, int]] = []
    null = False
    at = 0
    for part in text.split(","):
        word = part.strip()
        match = _RANGE.match(word)
        if word == null_word:
            null = True
        elif match and len(word) < 40:
            low = int(match.group(1))
            high = int(match.group(2)) if match.group(2) else low
            if high < low:
                low, high = high, low
            spans.append((min(low, 2**62), min(high, 2**62)))
        else:
            raise RequestError(400, f"bad-{name}", f"{name} cannot be {word!r}.",
                               f"Use all, {null_word}, 5, or 0,2,5-7.", at)  # fmt: skip
        at += len(part) + 1
    return Ranges(text, tuple(spans), null)


@dataclass
class Selected:
    """A resolved selection over a store: what every view is given."""

    store: Store
    run: str
    recording: Recording
    captures: list[Capture]
    devices: Ranges
    steps: Ranges
    lang: Lang = "en"
    provenance: dict[str, str] = field(default_factory=dict)

    def word(self, en: str, zh: str) -> str:
        return pick(self.lang, en, zh)

    def rank_label(self, capture: Capture) -> str:
        if capture.rank is None:
            return capture.worker
        return self.word(f"Rank {capture.rank}", f"Rank {capture.rank}")

    def reply(self) -> results.Selection:
        return results.Selection(
            run=self.run,
            recording=self.recording.recording,
            ranks=[c.rank for c in self.captures],
            devices=[low for low, _ in self.devices.spans] or None,
            step=self.steps.text,
        )

    def parts(self, table: str) -> list[tuple[Capture, FileState, object]]:
        parts = self.store.parts(self.captures, table)
        if parts:
            names = sorted({state.source.name for _, state, _ in parts})
            self.provenance[table] = ", ".join(names)
        return list(parts)

    def source(self, table: str, *, steps: bool = True, devices: bool = True) -> str | None:
        """Table expression over ``table`` of the selection, or None where nothing is there yet.

        Adds ``rank``, ``capture`` (label), ``part`` (ordinal of the capture in the selection),
        ``file`` and ``row`` (ordinal in the source). The step and device selection is applied
        unless switched off (for tables that carry neither).
        """
        parts = self.store.parts(self.captures, table)
        if not parts:
            return None
        self.parts(table)
        files = ", ".join(quote(str(path)) for _, _, path in parts)
        order = {c.capture_id: i for i, c in enumerate(self.captures)}
        rows = ", ".join(
            f"({quote(str(path))}, {'NULL' if c.rank is None else c.rank}, "
            f"{quote(self.rank_label(c))}, {order[c.capture_id]})"
            for c, _, path in parts
        )
        sql = (
            "SELECT CAST(part.rank AS BIGINT) AS rank, part.capture, part.part, "
            "data.* EXCLUDE (filename, file_row_number), "
            "data.filename AS file, data.file_row_number AS row "
            f"FROM read_parquet([{files}], filename=true, file_row_number=true, "
            "union_by_name=true) data "
            f"JOIN (VALUES {rows}) part(filename, rank, capture, part) USING (filename)"
        )
        tests = [
            *([self.steps.sql("step")] if steps else []),
            *([self.devices.sql("device")] if devices and not self.devices.everything else []),
        ]
        sql += "".join(f" {'AND' if i else 'WHERE'} {test}" for i, test in enumerate(tests))
        return f"({sql})"

    def query(self, run: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Call ``run`` with a cursor that is closed afterwards."""
        with closing(self.store.cursor()) as cursor:
            return run(cursor)

    def state(self, *tables: str) -> tuple[results.State, float]:
        """State and progress of the files that give ``tables`` (default: all files)."""
        done, total, waiting = 0.0, 0, False
        growing = False
        for capture in self.captures:
            growing = growing or self.store.growing(capture.capture_id)
            for state in self.store.files(capture.capture_id):
                if tables and not set(tables) & set(state.provides):
                    continue
                weight = max(1, state.source.size)
                total += weight
                pending = state.state in ("waiting", "queued", "running")
                waiting = waiting or pending
                done += weight * (state.progress if pending else 1.0)
        if growing:
            return "growing", done / total if total else 0.0
        if waiting:
            return "ingesting", done / total
        return "ready", 1.0


def select(
    store: Store,
    *,
    run: str | None = None,
    recording: str | None = None,
    rank: str | None = None,
    device: str | None = None,
    step: str | None = None,
    lang: Lang = "en",
) -> Selected:
    """Resolve a selection. Defaults: first run, its newest recording, everything in it.

    Raises RequestError: 400 for words that cannot be parsed, 404 for a run, recording or rank
    that is not there.
    """
    ranks = parse_ranks(rank)
    devices = parse_ranges(device, "device", "unknown")
    steps = parse_ranges(step, "step", "none")
    runs = store.runs
    if not runs:
        raise RequestError(404, "no-captures", "No captures were found.",
                           "Point --logdir at a directory that holds …_ascend_pt captures.")  # fmt: skip
    name = run if run not in (None, "") else next(iter(runs))
    recordings = runs.get(name or "")
    if not recordings:
        raise RequestError(404, "no-such-run", f"There is no run {name!r}.",
                           f"Runs: {', '.join(list(runs)[:8])}")  # fmt: skip
    chosen = recordings[0]
    if recording not in (None, "", "latest"):
        match = [r for r in recordings if r.recording == recording]
        if not match:
            raise RequestError(404, "no-such-recording", f"Run {name!r} has no recording "
                               f"{recording!r}.", "Leave it out for the newest.")  # fmt: skip
        chosen = match[0]
    captures = [c for c in chosen.captures if ranks.holds(c.rank)]
    if not captures:
        present = ", ".join(str(c.rank) if c.rank is not None else "unknown"
                            for c in chosen.captures[:16])  # fmt: skip
        raise RequestError(404, "no-such-rank", f"This recording has no rank {ranks.text}.",
                           f"Ranks here: {present}")  # fmt: skip
    captures.sort(key=lambda c: (rank_key(c.rank), c.name))
    return Selected(store, name or "", chosen, captures, devices, steps, lang)


def parse_ranks(text: str | None) -> Ranges:
    return parse_ranges(text, "rank", "unknown")
