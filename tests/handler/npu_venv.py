"""A virtual environment with the real torch_npu, and the CANN stub it needs on a host without an NPU.

    python tests/handler/npu_venv.py            build what is missing, print where it is
    python tests/handler/npu_venv.py --extras   also what the framework callbacks are tested with

They live outside the repository: in ``$TB_NPU_TEST_VENVS``, else in the user's cache directory.
"""

import argparse
import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "tests" / "cann_stub"
LINE = ["torch==2.13.0", "numpy", "pyyaml", "decorator", "psutil", "scipy", "attrs", "setuptools"]
ALONE = ["torch_npu==2.13.0"]
EXTRAS = ["transformers", "accelerate", "lightning", "fsspec"]
VIEWER = ["torch-tb-profiler==0.4.3", "tensorboard==2.21.0", "setuptools<82"]


class Environment(NamedTuple):
    """``python``: its interpreter; ``stub``: the folder for LD_LIBRARY_PATH."""

    python: Path
    stub: Path

    def variables(self) -> dict[str, str]:
        """What to set for a script in it, on top of a plain environment."""
        return {"LD_LIBRARY_PATH": str(self.stub), "PYTHONPATH": str(ROOT / "handler")}


def home() -> Path:
    chosen = os.environ.get("TB_NPU_TEST_VENVS")
    if chosen:
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "tb-npu-tests"


def recorder() -> Environment:
    """The venv with torch and torch_npu, built if it is not there.  Raises ``RuntimeError``."""
    folder = _venv("recorder", [LINE], [ALONE])
    python = folder / "bin" / "python"
    stub = folder / "cann_stub"
    package = next((folder / "lib").glob("python3*/site-packages/torch_npu"))
    _run([str(python), str(STUB / "build.py"), str(stub), "--torch-npu", str(package)])
    return Environment(python, stub)


def with_frameworks() -> Environment:
    """The same, with transformers and lightning on top.  Raises ``RuntimeError``."""
    base = recorder()
    folder = _venv("frameworks", [[*LINE, *EXTRAS]], [ALONE])
    return Environment(folder / "bin" / "python", base.stub)


def viewer() -> Path:
    """The interpreter of a venv with the PyTorch Profiler tab and today's TensorBoard."""
    return _venv("viewer", [VIEWER], []) / "bin" / "python"


def _venv(name: str, wanted: list[list[str]], alone: list[list[str]]) -> Path:
    key = hashlib.sha256(repr((sys.version_info[:2], wanted, alone)).encode()).hexdigest()[:10]
    folder = home() / f"{name}-{key}"
    home().mkdir(parents=True, exist_ok=True)
    with open(home() / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / "ready").exists():
            return folder
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        for packages in wanted:
            _run(pip + packages)
        for packages in alone:
            _run([*pip, "--no-deps", *packages])
        (folder / "ready").touch()
    return folder


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError("{}\n{}".format(" ".join(command), (done.stdout + done.stderr)[-3000:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", action="store_true", help="also the callbacks' frameworks")
    args = parser.parse_args()
    print(recorder())
    print(viewer())
    if args.extras:
        print(with_frameworks())


if __name__ == "__main__":
    main()
