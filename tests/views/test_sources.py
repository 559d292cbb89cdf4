"""Text and databases in one capture: one source per view, named, switchable; damage hides nothing."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_captures import OUTPUT
from test_api import Http, serve

from tb_npu_plugin.backend.views.registry import VIEWS
from tb_npu_plugin.cli import main
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample

Opener = Callable[[Path], Captures]
#: View -> a file of text that it is taken from, and the database that takes its place.
FILES = {
    "step": ("step_trace_time.csv", "analysis.db"),
    "operator": ("operator_details.csv", "ascend_pytorch_profiler_0.db"),
    "kernel": ("kernel_details.csv", "ascend_pytorch_profiler_0.db"),
    "api": ("api_statistic.csv", "ascend_pytorch_profiler_0.db"),
    "memory": ("operator_memory.csv", "ascend_pytorch_profiler_0.db"),
    "communication": ("communication.json", "analysis.db"),
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A logdir of one capture in both forms; only to be looked at."""
    root = tmp_path_factory.mktemp("mixed")
    write_sample(root / "job", ranks=2, world=2, steps=2, kernels_per_step=60,
                 export=("text", "db"))  # fmt: skip
    shutil.rmtree(max((root / "job").glob("*_ascend_pt")))
    return root


@pytest.fixture(scope="module")
def http(mixed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Http]:
    served = serve(mixed, tmp_path_factory.mktemp("cache"))
    yield served
    served.store.close()


@pytest.mark.parametrize("view", FILES)
def test_http_names_one_source_and_takes_the_other_when_asked(http: Http, view: str) -> None:
    text, base = FILES[view]
    totals = []
    for source, expected, other in (
        ("auto", text, ".db"),
        ("text", text, ".db"),
        ("db", base, ".csv"),
    ):
        args = {} if source == "auto" else {"source": source}
        http.store.fetch(http.store.captures(), VIEWS[view].tables, args.get("source"), timeout=60)
        reply = http.json(view, **args)
        used = set(reply["meta"]["provenance"].values())
        assert expected in used
        # l2_cache.csv, which no database holds, is shown beside either.
        assert not [u for u in used - {"l2_cache.csv"} if u.endswith(other)]
        assert reply["meta"]["sources"][:2] == ["text", "db"]
        totals.append(reply["data"]["table"]["total"])
    assert totals[0] == totals[1] == totals[2] > 0, "never the sum of both"


@pytest.mark.parametrize("view", FILES)
def test_the_command_takes_the_source_it_is_told(
    mixed: Path,
    view: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    cache = tmp_path_factory.getbasetemp() / "cli-cache"
    text, base = FILES[view]

    def show(*args: str) -> str:
        capsys.readouterr()
        main_args = ["show", view, str(mixed), "--cache", str(cache), *args]
        with pytest.raises(SystemExit) as end:
            main(main_args)
        assert end.value.code == 0
        return capsys.readouterr().out

    first, second = show(), show("--source", "db")
    assert text in first
    assert "--source text | db" in first
    assert base in second
    assert text not in second
    rows = [list(csv.reader(io.StringIO(show(*args, "--format", "csv"))))
            for args in ((), ("--source", "db"))]  # fmt: skip
    assert len(rows[0]) == len(rows[1]) > 1
    told = json.loads(show("--source", "db", "--format", "json"))["meta"]
    assert told["selection"]["source"] == "db"


@pytest.fixture
def copy(mixed: Path, tmp_path: Path) -> Path:
    """ASCEND_PROFILER_OUTPUT of a copy that may be damaged."""
    shutil.copytree(mixed, tmp_path / "copy")
    return next((tmp_path / "copy/job").glob("*_ascend_pt")) / OUTPUT


def rows(captures: Captures) -> dict[str, int]:
    return {
        "steps": len(captures.steps()), "kernels": len(captures.kernels()),
        "operators": len(captures.operators()), "apis": len(captures.apis()),
        "blocks": len(captures.memory_blocks()), "comm": len(captures.communication()),
        "matrix": len(captures.matrix()), "types": len(captures.op_statistics()),
    }  # fmt: skip


@pytest.mark.parametrize("pattern", ["*.db", "*.csv", "*.json"])
@pytest.mark.parametrize("damage", ["empty", "noise", "cut"])
def test_damage_of_one_form_never_hides_the_other(
    mixed: Path, copy: Path, opened: Opener, pattern: str, damage: str
) -> None:
    whole = rows(opened(mixed))
    for path in copy.glob(pattern):
        content = path.read_bytes()
        path.write_bytes({"empty": b"", "noise": b"\x00\xff" * 2000, "cut": content[:90]}[damage])
    captures = opened(copy.parent)
    found = rows(captures)
    assert {k: n for k, n in found.items() if n < whole[k]} == {}
    told = {
        "file-empty",
        "no-header",
        "database-unreadable",
        "json-no-object",
        "json-cut",
        "file-cut",
    }
    assert told & set(captures.findings()["code"])


@pytest.mark.parametrize(
    "name", ["kernel_details.csv", "communication.json", "operator_details.csv"]
)
def test_half_a_file_of_text_gives_way_to_a_whole_database(
    mixed: Path, copy: Path, opened: Opener, name: str
) -> None:
    whole = rows(opened(mixed))
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[: len(content) // 2])
    captures = opened(copy.parent)
    assert rows(captures) == whole
    assert {"file-cut", "json-cut"} & set(captures.findings()["code"])
    told = {"kernel_details.csv": "kernel", "communication.json": "communication"}.get(
        name, "operator"
    )
    sel = captures.select(source="text")
    assert (
        captures._store.parts(sel.captures, VIEWS[told].tables[0], sel.prefer)[0][1].kind == "text"
    )


def test_of_two_damaged_forms_text_is_taken(copy: Path, opened: Opener) -> None:
    for name in ("kernel_details.csv", "ascend_pytorch_profiler_0.db"):
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[: len(content) * 9 // 10])
    captures = opened(copy.parent)
    assert len(captures.kernels()) > 30
    sel = captures.select()
    (part,) = captures._store.parts(sel.captures, "kernels")
    assert part[1].source.name == "kernel_details.csv"
