"""Time, speed and memory of reading a big trace_view.json, or a big database, into the store.

    python benchmarks/trace_ingest.py --mb 1100
    python benchmarks/trace_ingest.py --mb 1000 --database     # its tables, then its timeline
    python benchmarks/trace_ingest.py --input path/to/trace_view.json --derived

The file is written with the sample generator below a temporary directory. Reading happens in a
process of its own, as in the server, so that its peak memory is that of reading alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: One step of the generated job with 4,000 kernels, in bytes of trace, and of its database.
STEP_BYTES, STEP_BYTES_DB = 13_100_000, 5_100_000
#: Readers of a file and of what is derived from it.
READERS = {".json": ("trace_view", "trace_derived"), ".db": ("profiler_db", "db_timeline")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=float, default=300, help="size of the generated trace")
    parser.add_argument("--input", type=Path, help="an existing trace instead of a generated one")
    parser.add_argument("--memory", default="400MB", help="the database's memory limit")
    parser.add_argument(
        "--derived", action="store_true", help="also work out steps, kernels, operators"
    )
    parser.add_argument(
        "--database", action="store_true", help="a database, with its timeline, in place of a trace"
    )
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(_read(options.child, options.memory, derived=options.derived)))
        return 0
    with tempfile.TemporaryDirectory(prefix="trace-ingest-") as scratch:
        path = options.input or _generate(Path(scratch), options.mb, options.database)
        size = path.stat().st_size
        flags = ["--derived"] if options.derived or path.suffix == ".db" else []
        child = subprocess.run(
            [sys.executable, __file__, "--child", str(path), "--memory", options.memory, *flags],
            check=True, capture_output=True, text=True, env={**os.environ, "TMPDIR": scratch},
        )  # fmt: skip
    found = json.loads(child.stdout.splitlines()[-1])
    rows = ", ".join(f"{count:,} {table}" for table, count in found["rows"].items())
    print(f"{size / 1e6:,.0f} MB, {found['events']:,} events: {rows}")
    print(f"  {found['seconds']:.1f} s, {size / 1e6 / found['seconds']:.0f} MB/s, "
          f"peak {found['peak_mb']:,.0f} MB, tables {found['table_mb']:,.1f} MB")  # fmt: skip
    print(f"  processor time {found['cpu']:.1f} s; load of the machine {os.getloadavg()[0]:.1f}")
    if found["error"] or found["codes"]:
        print(f"  {found['error']} {found['codes']}")
    return 1 if found["error"] else 0


def _generate(folder: Path, mb: float, database: bool) -> Path:
    from tb_npu_plugin.sample import write_sample

    if database:
        steps = max(1, round(mb * 1e6 / STEP_BYTES_DB))
        write_sample(folder, ranks=1, steps=steps, kernels_per_step=4000, export=("db",))
        (path,) = folder.glob("*/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db")
        return path
    steps = max(1, round(mb * 1e6 / STEP_BYTES))
    write_sample(folder, ranks=1, steps=steps, kernels_per_step=4000, files=("trace_view.json",))
    (path,) = folder.glob("*/ASCEND_PROFILER_OUTPUT/trace_view.json")
    return path


def _read(path: Path, memory: str, *, derived: bool) -> dict[str, object]:
    from tb_npu_plugin.backend.cache import Cache
    from tb_npu_plugin.backend.ingest import Job, ingest

    with tempfile.TemporaryDirectory(prefix="cache-") as cache:
        reader, more_reader = READERS[path.suffix]
        job = Job("bench", os.fsencode(path), path.name, reader, "trace",
                  path.stat().st_size, cache, memory)  # fmt: skip
        began, before = time.perf_counter(), time.process_time()
        done = ingest(job)
        rows, notes, error = dict(done.tables), list(done.notes), done.error
        if derived:
            import msgspec

            more = ingest(msgspec.structs.replace(
                job, reader=more_reader, fingerprint="derived", origin="trace"))  # fmt: skip
            rows, error = {**rows, **more.tables}, error or more.error
        seconds, cpu = time.perf_counter() - began, time.process_time() - before
        entries = [Cache(cache).entry("bench", key) for key in ("trace", "derived")]
        tables = sum(f.stat().st_size for e in entries for f in e.glob("*.parquet"))
    return {
        "seconds": seconds, "cpu": cpu, "rows": rows, "error": error,
        "events": rows.get("slices", 0) + 2 * rows.get("flows", 0) + rows.get("counters", 0),
        "codes": [n.code for n in notes], "table_mb": tables / 1e6,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    sys.exit(main())
