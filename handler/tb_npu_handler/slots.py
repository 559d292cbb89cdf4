"""Take turns: few analyses at a time on a host, and one per capture.

Locks are files below the temporary directory; the kernel frees them when their holder dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from typing import IO, Callable, Iterator, Optional

from .place import staging

WAIT_S = 0.5


def count() -> int:
    """How many analyses may run on this host at a time: ``$TB_NPU_SLOTS``, else one per 16 CPUs, at
    most 4.
    """
    wanted = os.environ.get("TB_NPU_SLOTS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return max(1, min(4, (os.cpu_count() or 1) // 16))


@contextlib.contextmanager
def turn(beat: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold one of the host's slots; waits for one, calling ``beat`` all the while."""
    held = None
    while held is None:
        for number in range(count()):
            held = _lock("slot-{}".format(number))
            if held is not None:
                break
        else:
            beat()
            time.sleep(WAIT_S)
    with held:
        yield


@contextlib.contextmanager
def alone(capture: str) -> Iterator[bool]:
    """Be the only one of this host to work on ``capture``; yields ``False`` when another already
    is.
    """
    key = hashlib.sha256(os.fsencode(os.path.realpath(capture))).hexdigest()[:16]
    held = _lock("capture-" + key)
    if held is None:
        yield False
        return
    with held:
        yield True


def _lock(name: str) -> Optional[IO[str]]:
    """An exclusive lock, or ``None`` when someone has it.  Without a place for locks, none."""
    folder = os.path.dirname(staging("locks"))
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        stream = open(os.path.join(folder, name + ".lock"), "a", encoding="ascii")
    except OSError:
        return open(os.devnull, encoding="ascii")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        return None
    except OSError:
        pass
    return stream
