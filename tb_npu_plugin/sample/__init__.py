"""Sample captures: what a job of any size would have written, consistent in every number.

>>> from pathlib import Path
>>> from tb_npu_plugin.sample import write_sample
>>> truth = write_sample(Path("runs/sample"), ranks=8, straggler=5)
"""

from .capture import ALL_FILES
from .lines import LINES
from .truth import CommTruth, MemoryTruth, RankTruth, SampleTruth, StepTruth, Tally
from .write import write_sample

__all__ = [
    "ALL_FILES",
    "LINES",
    "CommTruth",
    "MemoryTruth",
    "RankTruth",
    "SampleTruth",
    "StepTruth",
    "Tally",
    "write_sample",
]
