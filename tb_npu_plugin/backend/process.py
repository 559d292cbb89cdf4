"""Starting a worker process. Standard library only: the server starts one before it imports more."""

from __future__ import annotations

import os
import subprocess
import sys

#: Not ``-m``, which would let a ``queue.py`` in the working directory stand in for Python's own.
_RUN = (
    "import sys; sys.path = [p for p in sys.path if p]; "
    "from tb_npu_plugin.backend.worker import main; sys.exit(main())"
)


def start_worker() -> subprocess.Popen[bytes]:
    """A process that takes jobs on its stdin and ends when that is closed (see worker.py)."""
    return subprocess.Popen(
        [sys.executable, "-c", _RUN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
