"""Die in the middle of torch's own export of a trace."""

import os
import signal
import sys

import torch
from tb_npu_handler import npu_handler


class Dying(torch.profiler.profile):
    def export_chrome_trace(self, path):
        super().export_chrome_trace(path)
        with open(path, "r+b") as stream:
            stream.truncate(stream.seek(0, os.SEEK_END) // 2)
        os.kill(os.getpid(), signal.SIGKILL)


host = [torch.profiler.ProfilerActivity.CPU]
with Dying(activities=host, on_trace_ready=npu_handler(sys.argv[1])):
    torch.randn(4).sum()
