"""The first screen: what was captured, where the step went, what to look at first."""

from __future__ import annotations

from dataclasses import replace

from tb_npu_plugin.backend import results, wording
from tb_npu_plugin.backend.capture import Capture
from tb_npu_plugin.backend.schema import STEPS, is_communication
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Col, Query, TableRequest, page
from tb_npu_plugin.backend.views import health
from tb_npu_plugin.backend.views.communication import communication_line
from tb_npu_plugin.backend.views.memory import memory_line
from tb_npu_plugin.backend.views.operator import operator_line
from tb_npu_plugin.backend.views.step import bars, step_query

TABLES = ("steps", "kernel_summary", "operator_summary", "memory_points", "comm_ops")
TOP_KERNELS = 8
TOP_FINDINGS = 3
#: More bars than this and the page draws a strip; the API stays bounded.
MAX_BARS = 1000


def overview(sel: Selected) -> results.Overview:
    """Never fails for missing tables: what is unknown is absent and a finding says why."""
    step_bars, note = _bars(sel)
    longest = max(step_bars, key=lambda b: b.stage_ns or 0.0, default=None)
    return results.Overview(
        headline=_headline(sel, longest, step_bars),
        cards=_cards(sel, longest, step_bars),
        bars=step_bars,
        bars_note=note,
        facts=facts(sel),
        lines=_lines(sel),
        top_kernels=top_kernels(sel),
        findings=_top_findings(sel),
    )


def _lines(sel: Selected) -> list[results.Fact]:
    """A sentence about operators, communication and memory, where they were recorded."""
    lines = (
        ("operator", sel.word("Operators", "算子"), operator_line),
        ("communication", sel.word("Communication", "通信"), communication_line),
        ("memory", sel.word("Memory", "内存"), memory_line),
    )
    found = [results.Fact(view, label, line(sel)) for view, label, line in lines]
    return [fact for fact in found if fact.value]


def _top_findings(sel: Selected) -> list[results.Finding]:
    """The most severe, each kind once."""
    kinds: dict[str, results.Finding] = {}
    for finding in health.findings(sel):
        if finding.severity != "info" or "overview" in finding.views:
            kinds.setdefault(finding.code, finding)
    return list(kinds.values())[:TOP_FINDINGS]


def _bars(sel: Selected) -> tuple[list[results.StepBar], str]:
    query = step_query(sel, "rank")
    if query is None:
        return [], ""
    request = TableRequest(sort="rank,device", limit=MAX_BARS)
    found = bars(sel, query, request)
    steps = max((b.steps for b in found), default=0)
    if steps > 1:
        note = sel.word(f"mean of {steps} steps", f"{steps} 个 Step 的平均")
    else:
        source = sel.source("steps")
        row = sel.row(f"SELECT any_value(step) FROM {source}")
        step = row[0] if row else None
        note = f"Step {step}" if step is not None else sel.word("whole capture", "整段采集")
    return found, note


def _headline(
    sel: Selected, longest: results.StepBar | None, step_bars: list[results.StepBar]
) -> str:
    w = sel.word
    if longest is None or longest.stage_ns is None:
        state, _ = sel.state("steps")
        if state == "ingesting":
            return w("Reading the step times …", "正在读取 Step 时间……")
        return w("The split of the step is unknown: see the findings.",
                 "无法得知 Step 时间的划分：见“数据质量”。")  # fmt: skip
    parts = {
        "communication": longest.communication_not_overlapped_ns,
        "computing": longest.computing_only_ns,
        "free": longest.free_ns,
    }
    top = max(parts, key=lambda k: parts[k] or 0.0)
    ratio = wording.percent(wording.share(parts[top], longest.stage_ns))
    subject = {
        "communication": w("communication that nothing hides", "未被掩盖的通信"),
        "computing": w("computing", "计算"),
        "free": w("free: the device waits for the host", "空闲：设备在等待主机"),
    }[top]
    who = longest.label
    if len(step_bars) > 1:
        who += w(f", the longest of {len(step_bars)}", f"（{len(step_bars)} 个中最长）")
    stage = wording.duration(longest.stage_ns)
    text = w(f"{stage} per step on {who}: {ratio} is {subject}",
             f"{who}：每 Step {stage}，其中 {ratio} 为{subject}")  # fmt: skip
    if longest.preparing_ns:
        before = wording.duration(longest.preparing_ns)
        text += w(f"; {before} pass before the first kernel", f"；首个 Kernel 之前有 {before}")
    return text + w(".", "。")


