"""profiler_info[_rank].json and profiler_metadata.json: identity, window, settings, groups."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers import mindspore_info
from tb_npu_plugin.backend.readers.db_identity import identity
from tb_npu_plugin.backend.readers.profiler_options import Options, options
from tb_npu_plugin.backend.wording import printable

#: These files are a few KB; anything larger is not one of them.
MAX_BYTES = 16 << 20
#: Later moments (of the year 2200) are no times; the calendar ends soon after.
LAST_NS = 7_258_118_400 * 10**9
_INFO = re.compile(r"^profiler_info(?:_(\d+))?\.json$")


@dataclass(frozen=True)
class ProfilerInfo:
    """What the profiler wrote about a capture. Times are epoch ns; unknown is None."""

    ranks: tuple[tuple[str, int], ...] = ()
    """(source, rank) candidates in order of trust."""
    start_ns: int | None = None
    end_ns: int | None = None
    level: str | None = None
    aic_metrics: str | None = None
    torch_npu_version: str | None = None
    mindspore_version: str | None = None
    cann_version: str | None = None
    world_size: int | None = None
    chip: str | None = None
    """The name of the capture's devices, where they are of one kind and a file tells."""
    config: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def options(self) -> Options:
        """What the profiler was asked to record."""
        return options(self.config)


def read(capture: Path, names: list[str], databases: list[Path]) -> ProfilerInfo:
    """Read the info and metadata files among ``names`` of directory ``capture``.

    ``databases``: those of its ASCEND_PROFILER_OUTPUT; they tell the rank, and what no file does.
    """
    notes: list[Note] = []
    ranks: list[tuple[str, int]] = []
    info: dict[str, Any] = {}
    files: list[str] = []
    for name in sorted(names):
        match = _INFO.match(name)
        if not match:
            continue
        files.append(name)
        content = _json(capture / name, name, notes)
        info = info or content
        rank = _rank(content.get("rank_id"))
        if rank is not None:
            ranks.append((f"{name} rank_id", rank))
        if match.group(1):
            ranks.append((name, int(match.group(1)[:18])))
    metadata: dict[str, Any] = {}
    if "profiler_metadata.json" in names:
        files.append("profiler_metadata.json")
        metadata = _json(capture / "profiler_metadata.json", "profiler_metadata.json", notes)
    start, end = _window(info)
    chips = set()
    for database in databases:
        known = identity(database)
        ranks += known.ranks
        if known.chip:
            chips.add(known.chip)
        metadata = {**known.metadata, **metadata}
        if start is None or end is None:
            start, end = known.start_ns, known.end_ns
    job = _dict(metadata.get("distributed_args"))
    if (rank := _rank(job.get("rank"))) is not None:
        ranks.append(("profiler_metadata.json distributed_args", rank))
    config = _dict(info.get("config")) or mindspore_info.config(info)
    experimental = _dict(config.get("experimental_config"))
    return ProfilerInfo(
        ranks=tuple(ranks),
        start_ns=start,
        end_ns=end,
        level=_text(experimental.get("_profiler_level")),
        aic_metrics=_text(experimental.get("_aic_metrics")),
        torch_npu_version=_text(info.get("torch_npu_version")),
        mindspore_version=_text(info.get("ms_version")),
        cann_version=_text(info.get("cann_version")),
        world_size=_int(job.get("world_size")) or _world_of_groups(metadata),
        chip=chips.pop() if len(chips) == 1 else None,
        config=config,
        metadata=metadata,
        files=tuple(files),
        notes=tuple(notes),
    )


def _window(info: dict[str, Any]) -> tuple[int | None, int | None]:
    """Epoch ns = monotonic ns + (collectionTimeEnd − MonotonicTimeEnd)."""
    end_info = _dict(info.get("end_info"))
    end = _int(end_info.get("collectionTimeEnd"))
    mono_end = _int(end_info.get("MonotonicTimeEnd"))
    mono_start = _int(_dict(info.get("start_info")).get("start_monotonic"))
    start = None
    if end is not None and mono_end is not None and mono_start is not None:
        start = mono_start + (end - mono_end)
        if start > end:
            start = None
    sane = [t if t is not None and 0 < t < LAST_NS else None for t in (start, end)]
    return sane[0], sane[1]


def _world_of_groups(metadata: dict[str, Any]) -> int | None:
    groups = _dict(metadata.get("parallel_group_info")).values()
    ranks = [_dict(group).get("global_ranks") for group in groups]
    return max((len(r) for r in ranks if isinstance(r, list)), default=0) or None


def _json(path: Path, name: str, notes: list[Note]) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("larger than 16 MiB")
        content = msgspec.json.decode(path.read_bytes())
        if not isinstance(content, dict):
            raise ValueError("not an object")
    except PermissionError:
        notes.append(permission_note(path, name))
        return {}
    except (OSError, ValueError, RecursionError) as error:
        notes.append(Note("json-broken", name, None, {"error": str(error)[:200]}))
        return {}
    return content


def permission_note(path: Path, rel: str) -> Note:
    """The finding for a file this process may not read, naming path, mode and owner."""
    mode, owner = "?", "?"
    try:
        stat = path.stat()
        mode, owner = oct(stat.st_mode & 0o7777)[2:], str(stat.st_uid)
        owner = path.owner()
    except (OSError, KeyError, NotImplementedError):
        pass
    quoted = shlex.quote(printable(str(path)))
    return Note("permission-denied", rel, None, {"mode": mode, "owner": owner, "path": quoted})


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _rank(value: Any) -> int | None:
    """A rank; −1, which some jobs write, is unknown."""
    rank = _int(value)
    return rank if rank is not None and 0 <= rank < 2**31 else None


def _int(value: Any) -> int | None:
    """A rank or time that may be an int or its text; bool and anything else is unknown."""
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        return None
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None
