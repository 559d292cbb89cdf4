"""What is asked first of a recording of many ranks, asked ahead: as soon as its files are read, so that
nobody waits while they are folded (:mod:`folds`)."""

from __future__ import annotations

import logging
import threading

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.folds import LEAST_PIECES
from tb_npu_plugin.backend.store import Store

logger = logging.getLogger(__name__)

#: Between two looks at whether there is anything new.
SECONDS = 3.0
#: (view, grouping), in the order in which people ask.
_FIRST = (
    ("overview", ""), ("health", ""), ("ranks", ""), ("step", ""), ("kernel", "type"),
    ("communication", "matrix"), ("operator", "name"), ("memory", ""),
)  # fmt: skip


def start(store: Store) -> None:
    """Ask in a background thread until the store is closed."""
    threading.Thread(target=_loop, args=(store,), name="npu-ahead", daemon=True).start()


def _loop(store: Store) -> None:
    asked = -1
    while not store.closed(SECONDS):
        version = store.version
        if version != asked and store.scanned and not store.reading(store.captures()):
            asked = version
            ask(store)


def ask(store: Store) -> int:
    """Ask about the newest recording of each run, where it is of many captures; returns how often."""
    # These imports are the views' own: not before they are needed.
    from tb_npu_plugin.backend.selection import select
    from tb_npu_plugin.backend.tables import TableRequest
    from tb_npu_plugin.backend.views.registry import VIEWS

    count = 0
    for run, recordings in store.runs.items():
        if len(recordings[0].captures) < LEAST_PIECES:
            continue
        for view, group in _FIRST:
            try:
                sel = select(store, run=run, recording=recordings[0].recording)
                if not store.closed(0.0) and sel.settled(*VIEWS[view].tables):
                    VIEWS[view].run(sel, TableRequest(group=group))
                    count += 1
            except (RequestError, OSError):  # gone meanwhile
                break
            except Exception:
                if not store.closed(0.0):
                    logger.exception("%s of %s cannot be made ahead", view, run)
    return count
