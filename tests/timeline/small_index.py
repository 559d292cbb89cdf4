"""An index over a handful of slices, without a file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb_npu_plugin.backend.slice_index import BLOCKS, LANES, SliceIndex


def index_of(slices: Sequence[tuple[int, int, int, str]]) -> SliceIndex:
    """(depth, start, end, name) on one track, by depth and start; without blocks."""
    names = sorted({s[3] for s in slices})
    depths = [s[0] for s in slices]
    lanes = np.zeros(len(set(depths)), dtype=LANES)
    for i, depth in enumerate(sorted(set(depths))):
        lanes[i]["depth"], lanes[i]["first"] = depth, depths.index(depth)
        lanes[i]["count"] = depths.count(depth)
    blocks = (np.zeros(0, dtype=BLOCKS),) * 2
    return SliceIndex(
        np.array([s[1] for s in slices], dtype=np.int64),
        np.array([s[2] for s in slices], dtype=np.int64),
        np.array([names.index(s[3]) for s in slices], dtype=np.int32),
        blocks, lanes, names, ["" for _ in names],
    )  # fmt: skip
