"""The TensorBoard plugin: wiring only.

TensorBoard imports this module at start-up and stops itself if that fails, so it imports nothing
but the standard library and ``base_plugin``; everything else is imported when it is needed.
"""

from __future__ import annotations

import argparse
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorboard.plugins import base_plugin

if TYPE_CHECKING:
    from tb_npu_plugin.backend.store import Store

logger = logging.getLogger(__name__)

PLUGIN_NAME = "npu_profiler"
TAB_NAME = "Ascend NPU"


class NpuPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """The Ascend NPU tab over one logdir."""

    plugin_name = PLUGIN_NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        self._flags = context.flags
        self._logdir = context.logdir or ""
        self._store: Store | None = None
        self._app: Any = None
        self._lock = threading.Lock()
        # Imports take a third of a second; TensorBoard's own start-up goes on meanwhile.
        threading.Thread(target=self._start, name="npu-start", daemon=True).start()

    def _start(self) -> None:
        try:
            self.store()
        except Exception:
            logger.exception("The Ascend NPU tab cannot start")

    def store(self) -> Store:
        """The store over the logdir; made, and its scanning started, at the first call."""
        with self._lock:
            if self._store is None:
                from tb_npu_plugin.backend.process import start_worker

                worker = start_worker()  # its imports and ours take a third of a second each
                from tb_npu_plugin.backend import ahead
                from tb_npu_plugin.backend.cache import Cache
                from tb_npu_plugin.backend.discovery import Root, parse_logdir_spec
                from tb_npu_plugin.backend.store import Store

                spec = getattr(self._flags, "logdir_spec", "") or ""
                roots = (
                    parse_logdir_spec(spec)
                    if spec
                    else [Root(Path(p).expanduser()) for p in [self._logdir] if p]
                )
                cache = Cache(getattr(self._flags, "npu_cache", None) or None)
                self._store = Store(
                    roots,
                    cache,
                    workers=getattr(self._flags, "npu_workers", 0) or None,
                    memory=getattr(self._flags, "npu_memory", "") or None,
                    worker=worker,
                )
                self._store.start()
                ahead.start(self._store)
                cache.trim()
            return self._store

    def get_plugin_apps(self) -> Mapping[str, Any]:
        """One application for all routes: which there are costs an import that start-up can spare."""
        return {"/*": self._serve}

    def _serve(self, environ: dict[str, Any], start_response: Any) -> Any:
        if self._app is None:
            from tb_npu_plugin.backend.api import dispatch

            self._app = dispatch(self.store, f"/data/plugin/{PLUGIN_NAME}")
        return self._app(environ, start_response)

    def is_active(self) -> bool:
        """From memory, at once: TensorBoard asks on every listing. True until the first scan ends."""
        store = self._store
        return store is None or not store.scanned or bool(store.runs)

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        return base_plugin.FrontendMetadata(
            es_module_path="/static/index.js", tab_name=TAB_NAME, disable_reload=False
        )


class NpuLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Flags and construction."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("Ascend NPU profiler plugin")
        group.add_argument(
            "--npu_cache",
            metavar="PATH",
            default="",
            help="Where ingested captures are kept (default: $TB_NPU_CACHE, else the user's cache).",
        )
        group.add_argument(
            "--npu_workers",
            metavar="N",
            type=int,
            default=0,
            help="Processes that read captures (default: $TB_NPU_WORKERS, else cores - 1).",
        )
        group.add_argument(
            "--npu_memory", metavar="SIZE", default="",
            help="Memory limit of each of them, e.g. 400MB (default: $TB_NPU_MEMORY).",
        )  # fmt: skip

    def load(self, context: base_plugin.TBContext) -> NpuPlugin:
        return NpuPlugin(context)
