"""Which part of the data a request is about: run, recording, ranks, devices, steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from tb_npu_plugin.backend import folds, results
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.file_state import FileState
from tb_npu_plugin.backend.folds import Piece
from tb_npu_plugin.backend.i18n import Lang, pick
from tb_npu_plugin.backend.ranges import Ranges, parse_ranges
from tb_npu_plugin.backend.readers import SOURCES
from tb_npu_plugin.backend.readers.csv_file import literal
from tb_npu_plugin.backend.recordings import Recording, rank_key
from tb_npu_plugin.backend.schema import TABLES
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.wording import printable

T = TypeVar("T")
#: Columns that :meth:`Selected.source` adds to those of a table.
ADDED = ("rank", "capture", "part", "row")
#: Fewer rows are asked about as they are (:meth:`Selected.kept`).
MANY_ROWS = 20_000


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
    _known: dict[tuple[Any, ...], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _whole: Selected | None = field(default=None, init=False, repr=False, compare=False)

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

    def parts(self, table: str) -> list[tuple[Capture, FileState, Path]]:
        parts = self._parts(table)
        if parts:
            names = self.once("names", table, make=lambda: {s.source.name for _, s, _ in parts})
            self.provenance[table] = ", ".join(sorted(names))
        return list(parts)

    def _parts(self, table: str) -> list[tuple[Capture, FileState, Path]]:
        return self.once(
            "parts", table, make=lambda: self.store.parts(self.captures, table, self.prefer)
        )

    def files(self, table: str) -> dict[str, list[tuple[FileState, Path]]]:
        """Capture id -> the files that ``table`` is taken from; captures without it are left out."""

        def make() -> dict[str, list[tuple[FileState, Path]]]:
            found: dict[str, list[tuple[FileState, Path]]] = {}
            for capture, state, path in self._parts(table):
                found.setdefault(capture.capture_id, []).append((state, path))
            return found

        return self.once("files", table, make=make)

    def once(self, *key: str, make: Callable[[], T], patience: float = 0.0) -> T:
        """What ``make`` makes of these captures, made again only when something was read or found
        meanwhile (see :meth:`Answers.value`). ``key`` names everything else it depends on."""
        version = self.store.version
        known = (version, *key)
        if known not in self._known:
            if len(self.captures) < folds.LEAST_PIECES:
                self._known[known] = make()
            else:  # going through a thousand captures takes longer than most queries
                ids = tuple(c.capture_id for c in self.captures)
                whole = (ids, self.prefer, *key)
                self._known[known] = self.store.answers.value(
                    whole, version, make, patience=patience
                )
        found: T = self._known[known]
        return found

    def folded(self, table: str) -> bool:
        """Whether :meth:`source` is one file for many."""
        return self._folded(table) is not None

    def source(
        self, table: str, *, steps: bool = True, devices: bool = True, told: bool = True
    ) -> str | None:
        """Table expression over ``table`` of the selection, or None where nothing is there yet.

        Adds ``rank``, ``capture`` (label), ``part`` (ordinal of the capture in the selection),
        and ``row`` (ordinal in the source). The step and device selection is applied where the
        table has such a column, unless switched off. ``told``: as the result's provenance.
        """
        if not (self.parts(table) if told else self._parts(table)):
            return None
        sql = self._folded(table) or folds.pieces_sql(table, self._pieces(table))
        schema = TABLES[table]
        chosen = [("step", self.steps, steps), ("device", self.devices, devices)]
        tests = [
            ranges.sql(column)
            for column, ranges, wanted in chosen
            if wanted and not ranges.everything and schema.get(column)
        ]
        return f"(SELECT * FROM ({sql}) WHERE {' AND '.join(tests)})" if tests else f"({sql})"

    def _pieces(self, table: str) -> list[Piece]:
        order = {c.capture_id: i for i, c in enumerate(self.captures)}
        slices: dict[str, int] = {}
        return [
            Piece(str(path), c.rank, self.rank_label(c), order[c.capture_id],
                  _next(slices, c.capture_id), path.stat().st_size)
            for c, _, path in self._parts(table)
        ]  # fmt: skip

    def _folded(self, table: str) -> str | None:
        """A query of ``table`` over the fold of the whole recording; None where that is no gain, or
        while more of it is still to come."""
        if len(self._parts(table)) < folds.LEAST_PIECES:
            return None
        whole = self.whole()
        found = whole._fold(table)
        if found is None:
            return None
        if not found.same and self.captures != whole.captures:
            return None  # columns that only other captures have are not the selection's
        return self.narrowed(f"read_parquet({literal(found.path)}, hive_partitioning=false)")

    def narrowed(self, rows: str) -> str:
        """A query of what is the selection's of ``rows``, a table expression over :meth:`whole`."""
        whole = self.whole()
        if self.captures == whole.captures:
            return f"SELECT * FROM {rows}"
        order = {c.capture_id: i for i, c in enumerate(whole.captures)}
        places = ", ".join(
            f"({order[c.capture_id]}, {i})"
            for i, c in enumerate(self.captures)
            if c.capture_id in order
        )
        return (
            f"SELECT data.* REPLACE (chosen.part AS part) FROM {rows} data "
            f"JOIN (VALUES {places}) chosen(whole_part, part) ON chosen.whole_part = data.part"
        )

    def _fold(self, table: str) -> folds.Fold | None:
        def make() -> folds.Fold | None:
            pieces = self._pieces(table) if self.settled(table) else []
            if not folds.worth_folding(pieces):
                return None
            return folds.fold(self.store.cache, self.store.memory, table, pieces)

        found = self.once("fold", table, make=make)
        if found and not found.path.exists():  # the cache was cleared or trimmed meanwhile
            self.store.look_again()
            found = self.once("fold", table, make=make)
        return found

    def whole(self) -> Selected:
        """The same over all captures of the recording, whatever of them, of steps and devices is
        selected; always the same object."""
        if self._whole is None:
            captures = in_order(self.recording.captures)
            if captures == self.captures and self.steps.everything and self.devices.everything:
                self._whole = self
            else:
                self._whole = replace(
                    self,
                    captures=captures,
                    steps=Ranges("all"),
                    devices=Ranges("all"),
                    provenance={},
                )
                self._whole._whole = self._whole
                if captures == self.captures:
                    self._whole._known = self._known
        return self._whole

    def settled(self, *tables: str) -> bool:
        """Whether nothing is still to be read that ``tables`` of the selection are taken from."""
        return self.once(
            "settled", *tables, make=lambda: self.store.settled(self.captures, tables, self.prefer)
        )

    def kept(self, name: str, sql: str, *tables: str) -> str:
        """Table expression of a query over ``tables`` that several questions are asked about: its rows
        are written once, where they are many and no more of them will come."""

        def count() -> int:
            return sum(s.rows.get(table, 0) for table in tables for _, s, _ in self._parts(table))

        if self.once("rows", *tables, make=count) < MANY_ROWS or not self.settled(*tables):
            return f"({sql})"
        path = folds.kept(self.store.cache, self.store.memory, name, sql)
        if path is None:
            return f"({sql})"
        return f"(SELECT * FROM read_parquet({literal(path)}, hive_partitioning=false))"

    def paths(self, table: str) -> tuple[str, ...]:
        """The Parquet files behind :meth:`source`. They never change under one name."""
        return self.once(
            "paths", table, make=lambda: tuple(str(path) for _, _, path in self._parts(table))
        )

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query over :meth:`source`, which may be those of an earlier request."""
        return self.store.answers.rows(sql)

    def row(self, sql: str) -> tuple[Any, ...] | None:
        """The first of :meth:`rows`."""
        return next(iter(self.rows(sql)), None)

    def query(self, run: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Call ``run`` with a cursor that is closed afterwards."""
        with closing(self.store.cursor()) as cursor:
            return run(cursor)

    def state(self, *tables: str) -> tuple[results.State, float]:
        """State and progress of the files that ``tables`` are taken from (default: all files)."""
        if tables and not self.asked and self.settled(*tables):
            return "ready", 1.0
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


def in_order(captures: Iterable[Capture]) -> list[Capture]:
    """By rank, the unknown last."""
    return sorted(captures, key=lambda c: (rank_key(c.rank), c.name))


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
    captures = in_order(captures)
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
