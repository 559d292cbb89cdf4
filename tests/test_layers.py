"""Which module may import which: from what lies before it on the data's way, never after it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tb_npu_plugin"
#: Modules and packages of the backend in the order of the data's way; one line is one layer.
LAYERS = [
    ("i18n", "errors", "wording", "results", "schema", "api_schema"),
    ("finding_kinds",),
    ("findings",),
    ("downsample", "slice_index", "overlap", "summaries"),
    ("readers",),
    ("engine",),
    ("discovery", "capture_notes", "capture", "recordings"),
    ("cache", "shared_store", "ingest", "worker", "process", "pool"),
    ("settings", "file_state", "description", "answers", "folds"),
    ("stored", "ingest_capture", "prune_store"),
    ("executors", "ingest_many"),
    ("store",),
    ("ranges", "selection", "filters", "tables", "listed"),
    ("timeline",),
    ("views",),
    ("timeline_api", "ahead"),
    ("api",),
]
LAYER = {name: i for i, names in enumerate(LAYERS) for name in names}
#: What must still be put right: (importing module, imported module).
DEBTS: set[tuple[str, str]] = set()
#: The generator takes the hash of a group's name from the reader that looks it up.
AROUND_DEBTS = {("sample/groups.py", "tb_npu_plugin.backend.readers.communication_group")}
#: What lies around the backend, and what of it may be imported there.
AROUND = {
    "frames": {"backend"},
    "reports": {"backend"},
    "trace_reports": {"backend"},
    "terminal": {"backend", "frames", "reports", "trace_reports"},
    "ingest_command": {"backend", "reports"},
    "cli": {"backend", "terminal", "reports", "ingest_command", "sample", "demo"},
    "plugin": {"backend"},
    "demo": {"sample"},
    "sample": {"sample"},
    "__init__": {"frames"},
}


def imported(path: Path) -> Iterator[str]:
    """Dotted names of this package that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith("tb_npu_plugin"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tb_npu_plugin"):
            assert node.level == 0
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                file = ROOT / f"{name.replace('.', '/')}.py"
                yield name if file.exists() or file.with_suffix("").is_dir() else str(node.module)


def test_the_backend_imports_only_from_before() -> None:
    wrong = set()
    for path in sorted((PACKAGE / "backend").rglob("*.py")):
        parts = path.relative_to(PACKAGE / "backend").with_suffix("").parts
        if parts == ("__init__",):
            continue
        own = parts[0]
        assert own in LAYER, f"which layer is backend/{own}? Add it to LAYERS"
        for name in imported(path):
            words = name.split(".")
            after = words[1] != "backend" if len(words) > 1 else False
            if len(words) > 2 and words[1] == "backend":
                after = LAYER[words[2]] > LAYER[own]
            if after:
                wrong.add((f"backend/{'/'.join(parts)}", name))
    assert wrong == DEBTS


def test_readers_know_formats_and_nobody_else_does() -> None:
    """Views use of readers only names, quoting and what the cache holds, not how files look."""
    allowed = {"csv_file", "communication_group"}
    for path in sorted((PACKAGE / "backend/views").rglob("*.py")):
        for name in imported(path):
            words = name.split(".")
            if words[2:3] == ["readers"] and len(words) > 3:
                assert words[3] in allowed, f"{path.name} imports {name}"


@pytest.mark.parametrize("name", AROUND)
def test_what_lies_around_the_backend(name: str) -> None:
    found = PACKAGE / name
    for path in found.rglob("*.py") if found.is_dir() else [found.with_suffix(".py")]:
        for module in imported(path):
            words = module.split(".")
            if (f"{name}/{path.name}", module) not in AROUND_DEBTS:
                assert len(words) == 1 or words[1] in AROUND[name], f"{path.name} imports {module}"


def test_the_record_side_shares_nothing_but_files() -> None:
    for path in (ROOT / "handler/tb_npu_handler").rglob("*.py"):
        assert not list(imported(path)), path.name


def test_the_entry_point_imports_next_to_nothing() -> None:
    """An ImportError there would stop TensorBoard itself, and its start would wait for pandas."""
    code = (
        "import sys; from tensorboard.plugins import base_plugin; before = set(sys.modules)\n"
        "import tb_npu_plugin.plugin\n"
        "new = {m.split('.')[0] for m in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "['tb_npu_plugin']"


def test_importing_the_package_costs_nothing() -> None:
    code = "import sys, tb_npu_plugin; print('pandas' in sys.modules, 'duckdb' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == ["False", "False"]
