"""Every file of the selected captures with its reader, rows and state; the profiler's settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.listed import listed
from tb_npu_plugin.backend.schema.fields import DType
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, TableRequest, empty_table, page
from tb_npu_plugin.backend.views.other_files import file_query, other_files
from tb_npu_plugin.backend.wording import printable

GROUPS: tuple[str, ...] = ("",)
#: ``file``: show the rows of this file, which no other view is made of.
OPTIONS = ("file",)
_COLUMNS: dict[str, DType] = {
    "rank": "BIGINT", "capture": "VARCHAR", "name": "VARCHAR", "size_bytes": "BIGINT",
    "reader": "VARCHAR", "rows": "BIGINT", "state": "VARCHAR",
}  # fmt: skip


def files(sel: Selected, request: TableRequest) -> results.Files:
    """The file table, or that of one file; the settings of the first selected capture."""
    query = files_query(sel)
    table = page(sel.store, query, request) if query else empty_table(())
    return results.Files(
        table, settings(sel.captures[0], sel), sel.options.get("file", ""), other_files(sel)
    )


def files_query(sel: Selected, _group: str = "") -> Query | None:
    """The table of files, or of the file that option ``file`` names; None while that is read."""
    return file_query(sel, sel.options["file"]) if sel.options.get("file") else _list_query(sel)


def _list_query(sel: Selected) -> Query:
    source = listed(_COLUMNS, _cells(sel))
    w = sel.word
    columns = [
        Col("name", "name", w("File", "文件"), "name"),
        Col("rank", "rank", "Rank", "rank"),
        Col("capture", "text", w("Capture", "采集"), "capture"),
        Col("size_bytes", "bytes", w("Size", "大小"), "size_bytes"),
        Col("rows", "int", w("Rows", "行数"), "rows"),
        Col("reader", "text", w("Read as", "读取为"), "reader"),
        Col("state", "text", w("State", "状态"), "state"),
    ]
    return Query(source, columns, "name", "rank,name")


def _cells(
    sel: Selected,
) -> Iterator[tuple[int | None, str, str, int, str | None, int | None, str]]:
    words = {
        "waiting": sel.word("read when a view asks", "需要时读取"),
        "queued": sel.word("queued", "排队中"),
        "running": sel.word("reading", "读取中"),
        "ready": sel.word("read", "已读取"),
        "failed": sel.word("not readable, see Health", "无法读取，见“数据质量”"),
    }
    for capture in sel.captures:
        states = {s.source.rel: s for s in sel.store.files(capture.capture_id) if not s.origin}
        for source in capture.files:
            state = states.get(source.rel)
            known = source.name in capture.info.files
            read = state and (state.state == "ready" or state.stored)
            rows = max(state.rows.values(), default=0) if state and read else None
            word = words["ready"] if known or read else sel.word("not read", "不读取")
            if state and not read:
                left_out = any(note.code == "not-in-store" for note in state.notes)
                word = (
                    sel.word("not in the store", "不在存储中") if left_out else words[state.state]
                )
            for piece in source.whole:
                yield (
                    capture.rank, capture.name, piece.rel, piece.size,
                    state.reader if state else ("profiler_info" if known else None),
                    rows if piece is source else None,
                    word,
                )  # fmt: skip


def settings(capture: Capture, sel: Selected) -> list[results.Fact]:
    """The profiler's configuration and metadata, flattened to ``a.b.c`` keys."""
    facts: list[results.Fact] = []
    if capture.store:
        note = sel.word("the raw files are not in this logdir", "原始文件不在此 logdir 中")
        facts.append(results.Fact("store", sel.word("Shown from the store", "数据来自存储"),
                                  printable(capture.store), note))  # fmt: skip

    def add(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                add(f"{prefix}.{key}" if prefix else str(key), inner)
        else:
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            label = prefix.removeprefix("common_config.").removeprefix("experimental_config.")
            facts.append(results.Fact(prefix, label.removeprefix("_"),
                                      "–" if value in (None, "") else shown[:2000]))  # fmt: skip

    add("", capture.info.config)
    add("", capture.info.metadata)
    return facts
