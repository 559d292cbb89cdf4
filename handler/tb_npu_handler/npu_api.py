"""Every touch of torch_npu's internals, in one place.

torch_npu decides where a capture goes in a process-wide singleton, at the moment a profiler starts
to record.  A small hook there lets the handler name the directory after the profiler that is
starting (not after the handler made last) and leave a manifest from the first moment on.  Each
access is guarded: with a torch_npu that works differently the capture still comes, without the
manifest of its recording phase.
"""

from __future__ import annotations

import re
import sys
import time
from typing import Any, Callable, Dict, Optional

# What to do about the capture directory that a profiler is about to make: where it goes, or None to
# keep out of it.  The profiler is UNKNOWN where it could not be found.
Plan = Callable[[Any], Optional["Placement"]]


class Placement:
    """Where the next capture goes, and whom to tell its directory (``False`` = make another)."""

    def __init__(self, folder: str, worker: str, made: Callable[[str], bool]) -> None:
        self.folder, self.worker, self.made = folder, worker, made


UNKNOWN = object()


def is_npu_profiler(prof: Any) -> bool:
    """Whether ``prof`` comes from torch_npu: its ``profile``, or (6.0.rc lines) its interface."""
    face = interface(prof)
    return hasattr(face, "prof_path") and hasattr(face, "analyse")


def interface(prof: Any) -> Any:
    return getattr(prof, "prof_if", prof)


def path_creator() -> Optional[Any]:
    """torch_npu's path singleton, when torch_npu has been imported by the job."""
    if getattr(sys.modules.get("torch_npu"), "profiler", None) is None:
        return None
    try:
        from torch_npu.profiler._profiler_path_creator import (  # type: ignore[import-not-found,unused-ignore]
            ProfPathCreator,
        )
    except ImportError:
        return None
    return ProfPathCreator()


def accepts(folder: str) -> Optional[str]:
    """Why torch_npu would refuse to record below ``folder``; ``None`` when it would not."""
    creator = path_creator()
    if creator is None:
        return None
    try:
        creator.init(worker_name=None, dir_name=folder)
    except Exception as error:  # whatever it raises, another folder is used
        return str(error) or type(error).__name__
    return None


def hook(plan: Plan) -> bool:
    """Ask ``plan`` whenever torch_npu makes a capture directory; ``False`` where that is not
    possible.
    """
    creator = path_creator()
    original = getattr(creator, "create_prof_dir", None)
    if creator is None or original is None:
        return False
    if getattr(creator, "_tb_npu_plan", None) is not None:
        creator._tb_npu_plan = plan
        return True

    def create_prof_dir() -> None:
        _create(creator, original)

    creator._tb_npu_plan = plan
    creator.create_prof_dir = create_prof_dir
    return True


def _create(creator: Any, original: Callable[[], None]) -> None:
    placement: Optional[Placement] = None
    try:
        placement = creator._tb_npu_plan(_starting_profiler())
        if placement is not None:
            creator.init(worker_name=placement.worker, dir_name=placement.folder)
    except Exception:  # the recording matters more than where it is written
        placement = None
    original()
    if placement is None:
        return
    for _ in range(5):
        try:
            if placement.made(str(creator.get_prof_dir())):
                return
        except Exception:
            return
        time.sleep(0.002)
        original()


def _starting_profiler() -> Any:
    """The profiler that is starting: found on the stack by its ``on_trace_ready``, else
    ``UNKNOWN``.
    """
    frame: Any = sys._getframe(1)
    for _ in range(16):
        frame = frame.f_back
        if frame is None:
            break
        owner = frame.f_locals.get("self")
        # By its own attributes only: a foreign object's __getattr__ may do anything.
        known = getattr(owner, "__dict__", None)
        if isinstance(known, dict) and "on_trace_ready" in known and "step_num" in known:
            return owner
    return UNKNOWN


def clocks() -> Dict[str, Any]:
    """Both host clocks and torch_npu's counter at one moment: enough to date raw data later."""
    found: Dict[str, Any] = {"epoch_ns": time.time_ns(), "monotonic_ns": time.monotonic_ns()}
    try:
        from torch_npu._C import _profiler as native  # type: ignore[import-not-found,unused-ignore]

        found["syscnt_enable"] = bool(native._get_syscnt_enable())
        if found["syscnt_enable"]:
            found["freq"] = native._get_freq()
            found["start_cnt"] = native._get_syscnt()
        found["start_monotonic"] = native._get_monotonic()
    except Exception:  # older lines keep no counter; the two clocks are there
        pass
    return found


def epoch_ns(monotonic_ns: Any) -> Optional[int]:
    """A moment of torch_npu's monotonic clock as epoch time, the way its own files have it."""
    if not isinstance(monotonic_ns, int) or monotonic_ns <= 0:
        return None
    return monotonic_ns + time.time_ns() - time.monotonic_ns()


def settings(prof: Any) -> Dict[str, Any]:
    """The profiler's settings as torch_npu names them in ``profiler_info.json`` (plain values
    only).
    """
    face = interface(prof)
    common: Dict[str, Any] = {}
    activities = getattr(face, "activities", None)
    if activities is not None:
        common["activities"] = sorted(str(activity) for activity in activities)
    for name in ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"):
        if hasattr(face, name):
            common[name] = bool(getattr(face, name))
    common["schedule"] = _plain(vars(getattr(face, "schedule", None))) if _has_vars(face) else {}
    extra = getattr(face, "experimental_config", None)
    return {
        "common_config": common,
        "experimental_config": _plain(vars(extra)) if hasattr(extra, "__dict__") else {},
    }


def _has_vars(face: Any) -> bool:
    return hasattr(getattr(face, "schedule", None), "__dict__")


def _plain(values: Dict[str, Any]) -> Dict[str, Any]:
    """What of ``values`` JSON can hold; objects become their text."""
    plain: Dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, (str, int, float, bool, type(None))):
            plain[key] = value
        elif isinstance(value, (list, tuple, set)):
            plain[key] = [str(item) for item in value]
        elif not callable(value):
            plain[key] = re.sub(r" at 0x[0-9a-f]+", "", str(value))[:200]
    return plain
