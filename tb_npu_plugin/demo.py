"""The demo: a generated 8-rank logdir, served by TensorBoard on 127.0.0.1."""

from __future__ import annotations

import getpass
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from tb_npu_plugin.sample import write_sample

START_SECONDS = 60
RANKS, STEPS, KERNELS = 8, 4, 400


def serve(port: int, seconds: float | None, logdir: Path | None) -> int:
    """Write the samples (unless they are there), start TensorBoard, print where to look.

    Runs until Ctrl-C, or for ``seconds``. Returns the exit code: 1 if TensorBoard did not start.
    """
    logdir = logdir or Path(tempfile.gettempdir()) / f"tb-npu-demo-{os.getuid()}"
    job = logdir / "transformer-ddp"
    if not job.exists():
        print(f"Writing a sample job of {RANKS} ranks to {job} …", flush=True)
        part = job.with_name(f".{job.name}.part{os.getpid()}")
        write_sample(part, ranks=RANKS, steps=STEPS, kernels_per_step=KERNELS, level=1, seed=7)
        part.rename(job)
    port = _free_port(port)
    process = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir),
         "--host", "127.0.0.1", "--port", str(port)],
    )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}/"
        if not _answers(process, url):
            print("TensorBoard did not start; its output above says why.", file=sys.stderr)
            return 1
        host = socket.gethostname()
        print(f"\nThe Ascend NPU tab: {url}#npu_profiler")
        print("From another machine, through SSH:")
        print(f"  ssh -N -L {port}:127.0.0.1:{port} {getpass.getuser()}@{host}")
        print("Stop with Ctrl-C." if seconds is None else f"Stops after {seconds:g} s.", flush=True)
        process.wait(timeout=seconds)
        return process.returncode
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        return 0
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port(port: int) -> int:
    """``port`` if it is free on 127.0.0.1, else one that is."""
    for wanted in (port, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    return port


def _answers(process: subprocess.Popen[bytes], url: str) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url + "data/plugins_listing", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    return False
