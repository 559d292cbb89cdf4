"""Numbers read page by page are those that SQLite gives."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_npu_plugin.backend.readers.db_cells import Damage, Unfit
from tb_npu_plugin.backend.readers.db_pages import Pages

INTEGERS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-300, 300),
    st.sampled_from([0, 1, -1, 127, 128, 2**15, 2**23, 2**31, 2**47, 2**62, -(2**47)]),
)
NUMBERS = st.one_of(INTEGERS, st.floats(allow_nan=False, allow_infinity=False))
DIGITS = st.one_of(st.none(), st.integers(0, 9_219_999_999_999_999_999).map(str))


def scan(path: Path, table: str, columns: list[tuple[int, bool]], **options: Any) -> Any:
    """Rows of a table as tuples, and what was damaged."""
    connection = sqlite3.connect(path)
    (root,) = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = ?", [table]
    ).fetchone()
    connection.close()
    damage = Damage()
    rows: list[tuple[Any, ...]] = []
    with path.open("rb", buffering=0) as file:
        for batch in Pages(file).table(
            root, columns, options.pop("row_id", None), damage, **options
        ):
            cells = [
                [v if k else None for v, k in zip(values.tolist(), known.tolist(), strict=True)]
                for values, known in zip(batch.values, batch.known, strict=True)
            ]
            rows += zip(*cells, strict=True)
    return rows, damage


def write(
    path: Path, rows: list[tuple[Any, ...]], page: int = 4096, columns: str = "a, b, c"
) -> None:
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA page_size={page}")
    connection.execute(f"CREATE TABLE t ({columns})")
    marks = ",".join("?" * (columns.count(",") + 1))
    connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)
    connection.commit()
    connection.close()


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(INTEGERS, NUMBERS, DIGITS), max_size=60),
       page=st.sampled_from([512, 1024, 4096, 65536]))  # fmt: skip
def test_every_kind_of_number(
    rows: list[tuple[Any, ...]], page: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "numbers.db"
    write(path, rows, page)
    found, damage = scan(path, "t", [(0, False), (1, True), (2, False)])
    assert [(a, None if b is None else float(b), c) for a, b, c in found] == [
        (a, None if b is None else float(b), None if c is None else int(c)) for a, b, c in rows
    ]
    assert damage == Damage()


def test_many_rows_over_interior_pages(tmp_path: Path) -> None:
    rng = random.Random(3)
    rows = [(i, rng.choice([rng.randrange(1 << 40), rng.random(), None]), str(rng.randrange(1 << 60)))
            for i in range(60_000)]  # fmt: skip
    write(tmp_path / "a.db", rows, 512, "a INTEGER PRIMARY KEY, b NUMERIC, c TEXT")
    found, _ = scan(tmp_path / "a.db", "t", [(0, False), (1, True), (2, False)], row_id=0)
    assert found == [(a, b if b is None else float(b), int(c)) for a, b, c in rows]


def test_only_rows_of_a_kind(tmp_path: Path) -> None:
    rows = [(i, i % 3, f"{i}") for i in range(1000)]
    write(tmp_path / "a.db", rows)
    found, _ = scan(tmp_path / "a.db", "t", [(0, False)], only=(1, 2))
    assert found == [(i,) for i in range(1000) if i % 3 == 2]


def test_columns_added_later_are_null_in_old_rows(tmp_path: Path) -> None:
    write(tmp_path / "a.db", [(1, 2, "3")] * 10)
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("ALTER TABLE t ADD COLUMN d INTEGER")
    connection.execute("INSERT INTO t VALUES (4, 5, '6', 7)")
    connection.commit()
    connection.close()
    found, _ = scan(tmp_path / "a.db", "t", [(0, False), (3, False)])
    assert found == [(1, None)] * 10 + [(4, 7)]


@pytest.mark.parametrize(
    "text", ["12a", "1.5", "-7", "", "99999999999999999999", "9223372036854775808"]
)
def test_text_that_is_no_plain_number_is_left_to_sqlite(tmp_path: Path, text: str) -> None:
    write(tmp_path / "a.db", [(1, 2, text)])
    with pytest.raises(Unfit):
        scan(tmp_path / "a.db", "t", [(2, False)])


def test_rows_on_overflow_pages_are_left_to_sqlite(tmp_path: Path) -> None:
    write(tmp_path / "a.db", [(1, 2, "x" * 9000)])
    with pytest.raises(Unfit):
        scan(tmp_path / "a.db", "t", [(0, False)])


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"Name,Duration(us)\r\n" * 100)
    with (tmp_path / "a.db").open("rb", buffering=0) as file, pytest.raises(Unfit):
        Pages(file)


def test_a_page_that_is_overwritten_costs_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    write(path, [(i, i, str(i)) for i in range(5000)])
    data = bytearray(path.read_bytes())
    at = next(p for p in range(3, len(data) // 4096) if data[p * 4096] == 13)
    lost = int.from_bytes(data[at * 4096 + 3 : at * 4096 + 5], "big")
    data[at * 4096 : (at + 1) * 4096] = bytes(4096)
    path.write_bytes(data)
    found, damage = scan(path, "t", [(0, False)])
    assert damage.pages == 1
    assert len(found) == 5000 - lost
    assert len(set(found)) == len(found)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), cut=st.integers(0, 20_000))
def test_damage_gives_rows_or_unfit_and_nothing_else(
    seed: int, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.db"
    write(path, [(i, i / 7, str(10**18 + i)) for i in range(2000)], 1024)
    data = np.frombuffer(path.read_bytes(), dtype=np.uint8).copy()
    rng = np.random.default_rng(seed)
    at = rng.integers(100, len(data), rng.integers(1, 60))
    data[at] = rng.integers(0, 256, len(at))
    damaged = path.with_name("changed.db")
    damaged.write_bytes(data.tobytes()[: len(data) - cut])
    with damaged.open("rb", buffering=0) as file:
        try:
            for batch in Pages(file).table(2, [(0, False), (1, True), (2, False)], None, Damage()):
                assert all(len(v) == batch.rows for v in batch.values)
        except Unfit:
            pass
