"""The callbacks in the frameworks they are for."""

from pathlib import Path
from typing import Any

import npu_venv
import pytest
from conftest import HERE, Job, Recorder, provided, settled


@pytest.fixture(scope="session")
def frameworks() -> npu_venv.Environment:
    environment: npu_venv.Environment = provided(npu_venv.with_frameworks)
    return environment


@pytest.fixture
def trainer(frameworks: npu_venv.Environment, tmp_path: Path) -> Recorder:
    return Recorder(frameworks, tmp_path, forks=None)  # type: ignore[arg-type]


def run(trainer: Recorder, script: str, *args: Any) -> Job:
    return trainer.run(HERE / "scripts" / script, str(trainer.runs), *args, fresh=True)


@pytest.mark.slow
def test_hugging_face_trainer(trainer: Recorder) -> None:
    job = run(trainer, "hf_train.py")
    assert job.code == 0, job.out
    (capture,) = trainer.captures()
    record = settled(capture)
    # One step before, one of warm-up, two recorded: the window ends with the fourth optimizer step.
    assert record["steps"] == {"called": 4}
    assert (capture / "FRAMEWORK" / "torch.op_range").stat().st_size > 0


@pytest.mark.slow
def test_lightning_fit(trainer: Recorder) -> None:
    job = run(trainer, "lightning_train.py")
    assert job.code == 0, job.out
    (capture,) = trainer.captures()
    assert settled(capture)["steps"] == {"called": 4}


@pytest.mark.slow
def test_lightning_fit_that_breaks_in_the_window(trainer: Recorder) -> None:
    job = run(trainer, "lightning_train.py", "break")
    assert job.code == 1
    assert "the loop broke" in job.out
    (capture,) = trainer.captures()
    record = settled(capture)
    assert any("called 3 times, the schedule needs 4" in one for one in record["advice"])
