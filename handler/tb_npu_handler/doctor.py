"""Is this environment fit to record, analyse and show?  One check per thing that has failed for
others.

Versions come from installed packages' metadata: neither torch nor TensorBoard is imported.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from typing import List, Optional

from .pairs import numpy_problem, pair_problem, tensorboard_problem

OK, WARN, FAIL = "ok", "warn", "fail"
CANN_FILES = ("version.cfg", "ascend_toolkit_install.info", "version.info")
ENTRY_GROUP = "tensorboard_plugins"
ENTRY_NAME = "npu_profiler"


@dataclass(frozen=True)
class Check:
    """``name``; ``status``: ``ok``, ``warn`` or ``fail``; ``detail``: what was found; ``remedy``:
    what to do, or empty.
    """

    name: str
    status: str
    detail: str
    remedy: str = ""


def examine(logdir: Optional[str] = None) -> List[Check]:
    """Every check, in a fixed order; ``logdir`` adds a write test and the free space there."""
    torch, torch_npu = version("torch"), version("torch_npu") or version("torch-npu")
    checks = [_interpreter(), _torch(torch), _torch_npu(torch, torch_npu)]
    checks += [_cann(torch_npu), _msprof(torch_npu), _switches(), _tensorboard()]
    checks += [_plugin(), _packages(torch)]
    if logdir is not None:
        checks += [_writable(logdir), _space(logdir)]
    return checks


def version(name: str) -> Optional[str]:
    """The installed version of a distribution, or ``None``."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _interpreter() -> Check:
    detail = "Python {}.{}.{} at {}".format(*sys.version_info[:3], sys.executable)
    if sys.version_info < (3, 10):
        remedy = "recording works from 3.8; to view, use Python 3.10 or newer"
        return Check("python", WARN, detail, remedy)
    return Check("python", OK, detail)


def _torch(torch: Optional[str]) -> Check:
    if torch is None:
        return Check("torch", WARN, "not installed", "only needed where jobs are recorded")
    return Check("torch", OK, torch)


def _torch_npu(torch: Optional[str], torch_npu: Optional[str]) -> Check:
    if torch_npu is None:
        remedy = "needed to record on an NPU and to analyse raw captures; not for viewing"
        return Check("torch_npu", WARN, "not installed", remedy)
    problem = pair_problem(torch, torch_npu)
    if problem:
        return Check("torch_npu", FAIL, problem, "pip install torch_npu=={}".format(_base(torch)))
    return Check("torch_npu", OK, torch_npu)


def _base(torch: Optional[str]) -> str:
    match = re.match(r"\d+(\.\d+)*", torch or "")
    return match.group() if match else "<the version of torch>"


def _cann(torch_npu: Optional[str]) -> Check:
    home = os.environ.get("ASCEND_HOME_PATH") or os.environ.get("ASCEND_TOOLKIT_HOME")
    if not home:
        status = WARN if torch_npu is None else FAIL
        remedy = "source CANN's set_env.sh before the job"
        return Check("cann", status, "ASCEND_HOME_PATH is not set", remedy)
    for pattern in CANN_FILES + ("*/" + CANN_FILES[1], "compiler/" + CANN_FILES[2]):
        for path in sorted(glob.glob(os.path.join(glob.escape(home), pattern))):
            found = _version_in(path)
            if found:
                return Check("cann", OK, "{} in {}".format(found, home))
    if not os.path.isdir(home):
        return Check("cann", FAIL, home + " is not there", "check ASCEND_HOME_PATH")
    return Check("cann", WARN, "version not found in " + home)


def _version_in(path: str) -> Optional[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            match = re.search(r"^\s*\w*[Vv]ersion\w*\s*=\s*\[?\s*([^\s\]]+)", stream.read(), re.M)
    except OSError:
        return None
    return match.group(1).rpartition(":")[2] if match else None


def _msprof(torch_npu: Optional[str]) -> Check:
    found = shutil.which("msprof")
    if found:
        return Check("msprof", OK, found)
    status = WARN if torch_npu is None else FAIL
    remedy = "source CANN's set_env.sh: without msprof an analysis gives host data only"
    return Check("msprof", status, "not on PATH", remedy)


def _switches() -> Check:
    """Variables with which torch_npu's profiler records nothing."""
    names = ("PROFILING_MODE", "PROFILER_SAMPLECONFIG")
    found = [name for name in names if os.environ.get(name)]
    if found:
        detail = "{} set: torch_npu's profiler does nothing".format(" and ".join(found))
        return Check("environment", FAIL, detail, "unset " + " ".join(found))
    return Check("environment", OK, "nothing that switches the profiler off")


def _tensorboard() -> Check:
    tensorboard = version("tensorboard") or version("tensorboard-nightly")
    if tensorboard is None:
        return Check(
            "tensorboard", WARN, "not installed", "needed to view: pip install tensorboard"
        )
    problem = tensorboard_problem(tensorboard, version("setuptools"))
    if problem:
        remedy = "pip install 'tensorboard>=2.21', or 'setuptools<82'"
        return Check("tensorboard", FAIL, problem, remedy)
    return Check("tensorboard", OK, tensorboard)


def _plugin() -> Check:
    installed = version("tb-npu-plugin")
    if installed is None:
        remedy = "needed to view: pip install tb-npu-plugin"
        return Check("plugin", WARN, "tb-npu-plugin is not installed here", remedy)
    names = [point.name for point in _entry_points()]
    if ENTRY_NAME not in names:
        detail = "{}: its entry point is not registered (found: {})".format(installed, names)
        return Check(
            "plugin", FAIL, detail, "install it again: pip install --force-reinstall tb-npu-plugin"
        )
    return Check("plugin", OK, "{}, registered with TensorBoard".format(installed))


def _entry_points() -> List[metadata.EntryPoint]:
    found = metadata.entry_points()
    if hasattr(found, "select"):
        return list(found.select(group=ENTRY_GROUP))
    return list(found.get(ENTRY_GROUP, ()))  # Python 3.8 and 3.9


def _packages(torch: Optional[str]) -> Check:
    problem = numpy_problem(torch, version("numpy"))
    if problem:
        return Check("packages", FAIL, problem, "pip install 'numpy<2'")
    return Check("packages", OK, "no known bad pair")


def _writable(logdir: str) -> Check:
    if "://" in logdir:
        if version("fsspec") is None:
            return Check("logdir", FAIL, "a URL needs fsspec", "pip install fsspec")
        return Check("logdir", OK, "{} through fsspec {}".format(logdir, version("fsspec")))
    folder = os.path.abspath(os.path.expanduser(logdir))
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".tb-npu-doctor-") as stream:
            stream.write(b"x")
            stream.flush()
    except OSError as error:
        detail = "cannot write in {}: {}".format(folder, error.strerror or error)
        return Check(
            "logdir", FAIL, detail, "choose another directory; captures would be staged elsewhere"
        )
    return Check("logdir", OK, folder + " can be written")


def _space(logdir: str) -> Check:
    folder = os.path.abspath(os.path.expanduser(logdir))
    if "://" in logdir:
        folder = tempfile.gettempdir()
    while folder != os.path.dirname(folder) and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    free = shutil.disk_usage(folder).free / 1e9
    detail = "{:.1f} GB free at {}".format(free, folder)
    if free < 2.0:
        return Check("space", FAIL, detail, "make room: below 2 GB captures are not analysed")
    if free < 20.0:
        return Check("space", WARN, detail, "a Level1 capture of a large model takes several GB")
    return Check("space", OK, detail)
