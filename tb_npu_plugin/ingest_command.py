"""tb-npu ingest: every capture of a logdir into a cache or a shared store, and what became of it."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from tb_npu_plugin.backend import settings
from tb_npu_plugin.backend.cache import Cache
from tb_npu_plugin.backend.discovery import Root, Scan, scan
from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.executors import cluster, processes
from tb_npu_plugin.backend.ingest_capture import Outcome, Task
from tb_npu_plugin.backend.ingest_many import ingest_many
from tb_npu_plugin.backend.shared_store import Directory, open_store
from tb_npu_plugin.backend.wording import printable
from tb_npu_plugin.reports import plain_csv, print_json

#: Where there is no terminal, how far it is is told so often.
LOG_SECONDS = 10.0
#: Captures that failed are listed one by one up to so many; the same command tries them all.
SHOWN = 20
_COLUMNS = ("run", "name", "rank", "state", "files", "files_there", "files_left", "read_bytes",
            "written_bytes", "seconds", "cpu_s", "peak_bytes", "host")  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What the command was told."""

    logdir: Path
    store: str | None
    cache: Path | None
    dask: str | None
    workers: int | None
    timeline: bool
    name: str

    def command(self, logdir: Path, name: str) -> str:
        """The same command over another logdir."""
        words = ["tb-npu", "ingest", printable(str(logdir))]
        words += ["--store", self.store] if self.store else []
        words += ["--cache", str(self.cache)] if self.cache else []
        words += ["--dask", self.dask] if self.dask else []
        words += [] if self.timeline else ["--no-timeline"]
        words += ["--name", name] if name not in ("", ".") else []
        return shlex.join(words)

    def retry(self, outcome: Outcome) -> str:
        """The command that reads one capture again, as the same capture."""
        path = Path(outcome.path)
        return self.command(path if path.is_dir() else path.parent, outcome.run)


