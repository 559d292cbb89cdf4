"""What every view can show of the selected captures, and why not where it cannot."""

from __future__ import annotations

from dataclasses import dataclass

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.file_state import FileState
from tb_npu_plugin.backend.finding_kinds import KINDS
from tb_npu_plugin.backend.findings import OF_RANK, Note, render
from tb_npu_plugin.backend.readers.csv_file import ident
from tb_npu_plugin.backend.schema import is_communication
from tb_npu_plugin.backend.schema.parts import COUNTER, PARTS, TEXT, Need, Part, Words, recording
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.kernel import stored_counter
from tb_npu_plugin.backend.wording import printable

#: Codes of a whole capture for which none of its views can be there.
_BLOCKING = ("permission-denied", "interrupted", "recording-failed", "raw-only")
#: Codes of a file after which a part of its tables is not there.
_LIMITING = (
    "trace-truncated", "trace-unclosed", "trace-host-only", "trace-empty", "trace-object-skipped",
    "file-cut", "pack-cut", "rows-rejected", "json-cut", "json-members-broken", "database-cut",
    "database-damaged", "db-kernel-names-missing", "db-strings-missing", "column-missing",
    "db-steps-missing", "mindspore-database", "steps-unmarked", "spreadsheet-times", "memory-times-rounded",
)  # fmt: skip
_EMPTY = ("kernels-empty", "memory-empty", "communication-empty", "trace-empty")
#: Stands among the filled columns of kernels where some are communication operations.
COMMUNICATES = "communication"
_TABLES = sorted({p.table for p in PARTS} - {"slices"})
_ORDER: tuple[results.CapabilityStatus, ...] = (
    "missing",
    "partial",
    "reading",
    "available",
    "none",
)


@dataclass(frozen=True)
class _Filled:
    """Rows of a table in one capture, and which of its optional columns hold anything."""

    rows: int
    columns: frozenset[str]


def capabilities(sel: Selected) -> list[results.Capability]:
    """One entry per part of a view, in the order of the views; never fails for what is missing."""
    for table in _TABLES:
        sel.parts(table)  # told as provenance
    return list(sel.once("capabilities", sel.lang, make=lambda: _capabilities(sel)))


def _capabilities(sel: Selected) -> list[results.Capability]:
    filled = {table: _filled(sel, table) for table in _TABLES}
    cases = {p.key: [_case(sel, c, p, filled) for c in sel.captures] for p in PARTS}
    overview = [_overview(*pair) for pair in zip(cases["step"], cases["kernel"], strict=True)]
    first = _capability("overview", "overview", sel.word("Overview", "概览"), overview)
    return [first, *(_capability(p.key, p.view, sel.word(*p.label), cases[p.key]) for p in PARTS)]


def _capability(
    key: str, view: str, label: str, cases: list[results.CapabilityCase]
) -> results.Capability:
    merged: dict[tuple[str, ...], results.CapabilityCase] = {}
    for case in cases:
        case.where = OF_RANK.sub("_*", case.where) if len(cases) > 1 else case.where
        known = merged.setdefault((case.status, case.where, case.reason, case.remedy), case)
        if known is not case:
            known.ranks += case.ranks
            known.capture_ids += case.capture_ids
    ordered = sorted(merged.values(), key=lambda c: _ORDER.index(c.status))
    states = {case.status for case in ordered}
    status: results.CapabilityStatus = states.pop() if len(states) == 1 else "partial"
    return results.Capability(key, view, label, status, ordered)


def _overview(
    step: results.CapabilityCase, kernel: results.CapabilityCase
) -> results.CapabilityCase:
    """The overview needs both; that kernels lack details does not touch it."""
    lacking = [c for c in (step, kernel) if c.status in ("missing", "reading")]
    if not lacking and step.status == "partial":
        lacking = [step]
    first = lacking[0] if lacking else step
    status: results.CapabilityStatus = "partial" if lacking else "available"
    if len(lacking) == 2:
        status = first.status
    return results.CapabilityCase(status, first.where, first.reason, first.remedy,
                                  list(step.ranks), list(step.capture_ids))  # fmt: skip


