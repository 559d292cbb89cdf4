"""Steps of a database: which kernel belongs to which, and their times where no table tells them."""

from __future__ import annotations

from collections.abc import Iterator

from tb_npu_plugin.backend.readers.base import Rows, parquet, scalar
from tb_npu_plugin.backend.readers.db_file import Database
from tb_npu_plugin.backend.readers.db_load import id_, instant, integer, load
from tb_npu_plugin.backend.readers.db_strings import OPERATOR
from tb_npu_plugin.backend.schema import STEPS, is_communication

_MARKER = r"^ProfilerStep#(\d{1,18})$"


def load_steps(db: Database) -> None:
    """Tables ``host_steps`` (markers on the host) and ``step_ranges`` (their work on each device).

    Needs ``tasks``, ``calls`` and ``strings``. A device's range goes from the first task that a
    call inside the marker launched to the end of the last, but at least to the marker's
    end; where nothing was launched it is the marker itself.
    """
    con = db.source.con
    load(db, "host_steps", "STEP_TIME",
         {"step": integer("id"), "start": instant("startNs"), "end": instant("endNs")},
         'step >= 0 AND "end" >= start')  # fmt: skip
    if not scalar(con, "SELECT count(*) FROM host_steps"):
        _steps_from_operators(db)
    if not scalar(con, "SELECT count(*) FROM host_steps"):
        db.note("db-steps-missing", "STEP_TIME", table="STEP_TIME", gives="steps")
    launches = (
        "SELECT a.connection, s.step FROM calls a "
        'ASOF JOIN host_steps s ON a.start >= s.start WHERE a."end" <= s."end"'
    )
    con.execute(
        "CREATE OR REPLACE TEMP TABLE step_ranges AS WITH launches AS "
        f"({launches}), work AS (SELECT l.step, t.device, min(t.start) AS low, "
        'max(t."end") AS high FROM tasks t JOIN launches l USING (connection) GROUP BY ALL), '
        "ranges AS (SELECT s.step, d.device, "
        "coalesce(w.low, s.start) AS low, "
        'greatest(coalesce(w.high, s."end"), s."end") AS high '
        "FROM host_steps s CROSS JOIN (SELECT DISTINCT device FROM tasks) d "
        "LEFT JOIN work w ON w.step = s.step AND w.device IS NOT DISTINCT FROM d.device) "
        "SELECT *, max(high) OVER (PARTITION BY device ORDER BY low, step "
        "ROWS UNBOUNDED PRECEDING) AS reach FROM ranges"
    )
    # A range that ends before an earlier one does is never the first to hold a kernel.
    con.execute(
        "DELETE FROM step_ranges WHERE high < reach OR rowid NOT IN (SELECT min(rowid) "
        "FROM step_ranges GROUP BY device, reach)"
    )


def _steps_from_operators(db: Database) -> None:
    """Markers as the host operators they are, where STEP_TIME is not there."""
    found = load(
        db, "markers", "PYTORCH_API",
        {"name": id_("name"), "start": instant("startNs"), "end": instant("endNs"),
         "type": id_("type")},
        f"type = {OPERATOR} AND name IN (SELECT id FROM strings WHERE value LIKE 'ProfilerStep#%')",
    ) if db.has("PYTORCH_API") else None  # fmt: skip
    if found:
        db.source.con.execute(
            f"INSERT INTO host_steps SELECT CAST(regexp_extract(s.value, '{_MARKER}', 1) AS BIGINT), "
            'm.start, m."end" FROM markers m JOIN strings s ON s.id = m.name '
            f"WHERE regexp_matches(s.value, '{_MARKER}') AND m.\"end\" >= m.start"
        )
        db.source.con.execute("DROP TABLE markers")


def with_step(rows: str) -> str:
    """SQL of ``rows`` (with ``device`` and ``start``) and ``step``: the first whose range holds
    the start."""
    return (
        f"SELECT r.*, CASE WHEN s.low <= r.start THEN s.step END AS step FROM ({rows}) r "
        "ASOF LEFT JOIN step_ranges s ON coalesce(r.device, -1) = coalesce(s.device, -1) "
        "AND r.start <= s.reach"
    )


def recomputed(db: Database, kernels: str) -> Iterator[Rows]:
    """Yield ``steps`` from the finished table of kernels (its path). Needs ``host_begin``.

    Computing is the union of the kernels, communication that of the operations; what the two
    together leave of the time from the first to the last is free. Without markers there is one
    row per device, with step NULL.
    """
    con = db.source.con
    if not scalar(con, f"SELECT count(*) FROM {parquet(kernels)} WHERE start_ns IS NOT NULL"):
        return
    marked = scalar(con, f"SELECT count(step) FROM {parquet(kernels)}")
    where = "step IS NOT NULL" if marked else "TRUE"
    work = (
        "SELECT device, step, start_ns AS a, start_ns + CAST(dur_ns AS BIGINT) AS b, name, "
        f"coalesce({is_communication('core')}, FALSE) AS comm FROM {parquet(kernels)} "
        f"WHERE start_ns IS NOT NULL AND dur_ns >= 0 AND {where}"
    )
    unions = "SELECT part, device, step, sum(greatest(0, b - greatest(a, reach))) AS ns FROM (" + (
        "SELECT part, device, step, a, b, coalesce(max(b) OVER (PARTITION BY part, device, step "
        "ORDER BY a, b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), a) AS reach FROM ("
        "SELECT 'all' AS part, device, step, a, b FROM work UNION ALL "
        "SELECT 'computing', device, step, a, b FROM work WHERE NOT comm UNION ALL "
        "SELECT 'communication', device, step, a, b FROM work WHERE comm)) GROUP BY ALL"
    )
    whole = (
        "SELECT device, step, min(a) AS first, max(b) AS last, coalesce(sum(b - a) "
        "FILTER (comm AND regexp_matches(lower(name), '^hcom_receive')), 0) AS bubble "
        "FROM work GROUP BY ALL"
    )

    def part(name: str) -> str:
        return f"coalesce(any_value(u.ns) FILTER (u.part = '{name}'), 0)"

    begin = "any_value(r.start)" if marked else "(SELECT min(start) FROM host_begin)"
    computing, communication, both = part("computing"), part("communication"), part("all")
    columns = {
        "step": "w.step", "device": "w.device", "computing_ns": computing,
        "communication_not_overlapped_ns": f"{both} - {computing}",
        "overlapped_ns": f"{communication} - ({both} - {computing})",
        "communication_ns": communication,
        "free_ns": f"any_value(w.last - w.first) - {both}",
        "stage_ns": "any_value(w.last - w.first - w.bubble)", "bubble_ns": "any_value(w.bubble)",
        "communication_exclude_receive_ns":
            f"greatest({both} - {computing} - any_value(w.bubble), 0)",
        "preparing_ns": f"CASE WHEN any_value(w.first) >= {begin} "
                        f"THEN any_value(w.first) - {begin} END",
    }  # fmt: skip
    items = ", ".join(f"CAST({columns[f.key]} AS {f.dtype}) AS {f.key}" for f in STEPS.fields)
    yield Rows("steps", lambda: (
        f"WITH work AS ({work}), unions AS ({unions}), whole AS ({whole}) "
        f"SELECT {items} FROM whole w JOIN unions u ON u.step IS NOT DISTINCT FROM w.step "
        "AND u.device IS NOT DISTINCT FROM w.device "
        "LEFT JOIN host_steps r ON r.step = w.step "
        "GROUP BY w.step, w.device ORDER BY w.step, w.device"
    ))  # fmt: skip
    if marked:
        db.note("steps-recomputed", None, gives="steps")
