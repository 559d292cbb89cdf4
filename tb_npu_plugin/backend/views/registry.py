"""Every view, once: the API's routes, the CLI's `show` and the documentation follow this list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.tables import Query, TableRequest
from tb_npu_plugin.backend.views import files, health, kernel, overview, step


@dataclass(frozen=True)
class View:
    """One view. ``run`` gives its typed result, wrapped by ``reply``; ``query`` its table for CSV.

    ``tables``: the canonical tables it reads. ``no_step``: why the step selection does not apply
    to it, in English and Chinese; None if it does.
    """

    id: str
    tables: tuple[str, ...]
    run: Callable[[Selected, TableRequest], Any]
    reply: Callable[[Any, results.Meta], Any]
    query: Callable[[Selected, str], Query | None] | None = None
    groups: tuple[str, ...] = ()
    no_step: tuple[str, str] | None = None


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
            "kernel",
            kernel.TABLES,
            kernel.kernel,
            results.KernelReply,
            kernel.kernel_query,
            tuple(kernel.GROUPS),
        ),
        View("health", (), lambda sel, _request: health.health(sel), results.HealthReply),
        View(
            "files",
            (),
            files.files,
            results.FilesReply,
            lambda sel, _group: files.files_query(sel),
        ),
    )
}
