"""Compile the frontend into ``tb_npu_plugin/static`` when its sources changed.

Called by setup.py (build_py, sdist, editable installs) and by make. The stamp beside the result is
a hash of everything the result depends on. Does nothing where there are no sources (an sdist).
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
FRONTEND = ROOT / "tb_npu_plugin" / "frontend"
STATIC = ROOT / "tb_npu_plugin" / "static"
STAMP = STATIC / "sources.sha256"
SOURCES = ("src/**/*", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")


def sources_hash() -> str:
    """Hash over names and content of everything the built frontend depends on."""
    digest = hashlib.sha256()
    files = {f for pattern in SOURCES for f in FRONTEND.glob(pattern) if f.is_file()}
    for file in sorted(files):
        if file.name.endswith(".test.ts"):
            continue
        digest.update(file.relative_to(FRONTEND).as_posix().encode() + b"\0")
        digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()


def build_frontend() -> None:
    """Bring ``static/`` up to date. Exits with a remedy where Node.js is missing."""
    if not (FRONTEND / "package.json").exists():
        return
    wanted = sources_hash()
    if STAMP.exists() and STAMP.read_text().strip() == wanted and _installed():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit(
            "Building the frontend needs Node.js 20.19 or newer with npm, and none was found.\n"
            "Install it, or install tb-npu-plugin from a wheel, which carries the built frontend."
        )
    subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=FRONTEND, check=True)
    subprocess.run([npm, "run", "build"], cwd=FRONTEND, check=True)
    STAMP.write_text(wanted + "\n")


def _installed() -> bool:
    """Whether the built entry is really there (the stamp alone may have been copied)."""
    return (STATIC / "index.js").exists()


if __name__ == "__main__":
    build_frontend()
