"""One capture: identity (worker, rank, time), settings, files; and captures into recordings."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath

from tb_npu_plugin.backend.discovery import OUTPUT, Found
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers import profiler_info, torch_info
from tb_npu_plugin.backend.readers.db_file import LOGS
from tb_npu_plugin.backend.readers.db_identity import NAME
from tb_npu_plugin.backend.readers.profiler_info import ProfilerInfo
from tb_npu_plugin.backend.wording import printable

_NAME = re.compile(r"^(?P<worker>.+)_(?P<time>\d{14}(?:\d{3}|\.\d{1,6})?)_ascend_(?:pt|ms)$")
_RANK_NAME = re.compile(r"(?:^|[_\-.])rank[_\-]?(\d+)(?=$|[_\-.])", re.IGNORECASE)
#: What an analysis that worked leaves at Level0 and above, whatever the options.
_EXPECTED = ("operator_details.csv", "kernel_details.csv", "step_trace_time.csv", "trace_view.json")


@dataclass(frozen=True)
class SourceFile:
    """A file of a capture. ``rel``: its path relative to the capture directory."""

    rel: str
    size: int
    mtime_ns: int

    @property
    def name(self) -> str:
        return PurePosixPath(self.rel).name


@dataclass(frozen=True)
class Capture:
    """What one process recorded in one window."""

    capture_id: str
    run: str
    name: str
    path: Path
    worker: str
    rank: int | None
    info: ProfilerInfo
    files: tuple[SourceFile, ...]
    notes: tuple[Note, ...]
    analysed: bool
    done_marker: bool
    torch: bool = False
    """A trace file of torch.profiler: ``path`` is the file itself."""

    @property
    def folder(self) -> Path:
        """The directory that paths of files are relative to."""
        return self.path.parent if self.torch else self.path

    @property
    def label_rank(self) -> str:
        return f"Rank {self.rank}" if self.rank is not None else self.worker

    @property
    def bytes(self) -> int:
        return sum(f.size for f in self.files)

    def file(self, name: str) -> SourceFile | None:
        return next((f for f in self.files if f.name == name), None)


@dataclass(frozen=True)
class Recording:
    """Captures of one run that were taken together, ordered by rank."""

    recording: str
    label: str
    started_ns: int | None
    captures: tuple[Capture, ...]


def describe(found: Found) -> Capture:
    """Read the small identity files of a found directory. Never raises for their content."""
    if found.torch:
        return _describe_torch(found)
    output_names = [name for name, _, _ in found.files]
    # A copy of ASCEND_PROFILER_OUTPUT alone still lies beside its capture's files sometimes.
    home = found.path
    databases = [found.output / n for n in output_names if NAME.match(n)] if found.output else []
    databases += [home / n for n, _, _ in found.top_files if NAME.match(PurePosixPath(n).name)]
    info = profiler_info.read(home, [name for name, _, _ in found.top_files], databases)
    name = printable(found.path.name)
    match = _NAME.match(name)
    inside = found.output is not None and found.output != found.path
    files = _source_files(found.files, f"{OUTPUT}/" if inside else "")
    files += _source_files(found.top_files, "")
    notes = list(info.notes)
    for folder in found.denied:
        notes.append(profiler_info.permission_note(found.path / folder, folder))
    candidates = list(info.ranks)
    named = _RANK_NAME.search(name)
    if named:
        candidates.append((name, int(named.group(1)[:18])))
    rank = candidates[0][1] if candidates else None
    if len({r for _, r in candidates}) > 1:
        listed = ", ".join(f"{source}: {r}" for source, r in candidates)
        notes.append(Note("rank-conflict", None, None, {"candidates": listed, "rank": rank}))
    names = set(output_names)
    has_raw = "FRAMEWORK" in found.folders or any(f.startswith("PROF_") for f in found.folders)
    if found.output is None and has_raw and not databases:
        path = shlex.quote(printable(str(found.path)))
        notes.append(Note("raw-only", None, None, {"path": path}))
    if not info.files:
        notes.append(Note("info-missing"))
    done = "analyse.done" in names
    if done:
        missing = [n for n in _EXPECTED if n not in names]
        if missing and not databases and _recorded_npu(info) is not False:
            notes.append(Note("analysis-incomplete", None, None, {"missing": ", ".join(missing)}))
    _note_missing_tables(found, info, names, notes)
    identity = f"{found.run}|{found.path.name}"
    return Capture(
        capture_id=hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:12],
        run=found.run,
        name=name,
        path=found.path,
        worker=match.group("worker") if match else name,
        rank=rank,
        info=info,
        files=files,
        notes=tuple(notes),
        analysed=found.output is not None,
        done_marker=done,
    )


def _source_files(listed: tuple[tuple[str, int, int], ...], below: str) -> tuple[SourceFile, ...]:
    """A database is as new as the log beside it: what is written lies there first."""
    times = {name: mtime for name, _, mtime in listed}
    return tuple(
        SourceFile(
            f"{below}{name}", size, max([mtime, *(times.get(name + log, 0) for log in LOGS)])
        )
        for name, size, mtime in listed
    )


def _describe_torch(found: Found) -> Capture:
    """A trace file of torch.profiler as a capture of its own."""
    info = torch_info.read(found.path)
    name = printable(found.path.name)
    candidates = list(info.ranks)
    if named := _RANK_NAME.search(name):
        candidates.append((name, int(named.group(1)[:18])))
    rank = candidates[0][1] if candidates else None
    notes = list(info.notes)
    if len({r for _, r in candidates}) > 1:
        listed = ", ".join(f"{source}: {r}" for source, r in candidates)
        notes.append(Note("rank-conflict", None, None, {"candidates": listed, "rank": rank}))
    identity = f"{found.run}|{found.path.name}"
    return Capture(
        capture_id=hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:12],
        run=found.run,
        name=name,
        path=found.path,
        worker=printable(torch_info.worker_of(found.path.name)),
        rank=rank,
        info=info,
        files=tuple(SourceFile(*file) for file in found.top_files),
        notes=tuple(notes),
        analysed=True,
        done_marker=False,
        torch=True,
    )


def _recorded_npu(info: ProfilerInfo) -> bool | None:
    """Whether the device was recorded; None where the settings do not tell."""
    common = info.config.get("common_config")
    activities = common.get("activities") if isinstance(common, dict) else None
    if not isinstance(activities, list):
        return None
    return any("NPU" in str(a) for a in activities)


def _note_missing_tables(
    found: Found, info: ProfilerInfo, names: set[str], notes: list[Note]
) -> None:
    if found.output is None or any(n.endswith(".db") for n in names):
        return
    why = {
        "Level_none": (" (recorded at Level_none)", "（采集级别为 Level_none）"),
    }.get(info.level or "", ("", ""))
    if _recorded_npu(info) is False:
        why = (" (only the CPU was recorded)", "（只采集了 CPU）")
    _note_missing_memory(info, names, notes)
    _note_missing_communication(names, notes)
    params = {"why": why[0], "why_zh": why[1]}
    if "kernel_details.csv" not in names and not any(n.startswith("op_summary") for n in names):
        notes.append(Note("kernels-missing", f"{OUTPUT}/kernel_details.csv", None, params))
    if "step_trace_time.csv" not in names:
        notes.append(Note("steps-missing", f"{OUTPUT}/step_trace_time.csv", None, params))


def _note_missing_memory(info: ProfilerInfo, names: set[str], notes: list[Note]) -> None:
    blocks = any(n.startswith("operator_memory") for n in names)
    totals = any(n.startswith("memory_record") for n in names)
    if not blocks and not totals:
        common = info.config.get("common_config")
        asked = common.get("profile_memory") if isinstance(common, dict) else None
        why = ("", "")
        if asked is False:
            why = (" (profile_memory was off)", "（profile_memory 未开启）")
        elif asked is True:
            why = (" although profile_memory was on", "（尽管已开启 profile_memory）")
        notes.append(Note("memory-not-recorded", None, None, {"why": why[0], "why_zh": why[1]}))
    elif not blocks:
        params = {"name": "operator_memory.csv", "what": "the single blocks are",
                  "what_zh": "单个内存块"}  # fmt: skip
        notes.append(Note("memory-file-missing", f"{OUTPUT}/operator_memory.csv", None, params))
    elif not totals:
        params = {"name": "memory_record.csv", "what": "the totals over time are",
                  "what_zh": "随时间变化的总量"}  # fmt: skip
        notes.append(Note("memory-file-missing", f"{OUTPUT}/memory_record.csv", None, params))


def _note_missing_communication(names: set[str], notes: list[Note]) -> None:
    """One of the two files without the other; that both are absent the kernels tell, or nothing."""
    operations, matrix = "communication.json", "communication_matrix.json"
    for name, other, what, what_zh in (
        (operations, matrix, "the times, sizes and link types of operations are",
         "通信算子的时间、数据量与链路类型"),
        (matrix, operations, "what each rank sent to which other is", "各卡之间的通信量"),
    ):  # fmt: skip
        if other in names and name not in names and f"{name}.gz" not in names:
            notes.append(Note("communication-file-missing", f"{OUTPUT}/{name}", None, {
                "name": name, "other": other, "what": what, "what_zh": what_zh}))  # fmt: skip


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


def recordings(captures: list[Capture]) -> list[Recording]:
    """Group the captures of one run: at most one per rank, windows overlapping; newest first."""
    groups: list[list[Capture]] = []
    timed = [c for c in captures if c.info.start_ns is not None and c.info.end_ns is not None]
    untimed = [c for c in captures if c.info.start_ns is None or c.info.end_ns is None]
    for capture in sorted(timed, key=lambda c: (c.info.start_ns or 0, c.name)):
        for group in reversed(groups):
            if _overlap(group[0], capture) and not _has_process(group, capture):
                group.append(capture)
                break
        else:
            groups.append([capture])
    # Without times: the k-th capture of each rank belongs to the k-th recording.
    kth: list[list[Capture]] = []
    for capture in sorted(untimed, key=lambda c: (_named_time(c), c.name)):
        for group in kth:
            if not _has_process(group, capture):
                group.append(capture)
                break
        else:
            kth.append([capture])
    ordered = sorted(groups + kth, key=lambda g: _sort_time(g[0]), reverse=True)
    result: list[Recording] = []
    used: dict[str, int] = {}
    for group in reversed(ordered):  # oldest first, so that a newer one never renames an older one
        recording = _recording(group)
        n = used[recording.recording] = used.get(recording.recording, 0) + 1
        if n > 1:
            recording = replace(recording, recording=f"{recording.recording}.{n}")
        result.append(recording)
    return result[::-1]


def _has_process(group: list[Capture], capture: Capture) -> bool:
    """The group holds a capture of this rank, or of this worker where the rank is unknown."""
    if capture.rank is None:
        return any(c.rank is None and c.worker == capture.worker for c in group)
    return any(c.rank == capture.rank for c in group)


def _named_time(capture: Capture) -> str:
    match = _NAME.match(capture.name)
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
