"""How much of the machine reading may take: processes and memory, from the environment."""

from __future__ import annotations

import logging
import os
import re

logger = logging.getLogger(__name__)

DEFAULT_MEMORY = "400MB"
_MEMORY = re.compile(r"^\d+(\.\d+)?\s*([KMGT]i?)?B$", re.IGNORECASE)


def workers() -> int:
    """$TB_NPU_WORKERS; 0 where it is not set or no number."""
    wanted = os.environ.get("TB_NPU_WORKERS", "")
    if wanted and not wanted.isdecimal():
        logger.warning("TB_NPU_WORKERS=%s is no number; it is ignored", wanted)
    return int(wanted) if wanted.isdecimal() else 0


def memory(wanted: str) -> str:
    """A size as the database takes it."""
    if _MEMORY.match(wanted.strip()):
        return wanted.strip()
    logger.warning("%r is no memory size such as 400MB; %s is used", wanted, DEFAULT_MEMORY)
    return DEFAULT_MEMORY
