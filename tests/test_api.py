"""HTTP: every route answers strict JSON, errors have one shape, nothing a client sends is a 500."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_captures import KERNELS, STEP_HEADER, STEPS, info, write_capture
from werkzeug.test import Client, TestResponse

from tb_npu_plugin.backend import api, results
from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root
from tb_npu_plugin.backend.store import Store
from tb_npu_plugin.backend.views.registry import VIEWS
from tb_npu_plugin.sample import write_sample

PREFIX = "/data/plugin/npu_profiler"
REPLIES = {view: f"{view.capitalize()}Reply" for view in VIEWS}


class Http:
    """A client of all routes, mounted as TensorBoard mounts them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.routes = api.routes(lambda: store)
        self.client = Client(self._dispatch)

    def _dispatch(self, environ: dict[str, Any], start_response: Any) -> Any:
        path = environ["PATH_INFO"].removeprefix(PREFIX)
        route = "/static/*" if path.startswith("/static/") else path
        return self.routes[route](environ, start_response)

    def get(
        self, route: str, method: str = "GET", headers: Any = None, **args: Any
    ) -> TestResponse:
        query = urlencode(args, errors="surrogateescape") if args else ""
        return self.client.open(f"{PREFIX}/{route}?{query}", method=method, headers=headers)

    def json(self, route: str, status: int = 200, **args: Any) -> Any:
        """The reply as strict JSON; its status and headers are checked."""
        response = self.get(route, **args)
        assert response.status_code == status, response.get_data(as_text=True)[:300]
        assert response.content_type == "application/json"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        return strict(response.get_data())

    def data(self, route: str, **args: Any) -> Any:
        return self.json(route, **args)["data"]


