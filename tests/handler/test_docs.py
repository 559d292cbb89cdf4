"""docs/handler.md names every argument, variable and manifest field there is."""

import inspect
import re

from conftest import ROOT, Recorder, settled
from tb_npu_handler import manifest, npu_handler, npu_profile

GUIDE = (ROOT / "docs" / "handler.md").read_text(encoding="utf-8")
SOURCES = sorted((ROOT / "handler" / "tb_npu_handler").glob("*.py"))


def test_every_argument() -> None:
    for name in inspect.signature(npu_handler).parameters:
        assert f"| `{name}` |" in GUIDE
    for name, parameter in inspect.signature(npu_profile).parameters.items():
        if parameter.kind is not parameter.VAR_KEYWORD and name not in ("dir", "handler"):
            assert f"{name}=" in GUIDE


def test_every_environment_variable() -> None:
    used = {
        name for path in SOURCES for name in re.findall(r'"(TB_NPU_[A-Z_]+)"', path.read_text())
    }
    assert used
    assert {name for name in used if f"| `{name}` |" not in GUIDE} == set()


def test_every_stage_and_field(recorder: Recorder) -> None:
    recorder.train(options={"analyse": "never"})
    fields = re.findall(r"^\| (`\w+`(?:, `\w+`)*)", GUIDE.partition("## The manifest")[2], re.M)
    documented = {name for group in fields for name in re.findall(r"\w+", group)}
    (capture,) = recorder.captures()
    assert set(settled(capture)) - documented == set()
    text = "".join(path.read_text() for path in SOURCES)
    for stage in set(re.findall(r'stage="(\w+)"', text)) | set(manifest.STATES):
        assert f"`{stage}`" in GUIDE
