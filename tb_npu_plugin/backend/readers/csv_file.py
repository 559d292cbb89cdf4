"""One opener for every CSV a profiler writes, over DuckDB's reader.

The head is read in Python (encoding, delimiter, columns); DuckDB then reads every column as text
with ``auto_detect=false``, because sniffing loses a whole file that is cut inside a quoted cell.
What is not UTF-8, or ends its lines with a lone CR, is transcoded into a scratch file first.
Rows that do not fit the header are set right or counted and located, never dropped silently.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.csv_text import (
    binary,
    is_utf8,
    legacy_encoding,
    pack_is_cut,
    repair,
    transcode,
)
from tb_npu_plugin.backend.schema import Field, TableSchema, header_key, split_unit

HEAD_BYTES = 1 << 18
#: A single record longer than this is refused (operator names of 20,000 characters occur).
MAX_RECORD_BYTES = 4 << 20
BUFFER_BYTES = 8 << 20
#: Cells that stand for "no value".
NO_VALUE = "['', 'N/A', 'NA', 'n/a']"
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Unreadable(Exception):
    """The file as a whole cannot be read; ``note`` says why."""

    def __init__(self, note: Note) -> None:
        super().__init__(note.code)
        self.note = note


def quote(text: str) -> str:
    """``text`` as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def literal(path: str | Path) -> str:
    """``path`` as an SQL literal for a table function that would otherwise expand ``*?[{`` in it."""
    return quote(re.sub(r"[*?\[{]", lambda found: f"[{found.group()}]", str(path)))


def ident(text: str) -> str:
    """``text`` as an SQL identifier."""
    return '"' + text.replace('"', '""') + '"'


