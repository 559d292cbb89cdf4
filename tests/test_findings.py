"""Findings: worded from parameters that are text, one id each, in order of severity."""

from __future__ import annotations

import pytest

from tb_npu_plugin.backend.finding_kinds import KINDS
from tb_npu_plugin.backend.findings import Note, ordered, render
from tb_npu_plugin.backend.i18n import Lang


def test_two_notes_of_one_code_are_two_findings() -> None:
    notes = [Note("impossible-value", "f.csv", None, {"column": c}) for c in ("Free", "Preparing")]
    ids = {render(n, "en", "cap", 0).id for n in notes}
    assert len(ids) == 2
    again = render(Note("impossible-value", "f.csv", None, {"column": "Free"}), "zh", "cap", 0)
    assert again.id in ids, "the id is the same in every language and at every start"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_parameters_are_text_and_never_a_template(lang: Lang) -> None:
    hostile = "{0.__class__.__mro__} {head!r:>999999999} %s <b>"
    found = render(Note("no-header", "f", None, {"head": hostile}), lang, None, None)
    assert hostile in found.message


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_missing_parameters_and_unknown_codes_do_no_harm(lang: Lang) -> None:
    for code in [*KINDS, "of-another-version"]:
        found = render(Note(code, "a\udcff.csv", "line 1"), lang, None, None)
        assert found.message
        assert found.file == r"a\xff.csv"
        (found.message + found.remedy).encode()


def test_chinese_parameters_take_the_place_of_english_ones() -> None:
    note = Note("kernels-missing", None, None, {"why": " (only A)", "why_zh": "(仅 A)"})
    assert "(only A)" in render(note, "en", None, None).message
    assert "(仅 A)" in render(note, "zh", None, None).message


def test_errors_come_first() -> None:
    codes = ["encoding", "file-cut", "no-header", "file-empty"]
    found = ordered([render(Note(c), "en", None, None) for c in codes])
    assert [f.code for f in found] == ["no-header", "file-cut", "file-empty", "encoding"]
