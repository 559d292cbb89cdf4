"""logs/profiler_<time>_<pid>_<Parser>.log: which parsers of an analysis failed.

An analysis goes on when one of its parsers fails, and says at its end that it is done; only these
files tell.
"""

from __future__ import annotations

import re
from pathlib import Path

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.wording import printable

FOLDER = "logs"
_NAME = re.compile(r"^profiler_(\d+)_\d+_(\w+)\.log$")
#: A log of more than this is cut off: the first failures say enough.
MAX_BYTES = 1 << 20
MAX_NOTES = 8


def failed(capture: Path) -> list[Note]:
    """One note per failed parser of the newest analysis, with the line. Never raises."""
    try:
        names = sorted(p.name for p in (capture / FOLDER).iterdir() if _NAME.match(p.name))
    except OSError:
        return []
    newest: dict[str, str] = {}
    for name in names:  # sorted by time: a later analysis of the same parser counts
        match = _NAME.match(name)
        assert match is not None
        newest[match.group(2)] = name
    notes = []
    for parser, name in newest.items():
        found = _first_error(capture / FOLDER / name)
        if found:
            line, text = found
            notes.append(Note("parser-failed", f"{FOLDER}/{name}", f"line {line}",
                              {"parser": parser, "error": text}))  # fmt: skip
    return notes[:MAX_NOTES]


def _first_error(path: Path) -> tuple[int, str] | None:
    try:
        with path.open("rb") as stream:
            text = stream.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    for number, line in enumerate(text.splitlines(), 1):
        if "[ERROR]" in line:
            said = line.rsplit("] ", 1)[-1].strip()
            return number, printable(said)[:200] or "?"
    return None
