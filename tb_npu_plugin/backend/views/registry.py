"""Every view, once: the API's routes, the CLI's `show` and the documentation follow this list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Query, TableRequest
from tb_npu_plugin.backend.timeline.files import MAX_PARTS
from tb_npu_plugin.backend.views import (
    api_statistic,
    communication,
    files,
    flame,
    kernel,
    memory,
    operator,
    overview,
    ranks,
    slices,
    step,
    timeline,
)
from tb_npu_plugin.backend.views.capabilities import capabilities
from tb_npu_plugin.backend.views.health import findings


@dataclass(frozen=True)
class View:
    """One view. ``run`` gives its typed result, wrapped by ``reply``; ``query`` its table for CSV.

    ``tables``: the canonical tables it reads. ``no_step``: why the step selection does not apply
    to it, in English and Chinese; None if it does. ``options``: parameters of this view alone.
    """

    id: str
    tables: tuple[str, ...]
    run: Callable[[Selected, TableRequest], Any]
    reply: Callable[[Any, results.Meta], Any]
    query: Callable[[Selected, str], Query | None] | None = None
    groups: tuple[str, ...] = ()
    no_step: tuple[str, str] | None = None
    options: tuple[str, ...] = ()
    most: int | None = None
    """Captures that are read for it; None: all."""


_WHOLE = (
    "The timeline shows the whole capture; steps are marked on it.",
    "时间线显示整段采集，并标出各 Step。",
)

VIEWS: dict[str, View] = {
    view.id: view
    for view in (
        View(
            "overview",
            overview.TABLES,
            lambda sel, _request: overview.overview(sel),
            results.OverviewReply,
        ),
        View("step", step.TABLES, step.step, results.StepReply, step.step_query, step.GROUPS),
        View(
            "timeline",
            timeline.TABLES,
            lambda sel, _request: timeline.timeline(sel),
            results.TimelineReply,
            no_step=_WHOLE,
            most=MAX_PARTS,
        ),
        View(
            "slices",
            slices.TABLES,
            slices.slices,
            results.SlicesReply,
            slices.slices_query,
            slices.GROUPS,
            no_step=_WHOLE,
            most=MAX_PARTS,
            options=slices.OPTIONS,
        ),
        View(
            "flame",
            flame.TABLES,
            lambda sel, _request: flame.flame(sel),
            results.FlameReply,
            no_step=_WHOLE,
            most=MAX_PARTS,
            options=flame.OPTIONS,
        ),
        View(
            "kernel",
            kernel.TABLES,
            kernel.kernel,
            results.KernelReply,
            kernel.kernel_query,
            (*kernel.GROUPS, *kernel.FILES),
        ),
        View(
            "operator",
            operator.TABLES,
            operator.operator,
            results.OperatorReply,
            operator.operator_query,
            tuple(operator.GROUPS),
            no_step=(
                "operator_details.csv carries no step: operators are those of the whole capture.",
                "operator_details.csv 不含 Step 信息：显示整段采集的算子。",
            ),
        ),
        View(
            "api",
            api_statistic.TABLES,
            api_statistic.api,
            results.ApiReply,
            api_statistic.api_query,
            tuple(api_statistic.GROUPS),
            no_step=(
                "api_statistic.csv carries no step: it sums up the whole capture.",
                "api_statistic.csv 不含 Step 信息：为整段采集的汇总。",
            ),
        ),
        View(
            "memory",
            memory.TABLES,
            memory.memory,
            results.MemoryReply,
            memory.memory_query,
            memory.GROUPS,
            no_step=(
                "Memory files carry no step: what is shown is the whole capture.",
                "内存文件不含 Step 信息：显示整段采集。",
            ),
            options=memory.OPTIONS,
        ),
        View(
            "communication",
            communication.TABLES,
            communication.communication,
            results.CommunicationReply,
            communication.communication_query,
            communication.GROUPS,
            options=communication.OPTIONS,
        ),
        View(
            "ranks",
            ranks.TABLES,
            ranks.ranks,
            results.RanksReply,
            ranks.ranks_query,
            ranks.GROUPS,
            options=ranks.OPTIONS,
        ),
        View(
            "health",
            (),
            lambda sel, _request: results.Health(findings(sel), capabilities(sel)),
            results.HealthReply,
        ),
        View(
            "files",
            (),
            files.files,
            results.FilesReply,
            files.files_query,
            options=files.OPTIONS,
        ),
    )
}
