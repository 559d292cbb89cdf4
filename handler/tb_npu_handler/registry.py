"""The handlers of this process: whose capture is being made, and what is left at exit."""

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Set, Tuple

from . import launch, manifest, npu_api
from .say import reason_of, say

if TYPE_CHECKING:
    from .handler import NpuHandler

# Capture directories whose recording goes on, and whose they were taken for.
recordings: "Dict[str, Tuple[NpuHandler, manifest.Manifest]]" = {}
_handlers: "List[NpuHandler]" = []
_exit_hooks: Set[int] = set()


def add(handler: "NpuHandler") -> None:
    """Remember ``handler`` until the process ends.  A forked child has a list of its own."""
    _handlers.append(handler)
    if os.getpid() not in _exit_hooks:
        _exit_hooks.add(os.getpid())
        atexit.register(_at_exit, os.getpid())


def plan(prof: Any) -> Optional[npu_api.Placement]:
    """Whose capture is about to be made: the profiler's handler's, or, where the profiler is
    unknown, that of the handler made last.
    """
    callback = getattr(prof, "on_trace_ready", prof)
    mine: "List[NpuHandler]" = [handler for handler in _handlers if handler is callback]
    if mine:
        return mine[0].placement(prof)
    if callback is None or not _handlers or _is_torch_npus(callback):
        return None
    last = _handlers[-1]
    folder = getattr(npu_api.path_creator(), "_dir_path", None)
    if last.folder is None or folder not in (last.folder, os.path.realpath(last.folder)):
        return None
    placed: npu_api.Placement = last.placement(prof)
    return placed


def _is_torch_npus(callback: Any) -> bool:
    """Whether it is torch_npu's own handler, and not a function that may call one of ours."""
    return str(getattr(callback, "__module__", "")).startswith("torch_npu")


def _at_exit(pid: int) -> None:
    if os.getpid() != pid:
        return
    for handler in _handlers:
        try:
            handler.at_exit()
        except Exception as error:
            say("npu_handler: at exit: " + reason_of(error))
    launch.let_go()
