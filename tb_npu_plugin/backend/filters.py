"""The filter grammar shared by page, API and CLI, compiled to SQL with bound parameters.

Terms joined by spaces, all must hold: ``text``, ``/regex/`` (RE2), ``col=value``, ``col!=value``,
``col>100us``, ``col<=4KiB``, ``col>25%``; double quotes for values with spaces.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.results import Kind

_COMPARISON = re.compile(r"([A-Za-z_][\w.]*)(!=|<=|>=|=|<|>)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NUMBER = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\d\s].*)?$")
_UNITS: dict[str, dict[str, float]] = {
    "duration": {"": 1, "ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9},
    "bytes": {"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9,
              "kib": 2**10, "mib": 2**20, "gib": 2**30},
    "rate": {"": 1, "b/s": 1, "kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9},
    "ratio": {"": 1, "%": 0.01},
    "frequency": {"": 1, "mhz": 1, "ghz": 1e3},
}  # fmt: skip
_UNITS["time"] = _UNITS["duration"]
_TEXT_KINDS = ("text", "name", "core", "shape")
_UNKNOWN = ("", "-", "–", "unknown", "none", "null")
#: Everyday words for the vendor's core names.
CORES = {
    "cube": ("AI_CORE", "MIX_AIC"),
    "vector": ("AI_VECTOR_CORE", "MIX_AIV"),
    "mix": ("MIX_AIC", "MIX_AIV"),
    "aicpu": ("AI_CPU",),
    "communication": ("HCCL", "COMMUNICATION"),
    "hccl": ("HCCL", "COMMUNICATION"),
}


@dataclass(frozen=True)
class Column:
    """What a filter may name: ``sql`` is its expression, ``aggregate`` puts it into HAVING."""

    key: str
    kind: Kind
    sql: str
    aggregate: bool = False
    base_ns: int = 0


@dataclass
class Compiled:
    """SQL predicates (``TRUE`` if none) and their parameters, in order."""

    where: str
    where_params: list[Any]
    having: str
    having_params: list[Any]


def compile_filter(
    text: str,
    columns: Mapping[str, Column],
    name: Column,
    check_regex: Callable[[str], str | None] = lambda _p: None,
) -> Compiled:
    """Compile ``text``. ``name``: the column that bare words search.

    ``check_regex`` returns what is wrong with a pattern, or None. Raises RequestError 400 with the
    position of the character at fault.
    """
    where: list[tuple[str, list[Any]]] = []
    having: list[tuple[str, list[Any]]] = []

    def add(column: Column, predicate: tuple[str, list[Any]]) -> None:
        (having if column.aggregate else where).append(predicate)

    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        comparison = _COMPARISON.match(text, at)
        if text[at] == "/" and (end := _regex_end(text, at)) is not None:
            pattern = text[at + 1 : end]
            problem = check_regex(pattern)
            if problem:
                raise _bad(f"Not a regular expression (RE2): {problem}", at + 1)
            add(name, (f"regexp_matches({_text_sql(name)}, ?, 'i')", [pattern]))
            at = end + 1
        elif comparison:
            column = _column(comparison.group(1), columns, comparison.start())
            value_at = comparison.end()
            value, at = _word(text, value_at)
            add(column, _compare(column, comparison.group(2), value, value_at))
        else:
            word, at = _word(text, at)
            add(name, (f"contains(lower({_text_sql(name)}), lower(?))", [word]))
    return Compiled(*_join(where), *_join(having))


def _text_sql(column: Column) -> str:
    """The column as text; the one that bare words search may hold numbers (steps, streams)."""
    return f"CAST({column.sql} AS VARCHAR)"


def _join(terms: list[tuple[str, list[Any]]]) -> tuple[str, list[Any]]:
    if not terms:
        return "TRUE", []
    return " AND ".join(f"({sql})" for sql, _ in terms), [p for _, ps in terms for p in ps]


def _regex_end(text: str, at: int) -> int | None:
    """Index of the closing ``/`` if it ends a word; a lone ``/`` is part of a name."""
    end = at + 1
    while (end := text.find("/", end)) != -1:
        if end > at + 1 and (end + 1 == len(text) or text[end + 1].isspace()):
            return end
        end += 1
    return None


def _word(text: str, at: int) -> tuple[str, int]:
    if at < len(text) and text[at] == '"':
        quoted = _QUOTED.match(text, at)
        if not quoted:
            raise _bad("The quote is not closed.", at)
        return re.sub(r"\\([\"\\])", r"\1", quoted.group(1)), quoted.end()
    end = at
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[at:end], end


def _column(word: str, columns: Mapping[str, Column], at: int) -> Column:
    key = word.lower()
    if key in columns:
        return columns[key]
    for suffix in ("_ns", "_ratio", "_bytes", "_bytes_per_s", "_mhz"):
        if key + suffix in columns:
            return columns[key + suffix]
    close = difflib.get_close_matches(key, columns, 1, 0.5)
    hint = f"Did you mean {close[0]}?" if close else f"Columns: {', '.join(sorted(columns)[:12])} …"
    raise _bad(f"There is no column {word!r} here.", at, hint)


def _compare(column: Column, op: str, value: str, at: int) -> tuple[str, list[Any]]:
    if value.lower() in _UNKNOWN and op in ("=", "!="):
        return f"{column.sql} IS {'NOT ' if op == '!=' else ''}NULL", []
    if column.kind in _TEXT_KINDS:
        if op not in ("=", "!="):
            raise _bad(f"{column.key} is text: use = or !=.", at - len(op))
        if column.kind == "core" and value.lower() in CORES:
            names = CORES[value.lower()]
            test = f"coalesce(upper({column.sql}) IN ({', '.join('?' * len(names))}), FALSE)"
            return (test if op == "=" else f"NOT {test}"), list(names)
        test = f"lower({_text_sql(column)}) IS {'NOT ' if op == '=' else ''}DISTINCT FROM lower(?)"
        return test, [value]
    number = _number(column, value, at) + column.base_ns
    if op == "!=":
        return f"{column.sql} IS DISTINCT FROM ?", [number]
    return f"{column.sql} {op} ?", [number]


def _number(column: Column, value: str, at: int) -> float | int:
    match = _NUMBER.match(value)
    if not match:
        raise _bad(f"{column.key} needs a number, not {value!r}.", at)
    units = _UNITS.get(column.kind, {"": 1})
    unit = (match.group(2) or "").lower()
    if unit not in units:
        known = ", ".join(u for u in units if u) or "no unit"
        raise _bad(f"{column.key} has no unit {match.group(2)!r}.", at + match.start(2),
                   f"Units: {known}")  # fmt: skip
    number = float(match.group(1)) * units[unit]
    if units[unit] != 1 and math.isfinite(number):
        number = round(number, 6)  # as the readers do, so that dur=50.621us finds 50621 ns
    return int(number) if number.is_integer() and abs(number) < 2**63 else number


def _bad(message: str, position: int, hint: str = "") -> RequestError:
    return RequestError(400, "bad-filter", message, hint, position)
