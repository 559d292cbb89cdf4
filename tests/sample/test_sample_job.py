"""What ranks do to each other, planted faults, and the call itself."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_reading import interval, is_comm, load, rows

from tb_npu_plugin.sample import ALL_FILES, SampleTruth, write_sample

KERNELS = ["kernel_details.csv", "step_trace_time.csv"]
COMM = [*KERNELS, "communication.json", "communication_matrix.json"]


def digest(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def collectives(truth: SampleTruth) -> dict[str, dict[int, tuple[int, int]]]:
    """By name: each rank's interval."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    for rank in truth.ranks:
        for kernel in rows(rank.path, "kernel_details.csv"):
            if is_comm(kernel):
                found.setdefault(kernel["Name"], {})[rank.rank] = interval(kernel)
    return found


@settings(max_examples=8, deadline=None)
@given(
    ranks=st.integers(2, 5),
    seed=st.integers(0, 10_000),
    slow=st.integers(0, 4),
    kernels=st.integers(80, 300),
)
def test_collectives_end_together_and_a_straggler_is_waited_for(
    ranks: int, seed: int, slow: int, kernels: int
) -> None:
    slow %= ranks
    with tempfile.TemporaryDirectory() as folder:
        truth = write_sample(
            Path(folder), ranks=ranks, steps=2, kernels_per_step=kernels, seed=seed,
            straggler=slow, files=COMM, tp=1,
        )  # fmt: skip
        ops = collectives(truth)
        assert ops
        for spans in ops.values():
            assert set(spans) == set(range(ranks))
            ends = [end for _, end in spans.values()]
            assert max(ends) - min(ends) < 200
            assert max(start for start, _ in spans.values()) < min(ends)
        computing = [sum(s.computing_ns for s in rank.steps) for rank in truth.ranks]
        others = [c for r, c in enumerate(computing) if r != slow]
        assert computing[slow] > 1.2 * max(others)
        waited = [sum(c.synchronization_ns for c in rank.comm) for rank in truth.ranks]
        assert waited[slow] < min(w for r, w in enumerate(waited) if r != slow)


def test_ranks_that_were_not_collected_are_waited_for(tmp_path: Path) -> None:
    truth = write_sample(
        tmp_path, ranks=2, world=8, tp=1, steps=2, kernels_per_step=200, straggler=5, files=COMM
    )
    assert truth.world_size == 8
    assert [r.rank for r in truth.ranks] == [0, 1]
    for rank in truth.ranks:
        for step in rank.comm:
            assert step.synchronization_ns > step.transit_ns  # both wait for a rank not here


def test_a_slow_link_shows_on_that_link_alone(tmp_path: Path) -> None:
    truth = write_sample(
        tmp_path, ranks=8, steps=2, kernels_per_step=200, slow_link=(2, 5), files=COMM
    )
    rates: dict[tuple[int, int], float] = {}
    for rank in truth.ranks:
        for step in load(rank.path, "communication_matrix.json").values():
            for key, links in step["collective"].items():
                if not key.startswith("reducescatter-total"):
                    continue
                for link, record in links.items():
                    a, b = map(int, link.split("-"))
                    rates[a, b] = record["Bandwidth(GB/s)"]
    usual = mean(r for (a, b), r in rates.items() if a != b and {a, b} != {2, 5})
    assert max(rates[2, 5], rates[5, 2]) < 0.3 * usual
    for (a, b), rate in rates.items():
        if a != b and {a, b} != {2, 5}:
            assert rate > 0.7 * usual


def test_one_rank_alone_has_no_communication(tmp_path: Path) -> None:
    truth = write_sample(tmp_path, ranks=1, world=1, steps=2, kernels_per_step=150)
    (rank,) = truth.ranks
    assert rank.comm == ()
    assert truth.groups == {}
    names = {p.name for p in (rank.path / "ASCEND_PROFILER_OUTPUT").iterdir()}
    assert "communication.json" not in names
    assert "communication_matrix.json" not in names
    assert all(s.communication_ns == 0 for s in rank.steps)


def test_same_arguments_same_bytes(tmp_path: Path) -> None:
    arguments = {"ranks": 2, "steps": 2, "kernels_per_step": 120, "level": 2}
    for name, seed in (("a", 4), ("b", 4), ("c", 5)):
        write_sample(tmp_path / name, seed=seed, **arguments)  # type: ignore[arg-type]
    first, second, other = (digest(tmp_path / name) for name in "abc")
    assert first == second
    assert set(first.values()).isdisjoint(
        value for name, value in other.items() if not name.endswith("analyse.done")
    )


def test_files_can_be_chosen_and_nothing_else_is_left(tmp_path: Path) -> None:
    truth = write_sample(tmp_path, ranks=1, steps=1, kernels_per_step=100, files=KERNELS)
    names = sorted(p.name for p in (truth.ranks[0].path / "ASCEND_PROFILER_OUTPUT").iterdir())
    assert names == ["analyse.done", *KERNELS]
    assert [p.name for p in tmp_path.iterdir()] == [truth.ranks[0].path.name]
    both = write_sample(tmp_path / "all", ranks=1, steps=1, kernels_per_step=100, level=2)
    full = {p.name for p in (both.ranks[0].path / "ASCEND_PROFILER_OUTPUT").iterdir()}
    assert full == ALL_FILES | {"analyse.done"}


def test_a_capture_is_never_written_over_unasked(tmp_path: Path) -> None:
    truth = write_sample(tmp_path, ranks=1, steps=1, kernels_per_step=50)
    before = digest(tmp_path)
    with pytest.raises(FileExistsError):
        write_sample(tmp_path, ranks=1, steps=1, kernels_per_step=50)
    assert digest(tmp_path) == before
    write_sample(tmp_path, ranks=1, steps=1, kernels_per_step=50, overwrite=True)
    assert digest(tmp_path) == before
    assert truth.ranks[0].path.is_dir()


@pytest.mark.parametrize(
    "wrong",
    [
        {"ranks": 0},
        {"kernels_per_step": 0},
        {"level": 3},
        {"world": 1, "ranks": 2},
        {"tp": 3},
        {"line": "1999"},
        {"files": ["nothing.csv"]},
        {"straggler": 9},
        {"slow_link": (1, 1)},
        {"ranks": 4, "tp": 2, "slow_link": (0, 3)},
    ],
)
def test_contradictions_are_refused(tmp_path: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        write_sample(tmp_path, **wrong)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


PROGRAM = """
import resource, sys
from pathlib import Path
from tb_npu_plugin.sample import write_sample
write_sample(Path(sys.argv[1]), ranks=1, steps=2, kernels_per_step=int(sys.argv[2]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_capture(tmp_path: Path) -> None:
    peaks = []
    for kernels in (10_000, 60_000):
        out = tmp_path / str(kernels)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(out), str(kernels)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        peaks.append(int(done.stdout))
    assert peaks[1] < 1.5 * peaks[0]
