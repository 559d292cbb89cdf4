"""From a logdir to capture directories: by content, at any depth, never by name.

Symbolic links are followed once: one real directory is one capture, loops end.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tb_npu_plugin.backend.readers import manifest, msprof_files
from tb_npu_plugin.backend.wording import printable

OUTPUT = "ASCEND_PROFILER_OUTPUT"
#: Marks a shared store of captures that were read already; there is nothing to search in it.
STORE_MARK = "store.json"
MAX_DEPTH = 40
MAX_DIRECTORIES = 200_000
_MAX_MANIFEST = 16 << 20
_INFO = re.compile(r"^profiler_info(_\d+)?\.json$")
_PROF = re.compile(r"^PROF_\d+_\d+_\w+$")
#: What PROF_… holds: data of CANN that was not exported.
_RAW = re.compile(r"^(?:host|device_\d+)$")
_URI = re.compile(r"[a-zA-Z][0-9a-zA-Z.]*://")
_TRACE = re.compile(r"\.pt\.trace\.json(\.gz)?$")
_DATABASE = re.compile(
    r"^(?:ascend_(?:pytorch|mindspore)_profiler(?:_\d+)?|msprof_\w+|msmonitor_\w+|analysis"
    r"|communication_analyzer)\.db$"
)
#: Files that only ASCEND_PROFILER_OUTPUT holds: a copy of that folder alone is a capture too.
_OUTPUT_FILES = frozenset(
    ("kernel_details.csv", "step_trace_time.csv", "operator_details.csv", "trace_view.json")
)


@dataclass(frozen=True)
class Root:
    """A directory to search. ``name``: prefix of its runs (``--logdir_spec``), else empty."""

    path: Path
    name: str = ""

    def __post_init__(self) -> None:
        # Absolute, so that the directory has a name even where it was given as "." or "..".
        known = os.path.realpath if ".." in self.path.parts else os.path.abspath
        object.__setattr__(self, "path", Path(known(self.path)))


@dataclass(frozen=True)
class Found:
    """A capture directory, or a trace file of torch.profiler (``torch``). ``run``: its parent relative
    to the root; ``output``: where the views are, None where the capture was never analysed. Files are
    (name, size, mtime_ns)."""

    run: str
    path: Path
    output: Path | None
    files: tuple[tuple[str, int, int], ...]
    top_files: tuple[tuple[str, int, int], ...]
    folders: tuple[str, ...]
    denied: tuple[str, ...] = ()
    torch: bool = False


@dataclass
class Scan:
    """Result of one scan: captures, and how many directories were read. ``stores``: (path, name of
    the root) of shared stores."""

    found: list[Found] = field(default_factory=list)
    directories: int = 0
    denied: list[str] = field(default_factory=list)
    stores: list[tuple[Path, str]] = field(default_factory=list)


def parse_logdir_spec(spec: str) -> list[Root]:
    """``name:path,path2`` as TensorBoard reads ``--logdir_spec``; a leading ``/`` means no name."""
    names: dict[str, str] = {}
    for item in spec.split(","):
        if not item.strip():
            continue
        name, sep, path = item.partition(":")
        named = bool(sep) and not item.startswith("/") and not _URI.match(item)
        names[(path if named else item).strip()] = name.strip() if named else ""
    return [Root(Path(path).expanduser(), name) for path, name in names.items() if path]


def scan(roots: list[Root]) -> Scan:
    """Search ``roots``. Never raises for what it finds; unreadable directories are listed."""
    result = Scan()
    seen: set[str] = set()
    links: list[tuple[Root, Path, int]] = []
    for root in roots:
        _walk(root, root.path, 0, seen, links, result)
    # All real directories before any link, so that a link to a capture is the alias, not the capture.
    for link in links:  # which grows meanwhile
        _walk(*link, seen, links, result)
    return result


def _entries(path: Path, result: Scan) -> list[os.DirEntry[str]] | None:
    try:
        with os.scandir(path) as it:
            return sorted(it, key=lambda e: e.name)
    except PermissionError:
        result.denied.append(str(path))
    except OSError:
        pass
    return None


def _walk(
    root: Root,
    path: Path,
    depth: int,
    seen: set[str],
    links: list[tuple[Root, Path, int]],
    result: Scan,
) -> None:
    real = os.path.realpath(path)
    if real in seen or depth > MAX_DEPTH or result.directories >= MAX_DIRECTORIES:
        return
    seen.add(real)
    entries = _entries(path, result)
    if entries is None:
        return
    result.directories += 1
    folders = {e.name: e for e in entries if _is_dir(e)}
    files = [e for e in entries if e.name not in folders]
    names = {e.name for e in files}
    if STORE_MARK in names and "v1" in folders:
        result.stores.append((path, root.name))
        return
    is_output = (
        path.name == OUTPUT
        or any(unpacked(name) in _OUTPUT_FILES for name in names)
        or any(_DATABASE.match(name) or msprof_files.is_export(name) for name in names)
    )
    is_capture = (
        OUTPUT in folders
        or "FRAMEWORK" in folders
        or msprof_files.FOLDER in folders
        or any(_INFO.match(n) for n in names)
        or _marked_by_prof(path.name, folders)
        or (manifest.NAME in names and manifest.read(path) is not None)
    )
    if is_capture or is_output:
        result.found.append(_found(root, path, folders, files, is_capture, result))
        return
    result.found += _torch_traces(root, path, files, folders, seen)
    for entry in folders.values():
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            links.append((root, Path(entry.path), depth + 1))
        else:
            _walk(root, Path(entry.path), depth + 1, seen, links, result)


def is_prof(name: str) -> bool:
    """Whether a folder of that name is one of CANN's: ``PROF_<n>_<time>_<random>``."""
    return bool(_PROF.match(name))


