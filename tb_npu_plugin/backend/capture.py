"""One capture: identity (worker, rank, time), settings, files; and captures into recordings."""

from __future__ import annotations

import hashlib
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from tb_npu_plugin.backend.capture_notes import (
    analysis,
    framework_of,
    note_missing_tables,
    note_without_analysis,
)
from tb_npu_plugin.backend.discovery import OUTPUT, Found, unpacked
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers import manifest, parser_logs, profiler_info, torch_info
from tb_npu_plugin.backend.readers.communication_group import CommGroup
from tb_npu_plugin.backend.readers.db_file import LOGS
from tb_npu_plugin.backend.readers.db_identity import NAME
from tb_npu_plugin.backend.readers.manifest import Manifest
from tb_npu_plugin.backend.readers.msprof_files import exported_by_msprof, older_exports, traces
from tb_npu_plugin.backend.readers.profiler_info import ProfilerInfo
from tb_npu_plugin.backend.wording import printable

CAPTURE_NAME = re.compile(r"^(?P<worker>.+)_(?P<time>\d{14}(?:\d{3}|\.\d{1,6})?)_ascend_(?:pt|ms)$")
_HOST_PID = re.compile(r"^(.+?)_\d+$")
_RANK_NAME = re.compile(r"(?:^|[_\-.])rank[_\-]?(\d+)(?=$|[_\-.])", re.IGNORECASE)
#: What an analysis that worked leaves at Level0 and above, whatever the options.
_EXPECTED = ("operator_details.csv", "kernel_details.csv", "step_trace_time.csv", "trace_view.json")


@dataclass(frozen=True)
class SourceFile:
    """A file of a capture. ``rel``: its path relative to the capture directory.

    ``more``: files that hold the rest of what this one begins, and are read with it.
    """

    rel: str
    size: int
    mtime_ns: int
    more: tuple[SourceFile, ...] = ()

    @property
    def name(self) -> str:
        return self.rel.rsplit("/", 1)[-1]

    @property
    def whole(self) -> tuple[SourceFile, ...]:
        """This file and those that are read with it."""
        return (self, *self.more)

    @property
    def bytes(self) -> int:
        return sum(f.size for f in self.whole)


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
    manifest: Manifest | None = None
    """What the handler says of it, where it was recorded with ours."""
    torch: bool = False
    """A trace file of torch.profiler: ``path`` is the file itself."""
    framework: str = ""
    """``torch_npu`` or ``mindspore``; "" where neither recorded it."""
    analysis: str = ""
    """The framework's own command that analyses the raw data."""
    groups: tuple[CommGroup, ...] = ()
    """Its communication groups by an analysis of the job, where that does not lie beside it."""
    store: str = ""
    """The shared store that it is shown from, where its raw files are not in the logdir."""

    @property
    def folder(self) -> Path:
        """The directory that paths of files are relative to."""
        return self.path.parent if self.torch else self.path

    @property
    def label_rank(self) -> str:
        return f"Rank {self.rank}" if self.rank is not None else self.worker

    @property
    def host(self) -> str | None:
        """The machine it was recorded on, as far as its worker's name tells: ``host_pid``."""
        match = _HOST_PID.match(self.worker)
        return match.group(1) if match else None

    @property
    def again(self) -> str:
        """The command that analyses it once more: ours, which knows torch_npu only, or its own."""
        ours = f"tb-npu analyse {shlex.quote(printable(str(self.path)))}"
        return ours if self.framework == "torch_npu" or not self.analysis else self.analysis

    @property
    def bytes(self) -> int:
        return sum(f.bytes for f in self.files)

    def file(self, name: str) -> SourceFile | None:
        """The file of that name, packed or not."""
        return next((f for f in self.files if unpacked(f.name) == name), None)


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
    match = CAPTURE_NAME.match(name)
    inside = found.output is not None and found.output != found.path
    files = _source_files(found.files, f"{OUTPUT}/" if inside else "")
    files += _source_files(found.top_files, "")
    notes = list(info.notes)
    for folder in found.denied:
        notes.append(profiler_info.permission_note(found.path / folder, folder))
    told = manifest.read(home)
    info = _with_manifest(info, told)
    rank = _rank(name, info, told, notes)
    notes += _manifest_notes(told, found) + parser_logs.failed(home)
    names = {unpacked(name) for name in output_names}
    files = _one_trace(_without_older_exports(_once(files), notes))
    exported = any(exported_by_msprof(f.rel) for f in files)
    framework = framework_of(found, info)
    command = analysis(found, framework)
    note_without_analysis(found, bool(databases), exported, command, notes)
    # msprof writes none; and of what was only recorded there is nothing to know yet.
    if not info.files and not exported and not any(n.code == "raw-only" for n in notes):
        notes.append(Note("info-missing"))
    done = "analyse.done" in names
    if done:
        missing = [n for n in _EXPECTED if n not in names]
        if missing and not databases and info.options.npu != 0:
            notes.append(Note("analysis-incomplete", None, None, {"missing": ", ".join(missing)}))
    if names - {name for name in names if exported_by_msprof(name)} or not exported:
        note_missing_tables(found, info, names, notes)
    identity = f"{found.run}|{found.path.name}"
    return Capture(
        capture_id=hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:12],
        run=found.run,
        name=name,
        path=found.path,
        worker=(told and told.worker) or (match.group("worker") if match else name),
        rank=rank,
        info=info,
        files=files,
        notes=tuple(notes),
        analysed=found.output is not None or bool(databases) or exported,
        done_marker=done,
        manifest=told,
        framework=framework,
        analysis=command,
    )


