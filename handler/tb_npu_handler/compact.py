"""Make a finished capture small: text packed with gzip, raw data gone."""

from __future__ import annotations

import gzip
import os
import shutil
from typing import Any, Dict, List

from .retention import drop_raw
from .verify import OUTPUT

PACKED = (".json", ".csv")
SMALL = 64 * 1024


def compact(capture: str) -> Dict[str, Any]:
    """Pack the big text files of ``capture`` and delete its raw data.

    Returns ``{"format": "gzip", "files": [packed names], "freed_bytes": n}``.  A file is packed
    beside itself and replaced once whole.  Raises ``OSError``; what was done until then stays
    valid.
    """
    output = os.path.join(capture, OUTPUT)
    packed: List[str] = []
    freed = 0
    for name in sorted(os.listdir(output)):
        path = os.path.join(output, name)
        size = os.lstat(path).st_size
        if not name.endswith(PACKED) or size < SMALL or os.path.islink(path):
            continue
        pack(path, path + ".gz")
        freed += size - os.path.getsize(path + ".gz")
        packed.append(name + ".gz")
    freed += drop_raw(capture)
    return {"format": "gzip", "files": packed, "freed_bytes": freed}


def pack(source: str, target: str) -> None:
    """Write ``target`` = gzip of ``source`` at once, then delete it.  Raises ``OSError``."""
    folder, name = os.path.split(target)
    partial = os.path.join(folder, ".{}.{}.tmp".format(name[:180], os.getpid()))
    try:
        with open(source, "rb") as plain, gzip.open(partial, "wb", compresslevel=6) as packed:
            shutil.copyfileobj(plain, packed, 1 << 20)
        os.replace(partial, target)
    except BaseException:
        if os.path.exists(partial):
            os.unlink(partial)
        raise
    os.unlink(source)
