"""Search over the slices of whole captures: by name, by expression, by arguments."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache

import duckdb
import numpy as np

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.readers.base import parquet
from tb_npu_plugin.backend.slice_index import Ints, open_index
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.timeline.files import TraceFile

ARGS = "args:"


def matching_rows(file: TraceFile, find: str) -> Ints:
    """Rows of the slices that ``find`` matches, in the file's order.

    ``text``: part of the name in any case. ``=text``: the whole name. ``/regex/``: RE2, any case.
    ``args:text``: part of the arguments. Raises RequestError 400 for a bad expression.
    """
    return _rows(file.store, str(file.paths["slices"]), find)


@lru_cache(maxsize=32)
def _rows(store: Store, path: str, find: str) -> Ints:
    if not find.startswith("="):
        find = find.strip()
    if not find or find == "=":
        return np.zeros(0, dtype=np.int64)
    if find.startswith(ARGS):
        with closing(store.cursor()) as cursor:
            found = cursor.execute(
                f"SELECT file_row_number FROM {parquet(path)} "
                "WHERE contains(lower(args), lower(?)) ORDER BY 1",
                [find.removeprefix(ARGS).strip()],
            ).fetchnumpy()
        return np.asarray(found["file_row_number"], dtype=np.int64)
    index = open_index(path)
    wanted = np.array(_names(store, index.names, find), dtype=bool)
    return np.flatnonzero(wanted[index.codes]) if wanted.any() else np.zeros(0, dtype=np.int64)


def _names(store: Store, names: list[str], find: str) -> list[bool]:
    if find.startswith("="):
        return [name == find[1:] for name in names]
    if not (len(find) > 2 and find.startswith("/") and find.endswith("/")):
        low = find.lower()
        return [low in name.lower() for name in names]
    with closing(store.cursor()) as cursor:
        try:
            rows = cursor.execute(
                "SELECT regexp_matches(name, ?, 'i') FROM (SELECT unnest(?) AS name)",
                [find[1:-1], names],
            ).fetchall()
        except duckdb.Error as error:
            text = str(error).split("\n", 1)[0]
            raise RequestError(400, "bad-regex", text, "Between slashes stands an expression "
                               "of RE2; without them it is plain text.") from None  # fmt: skip
    return [bool(row[0]) for row in rows]