def _rank(name: str, info: ProfilerInfo, told: Manifest | None, notes: list[Note]) -> int | None:
    """The most trusted rank; a conflict between the sources is a finding."""
    candidates = list(info.ranks)
    if told and told.rank is not None:
        candidates.insert(0, (manifest.NAME, told.rank))
    if named := _RANK_NAME.search(name):
        candidates.append((name, int(named.group(1)[:18])))
    rank = candidates[0][1] if candidates else None
    if len({r for _, r in candidates}) > 1:
        listed = ", ".join(f"{source}: {r}" for source, r in candidates)
        notes.append(Note("rank-conflict", None, None, {"candidates": listed, "rank": rank}))
    return rank


def _with_manifest(info: ProfilerInfo, told: Manifest | None) -> ProfilerInfo:
    """``info`` with what only the manifest knows: the size of the job, the window."""
    if told is None:
        return info
    return replace(
        info,
        world_size=told.world_size or info.world_size,
        start_ns=told.start_ns if info.start_ns is None else info.start_ns,
        end_ns=told.end_ns if info.end_ns is None else info.end_ns,
    )


def _manifest_notes(told: Manifest | None, found: Found) -> list[Note]:
    if told is None:
        return []
    path = shlex.quote(printable(str(found.path)))
    params = {"stage": told.stage, "path": path, "reason": told.reason or "?"}
    if told.interrupted():
        return [Note("interrupted", manifest.NAME, None, params)]
    if told.state == "failed":
        params["reason"] = "; ".join([told.reason or "", *told.errors[:3]]).strip("; ") or "?"
        return [Note("recording-failed", manifest.NAME, None, params)]
    return []


def _source_files(listed: tuple[tuple[str, int, int], ...], below: str) -> tuple[SourceFile, ...]:
    """A database is as new as the log beside it: what is written lies there first."""
    times = {name: mtime for name, _, mtime in listed}
    return tuple(
        SourceFile(
            f"{below}{name}", size, max([mtime, *(times.get(name + log, 0) for log in LOGS)])
        )
        for name, size, mtime in listed
    )


def _once(files: tuple[SourceFile, ...]) -> tuple[SourceFile, ...]:
    """``files`` without the packed copy of one that lies beside it: it would count twice."""
    plain = {f.rel for f in files}
    return tuple(f for f in files if f.rel == unpacked(f.rel) or unpacked(f.rel) not in plain)


def _without_older_exports(
    files: tuple[SourceFile, ...], notes: list[Note]
) -> tuple[SourceFile, ...]:
    """Where msprof exported twice, the files of the newest export; the rest would count twice."""
    older = older_exports(f.rel for f in files)
    if older:
        example = min(older)
        notes.append(Note("older-export", example, None, {"count": len(older)}))
    return tuple(f for f in files if f.rel not in older)


def _one_trace(files: tuple[SourceFile, ...]) -> tuple[SourceFile, ...]:
    """``files`` with the pieces of msprof's trace as one, whose tracks would share numbers else.

    An analysis makes trace_view.json of them: where that is, it is shown.
    """
    pieces = [next(f for f in files if f.rel == rel) for rel in traces(f.rel for f in files)]
    others = tuple(f for f in files if f not in pieces)
    if not pieces or any(unpacked(f.name) == "trace_view.json" for f in files):
        return others
    return (*others, replace(pieces[0], more=tuple(pieces[1:])))


def _describe_torch(found: Found) -> Capture:
    """A trace file of torch.profiler as a capture of its own."""
    info = torch_info.read(found.path)
    name = printable(found.path.name)
    told = manifest.read(found.path)
    info = _with_manifest(info, told)
    notes = list(info.notes)
    rank = _rank(name, info, told, notes)
    notes += _manifest_notes(told, found)
    identity = f"{found.run}|{found.path.name}"
    return Capture(
        capture_id=hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:12],
        run=found.run,
        name=name,
        path=found.path,
        worker=(told and told.worker) or printable(torch_info.worker_of(found.path.name)),
        rank=rank,
        info=info,
        files=tuple(SourceFile(*file) for file in found.top_files),
        notes=tuple(notes),
        analysed=True,
        done_marker=False,
        manifest=told,
        torch=True,
    )
