"""Names: STRING_IDS and the ENUM_ tables of a profiler's database."""

from __future__ import annotations

from collections.abc import Iterable

from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import id_, integer, load, text

#: Names that are missing or stand for nothing.
NO_NAME = "('N/A', 'NA', '')"
#: ENUM_API_TYPE as CANN and torch_npu number it, for databases that lost the table.
API_LEVELS = {
    5000: "runtime", 5500: "communication", 10000: "node", 15000: "model", 20000: "acl",
    50001: "op", 50002: "queue", 50003: "trace", 50004: "mstx",
}  # fmt: skip
OPERATOR = 50001
NODE = 10000


def load_strings(db: Database) -> None:
    """Table ``strings(id, value)``, each id once."""
    found = load(db, "all_strings", "STRING_IDS", {"id": integer("id"), "value": text("value")})
    if not found.there:
        db.note("db-strings-missing", "STRING_IDS")
    db.source.con.execute(
        "CREATE OR REPLACE TEMP TABLE strings AS "
        "SELECT id, first(value) AS value FROM all_strings WHERE id IS NOT NULL GROUP BY id"
    )
    db.source.con.execute("DROP TABLE all_strings")


def load_enum(db: Database, target: str, name: str, known: dict[int, str] | None = None) -> None:
    """Table ``target(id, name)`` of an ENUM_ table, or of what is ``known`` without it."""
    load(db, target, name, {"id": integer("id"), "name": text("name")})
    rows = db.source.con.execute(f"SELECT count(*) FROM {target}").fetchone()
    if known and not (rows and rows[0]):
        values = ", ".join(f"({number}, '{word}')" for number, word in known.items())
        db.source.con.execute(f"INSERT INTO {target} VALUES {values}")


def named(columns: Iterable[str], alias: str = "t") -> tuple[dict[str, str], str]:
    """Names that ids in ``columns`` of ``alias`` stand for: (SQL by column, the joins for them)."""
    items, joins = {}, []
    for column in columns:
        value = f"s_{column}.value"
        items[column] = f"CASE WHEN {value} NOT IN {NO_NAME} THEN {value} END"
        joins.append(f"LEFT JOIN strings s_{column} ON s_{column}.id = {alias}.{ident(column)}")
    return items, " ".join(joins)