def _cards(
    sel: Selected, longest: results.StepBar | None, step_bars: list[results.StepBar]
) -> list[results.Card]:
    if longest is None:
        return []
    w = sel.word
    computing = _sum(longest.computing_only_ns, longest.overlapped_ns or 0.0)
    comm = _sum(longest.communication_not_overlapped_ns, longest.overlapped_ns)
    stage = longest.stage_ns
    of_stage = w("the stage", "Stage")

    def card(
        key: str, value: float | None, of: float | None, of_label: str, concept: str | None
    ) -> results.Card:
        f = STEPS.get(f"{key}_ns")
        assert f is not None
        ratio = None if of is None else wording.share(value, of)
        return results.Card(key, w(f.en, f.zh), value, ratio, of_label, _spread(sel, key, step_bars),
                            concept)  # fmt: skip

    cards = [
        card("stage", stage, None, "", None),
        card("computing", computing, stage, of_stage, "computing"),
        card("communication_not_overlapped", longest.communication_not_overlapped_ns, stage,
             of_stage, "communication"),
        card("overlapped", longest.overlapped_ns, comm, w("communication", "通信"),
             "overlapped"),
        card("free", longest.free_ns, stage, of_stage, "free"),
    ]  # fmt: skip
    cards[0].label = f"Stage · {longest.label}"
    if longest.bubble_ns:
        cards.append(card("bubble", longest.bubble_ns, stage, of_stage, "bubble"))
    return cards


