"""A shared store in an object store: the real S3 protocol, spoken by moto's server on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from all_views import all_views, differences

from tb_npu_plugin.backend.prune_store import unused
from tb_npu_plugin.backend.shared_store import open_store
from tb_npu_plugin.cli import app, main
from tb_npu_plugin.sample import write_sample

BUCKET = "npu-captures"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """``s3://…`` of an empty bucket, for this process and those it starts."""
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (("ENDPOINT_URL", f"http://{host}:{port}"), ("ACCESS_KEY_ID", "test"),
                        ("SECRET_ACCESS_KEY", "test"), ("DEFAULT_REGION", "us-east-1")):  # fmt: skip
        monkeypatch.setenv(f"AWS_{name}", value)
    pytest.importorskip("boto3").client("s3").create_bucket(Bucket=BUCKET)
    try:
        yield f"s3://{BUCKET}/store"
    finally:
        server.stop()


def ingest(logdir: Path, store: str) -> int:
    code: int = app(["ingest", os.fspath(logdir), "--store", store, "--workers", "2"],
                    standalone_mode=False)  # fmt: skip
    return code


def test_every_view_is_the_same_from_a_bucket(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logdir = tmp_path / "runs"
    write_sample(logdir / "job", ranks=2, steps=2, kernels_per_step=60, seed=4)
    expected = all_views(logdir, tmp_path / "cache")
    assert ingest(logdir, bucket) == 0
    assert "2 read" in capsys.readouterr().out
    assert ingest(logdir, bucket) == 0
    assert "0 read, 2 there before" in capsys.readouterr().out
    store = open_store(bucket)
    entries = list(store.entries())
    assert unused(store, 0) == []
    assert time.time() - 600 < min(e.written for e in entries) <= time.time() + 1
    logdir.rename(tmp_path / "away")
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("TB_NPU_STORE", bucket)
    assert not differences(all_views(tmp_path / "empty", tmp_path / "other"), expected)
    # A capture that nothing describes any more is removed, the other stays.
    one, other = sorted(store.listing())
    files = pytest.importorskip("fsspec").filesystem("s3")
    files.rm(f"{BUCKET}/store/v1/descriptions/{one}.json")
    assert {e.capture_id for e in unused(store, 0)} == {one}
    with pytest.raises(SystemExit):
        main(["cache", "prune", bucket, "--older-than", "0"])
    assert {e.capture_id for e in store.entries()} == {other}