def _marked_by_prof(name: str, folders: dict[str, os.DirEntry[str]]) -> bool:
    """PROF_… marks the directory above it; several of them, with nothing else, are a process each."""
    inside = sum(is_prof(folder) for folder in folders)
    return inside == 1 or (is_prof(name) and any(_RAW.match(f) for f in folders))


def _found(
    root: Root,
    path: Path,
    folders: dict[str, os.DirEntry[str]],
    files: list[os.DirEntry[str]],
    is_capture: bool,
    result: Scan,
) -> Found:
    denied: tuple[str, ...] = ()
    output: Path | None = None
    output_files: tuple[tuple[str, int, int], ...] = ()
    if not is_capture:
        output, output_files = path, _stats(files)
    elif OUTPUT in folders:
        output = path / OUTPUT
        entries = _entries(output, result)
        if entries is None:
            denied = (OUTPUT,)
        output_files = _stats([e for e in entries or [] if not _is_dir(e)])
    top_files = _stats(files) if is_capture else ()
    if is_capture:
        top_files += _exported(folders, result, analysed=output is not None)
    return Found(
        run=_run(root, path.parent if path != root.path else path),
        path=path,
        output=output,
        files=output_files,
        top_files=top_files,
        folders=tuple(folders),
        denied=denied,
    )


def _torch_traces(
    root: Root,
    path: Path,
    files: list[os.DirEntry[str]],
    folders: dict[str, os.DirEntry[str]],
    seen: set[str],
) -> list[Found]:
    """Traces of torch.profiler in a directory, but for those that were made from a capture in it."""
    traces = [e for e in files if _TRACE.search(e.name)]
    if not traces:
        return []
    exported = {name for folder in folders.values() for name in _exports(folder.path)}
    found = []
    for entry in traces:
        real = os.path.realpath(entry.path)
        stats = _stats([entry])
        if entry.name in exported or real in seen or not stats:
            continue
        seen.add(real)
        found.append(Found(_run(root, path), Path(entry.path), None, (), stats, (), torch=True))
    return found


def _exports(capture: str) -> list[str]:
    """Names of the files beside a capture that its manifest says were made from it."""
    path = Path(capture) / manifest.NAME
    try:
        if path.stat().st_size > _MAX_MANIFEST:
            return []
        exports = json.loads(path.read_bytes()).get("exports", [])
        paths = [PurePosixPath(str(e["path"]).replace("\\", "/")) for e in exports]
    except (OSError, ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return []
    return [p.name for p in paths if len(p.parts) == 2 and p.parts[0] == ".."]


def _exported(
    folders: dict[str, os.DirEntry[str]], result: Scan, *, analysed: bool
) -> tuple[tuple[str, int, int], ...]:
    """What CANN exported beside ASCEND_PROFILER_OUTPUT or in its place, relative to the capture.

    Its databases only where torch_npu never analysed: it moves them into its output otherwise.
    """
    found: list[tuple[str, int, int]] = []

    def add(path: str, below: str, wanted: Callable[[str], bool]) -> None:
        entries = _entries(Path(path), result) or []
        files = [e for e in entries if wanted(e.name) and not _is_dir(e)]
        found.extend((f"{below}/{name}", size, time) for name, size, time in _stats(files))

    for name in sorted(n for n in folders if is_prof(n)):
        if not analysed:
            add(folders[name].path, name, lambda file: bool(_DATABASE.match(file)))
        inner = Path(folders[name].path) / msprof_files.FOLDER
        if inner.is_dir():
            add(str(inner), f"{name}/{msprof_files.FOLDER}", _is_table)
    if msprof_files.FOLDER in folders:
        add(folders[msprof_files.FOLDER].path, msprof_files.FOLDER, _is_table)
    return tuple(found)


def unpacked(name: str) -> str:
    """The name that a packed file had: every reader of text takes ``x.csv.gz`` for ``x.csv``."""
    return name.removesuffix(".gz")


def _is_table(name: str) -> bool:
    return unpacked(name).endswith((".csv", ".json"))


def _run(root: Root, directory: Path) -> str:
    rel = printable(directory.relative_to(root.path).as_posix())
    if not root.name:
        return rel
    return root.name if rel == "." else f"{root.name}/{rel}"


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _stats(entries: list[os.DirEntry[str]]) -> tuple[tuple[str, int, int], ...]:
    out = []
    for entry in entries:
        try:
            found = entry.stat()
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):  # a pipe would keep whoever opens it waiting for ever
            out.append((entry.name, found.st_size, found.st_mtime_ns))
    return tuple(sorted(out))
