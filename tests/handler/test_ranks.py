"""Four ranks on gloo: nobody waits for anybody, and everything can be told apart."""

import json

from conftest import HERE, Recorder, settled


def test_four_ranks_two_repeats(recorder: Recorder) -> None:
    """Ranks 0 and 1 are analysed; the others leave raw data."""
    options = {"analyse": [0, 1]}
    job = recorder.run(HERE / "scripts" / "ranks.py", str(recorder.runs), "4", json.dumps(options))
    assert job.code == 0, job.out
    captures = recorder.captures()
    assert len(captures) == 8
    records = [settled(path) for path in captures]
    assert len({record["job"] for record in records}) == 1
    told = sorted((record["rank"], record["cycle"]) for record in records)
    assert told == [(rank, cycle) for rank in range(4) for cycle in range(2)]
    for capture, record in zip(captures, records, strict=True):
        rank = record["rank"]
        assert record["state"] == "complete", record
        assert record["world_size"] == 4
        assert f"_rank{rank}_" in capture.name
        assert (capture / f"profiler_info_{rank}.json").exists()
        analysed = (capture / "ASCEND_PROFILER_OUTPUT" / "operator_details.csv").exists()
        assert analysed is (rank < 2)
        groups = {tuple(group["ranks"]) for group in record["parallel_groups"]}
        assert (0, 1, 2, 3) in groups
        assert ((0, 1) in groups) is (rank < 2)
    # One line for the whole job, not one for each rank.
    assert len([line for line in job.said() if "first capture in" in line]) == 1
