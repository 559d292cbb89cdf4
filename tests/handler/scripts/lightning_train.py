"""A Lightning fit with the callback: ``lightning_train.py DIR [break]``."""

import sys

import lightning.pytorch as pl
import torch
from tb_npu_handler.lightning import NpuProfilerCallback


class Line(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, number):
        if len(sys.argv) > 2 and number == 3:
            raise RuntimeError("the loop broke")
        return (self.layer(batch) ** 2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


callback = NpuProfilerCallback(sys.argv[1], steps=2, skip_first=1, analyse="never")
trainer = pl.Trainer(
    accelerator="cpu",
    max_steps=6,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    callbacks=[callback],
)
trainer.fit(Line(), torch.utils.data.DataLoader(torch.randn(16, 4), batch_size=2))
