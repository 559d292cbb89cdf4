"""What a captured window costs the training thread: torch_npu's own handler and ours, side by side.

    python benchmarks/handler_overhead.py [--windows 10] [--layers 8] [--json FILE]

Run it with an interpreter that has torch and torch_npu; without an NPU, on the stub that
``tests/handler/npu_venv.py`` builds (``LD_LIBRARY_PATH`` on it).  Each way runs in a process of its
own, and a window is two recorded steps.  Medians in milliseconds:

callback  the handler's call: all that it adds to the training thread beyond torch_npu's own stop
worst     the longest of them
stop      the whole ``prof.step()`` that ends the window
start     ``prof.start()``, where our handler leaves its first manifest
loop      the mean step in the two seconds after a window, while a background analysis runs

The ways:

none         the recording only; nothing is called when it is ready
raw          torch_npu's handler, analyse_flag=False
stock        torch_npu's handler as it comes: it analyses in the training thread
stock-async  torch_npu's handler, async_mode=True: it analyses in a forked pool
ours         npu_handler as it comes: it analyses in a detached process
ours-never   npu_handler, analyse="never"

What else the machine does shows in the difference between the two runs of ``none``.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WAYS = ("none", "raw", "stock", "stock-async", "ours", "ours-never", "none")


def callback(way: str, folder: str) -> Any:
    from torch_npu import profiler

    if way == "none":
        profiler.tensorboard_trace_handler(folder)
        return lambda prof: None
    if way.startswith("ours"):
        sys.path.insert(0, str(ROOT / "handler"))
        from tb_npu_handler import npu_handler

        analyse = "never" if way == "ours-never" else "background"
        return npu_handler(folder, analyse=analyse, min_free_gb=0.1)
    if way == "stock-async":
        return profiler.tensorboard_trace_handler(folder, async_mode=True)
    return profiler.tensorboard_trace_handler(folder, analyse_flag=way != "raw")


def measure(way: str, windows: int, layers: int) -> dict[str, list[float]]:
    """Milliseconds of each window's callback, last ``step()`` and ``start()``, and of the steps after it."""
    import torch
    from torch_npu import profiler

    folder = tempfile.mkdtemp(prefix="handler-overhead-")
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(layers)])
    handler = callback(way, folder)
    taken: dict[str, list[float]] = {"callback": [], "stop": [], "start": [], "loop": []}

    def timed(prof: Any) -> None:
        began = time.perf_counter()
        handler(prof)
        taken["callback"].append((time.perf_counter() - began) * 1e3)

    try:
        for _ in range(windows):
            prof = profiler.profile(
                activities=[profiler.ProfilerActivity.CPU],
                schedule=profiler.schedule(wait=0, warmup=1, active=2, repeat=1),
                on_trace_ready=timed,
                record_shapes=True,
            )
            began = time.perf_counter()
            prof.start()
            taken["start"].append((time.perf_counter() - began) * 1e3)
            for _ in range(3):
                model(torch.randn(64, 64)).sum().backward()
                began = time.perf_counter()
                prof.step()
                last = time.perf_counter() - began
            taken["stop"].append(last * 1e3)
            end = time.monotonic() + 2
            while time.monotonic() < end:
                began = time.perf_counter()
                model(torch.randn(64, 64)).sum().backward()
                taken["loop"].append((time.perf_counter() - began) * 1e3)
            prof.stop()
            if hasattr(handler, "wait"):
                handler.wait(120)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return taken


def run(way: str, windows: int, layers: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", way]
    command += ["--windows", str(windows), "--layers", str(layers)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=dict(os.environ), check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    found = json.loads(done.stdout.rpartition("RESULT ")[2])
    return {
        "way": way,
        "windows": len(found["stop"]),
        "callback_ms": round(statistics.median(found["callback"]), 2),
        "callback_worst_ms": round(max(found["callback"]), 2),
        "stop_ms": round(statistics.median(found["stop"]), 1),
        "start_ms": round(statistics.median(found["start"]), 1),
        "loop_ms": round(statistics.fmean(found["loop"]), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--windows", type=int, default=10)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--json", type=Path, help="write the rows there too")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print("RESULT " + json.dumps(measure(args.one, args.windows, args.layers)))
        return
    rows = []
    keys = ("callback_ms", "callback_worst_ms", "stop_ms", "start_ms", "loop_ms")
    print(
        "{:<12}{:>10}{:>10}{:>9}{:>9}{:>9}".format(
            "way", "callback", "worst", *("stop", "start", "loop")
        )
    )
    for way in WAYS:
        row = run(way, args.windows, args.layers)
        rows.append(row)
        shown = [row[key] for key in keys]
        print("{:<12}{:>10}{:>10}{:>9}{:>9}{:>9}".format(way, *shown), flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
