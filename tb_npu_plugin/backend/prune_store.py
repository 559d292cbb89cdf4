"""What nothing names any more in a shared store: entries of earlier versions, of files that changed, and
of tasks that died."""

from __future__ import annotations

import time

from tb_npu_plugin.backend.description import Unknown, decode
from tb_npu_plugin.backend.folds import HOME
from tb_npu_plugin.backend.shared_store import SharedStore, StoredEntry

#: Entries that are younger may be of a capture that is just being read, and not described yet.
HOURS = 24.0


def unused(store: SharedStore, hours: float = HOURS) -> list[StoredEntry]:
    """Entries that no description names and that were written more than ``hours`` ago.

    Captures whose description is of a later version are left alone. Raises OSError where the store
    cannot be reached or is none.
    """
    before = time.time() - hours * 3600
    # Entries first: what is described meanwhile is then named.
    entries = [e for e in store.entries() if e.written < before and e.capture_id != HOME]
    named: dict[str, set[str] | None] = {}
    for capture_id, data in store.read(store.listing()).items():
        try:
            named[capture_id] = {file.fingerprint for file in decode(data).files}
        except Unknown:
            named[capture_id] = None
    return [
        e
        for e in entries
        if (names := named.get(e.capture_id, set())) is not None and e.fingerprint not in names
    ]
