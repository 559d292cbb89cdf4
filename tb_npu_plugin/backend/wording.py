"""Figures inside sentences. Table values are never formatted here; pages do that."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Words of torch_npu -> those of another framework with the same profiler, longest first.
_OF_FRAMEWORK = {
    "mindspore": (
        ("torch_npu.profiler.AiCMetrics", "mindspore.profiler.AicoreMetrics"),
        ("torch_npu.profiler", "mindspore.profiler"),
        ("PyTorch", "MindSpore"),
        ("torch_npu", "MindSpore"),
    )
}


def of_framework(text: str, framework: str) -> str:
    """A sentence about torch_npu as one about the framework that a capture was recorded with."""
    for word, other in _OF_FRAMEWORK.get(framework, ()):
        text = text.replace(word, other)
    return text


def duration(ns: float | None) -> str:
    """Three significant digits with a fitting unit: ``136.58 ms`` -> ``137 ms``; unknown ``–``."""
    if ns is None:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(ns) >= size * 0.9995:
            return f"{_digits(ns / size)} {unit}"
    return "0" if ns == 0 else f"{_digits(ns)} ns"


def _digits(value: float) -> str:
    size = abs(value)
    if size >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def printable(text: str) -> str:
    """``text`` from a file name as valid Unicode: a byte that was no UTF-8 shows as ``\\xff``."""
    shown = re.sub("[\udc80-\udcff]", lambda m: f"\\x{ord(m.group()) - 0xDC00:02x}", text)
    return shown.encode("utf-8", "replace").decode()


def percent(ratio: float | None) -> str:
    """``0.25`` -> ``25.0 %``; unknown ``–``."""
    return "–" if ratio is None else f"{ratio * 100:.1f} %"


def share(part: float | None, whole: float | None) -> float | None:
    """``part / whole``, or None where either is unknown or the whole is not positive."""
    if part is None or whole is None or whole <= 0:
        return None
    return part / whole


def traffic(size_bytes: float | None) -> str:
    """Bytes by powers of 1000, as communication files mean them: ``428 MB``; unknown ``–``."""
    if size_bytes is None:
        return "–"
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(size_bytes) >= size * 0.9995:
            return f"{_digits(size_bytes / size)} {unit}"
    return f"{size_bytes:.0f} B"


def memory(size_bytes: float | None) -> str:
    """Bytes by powers of 1024, as memory files mean them: ``1.41 GiB``; unknown ``–``."""
    if size_bytes is None:
        return "–"
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(size_bytes) >= size * 0.9995:
            return f"{_digits(size_bytes / size)} {unit}"
    return f"{size_bytes:.0f} B"


def ranks(values: Sequence[int | None]) -> str:
    """``[0, 1, 2, 5]`` -> ``0-2, 5``."""
    numbers = sorted(v for v in values if v is not None)
    spans: list[list[int]] = []
    for n in numbers:
        if spans and n == spans[-1][1] + 1:
            spans[-1][1] = n
        else:
            spans.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
