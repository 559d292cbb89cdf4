"""The communication view: what it shows of real captures, generated ones and odd ones."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.api import reply
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.readers.communication_group import group_id
from tb_npu_plugin.backend.tables import MAX_LIMIT, TableRequest, rows_csv
from tb_npu_plugin.backend.views import communication as view
from tb_npu_plugin.backend.views.communication_matrix import MAX_RANKS
from tb_npu_plugin.backend.views.registry import VIEWS
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample
from tb_npu_plugin.terminal import show_view

Opening = Callable[[Path], Captures]
OUTPUT = "ASCEND_PROFILER_OUTPUT"
LINK = {"Transport Type": "HCCS", "Transit Size(MB)": 2, "Transit Time(ms)": 1}
OWN = {"Transport Type": "LOCAL", "Transit Size(MB)": 8, "Transit Time(ms)": 0.01}


def write_rank(job: Path, rank: int | None, matrix: Any = None, operations: Any = None,
               metadata: Any = None) -> None:  # fmt: skip
    """A capture of one rank with the given files."""
    folder = job / f"worker{rank}_1_20250101000000000_ascend_pt"
    (folder / OUTPUT).mkdir(parents=True)
    if rank is not None:
        info = {
            "rank_id": rank,
            "start_info": {"start_monotonic": 10},
            "end_info": {"collectionTimeEnd": 10**18, "MonotonicTimeEnd": 20},
        }
        (folder / f"profiler_info_{rank}.json").write_text(json.dumps(info))
    for path, content in (
        (folder / OUTPUT / "communication_matrix.json", matrix),
        (folder / OUTPUT / "communication.json", operations),
        (folder / "profiler_metadata.json", metadata),
    ):
        if content is not None:
            path.write_text(json.dumps(content))


def matrix_of(own: int, size: int, group: str = "77", key: str = "allreduce-total") -> Any:
    """A matrix file: ``own`` sends to every position of a group of ``size``."""
    links = {f"{own}-{other}": OWN if other == own else LINK for other in range(size)}
    return {"step1": {"collective": {f"{key}@{group}": links}}}


def show(captures: Captures, group: str = "", options: dict[str, str] | None = None,
         lang: str = "en", request: dict[str, Any] | None = None,
         **selection: Any) -> results.Communication:  # fmt: skip
    sel = captures.select(lang=lang, **selection)
    sel.options = options or {}
    return view.communication(sel, TableRequest(group=group, limit=MAX_LIMIT, **(request or {})))


def rows(table: results.Table) -> list[dict[str, Any]]:
    keys = list(table.values)
    return [dict(zip(keys, r, strict=True)) for r in zip(*table.values.values(), strict=True)]


def heat(captures: Captures, key: str = "", **selection: Any) -> results.RankMatrix:
    found = show(captures, "matrix", {"key": key} if key else None, **selection).matrix
    assert found is not None
    return found


def cell(matrix: results.RankMatrix, src: str, dst: str, values: list[Any]) -> Any:
    labels = [r.label for r in matrix.ranks]
    return values[labels.index(src) * len(labels) + labels.index(dst)]


# ---- hand-checked values --------------------------------------------------------------------


def test_rank_0_adds_up(level1: Captures) -> None:
    rank = show(level1).ranks[0]
    assert (rank.label, rank.operations, rank.incomplete) == ("Rank 0", 4, 0)
    parts = (rank.elapse_ns, rank.transit_ns, rank.wait_ns, rank.idle_ns)
    assert [round((p or 0) / 1e6, 3) for p in parts] == [105.992, 3.683, 5.941, 96.368]
    assert rank.rest_ns == 0
    assert sum(p or 0 for p in parts[1:]) == pytest.approx(rank.elapse_ns)
    assert rank.size_bytes == 427_596_096
    assert rank.wait_ratio == pytest.approx(5.940619 / (5.940619 + 3.683353), abs=1e-6)
    shares = (rank.transit_of_elapse_ratio, rank.wait_of_elapse_ratio, rank.idle_of_elapse_ratio)
    assert sum(s or 0 for s in shares) == pytest.approx(1)


def test_links_of_rank_0(level1: Captures) -> None:
    links = {link.link: link for link in show(level1).ranks[0].links}
    assert list(links) == ["HCCS", "PCIE", "RDMA", "SIO", "SDMA"]
    hccs, sdma = links["HCCS"], links["SDMA"]
    assert hccs.size_bytes == sdma.size_bytes == 427_596_096
    assert [link.sum_of_others for link in links.values()] == [False, False, False, False, True]
    assert hccs.packets == 56
    assert hccs.bandwidth_bytes_per_s == pytest.approx(427_596_096 / 27.315705875e-3)
    assert links["RDMA"].size_bytes == 0
    assert links["RDMA"].bandwidth_bytes_per_s is None


def test_first_all_reduce_synchronises_on_rank_0_alone(level1: Captures) -> None:
    found = rows(show(level1, request={"filter": "__586_0_1", "sort": "rank"}).table)
    assert [r["rank"] for r in found] == [0, 1]
    assert round(found[0]["synchronization_ns"] / 1e6, 3) == 5.616
    assert found[1]["synchronization_ns"] == 20  # 0.00002 ms
    assert found[0]["start_ns"] == 0
    assert found[1]["start_ns"] == 5_607_750  # rank 1 is last, by 5.608 ms


@pytest.mark.parametrize("group", ["type", "group", "step", "rank"])
def test_groups_sum_up_the_operations(level1: Captures, group: str) -> None:
    single = rows(show(level1).table)
    grouped = rows(show(level1, group).table)
    for key in ("elapse_ns", "transit_ns", "wait_ns", "synchronization_ns", "idle_ns",
                "size_bytes"):  # fmt: skip
        assert sum(r[key] for r in grouped) == pytest.approx(sum(r[key] for r in single))
    assert sum(r["count"] for r in grouped) == 8
    assert sum(r["elapse_ratio"] for r in grouped) == pytest.approx(1)
    assert len(grouped) == (2 if group == "rank" else 1)


def test_links_table_never_adds_the_sum_of_others(level1: Captures) -> None:
    found = {r["link"]: r for r in rows(show(level1, "link", rank=0).table)}
    assert found["HCCS"]["size_bytes"] == found["SDMA"]["size_bytes"] == 427_596_096
    assert found["SDMA"]["made_of"] == "HCCS + PCIE + SIO"
    assert found["SDMA"]["size_ratio"] is None
    assert sum(r["size_ratio"] for r in found.values() if r["size_ratio"] is not None) == 1
    assert found["HCCS"]["count"] == 4
    assert found["RDMA"]["count"] == 0


def test_packet_sizes(level1: Captures) -> None:
    found = rows(show(level1, "size", rank=0).table)
    assert sum(r["size_bytes"] for r in found) == 427_596_096
    assert sum(r["packets"] for r in found) == 56
    assert found[0]["packet_bytes"] == 1_162_496
    assert (found[0]["packets"], round(found[0]["time_ns"] / 1e6, 6)) == (2, 0.159063)


def test_filter_sort_page_and_csv(level1: Captures) -> None:
    table = show(level1, request={"filter": "elapse>50ms", "columns": ("name", "elapse_ns")}).table
    assert (table.total, table.unfiltered) == (2, 8)
    sel = level1.select(rank=0)
    query = view.communication_query(sel, "")
    assert query is not None
    text = "".join(rows_csv(sel.store, query, TableRequest(sort="elapse_ns")))
    lines = text.splitlines()
    assert len(lines) == 5
    assert lines[1].startswith("hcom_allReduce__586_1_1,")
    assert ",1736408883811334750," in lines[1]


def test_steps_select(level1: Captures) -> None:
    assert show(level1, step="50").table.total == 8
    assert show(level1, step="51").table.total == 0
    assert show(level1, step="51").ranks == []
    assert heat(level1, step="51").ranks == []


def test_device_selection_leaves_communication_alone(level1: Captures) -> None:
    assert show(level1, device="0").table.total == 8


# ---- the matrix -----------------------------------------------------------------------------


def test_matrix_is_that_of_the_files(level1: Captures, shared: Path) -> None:
    found = heat(level1)
    assert [r.label for r in found.ranks] == [f"Rank {i}" for i in range(8)]
    assert [len(v) for v in (found.size_bytes, found.time_ns, found.transport)] == [64] * 3
    expected = 0
    for rank in (0, 1):
        path = shared / f"captures/text_level1/rank{rank}_ascend_pt" / OUTPUT
        content = json.loads((path / "communication_matrix.json").read_text())
        links = content["step50"]["collective"]["allreduce-total@17522688603477080586"]
        for link, told in links.items():
            src, dst = map(int, link.split("-"))
            i = src * 8 + dst
            expected += 1
            assert found.size_bytes[i] == round(told["Transit Size(MB)"] * 10**6)
            assert found.time_ns[i] == pytest.approx(told["Transit Time(ms)"] * 1e6)
            assert found.transports[found.transport[i]] == told["Transport Type"]
            if told["Transport Type"] == "LOCAL":
                assert found.bandwidth_bytes_per_s[i] is None
                own = found.local_bandwidth_bytes_per_s[src]
                assert (own or 0) / 1e9 == pytest.approx(told["Bandwidth(GB/s)"], abs=6e-5)
            else:
                rate = found.bandwidth_bytes_per_s[i]
                assert (rate or 0) / 1e9 == pytest.approx(told["Bandwidth(GB/s)"], abs=6e-5)
    assert sum(v is not None for v in found.size_bytes) == expected == 16
    assert found.transport.count(-1) == 64 - 16


def test_matrix_of_another_key(level1: Captures) -> None:
    keys = [k.key for k in heat(level1).keys]
    assert keys[:2] == ["total", "allreduce-total"]
    assert len(keys) == 7
    top = heat(level1, "allreduce-top1")
    assert top.key == "allreduce-top1"
    assert cell(top, "Rank 0", "Rank 1", top.size_bytes) == 37_781_504
    assert (
        heat(level1, "allreduce-total@17522688603477080586").size_bytes == heat(level1).size_bytes
    )
    assert heat(level1, "total@1").ranks == []
    assert heat(level1, "no such '; key").ranks == []


def test_matrix_only_where_asked_for(level1: Captures) -> None:
    assert show(level1, "link").matrix is None
    assert show(level1, "matrix").table.total == 96


def test_world_by_the_matrix(level1: Captures, level0: Captures) -> None:
    assert view.world_of_matrix(level1.select()) == 8
    assert view.world_of_matrix(level1.select(rank=0)) == 8
    assert view.world_of_matrix(level0.select()) is None


def test_far_local_rank_has_no_global_mapping(opened: Opening, cases: Path) -> None:
    """Case C24: the matrix alone, a link to a rank outside the job."""
    captures = opened(cases / "C24-matrix-odd-links")
    found = heat(captures)
    assert [(r.label, r.rank, r.position, r.group) for r in found.ranks] == [
        ("local 0", None, 0, "777"), ("local 993", None, 993, "777"),
    ]  # fmt: skip
    assert "local rank 993" in found.note
    assert cell(found, "local 0", "local 993", found.size_bytes) == 10_000_000
    assert cell(found, "local 0", "local 993", found.bandwidth_bytes_per_s) is None
    assert cell(found, "local 0", "local 0", found.bandwidth_bytes_per_s) is None
    assert found.local_bandwidth_bytes_per_s[0] == pytest.approx(40 / 900e-9)
    table = rows(show(captures, "matrix").table)
    assert {r["numbering"] for r in table} == {"local rank, no global mapping"}
    assert [r["dst"] for r in table] == [993, 0]
    assert view.world_of_matrix(captures.select()) is None
    codes = set(captures.findings()["code"])
    assert {"links-skipped", "communication-file-missing"} <= codes
    assert show(captures).table.groups == ["matrix"]
    assert show(captures).note == ""


def test_positions_become_ranks_by_the_job_s_own_groups(opened: Opening, tmp_path: Path) -> None:
    """Two groups of a job: position 0 is rank 0 in one, rank 2 in the other."""
    full = {name: f"10.0.0.1%eth0_60000_{name}_1" for name in ("a", "b")}
    ranks = {"a": [0, 1], "b": [2, 3]}
    for rank, group in ((0, "a"), (1, "a"), (2, "b"), (3, "b")):
        info = {full[group]: {"group_name": "tp", "global_ranks": ranks[group]}}
        write_rank(tmp_path / "job", rank, matrix_of(rank % 2, 2, group_id(full[group])),
                   metadata={"parallel_group_info": info})  # fmt: skip
    captures = opened(tmp_path / "job")
    found = heat(captures)
    assert [r.rank for r in found.ranks] == [0, 1, 2, 3]
    assert cell(found, "Rank 2", "Rank 3", found.size_bytes) == 2_000_000
    assert cell(found, "Rank 0", "Rank 2", found.size_bytes) is None
    frame = captures.matrix()
    assert set(frame["group_name"]) == {"tp"}
    assert set(frame["group_ranks"]) == {"0-1", "2-3"}
    assert set(frame["numbering"]) == {"rank"}
    assert [k.key for k in found.keys] == [
        "total", "allreduce-total", *(f"allreduce-total@{group_id(full[g])}" for g in sorted(
            full, key=lambda g: group_id(full[g])))]  # fmt: skip


def test_positions_are_not_taken_for_ranks_without_evidence(
    opened: Opening, tmp_path: Path
) -> None:
    """Ranks 0 and 8 of a group whose positions are 0 and 1: nothing says that 1 is rank 8."""
    write_rank(tmp_path / "job", 0, matrix_of(0, 2))
    write_rank(tmp_path / "job", 8, matrix_of(1, 2))
    captures = opened(tmp_path / "job")
    assert [r.label for r in heat(captures).ranks] == ["local 0", "local 1"]
    assert view.world_of_matrix(captures.select()) is None


def test_a_lone_rank_0_proves_nothing(opened: Opening, tmp_path: Path) -> None:
    write_rank(tmp_path / "job", 0, matrix_of(0, 4))
    captures = opened(tmp_path / "job")
    assert heat(captures).ranks[3].label == "local 3"
    assert view.world_of_matrix(captures.select()) == 4


def test_groups_named_by_an_analysis_beside_the_captures(opened: Opening, tmp_path: Path) -> None:
    write_rank(tmp_path / "job", 0, matrix_of(0, 2))
    write_rank(tmp_path / "job", 8, matrix_of(1, 2))
    analysis = tmp_path / "job" / "cluster_analysis_output"
    analysis.mkdir()
    entry = {"group_name": "77", "pg_name": "dp", "rank_set": [0, 8]}
    (analysis / "communication_group.json").write_text(
        json.dumps({"collective": [[0, 8]], "comm_group_parallel_info": [entry]})
    )
    captures = opened(tmp_path / "job")
    found = heat(captures)
    assert [r.label for r in found.ranks] == ["Rank 0", "Rank 8"]
    assert cell(found, "Rank 8", "Rank 0", found.size_bytes) == 2_000_000
    assert {r["group_name"] for r in rows(show(captures, "matrix").table)} == {"dp"}


def test_old_matrix_without_totals_is_summed_up(opened: Opening, tmp_path: Path) -> None:
    content = {
        "step1": {"collective": {"a__0@77": {"0-1": LINK}, "Total Op Info": {"0-1": LINK}}},
        "step2": {"collective": {"b__0@77": {"0-1": LINK}, "c__0@77": {"0-1": LINK}}},
    }
    write_rank(tmp_path / "job", 0, content)
    captures = opened(tmp_path / "job")
    assert [v for v in heat(captures).size_bytes if v is not None] == [6_000_000]
    assert [v for v in heat(captures, step=2).size_bytes if v is not None] == [4_000_000]
    assert [v for v in heat(captures, "a__0").size_bytes if v is not None] == [2_000_000]


def test_a_large_matrix_is_bounded(opened: Opening, tmp_path: Path) -> None:
    write_rank(tmp_path / "job", 0, matrix_of(0, MAX_RANKS + 44))
    found = heat(opened(tmp_path / "job"))
    assert (len(found.ranks), found.total_ranks) == (MAX_RANKS, MAX_RANKS + 44)
    assert len(found.size_bytes) == MAX_RANKS**2
    assert f"first {MAX_RANKS} of {MAX_RANKS + 44}" in found.note


def test_many_ranks_share_rows_and_show_one_by_one_when_chosen(
    opened: Opening, tmp_path: Path
) -> None:
    """300 ranks are 38 rows of eight; the last holds ranks 296 to 299."""
    full = "10.0.0.1%eth0_60000_0_1"
    info = {full: {"group_name": "default_group", "global_ranks": list(range(300))}}
    for rank in (0, 3, 9):
        write_rank(tmp_path / "job", rank, matrix_of(rank, 300, group_id(full)),
                   metadata={"parallel_group_info": info})  # fmt: skip
    captures = opened(tmp_path / "job")
    found = heat(captures)
    assert (len(found.ranks), found.total_ranks) == (38, 300)
    assert found.ranks[1] == results.MatrixRank("Rank 8-15", None, None, None, "8-15")
    # Within the first eight: ranks 0 and 3 send 2 MB to each of seven others; LOCAL is no link.
    assert cell(found, "Rank 0-7", "Rank 0-7", found.size_bytes) == 2 * 7 * 2_000_000
    assert cell(found, "Rank 0-7", "Rank 8-15", found.size_bytes) == 2 * 8 * 2_000_000
    assert cell(found, "Rank 8-15", "Rank 296-303", found.size_bytes) == 4 * 2_000_000
    assert cell(found, "Rank 0-7", "Rank 0-7", found.bandwidth_bytes_per_s) == 2e9
    assert "300 ranks, 8 of them in a row" in found.note
    near = heat(captures, rank="0,9")
    assert [r.rank for r in near.ranks] == [0, 9]
    assert cell(near, "Rank 9", "Rank 0", near.size_bytes) == 2_000_000
    assert "not selected" in near.note


# ---- gaps -----------------------------------------------------------------------------------


def test_gaps_are_unknown_and_never_zero(opened: Opening, cases: Path) -> None:
    """Case C23."""
    captures = opened(cases / "C23-communication-gaps")
    assert show(captures, step="none").table.total == 2
    assert show(captures, step="8").table.total == 0
    first, second = rows(show(captures, request={"sort": "name:desc"}).table)
    assert (first["size_bytes"], first["bandwidth_bytes_per_s"]) == (None, None)
    assert (second["size_bytes"], second["elapse_ns"]) == (1_000_000, None)
    assert second["bandwidth_bytes_per_s"] is None
    assert second["group_name"] == "unnamed"
    assert [r["group_name"] for r in rows(show(captures, "group", lang="zh").table)] == [
        "9350434047717501483", "未命名",
    ]  # fmt: skip
    unit = next(r for r in rows(show(captures, "link").table) if r["link"] == "UB")
    assert (unit["size_bytes"], unit["bandwidth_bytes_per_s"]) == (1_000_000, None)
    summary = show(captures).ranks[0]
    assert (summary.operations, summary.incomplete) == (2, 1)
    assert (summary.elapse_ns, summary.wait_ns, summary.idle_ns) == (900_000, 0, 900_000)
    assert summary.wait_ratio is None
    assert {"bandwidth-unknown", "bandwidth-undefined"} <= set(captures.findings()["code"])


def test_level_0_says_that_the_level_is_too_low(level0: Captures, level1: Captures) -> None:
    found = level0.findings()
    missing = found[found["code"] == "communication-missing"]
    assert len(missing) >= 1
    assert missing["message"].str.startswith("4 kernel row(s)").all()
    assert missing["message"].str.contains("Level0").all()
    assert missing["remedy"].str.contains("Level1").all()
    assert "wait_ns" not in {c.key for c in show(level0).table.columns}
    assert "communication-missing" not in set(level1.findings()["code"])


def test_findings_in_chinese(level0: Captures) -> None:
    found = level0.findings(lang="zh")
    message = found[found["code"] == "communication-missing"]["message"].iloc[0]
    assert "没有 communication.json（Level0 不记录）" in message


def test_an_unknown_group_is_refused(level1: Captures) -> None:
    with pytest.raises(RequestError) as error:
        show(level1, "planet")
    assert error.value.status == 400
    assert "matrix" in error.value.hint


# ---- in words, in frames, in a terminal -----------------------------------------------------


def test_one_line(level1: Captures) -> None:
    assert view.communication_line(level1.select()) == (
        "4 operations on Rank 0, the longest of 2: 106 ms = 3.68 ms transit + 5.94 ms wait + "
        "96.4 ms idle; for 102 ms nothing computes; 428 MB over HCCS."
    )
    assert view.communication_line(level1.select(rank=1, lang="zh")) == (
        "Rank 1：4 个通信算子，100 ms = 传输 3.86 ms + 等待 191 µs + 空闲 96.3 ms；其间 "
        "96.4 ms 没有任何计算；通过 HCCS 传输 428 MB。"
    )


def test_frames(level1: Captures) -> None:
    operations, links, matrix = (
        f(rank=0) for f in (level1.communication, level1.links, level1.matrix)
    )
    assert len(operations) == 4
    assert operations["start_ns"].dtype == "int64"
    assert links[links["is_sum"] == 0]["size_bytes"].sum() == 427_596_096
    total = matrix[(matrix["pick"] == "total") & (matrix["transport"] == "HCCS")]
    assert sorted(total["dst"]) == [1, 2, 3, 4, 5, 6, 7]
    assert total["size_bytes"].sum() == 427_596_096


@pytest.mark.parametrize("group", view.GROUPS)
def test_terminal_and_json(
    level1: Captures, group: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = io.StringIO()
    request = TableRequest(group=group)
    show_view(level1, "communication", {}, request, "table", Console(file=out, width=240))
    text = out.getvalue()
    assert text.startswith("4 operations on Rank 0")
    assert "Nothing to show" not in text
    body = msgspec.json.encode(reply(level1.select(), VIEWS["communication"], request))
    strict = json.loads(body, parse_constant=lambda c: pytest.fail(f"{c} is no JSON"))
    assert strict["data"]["table"]["group"] == group
    assert strict["meta"]["counts"]["communication"] == 8
    show_view(level1, "communication", {}, request, "csv", Console(file=io.StringIO()))
    assert len(capsys.readouterr().out.splitlines()) > 1


# ---- generated jobs -------------------------------------------------------------------------


def test_sums_are_the_generator_s(opened: Opening, tmp_path: Path) -> None:
    truth = write_sample(tmp_path / "job", ranks=4, steps=2, kernels_per_step=120, seed=11)
    captures = opened(tmp_path / "job")
    for step in (s.step for s in truth.ranks[0].steps):
        found = show(captures, step=step).ranks
        assert [r.rank for r in found] == [0, 1, 2, 3]
        for rank in found:
            told = next(c for c in truth.ranks[rank.rank or 0].comm if c.step == step)
            assert rank.operations == told.ops
            for key in ("elapse_ns", "transit_ns", "wait_ns", "synchronization_ns", "idle_ns"):
                assert getattr(rank, key) == pytest.approx(getattr(told, key), abs=0.01)
            assert abs(rank.rest_ns or 0) < 0.01
            moved = {link.link: link.size_bytes for link in rank.links}
            assert moved == told.link_bytes
            assert rank.size_bytes == sum(v for k, v in moved.items() if k != "SDMA")
