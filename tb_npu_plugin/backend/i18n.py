"""Which language a reply is in. Texts live beside what they describe, in both languages."""

from __future__ import annotations

from typing import Literal

Lang = Literal["en", "zh"]


def pick(lang: Lang, en: str, zh: str) -> str:
    """The text in ``lang``; the English one where there is no Chinese."""
    return zh if lang == "zh" and zh else en
