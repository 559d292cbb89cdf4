"""From a logdir to capture directories: by content, at any depth, never by name.

Symbolic links are followed once: one real directory is one capture, loops end.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from tb_npu_plugin.backend.wording import printable

OUTPUT = "ASCEND_PROFILER_OUTPUT"
MAX_DEPTH = 40
MAX_DIRECTORIES = 200_000
_INFO = re.compile(r"^profiler_info(_\d+)?\.json$")
_PROF = re.compile(r"^PROF_\d+_\d+_\w+$")
_URI = re.compile(r"[a-zA-Z][0-9a-zA-Z.]*://")
_TRACE = re.compile(r"\.pt\.trace\.json(\.gz)?$")
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
    """A capture directory. ``run``: its parent relative to the root; ``output``: where the views
    are, None where the capture was never analysed. Files are (name, size, mtime_ns)."""

    run: str
    path: Path
    output: Path | None
    files: tuple[tuple[str, int, int], ...]
    top_files: tuple[tuple[str, int, int], ...]
    folders: tuple[str, ...]
    denied: tuple[str, ...] = ()


@dataclass
class Scan:
    """Result of one scan: captures, how many directories were read, traces of torch.profiler."""

    found: list[Found] = field(default_factory=list)
    directories: int = 0
    torch_traces: int = 0
    denied: list[str] = field(default_factory=list)


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
    is_output = path.name == OUTPUT or bool(names & _OUTPUT_FILES)
    is_capture = (
        OUTPUT in folders
        or "FRAMEWORK" in folders
        or "mindstudio_profiler_output" in folders
        or any(_INFO.match(n) for n in names)
        or any(_PROF.match(n) for n in folders)
    )
    if is_capture or is_output:
        result.found.append(_found(root, path, folders, files, is_capture, result))
        return
    result.torch_traces += sum(bool(_TRACE.search(n)) for n in names)
    for entry in folders.values():
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            links.append((root, Path(entry.path), depth + 1))
        else:
            _walk(root, Path(entry.path), depth + 1, seen, links, result)


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
    return Found(
        run=_run(root, path.parent if path != root.path else path),
        path=path,
        output=output,
        files=output_files,
        top_files=_stats(files) if is_capture else (),
        folders=tuple(folders),
        denied=denied,
    )


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
            stat = entry.stat()
        except OSError:
            continue
        out.append((entry.name, stat.st_size, stat.st_mtime_ns))
    return tuple(sorted(out))
