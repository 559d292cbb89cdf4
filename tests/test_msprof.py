"""What CANN's msprof exports, as captures; and captures that nobody analysed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from small_captures import STEPS, info, write_capture

from tb_npu_plugin.backend.capture import describe
from tb_npu_plugin.backend.discovery import Root, scan
from tb_npu_plugin.backend.readers.msprof_files import older_exports
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.views.files import files_query
from tb_npu_plugin.frames import Captures, load
from tb_npu_plugin.sample import write_sample

PROF = "PROF_000001_20250109080443123_ABCDEF"
HEADER = (
    "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
)


def test_slices_are_one_table_and_an_older_export_is_not_added(tmp_path: Path) -> None:
    folder = tmp_path / "out" / PROF / "mindstudio_profiler_output"
    folder.mkdir(parents=True)
    for name, row in (
        (
            "op_summary_slice_0_20250109081000",
            "0,10,2,A,MatMul,AI_CORE,1736408883704643.212\t,50.5",
        ),
        ("op_summary_slice_1_20250109081000", "0,11,2,B,Add,AI_CORE,1736408883704703.712\t,1.25"),
        ("op_summary_20250108081000", "0,11,2,Old,Add,AI_CORE,1736408883704703.712\t,9"),
    ):
        (folder / f"{name}.csv").write_text(HEADER + row + "\n")
    store = Store([Root(tmp_path)], workers=1)
    try:
        store.rescan()
        assert store.wait(timeout=60)
        parts = store.parts(store.captures(), "kernels")
        assert [state.kind for _, state, _ in parts] == ["msprof", "msprof"]
        assert sum(state.rows["kernels"] for _, state, _ in parts) == 2
        (capture,) = store.captures()
        assert {"older-export", "msprof-only"} <= {n.code for n in capture.notes}
    finally:
        store.close()


def test_a_slice_that_is_there_twice_has_an_older_copy() -> None:
    names = [f"p/op_summary_slice_{n}_{t}.csv" for n, t in ((0, "2" * 14), (1, "2" * 13 + "3"))]
    assert older_exports(names) == set()
    assert older_exports([*names, f"p/op_summary_slice_0_{'1' * 14}.csv"]) == {
        f"p/op_summary_slice_0_{'1' * 14}.csv"
    }


def trace(*events: dict[str, Any]) -> str:
    """A piece of a trace: msprof names the processes in every one."""
    names = [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
             for pid, name in ((7, "Ascend Hardware"), (8, "CANN"))]  # fmt: skip
    return json.dumps([*names, *events])


def slice_(name: str, pid: int, tid: int, ts: str, dur: float = 1.0) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}


def flow(phase: str, pid: int, ts: str) -> dict[str, Any]:
    return {"ph": phase, "cat": "HostToDevice", "name": "HostToDevice5", "id": "5", "pid": pid,
            "tid": 2 if pid == 7 else 1, "ts": ts}  # fmt: skip


def write_pieces(folder: Path) -> None:
    """A trace in three pieces; the second begins with a thread that the first does not have."""
    folder.mkdir(parents=True)
    pieces = (
        [slice_("A", 8, 1, "100.000"), flow("s", 8, "100.000")],
        [slice_("B", 7, 9, "200.000"), slice_("C", 7, 2, "210.000"), flow("f", 7, "210.000")],
        [slice_("D", 8, 1, "300.000")],
    )
    for number, events in zip((0, 2, 10), pieces, strict=True):
        (folder / f"msprof_slice_{number}_20250109081000.json").write_text(trace(*events))


def test_a_trace_in_pieces_is_one_trace(tmp_path: Path, opened: Callable[[Path], Captures]) -> None:
    folder = tmp_path / "out" / PROF / "mindstudio_profiler_output"
    write_pieces(folder)
    captures = opened(tmp_path)
    tracks = captures.tracks()
    assert tracks["track"].tolist() == [0, 1, 2], "a thread is one track, however many pieces"
    slices = captures.slices()
    named = dict(zip(slices["name"], slices["track"], strict=True))
    assert named["A"] == named["D"]
    assert len({named["A"], named["B"], named["C"]}) == 3
    (arrow,) = captures.flows().to_dict("records")
    assert (arrow["from_track"], arrow["to_track"]) == (named["A"], named["C"])
    files = files_query(captures.select())
    with closing(captures._store.cursor()) as cursor:
        listed = cursor.execute(f"SELECT name, state FROM {files.source} ORDER BY 1").fetchall()
    assert len(listed) == 3
    assert {state for _, state in listed} == {"read"}


def test_a_broken_piece_costs_itself_alone(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    folder = tmp_path / "out" / PROF / "mindstudio_profiler_output"
    write_pieces(folder)
    (folder / "msprof_slice_2_20250109081000.json").write_text("no trace")
    captures = opened(tmp_path)
    assert sorted(captures.slices()["name"]) == ["A", "D"]
    found = captures.findings().set_index("code")
    assert found.loc["trace-no-events", "file"].endswith("msprof_slice_2_20250109081000.json")


def test_a_piece_that_changes_renews_the_trace(tmp_path: Path, cache_dir: Path) -> None:
    folder = tmp_path / "out" / PROF / "mindstudio_profiler_output"
    write_pieces(folder)
    with load(tmp_path, cache=cache_dir, workers=1) as before:
        assert len(before.slices()) == 4
    piece = folder / "msprof_slice_10_20250109081000.json"
    piece.write_text(trace(slice_("D", 8, 1, "300.000"), slice_("E", 8, 1, "310.000")))
    with load(tmp_path, cache=cache_dir, workers=1) as after:
        assert len(after.slices()) == 5


def test_the_trace_of_an_analysis_is_not_added_to_what_it_was_made_of(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    capture = write_capture(tmp_path / "x_ascend_pt", info(0), step_trace_time=STEPS)
    made = capture / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    made.write_text(trace(slice_("A", 8, 1, "100.000")))
    write_pieces(capture / PROF / "mindstudio_profiler_output")
    assert opened(tmp_path).slices()["name"].tolist() == ["A"]


def test_databases_of_two_devices_share_no_track(
    tmp_path: Path, opened: Callable[[Path], Captures]
) -> None:
    write_sample(tmp_path / "made", ranks=1, steps=1, kernels_per_step=30, export=("db",))
    (database,) = (tmp_path / "made").glob("*_ascend_pt/*/ascend_pytorch_profiler*.db")
    for number in (1, 2):
        folder = tmp_path / "job/x_ascend_pt" / PROF.replace("1_", f"{number}_", 1)
        (folder / "host").mkdir(parents=True)
        shutil.copy(database, folder / f"msprof_2025010908100{number}.db")
    (tmp_path / "job/x_ascend_pt/profiler_info.json").write_text("{}")
    captures = opened(tmp_path / "job")
    tracks = captures.tracks()
    assert tracks["track"].is_unique
    slices, flows = captures.slices(), captures.flows()
    assert set(slices["track"]) <= set(tracks["track"])
    assert set(flows["to_track"]) | set(flows["from_track"]) <= set(tracks["track"])
    count = slices.groupby("track").size()
    half = tracks["track"] < 1 << 20
    assert 0 < half.sum() == len(tracks) / 2
    assert count[count.index < 1 << 20].tolist() == count[count.index >= 1 << 20].tolist()


def test_raw_data_of_msprof_alone_is_a_capture_each_with_its_command(tmp_path: Path) -> None:
    for name in (PROF, PROF.replace("1_", "2_", 1)):
        (tmp_path / "two" / name / "host").mkdir(parents=True)
    found = [describe(f) for f in scan([Root(tmp_path)]).found]
    assert len(found) == 2
    for capture in found:
        (note,) = [n for n in capture.notes if n.code == "raw-only"]
        assert note.params["command"] == f"msprof --export=on --output={capture.path}"