def ingest_logdir(wanted: Wanted, format: str, out: Console) -> int:
    """Read every capture; prints what became of them. 1 if one failed, 130 if it was interrupted.

    Raises OSError where the logdir or the store cannot be reached, RequestError where there is no
    capture, or the store or the cluster cannot be used.
    """
    wanted.logdir.stat()
    found = scan([Root(wanted.logdir, wanted.name)])
    if not found.found:
        denied = f"Permission denied: {printable(found.denied[0])}" if found.denied else ""
        raise RequestError(404, "no-captures", f"No Ascend captures below {wanted.logdir}.",
                           denied or "tb-npu list says what a capture is.")  # fmt: skip
    place = _place(wanted)
    count = wanted.workers or settings.workers() or os.cpu_count() or 1
    started = time.monotonic()
    with cluster(wanted.dask) if wanted.dask else processes(count) as workers:
        # On a cluster a worker is a core, as docs/scale.md has them started.
        memory = settings.ingest_memory(os.environ.get("TB_NPU_MEMORY") or "", workers.count)
        threads = 1 if wanted.dask else max(1, min(4, (os.cpu_count() or 1) // count))
        tasks = [
            Task(f, place, not wanted.store, wanted.timeline, memory, threads) for f in found.found
        ]
        outcomes: list[Outcome] = []
        with _progress(len(tasks), outcomes) as show:

            def tell(outcome: Outcome) -> None:
                outcomes.append(outcome)
                show()

            try:
                ingest_many(tasks, workers, tell)
                interrupted = False
            except KeyboardInterrupt:
                interrupted = True
    seconds = time.monotonic() - started
    _report(wanted, place, outcomes, len(tasks), seconds, found, format, out)
    failed = found.denied or any(o.state == "failed" for o in outcomes)
    return 130 if interrupted else 1 if failed else 0


def _place(wanted: Wanted) -> str:
    """The store or the cache directory, which can be written from here."""
    if not wanted.store:
        cache = Cache(wanted.cache)
        if cache.temporary:
            raise PermissionError(f"the cache {cache.wanted} cannot be written")
        return str(cache.root.parent)
    store = open_store(wanted.store)
    if isinstance(store, Directory) and store.path in (
        path := wanted.logdir.absolute(),
        *path.parents,
    ):
        raise RequestError(400, "store-above", f"The store {store.url} must not hold the logdir.",
                           "Name a directory elsewhere.")  # fmt: skip
    try:
        store.create()
    except (OSError, RequestError):
        raise
    except Exception as error:  # of whichever package speaks the store's protocol
        raise RequestError(502, "store-unreachable", f"{store.url}: {type(error).__name__}: {error}",
                           "Check its address, the network and the credentials.") from error  # fmt: skip
    return store.url


@contextmanager
def _progress(total: int, outcomes: list[Outcome]) -> Iterator[Callable[[], None]]:
    """A bar on a terminal, a line now and then in a log; on stderr. Yields what shows the news."""
    console = Console(stderr=True)
    bar = Progress(TextColumn("Reading captures"), BarColumn(), MofNCompleteColumn(),
                   TimeRemainingColumn(), TextColumn("{task.description}"), console=console,
                   transient=True, disable=not console.is_terminal)  # fmt: skip
    told = time.monotonic()
    with bar:
        task = bar.add_task("", total=total)

        def show() -> None:
            nonlocal told
            failed = sum(o.state == "failed" for o in outcomes)
            word = f"{failed} failed" if failed else ""
            bar.update(task, completed=len(outcomes), description=word)
            if bar.disable and time.monotonic() - told > LOG_SECONDS:
                told = time.monotonic()
                print(f"[{len(outcomes)}/{total}] {_sums(outcomes)} {word}".rstrip(),
                      file=sys.stderr, flush=True)  # fmt: skip

        yield show


def _sums(outcomes: list[Outcome]) -> str:
    read, written = (sum(o.read_bytes for o in outcomes), sum(o.written_bytes for o in outcomes))
    return (
        f"{sum(o.files for o in outcomes):,} files, {read / 1e6:,.1f} MB read, "
        f"{written / 1e6:,.1f} MB written"
    )


def _report(
    wanted: Wanted, place: str, outcomes: list[Outcome], total: int, seconds: float, found: Scan,
    format: str, out: Console,
) -> None:  # fmt: skip
    if format == "csv":
        keys = [*_COLUMNS, "path", "errors"]
        cells = [{**asdict(o), "errors": "; ".join(o.errors)} for o in outcomes]
        plain_csv(keys, [[row[k] for k in keys] for row in cells])
        return
    counts = Counter(o.state for o in outcomes)
    failed = [o for o in outcomes if o.state == "failed"]
    if format == "json":
        print_json({
            "store": place, "captures": total, "seconds": round(seconds, 3),
            "states": dict(counts), "denied": [printable(path) for path in found.denied],
            "outcomes": [_plain(wanted, o) for o in outcomes],
        })  # fmt: skip
        return
    words = [f"{counts['read']} read", f"{counts['there']} there before"]
    words += [f"{counts['growing']} still being recorded"] if counts["growing"] else []
    words += [f"{len(failed)} failed"] if failed else []
    missing = total - len(outcomes)
    words += [f"{missing} not yet: the same command goes on from here"] if missing else []
    lines = [f"{total} capture(s): {', '.join(words)}."]
    if any(o.files for o in outcomes):
        cpu, peak = sum(o.cpu_s for o in outcomes), max(o.peak_bytes for o in outcomes)
        lines.append(f"{_sums(outcomes)}, {seconds:,.1f} s; {cpu:,.1f} s of processor time, "
                     f"at most {peak / 1e6:,.0f} MB in a process.")  # fmt: skip
    for line in lines:
        out.print(Text(line), soft_wrap=True)
    for path in found.denied:
        out.print(Text(f"✖ {printable(path)}: permission denied", style="red"), soft_wrap=True)
    for o in failed[:SHOWN]:
        out.print(Text(f"✖ {printable(o.run)}/{printable(o.name)}", style="red"), soft_wrap=True)
        for error in o.errors:
            out.print(Text(f"  {printable(error)}"), soft_wrap=True)
        out.print(Text(f"  → {wanted.retry(o)}", style="dim"), soft_wrap=True)
    if len(failed) > SHOWN:
        out.print(Text(f"… and {len(failed) - SHOWN} more"), soft_wrap=True)
        out.print(Text(f"  → {wanted.command(wanted.logdir, wanted.name)}", style="dim"),
                  soft_wrap=True)  # fmt: skip
    if wanted.store and not missing:
        out.print(Text(_look(place)), soft_wrap=True)


def _plain(wanted: Wanted, outcome: Outcome) -> dict[str, Any]:
    row = {k: printable(v) if isinstance(v, str) else v for k, v in asdict(outcome).items()}
    row["errors"] = [printable(error) for error in outcome.errors]
    del row["again"]
    return {**row, "retry": wanted.retry(outcome) if outcome.state == "failed" else ""}


def _look(place: str) -> str:
    if "://" in place:
        return f"Look at it: TB_NPU_STORE={shlex.quote(place)} tensorboard --logdir ."
    return f"Look at it: tensorboard --logdir {shlex.quote(place)}"
