"""A callback that profiles some steps of a Hugging Face ``Trainer``.

>>> Trainer(..., callbacks=[NpuProfilerCallback("runs/a", steps=3)])
"""

from __future__ import annotations

from typing import Any, Optional

from transformers import TrainerCallback

from .profile import NullProfile, npu_profile


class NpuProfilerCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Takes the arguments of :func:`tb_npu_handler.npu_profile`; without ``dir``,
    ``TB_NPU_PROFILE`` decides.

    A step is one optimizer step (``global_step``), whatever the gradient accumulation.
    """

    def __init__(self, dir: Optional[str] = None, **options: Any) -> None:
        self._dir, self._options = dir, options
        self.profile: Any = NullProfile()

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.profile = npu_profile(self._dir, **self._options)
        self.profile.start()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.profile.step()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.profile.stop()
        self.profile = NullProfile()
