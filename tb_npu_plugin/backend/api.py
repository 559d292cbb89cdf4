"""HTTP routes: parse, call a view, encode. No analysis here. Documented in docs/http_api.md."""

from __future__ import annotations

import gzip
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import msgspec
from werkzeug.security import safe_join
from werkzeug.wrappers import Request, Response

from tb_npu_plugin.backend import results, timeline_api
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.i18n import Lang
from tb_npu_plugin.backend.selection import Selected, select
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.tables import TableRequest, rows_csv
from tb_npu_plugin.backend.timeline.files import MAX_PARTS, TABLES
from tb_npu_plugin.backend.views import captures as captures_view
from tb_npu_plugin.backend.views import health
from tb_npu_plugin.backend.views.registry import VIEWS, View

logger = logging.getLogger(__name__)

STATIC = Path(__file__).parent.parent / "static"
_TYPES = {
    ".js": "application/javascript", ".css": "text/css", ".html": "text/html",
    ".svg": "image/svg+xml", ".json": "application/json", ".map": "application/json",
    ".woff2": "font/woff2", ".txt": "text/plain",
}  # fmt: skip
_GZIP_FROM = 1400
#: View -> the table whose rows its entry in the navigation counts.
COUNTED = {"step": "steps", "kernel": "kernels", "operator": "operators", "api": "api_statistics",
           "memory": "memory_blocks", "communication": "comm_ops"}  # fmt: skip
_SELECTION = ("run", "recording", "rank", "device", "step", "source")

App = Callable[..., Iterable[bytes]]


def routes(store: Callable[[], Store]) -> Mapping[str, App]:
    """Route -> WSGI application. ``store`` is called at the first request that needs it."""
    found: dict[str, App] = {
        "/captures": _json(lambda request: _captures(store(), request)),
        "/progress": _json(lambda request: _progress(store(), request)),
        "/static/*": _static,
    }
    for view in VIEWS.values():
        found[f"/{view.id}"] = _view(store, view)
    for route, answer in timeline_api.ROUTES.items():
        found[route] = _timeline(store, answer)
    return found


def dispatch(store: Callable[[], Store], base: str) -> App:
    """One WSGI application for all of :func:`routes`, which lie below the path ``base``."""
    found = routes(store)

    def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "").removeprefix(base)
        answer = _static if path.startswith("/static/") else found.get(path, _no_route)
        return answer(environ, start_response)

    return app


@Request.application
def _no_route(request: Request) -> Response:
    return _send(
        request, _error("no-such-route", "There is no such route.", "See docs/http_api.md."), 404
    )


# ---- replies --------------------------------------------------------------------------------


def _captures(store: Store, request: Request) -> Any:
    if request.args.get("rescan"):
        store.wake()
    return results.CapturesReply(captures_view.captures(store), results.Meta())


def _progress(store: Store, _request: Request) -> Any:
    return results.ProgressReply(captures_view.progress(store), results.Meta())


def _view(store: Callable[[], Store], view: View) -> App:
    def once(request: Request) -> Any:
        sel = _select(store(), request).first(view.most)
        sel.options = {k: v for k in view.options if (v := request.args.get(k))}
        table = table_request(request.args)
        if view.tables:
            sel.store.request(sel.captures, view.tables, sel.prefer)
        if request.args.get("format") == "csv":
            return _csv(sel, view, table)
        return reply(sel, view, table)

    return _json(_twice(store, once))


def _timeline(store: Callable[[], Store], reply: timeline_api.Reply) -> App:
    def once(request: Request) -> Any:
        sel = _select(store(), request).first(MAX_PARTS)
        sel.store.request(sel.captures, TABLES, sel.prefer)
        return reply(sel, request)

    return _json(_twice(store, once))


