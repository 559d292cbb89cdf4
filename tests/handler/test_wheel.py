"""The handler's own wheel: no dependencies, Python 3.8 and up, only its package."""

import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from conftest import ROOT, plain, required


def test_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet"]
    source = tmp_path / "handler"
    listed = ["pyproject.toml", "README.md", *(ROOT / "handler" / "tb_npu_handler").glob("*.py")]
    (source / "tb_npu_handler").mkdir(parents=True)
    for one in listed:
        path = ROOT / "handler" / one
        (source / path.relative_to(ROOT / "handler")).write_bytes(path.read_bytes())
    (source / "tb_npu_handler" / "py.typed").touch()
    done = subprocess.run(
        [*command, str(source), "-w", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and not required():
        pytest.skip("the build backend cannot be fetched: " + done.stderr[-300:])
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "out").glob("tb_npu_handler-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (meta,) = [name for name in names if name.endswith("METADATA")]
        found = Parser().parsestr(packed.read(meta).decode())
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"tb_npu_handler"}
    assert found["Requires-Python"] == ">=3.8"
    assert [one for one in found.get_all("Requires-Dist", []) if "extra" not in one] == []
    code = "import tb_npu_handler as h; print(h.__version__, h.__file__)"
    told = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**plain(), "PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert told[0] == found["Version"]
    assert told[1].startswith(str(wheel))


@pytest.mark.parametrize("minor", [8, 9, 10, 12, 13])
def test_it_imports_on_each_python_here(minor: int, tmp_path: Path) -> None:
    """Python 3.8 is the oldest in the field; those that are not installed here are skipped."""
    name = f"python3.{minor}"
    env = {**plain(), "PYTHONPATH": str(ROOT / "handler"), "PYTHONDONTWRITEBYTECODE": "1"}
    found = [Path(folder) / name for folder in os.environ["PATH"].split(os.pathsep)]
    found += sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}"))
    code = (
        "import importlib, pkgutil, tb_npu_handler as h\n"
        "skip = ('huggingface', 'lightning')\n"
        "names = [m.name for m in pkgutil.iter_modules(h.__path__) if m.name not in skip]\n"
        "[importlib.import_module('tb_npu_handler.' + name) for name in names]\n"
        "from tb_npu_handler.doctor import examine\n"
        "print(len(names), len(examine('.')))\n"
    )
    for python in found:
        if not python.exists():
            continue
        done = subprocess.run(
            [str(python), "-c", code],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        if "command not found" in done.stderr or "pyenv" in done.stderr:
            continue
        assert done.returncode == 0, done.stderr
        assert int(done.stdout.split()[0]) > 20
        return
    pytest.skip(name + " is not installed")
