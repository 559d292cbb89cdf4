"""The stub itself: the real torch_npu works on it as on a host without an NPU."""

import csv
from pathlib import Path

from conftest import Recorder, settled


def test_torch_npu_is_the_unmodified_wheel(recorder: Recorder, tmp_path: Path) -> None:
    script = tmp_path / "look.py"
    script.write_text(
        "import torch, torch_npu\n"
        "from importlib import metadata\n"
        "assert metadata.version('torch_npu') == torch_npu.__version__ == '2.13.0'\n"
        "assert torch.npu.device_count() == 1\n"
        "assert torch.npu.get_device_name(0).startswith('Ascend910B1')\n"
    )
    job = recorder.run(script)
    assert job.code == 0, job.out


def test_caching_allocator_writes_memory_files(recorder: Recorder) -> None:
    job = recorder.train(npu=True, switches={"profile_memory": True, "record_shapes": True})
    assert job.code == 0, job.out
    (capture,) = recorder.captures()
    record = settled(capture)
    assert record["state"] == "complete", record
    assert "NPU activity was asked for but CANN wrote no PROF_*" in " ".join(record["advice"])
    assert any("CANN Profiling data" in one["message"] for one in record["warnings"])
    with open(capture / "ASCEND_PROFILER_OUTPUT" / "operator_memory.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    blocks = [row for row in rows if row["Name"] == "aten::empty"]
    assert [float(row["Size(KB)"]) for row in blocks] == [1024.5, 1024.5]
    assert (capture / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv").stat().st_size > 0
