"""operator_memory.csv and memory_record.csv tell one story; npu_module_mem.csv."""

from __future__ import annotations

import itertools
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_reading import ns, rows

from tb_npu_plugin.sample import RankTruth, SampleTruth, write_sample

MIB = 1 << 20
FILES = ["operator_memory.csv", "memory_record.csv"]


def mb(text: str) -> int:
    return round(float(text) * MIB)


def check_memory(rank: RankTruth) -> None:
    assert rank.memory is not None
    blocks = rows(rank.path, "operator_memory.csv")
    record = rows(rank.path, "memory_record.csv")
    own = [b for b in blocks if not b["Name"].startswith("cann::")]
    assert blocks == own + [b for b in blocks if b["Name"].startswith("cann::")]
    assert len(own) == rank.memory.blocks
    assert len(blocks) - len(own) == rank.memory.ge_blocks
    born = [ns(b["Allocation Time(us)"]) for b in own]
    assert born == sorted(born)
    changes: dict[int, list[int]] = defaultdict(lambda: [0, 0])  # allocated, active by moment
    for b in own:
        size = round(float(b["Size(KB)"]) * 1024)
        start = ns(b["Allocation Time(us)"])
        changes[start][0] += size
        changes[start][1] += size
        if not b["Release Time(us)"]:
            assert b["Duration(us)"] == b["Release Total Allocated(MB)"] == ""
            continue
        end, reusable = ns(b["Release Time(us)"]), ns(b["Active Release Time(us)"])
        assert start < end <= reusable
        assert ns(b["Duration(us)"]) == end - start
        assert ns(b["Active Duration(us)"]) == reusable - start
        changes[end][0] -= size
        changes[reusable][1] -= size
    # Replayed from the blocks, the totals are those of the record after each moment.
    totals = [rank.memory.before_bytes] * 2
    expected: dict[int, tuple[int, int]] = {}
    for moment in sorted(changes):
        totals = [t + c for t, c in zip(totals, changes[moment], strict=True)]
        expected[moment] = (totals[0], totals[1])
    pta = [r for r in record if r["Component"] == "PTA"]
    times = [ns(r["Timestamp(us)"]) for r in pta]
    assert times == sorted(times)
    assert set(times) == set(expected)
    final = {
        t: (mb(r["Total Allocated(MB)"]), mb(r["Total Active(MB)"]))
        for t, r in zip(times, pta, strict=True)
    }
    assert final == expected
    for r in pta:
        allocated, active, reserved = (
            mb(r[f"Total {kind}(MB)"]) for kind in ("Allocated", "Active", "Reserved")
        )
        assert allocated <= active <= reserved
    assert max(mb(r["Total Allocated(MB)"]) for r in pta) == rank.memory.peak_allocated_bytes
    assert max(mb(r["Total Reserved(MB)"]) for r in pta) == rank.memory.peak_reserved_bytes
    assert mb(pta[-1]["Total Allocated(MB)"]) == rank.memory.end_allocated_bytes
    never = [b for b in own if not b["Release Time(us)"]]
    assert len(never) == rank.memory.never_released
    kept = sum(round(float(b["Size(KB)"]) * 1024) for b in never)
    assert kept == rank.memory.never_released_bytes
    assert rank.memory.before_bytes + kept == rank.memory.end_allocated_bytes


def check_components(rank: RankTruth) -> None:
    record = rows(rank.path, "memory_record.csv")
    order = [r["Component"] for r in record]
    apps = order.count("APP")
    assert order[:apps] == ["APP"] * apps
    assert apps > 0
    latest = {"PTA": (0, 0, 0), "GE": (0, 0, 0)}
    previous = None
    for r in record[apps:]:
        if r["Component"] in latest:
            values = (r[f"Total {k}(MB)"] for k in ("Allocated", "Reserved", "Active"))
            a, s, v = (mb(x) if x else 0 for x in values)
            latest[r["Component"]] = (a, s, v if r["Component"] == "PTA" else a)
        elif r["Component"] == "PTA+GE":
            assert previous is not None
            assert previous["Component"] in latest
            assert previous["Timestamp(us)"] == r["Timestamp(us)"]
            if latest["PTA"] == (0, 0, 0):
                continue
            found = tuple(mb(r[f"Total {k}(MB)"]) for k in ("Allocated", "Reserved", "Active"))
            assert found == tuple(map(sum, zip(latest["PTA"], latest["GE"], strict=True)))
        previous = r
    process = [mb(r["Total Reserved(MB)"]) for r in record[:apps]]
    assert process == sorted(process)
    assert all(r["Total Allocated(MB)"] == r["Stream Ptr"] == "" for r in record[:apps])


@settings(max_examples=10, deadline=None)
@given(
    kernels=st.integers(1, 900),
    seed=st.integers(0, 10_000),
    leak=st.booleans(),
    level=st.integers(0, 2),
)
def test_blocks_replay_to_the_record(kernels: int, seed: int, leak: bool, level: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        truth = write_sample(
            Path(folder), ranks=2, steps=2, kernels_per_step=kernels, seed=seed, level=level,
            memory_leak=leak, files=FILES,
        )  # fmt: skip
        for rank in truth.ranks:
            check_memory(rank)
            check_components(rank)


def test_a_leak_grows_and_health_does_not(tmp_path: Path, pair: SampleTruth) -> None:
    leaking = write_sample(
        tmp_path, ranks=1, steps=4, kernels_per_step=220, memory_leak=True, files=FILES
    )
    (rank,) = leaking.ranks
    assert rank.memory is not None
    assert rank.memory.end_allocated_bytes > rank.memory.before_bytes + 64 * MIB
    record = [r for r in rows(rank.path, "memory_record.csv") if r["Component"] == "PTA"]
    after_steps = []
    for step in rank.steps:
        held = [r for r in record if ns(r["Timestamp(us)"]) < step.host_end_ns + 10_000]
        after_steps.append(mb(held[-1]["Total Allocated(MB)"]))
    growth = {b - a for a, b in itertools.pairwise(after_steps)}
    assert len(growth) == 1
    assert growth.pop() > 0
    for healthy in pair.ranks:
        assert healthy.memory is not None
        assert healthy.memory.end_allocated_bytes == healthy.memory.before_bytes
        assert healthy.memory.never_released == 0


@pytest.mark.parametrize("which", ["pair", "short"])
def test_module_memory_is_sampled_by_component(which: str, request: pytest.FixtureRequest) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        found = rows(rank.path, "npu_module_mem.csv")
        assert {r["Device"] for r in found} == {f"NPU:{rank.device}"}
        times: dict[str, list[int]] = defaultdict(list)
        for row in found:
            times[row["Component"]].append(ns(row["Timestamp(us)"]))
        assert len({len(t) for t in times.values()}) == 1
        for moments in times.values():
            assert all(rank.window_start_ns < t < rank.window_end_ns for t in moments)
            gaps = {b - a for a, b in itertools.pairwise(moments)}
            assert gaps <= {20_000_000}
