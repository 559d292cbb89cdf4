"""Captures into runs and recordings: which were taken together."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import PurePosixPath

from tb_npu_plugin.backend.capture import CAPTURE_NAME, Capture

#: Captures of one job and cycle start within this time of each other; a restarted job does not.
SAME_CYCLE_NS = 600 * 10**9


@dataclass(frozen=True)
class Recording:
    """Captures of one run that were taken together, ordered by rank."""

    recording: str
    label: str
    started_ns: int | None
    captures: tuple[Capture, ...]

    @property
    def world_size(self) -> int:
        """Ranks of the whole job as the captures tell; 0 where none does."""
        return max((c.info.world_size or 0 for c in self.captures), default=0)


def fold_runs(captures: list[Capture]) -> list[Capture]:
    """Subfolders that hold one rank each and whose windows overlap become one run, their parent."""
    by_run: dict[str, list[Capture]] = defaultdict(list)
    for capture in captures:
        by_run[capture.run].append(capture)
    one_rank = {
        run: caps
        for run, caps in by_run.items()
        if run != "." and len({c.rank for c in caps}) == 1 and caps[0].rank is not None
    }
    ancestors: dict[str, list[str]] = defaultdict(list)
    for run in one_rank:
        for ancestor in PurePosixPath(run).parents:
            ancestors[str(ancestor)].append(run)
    folded: dict[str, str] = {}
    for parent in sorted(ancestors, key=lambda p: -len(PurePosixPath(p).parts)):
        runs = [r for r in ancestors[parent] if r not in folded]
        members = [one_rank[r] for r in runs]
        if len(members) < 2 or len({m[0].rank for m in members}) < len(members):
            continue
        if all(any(_overlap(a, b) for a in members[0] for b in m) for m in members[1:]):
            folded.update(dict.fromkeys(runs, parent))
    return [replace(c, run=folded.get(c.run, c.run)) for c in captures]


def _overlap(a: Capture, b: Capture) -> bool:
    a0, a1, b0, b1 = a.info.start_ns, a.info.end_ns, b.info.start_ns, b.info.end_ns
    if a0 is None or a1 is None or b0 is None or b1 is None:
        return False
    return a0 <= b1 and b0 <= a1


def _together(a: Capture, b: Capture) -> bool:
    """By the manifests' job and cycle where both have them, else by windows that overlap."""
    first, second = a.manifest, b.manifest
    if first and second and first.job and second.job and first.job == second.job:
        # Without a launcher's identifier a later job may share the word: the windows decide then.
        return first.cycle == second.cycle and (first.cycle is not None) and _near(a, b)
    return _overlap(a, b)


def _near(a: Capture, b: Capture) -> bool:
    a0, b0 = a.info.start_ns, b.info.start_ns
    return a0 is None or b0 is None or abs(a0 - b0) < SAME_CYCLE_NS


def recordings(captures: list[Capture]) -> list[Recording]:
    """Group the captures of one run: at most one per rank, windows overlapping; newest first.

    Copies of captures come after those they were copied from, so that the whole job is the newest.
    """
    groups: list[_Group] = []
    timed = [c for c in captures if c.info.start_ns is not None and c.info.end_ns is not None]
    untimed = [c for c in captures if c.info.start_ns is None or c.info.end_ns is None]
    for capture in sorted(timed, key=lambda c: (c.info.start_ns or 0, c.name)):
        near = [g for g in reversed(groups) if _together(g.captures[0], capture)]
        # Copies keep to themselves: what fits the job as well belongs to it.
        near.sort(key=lambda g: g.original is not None)
        if any(group.add(capture) for group in near):
            continue
        copied = next((g for g in near if g.has_copy(capture)), None)
        groups.append(_Group(capture, copied and (copied.original or copied)))
    # Without times: the k-th capture of each rank belongs to the k-th recording.
    kth: list[_Group] = []
    for capture in sorted(untimed, key=lambda c: (_named_time(c), c.name)):
        for group in kth:
            if group.add(capture):
                break
        else:
            kth.append(_Group(capture))
    result: dict[_Group, Recording] = {}
    used: dict[str, int] = {}
    # Oldest first and copies last, so that a newer one never renames an older one.
    for group in sorted(groups + kth, key=lambda g: (g.when(), g.original is not None)):
        recording = _recording(group.captures)
        n = used[recording.recording] = used.get(recording.recording, 0) + 1
        if n > 1:
            recording = replace(recording, recording=f"{recording.recording}.{n}")
        result[group] = recording
    newest = sorted(result, key=lambda g: (g.when(), g.original is None), reverse=True)
    return [result[group] for group in newest]


class _Group:
    """Captures of processes that differ: by rank, or by worker where that is unknown.

    ``original``: the group that its first capture is a copy from.
    """

    def __init__(self, first: Capture, original: _Group | None = None) -> None:
        self.captures: list[Capture] = []
        self.original = original
        self._processes: set[int | str] = set()
        self.add(first)

    def add(self, capture: Capture) -> bool:
        """Take the capture, unless one of its process is there."""
        process = capture.worker if capture.rank is None else capture.rank
        if process in self._processes:
            return False
        self._processes.add(process)
        self.captures.append(capture)
        return True

    def has_copy(self, capture: Capture) -> bool:
        window = (capture.rank, capture.info.start_ns, capture.info.end_ns)
        return any((c.rank, c.info.start_ns, c.info.end_ns) == window for c in self.captures)

    def when(self) -> tuple[int, str, str]:
        return _sort_time((self.original or self).captures[0])


def _named_time(capture: Capture) -> str:
    match = CAPTURE_NAME.match(capture.name)
    return match.group("time").replace(".", "") if match else ""


def _sort_time(capture: Capture) -> tuple[int, str, str]:
    return (capture.info.start_ns or capture.info.end_ns or 0, _named_time(capture), capture.name)


def rank_key(rank: int | None) -> tuple[bool, int]:
    """Ranks in order of number, unknown last."""
    return (rank is None, rank or 0)


def _recording(group: list[Capture]) -> Recording:
    group = sorted(group, key=lambda c: (rank_key(c.rank), c.name))
    started = min((c.info.start_ns for c in group if c.info.start_ns is not None), default=None)
    if started is not None:
        moment = datetime.fromtimestamp(started // 10**9, tz=timezone.utc)
        return Recording(f"{moment:%Y%m%d-%H%M%S}", f"{moment:%Y-%m-%d %H:%M:%S} UTC", started,
                         tuple(group))  # fmt: skip
    name = _named_time(group[0])
    if name:
        label = f"{name[:4]}-{name[4:6]}-{name[6:8]} {name[8:10]}:{name[10:12]}:{name[12:14]}"
        return Recording(name[:14], label, None, tuple(group))
    return Recording(group[0].capture_id, group[0].name, None, tuple(group))
