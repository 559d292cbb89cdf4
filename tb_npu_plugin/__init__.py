"""Profiles of PyTorch on Ascend NPUs: record them, look at them in TensorBoard, compare them.

``npu_handler`` records (``on_trace_ready=npu_handler("runs/a")``), ``load`` opens captures as pandas
DataFrames. Both are imported when first used: importing this package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["__version__", "load", "npu_handler", "npu_profile"]

if TYPE_CHECKING:
    from tb_npu_handler import npu_handler, npu_profile

    from tb_npu_plugin.frames import load


def __getattr__(name: str) -> Any:
    if name == "load":
        from tb_npu_plugin.frames import load

        return load
    if name in ("npu_handler", "npu_profile"):
        import tb_npu_handler

        return getattr(tb_npu_handler, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