def _case(
    sel: Selected, capture: Capture, part: Part, filled: dict[str, dict[str, _Filled]]
) -> results.CapabilityCase:
    def case(
        status: results.CapabilityStatus, where: str, reason: str = "", remedy: str = ""
    ) -> results.CapabilityCase:
        return results.CapabilityCase(
            status, where, reason, remedy, [capture.rank], [capture.capture_id]
        )

    files = sel.files(part.table).get(capture.capture_id)
    if not files:
        pending = sel.store.sources([capture], [part.table], sel.prefer)
        if pending:
            # A big trace is read when it is opened: it is there.
            waiting = all(s.lazy and s.state == "waiting" for s in pending)
            if not all(s.lacks(part.table) for s in pending):
                return case("available" if waiting else "reading", pending[0].source.rel)
        where = _expected(capture, part)
        why = _why_missing(sel, capture, part, where, filled)
        none = part.graph and why == _only_graphs(sel, where)
        return case("none" if none else "missing", where, *why)
    states = [state for state, _ in files]
    where = ", ".join(sorted({printable(s.source.rel) for s in states}))
    there = filled.get(part.table, {}).get(capture.capture_id)
    rows = there.rows if there else sum(s.rows.get(part.table, 0) for s in states)
    if rows == 0:
        note = _note(states, _EMPTY, part.view)
        if note:
            return case("missing", where, *_words(sel, note, capture))
        where = where if states[0].kind in ("text", "torch") else _expected(capture, part)
        return case("missing", where, *_why_missing(sel, capture, part, where, filled))
    lacking = [
        (words, need) for column, words, need in part.columns
        if there and column not in there.columns
    ]  # fmt: skip
    if lacking and part.columns[0][0] == COUNTER:
        every = [(part.columns[0][1], need) for need in part.needs]
        return case("missing", where, *_without_columns(sel, capture, every))
    limit = _note(states, _LIMITING, part.view)
    if limit:
        return case("partial", where, *_words(sel, limit, capture))
    if lacking:
        return case("partial", where, *_without_columns(sel, capture, lacking))
    return case("available", where)


def _filled(sel: Selected, table: str) -> dict[str, _Filled]:
    """By capture: the rows of ``table``, and which optional columns hold a value in any of them."""
    source = sel.source(table, steps=False, devices=False)
    wanted = {c for p in PARTS if p.table == table for c, _, _ in p.columns}
    if source is None:
        return {}
    there = [r[0] for r in sel.rows(f"DESCRIBE {source}")]
    counters = [c for c in there if stored_counter(c)] if COUNTER in wanted else []
    columns = [*sorted((wanted - {COUNTER}) & set(there)), *counters]
    tests = "".join(f", bool_or({ident(c)} IS NOT NULL)" for c in columns)
    if table == "kernels":
        columns.append(COMMUNICATES)
        tests += f", bool_or({is_communication('core')})"
    sql = f"SELECT part, count(*){tests} FROM {source} GROUP BY part"
    out: dict[str, _Filled] = {}
    for part, rows, *held in sel.rows(sql):
        names = {
            COUNTER if c in counters else c for c, has in zip(columns, held, strict=True) if has
        }
        out[sel.captures[part].capture_id] = _Filled(rows, frozenset(names))
    return out


# ---- reasons --------------------------------------------------------------------------------


def _expected(capture: Capture, part: Part) -> str:
    """The file or table that would hold it in a capture of this form."""
    if any(f.name.endswith(".db") for f in capture.files) and part.database:
        return part.database
    return part.file


