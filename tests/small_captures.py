"""Small captures written from text, and one file read as the worker reads it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pandas as pd

from tb_npu_plugin.backend.cache import Cache, fingerprint
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.ingest import Job, ingest
from tb_npu_plugin.backend.readers import reader_for, reader_name
from tb_npu_plugin.backend.readers.csv_file import literal

OUTPUT = "ASCEND_PROFILER_OUTPUT"
STEP_HEADER = (
    "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,"
    "Bubble,Communication(Not Overlapped and Exclude Receive),Preparing"
)
STEPS = f"{STEP_HEADER}\r\n0,10,100,20,5,25,30,150,0,20,3\r\n"
KERNEL_HEADER = (
    "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,"
    "Stream ID"
)
KERNELS = (
    f"{KERNEL_HEADER}\r\n"
    "10,MatMul1,MatMul,AI_CORE,1736408883704643.212\t,50.5,0,8,2\r\n"
    "10,Add2,Add,AI_VECTOR_CORE,1736408883704703.712\t,1.25,10,16,2\r\n"
)


def write_capture(path: Path, info: dict[str, Any] | None = None, **files: str | bytes) -> Path:
    """A capture directory. ``files``: ``kernel_details="…"`` is kernel_details.csv; text is UTF-8.

    ``info``: content of profiler_info_<rank_id>.json. Returns ``path``.
    """
    output = path / OUTPUT
    output.mkdir(parents=True)
    for stem, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (output / f"{stem}.csv").write_bytes(data)
    if info is not None:
        rank = info.get("rank_id")
        name = "profiler_info.json" if rank is None else f"profiler_info_{rank}.json"
        (path / name).write_text(json.dumps(info))
    return path


def info(rank: int | None = None, start_ns: int | None = None, end_ns: int | None = None,
         level: str = "Level1") -> dict[str, Any]:  # fmt: skip
    """The content of a profiler_info file; the window is on the epoch clock."""
    out: dict[str, Any] = {"config": {"experimental_config": {"_profiler_level": level}}}
    if rank is not None:
        out["rank_id"] = rank
    if start_ns is not None and end_ns is not None:
        out["start_info"] = {"start_monotonic": 1000}
        out["end_info"] = {
            "collectionTimeEnd": end_ns,
            "MonotonicTimeEnd": 1000 + end_ns - start_ns,
        }
    return out


def shared_path() -> Path:
    """Where the real captures are, if anywhere: $TB_NPU_SHARED, else ../shared."""
    told = os.environ.get("TB_NPU_SHARED")
    return Path(told) if told else Path(__file__).resolve().parents[2] / "shared"


class Read(NamedTuple):
    """A file as read: its tables, its findings, the traceback if the reader failed."""

    tables: dict[str, pd.DataFrame]
    notes: list[Note]
    error: str | None

    @property
    def frame(self) -> pd.DataFrame:
        """The table that is not a summary."""
        return next(t for name, t in self.tables.items() if "summary" not in name)

    @property
    def codes(self) -> list[str]:
        return [n.code for n in self.notes]

    def note(self, code: str) -> Note:
        """The one finding with this code."""
        found = [n for n in self.notes if n.code == code]
        assert len(found) == 1, self.notes
        return found[0]


def read_file(path: Path, cache: Path) -> Read:
    """Read one file of ASCEND_PROFILER_OUTPUT through the whole ingest, without a process."""
    reader = reader_for(path.name)
    assert reader is not None, path.name
    name = reader_name(reader)
    rel = f"{OUTPUT}/{path.name}"
    stat = path.stat()
    key = fingerprint(path, rel, stat.st_size, stat.st_mtime_ns, name, reader.VERSION)
    job = Job("capture", os.fsencode(path), rel, name, key, stat.st_size, str(cache))
    done = ingest(job)
    entry = Cache(cache).entry("capture", key)
    con = duckdb.connect()
    tables = {
        table: con.execute(
            f"SELECT * FROM read_parquet({literal(entry / f'{table}.parquet')})"
        ).df()
        for table in done.tables
    }
    con.close()
    for table, frame in tables.items():
        assert len(frame) == done.tables[table]
    return Read(tables, done.notes, done.error)
