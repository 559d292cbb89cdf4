"""Build of tb-npu-plugin: the Python packages, and the frontend that they serve.

The frontend is compiled (npm ci, vite) into ``tb_npu_plugin/static`` when the stamp there differs
from the hash of its sources; sdists and wheels carry the result, so installing one needs no Node.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "scripts"))

from build_frontend import build_frontend  # noqa: E402


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
