"""The tb-npu command: the same views as the tab, in a terminal or a CI job.

Exit codes: 0 fine; 1 a finding of severity error, or nothing readable there; 2 wrong usage.
"""

from __future__ import annotations

import enum
import io
import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from tb_npu_plugin import __version__


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let :func:`~tb_npu_plugin.terminal.opened` end quietly; rich would exit with 1."""
        raise BrokenPipeError


app = typer.Typer(
    help="Profiles of PyTorch on Ascend NPUs: list, show, check.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
#: Piped output has no width of its own: wide enough for every default column.
out = _Console(width=None if sys.stdout.isatty() else 200)
err = Console(stderr=True)


class Format(str, enum.Enum):
    table = "table"
    json = "json"
    csv = "csv"


Logdir = Annotated[
    Path, typer.Argument(help="A logdir, a run, or one capture.", show_default=False)
]
Lang = Annotated[str, typer.Option(help="en or zh.", envvar="TB_NPU_LANG")]
CacheOption = Annotated[
    Path | None, typer.Option(help="Cache directory (default: $TB_NPU_CACHE).", show_default=False)
]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tb-npu {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "warning",
) -> None:
    level = logging.getLevelName(log_level.upper())
    if not isinstance(level, int):
        raise typer.BadParameter(f"there is no log level {log_level!r}")
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")


@app.command("list")
def list_captures(
    path: Logdir, format: Format = Format.table, lang: Lang = "en", cache: CacheOption = None
) -> None:
    """List runs, recordings and captures below PATH, how far each has come, and what to do."""
    from tb_npu_plugin.reports import listing
    from tb_npu_plugin.terminal import opened

    with opened(path, cache, read=False) as captures:
        listing(captures._store, format.value, out, "zh" if lang == "zh" else "en")


@app.command()
def show(
    view: Annotated[str, typer.Argument(help="overview, step, operator, kernel, api, …")],
    path: Logdir,
    run: Annotated[str | None, typer.Option(help="Run (default: the first).")] = None,
    recording: Annotated[str | None, typer.Option(help="Recording (default: newest).")] = None,
    rank: Annotated[str | None, typer.Option(help="all, 0, or 0,2,5-7.")] = None,
    device: Annotated[str | None, typer.Option(help="all, or 0,1.")] = None,
    step: Annotated[str | None, typer.Option(help="all, 50, 10-20, or none.")] = None,
    source: Annotated[
        str | None, typer.Option(help="text, db or trace, where there are more.")
    ] = None,
    group: Annotated[str, typer.Option(help="kernel: name, type, core, …; step: rank, step.")] = "",
    sort: Annotated[str, typer.Option(help="key or key:desc, comma separated.")] = "",
    filter: Annotated[str, typer.Option(help="e.g. 'MatMul dur>100us core=cube'.")] = "",
    columns: Annotated[str, typer.Option(help="Column keys, comma separated.")] = "",
    option: Annotated[
        list[str] | None,
        typer.Option(help="Parameter of the view alone, e.g. at=12.5ms (memory); repeatable."),
    ] = None,
    file: Annotated[
        str | None, typer.Option(help="files: the rows of this file, e.g. nic.csv.")
    ] = None,
    offset: Annotated[int, typer.Option(min=0)] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    format: Format = Format.table,
    lang: Lang = "en",
    cache: CacheOption = None,
) -> None:
    """Show one view of the captures below PATH."""
    from tb_npu_plugin.backend.tables import TableRequest
    from tb_npu_plugin.backend.views.registry import VIEWS
    from tb_npu_plugin.terminal import opened, show_view

    if view not in VIEWS:
        raise typer.BadParameter(f"there is no view {view!r}; views: {', '.join(VIEWS)}")

    options = dict(word.partition("=")[::2] for word in option or ())
    if file:
        options["file"] = file
    if unknown := sorted(set(options) - set(VIEWS[view].options)):
        known = ", ".join(VIEWS[view].options) or "none"
        raise typer.BadParameter(f"{view} has no option {unknown[0]!r}; options: {known}")
    selection = {"run": run, "recording": recording, "rank": rank, "device": device, "step": step,
                 "source": source, "lang": lang}  # fmt: skip
    request = TableRequest(
        sort, filter, group, tuple(c for c in columns.split(",") if c), offset, limit
    )
    with opened(path, cache) as captures:
        show_view(captures, view, selection, request, format.value, out, options)


@app.command()
def ranks(
    path: Logdir,
    run: Annotated[str | None, typer.Option(help="Run (default: the first).")] = None,
    recording: Annotated[str | None, typer.Option(help="Recording (default: newest).")] = None,
    rank: Annotated[str | None, typer.Option(help="all, 0, or 0,2,5-7.")] = None,
    step: Annotated[str | None, typer.Option(help="all, 50, 10-20, or none.")] = None,
    group: Annotated[str, typer.Option(help="host or collective.")] = "",
    sort: Annotated[str, typer.Option(help="key or key:desc, comma separated.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    format: Format = Format.table,
    lang: Lang = "en",
    cache: CacheOption = None,
) -> None:
    """Who holds the others up, and every rank beside the others (`show ranks`)."""
    show("ranks", path, run, recording, rank, step=step, group=group, sort=sort, limit=limit,
         format=format, lang=lang, cache=cache)  # fmt: skip


@app.command()
def check(
    path: Logdir,
    strict: Annotated[
        bool, typer.Option("--strict", help="Also go through what a good capture holds.")
    ] = False,
    parts: Annotated[
        bool, typer.Option("--parts", help="Also print what each view can show, and why not.")
    ] = False,
    format: Format = Format.table,
    lang: Lang = "en",
    cache: CacheOption = None,
) -> None:
    """Print what is missing, broken or suspicious; exit 1 if something is an error.

    With --strict also every point of a good capture (counters, statistics, whole trace, all steps of
    the schedule, …), and exit 1 if one is missed.
    """
    from tb_npu_plugin.terminal import check_all, opened

    with opened(path, cache) as captures:
        raise typer.Exit(check_all(captures, lang, format.value, out, strict=strict, parts=parts))


@app.command()
def ingest(
    path: Logdir,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="DIR_OR_URL",
            help="A store that others read, e.g. s3://bucket/cache "
            "(default: this machine's cache).",
            show_default=False,
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Read on this Dask cluster: tcp://scheduler:8786.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Processes, without --dask (default: $TB_NPU_WORKERS, else one for each core).",
            show_default=False,
        ),
    ] = None,
    timeline: Annotated[
        bool,
        typer.Option(help="Also read traces of captures whose other views need none."),
    ] = True,
    name: Annotated[
        str, typer.Option(help="Prefix of the runs, to keep several logdirs in one store apart.")
    ] = "",
    format: Format = Format.table,
    cache: CacheOption = None,
) -> None:
    """Read every capture below PATH ahead of time, on all cores or on a cluster.

    What is there already is not read again, so the same command goes on after whatever stopped it.
    Look at a store with `tensorboard --logdir DIR`, or TB_NPU_STORE=URL and any logdir.
    """  # fmt: skip
    from tb_npu_plugin.ingest_command import Wanted, ingest_logdir

    if dask and not store:
        raise typer.BadParameter("--dask needs a --store that every worker reaches")
    if dask and workers:
        raise typer.BadParameter("with --dask the cluster decides how many workers there are")
    if store and cache:
        raise typer.BadParameter("use --store or --cache: a store is a cache")
    wanted = Wanted(path, store, cache, dask, workers, timeline, name)
    raise typer.Exit(ingest_logdir(wanted, format.value, out))


@app.command()
def sample(
    path: Annotated[Path, typer.Argument(metavar="OUT", help="Directory to write to.")],
    ranks: Annotated[int, typer.Option(min=1)] = 2,
    steps: Annotated[int, typer.Option(min=1)] = 3,
    kernels_per_step: Annotated[int, typer.Option(min=1)] = 200,
    level: Annotated[int, typer.Option(min=0, max=2, help="Profiler level.")] = 1,
    seed: int = 0,
    straggler: Annotated[
        int | None, typer.Option(min=0, help="This rank computes longer; the others wait.")
    ] = None,
    slow_clock: Annotated[
        int | None, typer.Option(min=0, help="The cores of this rank run at 1.3 GHz.")
    ] = None,
    slow_host: Annotated[
        int | None, typer.Option(min=0, help="The data loader of this rank is late in every step.")
    ] = None,
    slow_link: Annotated[
        str | None, typer.Option(metavar="A-B", help="The link between these ranks is slow.")
    ] = None,
    memory_leak: Annotated[bool, typer.Option(help="Some memory is never released.")] = False,
    line: Annotated[str, typer.Option(help="Format of torch_npu 2025, 7.1 or 26.0.")] = "26.0",
    export: Annotated[str, typer.Option(help="text, db, or text,db for both.")] = "text",
    overwrite: Annotated[bool, typer.Option(help="Replace samples that lie there.")] = False,
) -> None:
    """Write a generated capture of a small transformer job: a demo, or data for a test."""
    from tb_npu_plugin.sample import write_sample

    link = None
    if slow_link is not None:
        a, _, b = slow_link.partition("-")
        if not (a.isdigit() and b.isdigit()):
            raise typer.BadParameter("--slow-link is two ranks, e.g. 3-5")
        link = (int(a), int(b))
    try:
        write_sample(
            path,
            ranks=ranks,
            steps=steps,
            kernels_per_step=kernels_per_step,
            level=level,
            seed=seed,
            straggler=straggler,
            slow_clock=slow_clock,
            slow_host=slow_host,
            slow_link=link,
            memory_leak=memory_leak,
            line=line,
            export=tuple(word.strip() for word in export.split(",")),
            overwrite=overwrite,
        )
    except (ValueError, FileExistsError) as error:
        raise typer.BadParameter(str(error)) from error
    print(f"Wrote {ranks} rank(s) x {steps} step(s) to {path}. Look at it with:")
    print(f"  tensorboard --logdir {path}")


@app.command()
def demo(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1.")] = 6006,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after so long.", envvar="DEMO_SECONDS")
    ] = None,
    logdir: Annotated[Path | None, typer.Option(help="Where to write the samples.")] = None,
) -> None:
    """Generate a sample logdir and serve it with TensorBoard on 127.0.0.1."""
    from tb_npu_plugin.demo import serve

    raise typer.Exit(serve(port, seconds, logdir))


@app.command()
def analyse(
    path: Annotated[Path, typer.Argument(help="A capture, or a directory with captures.")],
    workers: Annotated[int, typer.Option(min=1, help="How many at once.")] = 1,
    scratch: Annotated[
        Path | None, typer.Option(help="Copy the raw data there, analyse, bring it back.")
    ] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds for one capture.")] = None,
) -> None:
    """Analyse captures that were only recorded, with torch_npu's own analysis. Can be run again."""
    from tb_npu_handler.analyse import Result, analyse_tree

    def tell(done: int, total: int, result: Result) -> None:
        line = f"[{done}/{total}] {result.state:10} {result.path}"
        out.print(line, markup=False, highlight=False, soft_wrap=True)
        if result.reason:
            out.print(f"    {result.reason}", markup=False, highlight=False, soft_wrap=True)

    results = analyse_tree(str(path), workers, str(scratch) if scratch else None, tell, timeout)
    if not results:
        out.print(f"No captures below {path}.", markup=False, highlight=False)
    raise typer.Exit(1 if not results or any(r.state == "failed" for r in results) else 0)


