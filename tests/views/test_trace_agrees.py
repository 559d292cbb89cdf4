"""What is worked out from a generated trace agrees with the files of the same recording."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from both_forms import text_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from small_captures import OUTPUT

from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.ingest import Job, ingest
from tb_npu_plugin.backend.readers.csv_file import literal
from tb_npu_plugin.sample import LINES, write_sample

ROUNDING_NS = 2.0
#: step_trace_time.csv has differences of doubles of epoch-µs.
DOUBLE_NS = 260.0


def derived(path: Path, cache: Path) -> dict[str, pd.DataFrame]:
    """The trace's own tables, and those that are worked out from it."""
    job = Job(
        "c", bytes(path), path.name, "trace_derived", "derived", 0, str(cache), origin="trace"
    )
    done = ingest(job)
    assert (done.error, done.notes) == (None, [])
    with duckdb.connect() as con:
        return {
            file.stem: con.execute(f"FROM read_parquet({literal(file)})").df()
            for key in ("trace", "derived")
            for file in Cache(cache).entry("c", key).glob("*.parquet")
        }


@settings(max_examples=6, deadline=None)
@given(
    seed=st.integers(0, 9999),
    line=st.sampled_from(sorted(LINES)),
    level=st.integers(0, 2),
    job=st.sampled_from([
        {"ranks": 1, "world": 1}, {"ranks": 2, "straggler": 1}, {"ranks": 1, "world": 8, "tp": 4},
    ]),
)  # fmt: skip
def test_the_trace_of_a_generated_job(
    seed: int, line: str, level: int, job: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("job")
    truth = write_sample(root / "job", seed=seed, line=line, level=level, steps=3,
                         kernels_per_step=80, **job)  # fmt: skip
    capture = truth.ranks[-1].path
    text = text_tables(capture, root / "cache")
    trace = derived(capture / OUTPUT / "trace_view.json", root / "cache")
    check_steps(text["steps"], trace["steps"])
    check_kernels(text["kernels"], trace["kernels"])
    check_operators(text["operators"], trace["operators"])
    assert list(trace["operator_nested"]["nested_row"]) == list(
        text["operator_nested"]["nested_row"]
    )
    slices = trace["slices"]
    assert trace["tracks"]["slices"].sum() == len(slices)
    assert (slices.groupby("track")["depth"].max() + 1 == (
        trace["tracks"].set_index("track")["depths"].loc[lambda d: d > 0])).all()  # fmt: skip
    shutil.rmtree(root)


def check_steps(text: pd.DataFrame, trace: pd.DataFrame) -> None:
    assert list(trace["step"]) == list(text["step"])
    # Labels without a number tell no device; files have none then, or -1.
    assert list(trace["device"].fillna(-1)) == list(text["device"].fillna(-1))
    for key in trace.columns:
        if key.endswith("_ns"):
            slack = DOUBLE_NS if key in ("stage_ns", "preparing_ns") else 1.0
            assert (trace[key] - text[key]).abs().max() <= slack, key


def check_kernels(text: pd.DataFrame, trace: pd.DataFrame) -> None:
    assert len(trace) == len(text)
    text = text.sort_values(["start_ns", "name"], ignore_index=True)
    trace = trace.sort_values(["start_ns", "name"], ignore_index=True)
    assert list(trace["name"]) == list(text["name"])
    assert list(trace["step"].fillna(-1)) == list(text["step"].fillna(-1))
    for key, slack in (("start_ns", 1), ("dur_ns", ROUNDING_NS), ("wait_ns", ROUNDING_NS)):
        assert (trace[key] - text[key]).abs().max() <= slack, key
    moving = text["core"].isin(["HCCL", "COMMUNICATION"])
    assert list(trace["core"].notna()) == list(moving)


def check_operators(text: pd.DataFrame, trace: pd.DataFrame) -> None:
    assert list(trace["name"]) == list(text["name"])
    for key in trace.columns:
        if key.endswith("_ns"):
            assert (trace[key] - text[key]).abs().max() <= ROUNDING_NS, key
        else:
            assert list(trace[key].fillna("")) == list(text[key].fillna("")), key
