"""data_preprocess.csv: AI CPU operators (Level2); the unit of each column is in its header."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb_npu_plugin.backend.readers.base import Rows, Source
from tb_npu_plugin.backend.readers.simple import read_table
from tb_npu_plugin.backend.schema import AI_CPU

VERSION = 1
TABLES = ("ai_cpu",)
_NAME = re.compile(r"^(data_preprocess(_\w+)?|aicpu(_slice)?_\d+(_\d+)*)\.csv(\.gz)?$")


def matches(name: str) -> bool:
    return bool(_NAME.match(name))


def read(source: Source) -> Iterator[Rows]:
    """Yield ``ai_cpu``, a row a line."""
    yield from read_table(source, AI_CPU, ("name",))
