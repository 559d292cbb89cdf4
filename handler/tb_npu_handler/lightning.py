"""A callback that profiles some batches of a Lightning ``Trainer.fit``.

>>> Trainer(..., callbacks=[NpuProfilerCallback("runs/a", steps=3)])
"""

from __future__ import annotations

from typing import Any, Optional

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:  # the older package name
    from pytorch_lightning.callbacks import Callback

from .profile import NullProfile, npu_profile


class NpuProfilerCallback(Callback):  # type: ignore[misc,unused-ignore]
    """Takes the arguments of :func:`tb_npu_handler.npu_profile`; without ``dir``,
    ``TB_NPU_PROFILE`` decides.

    A step is one training batch.  An exception in the loop ends the recording and keeps what there
    is.
    """

    def __init__(self, dir: Optional[str] = None, **options: Any) -> None:
        super().__init__()
        self._dir, self._options = dir, options
        self.profile: Any = NullProfile()

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self.profile = npu_profile(self._dir, **self._options)
        self.profile.start()

    def on_train_batch_end(self, *args: Any, **kwargs: Any) -> None:
        self.profile.step()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._stop()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._stop()

    def _stop(self) -> None:
        self.profile.stop()
        self.profile = NullProfile()
