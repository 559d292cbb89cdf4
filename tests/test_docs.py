"""Documentation that cannot rot: every route, parameter and finding is described."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tb_npu_plugin.backend import api
from tb_npu_plugin.backend.finding_kinds import KINDS
from tb_npu_plugin.backend.views.registry import VIEWS

ROOT = Path(__file__).resolve().parents[1]
HTTP = (ROOT / "docs/http_api.md").read_text(encoding="utf-8")


def routes() -> list[str]:
    def no_store() -> None:
        raise AssertionError("routes are listed without a store")

    return [route.strip("/") for route in api.routes(no_store)]  # type: ignore[arg-type]


@pytest.mark.parametrize("route", routes())
def test_every_route_is_documented(route: str) -> None:
    assert f"| `{route}` |" in HTTP


def test_no_route_is_documented_that_is_not_there() -> None:
    assert sorted(re.findall(r"^\| `([\w/*]+)` \|", HTTP, re.MULTILINE)) == sorted(routes())


@pytest.mark.parametrize("view", VIEWS)
def test_every_group_and_option_is_documented(view: str) -> None:
    (line,) = [n for n in HTTP.splitlines() if n.startswith(f"| `{view}` |")]
    for group in VIEWS[view].groups:
        assert not group or f"`{group}`" in line, f"{view}: group {group}"
    for option in VIEWS[view].options:
        assert f"`{option}`" in HTTP, f"{view}: {option}"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_finding_is_documented() -> None:
    written = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### `([\w-]+)`$", written, re.MULTILINE)) == set(KINDS)
    wanted = script("document_findings").document()
    assert written == wanted, "run: python scripts/document_findings.py"


@pytest.mark.parametrize("code", KINDS)
def test_findings_are_complete_in_both_languages(code: str) -> None:
    kind = KINDS[code]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    assert set(kind.views) <= {*VIEWS, "timeline"}, kind.views
    for english, chinese in zip(kind.en, kind.zh, strict=True):
        assert english
        assert chinese
        # Both name the same things; a parameter may have its own Chinese form.
        assert _parameters(english) == _parameters(chinese)
    assert re.search(r"[\u4e00-\u9fff]", kind.zh[0])


def _parameters(template: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", template))
