"""Start the detached process that works on a finished recording.

It leads a session of its own, so Ctrl-C and the trainer's end do not reach it; it holds none of
the job's open files or devices, and nobody waits for it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Dict, List, Mapping

# Left out of the analysis: they would make a second profiler start in it, or pin it to the job's
# cores.
DROPPED = (
    "TB_NPU_PROFILE",
    "PROF_CONFIG_PATH",
    "MSMONITOR_USE_DAEMON",
    "KINETO_USE_DAEMON",
    "PROFILING_MODE",
    "PROFILER_SAMPLECONFIG",
    "OMP_PROC_BIND",
    "KMP_AFFINITY",
    "GOMP_CPU_AFFINITY",
)
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

_started: List["subprocess.Popen[bytes]"] = []


def environment() -> Dict[str, str]:
    """The environment of the detached process: the job's, less what would disturb either."""
    env = {key: value for key, value in os.environ.items() if key not in DROPPED}
    env.update(dict.fromkeys(ONE_THREAD, "1"))
    package_parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inherited = [
        os.path.abspath(part) for part in env.get("PYTHONPATH", "").split(os.pathsep) if part
    ]
    env["PYTHONPATH"] = os.pathsep.join(inherited + [package_parent])
    return env


def command(module: str, argument: str) -> List[str]:
    """``python -m tb_npu_handler.<module>`` with ``$TB_NPU_PYTHON`` or this interpreter."""
    return [
        os.environ.get("TB_NPU_PYTHON") or sys.executable or "python3",
        "-m",
        "tb_npu_handler." + module,
        argument,
    ]


def start(job: Mapping[str, Any], log: str) -> "subprocess.Popen[bytes]":
    """Start the worker on ``job``; its own messages go to the file ``log``.  Raises ``OSError``."""
    reap()
    try:
        output: Any = open(log, "ab")
    except OSError:
        output = open(os.devnull, "ab")
    with output:
        process = subprocess.Popen(
            command("worker", json.dumps(job)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env=environment(),
            start_new_session=True,
            close_fds=True,
        )
    _started.append(process)
    return process


def reap() -> None:
    """Collect workers that have ended, so that none stays a zombie."""
    _started[:] = [process for process in _started if process.poll() is None]


def let_go() -> None:
    """Forget running workers at exit without a complaint from their Python objects."""
    reap()
    for process in _started:
        process.returncode = 0
    _started.clear()
