"""Captures of shared stores as the store over a logdir lists them, without their raw files."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from tb_npu_plugin.backend import summaries
from tb_npu_plugin.backend.cache import Ingested
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.description import Description, StoredFile, Unknown, decode
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.file_state import FileState, file_key, state_of
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers import DERIVED, READERS, reader_name
from tb_npu_plugin.backend.shared_store import SharedStore, local_path, open_store

logger = logging.getLogger(__name__)

_READERS = {reader_name(reader): reader for reader in (*READERS, *DERIVED)}
#: The path of files that are not here.
_NOWHERE = Path()
#: A store behind a URL is listed again no sooner than after this time.
REMOTE_SECONDS = 30.0


@dataclass
class _Place:
    """One store: what it held when it was last looked at."""

    store: SharedStore
    name: str
    local: bool
    looked: float = float("-inf")
    versions: dict[str, str] = field(default_factory=dict)
    captures: dict[str, Description] = field(default_factory=dict)


class StoredCaptures:
    """The captures of any number of stores. Called by the scan, in one thread at a time."""

    def __init__(self) -> None:
        self.captures: list[Capture] = []
        self.problems: list[Note] = []
        self._places: dict[str, _Place] = {}
        self._by_path: dict[Path, tuple[_Place, Description]] = {}
        self._entries: dict[str, tuple[_Place, str, StoredFile]] = {}

    def look(self, places: dict[str, str]) -> bool:
        """List the stores again; whether anything changed. Never raises: what a store held stays
        known while it cannot be reached, and the problem is in :attr:`problems`.

        ``places``: directory or URL -> prefix of its runs, or empty.
        """
        problems: list[Note] = []
        changed = bool(self._places.keys() - places.keys())
        self._places = {p: known for p, known in self._places.items() if p in places}
        for place, name in places.items():
            try:
                known = self._places.get(place)
                if known is None:
                    store = open_store(place)
                    known = _Place(store, name, local_path(place) is not None)
                    self._places[place] = known
                changed = _list(known, problems) or changed
            except Exception as error:  # of whichever package speaks the store's protocol
                text = str(error) or type(error).__name__
                if isinstance(error, RequestError):
                    text = f"{error.message} {error.hint}"
                problems.append(Note("store-unreachable", None, None,
                                     {"store": place, "error": text[:300]}))  # fmt: skip
        for note in problems:
            if note not in self.problems:
                logger.warning("%(store)s: %(error)s", note.params)
        changed = changed or problems != self.problems
        self.problems = problems
        if changed:
            self._index()
        return changed

    def _index(self) -> None:
        self._by_path, self._entries, self.captures = {}, {}, []
        for place in self._places.values():
            for capture_id, description in place.captures.items():
                for file in description.files:
                    if file.done and not file.done.error:
                        self._entries.setdefault(file.fingerprint, (place, capture_id, file))
                capture = description.capture
                if capture.path in self._by_path:  # two stores hold it
                    continue
                self._by_path[capture.path] = place, description
                run = capture.run
                if place.name:
                    run = place.name if run == "." else f"{place.name}/{run}"
                self.captures.append(replace(capture, run=run, store=place.store.url))

    def states(self, capture: Capture) -> dict[str, FileState]:
        """The states of a capture's files; of one of :attr:`captures`."""
        place, description = self._by_path[capture.path]
        states: dict[str, FileState] = {}
        for file in description.files:
            reader = _READERS.get(file.reader)
            origin = states.get(file.source.rel) if file.origin else None
            if reader is None:  # of a later version
                continue
            state = state_of(capture, file.source, reader, origin, _NOWHERE)
            state.fingerprint = file.fingerprint
            if file.done is None:
                state.state, state.notes = "failed", [Note("not-in-store", file.source.rel)]
            elif file.version != summaries.version(reader):
                params = {"version": description.plugin}
                note = Note("store-outdated", file.source.rel, None, params)
                state.state, state.notes = "failed", [note]
            elif file.done.error or not file.done.tables:
                state.state, state.notes = "failed", list(file.done.notes)
            else:
                entry = place.store.entry(description.capture.capture_id, file.fingerprint)
                _take(state, file.done, entry, local=place.local)
            states[file_key(file.source.rel, file.reader, bool(file.origin))] = state
        return states

    def fill(self, state: FileState) -> None:
        """Let the state of a file that is not in the cache take what a store holds of it."""
        found = self._entries.get(state.fingerprint)
        if found:
            place, capture_id, file = found
            if file.done and file.done.tables:
                entry = place.store.entry(capture_id, file.fingerprint)
                _take(state, file.done, entry, local=place.local)


def stores_of(found: list[tuple[Path, str]]) -> dict[str, str]:
    """The stores that a logdir holds, and that of $TB_NPU_STORE, as :meth:`look` takes them."""
    places = {str(path): name for path, name in found}
    told = os.environ.get("TB_NPU_STORE")
    if told:
        local = local_path(told)
        places.setdefault(str(local) if local else told, "")
    return places


def _take(state: FileState, done: Ingested, entry: str, *, local: bool) -> None:
    """In place where the entry lies in a directory, else when a view asks for its tables."""
    state.store, state.rows, state.notes = entry, dict(done.tables), list(done.notes)
    if local:
        folder = Path(entry)
        state.tables = {table: folder / f"{table}.parquet" for table in done.tables}
        state.state, state.progress = "ready", 1.0
    else:
        state.state, state.lazy, state.provides = "waiting", True, tuple(done.tables)


def _list(place: _Place, problems: list[Note]) -> bool:
    """Read the descriptions that are new or changed; whether there are any, or some are gone."""
    now = time.monotonic()
    if not place.local and now - place.looked < REMOTE_SECONDS:
        return False
    versions = place.store.listing()
    place.looked = now
    wanted = [c for c, version in versions.items() if place.versions.get(c) != version]
    gone = place.captures.keys() - versions.keys()
    for capture_id in gone:
        del place.captures[capture_id]
    place.versions = {c: v for c, v in place.versions.items() if c in versions}
    for capture_id, data in place.store.read(wanted).items():
        try:
            place.captures[capture_id] = decode(data)
        except Unknown as error:  # half of it, where the filesystem renames nothing: next time
            problems.append(Note("store-unreachable", None, None,
                                 {"store": place.store.url, "error": f"{capture_id}: {error}"}))  # fmt: skip
            continue
        place.versions[capture_id] = versions[capture_id]
    return bool(wanted or gone)
