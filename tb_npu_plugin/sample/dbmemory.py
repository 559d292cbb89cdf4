"""Memory tables of a database, from the rows of the text files: their decimals are exact."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .dbfile import MEMORY, Database

APP = "APP"


def add_memory(db: Database, folder: Path, device: int) -> None:
    """MEMORY_RECORD, NPU_MEM, OP_MEMORY and NPU_MODULE_MEM of what lies in folder."""
    app, record = [], []
    for row in _rows(folder / "memory_record.csv"):
        time, reserved = _ns(row["Timestamp(us)"]), _bytes(row["Total Reserved(MB)"], 20)
        if row["Component"] == APP:
            app.append((db.name("app"), 0, reserved, time, device))
            continue
        record.append(
            (db.name(row["Component"], MEMORY), time, _bytes(row["Total Allocated(MB)"], 20),
             reserved, _bytes(row["Total Active(MB)"], 20), _int(row["Stream Ptr"]), device)
        )  # fmt: skip
    db.add("MEMORY_RECORD", record)
    db.add("NPU_MEM", app)
    totals = [f"{when} Total {what}(MB)" for when in ("Allocation", "Release")
              for what in ("Allocated", "Reserved", "Active")]  # fmt: skip
    db.add("OP_MEMORY", (
        (
            db.name(row["Name"].removeprefix("cann::"), MEMORY), _bytes(row["Size(KB)"], 10),
            *(_ns(row[key]) for key in ("Allocation Time(us)", "Release Time(us)",
                                        "Active Release Time(us)", "Duration(us)",
                                        "Active Duration(us)")),
            *(_bytes(row[key], 20) for key in totals), _int(row["Stream Ptr"]), device,
        )
        for row in _rows(folder / "operator_memory.csv")
    ))  # fmt: skip
    modules: dict[str, int] = {}
    db.add("NPU_MODULE_MEM", [
        (modules.setdefault(row["Component"], len(modules)), _ns(row["Timestamp(us)"]),
         _bytes(row["Total Reserved(MB)"], 20), device)
        for row in _rows(folder / "npu_module_mem.csv")
    ])  # fmt: skip
    db.add("ENUM_MODULE", [(number, name) for name, number in modules.items()])


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)


def _ns(text: str) -> int | None:
    """µs with three decimals (or a float's shortest form) as ns."""
    whole, _, part = text.strip().partition(".")
    return int(whole) * 1000 + int(part.ljust(3, "0")) if whole else None


def _bytes(text: str, shift: int) -> int | None:
    return round(float(text) * (1 << shift)) if text.strip() else None


def _int(text: str) -> int | None:
    return int(text) if text.strip() else None
