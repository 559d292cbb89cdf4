"""The timeline of a database is that of the trace of the same recording."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_captures import OUTPUT

from tb_npu_plugin.backend.readers.db_slices import overlap
from tb_npu_plugin.frames import Captures, load
from tb_npu_plugin.sample import write_sample

KINDS = ("python", "cann", "hardware", "communication", "overlap")


@pytest.fixture(scope="module", params=["2025", "26.0"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Captures]:
    """A recording as text and as databases, side by side in one capture."""
    root = tmp_path_factory.mktemp("timeline")
    write_sample(root / "job", ranks=1, world=4, steps=1, kernels_per_step=80, level=2,
                 line=request.param, export=("text", "db"))  # fmt: skip
    with load(root / "job", cache=root / "cache", workers=1) as captures:
        yield captures


def slices(captures: Captures, source: str) -> pd.DataFrame:
    tracks = captures.tracks(source=source)[["rank", "track", "kind", "device", "thread"]]
    return captures.slices(source=source).merge(tracks, on=["rank", "track"])


def spans(rows: pd.DataFrame, kind: str) -> list[tuple[Any, ...]]:
    rows = rows[rows["kind"] == kind].assign(dur_ns=rows["dur_ns"].round())
    columns = ["thread", "start_ns", "dur_ns", "name", "depth"]
    return sorted(map(tuple, rows[columns].to_numpy().tolist()))


@pytest.mark.parametrize("kind", KINDS)
def test_slices(both: Captures, kind: str) -> None:
    trace, base = slices(both, "trace"), slices(both, "db")
    assert spans(base, kind) == spans(trace, kind) != []


def test_devices_of_tracks(both: Captures) -> None:
    tracks = both.tracks(source="db").set_index("kind")["device"]
    assert set(tracks[["hardware", "communication", "overlap"]]) == {0}
    assert tracks[["python", "cann"]].isna().all()


@pytest.mark.parametrize("cat", ["async_npu", "async_task_queue"])
def test_arrows(both: Captures, cat: str) -> None:
    found = []
    for source in ("trace", "db"):
        flows = both.flows(source=source)
        rows = flows[flows["cat"] == cat]
        found.append(sorted(map(tuple, rows[["from_ns", "to_ns"]].to_numpy().tolist())))
    assert found[0] == found[1] != []


def test_arrows_from_host_to_device_end_where_the_trace_has_them(both: Captures) -> None:
    ends = []
    for source in ("trace", "db"):
        flows = both.flows(source=source)
        ends.append(sorted(flows[flows["cat"] == "HostToDevice"]["to_ns"].tolist()))
    assert ends[0] == ends[1] != []


def test_counters(both: Captures) -> None:
    frequency = both.counters(source="db").query("name == 'AI Core Freq'")
    assert set(frequency["value"]) == {1800.0}
    theirs = both.counters(source="trace").query("name == 'AI Core Freq'")
    assert frequency["time_ns"].tolist() == theirs["time_ns"].tolist()


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Captures]:
    cache = tmp_path_factory.mktemp("cache")
    with load(shared / "captures/db_level1", cache=cache, workers=1) as captures:
        yield captures


def test_real_slices_per_kind(real: Captures) -> None:
    rows = slices(real, "db").query("rank == 0").groupby("kind").size().to_dict()
    # 860 operators, 318 of the queue, 1282 frames; 710 calls of CANN; 552 tasks of which 296 lie on
    # planes, and 4 operations; MindStudio Insight counts 382 pieces of overlap too.
    assert rows == {
        "python": 2460,
        "cann": 710,
        "hardware": 256,
        "communication": 300,
        "overlap": 382,
    }


def test_real_overlap_adds_up_to_the_step(real: Captures) -> None:
    rows = slices(real, "db").query("kind == 'overlap'")
    sums = rows.groupby(["rank", "name"])["dur_ns"].sum().unstack()
    steps = real.steps().set_index("rank")
    for track, column in (("Computing", "computing_ns"), ("Communication", "communication_ns"),
                          ("Communication(Not Overlapped)", "communication_not_overlapped_ns"),
                          ("Free", "free_ns")):  # fmt: skip
        assert sums[track].tolist() == pytest.approx(steps[column].tolist(), abs=1e-6)


def test_real_arrows(real: Captures) -> None:
    counts = real.flows(source="db").query("rank == 0").groupby("cat").size().to_dict()
    assert counts == {"HostToDevice": 191, "async_npu": 191, "async_task_queue": 159, "fwdbwd": 27}


def test_real_counters_in_the_units_of_the_trace(real: Captures, shared: Path) -> None:
    path = shared / "captures/db_level1/rank0_ascend_pt" / OUTPUT / "ascend_pytorch_profiler_0.db"
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    (peak,) = connection.execute(
        "SELECT max(bandwidth) / 1048576.0 FROM HBM h JOIN STRING_IDS s ON s.id = h.type "
        "WHERE hbmId = 2 AND s.value = 'read'"
    ).fetchone()
    connection.close()
    counters = real.counters(source="db").query("rank == 0")
    assert counters.query("name == 'HBM 2/Read'")["value"].max() == pytest.approx(peak)
    assert set(counters.query("name == 'HBM 2/Read'")["series"]) == {"Read(MB/s)"}
    assert len(counters) == 3 + 104 + 2 * 26 + 2 * 28 + 2 * 16 + 4 * 688


def test_overlap_of_touching_and_overlapping_work() -> None:
    start, end = np.array([0, 10, 25, 40]), np.array([10, 20, 35, 50])
    comm = np.array([False, False, True, False])
    start, end, comm = np.append(start, 5), np.append(end, 28), np.append(comm, True)
    computing, communication, bare, free = overlap(start, end, comm)
    assert [list(zip(a.tolist(), b.tolist(), strict=True)) for a, b in
            (computing, communication, bare, free)] == [
        [(0, 20), (40, 50)], [(5, 35)], [(20, 35)], [(35, 40)]
    ]  # fmt: skip


def test_timeline_of_cann_alone(tmp_path: Path, opened: Callable[[Path], Captures]) -> None:
    truth = write_sample(tmp_path / "a", ranks=1, world=1, steps=1, kernels_per_step=20,
                         export=("db",))  # fmt: skip
    path = truth.ranks[0].path / OUTPUT / "ascend_pytorch_profiler_0.db"
    connection = sqlite3.connect(path)
    for table in ("PYTORCH_API", "CONNECTION_IDS", "PYTORCH_CALLCHAINS", "STEP_TIME"):
        connection.execute(f"DROP TABLE {table}")
    connection.commit()
    connection.close()
    folder = tmp_path / "b" / OUTPUT
    folder.mkdir(parents=True)
    path.rename(folder / "msprof_20260302080001.db")
    captures = opened(tmp_path / "b")
    kinds = set(captures.tracks()["kind"])
    assert {"cann", "hardware", "overlap", "counter"} <= kinds
    assert "python" not in kinds
    assert set(captures.flows()["cat"]) == {"HostToDevice"}
