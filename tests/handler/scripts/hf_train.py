"""A Hugging Face Trainer of a two-parameter model with the callback: ``hf_train.py DIR``."""

import sys
import tempfile

import torch
from tb_npu_handler.huggingface import NpuProfilerCallback
from transformers import Trainer, TrainingArguments


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x, labels):
        out = self.layer(x).squeeze(-1)
        return {"loss": ((out - labels) ** 2).mean(), "logits": out}


data = [{"x": torch.randn(4), "labels": torch.tensor(1.0)} for _ in range(24)]
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    max_steps=5,
    per_device_train_batch_size=2,
    gradient_accumulation_steps=2,
    use_cpu=True,
    report_to=[],
    disable_tqdm=True,
    save_strategy="no",
    dataloader_pin_memory=False,
)
callback = NpuProfilerCallback(sys.argv[1], steps=2, skip_first=1, analyse="never")
Trainer(Line(), arguments, train_dataset=data, callbacks=[callback]).train()
