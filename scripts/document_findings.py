"""Write docs/findings.md from the findings themselves, so that the two cannot differ."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tb_npu_plugin.backend.finding_kinds import KINDS  # noqa: E402

TARGET = ROOT / "docs/findings.md"
HEAD = """# Findings

What is missing, broken or suspicious in a capture, and what to do about it. The tab shows findings on
*Health* and on the views they touch, `tb-npu check` prints them, `load(…).findings()` returns them.
Codes are stable: scripts may rely on them. Words in *italics* stand for what the finding names.

An **error** means that something cannot be shown (`tb-npu check` ends with 1), a **warning** that
something is lost or doubtful, an **info** that something is not there, or was done about it.

This page is written by `scripts/document_findings.py` from `tb_npu_plugin/backend/finding_kinds.py`.
"""


def document() -> str:
    """The page: a paragraph for each code, by severity."""
    parts = [HEAD]
    for severity, title in (("error", "Errors"), ("warning", "Warnings"), ("info", "Infos")):
        parts.append(f"## {title}\n")
        for code, kind in sorted(KINDS.items()):
            if kind.severity == severity:
                message, remedy = (_readable(text) for text in kind.en)
                views = ", ".join(kind.views)
                parts.append(f"### `{code}`\n\n{message}\n\n→ {remedy}\n\nTouches: {views}.\n")
    return "\n".join(parts)


def _readable(template: str) -> str:
    """A message with its parameters as words; code as code."""
    text = re.sub(r"([\\`*<])", r"\\\1", template)
    text = re.sub(r"\{(\w+)\}", r"*\1*", text)
    return text.replace("_", r"\_")


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
