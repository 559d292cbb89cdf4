"""The processes that a server or a command reads files in."""

from __future__ import annotations

import contextlib

import psutil


def workers_of(pid: int) -> list[psutil.Process]:
    """The living worker processes below ``pid``."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            living = child.status() != psutil.STATUS_ZOMBIE
            if living and "backend.worker" in " ".join(child.cmdline()):
                found.append(child)
    return found
