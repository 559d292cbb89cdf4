"""communication.json and communication_matrix.json, as they are and as they are found damaged."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from small_captures import Read, read_file

from tb_npu_plugin.backend.readers import json_members
from tb_npu_plugin.backend.readers.base import Source
from tb_npu_plugin.backend.readers.communication_group import (
    CommGroup,
    group_id,
    of_analysis,
    of_metadata,
)
from tb_npu_plugin.backend.readers.communication_values import LEVELS, step_of
from tb_npu_plugin.backend.schema.communication import type_of

OPS, MATRIX = "communication.json", "communication_matrix.json"
HASH = "17522688603477080586"
LINK = {"Transit Size(MB)": 3.0, "Transit Time(ms)": 1.5, "Bandwidth(GB/s)": 2.0,
        "Large Packet Ratio": 0.25, "Size Distribution": {"0.75": [4, 1.5]}}  # fmt: skip
TIMES = {"Start Timestamp(us)": 1736408883732241.5, "Elapse Time(ms)": 10, "Transit Time(ms)": 1.5,
         "Wait Time(ms)": 2.5, "Synchronization Time(ms)": 2, "Idle Time(ms)": 6}  # fmt: skip
OP = {"Communication Time Info": TIMES, "Communication Bandwidth Info": {"HCCS": LINK}}

Reading = Callable[..., Read]


def operation(**changes: Any) -> dict[str, Any]:
    """One operation; ``times`` and ``links`` replace parts of it, None removes a cell."""
    op = copy.deepcopy(OP)
    for key, value in changes.pop("times", {}).items():
        op["Communication Time Info"][key] = value
    op["Communication Bandwidth Info"].update(changes.pop("links", {}))
    assert not changes
    return op


def operations(*ops: dict[str, Any], step: str = "step7", kind: str = "collective") -> str:
    named = {f"hcom_allReduce__1_{i}_1@{HASH}": op for i, op in enumerate(ops)}
    return json.dumps({step: {kind: named}})


def row(frame: pd.DataFrame, i: int = 0) -> dict[str, Any]:
    """A row with NA as None."""
    return {k: None if pd.isna(v) else v for k, v in frame.iloc[i].items()}


# ---- the real files -------------------------------------------------------------------------


def raw(shared: Path, rank: int, name: str) -> dict[str, Any]:
    path = shared / f"captures/text_level1/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT" / name
    return json.loads(path.read_text())


def real(shared: Path, rank: int, name: str, cache: Path) -> Read:
    return read_file(
        shared / f"captures/text_level1/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT" / name, cache
    )


@pytest.mark.parametrize("rank", [0, 1])
def test_real_operations_are_those_of_the_file(shared: Path, cache_dir: Path, rank: int) -> None:
    found = real(shared, rank, OPS, cache_dir)
    assert found.notes == []
    told = {k: v for k, v in raw(shared, rank, OPS)["step50"]["collective"].items() if "@" in k}
    ops = found.tables["comm_ops"]
    assert list(ops["name"] + "@" + ops["comm_group"]) == list(told)
    assert set(ops["step"]) == {50}
    assert set(ops["type"]) == {"allreduce"}
    assert set(ops["links"]) == {"HCCS"}
    for i, op in enumerate(told.values()):
        times = op["Communication Time Info"]
        for key, name in (("elapse_ns", "Elapse"), ("transit_ns", "Transit"), ("wait_ns", "Wait"),
                          ("synchronization_ns", "Synchronization"), ("idle_ns", "Idle")):  # fmt: skip
            assert ops[key][i] == pytest.approx(times[f"{name} Time(ms)"] * 1e6, abs=1e-5)
        assert ops["start_ns"][i] == int(times["Start Timestamp(us)"] * 4) * 250
        hccs = op["Communication Bandwidth Info"]["HCCS"]["Transit Size(MB)"]
        assert ops["size_bytes"][i] == round(hccs * 10**6)


def test_real_sizes_are_whole_bytes_and_counted_once(shared: Path, cache_dir: Path) -> None:
    found = real(shared, 0, OPS, cache_dir)
    assert found.tables["comm_ops"]["size_bytes"].sum() == 427_596_096
    links = found.tables["comm_links"]
    assert links[links["is_sum"] == 1]["link"].unique().tolist() == ["SDMA"]
    assert links[links["is_sum"] == 0]["size_bytes"].sum() == 427_596_096
    packets = found.tables["comm_packets"]
    assert (packets["packet_bytes"] * packets["packets"]).sum() == 427_596_096
    assert packets["packets"].sum() == 4 * 14


def test_real_bandwidths_are_those_of_the_file_but_exact(shared: Path, cache_dir: Path) -> None:
    links = real(shared, 0, OPS, cache_dir).tables["comm_links"]
    told = [
        link["Bandwidth(GB/s)"]
        for key, op in raw(shared, 0, OPS)["step50"]["collective"].items()
        if "@" in key
        for name, link in op["Communication Bandwidth Info"].items()
        if name == "HCCS"
    ]
    exact = links[links["link"] == "HCCS"]["bandwidth_bytes_per_s"] / 1e9
    assert [round(v, 4) for v in exact] == told
    assert links[links["link"] == "RDMA"]["bandwidth_bytes_per_s"].isna().all()


@pytest.mark.parametrize("rank", [0, 1])
def test_real_matrix_is_that_of_the_file(shared: Path, cache_dir: Path, rank: int) -> None:
    found = real(shared, rank, MATRIX, cache_dir)
    assert found.notes == []
    told = [
        (f"{key}|{link}", values)
        for key, links in raw(shared, rank, MATRIX)["step50"]["collective"].items()
        for link, values in links.items()
    ]
    rows = found.frame
    assert len(rows) == len(told) == 48
    for i, (key, values) in enumerate(told):
        r = row(rows, i)
        assert f"{r['key']}@{r['comm_group']}|{r['src']}-{r['dst']}" == key
        assert r["transport"] == values["Transport Type"]
        assert r["size_bytes"] == round(values["Transit Size(MB)"] * 10**6)
        assert r["time_ns"] == pytest.approx(values["Transit Time(ms)"] * 1e6, abs=1e-5)
        assert r["bandwidth_bytes_per_s"] / 1e9 == pytest.approx(
            values["Bandwidth(GB/s)"], abs=6e-5
        )
        assert r["operation"] == values.get("Op Name")
    assert rows["pick"].value_counts().to_dict() == dict.fromkeys(
        ["top1", "middle", "bottom1", "bottom2", "bottom3", "total"], 8
    )


# ---- variants -------------------------------------------------------------------------------


def test_step_without_number_lies_outside_any_step(cases: Path, cache_dir: Path) -> None:
    """Case C23."""
    output = cases / "C23-communication-gaps/ASCEND_PROFILER_OUTPUT"
    found = read_file(output / OPS, cache_dir)
    first, second = (row(found.tables["comm_ops"], i) for i in (0, 1))
    assert len(found.tables["comm_ops"]) == 2
    assert first["step"] is second["step"] is None
    assert first["size_bytes"] is None
    assert first["links"] is None
    assert first["idle_ns"] == 900_000
    assert second["comm_group"] is None
    assert second["start_ns"] == 1695115378810050500
    assert second["elapse_ns"] is second["idle_ns"] is None
    assert second["wait_ns"] == 100_000
    assert (second["size_bytes"], second["links"]) == (1_000_000, "UB")
    unit = row(found.tables["comm_links"].query("link == 'UB'"))
    assert (unit["size_bytes"], unit["time_ns"], unit["packets"]) == (1_000_000, 0, 1)
    assert unit["bandwidth_bytes_per_s"] is None
    assert found.note("bandwidth-unknown").params["count"] == 1
    assert found.note("bandwidth-undefined").params["count"] == 1


def test_links_that_are_none_are_skipped_and_counted(cases: Path, cache_dir: Path) -> None:
    """Case C24."""
    output = cases / "C24-matrix-odd-links/ASCEND_PROFILER_OUTPUT"
    found = read_file(output / MATRIX, cache_dir)
    assert found.frame[["src", "dst", "transport"]].values.tolist() == [
        [0, 993, "RDMA"], [0, 0, "LOCAL"],
    ]  # fmt: skip
    far, local = (row(found.frame, i) for i in (0, 1))
    assert far["bandwidth_bytes_per_s"] is None
    assert far["operation"] == "hcom_allGather__1_2"
    assert (far["pick"], far["step"], far["comm_group"]) == ("op", 8, "777")
    assert local["size_bytes"] == 40
    note = found.note("links-skipped")
    assert note.params == {"count": 1, "example": "'1-2-3'"}
    assert note.place == "step8 hcom_allGather__1_2@777"


def test_a_numeric_transport_is_skipped_also_where_the_link_is_sound(read: Reading) -> None:
    links = {"0-1": {"Transport Type": 0, "Transit Size(MB)": 1, "Transit Time(ms)": 1}}
    found = read(json.dumps({"step": {"p2p": {"send-total@1": links}}}), MATRIX)
    assert found.frame.empty
    assert found.note("links-skipped").params["example"] == "'0-1'"


def test_old_matrix_totals_are_left_out(read: Reading) -> None:
    """They add up positions of different groups."""
    link = {"Transport Type": "HCCS", "Transit Size(MB)": 2, "Transit Time(ms)": 1}
    found = read(json.dumps({"step1": {"collective": {
        "hcom_broadcast__822_0@9": {"0-1": link}, "Total Op Info": {"0-1": link}}}}), MATRIX)  # fmt: skip
    assert found.frame[["key", "type", "pick", "operation"]].values.tolist() == [
        ["hcom_broadcast__822_0", "broadcast", "op", "hcom_broadcast__822_0"]
    ]


def test_sdma_alone_is_counted(read: Reading) -> None:
    op = {"Communication Bandwidth Info": {"SDMA": LINK}, "Communication Time Info": TIMES}
    found = read(operations(op), OPS)
    assert row(found.tables["comm_ops"])["size_bytes"] == 3_000_000
    assert found.tables["comm_links"]["is_sum"].tolist() == [0]


def test_rdma_is_added_to_what_sdma_sums_up(read: Reading) -> None:
    found = read(operations(operation(links={"RDMA": LINK, "SDMA": LINK})), OPS)
    assert row(found.tables["comm_ops"])["size_bytes"] == 6_000_000
    assert row(found.tables["comm_ops"])["links"] == "HCCS, RDMA"


def test_a_link_of_unknown_size_leaves_the_sum_unknown(read: Reading) -> None:
    found = read(operations(operation(links={"RDMA": {**LINK, "Transit Size(MB)": "N/A"}})), OPS)
    assert row(found.tables["comm_ops"])["size_bytes"] is None


def test_large_packet_ratio_needs_packets(read: Reading) -> None:
    empty = {**LINK, "Large Packet Ratio": 0, "Size Distribution": {}}
    links = read(operations(operation(links={"PCIE": empty})), OPS).tables["comm_links"]
    assert links["large_packet_ratio"].fillna(-1).tolist() == [0.25, -1]
    assert links["packets"].tolist() == [4, 0]


def test_missing_idle_is_what_is_left(read: Reading) -> None:
    found = read(operations(operation(times={"Idle Time(ms)": None})), OPS)
    assert row(found.tables["comm_ops"])["idle_ns"] == 6_000_000


def test_parts_that_do_not_add_up_are_told(read: Reading) -> None:
    found = read(operations(OP, operation(times={"Idle Time(ms)": 5})), OPS)
    note = found.note("communication-sum")
    assert note.params == {"count": 1, "sum_us": "9000.000", "elapse_us": "10000.000"}
    assert note.place == "hcom_allReduce__1_1_1"


@pytest.mark.parametrize("value", [-3, 1e30])
def test_impossible_times_are_unknown_and_told(read: Reading, value: float) -> None:
    found = read(operations(operation(times={"Wait Time(ms)": value})), OPS)
    assert row(found.tables["comm_ops"])["wait_ns"] is None
    assert found.note("impossible-value").params["count"] == 1


def test_point_to_point_and_empty_steps(read: Reading) -> None:
    found = read(
        json.dumps({"step1": {"p2p": {"hcom_send__1_0@5": OP, "Total Op Info": OP},
                              "collective": {}}, "step2": {}, "step3": None}), OPS)  # fmt: skip
    assert found.tables["comm_ops"][["kind", "type", "step"]].values.tolist() == [
        ["p2p", "send", 1]
    ]


def test_no_operations_at_all(read: Reading) -> None:
    found = read('{"step1": {"p2p": {}, "collective": {}}}', OPS)
    assert found.codes == ["communication-empty"]
    assert [len(t) for t in found.tables.values()] == [0, 0, 0]


@pytest.mark.parametrize(("name", "expected"), [
    ("hcom_allReduce__586_0_1", "allreduce"), ("hcom_reduceScatter__1_0", "reducescatter"),
    ("hcom_batchSendRecv__1_0", "batchsendrecv"), ("hcom_alltoallv__1", "alltoallv"),
    ("hcom_send_10_1", "send"), ("hcom_allGather_3_1", "allgather"), ("odd name__1", "odd name"),
])  # fmt: skip
def test_type_of_an_operation(name: str, expected: str) -> None:
    assert type_of(name) == expected


@pytest.mark.parametrize(("key", "step"), [("step50", 50), ("step", None), ("12", 12), ("", None)])
def test_step_of_a_key(key: str, step: int | None) -> None:
    assert step_of(key) == step


# ---- damage ---------------------------------------------------------------------------------


@pytest.fixture
def three() -> dict[str, str]:
    """Both files with three operations, or links of three operations, in two steps."""
    link = {"Transport Type": "HCCS", "Transit Size(MB)": 2, "Transit Time(ms)": 1}
    return {
        OPS: json.dumps({"step1": {"collective": {"hcom_allReduce__甲_0@1": OP, "b__1@1": OP}},
                         "step2": {"collective": {"c__2@1": OP}}}, ensure_ascii=False),
        MATRIX: json.dumps({"step1": {"collective": {"hcom_allReduce__甲_0@1": {"0-1": link},
                                                     "b__1@1": {"0-1": link}}},
                            "step2": {"collective": {"c__2@1": {"0-1": link}}}},
                           ensure_ascii=False),
    }  # fmt: skip


def names(found: Read) -> list[str]:
    frame = next(iter(found.tables.values()))
    return frame["operation" if "operation" in frame else "name"].tolist()


@pytest.mark.parametrize("name", [OPS, MATRIX])
@pytest.mark.parametrize(
    ("encoding", "code"),
    [("utf-8", []), ("utf-8-sig", []), ("utf-16", ["encoding"]), ("gb18030", ["encoding"])],
)
def test_encodings(
    read: Reading, three: dict[str, str], name: str, encoding: str, code: list[str]
) -> None:
    found = read(three[name].encode(encoding), name)
    assert names(found) == ["hcom_allReduce__甲_0", "b__1", "c__2"]
    assert found.codes == code


@pytest.mark.parametrize("name", [OPS, MATRIX])
def test_a_packed_file(read: Reading, three: dict[str, str], name: str) -> None:
    found = read(gzip.compress(three[name].encode()), f"{name}.gz")
    assert len(names(found)) == 3
    assert found.notes == []


@pytest.mark.parametrize("name", [OPS, MATRIX])
def test_a_file_too_large_to_hold_is_read_alike(
    read: Reading, three: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_members, "WHOLE_BYTES", 100)
    found = read(three[name], name)
    assert len(names(found)) == 3
    assert found.error is None


@pytest.mark.parametrize("name", [OPS, MATRIX])
@pytest.mark.parametrize("token", ["NaN", "-Infinity", "N/A", '"N/A"', "null"])
def test_values_that_are_no_numbers_are_unknown(
    read: Reading, three: dict[str, str], name: str, token: str
) -> None:
    text = three[name].replace('"Transit Time(ms)": 1', f'"Transit Time(ms)": {token}, "x": 1', 1)
    assert text != three[name]
    found = read(text, name)
    assert len(names(found)) == 3
    frame = next(iter(found.tables.values()))
    column = frame["transit_ns" if name == OPS else "time_ns"]
    assert column.isna().tolist() == [True, False, False]
    bare = token in ("NaN", "-Infinity", "N/A")
    assert found.codes == (["json-not-numbers"] if bare else [])


@pytest.mark.parametrize("name", [OPS, MATRIX])
def test_a_cut_file_gives_what_is_whole_and_says_where(
    read: Reading, three: dict[str, str], name: str
) -> None:
    data = three[name].encode()
    second = data.index(b'"b__1@1"')
    found = read(data[: second + 30], name)
    assert names(found) == ["hcom_allReduce__甲_0"]
    note = found.note("json-cut")
    assert note.params == {"offset": second, "size": second + 30}
    assert (note.file, note.place) == (f"ASCEND_PROFILER_OUTPUT/{name}", f"byte {second}")


def test_a_cut_gbk_file_says_where_in_the_file_itself(read: Reading, three: dict[str, str]) -> None:
    data = three[OPS].encode("gb18030")
    second = data.index(b'"b__1@1"')
    note = read(data[: second + 30], OPS).note("json-cut")
    assert note.params == {"offset": second, "size": second + 30}


@pytest.mark.parametrize("name", [OPS, MATRIX])
def test_cut_anywhere(three: dict[str, str], name: str, tmp_path: Path) -> None:
    """Never an exception, never a partial member, always the place; whole ones are never lost."""
    data = three[name].encode()
    starts = [data.index(key) for key in (b'"hcom', b'"b__1@1"', b'"c__2@1"')]
    path, whole = tmp_path / name, json.loads(three[name])
    values = [v for step in whole.values() for v in step["collective"].values()]
    con = duckdb.connect()
    for size in range(1, len(data)):
        path.write_bytes(data[:size])
        source = Source(con, path, name, tmp_path)
        found = list(json_members.members(source, LEVELS))
        assert [m.value for m in found] == values[: len(found)]
        assert [m.offset for m in found] == starts[: len(found)]
        assert len(found) >= sum(start <= size for start in starts) - 1
        note = source.notes[-1]
        assert note.code == "json-cut"
        assert 0 <= note.params["offset"] <= note.params["size"] == size


@pytest.mark.parametrize("name", [OPS, MATRIX])
@pytest.mark.parametrize("stray", [b"}", b"{", b'"', b"]", b"\\", b","])
def test_a_stray_character_costs_one_member_at_most(
    three: dict[str, str], name: str, stray: bytes, tmp_path: Path
) -> None:
    data = three[name].encode()
    whole = {
        (step, kind, key): value
        for step, kinds in json.loads(data).items()
        for kind, found in kinds.items()
        for key, value in found.items()
    }
    con, path = duckdb.connect(), tmp_path / name
    for at in range(1, len(data), 3):
        path.write_bytes(data[:at] + stray + data[at:])
        source = Source(con, path, name, tmp_path)
        found = {m.keys: m.value for m in json_members.members(source, LEVELS)}
        sound = [keys for keys, value in whole.items() if found.get(keys) == value]
        in_outer_key = data.count(b'"@1', 0, at) == 0 and at < data.index(b"hcom")
        assert len(sound) >= (0 if in_outer_key else len(whole) - 1), (at, source.notes)


def test_many_unclosed_objects_end(read: Reading) -> None:
    """Each would be searched to the end of the file if nothing bounded it: hours, not moments."""
    found = read(b'{"step1": {"collective": {' + b'"a@1": {"' * 100_000, OPS)
    assert found.error is None
    assert found.note("json-members-broken").params["count"] > 90_000


@pytest.mark.parametrize("name", [OPS, MATRIX])
@pytest.mark.parametrize("damage", [
    lambda text: text.replace('"b__1@1": {', '"b__1@1": {{"'),
    lambda text: text.replace('"b__1@1": {', '"b__1@1": {"a": "C:\\users", '),
    lambda text: text.replace('"b__1@1": {', '"b__1@1": {"a": "x"y", '),
    lambda text: text.replace('"b__1@1": {', '"b__1@1": {"a": \x00, '),
])  # fmt: skip
def test_a_damaged_object_costs_itself_alone(
    read: Reading, three: dict[str, str], name: str, damage: Callable[[str], str]
) -> None:
    text = damage(three[name])
    assert text != three[name]
    found = read(text, name)
    assert names(found) == ["hcom_allReduce__甲_0", "c__2"]
    frame = next(iter(found.tables.values()))
    assert frame["step"].tolist() == [1, 2]
    note = found.note("json-members-broken")
    assert note.params["count"] == 1
    assert note.place == f"byte {text.encode().index(b'b__1@1') - 1}"


@pytest.mark.parametrize("name", [OPS, MATRIX])
@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "file-empty"),
        ("<html>", "json-no-object"),
        ("[]", "json-no-object"),
        (" ", "json-no-object"),
    ],
)
def test_files_that_are_none(read: Reading, name: str, content: str, code: str) -> None:
    found = read(content, name)
    assert found.codes == [code]
    assert found.error is None
    assert found.tables == {}


@pytest.mark.parametrize("value", [[], "text", 3, None, {"HCCS": 4}, {"HCCS": None}])
def test_unexpected_types_are_unknown(read: Reading, value: Any) -> None:
    op = {"Communication Time Info": value, "Communication Bandwidth Info": value}
    found = read(operations(op, OP), OPS)
    assert found.error is None
    assert found.tables["comm_ops"]["elapse_ns"].isna().tolist() == [True, False]
    assert found.note("bandwidth-unknown").params["count"] == 1


# ---- groups ---------------------------------------------------------------------------------


def test_group_id_is_the_hash_the_exporter_writes() -> None:
    """Full name and hash of one recording (db_level1)."""
    name = "90.91.105.46%enp189s0f0_60000_0_1736410538306028"
    assert group_id(name) == "17148521525495523210"


def test_groups_of_metadata() -> None:
    full = "10.0.0.1%eth0_60000_0_1"
    info = {"parallel_group_info": {full: {"group_name": "tp", "global_ranks": [4, 5]}, "x": 3}}
    assert of_metadata(info) == [CommGroup(group_id(full), "tp", (4, 5))]
    assert of_metadata({"parallel_group_info": []}) == []


def test_groups_of_an_analysis(tmp_path: Path) -> None:
    folder = tmp_path / "cluster_analysis_output"
    folder.mkdir()
    listed = [{"type": "collective", "rank_set": [0, 8], "group_name": "77", "pg_name": "dp"}, 5]
    content = {"collective": [[0, 8]], "p2p": [], "comm_group_parallel_info": listed}
    (folder / "communication_group.json").write_text(json.dumps(content))
    assert of_analysis(tmp_path) == [CommGroup("77", "dp", (0, 8))]
    (folder / "communication_group.json").write_text("{broken")
    assert of_analysis(tmp_path) == []
    assert of_analysis(tmp_path / "elsewhere") == []
