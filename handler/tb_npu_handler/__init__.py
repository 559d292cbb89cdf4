"""Record profiles of Ascend NPU and PyTorch jobs for TensorBoard, without hurting the job.

``npu_handler(dir)`` goes into a profiler as ``on_trace_ready``; ``npu_profile(dir)`` builds the
whole profiler.  Importing this package imports the standard library only.
"""

from ._version import __version__
from .handler import NpuHandler, npu_handler
from .profile import npu_profile

__all__ = ["NpuHandler", "__version__", "npu_handler", "npu_profile"]
