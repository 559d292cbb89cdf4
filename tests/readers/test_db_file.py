"""How databases are opened: nothing is left beside them, logs count, damage is told."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_captures import OUTPUT, read_file

from tb_npu_plugin.backend.finding_kinds import KINDS
from tb_npu_plugin.backend.readers import db_file
from tb_npu_plugin.frames import Captures


@pytest.fixture
def capture(shared: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of rank 0's ASCEND_PROFILER_OUTPUT, whose database is in WAL mode."""
    folder = tmp_path / "rank0_ascend_pt" / OUTPUT
    shutil.copytree(shared / "captures/db_level1/rank0_ascend_pt" / OUTPUT, folder,
                    copy_function=shutil.copyfile)  # fmt: skip
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)


def listing(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        p.name: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns)
        for p in sorted(folder.iterdir())
    }


def main(folder: Path) -> Path:
    return folder / "ascend_pytorch_profiler_0.db"


@pytest.mark.parametrize("mode", [0o755, 0o555])
def test_nothing_is_written_beside_a_database(
    capture: Path, mode: int, opened: Callable[[Path], Captures]
) -> None:
    assert main(capture).read_bytes()[18:20] == b"\x02\x02"  # WAL mode
    capture.chmod(mode)
    before = listing(capture)
    assert len(opened(capture.parent).kernels()) == 191
    assert listing(capture) == before


def test_what_a_log_holds_is_read_with_the_database(capture: Path, cache_dir: Path) -> None:
    writer = sqlite3.connect(main(capture))
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("PRAGMA wal_autocheckpoint=0")
    task = writer.execute("SELECT max(globalTaskId) FROM TASK").fetchone()[0] + 1
    writer.execute(
        "INSERT INTO TASK (startNs, endNs, deviceId, globalTaskId, taskType) "
        f"SELECT max(endNs) + 10, max(endNs) + 35, 0, {task}, 0 FROM TASK"
    )
    writer.execute(f"INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) "
                   f"SELECT 4, {task}, 5, 6")  # fmt: skip
    writer.commit()
    try:
        assert (capture / "ascend_pytorch_profiler_0.db-wal").stat().st_size > 0
        before = listing(capture)
        read = read_file(main(capture), cache_dir)
        assert listing(capture) == before
    finally:
        writer.close()
    assert len(read.tables["kernels"]) == 192
    assert read.tables["kernels"]["dur_ns"].iloc[-1] == 25.0
    assert read.note("database-log").params["logs"] == "ascend_pytorch_profiler_0.db-wal"


def test_a_log_that_is_written_to_later_renews_what_was_read(
    capture: Path, opened: Callable[[Path], Captures]
) -> None:
    captures = opened(capture.parent)
    log = capture / "ascend_pytorch_profiler_0.db-wal"
    log.write_bytes(b"not a log")
    captures._store.rescan()
    source = captures._store.captures()[0].file("ascend_pytorch_profiler_0.db")
    assert source
    assert source.mtime_ns == log.stat().st_mtime_ns


def test_a_broken_log_does_not_hide_the_database(capture: Path, cache_dir: Path) -> None:
    (capture / "ascend_pytorch_profiler_0.db-wal").write_bytes(os.urandom(5000))
    read = read_file(main(capture), cache_dir)
    assert len(read.tables["kernels"]) == 191


def test_written_to_while_read(
    capture: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are those of a copy made afterwards."""
    stamps = iter([((1, 1),), ((1, 2),)])
    monkeypatch.setattr(db_file, "stamp", lambda _path: next(stamps))
    copied = []
    real = db_file._copied
    monkeypatch.setattr(db_file, "_copied", lambda source: copied.append(1) or real(source))
    assert len(read_file(main(capture), cache_dir).tables["kernels"]) == 191
    assert copied == [1]


def test_an_empty_file_and_one_that_is_none(tmp_path: Path, cache_dir: Path) -> None:
    folder = tmp_path / OUTPUT
    folder.mkdir()
    for content, code in (
        (b"", "file-empty"),
        (b"Step,Computing\r\n" * 400, "database-unreadable"),
    ):
        main(folder).write_bytes(content)
        read = read_file(main(folder), cache_dir)
        assert (read.tables, read.codes, read.error) == ({}, [code], None)


@pytest.mark.parametrize("part", [0.02, 0.3, 0.6, 0.95, 0.999])
def test_a_cut_database_gives_what_is_left(capture: Path, cache_dir: Path, part: float) -> None:
    data = main(capture).read_bytes()
    main(capture).write_bytes(data[: int(len(data) * part)])
    read = read_file(main(capture), cache_dir)
    assert read.error is None
    assert {"database-cut", "database-unreadable"} & set(read.codes)
    if part > 0.99:
        assert len(read.tables["kernels"]) == 191


def test_a_damaged_table_costs_its_own_rows_only(capture: Path, cache_dir: Path) -> None:
    connection = sqlite3.connect(f"file:{main(capture)}?immutable=1", uri=True)
    root, = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'NPU_MODULE_MEM'").fetchone()  # fmt: skip
    connection.close()
    data = bytearray(main(capture).read_bytes())
    data[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    main(capture).write_bytes(data)
    read = read_file(main(capture), cache_dir)
    assert read.error is None
    assert "module_memory" not in read.tables
    assert len(read.tables["kernels"]) == 191
    note = next(n for n in read.notes if n.code == "database-damaged")
    assert note.place == "NPU_MODULE_MEM"


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(["ascend_pytorch_profiler_0.db", "analysis.db"]),
       cut=st.one_of(st.just(0), st.integers(0, 700_000)))  # fmt: skip
def test_any_damage_is_a_finding_never_an_exception(
    seed: int, name: str, cut: int, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("damaged") / OUTPUT
    folder.mkdir()
    original = shared / "captures/db_level1/rank0_ascend_pt" / OUTPUT / name
    data = np.frombuffer(original.read_bytes(), dtype=np.uint8).copy()
    rng = np.random.default_rng(seed)
    for _ in range(int(rng.integers(1, 40))):
        at = int(rng.integers(0, len(data)))
        size = int(rng.choice([1, 1, 4, 64, 4096]))
        data[at : at + size] = rng.integers(0, 256, len(data[at : at + size]))
    content = data.tobytes()[: max(1, len(data) - cut)]
    (folder / name).write_bytes(content)
    read = read_file(folder / name, tmp_path_factory.mktemp("cache"))
    assert read.error is None, read.error
    assert set(read.codes) <= set(KINDS)
    assert os.listdir(folder) == [name]
    assert (folder / name).read_bytes() == content
