"""Text and database of one recording, read and held against each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from small_captures import OUTPUT, Read, read_file

TEXT = {
    "kernels": "kernel_details.csv",
    "steps": "step_trace_time.csv",
    "operators": "operator_details.csv",
    "operator_nested": "operator_details.csv",
    "op_statistics": "op_statistic.csv",
    "api_statistics": "api_statistic.csv",
    "memory_points": "memory_record.csv",
    "memory_curve": "memory_record.csv",
    "memory_blocks": "operator_memory.csv",
    "module_memory": "npu_module_mem.csv",
    "comm_ops": "communication.json",
    "comm_links": "communication.json",
    "comm_packets": "communication.json",
    "comm_matrix": "communication_matrix.json",
}
#: Order of rows where the two forms have different ones (no view shows either).
KEYS = {
    "op_statistics": ["type", "core", "device"],
    "api_statistics": ["level", "name"],
    "module_memory": ["component", "time_ns"],
    "comm_links": ["step", "name", "link"],
    "comm_packets": ["step", "name", "link", "packet_bytes"],
    "comm_matrix": ["step", "key", "comm_group", "src", "dst"],
}
#: Half of the third decimal of a µs, to which text is rounded.
ROUNDED_NS = 0.5 + 1e-6
#: What databases do not have, or (of host calls) is no device.
TEXT_ONLY = {
    ("kernels", "op_state"), ("kernels", "hf32"), ("kernels", "cube_utilization_ratio"),
    ("api_statistics", "device"), ("module_memory", "x_device_id"),
}  # fmt: skip
#: What text does not have at Level0.
NOT_IN_SHORT_TEXT = ("stream", "task", "context", "mix_blocks")


def text_tables(capture: Path, cache: Path) -> dict[str, pd.DataFrame]:
    """Every table of the text files."""
    files: dict[str, Read] = {}
    for name in TEXT.values():
        path = capture / OUTPUT / name
        if name not in files and path.exists():
            files[name] = read_file(path, cache)
            assert files[name].error is None, files[name].error
    return {
        table: files[name].tables[table]
        for table, name in TEXT.items()
        if name in files and table in files[name].tables
    }


def database_tables(
    capture: Path, cache: Path, *, derived: bool = False
) -> dict[str, pd.DataFrame]:
    """Every table of the databases; with ``derived`` those that analysis.db has, too, worked out."""
    tables: dict[str, pd.DataFrame] = {}
    for path in sorted((capture / OUTPUT).glob("*.db")):
        read = read_file(path, cache)
        assert read.error is None, read.error
        for name, frame in read.tables.items():
            if name not in tables or (path.name != "analysis.db") == derived:
                tables[name] = frame
    return tables


def differences(table: str, text: pd.DataFrame, base: pd.DataFrame) -> list[str]:
    """What differs beyond the rounding of the text format; nothing if the forms agree."""
    if table == "comm_links":  # databases have no rows for links that moved nothing
        text = text[text["size_bytes"] > 0]
    if table == "kernels":
        base = base.drop(columns=[c for c in base if c not in text])
    if len(text) != len(base):
        return [f"{table}: {len(text)} rows of text, {len(base)} of the database"]
    keys = KEYS.get(table)
    if keys:
        text, base = text.sort_values(keys), base.sort_values(keys)
    text, base = text.reset_index(drop=True), base.reset_index(drop=True)
    found = []
    for column in text.columns:
        absent = base.get(column, pd.Series(dtype=object)).isna().all()
        if (table, column) in TEXT_ONLY and absent:
            continue
        if column in (*NOT_IN_SHORT_TEXT, "device") and text[column].isna().all():
            continue
        if column not in base:
            found.append(f"{table}.{column}: not in the database")
            continue
        wrong = ~_same(column, text[column], base[column])
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            found.append(
                f"{table}.{column}: {int(wrong.sum())} of {len(text)} rows, e.g. row {at}: "
                f"{text[column][at]!r} as text, {base[column][at]!r} in the database"
            )
    return found


def _same(column: str, text: pd.Series, base: pd.Series) -> np.ndarray:
    neither = text.isna().to_numpy() & base.isna().to_numpy()
    if text.dtype == object or str(text.dtype).startswith("str"):
        return neither | (text.astype(object) == base.astype(object)).to_numpy(dtype=bool)
    a = text.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    b = base.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    if column.endswith("_ns") and pd.api.types.is_integer_dtype(text.dtype):
        exact = text.astype("Int64") == base.astype("Int64")
        return neither | exact.fillna(False).to_numpy(dtype=bool)
    slack = {"ratio": 0.5e-3 + 1e-9, "rate": 0.5e-3 + 1e-9, "us2": 0.5e-3 + 1e-6}.get(
        column.rsplit("_", 1)[-1], ROUNDED_NS
    )
    if column == "total_ratio":  # percent with three decimals
        slack = 0.5e-5 + 1e-9
    return neither | (np.abs(a - b) <= slack + 1e-9 * np.abs(a))
