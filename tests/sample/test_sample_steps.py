"""step_trace_time.csv against the kernels, and the windows and manifests of a job's captures."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from sample_reading import common, interval, is_comm, length, nearest_ns, rows, union

from tb_npu_plugin.sample import RankTruth, SampleTruth, write_sample

FILES = ["kernel_details.csv", "step_trace_time.csv"]


def check_steps(rank: RankTruth) -> None:
    kernels = rows(rank.path, "kernel_details.csv")
    listed = rows(rank.path, "step_trace_time.csv")
    assert [int(r["Step"]) for r in listed] == [s.step for s in rank.steps]
    for row, step in zip(listed, rank.steps, strict=True):
        mine = [k for k in kernels if k["Step Id"] == row["Step"]]
        compute = [interval(k) for k in mine if not is_comm(k)]
        comm = [interval(k) for k in mine if is_comm(k)]
        assert (len(compute), len(comm)) == (step.kernels, step.comm_ops)
        first = min(start for start, _ in compute + comm)
        last = max(end for _, end in compute + comm)
        computing, communication = length(union(compute)), length(union(comm))
        overlapped = common(compute, comm)
        free = last - first - length(union(compute + comm))
        expected = {
            "Computing": computing,
            "Communication(Not Overlapped)": communication - overlapped,
            "Overlapped": overlapped,
            "Communication": communication,
            "Free": free,
            "Stage": last - first,
            "Bubble": 0,
            "Communication(Not Overlapped and Exclude Receive)": communication - overlapped,
            "Preparing": first - step.host_start_ns,
        }
        found = {name: nearest_ns(row[name]) for name in expected}
        assert found == expected
        assert (
            found["Computing"] + found["Communication(Not Overlapped)"] + found["Free"]
            == found["Stage"] + found["Bubble"]
        )
        assert (step.computing_ns, step.communication_ns) == (computing, communication)
        assert (step.overlapped_ns, step.free_ns) == (overlapped, free)
        assert (step.first_ns, step.last_ns) == (first, last)
        # Membership by time (§5.1): no kernel of another step starts in this step's range.
        end = max(last, step.host_end_ns)
        assert all((first <= interval(k)[0] < end) == (k in mine) for k in kernels)


@settings(max_examples=10, deadline=None)
@given(
    kernels=st.integers(1, 500),
    ranks=st.integers(1, 4),
    seed=st.integers(0, 10_000),
    level=st.integers(0, 2),
)
def test_steps_are_the_union_of_their_kernels(
    kernels: int, ranks: int, seed: int, level: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        truth = write_sample(
            Path(folder), ranks=ranks, steps=2, kernels_per_step=kernels, seed=seed, level=level,
            files=FILES,
        )  # fmt: skip
        for rank in truth.ranks:
            check_steps(rank)


def test_chunks_leave_no_seam(tmp_path: Path) -> None:
    """A step of several chunks, where operations reach from one into the next."""
    truth = write_sample(tmp_path, ranks=1, steps=1, kernels_per_step=14_000, files=FILES)
    (rank,) = truth.ranks
    kernels = rows(rank.path, "kernel_details.csv")
    compute = [interval(k) for k in kernels if not is_comm(k)]
    assert length(union(compute)) < length(compute)  # the side stream runs beside the main one
    (step,) = rank.steps
    assert step.computing_ns == length(union(compute))
    assert step.overlapped_ns == common(compute, [interval(k) for k in kernels if is_comm(k)])
    assert [k["Start Time(us)"] for k in kernels] == sorted(k["Start Time(us)"] for k in kernels)


def test_windows_follow_the_manifest_and_overlap(pair: SampleTruth) -> None:
    windows = []
    for rank in pair.ranks:
        info = json.loads((rank.path / f"profiler_info_{rank.rank}.json").read_text())
        end = info["end_info"]
        offset = end["collectionTimeEnd"] - end["MonotonicTimeEnd"]
        window = info["start_info"]["start_monotonic"] + offset, end["collectionTimeEnd"]
        assert window == (rank.window_start_ns, rank.window_end_ns)
        assert window[0] < rank.steps[0].host_start_ns < rank.steps[-1].host_end_ns < window[1]
        for before, after in zip(rank.steps, rank.steps[1:], strict=False):
            assert before.last_ns <= before.host_end_ns <= after.host_start_ns < after.first_ns
        assert info["rank_id"] == rank.rank
        assert info["config"]["experimental_config"]["_profiler_level"] == "Level1"
        windows.append(window)
        match = re.fullmatch(r"node0_(\d+)_(\d{17})_ascend_pt", rank.path.name)
        assert match is not None
    assert max(start for start, _ in windows) < min(end for _, end in windows)


def test_metadata_names_groups_and_sizes(four: SampleTruth) -> None:
    for rank in four.ranks:
        metadata = json.loads((rank.path / "profiler_metadata.json").read_text())
        args = metadata["distributed_args"]
        assert (args["rank"], args["world_size"]) == (rank.rank, 4)
        sizes = args["tensor_model_parallel_size"] * args["data_parallel_size"]
        assert sizes == 4
        groups = metadata["parallel_group_info"]
        assert {g["group_name"] for g in groups.values()} == {"default_group", "tp", "dp"}
        for name, group in groups.items():
            assert group["global_ranks"][group["group_rank"]] == rank.rank
            assert four.groups[name] == tuple(group["global_ranks"])
