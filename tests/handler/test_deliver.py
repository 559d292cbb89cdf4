"""Finished captures are brought to another directory or to a URL, in pieces that can be repeated."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import Recorder, settled, wait_for
from tb_npu_handler import deliver, manifest

MEMORY = """
import json, sys
import fsspec
from tb_npu_handler import deliver, manifest

capture, target = sys.argv[1], "memory://bucket/runs"
record = manifest.read(capture)
fs = fsspec.filesystem("memory")
puts = []
real = fs.put_file
fs.put_file = lambda a, b, *r, **k: (puts.append(b), real(a, b, *r, **k))[1]
where = deliver.deliver(capture, record, target)
first = len(puts)
deliver.deliver(capture, record, target)
name = capture.rpartition("/")[2]
found = {p: fs.size(p) for p in fs.find("/bucket/runs")}
text = json.loads(fs.cat("/bucket/runs/" + name + "/capture.json"))
print("REPORT " + json.dumps([where, first, len(puts), found, text["state"]]))
"""


def test_upload_and_again_without_sending_twice(
    recorder: Recorder, raw_capture: Path, tmp_path: Path
) -> None:
    script = tmp_path / "memory.py"
    script.write_text(MEMORY)
    job = recorder.run(script, str(raw_capture))
    assert job.code == 0, job.out
    where, first, twice, found, state = job.report  # type: ignore[misc]
    assert where == "memory://bucket/runs/" + raw_capture.name
    listed = deliver.files_of(str(raw_capture), manifest.read(str(raw_capture)) or {})
    assert first == twice == len(listed) == 3
    assert len(found) == len(listed) + 1
    assert state == "complete"
    for path, relative in listed:
        assert found["/bucket/runs/" + relative] == Path(path).stat().st_size


def test_a_url_is_recorded_locally_and_uploaded_afterwards(recorder: Recorder) -> None:
    bucket = recorder.folder / "bucket"
    job = recorder.train(dir=f"file://{bucket}/runs", options={"analyse": "never"})
    assert job.code == 0, job.out
    (staged,) = job.report["captures"]
    wait_for(lambda: not Path(staged).exists())
    (arrived,) = recorder.captures(bucket / "runs")
    record = settled(arrived)
    assert record["state"] == "complete"
    for entry in record["files"]:
        if not entry["path"].startswith("logs/"):
            assert (arrived / entry["path"]).stat().st_size == entry["bytes"]


def test_an_unknown_protocol_keeps_the_capture_and_says_what_to_install(
    recorder: Recorder,
) -> None:
    job = recorder.train(dir="nowhere://bucket/runs", options={"analyse": "never"})
    assert job.code == 0, job.out
    record = settled(Path(job.report["captures"][0]))
    assert record["state"] == "failed"
    assert "not delivered to nowhere://bucket/runs" in record["reason"]
    assert record["raw"] is True


def test_the_last_to_arrive_is_the_manifest_that_says_complete(
    raw_capture: Path, tmp_path: Path
) -> None:
    capture = tmp_path / "here" / raw_capture.name
    shutil.copytree(raw_capture, capture)
    record = manifest.read(str(capture))
    assert record is not None
    arrived = tmp_path / "there" / capture.name
    seen = []

    def look() -> None:
        seen.append(json.loads((arrived / "capture.json").read_text())["state"])

    deliver.deliver(str(capture), record, str(tmp_path / "there"), look)
    assert seen == ["analysing"] * 3
    assert (manifest.read(str(arrived)) or {})["state"] == "complete"


def test_without_fsspec_the_message_says_what_to_install(
    raw_capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(ImportError, match="pip install fsspec"):
        deliver.deliver(str(raw_capture), manifest.read(str(raw_capture)) or {}, "s3://b/r")
