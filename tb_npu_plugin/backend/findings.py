"""Findings: what is missing, broken or suspicious in a capture, and the remedy.

Readers and the health pass raise a :class:`Note` (a code with parameters, small enough to be
cached as JSON); :func:`render` words it in the reader's language. Codes are stable and documented
in ``docs/findings.md``.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from tb_npu_plugin.backend.finding_kinds import KINDS, OTHER
from tb_npu_plugin.backend.i18n import Lang
from tb_npu_plugin.backend.results import Finding
from tb_npu_plugin.backend.wording import of_framework, printable


class Note(msgspec.Struct, frozen=True):
    """A finding before it is worded. ``file`` is relative to the capture; ``place`` e.g. ``line 7``."""

    code: str
    file: str | None = None
    place: str | None = None
    params: dict[str, Any] = {}


#: A rank in the name of a file, which differs between captures that say the same.
OF_RANK = re.compile(r"_\d+(?=\.(?:db|json)$)")
_ORDER = {"error": 0, "warning": 1, "info": 2}


class _Blank(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "?"


def render(
    note: Note, lang: Lang, capture_id: str | None, rank: int | None, framework: str = ""
) -> Finding:
    """The note in words. Parameters are inserted as text, never interpreted."""
    kind = KINDS.get(note.code, OTHER)
    words = kind.zh if lang == "zh" else kind.en
    message, remedy = (of_framework(text, framework) for text in words)
    params = _Blank(note.params)
    if lang == "zh":
        params.update({k.removesuffix("_zh"): v for k, v in params.items() if k.endswith("_zh")})
    seed = (
        f"{capture_id}|{note.code}|{note.file}|{note.place}|{sorted(note.params.items(), key=str)}"
    )
    return Finding(
        id=hashlib.sha256(seed.encode("utf-8", "replace")).hexdigest()[:12],
        code=note.code,
        severity=kind.severity,
        message=printable(message.format_map(params)),
        remedy=printable(remedy.format_map(params)),
        capture_id=capture_id,
        rank=rank,
        ranks=[] if capture_id is None else [rank],
        file=note.file and printable(note.file),
        place=note.place,
        views=list(kind.views),
    )


def ordered(findings: list[Finding]) -> list[Finding]:
    """Most severe first, then by rank and file; what captures share to the word once."""
    merged: dict[tuple[str | None, ...], Finding] = {}
    told: set[tuple[str | None, ...]] = set()
    for f in findings:
        itself = (f.code, f.file, f.place, f.message, f.remedy, f.capture_id)
        if itself in told:  # two readers of one file saw the same
            continue
        told.add(itself)
        alike = OF_RANK.sub("_*", f.file or "")
        key = (f.code, alike, f.place, f.message, f.remedy)
        other = merged.setdefault(key, f)
        if other is not f and f.capture_id == other.capture_id:
            merged[key + (f.file,)] = f  # noqa: RUF005  # two files of one capture
        elif other is not f:
            other.ranks += f.ranks
            if other.file != f.file:
                other.file = alike
    return sorted(
        merged.values(),
        key=lambda f: (_ORDER[f.severity], f.code, -1 if f.rank is None else f.rank, f.file or ""),
    )
