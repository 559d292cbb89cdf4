"""Windows of a lane: for any window and width nothing is lost, and nothing is drawn twice."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tb_npu_plugin.backend.readers.trace_index import build_index
from tb_npu_plugin.backend.slice_index import BLOCK, INSTANTS, SliceIndex, open_index
from tb_npu_plugin.backend.timeline.windows import hits_in, items

ROWS = BLOCK**2 * 2 + 77


def indexed(path: Path, rows: str) -> SliceIndex:
    """The index over slices that SQL makes: track, depth, start_ns, dur_ns, name, phase."""
    table = str(path / f"slices-{time.monotonic_ns()}.parquet")
    with duckdb.connect() as con:
        con.execute("SET threads=1")
        con.execute(f"COPY (SELECT *, 'c' AS cat FROM ({rows})) TO '{table}' (FORMAT parquet)")
        build_index(con, table)
    return open_index(table)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> SliceIndex:
    """Lanes of very different density: durations over six decades, gaps likewise, some of no length."""
    seed = np.random.default_rng(7)
    rows = []
    for track, count in ((3, ROWS), (4, 5), (9, BLOCK), (10, BLOCK + 1)):
        gaps = (10 ** seed.uniform(0, 5, count)).astype(int)
        lengths = (10 ** seed.uniform(0, 6, count)).astype(int) * (seed.uniform(size=count) > 0.1)
        starts = 1_700_000_000_000_000_000 + np.cumsum(gaps) + np.cumsum(lengths) - lengths
        rows += [
            f"({track}, 0, {s}, {float(d)}, 'n{i % 7}', 'X')"
            for i, (s, d) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True))
        ]
    values = ", ".join(rows)
    sql = f"SELECT * FROM (VALUES {values}) t(track, depth, start_ns, dur_ns, name, phase)"
    return indexed(tmp_path_factory.mktemp("busy"), sql)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    lane=st.integers(0, 3),
    begin=st.floats(-0.2, 1.1),
    span=st.floats(-7, 0.3),
    width=st.sampled_from([1, 2, 3, 50, 700, 4000]),
)
def test_busy_time_and_the_longest_slice_survive_any_zoom(
    busy: SliceIndex, lane: int, begin: float, span: float, width: int
) -> None:
    own = busy.lanes[lane]
    at = slice(int(own["first"]), int(own["first"] + own["count"]))
    starts, ends = busy.starts[at], busy.ends[at]
    whole = int(ends[-1] - starts[0])
    low = int(starts[0]) + int(begin * whole)
    high = low + max(1, int(whole * 10**span))
    touching = ((ends > low) & (starts < high)) | ((starts == low) & (ends == low))
    found = items(busy, own, low, high, (high - low) / width)
    assert found.count.sum() == touching.sum()
    assert found.busy.sum() == (ends - starts)[touching].sum()
    assert (found.starts[1:] >= found.ends[:-1]).all()
    assert len(found) <= 2 * width + 3, "the cost of an answer goes by its pixels"
    rows = at.start + np.flatnonzero(touching)
    assert (
        (found.first == rows[np.append(0, np.cumsum(found.count)[:-1])]).all()
        if len(rows)
        else True
    )
    if len(rows):
        lengths = busy.ends - busy.starts
        assert lengths[found.longest].max() == lengths[rows].max()
        for i in range(len(found)):
            mine = slice(int(found.first[i]), int(found.first[i] + found.count[i]))
            assert lengths[found.longest[i]] == lengths[mine].max()
            assert (found.starts[i], found.ends[i]) == (busy.starts[mine][0], busy.ends[mine][-1])


def test_wide_slices_stand_alone_and_narrow_ones_share_a_pixel(tmp_path: Path) -> None:
    index = indexed(
        tmp_path,
        "SELECT * FROM (VALUES (0, 0, 100, 10.0, 'a', 'X'), (0, 0, 110, 3.9, 'b', 'X'),"
        " (0, 0, 115, 1.0, 'c', 'X'), (0, 0, 130, 2.0, 'd', 'X'))"
        " t(track, depth, start_ns, dur_ns, name, phase)",
    )
    found = items(index, index.lanes[0], 100, 200, 10.0)
    assert found.count.tolist() == [1, 2, 1]
    assert found.starts.tolist() == [100, 110, 130]
    assert found.ends.tolist() == [110, 116, 132]
    assert found.busy.tolist() == [10, 4, 2], "fractions of a ns are cut"
    assert [index.names[index.codes[r]] for r in found.longest] == ["a", "b", "d"]
    assert hits_in(found, np.array([2, 3])).tolist() == [0, 1, 1]


def test_instants_have_a_lane_of_their_own(tmp_path: Path) -> None:
    index = indexed(
        tmp_path,
        "SELECT * FROM (VALUES (0, 0, 105, 0.0, 'tick', 'i'), (0, 0, 100, 10.0, 'a', 'X'),"
        " (0, 1, 101, 2.0, 'b', 'X')) t(track, depth, start_ns, dur_ns, name, phase)",
    )
    assert index.lanes["depth"].tolist() == [INSTANTS, 0, 1]
    assert items(index, index.lanes[0], 105, 106, 1.0).count.tolist() == [1]
    assert items(index, index.lanes[0], 106, 200, 1.0).count.tolist() == []


def test_no_slices(tmp_path: Path) -> None:
    index = indexed(
        tmp_path,
        "SELECT 0 AS track, 0 AS depth, 0::BIGINT AS start_ns, 0.0 AS dur_ns, '' AS name, 'X' AS "
        "phase WHERE false",
    )
    assert len(index.lanes) == len(index.starts) == 0
    assert len(index.lanes_of(0)) == 0