@dataclass
class CsvFile:
    """An opened CSV. Column ``i`` of the header is ``c{i}``, text, in :meth:`scan`."""

    con: duckdb.DuckDBPyConnection
    path: Path
    rel: str
    header: list[str]
    delimiter: str
    scratch: Path
    multiline: bool = False
    skip: int = 0
    packed: Path | None = None
    """The file itself, where it is packed."""
    notes: list[Note] = field(default_factory=list)
    types: dict[int, str] = field(default_factory=dict)
    """Columns that are numbers, by index. A hint for speed: where a cell of them is none, the file
    is read again as text, and that cell alone becomes NULL."""
    _as_text: bool = False
    _transcoded: bool = False
    _repaired: bool = False

    def scan(self, *, as_text: bool = False) -> str:
        """SQL table expression over all rows, in file order, columns ``c0, c1, …``.

        VARCHAR but for :attr:`types`; cells that stand for "no value" are NULL. ``as_text``: every
        column as it stands in the file.
        """
        plain = as_text or self._as_text
        types = ["VARCHAR" if plain else self.types.get(i, "VARCHAR")
                 for i in range(len(self.header))]  # fmt: skip
        columns = ", ".join(f"'c{i}': '{kind}'" for i, kind in enumerate(types))
        # In parallel, DuckDB loses records whose quoted cells cross its buffers, without a word.
        options = ", parallel=false" if self.multiline else ""
        return (
            f"read_csv({literal(self.path)}, auto_detect=false, header=true, skip={self.skip}, "
            f"delim={quote(self.delimiter)}, quote='\"', escape='\"', columns={{{columns}}}, "
            f"nullstr={NO_VALUE}, store_rejects=true, rejects_limit=10000, "
            f"max_line_size={MAX_RECORD_BYTES}, buffer_size={BUFFER_BYTES}, "
            f"hive_partitioning=false{options})"
        )

    def column(self, alias_of: Field) -> int | None:
        """Index of the column that a canonical field names, by its aliases."""
        wanted = [header_key(a) for a in alias_of.aliases]
        for key in wanted:
            for i, name in enumerate(self.header):
                if header_key(name) == key:
                    return i
        return None

    def rejects(self, error: duckdb.Error | None = None) -> bool:
        """Turn what DuckDB refused into findings; True if the rows must be read once more.

        Call after the rows of :meth:`scan` were consumed, or with the ``error`` that ended this,
        until it returns False. Each call mends one kind of damage: the encoding, records that are
        not as wide as the header, cells that are no numbers.
        """
        rows = _take_rejects(self.con)
        kinds = {kind for _, kind, _ in rows}
        if "INVALID ENCODING" in kinds and not self._transcoded:
            # Not UTF-8 somewhere past the head (a name late in a GBK file): convert and start over.
            encoding = legacy_encoding(self.path)
            self._note(_encoding_note(self.rel, encoding))
            self.path = transcode(self.path, encoding, self.scratch)
            self._transcoded = True
            return True
        if error is None and len(rows) == 1 and self._is_cut(*rows[0]):
            self._note(Note("file-cut", self.rel, f"line {rows[0][0]}"))
            rows = []
        elif (error or kinds - {"CAST"} or self._may_be_cut()) and not self._repaired:
            self._repair()
            return True
        elif "CAST" in kinds and not self._as_text:
            self._as_text = True
            return True
        if self._as_text:
            for note in self.unreadable(self.types):
                self._note(note)
        if rows:
            reasons = ", ".join(sorted(k.lower() for k in kinds))
            self._note_lines("rows-rejected", [line for line, _, _ in rows], reason=reasons)
        if self.packed is not None and pack_is_cut(self.packed):
            self._note(Note("pack-cut", self.rel))
        return False

    def unreadable(self, types: dict[int, str]) -> list[Note]:
        """Findings about cells that are not what ``types`` says (column index -> SQL type)."""
        if not types:
            return []
        items = []
        for i, kind in types.items():
            value = f"TRY_CAST(c{i} AS {kind})"
            bad = f"c{i} IS NOT NULL AND ({value} IS NULL"
            bad += f" OR NOT isfinite({value}))" if kind == "DOUBLE" else ")"
            items.append(f"count(*) FILTER ({bad}), min(line) FILTER ({bad}), "
                         f"arg_min(c{i}, line) FILTER ({bad})")  # fmt: skip
        row = self.con.execute(
            f"SELECT {', '.join(items)} FROM (SELECT row_number() OVER () + {self.skip + 1} AS line, "
            f"* FROM {self.scan(as_text=True)})"
        ).fetchone()
        _take_rejects(self.con)
        notes = []
        for n, i in enumerate(types):
            count, line, example = row[3 * n : 3 * n + 3] if row else (0, None, None)
            if count:
                name = split_unit(self.header[i])[0]
                params = {"count": count, "column": name, "example": repr(example)[:60]}
                notes.append(Note("value-unreadable", self.rel, f"line {line}", params))
        return notes

    @property
    def as_text(self) -> bool:
        """Whether cells had to be read one by one, so that :meth:`rejects` told of the bad ones."""
        return self._as_text

    def _is_cut(self, line: int, kind: str, text: str) -> bool:
        """The only refused record is the last one and has no line end."""
        if kind not in ("MISSING COLUMNS", "UNQUOTED VALUE") or "\n" in text.rstrip("\r\n"):
            return False
        return not self._ends_a_line()

    def _may_be_cut(self) -> bool:
        """A multi-line file without a last line end: DuckDB drops an open last record silently."""
        return self.multiline and not self._ends_a_line()

    def _ends_a_line(self) -> bool:
        last = b""
        with binary(self.path) as stream:
            if stream.seekable():
                stream.seek(max(0, self.path.stat().st_size - 1))
            while block := stream.read(HEAD_BYTES):
                last = block[-1:]
        return last in (b"\n", b"\r", b"")

    def _repair(self) -> None:
        """Go on with a copy in which every record is as wide as the header."""
        fixed = repair(
            self.path, self.delimiter, len(self.header), self.scratch, multiline=self.multiline
        )
        self.path, self.skip = fixed.path, 0
        self._repaired = True
        if fixed.padded:
            self._note_lines("rows-padded", fixed.padded)
        if fixed.lost:
            self._note_lines("rows-rejected", fixed.lost, reason="a quote is not closed")
        if fixed.cut is not None:
            self._note(Note("file-cut", self.rel, f"line {fixed.cut}"))

    def _note_lines(self, code: str, lines: list[int], **params: str) -> None:
        place = "line " + ", ".join(str(n) for n in lines[:5]) + (", …" if len(lines) > 5 else "")
        self._note(Note(code, self.rel, place, {"count": len(lines), **params}))

    def _note(self, note: Note) -> None:
        if note not in self.notes:  # a file may be scanned more than once
            self.notes.append(note)


