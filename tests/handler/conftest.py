"""What the handler's tests share: the venv with the real torch_npu, and ways to run a script in it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "handler"), str(HERE)]

import npu_venv  # noqa: E402
from tb_npu_handler import manifest  # noqa: E402


def required() -> bool:
    """Whether a missing environment is a failure and not a reason to skip."""
    return bool(os.environ.get("CI")) or os.environ.get("TB_NPU_REQUIRE_SHARED") == "1"


def provided(build: Callable[[], Any]) -> Any:
    try:
        return build()
    except RuntimeError as error:
        if required():
            raise
        pytest.skip(f"cannot build the test environment: {str(error)[-500:]}")


class Job:
    """A finished run of a script: ``code``, ``out`` (both streams), ``report`` (its REPORT line)."""

    def __init__(self, code: int, out: str) -> None:
        self.code, self.out = code, out
        lines = [line for line in out.splitlines() if line.startswith("REPORT ")]
        self.report: dict[str, Any] = json.loads(lines[-1][len("REPORT ") :]) if lines else {}

    def said(self) -> list[str]:
        """The lines the handler wrote."""
        return [line for line in self.out.splitlines() if line.startswith("[tb-npu]")]


class Forks:
    """``zygote.py``: processes that have torch_npu imported already."""

    def __init__(self, environment: npu_venv.Environment) -> None:
        self._process = subprocess.Popen(
            [str(environment.python), str(HERE / "zygote.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**plain(), **environment.variables()},
        )

    def run(self, **order: Any) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("EXIT "):
                return int(line[len("EXIT ") :])
        raise AssertionError("the process that forks for the tests has died")

    def close(self) -> None:
        self._process.communicate()


def plain() -> dict[str, str]:
    """An environment without anything of a job's or a test run's."""
    return {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}


class Recorder:
    """Runs scripts in the venv with torch_npu on the stub; ``folder`` is this test's own."""

    def __init__(self, environment: npu_venv.Environment, folder: Path, forks: Forks) -> None:
        self.environment, self.folder, self.forks = environment, folder, forks
        self.runs = folder / "runs"

    def variables(self, extra: dict[str, str] | None = None) -> dict[str, str]:
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        quick = {"TB_NPU_NICE": "0", "TB_NPU_SLOTS": "4", "TMPDIR": str(temporary)}
        return {**plain(), **quick, **self.environment.variables(), **(extra or {})}

    def run(
        self, script: Path, *args: str, timeout: float = 120, fresh: bool = False, **extra: str
    ) -> Job:
        """Run ``script``; ``fresh``: in an interpreter of its own, where imports or spawning matter."""
        out = self.folder / "out.txt"
        order = {"args": list(args), "env": self.variables(extra), "cwd": str(self.folder)}
        if not fresh:
            code = self.forks.run(script=str(script), out=str(out), limit_s=timeout, **order)
            return Job(code, out.read_text(errors="replace"))
        with open(out, "w") as stream:
            done = subprocess.run(
                [str(self.environment.python), str(script), *args],
                stdout=stream,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=self.variables(extra),
                timeout=timeout,
                check=False,
            )
        return Job(done.returncode, out.read_text(errors="replace"))

    def train(self, extra: dict[str, str] | None = None, fresh: bool = False, **plan: Any) -> Job:
        """Run ``scripts/train.py``; the directory is ``runs`` unless the plan has another."""
        plan.setdefault("dir", str(self.runs))
        script = HERE / "scripts" / "train.py"
        return self.run(script, json.dumps(plan), fresh=fresh, **(extra or {}))

    def captures(self, folder: Path | None = None) -> list[Path]:
        """Capture directories, oldest first."""
        return sorted((folder or self.runs).glob("*_ascend_pt"), key=lambda path: path.name)

    def analyse(self, *paths: Path, **options: Any) -> list[dict[str, Any]]:
        """``analyse_tree`` in the venv's interpreter."""
        code = (
            "import json, sys, dataclasses as d\n"
            "from tb_npu_handler.analyse import analyse_tree\n"
            "found = analyse_tree(sys.argv[1], **json.loads(sys.argv[2]))\n"
            "print('REPORT ' + json.dumps({'all': [d.asdict(one) for one in found]}))\n"
        )
        script = self.folder / "analyse_script.py"
        script.write_text(code)
        job = self.run(script, str(paths[0] if paths else self.runs), json.dumps(options))
        assert job.code == 0, job.out
        found: list[dict[str, Any]] = job.report["all"]
        return found


def wait_for(what: Callable[[], Any], limit_s: float = 90) -> Any:
    """Poll ``what`` until it is true; the true value."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"did not come true in {limit_s} s")


def settled(capture: Path) -> dict[str, Any]:
    """The manifest of ``capture`` once its work has ended."""

    def ended() -> dict[str, Any] | None:
        found = manifest.read(str(capture))
        return found if found and found["state"] in (manifest.COMPLETE, manifest.FAILED) else None

    found: dict[str, Any] = wait_for(ended)
    return found


@pytest.fixture(scope="session")
def npu_environment() -> npu_venv.Environment:
    environment: npu_venv.Environment = provided(npu_venv.recorder)
    return environment


@pytest.fixture(scope="session")
def forks(npu_environment: npu_venv.Environment) -> Iterator[Forks]:
    made = Forks(npu_environment)
    yield made
    made.close()


@pytest.fixture
def recorder(npu_environment: npu_venv.Environment, forks: Forks, tmp_path: Path) -> Recorder:
    return Recorder(npu_environment, tmp_path, forks)


@pytest.fixture(scope="session")
def raw_capture(npu_environment: npu_venv.Environment, forks: Forks, tmp_path_factory: Any) -> Path:
    """One real raw capture (text, two steps), not analysed.  Copy it; do not change it."""
    folder = tmp_path_factory.mktemp("raw")
    made = Recorder(npu_environment, folder, forks)
    job = made.train(options={"analyse": "never"}, switches={"record_shapes": True})
    assert job.code == 0, job.out
    return made.captures()[0]