def strict(body: bytes) -> Any:
    """Decoded as JSON.parse would: no NaN, no Infinity."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(body.decode("utf-8"), parse_constant=refuse)


def serve(logdir: Path, cache: Path) -> Http:
    store = Store([Root(logdir)], Cache(cache))
    store.rescan()
    assert store.wait(timeout=120)
    return Http(store)


@pytest.fixture(scope="module")
def http(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Http]:
    served = serve(shared / "captures/text_level1", tmp_path_factory.mktemp("cache"))
    yield served
    served.store.close()


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[[], Http]]:
    """Serve ``tmp_path/logdir``."""
    open_ones: list[Http] = []

    def start() -> Http:
        open_ones.append(serve(tmp_path / "logdir", tmp_path / "cache"))
        return open_ones[-1]

    yield start
    for one in open_ones:
        one.store.close()


# ---- every route ----------------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_view_answers_its_reply(http: Http, view: str, lang: str) -> None:
    reply = http.json(view, lang=lang)
    decoder = getattr(results, REPLIES[view], None)
    if decoder is None:  # a name that is not the view's: api -> ApiStatisticReply
        decoder = next(r for r in results.REPLIES if r.__name__.lower().startswith(view[:3]))
    msgspec.convert(reply, decoder)
    meta = reply["meta"]
    assert meta["state"] == "ready"
    assert meta["selection"]["ranks"] == [0, 1]
    assert meta["counts"]["kernel"] == 382
    assert meta["counts"]["step"] == 2


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_takes_every_part_of_the_selection(http: Http, view: str) -> None:
    """Also where its tables carry no step or device."""
    everything = {"rank": "1", "step": "50", "device": "0,unknown", "source": "text"}
    for group in VIEWS[view].groups or ("",):
        http.json(view, group=group, **everything)
    for selection in ({"device": "0"}, {"device": "unknown"}, {"step": "none"}, {"source": "db"}):
        http.json(view, **selection)


def test_captures_and_progress(http: Http) -> None:
    (run,) = http.data("captures")["runs"]
    (recording,) = run["recordings"]
    assert (run["run"], recording["ranks"], recording["steps"]) == (".", [0, 1], [50])
    assert [c["state"] for c in recording["captures"]] == ["ready", "ready"]
    progress = http.data("progress")
    assert (progress["state"], progress["progress"], progress["jobs"]) == ("idle", 1.0, [])
    assert progress["version"] == http.data("captures")["version"]


def test_hand_values_on_the_wire(http: Http) -> None:
    table = http.data("step", rank="0")["table"]
    assert table["values"]["computing_ns"] == [8873756.0]
    assert table["values"]["stage_ns"] == [136581000.0]
    kernels = http.data("kernel", rank="0", sort="start_ns", limit="2")["table"]
    assert kernels["base_ns"] == "1736408883704643212"
    assert kernels["values"]["start_ns"] == [0, 157944]
    assert kernels["total"] == 191


def test_head_has_the_headers_and_no_body(http: Http) -> None:
    for route in ("captures", "overview", "kernel"):
        response = http.get(route, method="HEAD")
        assert (response.status_code, response.get_data()) == (200, b"")
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.content_type == "application/json"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(http: Http, method: str) -> None:
    response = http.get("overview", method=method)
    assert response.status_code == 405
    assert strict(response.get_data())["error"]["code"] == "bad-method"


def test_gzip_only_where_it_is_taken(http: Http) -> None:
    plain = http.get("kernel")
    packed = http.get("kernel", headers={"Accept-Encoding": "gzip"})
    refused = http.get("kernel", headers={"Accept-Encoding": "gzip;q=0"})
    assert "Content-Encoding" not in plain.headers
    assert "Content-Encoding" not in refused.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert strict(gzip.decompress(packed.get_data())) == strict(plain.get_data())
    assert len(packed.get_data()) < len(plain.get_data()) / 3


def test_languages(http: Http) -> None:
    labels = {
        lang: [c["label"] for c in http.data("step", lang=lang)["table"]["columns"]]
        for lang in ("en", "zh", "zh-CN", "ZH_tw", "de", "", "x" * 1000)
    }
    assert labels["zh"] == labels["zh-CN"] == labels["ZH_tw"] != labels["en"]
    assert labels["en"] == labels["de"] == labels[""] == labels["x" * 1000]


# ---- errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "args", "status", "code"),
    [
        ("overview", {"run": "nope"}, 404, "no-such-run"),
        ("overview", {"recording": "nope"}, 404, "no-such-recording"),
        ("overview", {"rank": "7"}, 404, "no-such-rank"),
        ("overview", {"rank": "unknown"}, 404, "no-such-rank"),
        ("overview", {"rank": "x"}, 400, "bad-rank"),
        ("step", {"step": "1-"}, 400, "bad-step"),
        ("step", {"device": "-1"}, 400, "bad-device"),
        ("kernel", {"group": "nope"}, 400, "bad-group"),
        ("step", {"group": "name"}, 400, "bad-group"),
        ("kernel", {"sort": "name:up"}, 400, "bad-sort"),
        ("kernel", {"filter": "dur>x"}, 400, "bad-filter"),
        ("kernel", {"filter": "dur>x", "format": "csv"}, 400, "bad-filter"),
        ("kernel", {"limit": "0"}, 400, "bad-page"),
        ("kernel", {"limit": "1001"}, 400, "bad-page"),
        ("kernel", {"limit": "ten"}, 400, "bad-page"),
        ("kernel", {"offset": "-1"}, 400, "bad-page"),
        ("kernel", {"offset": "9" * 40}, 400, "bad-page"),
        ("kernel", {"offset": "9" * 5000}, 400, "bad-page"),
        ("kernel", {"offset": "1.5"}, 400, "bad-page"),
        ("overview", {"format": "csv"}, 409, "nothing-to-export"),
        ("health", {"format": "csv"}, 409, "nothing-to-export"),
    ],
)
def test_errors_have_one_shape(
    http: Http, route: str, args: dict[str, str], status: int, code: str
) -> None:
    reply = http.json(route, status=status, **args)
    assert list(reply) == ["error"]
    assert set(reply["error"]) == {"code", "message", "hint", "position"}
    assert reply["error"]["code"] == code
    assert reply["error"]["message"]


def test_a_bad_filter_points_at_the_character(http: Http) -> None:
    assert http.json("kernel", 400, filter="conv dur>1lightyear")["error"]["position"] == 10


def test_the_furthest_page_is_empty(http: Http) -> None:
    table = http.data("kernel", offset=str(2**53))["table"]
    assert (table["values"]["name"], table["total"]) == ([], 382)


def test_nothing_found_is_told(serving: Callable[[], Http], tmp_path: Path) -> None:
    (tmp_path / "logdir").mkdir()
    http = serving()
    assert http.data("captures")["runs"] == []
    assert http.json("overview", 404)["error"]["code"] == "no-captures"


def test_a_failure_of_ours_is_an_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Store:
        raise ImportError("No module named 'duckdb'\nsecond line")

    client = Client(api.routes(broken)["/overview"])
    response = client.get("/overview")
    assert response.status_code == 500
    error = strict(response.get_data())["error"]
    assert (error["code"], error["message"]) == (
        "internal", "ImportError: No module named 'duckdb'",
    )  # fmt: skip


# ---- tables over HTTP -----------------------------------------------------------------------


@pytest.mark.parametrize("view", [v.id for v in VIEWS.values() if v.query])
def test_csv_of_every_table_and_group(http: Http, view: str) -> None:
    for group in VIEWS[view].groups or ("",):
        response = http.get(view, group=group, format="csv")
        if response.status_code == 409:
            continue  # this capture has not the file for it
        assert response.status_code == 200, (group, response.get_data(as_text=True)[:300])
        assert response.content_type == "text/csv; charset=utf-8"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert re.match(r'^attachment; filename="[\w.=+-]+\.csv"$',
                        response.headers["Content-Disposition"])  # fmt: skip
        lines = list(csv.reader(io.StringIO(response.get_data(as_text=True))))
        table = http.data(view, group=group)["table"]
        assert len(lines) - 1 == table["total"]
        assert lines[0] == [c["key"] for c in table["columns"] if c["shown"]]


@pytest.mark.parametrize("view", [v.id for v in VIEWS.values() if v.query])
def test_every_column_sorts_filters_and_shows(http: Http, view: str) -> None:
    kinds: set[tuple[bool, str]] = set()
    for group in VIEWS[view].groups or ("",):
        first = http.data(view, group=group, filter="x 1 /y/")["table"]
        for column in first["columns"]:
            # One column of each kind, plain and summed up, and every one that is shown at first.
            kind = (bool(group), column["kind"])
            if kind in kinds and not (column["shown"] and not group):
                continue
            kinds.add(kind)
            key = column["key"]
            args = {"group": group, "columns": key, "limit": "5"}
            known = http.data(view, sort=f"{key}:desc", filter=f"{key}!=unknown", **args)["table"]
            assert list(known["values"]) == [key]
            assert known["sort"] == f"{key}:desc"
            numbers = [v for v in known["values"][key] if isinstance(v, int | float)]
            assert numbers == sorted(numbers, reverse=True), key
            unknown = http.data(view, filter=f"{key}=unknown", **args)["table"]
            assert known["total"] + unknown["total"] == first["unfiltered"], (group, key)


PARAMETERS = {
    "run": st.sampled_from([".", "nope", ""]),
    "recording": st.sampled_from(["latest", "nope", ""]),
    "rank": st.sampled_from(["all", "0", "0,1", "1-0", "unknown", "9" * 30, "all,0"]) | st.text(),
    "device": st.sampled_from(["all", "0", "unknown", "0-999999999"]) | st.text(),
    "step": st.sampled_from(["all", "50", "none", "1-50,none", "9" * 30]) | st.text(),
    "source": st.sampled_from(["auto", "text", "db", ""]) | st.text(),
    "lang": st.sampled_from(["en", "zh"]) | st.text(),
    "group": st.sampled_from(["", "name", "type", "core", "shape", "stream", "step", "rank"])
    | st.text(),
    "sort": st.sampled_from(
        ["", "dur_ns", "name:desc,dur_ns", "row", "row:desc", "rank,capture", "part", "file",
         "start_ns:desc", "total_ns", "count:desc", ",", ":desc", "dur_ns,dur_ns:desc"]
    ) | st.text(),
    "filter": st.sampled_from(
        ["conv", "dur>1us", "core=cube", "/x/", "total>1ms", "share>1%", "count>2", "start>1ms",
         "rank=0", "stream=2 conv", "step=50", '"a b"', "\0", "/\0/", "dur>1e999", "row>=3",
         "mac_ratio>0.5", "name=\ud800"]
    ) | st.text(),
    "columns": st.sampled_from(
        ["name", "name,name", "row", "aic_mac_ratio", "nope", ",", "capture,rank"]
    ) | st.text(),
    "offset": st.sampled_from(["0", "5", "999999999999", "-1", "", "1e3", "٣"]) | st.text(),
    "limit": st.sampled_from(["1", "10", "1000", "0", "", "x"]) | st.text(),
    "format": st.sampled_from(["csv", "json"]),
}  # fmt: skip


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([*VIEWS, "captures", "progress"]),
    # A few parameters at a time: one that is refused hides what the others would do.
    st.lists(st.sampled_from(sorted(PARAMETERS)), max_size=4, unique=True).flatmap(
        lambda keys: st.fixed_dictionaries({key: PARAMETERS[key] for key in keys})
    ),
)
def test_nothing_a_client_asks_is_a_failure_of_ours(
    http: Http, route: str, args: dict[str, str]
) -> None:
    safe = {k: v.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
            for k, v in args.items()}  # fmt: skip
    response = http.get(route, **safe)
    body = response.get_data()
    assert response.status_code in (200, 400, 404, 409), (response.status_code, body[:500])
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    if response.content_type == "application/json":
        assert ("error" in strict(body)) == (response.status_code != 200)


# ---- hostile captures -----------------------------------------------------------------------


def test_names_from_files_come_out_as_they_are(serving: Callable[[], Http], tmp_path: Path) -> None:
    hostile = ["<img src=x onerror=alert(1)>", "=HYPERLINK(1)", "a\u202eb", "x" * 20_000, "\0nul",
               "'; DROP TABLE x", "{0}%s", "名前"]  # fmt: skip
    rows = "".join(f'10,"{n}",T,AI_CORE,{i},1,0,8,2\n' for i, n in enumerate(hostile))
    text = KERNELS.splitlines()[0] + "\n" + rows
    write_capture(tmp_path / "logdir/cap", info(0), kernel_details=text, step_trace_time=STEPS)
    http = serving()
    for group in ("", "name"):
        values = http.data("kernel", group=group, sort="name")["table"]["values"]["name"]
        assert sorted(values) == sorted(hostile)
    for name in hostile[:2]:
        found = http.data("kernel", filter=f'name="{name}"')["table"]
        assert found["values"]["name"] == [name]
    exported = http.get("kernel", format="csv").get_data(as_text=True)
    assert "'=HYPERLINK(1)" in exported


def test_odd_run_names_work_everywhere(serving: Callable[[], Http], tmp_path: Path) -> None:
    odd = ["new\nline", 'quo"te', "r\rn", "日本", "a;b=c", "%2e", "(", " "]
    for name in odd:
        write_capture(tmp_path / "logdir" / name / "cap", info(), kernel_details=KERNELS,
                      step_trace_time=STEPS)  # fmt: skip
    http = serving()
    assert {r["run"] for r in http.data("captures")["runs"]} == set(odd)
    for name in odd:
        for view in VIEWS:
            reply = http.json(view, run=name)
            assert reply["meta"]["selection"]["run"] == name
        response = http.get("kernel", run=name, format="csv")
        assert response.status_code == 200
        assert "\n" not in response.headers["Content-Disposition"]


def test_undecodable_names_all_the_way(serving: Callable[[], Http], tmp_path: Path) -> None:
    """A directory and files whose names are no UTF-8: shown, selectable, read."""
    odd = os.fsdecode(b"r\xff\xfe")
    cap = write_capture(tmp_path / "logdir" / odd / f"{odd}_cap", info(0), kernel_details=KERNELS,
                        step_trace_time=STEPS)  # fmt: skip
    (cap / f"{odd}.log").write_text("x")
    (cap / "ASCEND_PROFILER_OUTPUT" / f"{odd}.db").write_text("x")
    raw = tmp_path / "logdir" / odd / "raw"
    (raw / "FRAMEWORK").mkdir(parents=True)
    http = serving()
    (run,) = [r["run"] for r in http.data("captures")["runs"]]
    assert run == r"r\xff\xfe"
    for view in VIEWS:
        http.json(view, run=run)
        http.json(view, run=run, lang="zh", rank="all")
    names = http.data("files", run=run)["table"]["values"]["name"]
    assert r"r\xff\xfe.log" in names or any("r" in n and ".log" in n for n in names)
    assert http.data("kernel", run=run)["table"]["total"] == 2
    assert http.get("files", run=run, format="csv").status_code == 200


def test_impossible_numbers_stay_strict(serving: Callable[[], Http], tmp_path: Path) -> None:
    header = KERNELS.splitlines()[0]
    rows = "".join(
        f"10,k{i},T,AI_CORE,{start},{dur},{wait},8,2\n"
        for i, (start, dur, wait) in enumerate(
            [("inf", "inf", "nan"), ("-1", "-5", "-1"), ("1e30", "1e308", "1e308"),
             ("9" * 40, "1e308", "1e308"), ("", "", ""), ("0", "0", "0"), ("1e308", "1e400", "-inf")]
        )
    )  # fmt: skip
    steps = f"{STEP_HEADER}\n0,1,inf,nan,1e308,1e308,-1,0,0,0,-1.7e15\n0,2,0,0,0,0,0,0,0,0,0\n"
    write_capture(tmp_path / "logdir/cap", info(0), kernel_details=f"{header}\n{rows}",
                  step_trace_time=steps)  # fmt: skip
    http = serving()
    for view in VIEWS:
        for group in VIEWS[view].groups or ("",):
            http.json(view, group=group)
    ratios = http.data("kernel", group="name")["table"]["values"]["total_ratio"]
    assert all(r is None or 0 <= r <= 1 for r in ratios)
    for row in http.data("step")["table"]["values"]["computing_ratio"]:
        assert row is None or 0 <= row <= 1


def test_a_capture_with_duplicate_and_unknown_columns(
    serving: Callable[[], Http], tmp_path: Path
) -> None:
    header, first, _ = KERNELS.splitlines()
    extra = [
        "aic_mac_ratio",
        "aic_mac_ratio",
        "rank",
        "row",
        "file",
        "part",
        "capture",
        "a b",
        "l" * 500,
    ]
    text = f"{header},{','.join(extra)}\n{first},{','.join(['0.5'] * len(extra))}\n"
    write_capture(tmp_path / "logdir/cap", info(0), kernel_details=text, step_trace_time=STEPS)
    http = serving()
    for group in VIEWS["kernel"].groups:
        table = http.data("kernel", group=group)["table"]
        for column in table["columns"]:
            key = column["key"]
            args = {"group": group, "columns": key, "sort": f"{key}:desc"}
            http.data("kernel", filter=f"{key}=1", **args) if column["kind"] != "text" else (
                http.data("kernel", filter=f"{key}=0.5", **args)
            )


def test_a_cleared_cache_is_an_answer_not_a_failure(
    serving: Callable[[], Http], tmp_path: Path
) -> None:
    write_capture(tmp_path / "logdir/cap", info(0), kernel_details=KERNELS, step_trace_time=STEPS)
    http = serving()
    for _ in range(3):
        http.store.cache.clear()
        for view in VIEWS:
            http.json(view)
        assert http.store.wait(timeout=60)
        assert http.data("kernel")["table"]["total"] == 2


def test_a_cache_cleared_between_two_queries_of_one_request(
    serving: Callable[[], Http], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_capture(tmp_path / "logdir/cap", info(0), kernel_details=KERNELS, step_trace_time=STEPS)
    http = serving()
    http.data("kernel")
    cursor = http.store.cursor
    for view in ("kernel", "overview", "step"):
        assert http.store.wait(timeout=60)
        cleared = []

        def clearing(cleared: list[int] = cleared) -> Any:
            if not cleared:
                cleared.append(http.store.cache.clear())
            return cursor()

        monkeypatch.setattr(http.store, "cursor", clearing)
        http.json(view)
        assert cleared


# ---- static files ---------------------------------------------------------------------------


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "static"
    (folder / "chunks").mkdir(parents=True)
    (folder / "index.js").write_text("export function render() {}" + " " * 2000)
    (folder / "chunks/a-1b2c.css").write_text("a {}")
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setattr(api, "STATIC", folder)
    return folder


def test_static_files(http: Http, static: Path) -> None:
    entry = http.get("static/index.js")
    assert entry.status_code == 200
    assert entry.content_type.startswith("application/javascript")
    assert entry.headers["Cache-Control"] == "no-cache"
    assert entry.headers["X-Content-Type-Options"] == "nosniff"
    chunk = http.get("static/chunks/a-1b2c.css")
    assert chunk.content_type.startswith("text/css")
    assert "max-age" in chunk.headers["Cache-Control"]
    packed = http.get("static/index.js", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.get_data()) == entry.get_data()
    head = http.get("static/index.js", method="HEAD")
    assert (head.status_code, head.get_data()) == (200, b"")


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "..%2fsecret.txt", "chunks/../../secret.txt", "/etc/passwd", "//etc/passwd",
     "static/../../secret.txt", "..\\secret.txt", "", ".", "chunks", "%00", "a%00b", "x" * 5000,
     "%ff%fe", "index.js/", "index.js/x", "..", "%2e%2e/secret.txt"],
)  # fmt: skip
def test_nothing_outside_is_served(http: Http, static: Path, name: str) -> None:
    response = http.client.get(f"{PREFIX}/static/{name}")
    assert response.status_code in (200, 404)
    assert b"secret" not in response.get_data()
    if response.status_code == 200:
        assert response.get_data().startswith(b"export")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.content_type


def test_the_original_of_a_trace(http: Http, shared: Path) -> None:
    """Of the second capture, byte by byte; in blocks, since it may have gigabytes."""
    response = http.get("timeline/original", part=1)
    assert response.status_code == 200
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.content_type == "application/octet-stream"
    assert "trace_view.json" in response.headers["Content-Disposition"]
    (path,) = (shared / "captures/text_level1/rank1_ascend_pt").rglob("trace_view.json")
    assert response.get_data() == path.read_bytes()
    assert http.json("timeline/original", 404, part=2)["error"]["code"] == "no-original"
    assert http.json("timeline/original", 404, part=-1)["error"]["code"] == "no-original"


def test_an_original_that_is_gone(serving: Callable[[], Http], tmp_path: Path) -> None:
    write_sample(tmp_path / "logdir", ranks=1, steps=1, kernels_per_step=10)
    http = serving()
    assert http.get("timeline/original").status_code == 200
    (trace,) = (tmp_path / "logdir").rglob("trace_view.json")
    trace.unlink()
    error = http.json("timeline/original", 404)["error"]
    assert error["code"] == "no-original"
    assert str(trace) in error["message"]
