"""Who is recording: job, rank, host, versions; and names that do not collide.

Everything is read from the environment and from modules the job has already imported; nothing is
imported here and no collective is called, so no rank ever waits for another.
"""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
from typing import Any, Dict, List, Mapping, Optional, Tuple

RANK_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK_ID")
WORLD_VARIABLES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "RANK_SIZE")
LOCAL_VARIABLES = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")
JOB_VARIABLES = ("TB_NPU_JOB", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID")
GROUP_LIMIT = 256
RANKS_LIMIT = 16384
NAME_LIMIT = 150


def host() -> str:
    return socket.gethostname()


def rank_of() -> Optional[int]:
    """The global rank, by torch_npu's own order: ``RANK``, then ``torch.distributed``."""
    found = _number(("RANK",))
    if found is None:
        found = _distributed("get_rank")
    if found is None:
        found = _number(RANK_VARIABLES)
    if found is None and (_number(("SLURM_NTASKS",)) or 1) > 1:
        found = _number(("SLURM_PROCID",))
    return found


def world_size_of() -> Optional[int]:
    found = _number(("WORLD_SIZE",))
    if found is None:
        found = _distributed("get_world_size")
    return found if found is not None else _number(WORLD_VARIABLES)


def local_rank_of() -> Optional[int]:
    return _number(LOCAL_VARIABLES)


def job_of() -> Tuple[str, str]:
    """``(job, source)``: an identifier that is equal on all ranks of one job, and what gave it.

    An elastic restart is a job of its own.  Without a launcher's identifier, ranks of one host
    share their launcher's process; ranks of several hosts share only the master's address, which a
    later job may use again.
    """
    for name in JOB_VARIABLES:
        value = os.environ.get(name, "").strip()
        if value and value != "none":
            restart = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
            suffix = "" if restart in ("", "0") else ".restart" + restart
            return safe_name(value) + suffix, name
    host = socket.gethostname()
    world, local_world = world_size_of(), _number(("LOCAL_WORLD_SIZE",))
    if world is not None and local_world == world:
        parent = os.getppid()
        return safe_name("{}-{}-{}".format(host, parent, _start_ticks(parent))), "launcher"
    master, port = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT")
    if master and port and (world or 1) > 1:
        return safe_name("{}-{}".format(master, port)), "MASTER_ADDR"
    pid = os.getpid()
    return safe_name("{}-{}-{}".format(host, pid, _start_ticks(pid))), "process"


def worker_of(worker_name: Optional[str], rank: Optional[int]) -> str:
    """The worker part of a capture's name: the user's, else the host's name; with the rank."""
    base = worker_name or socket.gethostname()
    if rank is not None and not re.search(r"(?<!\d)0*{}(?!\d)".format(rank), worker_name or ""):
        base = "{}_rank{}".format(base, rank)
    return safe_name(base)


def safe_name(text: str) -> str:
    """``text`` as part of a file name that every torch_npu takes, at most ``NAME_LIMIT`` bytes."""
    cleaned = re.sub(r"[^A-Za-z0-9._\-\u4e00-\u9fff]", "_", text) or "worker"
    raw = cleaned.encode("utf-8")[:NAME_LIMIT]
    return raw.decode("utf-8", "ignore").lstrip(".") or "worker"


def versions() -> Dict[str, Optional[str]]:
    """Versions of what is already imported; nothing is imported for it."""
    from ._version import __version__

    return {
        "python": platform.python_version(),
        "torch": _version_of("torch"),
        "torch_npu": _version_of("torch_npu"),
        "tb_npu_handler": __version__,
    }


def parallel_groups() -> List[Dict[str, Any]]:
    """``[{"name", "backend", "ranks"}]`` of the process groups this rank knows of."""
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    world = getattr(c10d, "_world", None)
    if world is None or _distributed("get_rank") is None:
        return []
    groups: List[Dict[str, Any]] = []
    try:
        names: Mapping[Any, str] = world.pg_names
        for group, (backend, _store) in list(world.pg_map.items())[:GROUP_LIMIT]:
            ranks = sorted(int(rank) for rank in world.pg_group_ranks.get(group, {}))
            entry: Dict[str, Any] = {"name": str(names.get(group, "")), "backend": str(backend)}
            described = getattr(group, "group_desc", "")
            if described and described != "undefined":
                entry["description"] = str(described)
            entry["ranks"] = ranks[:RANKS_LIMIT]
            groups.append(entry)
    except (AttributeError, TypeError, ValueError):
        return groups
    return groups


def _version_of(module: str) -> Optional[str]:
    value = getattr(sys.modules.get(module), "__version__", None)
    return None if value is None else str(value)


def _number(names: Tuple[str, ...]) -> Optional[int]:
    for name in names:
        text = os.environ.get(name, "").strip()
        if text.isdigit():
            return int(text)
    return None


def _distributed(function: str) -> Optional[int]:
    module = sys.modules.get("torch.distributed")
    try:
        if module is None or not module.is_available() or not module.is_initialized():
            return None
        return int(getattr(module, function)())
    except (AttributeError, RuntimeError, ValueError):
        return None


def _start_ticks(pid: int) -> str:
    """When a process began, in clock ticks since boot: tells two users of one pid apart."""
    try:
        with open("/proc/{}/stat".format(pid), encoding="ascii", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "0"
