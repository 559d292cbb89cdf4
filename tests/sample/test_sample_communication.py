"""communication.json and communication_matrix.json: their own sums, the kernels', the trace's."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from sample_reading import interval, is_comm, load, nbytes, nearest_ns, ns, rows

from tb_npu_plugin.sample import SampleTruth, write_sample

TIME, BANDWIDTH = "Communication Time Info", "Communication Bandwidth Info"
SDMA = ("HCCS", "PCIE", "SIO")
TRUTHS = pytest.mark.parametrize("which", ["pair", "four"])


def ms(value: float) -> int:
    return nearest_ns(value, 1_000_000)


def ratio(part: int, other: int) -> float:
    return part / (part + other) if part + other else 0.0


def check_times(info: dict[str, float]) -> None:
    elapse, transit, wait, sync, idle = (
        ms(info[f"{name} Time(ms)"])
        for name in ("Elapse", "Transit", "Wait", "Synchronization", "Idle")
    )
    assert elapse == transit + wait + idle
    assert 0 <= sync <= wait
    assert idle >= 0
    assert transit > 0
    assert info["Wait Time Ratio"] == pytest.approx(ratio(wait, transit), abs=6e-5)
    assert info["Synchronization Time Ratio"] == pytest.approx(ratio(sync, transit), abs=6e-5)


def check_bandwidth(info: dict[str, Any]) -> None:
    assert set(info) == {"RDMA", "SDMA", *SDMA}
    for name, link in info.items():
        size, time = nbytes(link["Transit Size(MB)"]), ms(link["Transit Time(ms)"])
        assert link["Bandwidth(GB/s)"] == pytest.approx(size / time if time else 0, abs=6e-5)
        spread = link["Size Distribution"]
        if name == "SDMA":
            assert spread == {}
            assert link["Large Packet Ratio"] == 0
            assert size == sum(nbytes(info[part]["Transit Size(MB)"]) for part in SDMA)
            assert time == sum(ms(info[part]["Transit Time(ms)"]) for part in SDMA)
            continue
        assert sum(nbytes(float(mb)) * count for mb, (count, _) in spread.items()) == size
        assert sum(ms(took) for _, took in spread.values()) == time
        limit = 0.5 if name == "RDMA" else 32
        packets = sum(count for count, _ in spread.values())
        large = sum(count for mb, (count, _) in spread.items() if float(mb) > limit)
        expected = large / packets if packets else 0
        assert link["Large Packet Ratio"] == pytest.approx(expected, abs=6e-5)


@TRUTHS
def test_operations_add_up(which: str, request: pytest.FixtureRequest) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        steps = load(rank.path, "communication.json")
        assert list(steps) == [f"step{s.step}" for s in rank.steps]
        kernels = {
            (k["Step Id"], k["Name"]): interval(k)
            for k in rows(rank.path, "kernel_details.csv")
            if is_comm(k)
        }
        seen = 0
        for (step, content), expected in zip(steps.items(), rank.comm, strict=True):
            assert content["p2p"] == {}
            ops = dict(content["collective"])
            total = ops.pop("Total Op Info")
            sums: dict[str, int] = defaultdict(int)
            links: dict[str, list[int]] = defaultdict(lambda: [0, 0])
            for key, op in ops.items():
                name, group = key.split("@")
                assert group.isdigit()
                start, end = kernels[step.removeprefix("step"), name]
                check_times(op[TIME])
                check_bandwidth(op[BANDWIDTH])
                assert ms(op[TIME]["Elapse Time(ms)"]) == end - start
                assert abs(op[TIME]["Start Timestamp(us)"] * 1000 - start) <= 256
                for measure, value in op[TIME].items():
                    if measure.endswith("Time(ms)"):
                        sums[measure] += ms(value)
                for link, values in op[BANDWIDTH].items():
                    links[link][0] += nbytes(values["Transit Size(MB)"])
                    links[link][1] += ms(values["Transit Time(ms)"])
            seen += len(ops)
            check_times(total[TIME])
            assert {m: ms(total[TIME][m]) for m in sums} == sums
            for link, values in total[BANDWIDTH].items():
                assert set(values) == {"Transit Time(ms)", "Transit Size(MB)", "Size Distribution"}
                found = [nbytes(values["Transit Size(MB)"]), ms(values["Transit Time(ms)"])]
                assert found == links[link]
                assert found == [expected.link_bytes[link], expected.link_ns[link]]
            assert expected.ops == len(ops)
            assert sums["Elapse Time(ms)"] == expected.elapse_ns
            assert sums["Transit Time(ms)"] == expected.transit_ns
            assert sums["Wait Time(ms)"] == expected.wait_ns
            assert sums["Synchronization Time(ms)"] == expected.synchronization_ns
            assert sums["Idle Time(ms)"] == expected.idle_ns
        assert seen == len(kernels)


@TRUTHS
def test_the_matrix_ranks_links_by_bandwidth(which: str, request: pytest.FixtureRequest) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        operations = load(rank.path, "communication.json")
        for step, content in load(rank.path, "communication_matrix.json").items():
            assert content["p2p"] == {}
            by_kind: dict[str, dict[str, Any]] = defaultdict(dict)
            for key, links in content["collective"].items():
                kind, group = key.split("@")
                op, _, label = kind.partition("-")
                by_kind[f"{op}@{group}"][label] = links
            moved = 0
            for ranked in by_kind.values():
                total = ranked.pop("total")
                for link, record in total.items():
                    source, target = link.split("-")
                    assert (record["Transport Type"] == "LOCAL") == (source == target)
                    assert "Op Name" not in record
                    if source != target:
                        moved += nbytes(record["Transit Size(MB)"])
                    rates = [
                        ranked[label][link]["Bandwidth(GB/s)"]
                        for label in ("top1", "middle", "bottom3", "bottom2", "bottom1")
                        if label in ranked
                    ]
                    if len(ranked) == 5:
                        assert rates[0] >= rates[1]
                        assert rates[0] >= rates[2] >= rates[3]
                    for record_ in (r[link] for r in ranked.values()):
                        size = nbytes(record_["Transit Size(MB)"])
                        rate = size / ms(record_["Transit Time(ms)"])
                        assert record_["Bandwidth(GB/s)"] == pytest.approx(rate, abs=6e-5)
                        assert record_["Op Name"].startswith("hcom_")
            whole = operations[step]["collective"]["Total Op Info"][BANDWIDTH]
            assert moved == sum(
                nbytes(whole[link]["Transit Size(MB)"]) for link in ("SDMA", "RDMA")
            )


@TRUTHS
def test_planes_of_the_trace_give_the_same_times(
    which: str, request: pytest.FixtureRequest
) -> None:
    truth: SampleTruth = request.getfixturevalue(which)
    for rank in truth.ranks:
        events = load(rank.path, "trace_view.json")
        (pid,) = {
            e["pid"]
            for e in events
            if e["name"] == "process_name" and e["args"]["name"] == "Communication"
        }
        names = {
            e["tid"]: e["args"]["name"]
            for e in events
            if e["name"] == "thread_name" and e["pid"] == pid
        }
        slices = [e for e in events if e["ph"] == "X" and e["pid"] == pid]
        operations = [e for e in slices if names[e["tid"]].endswith("Communication")]
        tasks = [e for e in slices if names[e["tid"]].startswith("Plane")]
        records = {
            key.split("@")[0]: op
            for step in load(rank.path, "communication.json").values()
            for key, op in step["collective"].items()
            if "@" in key
        }
        assert sorted(e["name"] for e in operations) == sorted(records)
        for operation in operations:
            start = ns(operation["ts"])
            end = start + nearest_ns(operation["dur"])
            # The planes of its group are the rows up to the next group's.
            later = [t for t, n in names.items() if n.startswith("Group") and t > operation["tid"]]
            planes = range(operation["tid"] + 1, min(later, default=1 << 30))
            mine = [t for t in tasks if t["tid"] in planes and start <= ns(t["ts"]) < end]
            ends = [ns(t["ts"]) + nearest_ns(t["dur"]) for t in mine]
            assert max(ends) <= end
            master = sorted(
                (t for t in mine if t["tid"] == operation["tid"] + 2), key=lambda t: ns(t["ts"])
            )
            took = {id(t): nearest_ns(t["dur"]) for t in mine}
            transfers = [t for t in master if t["args"]["size(Byte)"]]
            waits = [t for t in master if t["name"] == "Notify_Wait"]
            times = records[operation["name"]][TIME]
            assert ms(times["Transit Time(ms)"]) == sum(took[id(t)] for t in transfers)
            assert ms(times["Wait Time(ms)"]) == sum(took[id(t)] for t in waits)
            first = ns(transfers[0]["ts"])
            early = sum(took[id(t)] for t in waits if ns(t["ts"]) < first)
            assert ms(times["Synchronization Time(ms)"]) == early
            links = records[operation["name"]][BANDWIDTH]
            for link in ("HCCS", "RDMA"):
                sent = [t for t in mine if t["args"]["link type"] == link]
                size = sum(t["args"]["size(Byte)"] for t in sent)
                assert nbytes(links[link]["Transit Size(MB)"]) == size
                assert ms(links[link]["Transit Time(ms)"]) == sum(took[id(t)] for t in sent)


def test_hosts_are_joined_by_rdma(tmp_path: Path) -> None:
    truth = write_sample(tmp_path, ranks=4, steps=1, kernels_per_step=150, devices_per_host=2, tp=1)
    assert [r.path.name.split("_")[0] for r in truth.ranks] == ["node0", "node0", "node1", "node1"]
    assert [r.device for r in truth.ranks] == [0, 1, 0, 1]
    for rank in truth.ranks:
        (step,) = rank.comm
        assert step.link_bytes["RDMA"] > step.link_bytes["HCCS"] > 0
        (content,) = load(rank.path, "communication.json").values()
        for key, op in content["collective"].items():
            if "@" in key:
                check_bandwidth(op[BANDWIDTH])
        (matrix,) = load(rank.path, "communication_matrix.json").values()
        kinds = {
            link["Transport Type"] for links in matrix["collective"].values() for link in links.values()
        }  # fmt: skip
        assert kinds == {"LOCAL", "HCCS", "RDMA"}
