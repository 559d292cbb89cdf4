"""Run a command under limits: time, memory of its whole session, free space on its disk."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import Callable, List, Mapping, Optional

POLL_S = 0.2
OUTPUT_LIMIT = 200_000


@dataclass(frozen=True)
class Limits:
    """``timeout_s`` in seconds; ``memory_bytes`` resident, ``free_bytes`` to stay free on
    ``folder``'s disk; ``None`` = no limit.
    """

    timeout_s: float
    memory_bytes: Optional[int] = None
    free_bytes: Optional[int] = None
    folder: str = "/"


@dataclass(frozen=True)
class Outcome:
    """``code``: exit code (negative: signal); ``stopped``: which limit ended it (``timeout``,
    ``memory``, ``disk``) or ``None``; ``output``: what it printed, its last part where that was
    long.
    """

    code: int
    stopped: Optional[str]
    output: str
    seconds: float


def run(
    command: List[str],
    limits: Limits,
    env: Optional[Mapping[str, str]] = None,
    beat: Callable[[], None] = lambda: None,
) -> Outcome:
    """Run ``command`` to its end or to a limit; its whole process group is ended at a limit."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=None if env is None else dict(env),
            start_new_session=True,
        )
        stopped = None
        next_look = began
        while process.poll() is None:
            now = time.monotonic()
            if now - began > limits.timeout_s:
                stopped = "timeout"
            elif now >= next_look:
                next_look = now + 1.0
                beat()
                stopped = _over(process.pid, limits)
            if stopped:
                end_group(process)
                break
            time.sleep(POLL_S)
        code = process.wait()
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - OUTPUT_LIMIT))
        text = output.read().decode("utf-8", "replace")
    return Outcome(code, stopped, text, time.monotonic() - began)


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a child that leads its own process group, and the group: first asked, then forced."""
    for kind, patience in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 10.0)):
        try:
            os.killpg(process.pid, kind)
        except ProcessLookupError:
            return
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def resident_bytes(session: int) -> int:
    """Resident memory of all processes of a session, in bytes; 0 where ``/proc`` is not there."""
    total = 0
    page = os.sysconf("SC_PAGE_SIZE")
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if not name.isdigit():
            continue
        try:
            with open("/proc/{}/stat".format(name), encoding="ascii", errors="replace") as stream:
                fields = stream.read().rpartition(")")[2].split()
        except OSError:
            continue
        if len(fields) > 21 and int(fields[3]) == session:
            total += int(fields[21]) * page
    return total


def memory_limit() -> Optional[int]:
    """``$TB_NPU_MEMORY_GB``, else half of what the host or container has left, at least 1 GiB."""
    wanted = os.environ.get("TB_NPU_MEMORY_GB", "")
    try:
        if float(wanted) > 0:
            return int(float(wanted) * 1e9)
    except ValueError:
        pass
    left = [value for value in (_host_available(), _container_available()) if value is not None]
    return max(min(left) // 2, 1 << 30) if left else None


def be_humble() -> None:
    """Lowest priority (``$TB_NPU_NICE``, default 19), and first to go when the host is out of
    memory.
    """
    try:
        os.nice(int(os.environ.get("TB_NPU_NICE", "19")))
    except (OSError, ValueError):
        pass
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
            stream.write("900")
    except OSError:
        pass


def _over(pid: int, limits: Limits) -> Optional[str]:
    if limits.memory_bytes is not None and resident_bytes(pid) > limits.memory_bytes:
        return "memory"
    if limits.free_bytes is not None:
        try:
            if shutil.disk_usage(limits.folder).free < limits.free_bytes:
                return "disk"
        except OSError:
            return None
    return None


def _host_available() -> Optional[int]:
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:
            for line in stream:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _container_available() -> Optional[int]:
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        try:
            with open(limit, encoding="ascii") as first, open(used, encoding="ascii") as second:
                room = int(first.read()) - int(second.read())
        except (OSError, ValueError):
            continue
        return max(room, 0)
    return None
