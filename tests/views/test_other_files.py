"""Files that no view is made of: tables of their own, in the tab, the terminal and over HTTP."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from small_captures import KERNELS, OUTPUT, STEPS, Read, info, write_capture
from test_api import Http, serve

from tb_npu_plugin.cli import main

NIC = (
    "Device_id,Timestamp(us),Bandwidth(MB/s),rxPacket/s,funcId\r\n"
    '0,"1736408883704643.212\t",12.5,7,0\r\n1,"1736408883704663.212\t",13,8,N/A\r\n'
)
RULES = {"data": [{"rule": "a", "n": 3}], "version": "1.0", "none": None, "list": [1, 2]}


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("others")
    for rank in (0, 1):
        window = {"start_ns": 10**18, "end_ns": 10**18 + 10**9}
        capture = write_capture(root / f"r{rank}", info(rank, **window), step_trace_time=STEPS,
                                kernel_details=KERNELS)  # fmt: skip
        output = capture / OUTPUT
        (output / "nic.csv").write_bytes(NIC.encode())
        (output / "minddata_pipeline_summary_0.json").write_text(json.dumps(RULES))
    (root / "r0" / OUTPUT / "pcie.csv").write_text("Mode,Min\nTx_p_avg(MB/s),=1+1\n")
    (root / "r1" / OUTPUT / "broken.csv").write_bytes(b"")
    with gzip.open(root / "r0" / OUTPUT / "hccs.csv.gz", "wb") as stream:
        stream.write(b"Device_id,Mode,Max\n0,Tx,3.5\n")
    return root


@pytest.fixture(scope="module")
def http(logdir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Http]:
    served = serve(logdir, tmp_path_factory.mktemp("cache"))
    assert served.store.wait(timeout=60)
    yield served
    served.store.close()


def table(http: Http, **args: Any) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Key -> label, and the rows."""
    found = http.data("files", **args)["table"]
    labels = {c["key"]: c["label"] for c in found["columns"]}
    keys = list(found["values"])
    return labels, [
        dict(zip(keys, row, strict=True)) for row in zip(*found["values"].values(), strict=True)
    ]


def test_the_list_names_them(http: Http) -> None:
    data = http.data("files")
    assert data["file"] == ""
    assert [o.removeprefix(f"{OUTPUT}/") for o in data["others"]] == [
        "broken.csv", "hccs.csv.gz", "minddata_pipeline_summary_0.json", "nic.csv", "pcie.csv",
    ]  # fmt: skip


def test_columns_of_its_own_over_all_ranks(http: Http) -> None:
    labels, rows = table(http, file=f"{OUTPUT}/nic.csv")
    assert labels["bandwidth_mb_s"] == "Bandwidth(MB/s)"
    assert rows[0] == {
        "device_id": 0, "timestamp_us": "1736408883704643.212", "bandwidth_mb_s": 12.5,
        "rxpacket_s": 7, "funcid": 0, "rank": 0,
    }  # fmt: skip
    assert [r["rank"] for r in rows] == [0, 0, 1, 1]
    assert rows[1]["funcid"] is None
    labels, rows = table(
        http, file="nic.csv", filter="bandwidth_mb_s>12.7 rank=1", sort="device_id:desc"
    )
    assert [r["bandwidth_mb_s"] for r in rows] == [13.0]
    assert http.json("files", file="nic.csv")["meta"]["provenance"] == {"file_rows": "nic.csv"}


def test_json_is_a_row_for_each_value(http: Http) -> None:
    _, rows = table(http, file="minddata_pipeline_summary_0.json", rank="0")
    assert [(r["key"], r["value"]) for r in rows] == [
        ("data[0].rule", "a"), ("data[0].n", "3"), ("version", "1.0"), ("none", None),
        ("list", "[1,2]"),
    ]  # fmt: skip


def test_packed_and_only_of_one_rank(http: Http) -> None:
    _, rows = table(http, file="hccs.csv.gz")
    assert rows == [{"device_id": 0, "mode": "Tx", "max": 3.5}]


def test_what_is_not_there_or_broken(http: Http) -> None:
    error = http.json("files", 404, file="../../etc/passwd")["error"]
    assert "nic.csv" in error["hint"]
    assert http.json("files", 404, file="kernel_details.csv")["error"]["code"] == "no-such-file"
    assert http.json("files", 409, file="broken.csv")["error"]["code"] == "unreadable-file"
    codes = {f["code"] for f in http.data("health")["findings"]}
    assert "file-empty" in codes


def test_the_command(logdir: Path, capsys: pytest.CaptureFixture[str], cache_dir: Path) -> None:
    def show(*args: str) -> tuple[int, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main(["show", "files", str(logdir), "--cache", str(cache_dir), *args])
        return int(str(end.value.code or 0)), capsys.readouterr().out

    code, text = show("--file", "nic.csv")
    assert code == 0
    assert "Bandwidth(MB/s)" in text
    assert "1736408883704643.212" in text
    _, exported = show("--file", "pcie.csv", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(exported))
    assert row["min"] == "'=1+1", "safe for a spreadsheet"
    assert show("--file", "nope.csv")[0] == 1
    assert "nic.csv" in show()[1]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,a\n1,x\n2,\n", [[1, "x"], [2, None]]),
        ("a;b\n007;1.5\n8;2\n", [["007", 1.5], ["8", 2.0]]),
        ("a,b\n1736408883704643.212,nan\n1,2\n", [["1736408883704643.212", "nan"], ["1", "2"]]),
        ("a,b\n99999999999999999999,-3\n1,4\n", [["99999999999999999999", -3], ["1", 4]]),
        ("\ufeffa,b\n1.0,\n2.25,\n", [[1.0, None], [2.25, None]]),
    ],
)
def test_a_column_is_a_number_where_every_cell_is(
    read: Callable[..., Read], content: str, expected: list[list[Any]]
) -> None:
    found = read(content, "fusion_op_0_1_1.csv")
    assert found.error is None
    frame = found.tables["file_rows"].astype(object)
    assert frame.where(frame.notna(), None).to_numpy().tolist() == expected


@pytest.mark.parametrize(
    ("content", "codes"),
    [("", ["file-empty"]), ("{", ["json-broken"]), ('{"a": ' * 5000, ["json-broken"])],
)
def test_json_that_is_none(read: Callable[..., Read], content: str, codes: list[str]) -> None:
    assert read(content, "prof_rule_0_20250109081000.json").codes == codes


def test_json_lists_and_lone_values(read: Callable[..., Read]) -> None:
    found = read('[{"a": 1, "b": {"c": []}}, {"d": "x"}]', "step_trace_1.json")
    assert found.tables["file_columns"]["label"].tolist() == ["a", "b", "d"]
    assert found.tables["file_rows"].iloc[0].tolist()[:2] == ["1", '{"c":[]}']
    assert read("3", "prof_rule_0.json").tables["file_rows"].iloc[0].tolist()[1] == "3"
