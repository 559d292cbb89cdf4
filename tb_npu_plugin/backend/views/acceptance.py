"""What a good capture holds, point by point: the list that ``tb-npu check --strict`` goes through."""

from __future__ import annotations

from dataclasses import replace

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.findings import render
from tb_npu_plugin.backend.results import Point, PointStatus
from tb_npu_plugin.backend.schema import is_communication
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.capabilities import capabilities
from tb_npu_plugin.backend.views.health import findings
from tb_npu_plugin.backend.views.recorded import step_count, steps_note

_READABLE = ("Everything that is there can be read", "已有内容均可读取")
_PARSED = ("No parser failed", "没有解析器失败")
#: Findings of an analysis that has not ended, whatever their severity.
_UNFINISHED = ("analysis-incomplete", "growing", "raw-only")
#: Points that stand for what a view can show: key, label, part, least level they are recorded at.
_PARTS = (
    ("kernels", ("Kernels with types and shapes", "Kernel 含类型与 Shape"), "kernel", 0),
    ("counters", ("Hardware counters of kernels", "Kernel 硬件计数器"), "kernel.counters", 0),
    ("statistics", ("Statistics by operator type", "按算子类型的统计"), "kernel.statistic", 1),
    ("api", ("Host API statistics", "Host API 统计"), "api", 1),
    ("trace", ("A whole trace", "完整的 trace"), "timeline", 0),
)


def acceptance(sel: Selected) -> list[Point]:
    """The points of every capture of the selection, in order; captures of torch.profiler have none."""
    return [
        point for capture in sel.captures if not capture.torch for point in _points(sel, capture)
    ]


def _points(sel: Selected, capture: Capture) -> list[Point]:
    own = replace(sel, captures=[capture], provenance={})
    parts = {c.key: c for c in capabilities(own)}
    level = capture.info.options.level
    told = findings(own)
    unreadable = [f for f in told if f.severity == "error"]
    unreadable += [f for f in told if f.code in _UNFINISHED]
    failed = [f for f in told if f.code == "parser-failed"]
    found = [
        _without(own, capture, "readable", _READABLE, unreadable),
        _without(own, capture, "parsers", _PARSED, failed),
    ]
    for key, label, part, least in _PARTS:
        skip = level is not None and level < least
        point = _of_part(own, capture, key, label, parts[part], skip=skip)
        if key == "trace" and point.status == "missed" and _only_traced(own):
            point.remedy = _scratch(own, capture)
        found.append(point)
    found.append(_steps(own, capture))
    found.append(_communication(own, capture, parts))
    return found


def _point(
    sel: Selected, capture: Capture, key: str, label: tuple[str, str], status: PointStatus,
    message: str = "", remedy: str = "", file: str = "",
) -> Point:  # fmt: skip
    return Point(
        key, sel.word(*label), status, capture.capture_id, capture.rank, file or None, message,
        remedy,
    )  # fmt: skip


def _of_part(
    sel: Selected, capture: Capture, key: str, label: tuple[str, str],
    part: results.Capability, *, skip: bool,
) -> Point:  # fmt: skip
    case = part.cases[0]
    if skip:
        why = sel.word("Not recorded at this level.", "该采集级别不记录。")
        return _point(sel, capture, key, label, "none", why)
    if case.status == "available":
        return _point(sel, capture, key, label, "ok", file=case.where)
    return _point(sel, capture, key, label, "missed", case.reason, case.remedy, case.where)


def _only_traced(sel: Selected) -> bool:
    """No kernels, or only those worked out from the trace itself."""
    return all(state.kind == "trace" for _, state, _ in sel.store.parts(sel.captures, "kernels"))


def _scratch(sel: Selected, capture: Capture) -> str:
    """On some mounts the analysis leaves nothing but a cut trace; elsewhere the same data is fine."""
    if capture.framework != "torch_npu":  # ours analyses nothing else
        return sel.word(
            f"Copy the capture to another (local) filesystem and analyse it there: {capture.again}",
            f"将采集数据拷贝到其他（本地）文件系统后重新解析：{capture.again}",
        )
    return sel.word(
        f"Analyse again on another (local) filesystem: {capture.again} --scratch /tmp",
        f"换到其他（本地）文件系统重新解析：{capture.again} --scratch /tmp",
    )


def _without(
    sel: Selected, capture: Capture, key: str, label: tuple[str, str], bad: list[results.Finding]
) -> Point:
    """A point that is fulfilled where there is none of ``bad``; else the first of them says why not."""
    if not bad:
        return _point(sel, capture, key, label, "ok")
    first = bad[0]
    return _point(sel, capture, key, label, "missed", first.message, first.remedy,
                  " ".join(filter(None, (first.file, first.place))))  # fmt: skip


def _steps(sel: Selected, capture: Capture) -> Point:
    """Active steps of the schedule x devices. A schedule may record several cycles into one job, but
    each into a capture of its own."""
    label = ("All steps of the schedule", "Schedule 的全部 Step")
    active = capture.info.options.active
    if active is None:
        why = sel.word("The capture does not tell its schedule.", "采集数据未说明 schedule。")
        return _point(sel, capture, "steps", label, "none", why)
    rows, devices = step_count(sel, capture) or (0, 1)
    sel.parts("steps")
    where = sel.provenance.get("steps", "")
    if rows == active * devices:
        return _point(sel, capture, "steps", label, "ok", file=where)
    told = render(steps_note(rows, devices, active), sel.lang, None, None)
    return _point(sel, capture, "steps", label, "missed", told.message, told.remedy, where)


def _communication(sel: Selected, capture: Capture, parts: dict[str, results.Capability]) -> Point:
    """Communication files exactly where kernels of communication were recorded at Level1 or 2."""
    label = ("Communication of what communicates", "通信数据与通信 Kernel 一致")
    source = sel.source("kernels", steps=False, devices=False)
    level = capture.info.options.level
    expected = False
    if source and level in (1, 2):
        row = sel.query(
            lambda cur: cur.execute(
                f"SELECT count(*) FROM {source} WHERE {is_communication('core')}"
            ).fetchone()
        )
        expected = bool(row and row[0])
    case = parts["communication.ops"].cases[0]
    if expected:
        return _of_part(
            sel, capture, "communication", label, parts["communication.ops"], skip=False
        )
    if case.status in ("available", "partial") and source and level in (1, 2):
        w = sel.word
        return _point(
            sel, capture, "communication", label, "missed",
            w("There are communication operations, but no kernel of communication.",
              "有通信算子，但没有通信 Kernel。"),
            w("Analyse the capture again.", "请重新解析该采集数据。"), case.where,
        )  # fmt: skip
    why = sel.word("No kernel of communication was recorded at Level1 or 2.",
                   "Level1/2 下没有记录通信 Kernel。")  # fmt: skip
    return _point(sel, capture, "communication", label, "none", why)
