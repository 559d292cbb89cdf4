"""One opener for every CSV a profiler writes, over DuckDB's reader.

The head is read in Python (encoding, delimiter, columns); DuckDB then reads every column as text
with ``auto_detect=false``, because sniffing loses a whole file that is cut inside a quoted cell.
What is not UTF-8, or ends its lines with a lone CR, is transcoded into a scratch file first.
Rows that do not fit the header are set right or counted and located, never dropped silently.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import duckdb

from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.schema import Field, TableSchema, header_key

HEAD_BYTES = 1 << 18
#: A single record longer than this is refused (operator names of 20,000 characters occur).
MAX_RECORD_BYTES = 4 << 20
BUFFER_BYTES = 16 << 20
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
    notes: list[Note] = field(default_factory=list)
    types: dict[int, str] = field(default_factory=dict)
    """Columns that are numbers, by index. A hint for speed: where a cell of them is none, the file
    is read again as text, and that cell alone becomes NULL."""
    _as_text: bool = False
    _salvaged: str | None = None

    def scan(self, *, as_text: bool = False) -> str:
        """SQL table expression over all rows, in file order, columns ``c0, c1, …``.

        VARCHAR but for :attr:`types`; cells that stand for "no value" are NULL. ``as_text``: every
        column as it stands in the file.
        """
        plain = as_text or self._as_text
        types = ["VARCHAR" if plain else self.types.get(i, "VARCHAR")
                 for i in range(len(self.header))]  # fmt: skip
        columns = ", ".join(f"'c{i}': '{kind}'" for i, kind in enumerate(types))
        options = ", null_padding=true, parallel=false" if self.multiline else ""
        source = (
            f"read_csv({quote(str(self.path))}, auto_detect=false, header=true, skip={self.skip}, "
            f"delim={quote(self.delimiter)}, quote='\"', escape='\"', columns={{{columns}}}, "
            f"nullstr={NO_VALUE}, store_rejects=true, rejects_limit=10000, "
            f"max_line_size={MAX_RECORD_BYTES}, buffer_size={BUFFER_BYTES}{options})"
        )
        if self._salvaged is None or as_text:
            return source
        cells = ", ".join(f"TRY_CAST(c{i} AS {kind})" for i, kind in enumerate(types))
        return f"(SELECT * FROM {source} UNION ALL SELECT {cells} FROM {self._salvaged})"

    def column(self, alias_of: Field) -> int | None:
        """Index of the column that a canonical field names, by its aliases."""
        wanted = [header_key(a) for a in alias_of.aliases]
        for key in wanted:
            for i, name in enumerate(self.header):
                if header_key(name) == key:
                    return i
        return None

    def rejects(self) -> bool:
        """Turn DuckDB's rejected rows into findings; True if a second pass recovers some of them.

        Call once after the rows of :meth:`scan` were consumed.
        """
        rows = self.con.execute(
            "SELECT line, any_value(error_type), any_value(csv_line) FROM reject_errors "
            "GROUP BY line ORDER BY line"
        ).fetchall()
        self.con.execute("DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans")
        if not rows:
            return False
        if any(str(error) == "INVALID ENCODING" for _, error, _ in rows):
            # Not UTF-8 somewhere past the head (a name late in a GBK file): convert and start over.
            self.notes.append(Note("encoding", self.rel, None, {"encoding": "GB18030"}))
            self.path = transcode(self.path, "gb18030", self.scratch)
            return True
        if any(str(error) == "CAST" for _, error, _ in rows):
            self._as_text = True
            return True
        cut_line = None if self._ends_whole() else rows[-1][0]
        padded: list[list[str | None]] = []
        padded_lines: list[int] = []
        lost: dict[str, list[int]] = {}
        for line, error, text in rows:
            if line == cut_line and str(error) in ("MISSING COLUMNS", "UNQUOTED VALUE"):
                self.notes.append(Note("file-cut", self.rel, f"line {line}"))
            elif str(error) in ("MISSING COLUMNS", "TOO MANY COLUMNS") and text:
                cells = next(csv.reader([text], delimiter=self.delimiter), [])
                width = len(self.header)
                values = [None if c in ("", "N/A", "NA", "n/a") else c for c in cells[:width]]
                padded.append([*values, *[None] * (width - len(cells))])
                padded_lines.append(line)
            else:
                lost.setdefault(str(error).lower(), []).append(line)
        for error, lines in lost.items():
            self.notes.append(
                Note(
                    "rows-rejected", self.rel, _lines(lines), {"count": len(lines), "reason": error}
                )
            )
        if not padded:
            return False
        self.notes.append(
            Note("rows-padded", self.rel, _lines(padded_lines), {"count": len(padded)})
        )
        self._salvaged = "salvaged_rows"
        names = ", ".join(f"c{i} VARCHAR" for i in range(len(self.header)))
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE salvaged_rows ({names})")
        marks = ", ".join("?" for _ in self.header)
        self.con.executemany(f"INSERT INTO salvaged_rows VALUES ({marks})", padded)
        return True

    def _ends_whole(self) -> bool:
        with _binary(self.path) as stream:
            if not isinstance(stream, gzip.GzipFile):
                stream.seek(0, io.SEEK_END)
                size = stream.tell()
                stream.seek(max(0, size - 1))
            last = stream.read()[-1:]
        return last in (b"\n", b"\r", b"")


def _lines(lines: list[int]) -> str:
    shown = ", ".join(str(n) for n in lines[:5])
    return f"line {shown}" + (", …" if len(lines) > 5 else "")


def _binary(path: Path) -> IO[bytes]:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def open_csv(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    rel: str,
    table: TableSchema,
    scratch: Path,
    *,
    multiline: bool = False,
) -> CsvFile:
    """Read the head of ``path`` and prepare it for DuckDB.

    ``scratch`` is a directory for a transcoded copy. ``multiline``: quoted cells hold line ends.
    Raises :class:`Unreadable` for an empty file or one whose header names no column of ``table``,
    ``OSError`` where the file cannot be opened.
    """
    with _binary(path) as stream:
        head = stream.read(HEAD_BYTES)
    if not head:
        raise Unreadable(Note("file-empty", rel))
    notes: list[Note] = []
    encoding = next((name for bom, name in _BOMS if head.startswith(bom)), None)
    if encoding is None:
        encoding = "utf-8" if _is_utf8(head) else "gb18030"
    lone_cr = b"\r" in head and b"\n" not in head
    if encoding == "gb18030" or encoding.startswith("utf-16") or lone_cr:
        if encoding not in ("utf-8", "utf-8-sig"):
            notes.append(Note("encoding", rel, None, {"encoding": encoding.upper()}))
        path = transcode(path, encoding, scratch)
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        encoding = "utf-8"
    text = head.decode(encoding, errors="replace")
    delimiter, header, skip = _header(text, table)
    if not any(header_key(name) in table.by_alias for name in header):
        raise Unreadable(Note("no-header", rel, "line 1", {"head": repr(text[:80])}))
    return CsvFile(con, path, rel, header, delimiter, scratch, multiline, skip, notes)


def _header(text: str, table: TableSchema) -> tuple[str, list[str], int]:
    """Delimiter, column names and the number of blank lines before them."""
    stripped = text.lstrip("\r\n\ufeff \t")
    skip = text[: len(text) - len(stripped)].count("\n")

    def names(delimiter: str) -> list[str]:
        return next(csv.reader(io.StringIO(stripped, newline=""), delimiter=delimiter), [])

    def known(delimiter: str) -> int:
        return sum(header_key(name) in table.by_alias for name in names(delimiter))

    delimiter = max(",;\t", key=known)
    return delimiter, names(delimiter), skip


def _is_utf8(data: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def transcode(path: Path, encoding: str, scratch: Path) -> Path:
    """A UTF-8 copy of ``path`` with LF line ends, in ``scratch``; undecodable bytes become U+FFFD."""
    scratch.mkdir(parents=True, exist_ok=True)
    target = scratch / (path.name.removesuffix(".gz") + ".utf8")
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder(encoding)(errors="replace"), translate=True
    )
    with _binary(path) as source, target.open("w", encoding="utf-8", newline="") as out:
        while block := source.read(1 << 22):
            out.write(decoder.decode(block))
        out.write(decoder.decode(b"", final=True))
    return target
