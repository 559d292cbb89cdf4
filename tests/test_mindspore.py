"""MindSpore's captures (``…_ascend_ms``).

No real data was to be had: these captures are made by hand from MindSpore's documentation and
sources, or from a generated one with the names and tables that MindSpore's has.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_captures import KERNELS, OUTPUT, STEPS, write_capture

from tb_npu_plugin.backend.capture import describe
from tb_npu_plugin.backend.discovery import Root, scan
from tb_npu_plugin.backend.views.capabilities import capabilities
from tb_npu_plugin.backend.views.health import findings
from tb_npu_plugin.backend.views.overview import facts
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample

Opener = Callable[[Path], Captures]
NAME = "host_7_20250617064811905_ascend_ms"


def settings(**changed: Any) -> dict[str, Any]:
    """The content of profiler_info_<rank>.json: no rank inside, no window, settings flat."""
    parameters = {
        "is_set_schedule": True, "output_path": "./data", "profiler_level": "Level1",
        "activities": ["CPU", "NPU"], "aic_metrics": "PipeUtilization", "with_stack": False,
        "profile_memory": False, "l2_cache": False, "record_shapes": False,
        "export_type": ["text"],
        "schedule": {"wait": 1, "warmup": 1, "active": 1, "repeat": 1, "skip_first": 2},
    }  # fmt: skip
    return {
        "profiler_parameters": {**parameters, **changed},
        "ms_profiler_info": {"context_mode": "pynative"},
        "ms_version": "2.6.0",
        "cann_version": "8.1.RC1",
        "jit_level": "",
    }


def write(path: Path, rank: int = 0, **changed: Any) -> Path:
    kernels = KERNELS.replace("Step Id", "Step ID")
    capture = write_capture(path / NAME, step_trace_time=STEPS, kernel_details=kernels)
    (capture / f"profiler_info_{rank}.json").write_text(json.dumps(settings(**changed)))
    return capture


def test_its_identity_and_settings(tmp_path: Path, opened: Opener) -> None:
    write(tmp_path, 3)
    captures = opened(tmp_path)
    (capture,) = captures.select().captures
    assert (capture.rank, capture.worker, capture.framework) == (3, "host_7", "mindspore")
    options = capture.info.options
    assert (options.level, options.metrics, options.pipes, options.cpu, options.npu) == (
        1, 1, 1, 1, 1,
    )  # fmt: skip
    assert (options.profile_memory, options.record_shapes, options.active) == (0, 0, 1)
    shown = {f.key: f.value for f in facts(captures.select())}
    assert (shown["mindspore"], shown["cann"], shown["level"]) == ("2.6.0", "8.1.RC1", "Level1")
    assert shown["aic_metrics"] == "PIPE_UTILIZATION"
    assert captures.kernels()["step"].tolist() == [10, 10]
    assert captures.steps()["computing_ns"].tolist() == [100e3]


@pytest.mark.parametrize(
    ("level", "metrics", "expected"),
    [("LevelNone", "None", (-1, 0)), ("Level2", "Memory", (2, 1)), (7, [], (None, None))],
)
def test_words_that_torch_npu_spells_otherwise(
    tmp_path: Path, level: Any, metrics: Any, expected: tuple[int | None, int | None]
) -> None:
    write(tmp_path, profiler_level=level, aic_metrics=metrics)
    (found,) = scan([Root(tmp_path)]).found
    options = describe(found).info.options
    assert (options.level, options.metrics) == expected


def test_remedies_speak_of_mindspore(tmp_path: Path, opened: Opener) -> None:
    write(tmp_path)
    sel = opened(tmp_path).select()
    by_key = {c.key: c.cases[0] for c in capabilities(sel)}
    operators = by_key["operator"]
    assert operators.reason == "There is no operator_details.csv: record_shapes was off."
    assert operators.remedy == "mindspore.profiler.profile(..., record_shapes=True)"
    assert by_key["memory.curves"].remedy.startswith("mindspore.profiler.profile(")
    assert "from mindspore.profiler.profiler import analyse" in by_key["timeline"].remedy
    for finding in findings(sel):
        assert "torch" not in f"{finding.message} {finding.remedy}".lower(), finding


def test_only_recorded(tmp_path: Path) -> None:
    capture = write(tmp_path)
    shutil.rmtree(capture / OUTPUT)
    (capture / "FRAMEWORK").mkdir()
    (found,) = scan([Root(tmp_path)]).found
    (note,) = [n for n in describe(found).notes if n.code == "raw-only"]
    assert note.params["command"].endswith(f"import analyse; analyse(sys.argv[1])' {capture}")
    assert "mindspore" in note.params["command"]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database export: CANN's tables under MindSpore's names, none of the framework's."""
    path = tmp_path_factory.mktemp("ms")
    write_sample(path / "torch", ranks=2, steps=2, kernels_per_step=60, export=("db",))
    for rank, made in enumerate(sorted((path / "torch").glob("*_ascend_pt"))):
        output = path / "job" / f"host_{rank}_20250617064811905_ascend_ms" / OUTPUT
        shutil.copytree(made / OUTPUT, output)
        for info in output.parent.glob("profiler_info*"):
            info.unlink()
        parameters = settings(export_type=["db"])
        (output.parent / f"profiler_info_{rank}.json").write_text(json.dumps(parameters))
        main = output / f"ascend_mindspore_profiler_{rank}.db"
        (output / f"ascend_pytorch_profiler_{rank}.db").rename(main)
        (output / "analysis.db").rename(output / "communication_analyzer.db")
        _drop(main, "PYTORCH_API", "STEP_TIME", "CONNECTION_IDS", "PYTORCH_CALLCHAINS",
              "MEMORY_RECORD", "OP_MEMORY")  # fmt: skip
        _drop(output / "communication_analyzer.db", "StepTraceTime")
    return path / "job"


def _drop(path: Path, *tables: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        for table in tables:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.close()


def test_a_database_export(database: Path, opened: Opener) -> None:
    captures = opened(database)
    sel = captures.select()
    assert [(c.rank, c.framework) for c in sel.captures] == [(0, "mindspore"), (1, "mindspore")]
    kernels = captures.kernels()
    assert len(kernels) > 100
    assert set(kernels["rank"]) == {0, 1}
    operations = captures.communication()
    assert len(operations) > 0
    assert operations["wait_ns"].notna().all()  # from communication_analyzer.db
    assert len(captures.matrix()) > 0
    told = [f.code for f in findings(sel)]
    assert "mindspore-database" in told
    assert not {"communication-recomputed", "db-operators-missing", "db-steps-missing"} & set(told)
    by_key = {c.key: c for c in capabilities(sel)}
    assert by_key["kernel"].status == "available"
    assert "CANN's half" in by_key["step"].cases[0].reason


def test_a_copy_of_the_output_alone_is_found_by_its_database(database: Path) -> None:
    output = min(database.glob("*_ascend_ms")) / OUTPUT
    copy = database.parent / "copy"
    shutil.copytree(output, copy / "x")
    (copy / "x" / "ascend_mindspore_profiler_0.db").unlink()
    (found,) = scan([Root(copy)]).found
    assert found.output == copy / "x"
