"""Curves cut down: bounded, true to the drawn line, and never without their extremes."""

from __future__ import annotations

import bisect

import duckdb
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_npu_plugin.backend.downsample import changes_sql, curve_sql

CONNECTION = duckdb.connect(config={"threads": 1})
#: (series, instant, value) in file order; few instants and values, so that equal ones are common.
rows = st.lists(
    st.tuples(
        st.sampled_from(["A", "B", None]),
        st.one_of(st.integers(0, 40), st.integers(1_736_408_883_000_000_000, 2**62)),
        st.one_of(st.none(), st.integers(-3, 9).map(float)),
    ),
    max_size=120,
)

Step = tuple[int, int, float]


def kept(given_rows: list[tuple[str | None, int, float | None]], points: int | None) -> dict[
    str | None, list[tuple[int, float, int]]
]:  # fmt: skip
    frame = pd.DataFrame(given_rows, columns=["s", "t", "v"]).astype(
        {"s": "string", "t": "int64", "v": "Float64"}
    )
    frame["o"] = range(len(frame))
    CONNECTION.register("given", frame)
    if points is None:
        sql = changes_sql("given", ("s",), "t", "v", "o")
    else:
        sql = curve_sql("given", ("s",), "t", "v", "o", points)
    found: dict[str | None, list[tuple[int, float, int]]] = {}
    for s, t, v, n in CONNECTION.execute(sql).fetchall():
        found.setdefault(s, []).append((t, v, n))
    return found


def steps(given_rows: list[tuple[str | None, int, float | None]], series: str | None) -> list[Step]:
    found = [(t, o, v) for o, (s, t, v) in enumerate(given_rows) if s == series and v is not None]
    return sorted(found)


def value_at(line: list[tuple[int, float]], instant: int) -> float:
    """The last value at or before an instant."""
    return line[bisect.bisect_right([t for t, _ in line], instant) - 1][1]


@settings(max_examples=150, deadline=None)
@given(rows, st.integers(4, 40))
def test_extremes_and_ends_keep_value_and_moment(
    given_rows: list[tuple[str | None, int, float | None]], points: int
) -> None:
    found = kept(given_rows, points)
    series = {s for s, _, v in given_rows if v is not None}
    assert set(found) == series
    for name in series:
        whole, line = steps(given_rows, name), found[name]
        values = [v for _, _, v in whole]
        assert [t for t, _, _ in line] == sorted(t for t, _, _ in line)
        assert {n for _, _, n in line} == {len(whole)}
        for extreme in (max(values), min(values)):
            first = next(t for t, _, v in whole if v == extreme)
            assert min(t for t, v, _ in line if v == extreme) == first
        assert line[0][:2] == (whole[0][0], whole[0][2])
        assert line[-1][1] == whole[-1][2]
        true = {(t, v) for t, _, v in whole}
        assert {(t, v) for t, v, _ in line} <= true
        assert len(line) <= max(len(whole) if len(whole) <= points else 0, points // 4 * 4)


@settings(max_examples=100, deadline=None)
@given(rows)
def test_a_short_curve_is_the_same_line(
    given_rows: list[tuple[str | None, int, float | None]],
) -> None:
    found = kept(given_rows, 400)
    for name, line in found.items():
        whole = [(t, v) for t, _, v in steps(given_rows, name)]
        drawn = [(t, v) for t, v, _ in line]
        for instant in {t for t, _ in whole}:
            assert value_at(drawn, instant) == value_at(whole, instant)


@settings(max_examples=60, deadline=None)
@given(rows)
def test_changes_are_what_a_short_curve_keeps(
    given_rows: list[tuple[str | None, int, float | None]],
) -> None:
    assert kept(given_rows, None) == kept(given_rows, 1000)


@settings(max_examples=60, deadline=None)
@given(rows, st.integers(4, 24))
def test_cutting_down_twice_keeps_the_extremes(
    given_rows: list[tuple[str | None, int, float | None]], points: int
) -> None:
    once = kept(given_rows, 40)
    again = kept([(s, t, v) for s, line in once.items() for t, v, _ in line], points)
    for name, line in again.items():
        values = [v for _, _, v in steps(given_rows, name)]
        assert max(v for _, v, _ in line) == max(values)
        assert min(v for _, v, _ in line) == min(values)


def test_a_long_curve_keeps_a_spike_of_one_row() -> None:
    spiked = [("A", i * 10, 999.5 if i == 4321 else float(i * 7 % 900)) for i in range(10_000)]
    line = kept(list(spiked), 100)["A"]
    assert (43_210, 999.5, 10_000) in line
    assert len(line) <= 100
