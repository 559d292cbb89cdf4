"""Which part of the data a request is about: run, recording, ranks, devices, steps."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

import duckdb

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.file_state import FileState
from tb_npu_plugin.backend.i18n import Lang, pick
from tb_npu_plugin.backend.readers import SOURCES
from tb_npu_plugin.backend.readers.csv_file import literal, quote
from tb_npu_plugin.backend.recordings import Recording, rank_key
from tb_npu_plugin.backend.schema import TABLES
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.wording import printable

T = TypeVar("T")
#: Columns that number the tracks of one file.
_TRACKS = ("track", "from_track", "to_track")
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

    def numbers(self, limit: int = 1024) -> list[int]:
        """The numbers, the first ``limit`` of them."""
        every = (n for low, high in self.spans for n in range(low, high + 1))
        return sorted(set(islice(every, limit)))

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
    prefer: str | None = None
    """The kind of source to take where a capture has several; None: the best."""
    provenance: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    """Parameters of one view alone, as the user wrote them (:attr:`View.options` names them)."""
    asked: list[FileState] = field(default_factory=list)
    """Files that were asked for by their names; the reply's state waits for them, too."""
    total_captures: int = 0
    """Captures selected; :attr:`captures` may be the first of them."""

    def first(self, count: int | None) -> Selected:
        """The same over no more than ``count`` captures."""
        return replace(self, captures=self.captures[:count])

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
            devices=self.devices.numbers() or None,
            step=self.steps.text,
            source=self.prefer or "auto",
        )

    def parts(self, table: str) -> list[tuple[Capture, FileState, object]]:
        parts = self.store.parts(self.captures, table, self.prefer)
        if parts:
            names = sorted({state.source.name for _, state, _ in parts})
            self.provenance[table] = ", ".join(names)
        return list(parts)

    def source(self, table: str, *, steps: bool = True, devices: bool = True) -> str | None:
        """Table expression over ``table`` of the selection, or None where nothing is there yet.

        Adds ``rank``, ``capture`` (label), ``part`` (ordinal of the capture in the selection),
        and ``row`` (ordinal in the source). The step and device selection is applied where the
        table has such a column, unless switched off.
        """
        parts = self.store.parts(self.captures, table, self.prefer)
        if not parts:
            return None
        self.parts(table)
        order = {c.capture_id: i for i, c in enumerate(self.captures)}
        if len(parts) == 1:  # by far the most frequent, and a join costs as much as a scan
            capture, _, path = parts[0]
            sql = (
                f"SELECT CAST({_rank_sql(capture)} AS BIGINT) AS rank, "
                f"{quote(self.rank_label(capture))} AS capture, "
                f"{order[capture.capture_id]} AS part, "
                "* EXCLUDE (file_row_number), file_row_number AS row "
                f"FROM read_parquet({literal(path)}, file_row_number=true, hive_partitioning=false)"
            )
        else:
            files = ", ".join(literal(path) for _, _, path in parts)
            # Slices of one capture share their part; their rows and tracks must not share numbers.
            slices: dict[str, int] = {}
            rows = ", ".join(
                f"({quote(str(path))}, {_rank_sql(c)}, {quote(self.rank_label(c))}, "
                f"{order[c.capture_id]}, CAST({_next(slices, c.capture_id)} AS BIGINT))"
                for c, _, path in parts
            )
            tracks = [key for key in _TRACKS if TABLES[table].get(key)]
            moved = ", ".join(f"data.{key} + (part.slice << 20) AS {key}" for key in tracks)
            replaced = f" REPLACE ({moved})" if moved else ""
            sql = (
                "SELECT CAST(part.rank AS BIGINT) AS rank, part.capture, part.part, "
                f"data.* EXCLUDE (filename, file_row_number){replaced}, "
                "data.file_row_number + (part.slice << 40) AS row "
                f"FROM read_parquet([{files}], filename=true, file_row_number=true, "
                "union_by_name=true, hive_partitioning=false) data "
                f"JOIN (VALUES {rows}) part(filename, rank, capture, part, slice) USING (filename)"
            )
        schema = TABLES[table]
        chosen = [("step", self.steps, steps), ("device", self.devices, devices)]
        tests = [
            ranges.sql(column)
            for column, ranges, wanted in chosen
            if wanted and not ranges.everything and schema.get(column)
        ]
        sql += "".join(f" {'AND' if i else 'WHERE'} {test}" for i, test in enumerate(tests))
        return f"({sql})"

    def paths(self, table: str) -> tuple[str, ...]:
        """The Parquet files behind :meth:`source`. They never change under one name."""
        return tuple(
            str(path) for _, _, path in self.store.parts(self.captures, table, self.prefer)
        )

    def query(self, run: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Call ``run`` with a cursor that is closed afterwards."""
        with closing(self.store.cursor()) as cursor:
            return run(cursor)

    def state(self, *tables: str) -> tuple[results.State, float]:
        """State and progress of the files that ``tables`` are taken from (default: all files)."""
        done, total, waiting = 0.0, 0, False
        growing = False
        for capture in self.captures:
            growing = growing or self.store.growing(capture.capture_id)
            states = (
                self.store.sources([capture], tables, self.prefer)
                if tables
                else [s for s in self.store.files(capture.capture_id) if not s.lazy]
            )
            states += [s for s in self.asked if s.capture_id == capture.capture_id]
            for state in states:
                weight = max(1, state.source.bytes)
                total += weight
                pending = state.state in ("waiting", "queued", "running")
                waiting = waiting or pending
                done += weight * (state.progress if pending else 1.0)
        if growing:
            return "growing", done / total if total else 0.0
        if waiting:
            return "ingesting", done / total
        return "ready", 1.0


def _next(counts: dict[str, int], key: str) -> int:
    """0, 1, 2, … for each further time a key is seen."""
    counts[key] = counts.get(key, -1) + 1
    return counts[key]


def _rank_sql(capture: Capture) -> str:
    return "NULL" if capture.rank is None else str(capture.rank)


def select(
    store: Store,
    *,
    run: str | None = None,
    recording: str | None = None,
    rank: str | None = None,
    device: str | None = None,
    step: str | None = None,
    source: str | None = None,
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
        hint = "Point --logdir at a directory that holds …_ascend_pt captures."
        raise RequestError(404, "no-captures", "No captures were found.",
                           no_permission(store) or hint)  # fmt: skip
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
    prefer = source if source not in (None, "", "auto") else None
    if prefer is not None and prefer not in SOURCES:
        known = ", ".join(SOURCES)
        raise RequestError(
            400, "bad-source", f"There is no source {prefer!r}.", f"Sources: {known}"
        )
    return Selected(store, name or "", chosen, captures, devices, steps, lang, prefer,
                    total_captures=len(captures))  # fmt: skip


def no_permission(store: Store) -> str:
    """What to say about directories that could not be searched; empty if there are none."""
    denied = store.scan_result.denied
    if not denied:
        return ""
    more = f" and {len(denied) - 1} more" if len(denied) > 1 else ""
    return f"Permission denied: {printable(denied[0])}{more}."


def parse_ranks(text: str | None) -> Ranges:
    return parse_ranges(text, "rank", "unknown")