def _twice(store: Callable[[], Store], once: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """Answer again where the cache was cleared, or an early table replaced, between two queries: what
    is gone is known by then, and read again."""

    def answer(request: Request) -> Any:
        try:
            return once(request)
        except (duckdb.IOException, FileNotFoundError):
            store().look_again()
            return once(request)

    return answer


def reply(sel: Selected, view: View, request: TableRequest) -> Any:
    """The whole reply of a view, as HTTP and ``--format json`` send it."""
    return view.reply(view.run(sel, request), meta(sel, view))


def view_csv(sel: Selected, view: View, request: TableRequest) -> Iterable[str]:
    """A view's whole table as CSV blocks. Raises RequestError 409 where it has none."""
    if view.query is None:
        raise RequestError(
            409, "nothing-to-export", "This view is no table.", "Ask for JSON instead."
        )
    query = view.query(sel, request.group)
    if query is None:
        raise RequestError(
            409,
            "nothing-to-export",
            "There is nothing to export here.",
            "Wait until the files are read, or see Health.",
        )
    return rows_csv(sel.store, query, request)


def _csv(sel: Selected, view: View, request: TableRequest) -> Response:
    name = re.sub(r"[^\w.=+-]+", "-", f"{sel.run}-{view.id}.csv", flags=re.ASCII)
    return Response(
        view_csv(sel, view, request),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def meta(sel: Selected, view: View) -> results.Meta:
    """The envelope's second half: selection, provenance, findings of the view, state."""
    found = health.findings(sel)
    state, done = sel.state(*view.tables)
    counts = sel.once("counts", make=lambda: {v: _rows(sel, t) for v, t in COUNTED.items()})
    return results.Meta(
        selection=sel.reply(),
        provenance=sel.provenance,
        sources=sel.store.kinds(sel.captures, view.tables[0]) if view.tables else [],
        findings=[f for f in found if view.id in f.views],
        counts={
            **counts,
            "files": sum(len(c.files) for c in sel.captures),
            "health": len(found),
            "health_errors": sum(f.severity == "error" for f in found),
            "health_warnings": sum(f.severity == "warning" for f in found),
        },
        state=state,
        progress=round(done, 4),
        step_picker=sel.word(*view.no_step) if view.no_step else None,
    )


def _rows(sel: Selected, table: str) -> int:
    return sum(s.rows.get(table, 0) for files in sel.files(table).values() for s, _ in files)


# ---- parameters -----------------------------------------------------------------------------


def _lang(request: Request) -> Lang:
    return "zh" if request.args.get("lang", "en").lower().startswith("zh") else "en"


def _select(store: Store, request: Request) -> Selected:
    wanted = {key: request.args.get(key) for key in _SELECTION}
    return select(store, **wanted, lang=_lang(request))


def table_request(args: Mapping[str, str]) -> TableRequest:
    """Table parameters. Raises RequestError 400 for an offset or limit that is no number."""

    def number(key: str, default: int) -> int:
        try:
            return int(args.get(key, default))
        except ValueError:
            raise RequestError(400, "bad-page", f"{key} must be a whole number.") from None

    return TableRequest(
        sort=args.get("sort", ""),
        filter=args.get("filter", ""),
        group=args.get("group", ""),
        columns=tuple(c for c in args.get("columns", "").split(",") if c),
        offset=number("offset", 0),
        limit=number("limit", TableRequest.limit),
    )


# ---- transport ------------------------------------------------------------------------------


def _json(answer: Callable[[Request], Any]) -> App:
    @Request.application
    def app(request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return _send(request, _error("bad-method", "Only GET is answered here."), 405)
        try:
            body = answer(request)
            return _headers(body) if isinstance(body, Response) else _send(request, body, 200)
        except RequestError as error:
            problem = results.ErrorBody(error.code, error.message, error.hint, error.position)
            return _send(request, results.ErrorReply(problem), error.status)
        except Exception as error:
            logger.exception("npu_profiler: %s failed", request.path)
            text = f"{type(error).__name__}: {str(error).split(chr(10), 1)[0]}"
            return _send(request, _error("internal", text[:300], "See TensorBoard's log."), 500)

    return app


def _error(code: str, message: str, hint: str = "") -> results.ErrorReply:
    return results.ErrorReply(results.ErrorBody(code, message, hint))


def _send(request: Request, reply: Any, status: int) -> Response:
    body = msgspec.json.encode(reply)
    response = Response(status=status, content_type="application/json")
    if len(body) >= _GZIP_FROM and _takes_gzip(request):
        body = gzip.compress(body, 1, mtime=0)
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    response.set_data(body)
    return _headers(response)


def _takes_gzip(request: Request) -> bool:
    return request.accept_encodings.quality("gzip") > 0


def _headers(response: Response) -> Response:
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.setdefault("Cache-Control", "no-store")
    return response


@Request.application
def _static(request: Request) -> Response:
    name = request.path.rsplit("/static/", 1)[-1]
    path = safe_join(str(STATIC), name)
    try:
        body = Path(path).read_bytes() if path and Path(path).is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        body = None
    if path is None or body is None:
        return _headers(Response("no such file", 404, content_type="text/plain"))
    file = Path(path)
    response = Response(content_type=_TYPES.get(file.suffix, "application/octet-stream"))
    # Chunks carry their hash in the name; the entry does not, so it is asked for each time. No
    # 304: werkzeug strips its Content-Type, which TensorBoard's validator wants on every reply.
    hashed = file.parent != STATIC
    response.headers["Cache-Control"] = "public, max-age=31536000" if hashed else "no-cache"
    response.headers["Vary"] = "Accept-Encoding"
    if len(body) >= _GZIP_FROM and _takes_gzip(request):
        body = gzip.compress(body, 6, mtime=0)
        response.headers["Content-Encoding"] = "gzip"
    response.set_data(body)
    return _headers(response)
