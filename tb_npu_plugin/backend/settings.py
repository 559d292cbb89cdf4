"""How much of the machine reading may take: processes and memory, from the environment."""

from __future__ import annotations

import logging
import os
import re

logger = logging.getLogger(__name__)

#: For queries, and for each of many reading processes.
DEFAULT_MEMORY = "400MB"
#: For each of one or two: below 800 MB DuckDB writes Parquet with one core. It takes some 550 MB.
FEW_WORKERS_MEMORY = "800MB"
FEW_WORKERS = 2
_MEMORY = re.compile(r"^\d+(\.\d+)?\s*([KMGT]i?)?B$", re.IGNORECASE)


def workers() -> int:
    """$TB_NPU_WORKERS; 0 where it is not set or no number."""
    wanted = os.environ.get("TB_NPU_WORKERS", "")
    if wanted and not wanted.isdecimal():
        logger.warning("TB_NPU_WORKERS=%s is no number; it is ignored", wanted)
    return int(wanted) if wanted.isdecimal() else 0


def ingest_memory(wanted: str, workers: int) -> str:
    """The memory limit of a reading process; ``wanted``: what the user asked for, or empty."""
    if wanted:
        return memory(wanted)
    return FEW_WORKERS_MEMORY if workers <= FEW_WORKERS else DEFAULT_MEMORY


def memory(wanted: str) -> str:
    """A size as the database takes it."""
    if _MEMORY.match(wanted.strip()):
        return wanted.strip()
    logger.warning("%r is no memory size such as 400MB; %s is used", wanted, DEFAULT_MEMORY)
    return DEFAULT_MEMORY
