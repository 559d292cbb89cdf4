"""How numbers and times are spelt in the text export, and a file that is only ever appended to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NO_MODEL = 4294967295
CRLF = "\r\n"


def us(ns: int) -> str:
    """An instant in µs with three decimals, exactly: 1500 -> '1.500'."""
    return f"{ns // 1000}.{ns % 1000:03d}"


def us_list(ns: Ints) -> list[str]:
    """The same for many instants."""
    whole, part = np.divmod(ns, 1000)
    return [f"{w}.{p:03d}" for w, p in zip(whole.tolist(), part.tolist(), strict=True)]


def us_float(ns: int) -> str:
    """A duration in µs as the exporters print floats: shortest, at least one decimal."""
    return repr(ns / 1000)


def thousandths(values: Floats) -> list[float]:
    """Rounded to three decimals so that repr() is the decimal itself."""
    rounded: list[float] = (np.rint(values * 1000) / 1000).tolist()
    return rounded


class Appender:
    """A file of a capture, opened only while a block is added.

    A job of a thousand ranks has some ten thousand files; holding them open would exceed the
    usual limit, and a block per step is large enough for opening to cost nothing.
    """

    def __init__(self, path: Path, header: str = "") -> None:
        self.path = path
        self._header = header

    def add(self, text: str) -> None:
        """Append text; the header goes first, and a file without rows is never made."""
        if not text:
            return
        with self.path.open("ab") as file:
            file.write((self._header + text).encode())
        self._header = ""

    def add_lines(self, lines: Iterable[str]) -> None:
        """Append lines that carry their own ends."""
        self.add("".join(lines))

    def take(self, part: Path) -> None:
        """Append another file's bytes and delete that file; nothing if it does not exist."""
        if not part.exists():
            return
        with part.open("rb") as source, self.path.open("ab") as file:
            file.write(self._header.encode())
            self._header = ""
            while block := source.read(1 << 20):
                file.write(block)
        part.unlink()
