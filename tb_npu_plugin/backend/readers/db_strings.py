"""Names: STRING_IDS and the ENUM_ tables of a profiler's database."""

from __future__ import annotations

from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import integer, load, text

#: Words that stand for no name.
NO_NAME = "('N/A', 'NA', '')"
#: ENUM_API_TYPE as CANN and torch_npu number it, for databases that lost the table.
API_LEVELS = {
    5000: "runtime", 5500: "communication", 10000: "node", 15000: "model", 20000: "acl",
    50001: "op", 50002: "queue", 50003: "trace", 50004: "mstx",
}  # fmt: skip
OPERATOR = 50001
NODE = 10000


def load_strings(db: Database) -> None:
    """Table ``strings(id, value, nth)``, each id once, and the list behind :func:`name`.

    ``nth`` is the place in the list; NULL for words that stand for no name.
    """
    con = db.source.con
    found = load(db, "all_strings", "STRING_IDS", {"id": integer("id"), "value": text("value")})
    if not found.there:
        db.note("db-strings-missing", "STRING_IDS", table="STRING_IDS")
    con.execute(
        "CREATE OR REPLACE TEMP TABLE strings AS SELECT *, CASE WHEN value NOT IN "
        f"{NO_NAME} THEN row_number() OVER (ORDER BY id) END AS nth FROM (SELECT id, "
        "first(value ORDER BY rowid) AS value FROM all_strings WHERE id IS NOT NULL GROUP BY id)"
    )
    con.execute("DROP TABLE all_strings")
    remember(db, "names", "SELECT coalesce(value, '') AS text, id AS place FROM strings")


def remember(db: Database, variable: str, rows: str) -> None:
    """Keep ``text`` of ``rows`` by ``place`` as a list.

    Rows that are sorted already keep their order when names are looked up in a list, and not
    when they are joined; sorting the names themselves takes four times as long.
    """
    db.source.con.execute(
        f"SET VARIABLE {variable} = (SELECT coalesce(list(text ORDER BY place), []) FROM ({rows}))"
    )


def name(nth: str, variable: str = "names") -> str:
    """SQL of the text at place ``nth`` of a list that :func:`remember` keeps."""
    return f"getvariable('{variable}')[{nth}]"


def nth(column: str) -> str:
    """SQL of the place of the name that an id stands for; NULL where there is none."""
    return f"(SELECT s.nth FROM strings s WHERE s.id = {column})"


def is_types(value: str) -> str:
    """SQL of whether a list of an operator's inputs holds types (``float;Scalar``) and not shapes."""
    return f"coalesce(regexp_matches({value}, '[A-Za-z]'), false)"


def load_enum(db: Database, target: str, table: str, known: dict[int, str] | None = None) -> None:
    """Table ``target(id, name)`` of an ENUM_ table, or of what is ``known`` without it."""
    load(db, target, table, {"id": integer("id"), "name": text("name")})
    rows = db.source.con.execute(f"SELECT count(*) FROM {target}").fetchone()
    if known and not (rows and rows[0]):
        values = ", ".join(f"({number}, '{word}')" for number, word in known.items())
        db.source.con.execute(f"INSERT INTO {target} VALUES {values}")
