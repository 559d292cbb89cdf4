"""A trace that is shown while it is being read: less of it, but nothing else than the whole has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tb_npu_plugin.backend import file_state
from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.ingest import Ingested, Job, ingest
from tb_npu_plugin.backend.readers import db_timeline, trace_file, trace_so_far
from tb_npu_plugin.backend.selection import select
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.timeline.detail import detail
from tb_npu_plugin.backend.timeline.drawing import Window, window
from tb_npu_plugin.backend.timeline.files import TABLES
from tb_npu_plugin.backend.views.timeline import timeline

TEXT = "captures/text_level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
DATABASE = "captures/db_level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db"
TORCH = "captures/pytorch"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(trace_so_far, "FIRST_BYTES", 1)
    monkeypatch.setattr(trace_so_far, "GROWTH", 1.2)
    monkeypatch.setattr(db_timeline, "SHOWN_FIRST", 1)


def job_for(path: Path, reader: str, cache: Path, **more: str) -> Job:
    return Job("c", os.fsencode(path), path.name, reader, "f", 1, str(cache), **more)


def rows(folder: Path, table: str) -> list[tuple[Any, ...]]:
    return duckdb.sql(f"SELECT * FROM '{folder / f'{table}.parquet'}'").fetchall()


@pytest.mark.parametrize(
    ("file", "reader"),
    [(TEXT, "trace_view"), (DATABASE, "db_timeline"), (TORCH, "torch_trace")],
)
def test_the_part_is_of_the_whole_and_changes_nothing_of_it(
    shared: Path, tmp_path: Path, file: str, reader: str
) -> None:
    path = shared / file
    if path.is_dir():
        path = max(path.rglob("*.pt.trace.json*"), key=lambda p: p.stat().st_size)
    more = {"origin": "o"} if reader == "db_timeline" else {}
    parts: list[dict[str, list[tuple[Any, ...]]]] = []

    def look(tables: dict[str, Path], whole: bool) -> None:
        if not whole:
            assert set(tables) == set(TABLES)
            parts.append({table: rows(tables[table].parent, table) for table in tables})

    shown, plain = tmp_path / "shown", tmp_path / "plain"
    done: list[Ingested] = [
        ingest(job_for(path, reader, shown, **more), on_early=look),
        ingest(job_for(path, reader, plain, **more)),
    ]
    assert done[0].tables == done[1].tables
    assert done[0].notes == done[1].notes
    entries = [Cache(folder).entry("c", "f") for folder in (shown, plain)]
    for table in TABLES:
        assert rows(entries[0], table) == rows(entries[1], table)
    assert not list(shown.rglob("*.early"))

    assert parts
    if reader == "trace_view":
        assert len(parts) > 1
    # Numbers of tracks, depths and the ends of open slices may change; names, times and arguments not.
    whole = {(s[2], s[3], s[4], s[7]) for s in rows(entries[0], "slices")}
    for part in parts:
        assert {(s[2], s[3], s[4], s[7]) for s in part["slices"]} <= whole
    sizes = [len(part["slices"]) for part in parts]
    assert sizes == sorted(sizes)
    assert 0 < sizes[0] < len(whole)


def test_views_of_a_part(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(file_state, "LAZY_BYTES", 0)  # nothing is read by itself
    logdir = shared / "captures/text_level1"
    store = Store([Root(logdir)], Cache(tmp_path / "cache"), quiet_seconds=0.0, workers=1)
    store.rescan()
    try:
        (capture, _) = store.captures()
        state = next(
            s for s in store.files(capture.capture_id)
            if s.source.name == "trace_view.json" and "slices" in s.provides
        )  # fmt: skip
        state.state = "running"
        job = file_state.job_of(state, store.cache, "400MB", 2)
        seen: list[tuple[int, str | None]] = []

        def look(tables: dict[str, Path], whole: bool) -> None:
            assert not whole
            before = store.version
            named = {table: str(path) for table, path in tables.items()}
            store._on_event(job, {"event": "early", "tables": named, "whole": False})
            assert store.version > before, "pages ask again"
            sel = select(store, rank="0")
            view = timeline(sel)
            assert all(track.unread for track in view.tracks)
            assert sel.state(*TABLES)[0] == "ingesting"
            seen.append((sum(t.slices for t in view.tracks), view.base_ns))
            assert len(window(sel, Window(0, max(view.end, 1), 500))) > 100
            with pytest.raises(RequestError) as refused:
                detail(sel, "0.0")
            assert (refused.value.status, refused.value.code) == (404, "still-reading")

        done = ingest(job, on_early=look)
        store._on_event(job, {"event": "done", "result": done})
        sel = select(store, rank="0")
        view = timeline(sel)
        assert not any(track.unread for track in view.tracks)
        assert detail(sel, "0.0").name
        counts = [count for count, _ in seen] + [sum(t.slices for t in view.tracks)]
        assert len(counts) > 2
        assert counts == sorted(counts)
        assert counts[0] < counts[-1]
    finally:
        store.close()


def test_cancelling_takes_the_part_away(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_state, "LAZY_BYTES", 0)
    store = Store([Root(shared / "captures/text_level1")], Cache(tmp_path / "cache"), workers=1)
    store.rescan()
    try:
        state = next(
            s for s in store.files(store.captures()[0].capture_id) if "slices" in s.provides
        )
        job = file_state.job_of(state, store.cache, "400MB", 2)
        store._on_event(job, {"event": "early", "tables": {"slices": "x"}, "whole": False})
        assert state.so_far
        store._on_event(job, {"event": "cancelled"})
        assert not state.so_far
    finally:
        store.close()
