"""What ranks are compared by: one value per capture and measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tb_npu_plugin.backend.results import Kind
from tb_npu_plugin.backend.schema import STEPS
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.clocks import clocks_source
from tb_npu_plugin.backend.views.collectives import collectives_source, matched_source
from tb_npu_plugin.backend.views.memory_sources import source as memory_source
from tb_npu_plugin.backend.views.parallel_groups import stages

_PARTS = (
    "stage_ns", "computing_ns", "communication_not_overlapped_ns", "overlapped_ns",
    "communication_ns", "free_ns", "preparing_ns", "bubble_ns",
)  # fmt: skip
#: Headings that must fit into a column of the grid.
_SHORT = {
    "communication_not_overlapped_ns": ("Comm. not overlapped", "未掩盖通信"),
    "communication_ns": ("Comm.", "通信"),
}


@dataclass
class Measure:
    """``values``: one per capture of the selection, None where unknown. ``shown``: in the grid.
    ``view``: where its rows are."""

    key: str
    kind: Kind
    label: str
    about: str
    values: list[float | None]
    concept: str | None = None
    shown: bool = True
    view: str = "step"


@dataclass
class Measures:
    """All measures of a selection by key; those without any value are not there."""

    count: int
    peers: list[int | None] | None = None
    """Per capture its pipeline stage, where it has one: stages do different work by design, so
    ranks are judged against those of their own."""
    all: dict[str, Measure] = field(default_factory=dict)

    def add(self, measure: Measure) -> None:
        if any(v is not None for v in measure.values):
            self.all[measure.key] = measure

    def values(self, key: str) -> Sequence[float | None]:
        """Per capture; all unknown if there is no such measure."""
        return self.all[key].values if key in self.all else [None] * self.count


def measures(sel: Selected) -> Measures:
    """Everything that the captures of the selection can be compared by. Times are means per step."""
    known = stages(sel)
    found = Measures(len(sel.captures), known if any(s is not None for s in known) else None)
    _steps(sel, found)
    _waits(sel, found)
    _blame(sel, found)
    _clocks(sel, found)
    _host(sel, found)
    _memory(sel, found)
    _kernels(sel, found)
    return found


def _by_part(sel: Selected, sql: str) -> dict[int, tuple[float | None, ...]]:
    rows = sel.rows(sql)
    return {row[0]: tuple(None if v is None else float(v) for v in row[1:]) for row in rows}


def _column(
    sel: Selected, rows: dict[int, tuple[float | None, ...]], at: int
) -> list[float | None]:
    return [rows[part][at] if part in rows else None for part in range(len(sel.captures))]


def _steps(sel: Selected, found: Measures) -> None:
    source = sel.source("steps")
    if source is None:
        return
    means = ", ".join(f"avg({key})" for key in _PARTS)
    rows = _by_part(sel, f"SELECT part, {means} FROM {source} GROUP BY part")
    about = sel.word("Mean per step", "每 Step 平均")
    for at, key in enumerate(_PARTS):
        f = STEPS.get(key)
        assert f is not None
        label = sel.word(*_SHORT.get(key, (f.en, f.zh)))
        values = _column(sel, rows, at)
        shown = key != "bubble_ns" or any(values)
        found.add(Measure(key, "duration", label, about, values, f.concept, shown))


def _waits(sel: Selected, found: Measures) -> None:
    source = sel.source("comm_ops", devices=False)
    if source is None:
        return
    w = sel.word
    steps = "greatest(count(DISTINCT step), 1)"
    rows = _by_part(
        sel,
        f"SELECT part, sum(wait_ns) / {steps}, sum(synchronization_ns) / {steps}, "
        f"sum(transit_ns) / {steps} FROM {source} GROUP BY part",
    )
    for at, (key, en, zh, about, about_zh) in enumerate((
        ("wait_ns", "Wait", "等待", "Waiting in communication, per step", "每 Step 通信等待"),
        ("synchronization_ns", "Sync", "同步",
         "Waiting before the first transfer of each operation, per step: for ranks that come later",
         "每 Step 各通信算子首次传输前的等待：等待其他卡到达"),
        ("transit_ns", "Transit", "传输", "Moving data, per step", "每 Step 传输数据"),
    )):  # fmt: skip
        found.add(Measure(key, "duration", w(en, zh), w(about, about_zh), _column(sel, rows, at),
                          "communication", view="communication"))  # fmt: skip


def _blame(sel: Selected, found: Measures) -> None:
    matched, collectives = matched_source(sel), collectives_source(sel)
    if matched is None or collectives is None:
        return
    w = sel.word
    late = _by_part(
        sel,
        "SELECT last_part, sum(cost_ns / (ranks - 1)) FILTER (origin_part IS NOT NULL), count(*) "
        f"FROM {collectives} WHERE last_part IS NOT NULL GROUP BY last_part",
    )
    present = _by_part(
        sel,
        f"SELECT part, greatest(count(DISTINCT step), 1) FROM {matched} GROUP BY part",
    )

    def per_step(at: int, default: float | None) -> list[float | None]:
        return [
            (late[part][at] or 0.0) / (present[part][0] or 1.0) if part in late else default
            if part in present else None
            for part in range(len(sel.captures))
        ]  # fmt: skip

    found.add(Measure(
        "delay_ns", "duration", w("Made others wait", "使他卡等待"),
        w("Per step: how long the others waited for this rank on average, summed over the "
          "collectives that it was the last to join, without being held up in other groups itself",
          "每 Step：该卡最后到达的集合通信中，其他卡平均等待它的时间之和；"
          "不含它自身被其他通信域拖慢的情况"),
        per_step(0, 0.0), "communication", view="communication",
    ))  # fmt: skip
    found.add(Measure(
        "last_count", "number", w("Came last", "最后到达次数"),
        w("Collectives per step that it was the last to join",
          "每 Step 最后到达的集合通信次数"), per_step(1, 0.0),
        shown=False,
    ))  # fmt: skip


def _clocks(sel: Selected, found: Measures) -> None:
    clocks = clocks_source(sel)
    if clocks is None:
        return
    rows = _by_part(sel, f"SELECT part, clock_ns, clock_error_ns FROM {clocks}")
    w = sel.word
    found.add(Measure(
        "clock_ns", "duration", w("Clock", "时钟偏差"),
        w("How far its clock is ahead of the median rank's: ranks leave a collective together, and each is "
          "compared with all that it shares groups with",
          "时钟比中位数卡快多少：各卡同时离开同一集合通信，并综合其所在的全部通信域求得"),
        _column(sel, rows, 0), shown=False,
    ))  # fmt: skip
    found.add(Measure(
        "clock_error_ns", "duration", w("Clock ±", "时钟偏差 ±"),
        w("Median of what its collectives end off from that", "其各集合通信结束时刻与该偏差之差的中位数"),
        _column(sel, rows, 1), shown=False,
    ))  # fmt: skip


def _host(sel: Selected, found: Measures) -> None:
    source = sel.source("operator_summary")
    if source is None:
        return
    rows = _by_part(sel, f"SELECT part, sum(host_self_ns) FROM {source} GROUP BY part")
    w = sel.word
    found.add(Measure(
        "host_self_ns", "duration", w("Host operators", "主机侧算子"),
        w("Host self time of all operators of the whole capture",
          "整段采集中所有算子的主机自身耗时之和"), _column(sel, rows, 0), "host",
        view="operator",
    ))  # fmt: skip


def _memory(sel: Selected, found: Measures) -> None:
    curves = memory_source(sel, "memory_curve")
    if curves is None:
        return
    rows = _by_part(
        sel,
        "SELECT part, max(value_bytes) FILTER (measure = 'reserved') "
        f"FROM {curves} WHERE component = 'PTA' GROUP BY part",
    )
    w = sel.word
    found.add(Measure(
        "peak_reserved_bytes", "bytes", w("Peak memory", "显存峰值"),
        w("Highest total that the framework's allocator reserved (PTA), whole capture",
          "框架内存池（PTA）预留总量的峰值，整段采集"), _column(sel, rows, 0), view="memory",
    ))  # fmt: skip


def _kernels(sel: Selected, found: Measures) -> None:
    source = sel.source("kernel_summary")
    if source is None:
        return
    w = sel.word
    rows = _by_part(sel, f"SELECT part, sum(count) FROM {source} GROUP BY part")
    found.add(Measure("kernels", "int", w("Kernels", "Kernel 数"),
                      w("Device tasks in the chosen steps", "所选 Step 内的设备任务数"),
                      _column(sel, rows, 0), view="kernel"))  # fmt: skip
    # The median, for kernels with more blocks than cores; those are of few types.
    rows = _by_part(
        sel,
        "SELECT part, min(clock_mhz) FROM (SELECT part, clock_mhz, "
        "sum(sum(clocked)) OVER (PARTITION BY part ORDER BY clock_mhz) AS so_far, "
        f"sum(sum(clocked)) OVER (PARTITION BY part) AS whole FROM {source} "
        "WHERE clocked > 0 GROUP BY part, clock_mhz) WHERE so_far * 2 >= whole GROUP BY part",
    )
    found.add(Measure(
        "core_mhz", "frequency", w("Core clock", "核心频率"),
        w("Median of cycles / (core time x blocks) over the types of kernels, each with the weight of "
          "its kernels", "各类型 Kernel 的 cycles /（核心耗时 × 核数）按 Kernel 数加权的中位数"),
        _column(sel, rows, 0), view="kernel",
    ))  # fmt: skip
