"""load(): frames with exact types, the selection, and what cannot be opened."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_captures import KERNEL_HEADER, KERNELS, STEPS, info, write_capture

import tb_npu_plugin
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.schema import KERNELS as KERNEL_SCHEMA
from tb_npu_plugin.backend.schema import STEPS as STEP_SCHEMA
from tb_npu_plugin.frames import Captures, load

Opener = Callable[[Path], Captures]


def test_load_is_the_package_function() -> None:
    assert tb_npu_plugin.load is load
    with pytest.raises(AttributeError):
        tb_npu_plugin.nothing  # noqa: B018


def test_types_are_exact(level1: Captures) -> None:
    kernels = level1.kernels()
    types = {name: str(kind) for name, kind in kernels.dtypes.items()}
    assert types["start_ns"] == "int64"
    assert (types["rank"], types["step"], types["row"]) == ("int64", "int64", "int64")
    assert (types["dur_ns"], types["wait_ns"], types["aic_mac_ratio"]) == ("float64",) * 3
    for gappy in ("stream", "task", "model", "context", "device", "mix_blocks"):
        assert types[gappy] == "Int64", gappy
    steps = level1.steps()
    assert str(steps["step"].dtype) == "int64"
    assert str(steps["stage_ns"].dtype) == "float64"


def test_instants_with_gaps_never_become_floats(tmp_path: Path, opened: Opener) -> None:
    rows = "1,a,T,C,1736408883704643.213\t,1,0,8,2\n1,b,T,C,N/A,1,0,8,2\n,c,T,C,x,1,0,8,2\n"
    write_capture(tmp_path / "cap", info(0), kernel_details=f"{KERNEL_HEADER}\n{rows}")
    frame = opened(tmp_path).kernels()
    assert str(frame["start_ns"].dtype) == "Int64"
    assert frame["start_ns"].tolist()[0] == 1736408883704643213
    assert frame["start_ns"].isna().tolist() == [False, True, True]
    assert frame["step"].isna().tolist() == [False, False, True]


def test_rows_of_one_rank_are_not_mixed_with_anothers(tmp_path: Path, opened: Opener) -> None:
    window = (10**18, 10**18 + 10**9)
    for rank in range(6):
        rows = "".join(
            f"{'' if i % 3 else i},r{rank}k{i},T,C,{rank * 10**6 + i},1,0,8,{'N/A' if i % 2 else i}\n"
            for i in range(3000)
        )
        write_capture(tmp_path / f"c{rank}", info(rank, *window),
                      kernel_details=f"{KERNEL_HEADER}\n{rows}")  # fmt: skip
    frame = opened(tmp_path).kernels()
    assert frame["name"].tolist() == [f"r{r}k{i}" for r in range(6) for i in range(3000)]
    assert frame["start_ns"].tolist() == [
        (r * 10**6 + i) * 1000 for r in range(6) for i in range(3000)
    ]
    assert frame["rank"].tolist() == [r for r in range(6) for _ in range(3000)]
    number = frame["row"]
    assert (frame["step"].isna() == (number % 3 != 0)).all()
    assert (frame["stream"].isna() == (number % 2 != 0)).all()
    assert (frame["stream"].dropna() == number[frame["stream"].notna()]).all()


@pytest.mark.parametrize(
    ("rank", "expected"),
    [(None, [0, 1]), ("all", [0, 1]), (0, [0]), ("1", [1]), ([0, 1], [0, 1]), ((1,), [1]),
     ("0-5", [0, 1]), (np.int64(1), [1]), (range(2), [0, 1])],
)  # fmt: skip
def test_selections_as_people_write_them(
    level1: Captures, rank: object, expected: list[int]
) -> None:
    assert sorted(level1.kernels(rank=rank)["rank"].unique().tolist()) == expected


def test_selections_that_cannot_be(level1: Captures) -> None:
    with pytest.raises(TypeError, match="rnak"):
        level1.kernels(rnak=0)
    for bad in ("x", "1.5", "-1", []):
        with pytest.raises(RequestError) as caught:
            level1.kernels(rank=bad)
        assert caught.value.status == 400
    with pytest.raises(RequestError) as caught:
        level1.kernels(rank=9)
    assert caught.value.status == 404
    assert len(level1.kernels(step=51)) == 0


def test_a_capture_without_a_table_gives_an_empty_frame_with_its_columns(
    tmp_path: Path, opened: Opener
) -> None:
    write_capture(tmp_path / "cap", info(0))
    captures = opened(tmp_path)
    for frame, schema in ((captures.kernels(), KERNEL_SCHEMA), (captures.steps(), STEP_SCHEMA)):
        assert len(frame) == 0
        assert {f.key for f in schema.fields} <= set(frame.columns)
        assert frame.groupby("step").size().empty


def test_every_frame_method(level1: Captures) -> None:
    methods = [
        name for name, f in inspect.getmembers(Captures, inspect.isfunction)
        if not name.startswith("_") and "DataFrame" in str(inspect.signature(f).return_annotation)
    ]  # fmt: skip
    assert len(methods) > 5
    for name in methods:
        frame = getattr(level1, name)()
        assert isinstance(frame, pd.DataFrame), name
        for column, kind in frame.dtypes.items():
            assert column != "start_ns" or kind.kind == "i", f"{name}.{column} is {kind}"


def test_captures_are_listed(level1: Captures, shared: Path) -> None:
    assert len(level1) == 2
    assert [c.rank for c in level1] == [0, 1]
    first = level1.captures[0]
    assert first.path == shared / "captures/text_level1/rank0_ascend_pt"
    assert (first.run, first.level) == (".", "Level1")
    assert "2" in repr(level1)


def test_what_is_not_there(tmp_path: Path, cache_dir: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load(tmp_path / "nowhere", cache=cache_dir)
    with load(tmp_path, cache=cache_dir) as none:
        assert len(none) == 0
        with pytest.raises(RequestError) as caught:
            none.kernels()
        assert caught.value.status == 404


def test_frames_stay_after_close(tmp_path: Path, cache_dir: Path) -> None:
    write_capture(tmp_path / "logdir/cap", info(0), kernel_details=KERNELS, step_trace_time=STEPS)
    with load(str(tmp_path / "logdir"), cache=str(cache_dir)) as captures:
        frame = captures.kernels()
    assert frame["dur_ns"].sum() == 51750.0


def test_relative_paths(tmp_path: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_capture(tmp_path / "logdir/cap", info(0), kernel_details=KERNELS, step_trace_time=STEPS)
    monkeypatch.chdir(tmp_path / "logdir/cap")
    for path in (".", "..", "../cap"):
        with load(path, cache="../../relative cache") as captures:
            assert [c.name for c in captures] == ["cap"]
            assert len(captures.kernels()) == 2
