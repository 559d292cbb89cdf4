"""One call for a whole profiler with sane settings, and a switch for frameworks."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Tuple

from . import identity
from .handler import NpuHandler, npu_handler
from .say import reason_of, say

VARIABLE = "TB_NPU_PROFILE"
LEVELS = ("none", "0", "1", "2")
_FLAGS = ("shapes", "memory", "stack", "modules", "flops", "compact")
_NUMBERS = ("steps", "warmup", "skip_first", "wait", "repeat", "keep")


class NullProfile:
    """Stands in where nothing is to be recorded: does nothing, costs nothing."""

    step_num = 0

    def __enter__(self) -> "NullProfile":
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def start(self) -> None:
        """Does nothing."""

    def stop(self) -> None:
        """Does nothing."""

    def step(self) -> None:
        """Does nothing."""


def npu_profile(
    dir: Optional[str] = None,
    *,
    steps: int = 3,
    warmup: int = 1,
    skip_first: int = 10,
    wait: int = 0,
    repeat: int = 1,
    level: int = 1,
    shapes: bool = True,
    memory: bool = False,
    stack: bool = False,
    modules: bool = False,
    flops: bool = False,
    ranks: Optional[Tuple[int, ...]] = None,
    worker_name: Optional[str] = None,
    handler: Optional[NpuHandler] = None,
    **handler_options: Any,
) -> Any:
    """A profiler that records ``steps`` steps after ``skip_first + wait + warmup`` others.

    On an NPU it is ``torch_npu.profiler.profile`` at Level1 with PipeUtilization, elsewhere
    ``torch.profiler.profile``; both have ``start``, ``stop``, ``step`` and are context managers.
    ``ranks``: record on these ranks only.  Without ``dir`` the environment variable
    ``TB_NPU_PROFILE`` decides; if that is not set either, the result does nothing, so the call can
    stay in the code for good.  ``repeat=0`` records for ever.  Further arguments go to
    :func:`npu_handler`.  Raises ``ValueError`` for wrong arguments.

    >>> with npu_profile("runs/a", steps=3) as prof:
    ...     for batch in loader:
    ...         train(batch)
    ...         prof.step()
    """
    if dir is None:
        wanted = from_environment()
        return NullProfile() if wanted is None else npu_profile(worker_name=worker_name, **wanted)
    if steps < 1 or min(warmup, skip_first, wait, repeat) < 0:
        raise ValueError("steps must be at least 1; warmup, skip_first, wait, repeat not negative")
    if str(level) not in LEVELS:
        raise ValueError("level must be 0, 1, 2 or 'none', not {!r}".format(level))
    rank = identity.rank_of()
    if ranks is not None and (0 if rank is None else rank) not in ranks:
        return NullProfile()
    ready = handler or npu_handler(dir, worker_name, **handler_options)
    switches: Dict[str, Any] = {
        "record_shapes": shapes,
        "profile_memory": memory,
        "with_stack": stack,
        "with_modules": modules,
        "with_flops": flops,
        "on_trace_ready": ready,
    }
    window = {
        "wait": wait,
        "warmup": warmup,
        "active": steps,
        "repeat": repeat,
        "skip_first": skip_first,
    }
    if has_npu():
        return _npu(window, str(level), switches)
    return _torch(window, switches)


def has_npu() -> bool:
    """Whether torch_npu is there and sees a device.  Imports torch and torch_npu."""
    try:
        import torch
        import torch_npu.npu
        import torch_npu.profiler
    except Exception:  # not installed, or installed without its driver
        return False
    try:
        return bool(torch_npu.npu.is_available()) and hasattr(torch, "Tensor")
    except Exception:
        return False


def from_environment() -> Optional[Dict[str, Any]]:
    """The arguments in ``$TB_NPU_PROFILE``, or ``None`` when it is unset or not to be understood.

    ``runs/a;steps=3;level=1;skip_first=20;ranks=0,8;stack`` is a directory and then options; a name
    alone switches an option on.  A mistake is told in one line and records nothing: it must not
    stop a job.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text or text == "0":
        return None
    try:
        return parse(text)
    except ValueError as error:
        say("{}={}: {}; nothing is recorded".format(VARIABLE, text, reason_of(error)))
        return None


def parse(text: str) -> Dict[str, Any]:
    """Arguments of :func:`npu_profile` from ``DIR[;NAME[=VALUE]]...``.  Raises ``ValueError``."""
    directory, *parts = [part.strip() for part in text.split(";")]
    if not directory:
        raise ValueError("it must begin with a directory")
    wanted: Dict[str, Any] = {"dir": directory}
    for part in parts:
        name, has_value, value = part.partition("=")
        if not name:
            continue
        if name in _NUMBERS:
            wanted[name] = int(value)
        elif name in _FLAGS:
            wanted[name] = not has_value or value.lower() in ("1", "true", "yes", "on")
        elif name == "level" and value in LEVELS:
            wanted[name] = value
        elif name == "ranks":
            wanted[name] = tuple(_ranks(value))
        elif name in ("analyse", "worker_name"):
            wanted[name] = value
        elif name == "export":
            wanted[name] = tuple(value.split(","))
        else:
            raise ValueError("unknown option {!r}".format(part))
    return wanted


def _ranks(text: str) -> List[int]:
    found: List[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def _npu(window: Dict[str, int], level: str, switches: Dict[str, Any]) -> Any:
    from torch_npu import profiler

    levels = profiler.ProfilerLevel
    chosen = getattr(levels, "Level_none" if level == "none" else "Level" + level)
    detailed = level in ("1", "2")
    extra: Dict[str, Any] = {"profiler_level": chosen}
    if detailed:
        extra["aic_metrics"] = profiler.AiCMetrics.PipeUtilization
    activities = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU]
    return profiler.profile(
        activities=activities,
        schedule=profiler.schedule(**window),
        experimental_config=profiler._ExperimentalConfig(**extra),
        **switches,
    )


def _torch(window: Dict[str, int], switches: Dict[str, Any]) -> Any:
    from torch import profiler

    return profiler.profile(schedule=profiler.schedule(**window), **switches)
