"""The timeline's own routes: windows, one slice, arrows, search, a Chrome trace, the original file."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Mapping
from typing import Any

from werkzeug.utils import send_file
from werkzeug.wrappers import Request, Response

from tb_npu_plugin.backend import results
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.timeline.detail import detail
from tb_npu_plugin.backend.timeline.drawing import Window, window
from tb_npu_plugin.backend.timeline.export import chrome_trace
from tb_npu_plugin.backend.timeline.files import TABLES, parse_shifts
from tb_npu_plugin.backend.timeline.finding import search
from tb_npu_plugin.backend.timeline.flows import MAX_FLOWS, flows_in
from tb_npu_plugin.backend.wording import printable

#: Meta of an answer about one moment has the state alone: the page has asked the timeline for the rest.
Reply = Callable[[Selected, Request], Any]


def _window(sel: Selected, request: Request) -> Response:
    body = window(sel, _wanted(request.args))
    response = Response(content_type="application/octet-stream")
    if request.accept_encodings.quality("gzip") > 0:
        body = gzip.compress(body, 1, mtime=0)
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    response.set_data(body)
    return response


def _slice(sel: Selected, request: Request) -> results.SliceReply:
    return results.SliceReply(detail(sel, request.args.get("id", "")), _meta(sel))


def _flows(sel: Selected, request: Request) -> results.FlowsReply:
    limit = int(_number(request.args, "limit", 500))
    if not 1 <= limit <= MAX_FLOWS:
        raise RequestError(400, "bad-page", f"limit is 1 to {MAX_FLOWS}.")
    return results.FlowsReply(flows_in(sel, _wanted(request.args), limit), _meta(sel))


def _search(sel: Selected, request: Request) -> results.SearchReply:
    args = request.args
    found = search(sel, args.get("find", ""), _number(args, "at", 0.0), args.get("tracks"),
                   int(_number(args, "limit", 50)), args.get("after") or None)  # fmt: skip
    return results.SearchReply(found, _meta(sel))


def _trace(sel: Selected, request: Request) -> Response:
    return Response(
        chrome_trace(sel, _wanted(request.args)),
        content_type="application/json",
        headers={"Content-Disposition": 'attachment; filename="window.trace.json"'},
    )


def _original(sel: Selected, request: Request) -> Response:
    """The file that a rank's trace was read from, as it lies there."""
    part = int(_number(request.args, "part", 0))
    captures = sel.captures[part : part + 1] if part >= 0 else []
    states = sel.store.sources(captures, ["tracks"], sel.prefer)
    if not states:
        raise RequestError(404, "no-original", f"There is no trace of the {part}-th capture.",
                           "part counts the captures of the selection from 0.")  # fmt: skip
    path = captures[0].path / states[0].source.rel
    try:
        response = send_file(path, request.environ, "application/octet-stream",
                             as_attachment=True, conditional=False, etag=False)  # fmt: skip
    except OSError as error:
        raise RequestError(404, "no-original", f"{printable(str(path))}: {error.strerror}.",
                           "A store holds what was read, not the files themselves.") from error  # fmt: skip
    return response


ROUTES: Mapping[str, Reply] = {
    "/timeline/window": _window,
    "/timeline/slice": _slice,
    "/timeline/flows": _flows,
    "/timeline/search": _search,
    "/timeline/trace": _trace,
    "/timeline/original": _original,
}


def _meta(sel: Selected) -> results.Meta:
    state, done = sel.state(*TABLES)
    return results.Meta(selection=sel.reply(), state=state, progress=round(done, 4))


def _wanted(args: Mapping[str, str]) -> Window:
    return Window(
        begin=_number(args, "from", None),
        end=_number(args, "to", None),
        width=int(_number(args, "width", 1000)),
        tracks=args.get("tracks"),
        colour=args.get("colour") or "name",
        find=args.get("find", ""),
        shifts=parse_shifts(args.get("shift")),
    )


def _number(args: Mapping[str, str], key: str, default: float | None) -> float:
    text = args.get(key)
    if text in (None, "") and default is not None:
        return default
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RequestError(400, "bad-window", f"{key} must be a number.")
    return value
