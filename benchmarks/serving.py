"""TensorBoard as a process: start it on a logdir, ask it, weigh it, stop it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

PLUGIN = "data/plugin/npu_profiler/"


@dataclass
class Server:
    """A running TensorBoard. ``started``: monotonic time of its process start."""

    process: subprocess.Popen[bytes]
    url: str
    started: float
    peak_pss: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    def age(self) -> float:
        """Seconds since the process started."""
        return time.monotonic() - self.started

    def get(self, route: str, timeout: float = 30.0) -> tuple[bytes, float]:
        """(body, seconds) of a plugin route."""
        began = time.perf_counter()
        with urllib.request.urlopen(self.url + PLUGIN + route, timeout=timeout) as reply:
            body = reply.read()
        return body, time.perf_counter() - began

    def json(self, route: str) -> Any:
        return json.loads(self.get(route)[0])

    def listing(self) -> float:
        """Seconds that TensorBoard's plugin listing took."""
        began = time.perf_counter()
        with urllib.request.urlopen(self.url + "data/plugins_listing", timeout=30) as reply:
            reply.read()
        return time.perf_counter() - began

    def wait(self, ready: Any, timeout: float = 300.0) -> float:
        """Seconds since process start at which ``ready(self)`` first held."""
        while self.age() < timeout:
            try:
                if ready(self):
                    return self.age()
            except OSError:
                pass
            time.sleep(0.02)
        raise TimeoutError(f"not ready after {timeout} s")

    def _weigh(self) -> None:
        while not self._stop.wait(0.1):
            self.peak_pss = max(self.peak_pss, tree_bytes(self.process.pid))


def tree_bytes(pid: int) -> int:
    """Memory of a process and all below it (PSS); what ended meanwhile counts as nothing."""
    total = 0
    with suppress(psutil.Error):
        main = psutil.Process(pid)
        for each in (main, *main.children(recursive=True)):
            with suppress(psutil.Error):
                total += each.memory_full_info().pss
    return total


@contextmanager
def tensorboard(logdir: Path, cache: Path, *flags: str) -> Iterator[Server]:
    """TensorBoard on 127.0.0.1; stopped at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "127.0.0.1",
         "--port", str(port), "--npu_cache", str(cache), *flags],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    server = Server(process, f"http://127.0.0.1:{port}/", started)
    weigher = threading.Thread(target=server._weigh, daemon=True)
    weigher.start()
    try:
        yield server
    finally:
        server._stop.set()
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        weigher.join(timeout=2)


def percentile(values: list[float], p: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * p))]
