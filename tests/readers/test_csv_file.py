"""The CSV opener: encodings, line ends, damage of every kind, hostile names. Nothing is lost silently."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_captures import KERNEL_HEADER, KERNELS, OUTPUT, Read, read_file

Reader = Callable[..., Read]
TEXT = f"""{KERNEL_HEADER}
10,前向MatMul,MatMul,AI_CORE,10.5\t,50.5,0,8,2
10,Add2,Add,AI_VECTOR_CORE,61.0\t,1.25,0.5,16,2
"""


def rows(read: Read) -> list[tuple[str, float | None]]:
    """(name, duration) of the kernels in order; NaN as None."""
    frame = read.frame
    return [(n, None if d != d else d) for n, d in zip(frame["name"], frame["dur_ns"], strict=True)]


def kernel(name: str, dur: object = "1.5", start: object = 10, step: object = 10) -> str:
    return f"{step},{name},T,AI_CORE,{start},{dur},0,8,2"


def table(*lines: str, header: str = KERNEL_HEADER, end: str = "\n") -> str:
    return end.join([header, *lines]) + end


WHOLE = [("前向MatMul", 50500.0), ("Add2", 1250.0)]


# ---- encodings ------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_utf8_with_and_without_bom_in_every_line_end(read: Reader, encoding: str, end: str) -> None:
    found = read(TEXT.replace("\n", end).encode(encoding))
    assert rows(found) == WHOLE
    assert list(found.frame["step"]) == [10, 10]
    assert found.codes == []


@pytest.mark.parametrize(
    ("encoding", "bom", "told"),
    [
        ("utf-16-le", b"\xff\xfe", "UTF-16"),
        ("utf-16-be", b"\xfe\xff", "UTF-16"),
        ("gbk", b"", "GB18030"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_other_encodings_are_converted_and_told(
    read: Reader, encoding: str, bom: bytes, told: str, end: str
) -> None:
    found = read(bom + TEXT.replace("\n", end).encode(encoding))
    assert rows(found) == WHOLE
    assert found.note("encoding").params == {"encoding": told}


def test_gbk_far_beyond_the_head(read: Reader) -> None:
    many = [kernel(f"Op{i:06}") for i in range(12_000)]
    text = table(*many, kernel("反向传播"), kernel("bad", dur="x"))
    assert len(text) > 1 << 18
    found = read(text.encode("gbk"))
    assert len(found.frame) == 12_002
    assert rows(found)[-2:] == [("反向传播", 1500.0), ("bad", None)]
    assert found.note("encoding").params == {"encoding": "GB18030"}
    assert found.note("value-unreadable").params["count"] == 1


def test_utf8_cut_inside_a_character_stays_utf8(read: Reader) -> None:
    text = table(kernel("前向计算"), kernel("反向")).encode() + "10,梯".encode()[:-1]
    found = read(text)
    assert rows(found) == [("前向计算", 1500.0), ("反向", 1500.0)]
    assert found.note("file-cut").place == "line 4"
    assert "encoding" not in found.codes


def test_a_damaged_byte_in_utf8_costs_that_character_only(read: Reader) -> None:
    text = table(kernel("前向计算"), kernel("a@b"), kernel("反向")).encode().replace(b"@", b"\xff")
    found = read(text)
    assert [n for n, _ in rows(found)] == ["前向计算", "a\ufffdb", "反向"]
    assert found.codes == ["encoding-damaged"]


# ---- lines ----------------------------------------------------------------------------------


def test_blank_lines_anywhere_are_ignored(read: Reader) -> None:
    lines = TEXT.splitlines()
    for end in ("\n", "\r\n", "\r"):
        text = end * 3 + end.join([lines[0], "", lines[1], "", "", lines[2]]) + end * 3
        found = read(text, below=f"blank{len(end)}{ord(end[0])}")
        assert rows(found) == WHOLE, repr(end)


def test_mixed_line_ends(read: Reader) -> None:
    lines = TEXT.splitlines()
    found = read(f"{lines[0]}\r\n{lines[1]}\n{lines[2]}\r\n{kernel('c')}\r{kernel('d')}\n")
    assert [n for n, _ in rows(found)] == ["前向MatMul", "Add2", "c", "d"]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters(read: Reader, delimiter: str) -> None:
    text = KERNELS.replace("\t", "").replace(",", delimiter)
    assert rows(read(text)) == [("MatMul1", 50500.0), ("Add2", 1250.0)]


def test_a_file_without_a_last_line_end_is_whole(read: Reader) -> None:
    found = read(KERNELS.rstrip())
    assert rows(found) == [("MatMul1", 50500.0), ("Add2", 1250.0)]
    assert found.codes == []


@pytest.mark.parametrize(
    "tail", ['10,cut,"T', '10,"cu', "10,cut,T,AI_C", "1", '10,cut,"T,1,2,3,4,5,6,7,8,9']
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_ends_inside_a_row_loses_that_row(
    read: Reader, tail: str, packed: bool
) -> None:
    data = (KERNELS + tail).encode()
    name = "kernel_details.csv.gz" if packed else "kernel_details.csv"
    found = read(gzip.compress(data) if packed else data, name)
    assert rows(found) == [("MatMul1", 50500.0), ("Add2", 1250.0)]
    assert found.note("file-cut").place == "line 4"


def test_short_and_long_rows_stay_in_their_place(read: Reader) -> None:
    lines = [
        kernel("a"),
        "10,short,T,AI_CORE,11,2.5",
        kernel("b"),
        kernel("long") + ",extra,extra",
        kernel("c"),
        "10,last,T,AI_CORE,12,3.5",
    ]
    found = read(table(*lines))
    assert rows(found) == [
        ("a", 1500.0), ("short", 2500.0), ("b", 1500.0), ("long", 1500.0), ("c", 1500.0),
        ("last", 3500.0),
    ]  # fmt: skip
    note = found.note("rows-padded")
    assert (note.place, note.params["count"]) == ("line 3, 5, 7", 3)
    assert found.frame["blocks"].isna().tolist() == [False, True, False, False, False, True]


def test_more_short_rows_than_a_database_keeps_track_of(read: Reader) -> None:
    found = read(table(*["10,short,T,AI_CORE,11,2.5"] * 25_000))
    assert len(found.frame) == 25_000
    assert found.note("rows-padded").params["count"] == 25_000


def test_a_row_short_of_cells_that_also_has_a_bad_number(read: Reader) -> None:
    found = read(table(kernel("a"), "10,short,T,AI_CORE,11,oops", kernel("b", dur="bad")))
    assert rows(found) == [("a", 1500.0), ("short", None), ("b", None)]
    assert found.note("value-unreadable").params["count"] == 2


def test_a_quote_that_is_never_closed_costs_its_row(read: Reader) -> None:
    many = [kernel(f"k{i}") for i in range(500)]
    many[100] = '10,"open,T,AI_CORE,10,1.5,0,8,2'
    many[300] = kernel('"with ""quotes"", in it"')
    found = read(table(*many))
    names = [n for n, _ in rows(found)]
    assert len(names) == 499
    assert names[99:101] == ["k99", "k101"]
    assert 'with "quotes", in it' in names
    assert names[-1] == "k499"
    note = found.note("rows-rejected")
    assert (note.place, note.params["count"]) == ("line 102", 1)


def test_an_open_quote_near_the_end_costs_its_row_too(read: Reader) -> None:
    found = read(table(kernel("a"), '10,"open,T,AI_CORE,10,1.5,0,8,2', kernel("b"), kernel("c")))
    assert [n for n, _ in rows(found)] == ["a", "b", "c"]
    assert found.note("rows-rejected").place == "line 3"


def test_newlines_inside_quotes(read: Reader) -> None:
    found = read(table(kernel('"two\nlines"'), kernel('"crlf\r\ninside"'), kernel("b")))
    assert [n for n, _ in rows(found)] == ["two\nlines", "crlf\r\ninside", "b"]
    assert found.codes == []


def test_nul_bytes(read: Reader) -> None:
    found = read(table(kernel("a\0b"), kernel("c\0", dur="1\0"), "10,short\0,T"))
    assert [n.replace("\0", "") for n, _ in rows(found)] == ["ab", "c", "short"]


# ---- cells ----------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", ["", "N/A", "NA", "n/a"])
def test_no_value_is_unknown_and_no_finding(read: Reader, blank: str) -> None:
    found = read(table(kernel("a", dur=blank, start=blank), kernel("b")))
    assert rows(found) == [("a", None), ("b", 1500.0)]
    assert found.frame["start_ns"].isna().tolist() == [True, False]
    assert found.codes == []


@pytest.mark.parametrize("odd", ["abc", "1.2.3", "1,5", "0x10", "½", "--", "1e", "nan", "inf"])
def test_a_cell_that_is_no_number_is_lost_alone(read: Reader, odd: str) -> None:
    found = read(table(kernel("a"), kernel("b", dur=f'"{odd}"', step=11), kernel("c")))
    assert rows(found) == [("a", 1500.0), ("b", None), ("c", 1500.0)]
    assert list(found.frame["step"]) == [10, 11, 10]
    note = found.note("value-unreadable")
    assert (note.place, note.params) == (
        "line 3", {"count": 1, "column": "Duration", "example": repr(odd)},
    )  # fmt: skip


def test_bad_cells_are_told_in_every_column(read: Reader) -> None:
    header = f"{KERNEL_HEADER},aicore_time(us)"
    found = read(table(kernel("a") + ",1", kernel("b", step="ten", start="soon") + ",x",
                       header=header))  # fmt: skip
    told = {n.params["column"]: n.params["example"] for n in found.notes
            if n.code == "value-unreadable"}  # fmt: skip
    assert told == {"Step Id": "'ten'", "Start Time": "'soon'", "aicore_time": "'x'"}
    assert found.frame["aicore_time_ns"].tolist()[0] == 1000.0


def test_names_of_twenty_thousand_characters(read: Reader) -> None:
    name = "N" * 20_000
    found = read(table(kernel(name), kernel("b")))
    assert [n for n, _ in rows(found)] == [name, "b"]
    assert found.codes == []


def test_times_are_decimals_not_doubles(read: Reader) -> None:
    found = read(table(kernel("a", start='"1736408883704643.212\t"'), kernel("b", start="7.0004")))
    assert found.frame["start_ns"].tolist() == [1736408883704643212, 7000]
    assert found.frame["start_ns"].dtype == "int64"


# ---- whole files ----------------------------------------------------------------------------


def test_header_only(read: Reader) -> None:
    for text in (KERNEL_HEADER, KERNEL_HEADER + "\n"):
        found = read(text, below=f"header{len(text)}")
        assert len(found.frame) == 0
        assert found.codes == ["kernels-empty"]


def test_no_bytes(read: Reader) -> None:
    found = read(b"")
    assert (found.tables, found.codes) == ({}, ["file-empty"])


def test_the_header_of_another_file(read: Reader) -> None:
    for content in ("a,b,c\n1,2,3\n", b"\x89PNG\r\n\x1a\n\0\0\0\r", b"\0" * 4096, "[]", "\n\n\n"):
        found = read(content, below=f"other{len(content)}")
        assert (found.tables, found.codes, found.error) == ({}, ["no-header"], None)


def test_one_row(read: Reader) -> None:
    assert rows(read(table(kernel("only")))) == [("only", 1500.0)]


def test_packed(read: Reader) -> None:
    found = read(gzip.compress(KERNELS.encode()), "kernel_details.csv.gz")
    assert rows(found) == [("MatMul1", 50500.0), ("Add2", 1250.0)]


def test_packed_and_cut(read: Reader) -> None:
    data = gzip.compress(table(*[kernel(f"k{i * 7919}") for i in range(500)]).encode())
    found = read(data[: len(data) // 2], "kernel_details.csv.gz")
    assert found.note("file-cut")
    names = [n for n, _ in rows(found)]
    assert 50 < len(names) < 500
    assert names == [f"k{i * 7919}" for i in range(len(names))]


def test_what_is_called_packed_and_is_not(read: Reader) -> None:
    found = read(KERNELS, "kernel_details.csv.gz")
    assert (found.tables, found.codes) == ({}, ["file-unreadable"])


# ---- columns --------------------------------------------------------------------------------


def test_duplicate_headers_keep_both(read: Reader) -> None:
    header = KERNEL_HEADER + ",Name,Extra,extra,EXTRA"
    found = read(table(kernel("a") + ",second,1,2,3", header=header))
    assert rows(found) == [("a", 1500.0)]
    frame = found.frame
    assert frame["x_name"].tolist() == ["second"]
    assert sorted(frame[c][0] for c in frame if c.startswith("x_extra")) == ["1", "2", "3"]


HOSTILE = [
    "file", "row", "rank", "capture", "filename", "file_row_number", "name", "data",
    "'; DROP TABLE kernels; --", '""quoted""', "a.b", "=1+1", "<img src=x>", "列", "É", "é", "ß",
    "İ", "", " ", "%s {x}", "step=5", "\\", "x_x", "L" * 30_000, "?", "a\tb",
]  # fmt: skip


def test_hostile_column_names_are_kept_as_columns(read: Reader) -> None:
    header = KERNEL_HEADER + "".join(f',"{h}"' for h in HOSTILE)
    cells = "".join(f",v{i}" for i in range(len(HOSTILE)))
    found = read(table(kernel("a") + cells, header=header))
    assert found.error is None
    assert rows(found) == [("a", 1500.0)]
    extra = {found.frame[c][0] for c in found.frame if c.startswith("x_")}
    assert extra == {f"v{i}" for i in range(len(HOSTILE))}
    assert max(map(len, found.frame.columns)) <= 100


def test_five_hundred_columns(read: Reader) -> None:
    header = KERNEL_HEADER + "".join(f",Column {i}" for i in range(500))
    found = read(table(kernel("a") + "".join(f",{i}" for i in range(500)), header=header))
    assert found.frame["x_column_499"].tolist() == ["499"]


# ---- paths ----------------------------------------------------------------------------------

FOLDERS = [
    "a*b", "a?b", "a[1]", "a[b", "[!a]", "**", "{a,b}", "step=5", "c0=7", "it's", 'say "hi"',
    "p%20", "100%", "new\nline", "back\\slash", "~", "sp ace", "日本", "s3:", "-x", "$HOME", "#", ";",
]  # fmt: skip


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_file_at_the_path_itself_is_read(read: Reader, tmp_path: Path, folder: str) -> None:
    for decoy in ("aXb", "a1", "a", "b", "xx"):
        output = tmp_path / decoy / OUTPUT
        output.mkdir(parents=True)
        (output / "kernel_details.csv").write_text(table(kernel("decoy")))
    found = read(table(kernel("right")), below=folder)
    assert found.error is None
    assert rows(found) == [("right", 1500.0)]
    assert found.frame["step"].tolist() == [10]


def test_a_path_that_is_not_utf8(tmp_path: Path, cache_dir: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/f\xff\xfe"))
    folder.mkdir()
    path = folder / "kernel_details.csv"
    path.write_text(table(kernel("right")))
    assert rows(read_file(path, cache_dir)) == [("right", 1500.0)]


# ---- any content ----------------------------------------------------------------------------


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.one_of(
        st.binary(max_size=400),
        st.text(alphabet='",;\n\r\tab0.N/A é前\0-', max_size=200).map(
            lambda t: (KERNEL_HEADER + "\n" + t).encode()
        ),
    )
)
def test_no_content_makes_the_reader_fail(read: Reader, content: bytes) -> None:
    found = read(content)
    assert found.error is None, found.error
    assert "reader-failed" not in found.codes


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.sampled_from(["whole", "short", "long", "bad", "open", "blank", "lines"]),
        min_size=1, max_size=60,
    ),
    st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip
def test_damage_of_several_kinds_costs_only_what_is_damaged(
    read: Reader, kinds: list[str], end: str
) -> None:
    """Whatever the mixture, undamaged rows are all there, in order, and every loss is counted."""
    made = {
        "whole": lambda i: kernel(f"whole{i}"),
        "short": lambda i: f"10,short{i},T",
        "long": lambda i: kernel(f"long{i}") + ",more",
        "bad": lambda i: kernel(f"bad{i}", dur="?"),
        "open": lambda i: kernel(f'"open{i}'),
        "blank": lambda i: "",
        "lines": lambda i: kernel(f'"lines{i}\n2"'),
    }
    text = table(*(made[kind](i) for i, kind in enumerate(kinds)), end=end)
    found = read(text)
    assert found.error is None, found.error
    names = [str(n).replace("\r", "").split("\n")[0] for n, _ in rows(found)]
    expected = [f"{k}{i}" for i, k in enumerate(kinds) if k not in ("open", "blank")]
    opened = kinds.count("open")
    if opened <= 1 and not (opened and "lines" in kinds):
        assert names == expected
    lost = sum(n.params["count"] for n in found.notes if n.code == "rows-rejected")
    missing = [n for n in expected if n not in names and n.startswith("whole")]
    assert len(missing) == 0 or lost >= 1, (names, expected, found.notes)
