"""Runs, recordings and captures of the logdir, with their state."""

from __future__ import annotations

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.ranges import Ranges
from tb_npu_plugin.backend.readers import SOURCES
from tb_npu_plugin.backend.recordings import Recording
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.wording import printable

MAX_STEPS = 20_000
#: Finding of a whole capture -> the word for its condition, the gravest first.
_CONDITIONS = {
    "permission-denied": "unreadable",
    "interrupted": "interrupted",
    "recording-failed": "failed",
    "raw-only": "raw",
    "analysis-incomplete": "incomplete",
    "msprof-only": "exported",
}


def condition(store: Store, capture: Capture) -> tuple[str, Note | None]:
    """How far a capture has come, in one word, and the finding that says so.

    ``analysed`` where nothing is wrong, ``trace`` for one of torch.profiler, ``growing`` while it is
    written; else by :data:`_CONDITIONS`.
    """
    if store.growing(capture.capture_id):
        return "growing", Note("growing")
    told = {note.code: note for note in reversed(capture.notes)}
    for code, word in _CONDITIONS.items():
        if code in told:
            return word, told[code]
    return "trace" if capture.torch else "analysed" if capture.analysed else "empty", None


def sources(store: Store, capture: Capture) -> list[str]:
    """The kinds of sources that a capture has files of, the preferred one first."""
    found = {state.kind for state in store.files(capture.capture_id) if not state.origin}
    return sorted(found, key=SOURCES.index)


def captures(store: Store) -> results.Captures:
    """Everything found, as far as it is known by now."""
    version = store.version
    return results.Captures(
        runs=[
            results.RunInfo(run, [_recording(store, run, r) for r in recordings])
            for run, recordings in store.runs.items()
        ],
        scanning=not store.scanned,
        searched=[printable(str(root.path)) for root in store.roots],
        version=version,
    )


def progress(store: Store) -> results.Progress:
    """What is being read now; bytes weigh the files."""
    jobs, done, total, busy = [], 0.0, 0, False
    for capture in store.captures():
        for state in store.files(capture.capture_id):
            pending = state.state in ("queued", "running")
            busy = busy or pending
            weight = max(1, state.source.bytes)
            if state.state != "waiting":
                total += weight
                done += weight * (state.progress if pending else 1.0)
            if state.state == "running":
                source = state.source
                jobs.append(
                    results.Job(
                        capture.capture_id,
                        _label(capture),
                        source.rel,
                        source.bytes,
                        state.progress,
                    )
                )
    growing = any(store.growing(c.capture_id) for c in store.captures())
    state_word = "scanning" if not store.scanned else "ingesting" if busy or growing else "idle"
    return results.Progress(store.version, state_word, done / total if total else 1.0, jobs)  # type: ignore[arg-type]


def _recording(store: Store, run: str, recording: Recording) -> results.RecordingInfo:
    infos = [_capture(store, c) for c in recording.captures]
    steps, devices = _steps_and_devices(store, run, recording)
    codes = {
        note.code
        for c in recording.captures
        for state in store.files(c.capture_id)
        for note in state.notes
    }
    return results.RecordingInfo(
        recording=recording.recording,
        label=recording.label,
        started_ns=None if recording.started_ns is None else str(recording.started_ns),
        ranks=[c.rank for c in recording.captures],
        world_size=recording.world_size or None,
        devices=devices,
        steps=steps,
        outside_steps=bool(codes & {"rows-outside-steps", "no-step-column", "steps-unmarked"}),
        captures=infos,
    )


def _label(capture: Capture) -> str:
    return f"Rank {capture.rank}" if capture.rank is not None else capture.worker


def _capture(store: Store, capture: Capture) -> results.CaptureInfo:
    every = store.files(capture.capture_id)
    # What is read only when a view asks is nothing that a capture waits for.
    states = [s for s in every if not (s.lazy and s.state == "waiting")]
    pending = [s for s in states if s.state in ("queued", "running", "waiting")]
    ready = [s for s in states if s.state == "ready"]
    weight = sum(max(1, s.source.bytes) for s in states)
    done = sum(max(1, s.source.bytes) * (1.0 if s not in pending else s.progress) for s in states)
    state: results.State
    if store.growing(capture.capture_id):
        state = "growing"
    elif not every:
        state = "empty"
    elif not states:
        state = "ready"
    elif any(s.state != "waiting" for s in pending):
        state = "ingesting"
    elif not ready and not pending:
        state = "failed"
    elif any(s.state == "failed" for s in states):
        state = "partial"
    else:
        state = "ready"
    return results.CaptureInfo(
        capture_id=capture.capture_id,
        name=capture.name,
        path=printable(str(capture.path)),
        worker=capture.worker,
        rank=capture.rank,
        devices=[],
        state=state,
        progress=done / weight if weight else 1.0,
        level=capture.info.level,
        bytes=capture.bytes,
        label=_label(capture),
    )


def _steps_and_devices(store: Store, run: str, recording: Recording) -> tuple[list[int], list[int]]:
    everything = Ranges("all")
    sel = Selected(store, run, recording, list(recording.captures), everything, everything)
    source = sel.source("steps") or sel.source("kernel_summary")
    if source is None:
        return [], []
    steps = f"SELECT DISTINCT step FROM {source} WHERE step IS NOT NULL ORDER BY 1"
    devices = f"SELECT DISTINCT device FROM {source} WHERE device IS NOT NULL ORDER BY 1"
    return [r[0] for r in sel.rows(f"{steps} LIMIT {MAX_STEPS}")], [r[0] for r in sel.rows(devices)]
