"""What is missing, broken or suspicious in the selected captures, and what to do."""

from __future__ import annotations

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.file_state import FileState
from tb_npu_plugin.backend.findings import Note, ordered, render
from tb_npu_plugin.backend.readers import reader_rank
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views import recorded
from tb_npu_plugin.backend.views.communication_groups import world_of_matrix

#: Findings about the columns of a table, which each of its slices raises.
_OF_TABLE = ("no-step-column", "level-too-low", "steps-unmarked")


def findings(sel: Selected, view: str | None = None) -> list[results.Finding]:
    """Findings of the selection; of one view only if ``view`` is given. Most severe first."""
    # While files are read, the findings of a thousand captures change faster than they can be asked for.
    patience = 10.0 if sel.store.reading(sel.captures) else 0.0
    found = sel.once("findings", sel.lang, make=lambda: _findings(sel), patience=patience)
    return [f for f in found if view is None or view in f.views]


def _findings(sel: Selected) -> list[results.Finding]:
    out: list[results.Finding] = []
    recorded_notes = recorded.of_captures(sel)
    for capture in sel.captures:
        notes = list(capture.notes)
        if sel.store.growing(capture.capture_id):
            notes.append(Note("growing"))
        states = sel.store.files(capture.capture_id)
        told: set[tuple[str, str]] = set()
        for state in states:
            notes.extend(
                n for n in state.notes
                if not _answered(n, capture, state, states) and not _told(n, state, told)
            )  # fmt: skip
        notes += recorded_notes[capture.capture_id]
        out += [
            render(n, sel.lang, capture.capture_id, capture.rank, capture.framework) for n in notes
        ]
    for note in (_missing_ranks(sel), *recorded.of_recording(sel)):
        if note:
            out.append(render(note, sel.lang, None, None))
    out += [render(note, sel.lang, None, None) for note in sel.store.stored.problems]
    if sel.store.cache.temporary:
        note = Note("cache-temporary", None, None, {"path": str(sel.store.cache.wanted)})
        out.append(render(note, sel.lang, None, None))
    return ordered(out)


def _told(note: Note, state: FileState, told: set[tuple[str, str]]) -> bool:
    """A note about a table as a whole, which another piece of it raised already."""
    if note.code not in _OF_TABLE:
        return False
    known = (note.code, state.reader) in told
    told.add((note.code, state.reader))
    return known


def _answered(note: Note, capture: Capture, state: FileState, states: list[FileState]) -> bool:
    """A note of one file that another file of the capture makes void.

    ``gives``: the table that the note says is missing, or is no more than a substitute for. A
    database's own note counts where the database is what would be shown.
    """
    gives = note.params.get("gives")
    if gives:
        order = [reader_rank(s.kind, s.reader) for s in (state, *states)]
        return any(
            s is not state and gives in (s.rows if s.stored else s.tables) and rank < order[0]
            for s, rank in zip(states, order[1:], strict=True)
        )
    return note.code == "communication-missing" and capture.file("communication.json") is not None


def _missing_ranks(sel: Selected) -> Note | None:
    captures = sel.recording.captures
    present = [c.rank for c in captures]
    world = sel.recording.world_size or world_of_matrix(sel) or 0
    missing = world - len({r for r in present if r is not None})
    if not world or missing <= 0 or None in present:
        return None
    return Note("ranks-missing", None, None,
                {"missing": missing, "world": world, "present": wording.ranks(present)})  # fmt: skip
