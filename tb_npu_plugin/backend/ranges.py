"""Choices of integers, as ranks, devices and steps are chosen by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from tb_npu_plugin.backend.errors import RequestError

_RANGE = re.compile(r"^(\d+)(?:-(\d+))?$")


@dataclass(frozen=True)
class Ranges:
    """Integers and ranges as the user wrote them; ``none`` also (or only) selects NULL."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()
    null: bool = False

    @property
    def everything(self) -> bool:
        return not self.spans and not self.null

    def holds(self, value: int | None) -> bool:
        if self.everything:
            return True
        if value is None:
            return self.null
        return any(low <= value <= high for low, high in self.spans)

    def numbers(self, limit: int = 1024) -> list[int]:
        """The numbers, the first ``limit`` of them."""
        every = (n for low, high in self.spans for n in range(low, high + 1))
        return sorted(set(islice(every, limit)))

    def sql(self, column: str) -> str:
        """Predicate on an integer column. Built from integers only."""
        if self.everything:
            return "TRUE"
        tests = [f"{column} BETWEEN {low} AND {high}" for low, high in self.spans]
        if self.null:
            tests.append(f"{column} IS NULL")
        return f"({' OR '.join(tests)})"


def parse_ranges(text: str | None, name: str, null_word: str) -> Ranges:
    """``all``, ``5``, ``0,2,5-7``, ``none``. Raises RequestError 400 with the position at fault."""
    text = (text or "all").strip().lower()
    if text in ("all", ""):
        return Ranges("all")
    spans: list[tuple[int, int]] = []
    null = False
    at = 0
    for part in text.split(","):
        word = part.strip()
        match = _RANGE.match(word)
        if word == null_word:
            null = True
        elif match and len(word) < 40:
            low = int(match.group(1))
            high = int(match.group(2)) if match.group(2) else low
            if high < low:
                low, high = high, low
            spans.append((min(low, 2**62), min(high, 2**62)))
        else:
            raise RequestError(400, f"bad-{name}", f"{name} cannot be {word!r}.",
                               f"Use all, {null_word}, 5, or 0,2,5-7.", at)  # fmt: skip
        at += len(part) + 1
    return Ranges(text, tuple(spans), null)
