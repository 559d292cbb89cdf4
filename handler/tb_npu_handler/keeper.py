"""The one who holds a capture's manifest while there is work on it."""

from __future__ import annotations

import threading
from typing import Any

from . import manifest
from .say import reason_of


class Keeper:
    """Holds a capture's manifest and keeps it fresh while the work goes on."""

    def __init__(self, capture: str, record: manifest.Manifest) -> None:
        self.capture, self.record = capture, record
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def update(self, **fields: Any) -> None:
        """Change fields and write; a disk that is full at the moment costs the write only."""
        with self._lock:
            self.record.update(fields)
            try:
                manifest.write(self.capture, self.record)
            except OSError as error:
                print("manifest not written: " + reason_of(error))

    def finish(self) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()

    def _renew(self) -> None:
        while not self._done.wait(manifest.HEARTBEAT_S):
            self.update()
