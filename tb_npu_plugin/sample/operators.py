"""operator_details.csv: one row per operator call, shapes and stacks over several lines."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from .hosttree import op_times
from .rows import RankChunk
from .specs import Call, Op
from .text import CRLF, Appender, Ints

HEADER = (
    "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"
    "Device Self Duration(us),Device Total Duration(us),"
    "Device Self Duration With AICore(us),Device Total Duration With AICore(us)" + CRLF
)
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
SOURCE = "/workspace/pretrain"
OUTER = (f"{SOURCE}/trainer.py(148): train_step", f"{SOURCE}/train.py(57): <module>")


def input_dims(op: Op) -> str:
    """Shapes as torch_npu joins them: dims by commas, inputs by ; and a line break."""
    return f";{CRLF}".join(",".join(map(str, dims)) for dims in op.dims)


def call_stack(where: str) -> str:
    """Innermost frame first; the autograd thread has none."""
    return f";{CRLF}".join((f"{SOURCE}/{where}", *OUTER)) if where else ""


def _cell(text: str) -> str:
    return f'"{text}"' if "," in text or "\n" in text or ";" in text else text


class OperatorDetails:
    """Writes one rank's operator_details.csv."""

    def __init__(self, folder: Path) -> None:
        self._file = Appender(folder / "operator_details.csv", HEADER)
        self._heads: dict[Call, list[str]] = {}
        self.counts: Counter[str] = Counter()

    def begin_step(self, loader_ns: int) -> None:
        """The data loader's row."""
        self.counts[LOADER] += 1
        stack = _cell(call_stack("data.py(33): batches"))
        took = loader_ns / 1000
        self._file.add(f"{LOADER},,{stack},{took!r},{took!r},0,0,0,0{CRLF}")

    def add(self, part: RankChunk) -> None:
        """A chunk's rows, in the order of their start."""
        texts = np.empty(len(part.chunk.call_ids), dtype=object)
        for times in op_times(part):
            for op in times.call.ops:
                self.counts[op.name] += len(times.positions)
            columns = []
            heads = self._heads_of(times.call)
            for i, head in enumerate(heads):
                host = zip(_us(times.self_host[:, i]), _us(times.duration[:, i]), strict=True)
                total = times.total_device[:, i]
                if not total.any():
                    columns.append([f"{head}{own!r},{all_!r},0,0,0,0{CRLF}" for own, all_ in host])
                    continue
                device = zip(
                    *(
                        _device(values[:, i])
                        for values in (
                            times.self_device,
                            times.total_device,
                            times.self_ai_core,
                            times.total_ai_core,
                        )
                    ),
                    strict=True,
                )
                columns.append(
                    [
                        f"{head}{own!r},{all_!r},{a},{b},{c},{d}{CRLF}"
                        for (own, all_), (a, b, c, d) in zip(host, device, strict=True)
                    ]
                )
            texts[times.positions] = list(map("".join, zip(*columns, strict=True)))
        self._file.add_lines(texts.tolist())

    def _heads_of(self, call: Call) -> list[str]:
        if call not in self._heads:
            stack = _cell(call_stack(call.where))
            self._heads[call] = [f"{op.name},{_cell(input_dims(op))},{stack}," for op in call.ops]
        return self._heads[call]

    @property
    def rows(self) -> int:
        """Rows so far."""
        return sum(self.counts.values())


def _us(values: Ints) -> list[float]:
    micros: list[float] = (values / 1000).tolist()
    return micros


def _device(values: Ints) -> list[str]:
    return [repr(v) if v else "0" for v in _us(values)]