def _sum(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


def _spread(sel: Selected, key: str, step_bars: list[results.StepBar]) -> str:
    """``96.4 – 102 ms over 2 ranks``, where there are several bars."""
    if len(step_bars) < 2:
        return ""

    def value(bar: results.StepBar) -> float | None:
        if key == "computing":
            return _sum(bar.computing_only_ns, bar.overlapped_ns or 0.0)
        found = getattr(bar, f"{key}_ns")
        return float(found) if found is not None else None

    values = [v for v in map(value, step_bars) if v is not None]
    if not values:
        return ""
    span = f"{wording.duration(min(values))} – {wording.duration(max(values))}"
    return sel.word(f"{span} over {len(values)} ranks", f"{len(values)} 卡：{span}")


def facts(sel: Selected) -> list[results.Fact]:
    """What was captured: worker, ranks, steps, level, versions, main settings."""
    w = sel.word
    first = sel.captures[0]
    info = first.info
    out: list[results.Fact] = []

    def add(key: str, en: str, zh: str, value: object, note: str = "") -> None:
        out.append(results.Fact(key, w(en, zh), "–" if value in (None, "") else str(value), note))

    add("run", "Run", "运行", sel.run)
    add("capture", "Capture", "采集", _several([c.name for c in sel.captures]))
    if any(c.worker != c.name for c in sel.captures):
        add("worker", "Worker", "Worker", _several([c.worker for c in sel.captures]))
    present = wording.ranks([c.rank for c in sel.captures]) or w("unknown", "未知")
    world = sel.recording.world_size
    add("rank", "Ranks", "卡", present, w(f"of {world}", f"共 {world}") if world else "")
    devices, steps = _devices_and_steps(sel)
    add("device", "Devices", "设备", devices)
    add("steps", "Steps", "Step", steps)
    add("level", "Profiler level", "采集级别", _agree(sel.captures, "level"))
    add("aic_metrics", "AI Core metrics", "AI Core 指标",
        (_agree(sel.captures, "aic_metrics") or "").removeprefix("ACL_AICORE_"))  # fmt: skip
    add("torch_npu", "torch_npu", "torch_npu", _agree(sel.captures, "torch_npu_version"))
    if mindspore := _agree(sel.captures, "mindspore_version"):
        add("mindspore", "MindSpore", "MindSpore", mindspore)
    add("cann", "CANN", "CANN", _agree(sel.captures, "cann_version"))
    common = info.config.get("common_config") or {}
    experimental = info.config.get("experimental_config") or {}
    on = [k for k in ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
          if isinstance(common, dict) and common.get(k)]  # fmt: skip
    if isinstance(experimental, dict) and experimental.get("_l2_cache"):
        on.append("l2_cache")
    add("options", "Options on", "已启用选项", ", ".join(on))
    schedule = common.get("schedule") if isinstance(common, dict) else None
    if isinstance(schedule, dict) and schedule:
        shown = ", ".join(f"{k.lstrip('_')} {v}" for k, v in schedule.items())
        add("schedule", "Schedule", "Schedule", shown)
    if info.start_ns is not None and info.end_ns is not None:
        add("window", "Window", "采集窗口", wording.duration(info.end_ns - info.start_ns))
    return out


def _several(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    return ", ".join(unique[:2]) + (f", … ({len(unique)})" if len(unique) > 2 else "")


def _agree(captures: list[Capture], key: str) -> str | None:
    values = {getattr(c.info, key) for c in captures}
    return ", ".join(sorted(str(v) for v in values if v is not None)) or None


def _devices_and_steps(sel: Selected) -> tuple[str, str]:
    source = sel.source("steps") or sel.source("kernel_summary")
    if source is None:
        return "", ""
    row = sel.row(
        "SELECT list_sort(list(DISTINCT device)), count(DISTINCT step), min(step), max(step) "
        f"FROM {source}"
    )
    devices, count, least, most = row or ([], 0, None, None)
    numbers = wording.ranks([int(d) for d in devices or [] if d is not None])
    if not count:
        return numbers, sel.word("no step markers", "没有 Step 标记")
    return numbers, str(least) if count == 1 else f"{least} – {most} ({count})"


def top_kernels(sel: Selected) -> results.Table | None:
    """The kernel types (names at Level0) with the most time, communication left out.

    The summary of a big file is there long before all its kernels are.
    """
    source = sel.source("kernel_summary")
    if source is None:
        return None
    row = sel.row(f"SELECT count(type) FROM {source}")
    key = "type" if row and row[0] else "name"
    total, count = "sum(total_ns)", "sum(count)"
    computing = f"(SELECT * FROM {source} WHERE NOT {is_communication('''coalesce(core, '')''')})"
    w = sel.word
    whole = f"(SELECT {total} FROM {computing})"
    columns = [
        Col(key, "name", w("Type", "类型") if key == "type" else w("Name", "名称"), key),
        Col("core", "core", w("Core", "核类型"), "core"),
        Col("count", "int", w("Count", "次数"), count, aggregate=True),
        Col("total_ns", "duration", w("Total", "总耗时"), total, aggregate=True),
        Col("total_ratio", "ratio", w("Share of computing", "占计算"),
            f"{total} / nullif({whole}, 0)", w("Share of the sum of computing kernels' durations",
            "占计算 Kernel 耗时之和的比例"), concept="computing", aggregate=True),
        Col("avg_ns", "duration", w("Avg", "平均"), f"{total} / nullif({count}, 0)",
            aggregate=True),
        Col("min_ns", "duration", w("Min", "最小"), "min(min_ns)", aggregate=True),
        Col("max_ns", "duration", w("Max", "最大"), "max(max_ns)", aggregate=True),
        Col("wait_ns", "duration", w("Wait", "等待"), "sum(wait_ns)", aggregate=True),
    ]  # fmt: skip
    if key == "name":
        columns[1] = replace(columns[1], sql="any_value(core)", aggregate=True, shown=False)
    keys = ["type", "core"] if key == "type" else ["name"]
    query = Query(computing, columns, key, "total_ns:desc", keys, key)
    return page(sel.store, query, TableRequest(limit=TOP_KERNELS))