def _why_missing(
    sel: Selected, capture: Capture, part: Part, where: str, filled: dict[str, dict[str, _Filled]]
) -> Words:
    """Reason and remedy, from the nearest cause to the farthest."""
    w = sel.word
    if sel.store.growing(capture.capture_id):
        return _words(sel, Note("growing"), capture)
    blocking = next(
        (
            n
            for n in capture.notes
            if n.code in _BLOCKING
            or (n.code == "analysis-incomplete" and part.file in n.params["missing"])
        ),
        None,
    )
    if blocking:
        return _words(sel, blocking, capture)
    failed = [
        s for s in sel.store.files(capture.capture_id)
        if s.state == "failed" and part.table in s.provides and s.notes
    ]  # fmt: skip
    if failed:
        return _words(sel, failed[0].notes[0], capture)
    if capture.torch:
        if not part.torch:
            return (w("Traces of torch.profiler do not hold it.", "torch.profiler 的 trace 不含此内容。"),
                    w("Nothing to do: torch_npu's own profiler records it.",
                      "无需处理：torch_npu 自身的 profiler 会采集。"))  # fmt: skip
        return (w("The trace holds no events of this kind.", "trace 中没有此类事件。"),
                w("Record with the CPU's and the device's activity, and call prof.step().",
                  "采集时启用 CPU 与设备活动，并调用 prof.step()。"))  # fmt: skip
    if part.graph:
        return _only_graphs(sel, where)
    kind = w("table ", "表 ") if where == part.database else ""
    absent = w(f"There is no {kind}{where}", f"没有 {kind}{where}")
    if capture.file(where.rsplit("/", 1)[-1]):
        absent = w(f"{where} holds none", f"{where} 中没有此内容")
    unmet, unknown = _needs(capture, list(part.needs_of(capture.framework)))
    if unmet:
        off = w("; ", "；").join(sel.word(*n.off) for n in unmet)
        return w(f"{absent}: {off}.", f"{absent}：{off}。"), recording(
            [*unmet, *unknown], capture.framework
        )
    if part.database is None and any(f.name.endswith(".db") for f in capture.files):
        return (w(f"{absent}: a database export does not hold it.", f"{absent}：数据库导出不含此内容。"),
                w("Export text as well: ", "同时导出文本：")
                + recording([TEXT], capture.framework))  # fmt: skip
    if (
        part.view == "communication"
        and not (unknown and kind)
        and _no_communication(capture, filled, sel)
    ):
        return (w(f"{absent}: no communication operation ran in the recorded window.",
                  f"{absent}：采集窗口内没有通信算子。"),
                w("Nothing to do for a job of one device; else move the schedule's active steps.",
                  "单卡作业无需处理；否则请调整 schedule 的 active 步。"))  # fmt: skip
    if unknown:
        return (w(f"{absent}; the capture does not tell how it was recorded.",
                  f"{absent}；该采集未说明其采集设置。"), recording(unknown, capture.framework))  # fmt: skip
    again = capture.again
    return (w(f"{absent}, although all that it needs was switched on: nothing of the kind ran, or the "
              "analysis lost it.", f"{absent}，尽管所需选项均已启用：可能没有相应活动，或解析时丢失。"),
            w(f"Read the capture's logs/ folder, then: {again}",
              f"查看采集目录下的 logs/，然后执行：{again}"))  # fmt: skip


def _only_graphs(sel: Selected, where: str) -> Words:
    return (sel.word(f"There is no {where}: only CANN's static graphs have one.",
                     f"没有 {where}：仅 CANN 静态图会产生。"),
            sel.word("Nothing to do, unless the job runs in graph mode.",
                     "非图模式的作业无需处理。"))  # fmt: skip


def _no_communication(
    capture: Capture, filled: dict[str, dict[str, _Filled]], sel: Selected
) -> bool:
    """Kernels are known, and none of them is a communication operation."""
    if capture.capture_id not in filled.get("kernels", {}):
        return False
    notes = [n for s in sel.store.files(capture.capture_id) for n in s.notes]
    if any(n.code == "communication-missing" for n in notes):
        return False
    return COMMUNICATES not in filled["kernels"][capture.capture_id].columns


def _without_columns(
    sel: Selected, capture: Capture, lacking: list[tuple[Words, Need]]
) -> tuple[str, str]:
    names = sel.word(", ", "、").join(dict.fromkeys(sel.word(*w) for w, _ in lacking))
    needs = list(dict.fromkeys(need for _, need in lacking))
    unmet, unknown = _needs(capture, needs)
    off = sel.word("; ", "；").join(sel.word(*n.off) for n in unmet)
    told = f" ({off})" if off and sel.lang == "en" else f"（{off}）" if off else ""
    reason = sel.word(f"Unknown: {names}{told}.", f"未知：{names}{told}。")
    call = recording(unmet or unknown or needs, capture.framework)
    return reason, "" if capture.torch else call


def _needs(capture: Capture, needs: list[Need]) -> tuple[list[Need], list[Need]]:
    """Those that were not switched on, and those of which nothing is known."""
    unmet, unknown = [], []
    for need in needs:
        value = getattr(capture.info.options, need.option)
        if value is None:
            unknown.append(need)
        elif value < need.least:
            unmet.append(need)
    return unmet, unknown


def _note(states: list[FileState], codes: tuple[str, ...], view: str) -> Note | None:
    """The first note with one of ``codes`` that touches ``view``, or the file as a whole."""
    notes = (n for s in states for n in s.notes if n.code in codes)
    return next((n for n in notes if {view, "files"} & set(KINDS[n.code].views)), None)


def _words(sel: Selected, note: Note, capture: Capture) -> tuple[str, str]:
    finding = render(note, sel.lang, capture.capture_id, capture.rank, capture.framework)
    return finding.message, finding.remedy
