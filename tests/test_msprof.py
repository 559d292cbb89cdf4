"""What CANN's msprof exports, as captures; and captures that nobody analysed."""

from __future__ import annotations

from pathlib import Path

from tb_npu_plugin.backend.capture import describe
from tb_npu_plugin.backend.discovery import Root, scan
from tb_npu_plugin.backend.readers.msprof_files import older_exports
from tb_npu_plugin.backend.store import Store

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


def test_raw_data_of_msprof_alone_is_a_capture_each_with_its_command(tmp_path: Path) -> None:
    for name in (PROF, PROF.replace("1_", "2_", 1)):
        (tmp_path / "two" / name / "host").mkdir(parents=True)
    found = [describe(f) for f in scan([Root(tmp_path)]).found]
    assert len(found) == 2
    for capture in found:
        (note,) = [n for n in capture.notes if n.code == "raw-only"]
        assert note.params["command"] == f"msprof --export=on --output={capture.path}"