@app.command()
def doctor(
    logdir: Annotated[Path | None, typer.Argument(help="Also try to write here.")] = None,
) -> None:
    """Look at this installation: versions, torch_npu, CANN, TensorBoard, known bad pairs."""
    from tb_npu_handler.doctor import examine

    checks = examine(str(logdir) if logdir else None)
    for check in checks:
        line = f"{_MARKS.get(check.status, '?')} {check.name:14} {check.detail}"
        out.print(line, markup=False, highlight=False, soft_wrap=True)
        if check.remedy and check.status != "ok":
            out.print(f"    {check.remedy}", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(1 if any(c.status == "fail" for c in checks) else 0)


#: Glyphs of a check's status; the words are in the detail.
_MARKS = {"ok": "✓", "warn": "▲", "fail": "✖"}

cache_app = typer.Typer(help="The cache of read captures.", no_args_is_help=True)
app.add_typer(cache_app, name="cache")


@cache_app.command("info")
def cache_info(cache: CacheOption = None) -> None:
    """Where the cache is and how large it is."""
    from tb_npu_plugin.backend.cache import Cache

    found = Cache(cache)
    entries = found.entries()
    size = sum(e[1] for e in entries)
    print(f"{found.root}: {len(entries)} files read, {size / 2**20:.1f} MiB "
          f"of {found.limit_bytes / 2**30:.0f} GiB")  # fmt: skip


@cache_app.command("clear")
def cache_clear(cache: CacheOption = None) -> None:
    """Delete everything in the cache. Captures are read again when needed."""
    from tb_npu_plugin.backend.cache import Cache

    print(f"Removed {Cache(cache).clear() / 2**20:.1f} MiB.")


@cache_app.command("prune")
def cache_prune(
    store: Annotated[str, typer.Argument(metavar="DIR_OR_URL", help="A store of tb-npu ingest.")],
    older_than: Annotated[
        float,
        typer.Option(min=0, metavar="HOURS", help="Only what was written so many hours ago: younger "
                     "entries may be of an ingest that is still running."),
    ] = 24.0,
    dry_run: Annotated[bool, typer.Option(help="Tell only.")] = False,
) -> None:  # fmt: skip
    """Delete what no capture of a shared store needs any more.

    Each version of the plugin and each change of a file leaves entries behind; a cache of this machine
    trims itself.
    """
    from tb_npu_plugin.backend.prune_store import unused
    from tb_npu_plugin.backend.shared_store import open_store

    place = open_store(store)
    entries = unused(place, older_than)
    if not dry_run:
        for entry in entries:
            place.remove(entry)
    size = sum(e.bytes for e in entries)
    word = "Would remove" if dry_run else "Removed"
    print(f"{word} {len(entries)} entries, {size / 2**20:.1f} MiB.")


def main(args: list[str] | None = None) -> Any:
    """Entry point of the console script."""
    from tb_npu_plugin.backend.errors import RequestError

    for stream in (sys.stdout, sys.stderr):  # a locale may not have every character of a name
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        return app(args=args)
    except RequestError as error:
        err.print(f"tb-npu: {error.message}", style="bold", markup=False, highlight=False)
        if error.hint:
            err.print(f"  {error.hint}", markup=False, highlight=False)
        sys.exit(2 if error.status == 400 else 1)
    except (OSError, msgspec.MsgspecError) as error:
        err.print(f"tb-npu: {error}", markup=False, highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
