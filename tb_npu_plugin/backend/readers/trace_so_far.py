"""When a trace is shown before it is read in full."""

from __future__ import annotations

#: Bytes of text after which a trace is shown for the first time: about half a second of reading.
FIRST_BYTES = 24 << 20
#: It is shown again when it is this many times larger, so that sorting what is not all costs
#: a seventh of sorting everything, at most.
GROWTH = 8


class SoFar:
    """Tells when so much was read that what is there is worth showing (again)."""

    def __init__(self) -> None:
        self._due: float = FIRST_BYTES

    def is_due(self, read: int) -> bool:
        """``read``: bytes of text so far. True once for each time."""
        due = read >= self._due
        if due:
            self._due = read * GROWTH
        return due
