"""Writes the arrays of :mod:`slice_index` beside the slices of a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import msgspec
import numpy as np
from numpy.typing import NDArray

from tb_npu_plugin.backend.readers.base import parquet
from tb_npu_plugin.backend.slice_index import (
    BLOCK,
    BLOCKS,
    INSTANTS,
    LANES,
    LEVELS,
    Ints,
    index_file,
    mapped,
)

#: Slices in memory at a time, in the database's vectors of 2,048; and blocks of slices.
_VECTORS = 128
_CHUNK_BLOCKS = 4096
#: Beyond this no time is one.
_FAR = 2**62


def build_index(con: duckdb.DuckDBPyConnection, table: str) -> None:
    """Write the arrays for the finished ``slices.parquet`` beside it. It is in order of lanes."""
    path = Path(table)
    con.execute(
        "CREATE OR REPLACE TEMP TABLE slice_names AS "
        "SELECT name, cat, CAST(row_number() OVER (ORDER BY name) - 1 AS INTEGER) AS code FROM "
        f"(SELECT coalesce(name, '') AS name, min(cat) AS cat FROM {parquet(table)} GROUP BY 1)"
    )
    names = con.execute("SELECT name, coalesce(cat, '') FROM slice_names ORDER BY code").fetchall()
    index_file(path, "names").write_bytes(msgspec.json.encode(names))
    keys, starts_at, rows = _write_rows(con, path)
    con.execute("DROP TABLE slice_names")
    counts = np.diff([*starts_at, rows]).astype(np.int64)
    lanes = np.zeros(len(keys), dtype=LANES)
    for i, (track, depth) in enumerate(keys):
        lanes[i]["track"], lanes[i]["depth"] = track, depth
    lanes["first"], lanes["count"] = starts_at, counts
    below = counts
    for level in range(1, LEVELS + 1):
        below = -(-below // BLOCK)
        lanes[f"block{level}"] = np.cumsum(below) - below
    lanes.tofile(index_file(path, "lanes"))
    _write_blocks(path, lanes)


def _write_rows(
    con: duckdb.DuckDBPyConnection, path: Path
) -> tuple[list[tuple[int, int]], list[int], int]:
    """Slices' arrays; returns the lanes' keys, their first rows, and the number of rows."""
    keys: list[tuple[int, int]] = []
    firsts: list[int] = []
    rows = 0
    con.execute(
        f"SELECT track, CASE phase WHEN 'i' THEN {INSTANTS} ELSE depth END AS depth, "
        f"coalesce(start_ns, {_FAR}) AS start_ns, coalesce(dur_ns, 0) AS dur_ns, n.code "
        f"FROM {parquet(str(path))} s JOIN slice_names n ON n.name = coalesce(s.name, '') "
        "ORDER BY s.file_row_number"
    )
    with (
        index_file(path, "starts").open("wb") as starts,
        index_file(path, "ends").open("wb") as ends,
        index_file(path, "codes").open("wb") as codes,
    ):
        while len(part := con.fetch_df_chunk(_VECTORS)):
            start = np.clip(part["start_ns"].to_numpy(np.int64), -_FAR, _FAR)
            length = np.clip(np.floor(part["dur_ns"].to_numpy(float)), 0, 4e18).astype(np.int64)
            start.tofile(starts)
            (start + length).tofile(ends)
            part["code"].to_numpy(np.int32).tofile(codes)
            track, depth = part["track"].to_numpy(), part["depth"].to_numpy()
            new = np.flatnonzero((track[1:] != track[:-1]) | (depth[1:] != depth[:-1])) + 1
            for at in [0, *new.tolist()]:
                key = (int(track[at]), int(depth[at]))
                if not keys or keys[-1] != key:
                    keys.append(key)
                    firsts.append(rows + at)
            rows += len(part)
    return keys, firsts, rows


def _write_blocks(path: Path, lanes: NDArray[Any]) -> None:
    starts, ends = mapped(path, "starts", np.int64), mapped(path, "ends", np.int64)
    below: NDArray[Any] | None = None
    firsts, counts = lanes["first"], lanes["count"]
    for level in range(1, LEVELS + 1):
        bounds = _bounds(firsts, counts)
        out = np.zeros(len(bounds) - 1, dtype=BLOCKS)
        for low in range(0, len(out), _CHUNK_BLOCKS):
            high = min(low + _CHUNK_BLOCKS, len(out))
            at = slice(int(bounds[low]), int(bounds[high]))
            inside = bounds[low:high] - bounds[low]
            if below is None:
                start, end = np.asarray(starts[at]), np.asarray(ends[at])
                busy = end - start
                own, longest = busy, np.arange(at.start, at.stop)
            else:
                part = below[at]
                start, end, busy, longest = (part[k] for k in ("start", "end", "busy", "longest"))
                own = ends[longest] - starts[longest]
            sizes = np.diff([*inside, len(start)])
            most = np.maximum.reduceat(own, inside)
            places = np.flatnonzero(own == np.repeat(most, sizes))
            first = places[np.searchsorted(places, inside)]
            out["start"][low:high] = start[inside]
            out["end"][low:high] = end[inside + sizes - 1]
            out["busy"][low:high] = np.add.reduceat(busy, inside)
            out["longest"][low:high] = longest[first]
        out.tofile(index_file(path, f"blocks{level}"))
        below = out
        counts = -(-counts // BLOCK)
        firsts = np.cumsum(counts) - counts


def _bounds(firsts: Ints, counts: Ints) -> Ints:
    """Where the blocks of every lane begin, and the end of the last."""
    if not len(firsts):
        return np.zeros(1, dtype=np.int64)
    blocks = -(-counts // BLOCK)
    lane = np.repeat(np.arange(len(firsts)), blocks)
    within = np.arange(len(lane)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    return np.append(firsts[lane] + within * BLOCK, firsts[-1] + counts[-1])
