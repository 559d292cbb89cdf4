"""What the handler says to its user: single lines on standard error, never an exception."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """Write one line; a closed or broken standard error is not the job's problem."""
    try:
        sys.stderr.write("[tb-npu] {}\n".format(" ".join(text.split())))
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass


def reason_of(error: BaseException) -> str:
    """``error`` in one line: its type and message."""
    text = " ".join(str(error).split())
    return "{}: {}".format(type(error).__name__, text) if text else type(error).__name__
