"""Build of tb-npu-plugin: the Python packages, and the frontend that they serve.

The frontend is compiled (npm ci, vite) into ``tb_npu_plugin/static`` when the stamp there differs
from the hash of its sources; sdists and wheels carry the result, so installing one needs no Node.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
FRONTEND = ROOT / "tb_npu_plugin" / "frontend"
STATIC = ROOT / "tb_npu_plugin" / "static"
STAMP = STATIC / "sources.sha256"
SOURCES = ("src/**/*", "scripts/*", "*.json", "*.ts", ".npmrc")


def frontend_hash() -> str:
    """Hash over names and content of everything the built frontend depends on."""
    digest = hashlib.sha256()
    files = {f for pattern in SOURCES for f in FRONTEND.glob(pattern) if f.is_file()}
    for file in sorted(files):
        digest.update(file.relative_to(FRONTEND).as_posix().encode() + b"\0")
        digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()


def build_frontend() -> None:
    """Bring ``static/`` up to date with the sources; does nothing where they are absent."""
    if not (FRONTEND / "package.json").exists():  # an sdist without sources carries static/
        return
    wanted = frontend_hash()
    if STAMP.exists() and STAMP.read_text().strip() == wanted:
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


class BuildPy(build_py):
    def run(self) -> None:
        build_frontend()
        super().run()


class EditableWheel(editable_wheel):
    def run(self) -> None:
        build_frontend()
        super().run()


class Sdist(sdist):
    def run(self) -> None:
        build_frontend()
        super().run()


def version() -> str:
    text = (ROOT / "tb_npu_plugin" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'__version__ = "([^"]+)"', text)
    assert match, "no version in tb_npu_plugin/__init__.py"
    return match.group(1)


setup(
    version=version(),
    packages=[
        *find_packages(include=["tb_npu_plugin", "tb_npu_plugin.*"], exclude=["*.frontend*"]),
        *find_packages("handler", include=["tb_npu_handler", "tb_npu_handler.*"]),
    ],
    package_dir={"tb_npu_handler": "handler/tb_npu_handler"},
    package_data={
        "tb_npu_plugin": ["static/**/*", "py.typed"],
        "tb_npu_handler": ["py.typed"],
    },
    cmdclass={"build_py": BuildPy, "sdist": Sdist, "editable_wheel": EditableWheel},
)
