"""The ranks view: hand-checked figures of real jobs, planted faults, innocents left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import planted
import pytest

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.tables import TableRequest, rows_csv
from tb_npu_plugin.backend.views.collectives import (
    ALIKE,
    Sequence,
    _fit,
    _shift_by_step,
    shift_of,
    shifts_by_step,
)
from tb_npu_plugin.backend.views.rank_scores import middle, quartiles, scores
from tb_npu_plugin.backend.views.ranks import ranks, ranks_query
from tb_npu_plugin.frames import Captures
from tb_npu_plugin.sample import write_sample

Opener = Callable[[Path], Captures]


def look(captures: Captures, group: str = "", sort: str = "", **selection: Any) -> results.Ranks:
    sel = captures.select(**selection)
    return ranks(sel, TableRequest(group=group, sort=sort, columns=()))


def measure(view: results.Ranks, key: str) -> results.RankMeasure:
    return next(m for m in view.grid.measures if m.key == key)


def test_the_real_text_job_names_the_last_of_those_present(level1: Captures) -> None:
    """Rank 0 synchronises 5.616 ms in the first all-reduce, rank 1 none: rank 1 came last."""
    view = look(level1)
    assert measure(view, "stage_ns").values == [136581000.0, 131912500.0]
    assert measure(view, "computing_ns").values == [8873756.0, 8878295.0]
    assert measure(view, "wait_ns").values == pytest.approx([5940618.0, 191383.0], rel=1e-3)
    assert measure(view, "kernels").values == [191, 191]
    assert measure(view, "core_mhz").values == pytest.approx([1800, 1800], abs=0.2)
    assert measure(view, "peak_reserved_bytes").values == [1452 * 2**20] * 2
    assert measure(view, "stage_ns").scores == [None, None], "two ranks: nobody is the odd one"
    (suspect,) = view.suspects
    assert suspect.rank == 1
    assert "joined 5.61 ms after the first of 2 ranks" in suspect.evidence[0]
    first = look(level1, "collective").table.values
    assert first["name"][0] == "hcom_allReduce__586_0_1"
    assert first["last"][0] == "Rank 1"
    assert first["spread_ns"][0] == 1736408883737849250 - 1736408883732241500
    assert first["most_ns"][0] == pytest.approx(5615692.0, abs=1)
    # The clocks are 8 us apart; without that the last comes as late as the other one waits.
    spread = of_collectives(level1, "aligned_spread_ns")
    assert spread["hcom_allReduce__586_0_1"] == pytest.approx(5615692.0, abs=1000)
    assert spread["hcom_allReduce__586_2_1"] < 300
    assert "of 8" in view.note


def of_collectives(captures: Captures, key: str) -> dict[str, Any]:
    request = TableRequest(group="collective", limit=1000, columns=("name", key))
    values = ranks(captures.select(), request).table.values
    return dict(zip(values["name"], values[key], strict=True))


def test_a_clock_that_is_ahead_is_taken_away(tmp_path: Path, opened: Opener) -> None:
    """2 ms on one of the ranks: its collectives seem to be spread by that, and are not."""
    planted.clock_offset(tmp_path / "job", 1)
    captures = opened(tmp_path / "job")
    clocks = ranks(captures.select(), TableRequest(columns=("rank", "clock_ns"))).table.values
    assert clocks["clock_ns"] == pytest.approx([0] * 5 + [2e6] + [0] * 2, abs=100)
    seen, aligned, waited = (
        of_collectives(captures, key) for key in ("spread_ns", "aligned_spread_ns", "most_ns")
    )
    assert sum(spread > 1_900_000 for spread in seen.values()) > 100
    # The first to come waits for the last: that tells the same without any clock.
    assert list(aligned.values()) == pytest.approx(list(waited.values()), abs=2000)


def test_the_real_database_job_blames_nobody_present(shared: Path, opened: Opener) -> None:
    """Both ranks wait for one that is not in the folder, although rank 1 starts 3.5 ms later."""
    captures = opened(shared / "captures/db_level1")
    view = look(captures)
    (suspect,) = view.suspects
    assert suspect.rank is None
    assert suspect.severity == "info"
    assert "All ranks shown wait: 3.52 ms a step" in suspect.headline
    row = look(captures, "collective").table.values
    at = row["name"].index("hcom_allReduce__210_0_1")
    assert row["last"][at] is None
    assert row["spread_ns"][at] == 1736410576435143000 - 1736410576431645250


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_straggler_is_named_and_its_partners_are_not(
    tmp_path: Path, opened: Opener, seed: int
) -> None:
    write_sample(tmp_path / "job", ranks=8, steps=2, kernels_per_step=200, seed=seed, straggler=5)
    view = look(opened(tmp_path / "job"))
    assert [s.rank for s in view.suspects] == [5]
    assert "computes" in view.suspects[0].headline
    assert any("MatMulV2" in line for line in view.suspects[0].evidence)
    scored = measure(view, "computing_ns").scores
    assert [i for i, score in enumerate(scored) if score is not None and score >= 4] == [5]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_slow_link_is_named_and_its_ranks_are_not(
    tmp_path: Path, opened: Opener, seed: int
) -> None:
    write_sample(
        tmp_path / "job", ranks=8, steps=2, kernels_per_step=200, seed=seed, slow_link=(2, 3)
    )
    view = look(opened(tmp_path / "job"))
    assert {s.label for s in view.suspects} == {"Link 2 → 3", "Link 3 → 2"}
    assert {s.rank for s in view.suspects} == {None}
    assert all("4 GB/s" in s.headline or "3.9" in s.headline for s in view.suspects)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_sound_job_has_no_suspects(tmp_path: Path, opened: Opener, seed: int) -> None:
    write_sample(tmp_path / "job", ranks=16, steps=2, kernels_per_step=200, seed=seed)
    view = look(opened(tmp_path / "job"))
    assert view.suspects == []
    assert "No rank and no link stands out" in view.verdict
    assert len(view.grid.ranks) == view.grid.total_ranks == 16


def test_a_slow_host_is_named_with_the_operator(tmp_path: Path, opened: Opener) -> None:
    """Its device idles 5 ms longer in each step; the same kernels, the same communication."""
    folder = tmp_path / "job"
    write_sample(folder, ranks=6, steps=2, kernels_per_step=200, seed=4)
    slow = min(folder.glob("*_ascend_pt"))
    output = slow / "ASCEND_PROFILER_OUTPUT"
    steps = output / "step_trace_time.csv"
    header, *rows = steps.read_text().splitlines()
    names = header.split(",")
    changed = []
    for row in rows:
        cells = row.split(",")
        for column in ("Free", "Stage"):
            at = names.index(column)
            cells[at] = str(float(cells[at]) + 5000.0)
        changed.append(",".join(cells))
    steps.write_text("\n".join([header, *changed]) + "\n")
    operators = output / "operator_details.csv"
    lines = operators.read_text(encoding="utf-8-sig").splitlines()
    columns = lines[0].split(",")
    cells = [""] * len(columns)
    cells[0] = "enumerate(DataLoader)#_Next"
    for column in ("Host Self Duration(us)", "Host Total Duration(us)"):
        cells[columns.index(column)] = "9000.0"
    operators.write_text("\n".join([*lines, ",".join(cells)]) + "\n")
    view = look(opened(folder))
    (suspect,) = view.suspects
    assert suspect.rank == 0
    assert "lets its device idle: +5.0" in suspect.headline
    assert "DataLoader" in suspect.evidence[0]
    assert suspect.view == "operator"


def test_the_order_of_the_table_is_that_of_the_picture(tmp_path: Path, opened: Opener) -> None:
    write_sample(tmp_path / "job", ranks=5, steps=1, kernels_per_step=60, seed=1, straggler=3)
    captures = opened(tmp_path / "job")
    view = look(captures, sort="computing_ns:desc")
    assert view.grid.ranks[0].rank == 3
    assert [r.rank for r in view.grid.ranks] == view.table.values["rank"]
    hosts = look(captures, "host").table.values
    assert sum(hosts["count"]) == 5
    query = ranks_query(captures.select(), "")
    assert query is not None
    text = "".join(rows_csv(captures._store, query, TableRequest()))
    assert text.count("\n") == 6


def test_without_waits_nobody_is_cleared(level0: Captures) -> None:
    """Level0 records none: rank 0 takes 15 ms longer, and nothing tells whether it was late."""
    view = look(level0)
    assert view.suspects == []
    assert "cannot be judged" in view.verdict
    assert "Level1" in view.verdict


def test_one_rank_has_nobody_to_be_compared_with(level1: Captures) -> None:
    view = look(level1, rank="0")
    assert "One rank has nobody" in view.note
    assert view.suspects == []


def test_what_cannot_be_grouped(level1: Captures) -> None:
    with pytest.raises(RequestError):
        look(level1, "colour")


# ---- scores and matching ------------------------------------------------------------------------


def test_scores_by_hand() -> None:
    """Median 10, MAD 0.2: 1.4826 * 0.2 = 0.29652, above 1 % of 10."""
    assert middle([10.0, None, 10.2, 9.8, 10.0, 14.0]) == 10.0
    found = scores([10.0, None, 10.2, 9.8, 14.0])
    # known: 9.8 10 10.2 14 -> median 10.1, deviations 0.3 0.1 0.1 3.9 -> MAD 0.2
    assert found[1] is None
    assert found[4] == pytest.approx((14 - 10.1) / (1.4826 * 0.2))
    assert scores([1.0, 2.0, 3.0]) == [None] * 3
    assert scores([5.0] * 4) == [0.0] * 4
    assert scores([0.0, 0.0, 0.0, 7.0]) == [0.0, 0.0, 0.0, 99.0]


def test_one_step_has_no_step_by_step(level1: Captures) -> None:
    assert ranks(level1.select(), TableRequest()).grid.choices == []


def test_quartiles_by_hand() -> None:
    assert quartiles([4.0, None, 1.0, 2.0, 3.0]) == [1.75, 3.25]
    assert quartiles([1.0, 2.0, 3.0]) is None


def sequence(types: str, ends: list[float], steps: list[int] | None = None) -> Sequence:
    codes = np.array([ord(c) for c in types])
    return Sequence(
        codes, codes.astype(float), np.array(steps or [-1] * len(types)), np.array(ends)
    )


def test_all_sequences_at_once_are_matched_as_one_by_one() -> None:
    """By steps; what they do not tell is left to the slow search."""
    random = np.random.default_rng(5)
    for _ in range(40):
        whole = sequence("abcb" * 6, [float(i) for i in range(24)], [i // 4 + 7 for i in range(24)])
        kept = []
        for _ in range(8):
            low, high = sorted(random.integers(0, 25, 2))
            cut = whole.cut(int(low), max(1, int(high - low)))
            one = Sequence(cut.types.copy(), cut.sizes, cut.steps.copy(), cut.ends)
            if len(one) and random.random() < 0.3:  # others in places, or without steps
                one.types[:: int(random.integers(1, 9))] += 1
            if random.random() < 0.2:
                one.steps[:] = -1
            kept.append(one)
        every = [whole, *(one for one in kept if len(one))]
        lengths = np.array([len(one) for one in every])
        first = np.cumsum(lengths) - lengths
        joined = Sequence(*(np.concatenate([getattr(one, key) for one in every])
                            for key in ("types", "sizes", "steps", "ends")))  # fmt: skip
        found = shifts_by_step(joined, first, lengths, np.zeros(len(every), np.int64))
        for one, shift in zip(every, found, strict=True):
            if one is whole:
                assert shift == 0
            elif shift is not None:
                assert shift == shift_of(one, whole)
            else:
                by_step = _shift_by_step(one, whole)
                assert by_step is None or _fit(one, whole, by_step)[0] < ALIKE


def test_captures_that_begin_at_different_collectives_are_matched() -> None:
    whole = sequence("abcabdab", [float(i * 100) for i in range(8)])
    late = sequence("cabdab", [float(i * 100 + 207) for i in range(6)])
    assert shift_of(late, whole) == 2
    assert shift_of(whole, late) == -2


def test_steps_decide_where_all_collectives_look_alike() -> None:
    """Clocks are 1 s apart, so that times would match them wrongly."""
    whole = sequence("aaaaaa", [float(i) for i in range(6)], [1, 1, 2, 2, 3, 3])
    late = sequence("aaaa", [1e9 + i for i in range(4)], [2, 2, 3, 3])
    assert shift_of(late, whole) == 2


def test_clocks_decide_where_nothing_else_does() -> None:
    whole = sequence("aaaaaa", [float(i * 100) for i in range(6)])
    late = sequence("aaaa", [float(i * 100 + 205) for i in range(4)])
    assert shift_of(late, whole) == 2


def test_other_collectives_are_not_matched() -> None:
    assert shift_of(sequence("xyz", [1, 2, 3]), sequence("abc", [1, 2, 3])) is None
