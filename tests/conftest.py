"""What all tests share: the real captures, caches of their own, opened captures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_captures import OUTPUT, Read, read_file, shared_path

from tb_npu_plugin.frames import Captures, load


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory of real captures and cases ($TB_NPU_SHARED, else ../shared)."""
    path = shared_path()
    if not (path / "captures").is_dir():
        missing = f"no real captures at {path}: set TB_NPU_SHARED"
        if os.environ.get("TB_NPU_REQUIRE_SHARED") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    return path


@pytest.fixture(scope="session")
def cases(shared: Path) -> Path:
    """The bad inputs seen in the field."""
    return shared / "cases"


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def opened(cache_dir: Path) -> Iterator[Callable[[Path], Captures]]:
    """Open captures below a path, read; closed after the test."""
    held: list[Captures] = []

    def open_captures(path: Path) -> Captures:
        held.append(load(path, cache=cache_dir, workers=1))
        return held[-1]

    yield open_captures
    for captures in held:
        captures.close()


@pytest.fixture(scope="session")
def level1(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Captures]:
    """The real two-rank Level1 job; for tests that only look."""
    with load(shared / "captures/text_level1", cache=tmp_path_factory.mktemp("cache")) as captures:
        yield captures


@pytest.fixture(scope="session")
def level0(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Captures]:
    """The real two-rank Level0 job; for tests that only look."""
    with load(shared / "captures/text_level0", cache=tmp_path_factory.mktemp("cache")) as captures:
        yield captures


@pytest.fixture
def read(tmp_path: Path, cache_dir: Path) -> Callable[..., Read]:
    """Read text or bytes as the file ``name`` of a capture, in directory ``below``."""

    def read_content(
        content: str | bytes, name: str = "kernel_details.csv", below: str = "capture"
    ) -> Read:
        folder = tmp_path / below / OUTPUT
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        before = path.read_bytes(), sorted(os.listdir(folder))
        found = read_file(path, cache_dir)
        assert (path.read_bytes(), sorted(os.listdir(folder))) == before
        return found

    return read_content
