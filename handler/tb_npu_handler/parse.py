"""Run torch_npu's own analysis on one capture, in a process of its own.

``python -m tb_npu_handler.parse '{"capture": DIR, "export": ["text"] or null}'``; torch_npu
swallows its parsers' exceptions, so the exit code says little: the caller looks at the files and
messages.
"""

from __future__ import annotations

import inspect
import json
import sys
from typing import Any, Dict


def main() -> int:
    job: Dict[str, Any] = json.loads(sys.argv[1])
    from torch_npu.profiler.profiler import (  # type: ignore[import-not-found,unused-ignore]
        analyse,
    )

    wanted: Dict[str, Any] = {"max_process_number": 1}
    if job.get("export"):
        if "export_type" in inspect.signature(analyse).parameters:
            wanted["export_type"] = list(job["export"])
        else:
            print("[WARNING] this torch_npu cannot choose the export; the recorded one is used")
    analyse(job["capture"], **wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
