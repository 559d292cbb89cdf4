"""Packed files (``.csv.gz``, ``.json.gz``): every reader of text reads them, and damage is told."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from small_captures import OUTPUT, read_file

from tb_npu_plugin.backend.readers import READERS, reader_for, reader_name, readers_for
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample

Opener = Callable[[Path], Captures]
TEXT = [r for r in READERS if getattr(r, "SOURCE", "text") != "db"]
#: Files that the generator does not write.
OTHERS = {
    "static_op_mem": (
        "static_op_mem.csv",
        "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\r\n"
        "0,sqrt_01,0,0,31,32,2343.78125\r\n0,TOTAL,0,0,0,4294967295,9.5\r\n",
    ),
    "other": ("nic.csv", "Device_id,Bandwidth(MB/s)\r\n0,12.5\r\n1,13\r\n"),
    "torch_trace": (
        "host_1.pt.trace.json",
        '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, '
        '"ts": 10, "dur": 2}]}',
    ),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reader -> a file of its own."""
    root = tmp_path_factory.mktemp("written")
    write_sample(root / "job", ranks=2, steps=2, level=2, kernels_per_step=60)
    output = min((root / "job").glob("*_ascend_pt")) / OUTPUT
    for name, content in OTHERS.values():
        (output / name).write_text(content)
    found = {}
    for path in sorted(output.iterdir()):
        reader = reader_for(path.name)
        if reader is not None:
            found[reader_name(reader)] = path
    return found


@pytest.mark.parametrize("reader", TEXT, ids=reader_name)
def test_every_reader_of_text_reads_it_packed(
    reader: ModuleType, written: dict[str, Path], tmp_path: Path
) -> None:
    path = written[reader_name(reader)]
    packed = tmp_path / f"{path.name}.gz"
    with gzip.open(packed, "wb") as stream:
        stream.write(path.read_bytes())
    assert reader_for(packed.name) is reader
    assert readers_for(packed.name) == readers_for(path.name)
    plain, found = read_file(path, tmp_path / "a"), read_file(packed, tmp_path / "b")
    assert found.error is None
    assert found.codes == plain.codes
    assert set(found.tables) == set(plain.tables) != set()
    for table, frame in plain.tables.items():
        pd.testing.assert_frame_equal(found.tables[table], frame)
    assert sum(len(f) for f in found.tables.values()) > 0


@pytest.mark.parametrize("damage", ["cut", "empty", "plain", "tail", "flipped"])
@pytest.mark.parametrize("reader", TEXT, ids=reader_name)
def test_a_damaged_pack_is_a_finding(
    reader: ModuleType, damage: str, written: dict[str, Path], tmp_path: Path
) -> None:
    path = written[reader_name(reader)]
    content = gzip.compress(path.read_bytes())
    middle = len(content) // 2
    damaged = {
        "cut": content[: middle + 8], "empty": b"", "plain": path.read_bytes(),
        "tail": content + b"\0\0\0", "flipped": content[:middle] + b"\xff" * 9 + content[middle + 9:],
    }[damage]  # fmt: skip
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(damaged)
    found = read_file(packed, tmp_path / "cache")
    assert "reader-failed" not in found.codes, found.error
    if damage != "tail":
        assert found.codes


def test_a_packed_capture_is_like_the_unpacked_one(tmp_path: Path, opened: Opener) -> None:
    write_sample(tmp_path / "a/job", ranks=2, steps=2, kernels_per_step=60)
    shutil.copytree(tmp_path / "a/job", tmp_path / "b/job")
    for path in (tmp_path / "b/job").glob(f"*_ascend_pt/{OUTPUT}/*.*"):
        with gzip.open(f"{path}.gz", "wb") as stream:
            stream.write(path.read_bytes())
        path.unlink()
    plain, packed = opened(tmp_path / "a"), opened(tmp_path / "b")
    assert sorted(packed.findings()["code"]) == sorted(plain.findings()["code"])
    assert packed.capabilities()["status"].tolist() == plain.capabilities()["status"].tolist()
    for method in ("kernels", "steps", "operators", "communication", "matrix", "memory_blocks"):
        a, b = getattr(plain, method)(), getattr(packed, method)()
        pd.testing.assert_frame_equal(a, b)


def test_a_packed_copy_beside_its_file_is_not_read_as_well(tmp_path: Path, opened: Opener) -> None:
    write_sample(tmp_path / "job", ranks=1, steps=2, kernels_per_step=60)
    (output,) = (tmp_path / "job").glob(f"*_ascend_pt/{OUTPUT}")
    before = len(opened(tmp_path).kernels())
    path = output / "kernel_details.csv"
    with gzip.open(f"{path}.gz", "wb") as stream:
        stream.write(path.read_bytes())
    assert len(opened(tmp_path).kernels()) == before
    path.unlink()
    assert len(opened(tmp_path).kernels()) == before


def test_a_packed_output_alone_is_a_capture(tmp_path: Path, opened: Opener) -> None:
    folder = tmp_path / "copied"
    folder.mkdir()
    with gzip.open(folder / "step_trace_time.csv.gz", "wb") as stream:
        stream.write(b"Step,Computing\r\n1,5\r\n")
    assert opened(tmp_path).steps()["computing_ns"].tolist() == [5000.0]
