"""Run scripts in processes that have torch and torch_npu imported already.

Importing torch_npu takes seconds, and the tests run dozens of scripts.  This process imports it once and
then forks for each script, as a training job's own workers are forked.  It reads one JSON object a line,
``{"script", "args", "env", "cwd", "out", "limit_s"}``, and answers with ``EXIT`` and the exit code
(negative: signal).
"""

import json
import os
import runpy
import signal
import sys
import time
from pathlib import Path

import torch  # noqa: F401
import torch_npu  # noqa: F401


def serve() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            become(order)
            return
        print("EXIT {}".format(outcome(child, order["limit_s"])), flush=True)


def become(order: "dict[str, object]") -> None:
    """In the child: take on the order's surroundings and run its script to its normal end."""
    os.environ.clear()
    os.environ.update(order["env"])  # type: ignore[call-overload]
    os.chdir(str(order["cwd"]))
    target = os.open(str(order["out"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(target, 1)
    os.dup2(target, 2)
    sys.argv = [str(order["script"]), *order["args"]]  # type: ignore[misc]
    sys.path[0] = str(Path(str(order["script"])).parent)
    runpy.run_path(str(order["script"]), run_name="__main__")


def outcome(child: int, limit_s: float) -> int:
    end = time.monotonic() + limit_s
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -signal.SIGALRM
        time.sleep(0.01)


if __name__ == "__main__":
    serve()
