"""trace_view.json to a trace for the PyTorch Profiler tab; and the reader of long arrays beneath it."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, required
from tb_npu_handler import convert
from tb_npu_handler.objects import Reading, each

SAMPLES = Path(os.environ.get("TB_NPU_SHARED", ROOT.parent / "shared"))


def load(path: Path) -> dict[str, Any]:
    def refuse(token: str) -> float:
        raise AssertionError("not strict JSON: " + token)

    with gzip.open(path, "rt", encoding="utf-8") as stream:
        found: dict[str, Any] = json.load(stream, parse_constant=refuse)
    return found


def written(folder: Path, text: str) -> Path:
    path = folder / "trace_view.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def read_all(path: Path, chunk: int) -> "tuple[list[dict[str, Any]], Reading]":
    reading = Reading()
    return list(each(str(path), reading, chunk)), reading


@pytest.mark.parametrize("chunk", [1, 7, 64, 1 << 20])
def test_objects_in_chunks_of_any_size(tmp_path: Path, chunk: int) -> None:
    wanted = [{"name": "a}, {b", "args": {"x": [1, {"y": 'é"'}]}}, {}, {"n": 2}]
    path = written(tmp_path, json.dumps(wanted, ensure_ascii=False))
    found, reading = read_all(path, chunk)
    assert found == wanted
    assert (reading.objects, reading.bad, reading.cut) == (3, 0, False)


@pytest.mark.parametrize("chunk", [3, 1 << 20])
@pytest.mark.parametrize(
    ("text", "names", "cut"),
    [
        ('[{"n": 1}, {"n": 2}', [1, 2], True),
        ('[{"n": 1},]', [1], False),
        ('[{"n": 1}, {"n": 2, "x": "cut', [1], True),
        ("[]", [], False),
        ("", [], True),
        ('\ufeff [\n{"n": 1}\n]\n', [1], False),
        ('{"schemaVersion": 1, "traceEvents": [{"n": 1}, {"n": 2}], "x": 3}', [1, 2], False),
    ],
)
def test_ends_and_wrappings(
    tmp_path: Path, text: str, names: list[int], cut: bool, chunk: int
) -> None:
    if chunk == 3 and "traceEvents" in text:
        chunk = 64
    found, reading = read_all(written(tmp_path, text), chunk)
    assert [one["n"] for one in found] == names
    assert reading.cut is cut


def test_a_bad_object_costs_itself(tmp_path: Path) -> None:
    bad = '{"n": 2, "path": "C:\\q"}'
    rest = ", ".join(f'{{"n": {n}}}' for n in range(3, 9))
    found, reading = read_all(written(tmp_path, '[{"n": 1}, ' + bad + ", " + rest + "]"), 32)
    assert [one["n"] for one in found] == [1, 3, 4, 5, 6, 7, 8]
    assert reading.bad == 1


def test_times_keep_their_nanoseconds(tmp_path: Path) -> None:
    events = [
        {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": "1736408883704643.212", "dur": 1.5},
        {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": "1736408883704643.213\t", "dur": 0},
        {"ph": "X", "name": "no time", "pid": 1, "tid": 1, "ts": "soon", "dur": 0},
        {"ph": "X", "name": "negative", "pid": 1, "tid": 1, "ts": "1736408883704644", "dur": -1},
        {"ph": "X", "name": "nan", "pid": 1, "tid": 1, "ts": float("nan"), "dur": 1},
        {"ph": "C", "name": "c", "pid": 1, "ts": "1736408883704645", "args": {"v": float("inf")}},
    ]
    target = tmp_path / "w.1.pt.trace.json.gz"
    done = convert.convert(str(written(tmp_path, json.dumps(events))), str(target), 3, 8)
    found = load(target)
    assert found["baseTimeNanoseconds"] == 1736408883704643212
    times = {event["name"]: event["ts"] for event in found["traceEvents"]}
    assert times == {"a": 0.0, "b": 0.001, "c": 1.788}
    assert all(isinstance(event["cat"], str) for event in found["traceEvents"])
    assert found["distributedInfo"] == {"backend": "hccl", "rank": 3, "world_size": 8}
    assert (done.events, done.cut) == (3, False)
    assert {path.name for path in tmp_path.iterdir()} == {target.name, "trace_view.json"}


def test_no_event_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "w.1.pt.trace.json.gz"
    with pytest.raises(ValueError, match="no event with a time"):
        convert.convert(str(written(tmp_path, "[]")), str(target))
    assert not target.exists()


@pytest.mark.parametrize("level", ["text_level0", "text_level1"])
def test_real_captures(tmp_path: Path, level: str) -> None:
    source = SAMPLES / "captures" / level / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    if not source.is_dir() and not required():
        pytest.skip("the sample captures are not here")
    target = tmp_path / "w.1.pt.trace.json.gz"
    done = convert.convert(str(source / "trace_view.json"), str(target), 0, 8)
    # The compute rows of kernel_details.csv.
    assert done.kernels == 187
    events = load(target)["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    operators = {event["args"]["External id"] for event in events if event.get("cat") == "cpu_op"}
    assert all(kernel["args"]["External id"] in operators for kernel in kernels)
    assert all(kernel["pid"] == kernel["args"]["device"] == 0 for kernel in kernels)
    if level == "text_level1":
        # Step 50's Computing, whose parts were rounded once more on their way.
        assert sum(kernel["dur"] for kernel in kernels) == pytest.approx(8873.756, abs=0.01)
