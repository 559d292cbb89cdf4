"""Versions that are known not to work together."""

from __future__ import annotations

import re
from typing import Optional, Tuple


def release(version: str) -> Tuple[int, ...]:
    """The numbers of a version: ``2.7.1.post2`` and ``2.7.1+cpu`` give ``(2, 7, 1)``."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in match.group().split(".")) if match else ()


def pair_problem(torch: Optional[str], torch_npu: Optional[str]) -> Optional[str]:
    """Why this torch and this torch_npu do not belong together; ``None`` when they do."""
    if not torch or not torch_npu:
        return None
    if release(torch)[:3] == release(torch_npu)[:3]:
        return None
    return (
        "torch_npu {} is built for torch {}, but torch {} is installed: captures may be empty or "
        "the profiler may fail; install the matching pair".format(
            torch_npu, ".".join(str(part) for part in release(torch_npu)[:3]), torch
        )
    )


def tensorboard_problem(tensorboard: Optional[str], setuptools: Optional[str]) -> Optional[str]:
    """TensorBoard before 2.21 imports ``pkg_resources``, which setuptools 82 no longer has."""
    if not tensorboard or not setuptools:
        return None
    if release(tensorboard) >= (2, 21) or release(setuptools) < (82,):
        return None
    return "TensorBoard {} does not start with setuptools {}".format(tensorboard, setuptools)


def numpy_problem(torch: Optional[str], numpy: Optional[str]) -> Optional[str]:
    """torch before 2.3 is built for NumPy 1."""
    if not torch or not numpy:
        return None
    if release(torch) >= (2, 3) or release(numpy) < (2,):
        return None
    return "torch {} is built for NumPy 1 and NumPy {} is installed".format(torch, numpy)
