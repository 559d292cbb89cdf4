"""The names that CANN's msprof gives its exports: ``op_summary[_slice_<n>]_<timestamp>.csv``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

#: The folder that msprof exports to, inside ``PROF_…``.
FOLDER = "mindstudio_profiler_output"
_NAME = re.compile(
    r"^(?P<stem>[A-Za-z]\w*?)(?:_slice_(?P<slice>\d+))?_(?P<time>\d{14,17})\.(?P<end>(?:csv|json)(?:\.gz)?)$"
)
#: Tables that only msprof exports under such a name: a copy of its folder alone is a capture too.
_TABLES = ("op_summary", "op_statistic", "api_statistic", "task_time", "msprof", "step_trace")


def is_export(name: str) -> bool:
    """Whether a file of that name is one of the tables that mark a folder of msprof's."""
    match = _NAME.match(name)
    return bool(match and match["stem"] in _TABLES)


def exported_by_msprof(rel: str) -> bool:
    """Whether the file was written by msprof itself, and not made of its files by an analysis."""
    path = PurePosixPath(rel)
    return FOLDER in path.parts[:-1] or bool(_NAME.match(path.name))


def older_exports(rels: Iterable[str]) -> set[str]:
    """Of files that several exports of one folder left side by side, those of the older exports.

    Slices of one table have a number each and are all kept: only a table or slice that is there
    twice has an older copy. A table in one piece and in slices is of two exports as well.
    """
    tables: dict[tuple[str, str, str], list[tuple[str, str | None, str]]] = {}
    for rel in rels:
        path = PurePosixPath(rel)
        match = _NAME.match(path.name)
        if match:
            key = (str(path.parent), match["stem"], match["end"].removesuffix(".gz"))
            tables.setdefault(key, []).append((match["time"], match["slice"], rel))
    older: set[str] = set()
    for files in tables.values():
        sliced = max(files)[1] is not None
        newest = {s: max(time for time, own, _ in files if own == s) for _, s, _ in files}
        older |= {
            rel for time, own, rel in files if (own is not None) != sliced or time < newest[own]
        }
    return older


def traces(rels: Iterable[str]) -> list[str]:
    """The files ``msprof_…json`` among ``rels`` in order: one trace, which msprof cuts by size, and
    writes apart for each of several devices."""
    found = []
    for rel in rels:
        match = _NAME.match(PurePosixPath(rel).name)
        if match and match["stem"] == "msprof" and match["end"].startswith("json"):
            found.append((str(PurePosixPath(rel).parent), int(match["slice"] or 0), rel))
    return [rel for _, _, rel in sorted(found)]