def _take_rejects(con: duckdb.DuckDBPyConnection) -> list[tuple[int, str, str]]:
    """(line, kind, text) of the records DuckDB refused since the last call."""
    try:
        rows = con.execute(
            "SELECT line, any_value(error_type)::VARCHAR, coalesce(any_value(csv_line), '') "
            "FROM reject_errors GROUP BY line ORDER BY line"
        ).fetchall()
    except duckdb.CatalogException:  # nothing was scanned
        return []
    con.execute("DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans")
    return rows


def _encoding_note(rel: str, encoding: str) -> Note:
    if encoding == "utf-8":
        return Note("encoding-damaged", rel)
    return Note("encoding", rel, None, {"encoding": encoding.upper()})


def open_csv(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    rel: str,
    table: TableSchema | None,
    scratch: Path,
    *,
    multiline: bool = False,
) -> CsvFile:
    """Read the head of ``path`` and prepare it for DuckDB.

    ``scratch`` is a directory for a transcoded copy. ``multiline``: quoted cells hold line ends.
    Raises :class:`Unreadable` for an empty file or one whose header names no column of ``table``
    (None: any header will do), ``OSError`` where the file cannot be opened.
    """
    with binary(path) as stream:
        head = stream.read(HEAD_BYTES)
    if not head:
        raise Unreadable(Note("file-empty", rel))
    notes: list[Note] = []
    packed = path if path.suffix == ".gz" else None
    encoding = next((name for bom, name in _BOMS if head.startswith(bom)), None)
    if encoding is None:
        encoding = "utf-8" if is_utf8(head) else legacy_encoding(path)
    if encoding == "gb18030" or encoding.startswith("utf-16") or not is_utf8(head):
        notes.append(_encoding_note(rel, encoding))
        transcoded = True
    else:
        transcoded = b"\r" in head and b"\n" not in head
    if transcoded:
        path = transcode(path, encoding, scratch)
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        encoding = "utf-8"
    elif not _is_text(str(path)):
        path = _link(path, scratch)
    text = head.decode(encoding, errors="replace")
    delimiter, header, skip = _header(text, table)
    known = table is None or any(header_key(name) in table.by_alias for name in header)
    if not known or not header:
        raise Unreadable(Note("no-header", rel, "line 1", {"head": repr(text[:80])}))
    return CsvFile(con, path, rel, header, delimiter, scratch, multiline, skip, packed, notes,
                   _transcoded=transcoded)  # fmt: skip


def _is_text(path: str) -> bool:
    """False for a path with bytes that are no UTF-8 (surrogates here), which SQL cannot carry."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _link(path: Path, scratch: Path) -> Path:
    """Another name for ``path``, inside ``scratch``."""
    scratch.mkdir(parents=True, exist_ok=True)
    link = scratch / ("linked.csv.gz" if path.suffix == ".gz" else "linked.csv")
    link.symlink_to(path.absolute())
    return link


def _header(text: str, table: TableSchema | None) -> tuple[str, list[str], int]:
    """Delimiter, column names and the number of blank lines before them."""
    stripped = text.lstrip("\r\n\ufeff \t")
    skip = text[: len(text) - len(stripped)].count("\n")

    def names(delimiter: str) -> list[str]:
        return next(csv.reader(io.StringIO(stripped, newline=""), delimiter=delimiter), [])

    def known(delimiter: str) -> int:
        found = names(delimiter)
        return sum(table is None or header_key(name) in table.by_alias for name in found)

    delimiter = max(",;\t", key=known)
    return delimiter, names(delimiter), skip
