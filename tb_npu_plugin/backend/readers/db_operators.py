"""Framework operators of a database: PYTORCH_API, nested by time, with what each launched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tb_npu_plugin.backend.readers.arrays import register, unregister
from tb_npu_plugin.backend.readers.base import Rows, scalar
from tb_npu_plugin.backend.readers.db_file import BROKEN, Database
from tb_npu_plugin.backend.readers.db_load import (
    Want,
    arrays,
    batches,
    forget,
    id_,
    instant,
    integer,
    load,
    text,
)
from tb_npu_plugin.backend.readers.db_nesting import nested
from tb_npu_plugin.backend.readers.db_strings import OPERATOR, is_types, name, remember
from tb_npu_plugin.backend.schema import OPERATORS

_OPERATOR = {
    "start": instant("startNs"), "end": instant("endNs"), "thread": id_("globalTid"),
    "connection": id_("connectionId"), "name": id_("name"), "shapes": id_("inputShapes"),
    "dtypes": id_("inputDtypes"), "chain": id_("callchainId"), "type": id_("type"),
}  # fmt: skip


def operators(db: Database) -> Iterator[Rows]:
    """Yield ``operators`` and ``operator_nested``, by start. Needs ``launched`` and ``calls``.

    Device times are those of kernels and communication operations whose launch the operator (self)
    or one inside it (total) is linked to; copies are not linked in databases. Leaves table
    ``host_begin(start)``: the first operator's.
    """
    con = db.source.con
    con.execute("CREATE OR REPLACE TEMP TABLE host_begin (start BIGINT)")
    if not db.has("PYTORCH_API"):
        db.note("db-operators-missing", "PYTORCH_API", table="PYTORCH_API", gives="operators")
        return
    strings = con.execute(
        f"SELECT id, value LIKE 'ProfilerStep#%' AS marks, {is_types('value')} AS types "
        "FROM strings ORDER BY id"
    ).fetchnumpy()
    rows = _sorted(arrays(db, "PYTORCH_API", _OPERATOR, ("type", OPERATOR)),
                   strings["id"][strings["marks"]])  # fmt: skip
    if not len(rows["start"]):
        return
    con.execute(f"INSERT INTO host_begin VALUES ({int(rows['start'][0])})")
    _put_right(rows, strings["id"][strings["types"]])
    device, aicore = _launched(db, rows.pop("connection"))
    shown = {
        "name": _places(rows["name"], strings["id"]),
        "shapes": _places(rows.pop("shapes"), strings["id"]),
        "stack": _stacks(db, rows.pop("chain")), "device": device, "aicore": aicore,
    }  # fmt: skip
    times = nested(**rows, device=device, aicore=aicore)
    rows.clear()
    shown |= {
        "host_self": times.host_self, "host_total": times.host_total,
        "device_total": times.device, "aicore_total": times.aicore,
    }  # fmt: skip
    register(con, "operator_arrays", shown)
    yield Rows("operators", _operators_sql)
    forget(con, "operator_arrays")
    register(con, "nested_rows", {"nested_row": np.flatnonzero(times.same_name).astype(np.int64)})
    yield Rows("operator_nested", lambda: "SELECT * FROM nested_rows")
    forget(con, "nested_rows")


def _sorted(rows: dict[str, Any], markers: Any) -> dict[str, Any]:
    """The operators in order of start, without step markers and what has no times."""
    rows.pop("type")
    start, end = rows["start"], rows["end"]
    keep = np.flatnonzero((start >= 0) & (end >= start) & ~np.isin(rows["name"], markers))
    keep = keep[np.lexsort((-end[keep], start[keep]))]
    return {key: values[keep] for key, values in rows.items()}


def _put_right(rows: dict[str, Any], types: Any) -> None:
    """Drop ``dtypes``; what stands there is the shapes where a writer has exchanged the columns.

    torch_npu of 2025 did, by the names of the columns. ``types``: ids of texts that name types.
    """
    dtypes = rows.pop("dtypes")
    if np.isin(rows["shapes"], types).sum() > np.isin(dtypes, types).sum():
        rows["shapes"] = dtypes


def _places(ids: Any, known: Any) -> Any:
    """The place of each id in ``known`` (sorted), from 1; 0 where it is not there."""
    if not len(known):
        return np.zeros(len(ids), dtype=np.int32)
    at = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return np.where(known[at] == ids, at + 1, 0).astype(np.int32)


def _operators_sql() -> str:
    values = {
        "name": f"coalesce({name('name')}, '?')",
        "input_shapes": f"nullif(rtrim(regexp_replace({name('shapes')}, ';\\s*', ';', 'g'), ';'), '')",
        "stack": f"nullif({name('stack', 'stack_texts')}, '')",
        "host_self_ns": "host_self", "host_total_ns": "host_total",
        "device_self_ns": "device", "device_total_ns": "device_total",
        "aicore_self_ns": "aicore", "aicore_total_ns": "aicore_total",
    }  # fmt: skip
    items = ", ".join(f"{values[f.key]} AS {f.key}" for f in OPERATORS.fields)
    return f"SELECT {items} FROM operator_arrays"


def _launched(db: Database, connections: Any) -> tuple[Any, Any]:
    """Device times by the connection ids of operators. An id may coincide with one of CANN's by
    chance: only those count that CANN_API has."""
    con = db.source.con
    known = ""
    if scalar(con, "SELECT count(*) FROM calls"):
        known = "WHERE connection IN (SELECT connection FROM calls)"
    found = con.execute(f"SELECT * FROM launched {known} ORDER BY connection").fetchnumpy()
    links = arrays(db, "CONNECTION_IDS", {"id": id_("id"), "connection": id_("connectionId")})
    place = _places(links["connection"], found["connection"])
    linked = (place > 0) & (links["id"] >= 0)
    pairs = np.unique(np.stack([links["id"], place])[:, linked], axis=1)
    ids, first = np.unique(pairs[0], return_index=True)
    out = []
    for key in ("device_ns", "aicore_ns"):
        sums = np.zeros(len(ids) + 1)
        if len(ids):
            sums[1:] = np.add.reduceat(found[key][pairs[1] - 1], first)
        out.append(sums[_places(connections, ids)])
    return out[0], out[1]


def _stacks(db: Database, chains: Any) -> Any:
    """The place of each chain's text in the list ``stack_texts``: the same stack recurs in every
    step under another id, and its text is made once."""
    con = db.source.con
    table = db.table("PYTORCH_CALLCHAINS")
    # The first databases hold the frames themselves instead of their ids.
    frame = text("stack") if table and _is_text(db, table.name) else id_("stack")
    columns: dict[str, Want] = {"id": id_("id"), "stack": frame, "depth": integer("stackDepth")}
    con.execute("CREATE OR REPLACE TEMP TABLE chain_parts (id BIGINT, key HUGEINT)")
    if table and all(table.column(w.names) for w in columns.values()):
        for batch in batches(db, table, columns):
            register(con, "batch", batch)
            con.execute(
                "INSERT INTO chain_parts SELECT id, sum(hash(stack, depth)) FROM batch GROUP BY id"
            )
            unregister(con, "batch")
    register(con, "wanted", {"id": np.unique(chains)})
    con.execute(
        "CREATE OR REPLACE TEMP TABLE chain_keys AS SELECT id, sum(key) AS key FROM chain_parts "
        "WHERE id IN (SELECT id FROM wanted) GROUP BY id; DROP TABLE chain_parts; "
        "CREATE OR REPLACE TEMP TABLE stacks AS SELECT key, min(id) AS id, row_number() OVER () "
        "AS nth FROM chain_keys GROUP BY key"
    )
    forget(con, "wanted")
    found = table is not None and scalar(con, "SELECT count(*) FROM stacks") > 0
    load(db, "frames", table.name if found and table else (), columns,
         "id IN (SELECT id FROM stacks)")  # fmt: skip
    value = "f.stack" if frame.kind == "text" else "s.value"
    join = "" if frame.kind == "text" else "LEFT JOIN strings s ON s.id = f.stack"
    remember(
        db, "stack_texts",
        f"SELECT k.nth AS place, coalesce(string_agg({value}, chr(10) ORDER BY f.depth), '') "
        f"AS text FROM stacks k LEFT JOIN frames f USING (id) {join} GROUP BY k.nth",
    )  # fmt: skip
    known = con.execute(
        "SELECT c.id, CAST(s.nth AS INTEGER) AS nth FROM chain_keys c JOIN stacks s USING (key) "
        "ORDER BY c.id"
    ).fetchnumpy()
    con.execute("DROP TABLE frames; DROP TABLE chain_keys; DROP TABLE stacks")
    return np.append(0, known["nth"])[_places(chains, known["id"])].astype(np.int32)


def _is_text(db: Database, table: str) -> bool:
    try:
        row = db.connection.execute(f'SELECT typeof(stack) FROM "{table}" LIMIT 1').fetchone()
    except BROKEN:  # damaged: the ids are read page by page
        return False
    return bool(row and row[0] == "text")
