"""Where captures are recorded, and where they are to end up if that is another place."""

from __future__ import annotations

import getpass
import hashlib
import os
import tempfile
from dataclasses import dataclass
from typing import Optional

from . import npu_api
from .say import reason_of, say


@dataclass(frozen=True)
class Place:
    """``folder``: an absolute local directory to record in; ``target``: a URL or another local
    directory that the detached process brings finished captures to, or ``None``."""

    folder: str
    target: Optional[str] = None


def choose(wanted: str) -> Place:
    """The place for ``wanted``: itself where one can record there, else a local staging directory.

    A remote URL, a directory that cannot be made or written, and a path that this torch_npu refuses
    are recorded in the staging directory and delivered later.  Raises ``OSError`` only if there is
    no writable staging directory either.
    """
    if is_remote(wanted):
        return Place(_make(staging(wanted)), wanted)
    folder = os.path.abspath(os.path.expanduser(wanted))
    try:
        _make(folder)
        refused = npu_api.accepts(folder)
        problem = None if refused is None else "torch_npu refuses this path ({})".format(refused)
    except OSError as error:
        problem = reason_of(error)
    if problem is None:
        return Place(folder)
    staged = _make(staging(folder))
    say(
        "npu_handler: cannot record in {}: {}; recording in {} and moving captures when that "
        "becomes possible".format(folder, problem, staged)
    )
    return Place(staged, folder)


def is_remote(path: str) -> bool:
    return "://" in path


def staging(wanted: str) -> str:
    """The local stand-in for ``wanted``, below ``$TB_NPU_STAGING`` or the temporary directory."""
    root = os.environ.get("TB_NPU_STAGING")
    if not root:
        root = os.path.join(tempfile.gettempdir(), "tb_npu_handler-" + _user())
    return os.path.join(root, hashlib.sha256(os.fsencode(wanted)).hexdigest()[:12])


def _make(folder: str) -> str:
    os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, "no permission to write", folder)
    return folder


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return str(os.getuid())
