"""Viewers of Chrome traces: where they come from, and how each tells that it has loaded."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TRACE = "trace_view.json"
#: Which versions: what is asked of their pages below was seen in these.
SPEEDSCOPE_NPM, POLYFILL_NPM = "speedscope@1.25.0", "webcomponents.js@0.7.24"
TRACE_VIEWER_PYPI = "torch-tb-profiler==0.4.3"
FETCH_SECONDS = 120
POLYFILL = "webcomponents.min.js"
#: As that plugin's page does it: asked for, parsed, written as text again, posted once the frame is
#: ready.
HOST = """<!DOCTYPE html><html><head><meta charset="utf-8"><link rel="icon" href="data:,">
<style>body{margin:0}iframe{width:100%;height:100vh;border:none;display:block}</style></head>
<body><iframe src="trace_embedding.html"></iframe><script>
const frame = document.querySelector('iframe');
const ready = new Promise((resolve) => window.addEventListener('message',
  (event) => (event.data || {}).msg === 'ready' && resolve()));
fetch('/trace_view.json').then((reply) => reply.json()).then((trace) => JSON.stringify(trace))
  .then((data) => ready.then(() => frame.contentWindow.postMessage({ msg: 'data', data }, '*')));
</script></body></html>"""


@dataclass(frozen=True)
class Viewer:
    """``frame``: part of the address of the frame it lives in. ``state``: a script that gives
    ``{state: 'loading' | 'loaded' | 'failed', box, note, slices, begun}``, where ``box`` is the
    area of the rows in the window and ``begun`` when the frame was made (seconds since the epoch).
    ``focus``: a script after which ``zoom``, its key to zoom in, reaches it."""

    frame: str
    state: str
    focus: str
    zoom: str


OURS = Viewer(
    "npu_profiler",
    """() => {
      const canvas = document.querySelector('canvas.tl-canvas');
      if (!canvas) return { state: 'loading' };
      const [own, outer] = [canvas, window.frameElement].map((e) => e.getBoundingClientRect());
      const reading = [...document.querySelectorAll('.strip')]
        .some((strip) => /^(Reading|Part of) the capture/.test(strip.textContent.trim()));
      const drawn = document.getElementById('tl-live').textContent.includes('slice');
      const head = 58;
      return {
        state: drawn && !reading ? 'loaded' : 'loading',
        box: [own.x + outer.x, own.y + outer.y + head, own.width, own.height - head],
        begun: performance.timeOrigin / 1000,
      };
    }""",
    "() => document.querySelector('canvas.tl-canvas').focus()",
    "w",
)
SPEEDSCOPE = Viewer(
    "/speedscope/",
    """() => {
      const text = document.body?.textContent ?? '';
      const threads = text.match(/\\(1\\/(\\d+)\\)/)?.[1];
      const warned = window.warnings_counted;
      return {
        // It goes back to its first page where it can make nothing of a file.
        state: /Something went wrong|Hi there! Welcome/.test(text) ? 'failed'
          : text.includes('Time Order') ? 'loaded' : 'loading',
        box: [0, 26, innerWidth, innerHeight - 26],
        note: [threads && `one thread of ${threads} at a time`,
          warned && `${warned.toLocaleString('en')} warnings about nesting`]
          .filter(Boolean).join(', '),
      };
    }""",
    "() => window.focus()",
    "+",
)
TRACE_VIEWER = Viewer(
    "trace_embedding",
    """() => {
      const model = document.querySelector('tr-ui-timeline-view')?.model;
      // The polyfill's lists of elements are not iterable.
      const overlays = document.querySelectorAll('overlay-frame');
      const failed = Array.prototype.some.call(overlays, (each) => /failed/.test(each.textContent));
      const threads = Object.values(model?.processes ?? {})
        .flatMap((process) => Object.values(process.threads));
      const warned = model?.importWarnings.length;
      return {
        state: failed ? 'failed' : model ? 'loaded' : 'loading',
        box: [250, 40, innerWidth - 280, innerHeight - 40],
        slices: model ? threads.reduce((sum, t) => sum + t.sliceGroup.slices.length, 0) : null,
        note: warned ? `${warned.toLocaleString('en')} import warnings` : '',
      };
    }""",
    "() => window.focus()",
    "w",
)


#: Its page below the address of the files; ``{}`` is where that address is put in.
OTHERS = {
    "speedscope": (SPEEDSCOPE, f"speedscope/index.html#profileURL={{}}{TRACE}"),
    "trace viewer": (TRACE_VIEWER, "trace_viewer/index.html"),
}


class FetchError(Exception):
    """A package is not to be had here."""


def fetch(site: Path, scratch: Path) -> dict[str, str]:
    """Puts the others into ``site``. Gives, by their names, why some are not to be had."""
    missing = {}
    for name, load in (("speedscope", _speedscope), ("trace viewer", _trace_viewer)):
        try:
            load(site, scratch)
        except FetchError as error:
            missing[name] = str(error)
    return missing


def _speedscope(site: Path, scratch: Path) -> None:
    package = _npm(SPEEDSCOPE_NPM, scratch)
    _unpack_npm(package, "package/dist/release/", site / "speedscope")


def _trace_viewer(site: Path, scratch: Path) -> None:
    target = site / "trace_viewer"
    target.mkdir()
    _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
          "--dest", str(scratch), TRACE_VIEWER_PYPI], TRACE_VIEWER_PYPI)  # fmt: skip
    (wheel,) = scratch.glob("torch_tb_profiler-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in ("trace_embedding.html", "trace_viewer_full.html"):
            (target / name).write_bytes(archive.read(f"torch_tb_profiler/static/{name}"))
    _unpack_npm(_npm(POLYFILL_NPM, scratch), f"package/{POLYFILL}", target)
    page = target / "trace_embedding.html"
    text = page.read_text()
    address = f"https://cdnjs.cloudflare.com/ajax/libs/webcomponentsjs/0.7.24/{POLYFILL}"
    if address not in text:
        raise FetchError(f"{TRACE_VIEWER_PYPI}: its page is another one than expected")
    page.write_text(text.replace(address, POLYFILL))
    (target / "index.html").write_text(HOST)


def _npm(package: str, scratch: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError(f"{package}: npm is not installed")
    before = set(scratch.glob("*.tgz"))
    _run(
        [
            npm,
            "pack",
            "--loglevel=error",
            "--fetch-retries=1",
            "--pack-destination",
            str(scratch),
            package,
        ],
        package,
    )
    (path,) = set(scratch.glob("*.tgz")) - before
    return path


def _run(command: list[str], package: str) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise FetchError(f"{package}: no answer within {FETCH_SECONDS} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        why = next((line for line in said if "error" in line.lower()), said[-1])
        raise FetchError(f"{package} could not be fetched, is the registry reachable? {why[:200]}")


def _unpack_npm(package: Path, prefix: str, target: Path) -> None:
    """The files below ``prefix``, side by side."""
    target.mkdir(exist_ok=True)
    with tarfile.open(package) as archive:
        for member in archive.getmembers():
            content = archive.extractfile(member) if member.name.startswith(prefix) else None
            if content:
                (target / Path(member.name).name).write_bytes(content.read())


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def copyfile(self, source: Any, outputfile: Any) -> None:
        # By the kernel: a copy in Python would be slower, and on account of the viewer.
        outputfile.flush()
        self.connection.sendfile(source)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A browser that is closed while it loads is none."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Files of a folder on 127.0.0.1; yields the address and stops at the end."""

    def handler(*args: Any) -> _Files:
        return _Files(*args, directory=str(folder))

    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join(timeout=5)
