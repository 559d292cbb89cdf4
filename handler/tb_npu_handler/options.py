"""The handler's settings, checked once when the handler is made."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Collection, Dict, Mapping, Optional, Tuple, Union

BACKGROUND = "background"
INLINE = "inline"
NEVER = "never"

Analyse = Union[str, Collection[int]]
PytorchTrace = Union[str, bool]


@dataclass(frozen=True)
class Options:
    """Settings of one handler.

    ``analyse_ranks`` is ``None`` for every rank; ``min_free_bytes`` and ``timeout_s`` are limits of
    the detached process; ``pytorch_trace`` is true, false or ``"auto"`` (when torch-tb-profiler is
    installed where the analysis runs).
    """

    mode: str = BACKGROUND
    analyse_ranks: Optional[Tuple[int, ...]] = None
    export: Optional[Tuple[str, ...]] = None
    compact: bool = False
    keep: Optional[int] = None
    min_free_bytes: int = 2_000_000_000
    timeout_s: float = 1800.0
    pytorch_trace: PytorchTrace = "auto"
    metadata: Dict[str, Any] = field(default_factory=dict)
    raises: bool = False

    def analyses(self, rank: Optional[int]) -> bool:
        """Whether this rank's captures are to be analysed."""
        if self.mode == NEVER:
            return False
        return self.analyse_ranks is None or (0 if rank is None else rank) in self.analyse_ranks

    def request(self) -> Dict[str, Any]:
        """What the detached process is asked to do, as JSON values for the manifest."""
        wanted = asdict(self)
        for name in ("mode", "analyse_ranks", "metadata", "raises"):
            wanted.pop(name)
        return wanted


def parse(
    analyse: Analyse,
    export: Optional[Collection[str]],
    compact: bool,
    keep: Optional[int],
    min_free_gb: float,
    timeout_s: float,
    pytorch_trace: PytorchTrace,
    metadata: Optional[Mapping[str, Any]],
    on_error: str,
) -> Options:
    """Check the arguments of :func:`tb_npu_handler.npu_handler`.  Raises ``ValueError``."""
    if on_error not in ("warn", "raise"):
        raise ValueError('on_error must be "warn" or "raise", not {!r}'.format(on_error))
    if pytorch_trace not in (True, False, "auto"):
        raise ValueError('pytorch_trace must be True, False or "auto"')
    if keep is not None and (isinstance(keep, bool) or not isinstance(keep, int) or keep < 1):
        raise ValueError("keep must be a positive number of captures or None")
    if not min_free_gb >= 0 or not timeout_s > 0:
        raise ValueError("min_free_gb must not be negative and timeout_s must be positive")
    mode, ranks = _mode(analyse)
    return Options(
        mode=mode,
        analyse_ranks=ranks,
        export=_export(export),
        compact=bool(compact),
        keep=keep,
        min_free_bytes=int(min_free_gb * 1e9),
        timeout_s=float(timeout_s),
        pytorch_trace=pytorch_trace,
        metadata=_metadata(metadata),
        raises=on_error == "raise",
    )


def from_request(request: Mapping[str, Any]) -> Options:
    """Options again from a manifest's ``request``; unknown keys are left out."""
    known = {key: value for key, value in request.items() if key in Options.__dataclass_fields__}
    if known.get("export"):
        known["export"] = tuple(known["export"])
    return Options(**known)


def _mode(analyse: Analyse) -> Tuple[str, Optional[Tuple[int, ...]]]:
    if isinstance(analyse, str):
        if analyse in (BACKGROUND, INLINE, NEVER):
            return analyse, None
        raise ValueError(
            'analyse must be "background", "inline", "never" or the ranks to analyse, '
            "not {!r}".format(analyse)
        )
    return BACKGROUND, tuple(int(rank) for rank in analyse)


def _export(export: Optional[Collection[str]]) -> Optional[Tuple[str, ...]]:
    if export is None:
        return None
    kinds = (export,) if isinstance(export, str) else tuple(export)
    if not kinds or any(kind not in ("text", "db") for kind in kinds):
        raise ValueError('export must hold "text", "db" or both, or be None')
    return tuple(str(kind) for kind in kinds)


def _metadata(metadata: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    if metadata is None:
        return {}
    plain: Dict[str, Any] = json.loads(json.dumps(dict(metadata), default=str))
    return plain
