"""The detached process: everything that happens to a recording after the job has handed it over.

``python -m tb_npu_handler.worker '{"capture": PATH, "partial": FILE or null}'``.  What to do is in
the manifest's ``request``, so the same work can be taken up later by ``tb-npu analyse``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from typing import Any, Dict, Optional

from . import compact, convert, deliver, manifest, npu_analysis, retention, slots, supervise, verify
from .keeper import Keeper
from .npu_analysis import Failure
from .options import Options, from_request
from .say import reason_of

TRACE = "trace_view.json"


def run(
    capture: str,
    record: manifest.Manifest,
    partial: Optional[str] = None,
    scratch: Optional[str] = None,
) -> manifest.Manifest:
    """Do what ``record["request"]`` asks for; returns the manifest as it ends.  Never raises."""
    request: Dict[str, Any] = dict(record.get("request") or {})
    options = from_request(request)
    keeper = Keeper(capture, record)
    keeper.update(state=manifest.ANALYSING, stage="queued", reason=None)
    keeper.start()
    try:
        _work(keeper, options, request, partial, scratch)
        _close(keeper, manifest.COMPLETE, None)
    except Failure as failure:
        _close(keeper, manifest.FAILED, str(failure))
    except Exception as error:
        _close(keeper, manifest.FAILED, reason_of(error))
    target = request.get("target")
    if target:
        _deliver(keeper, str(target))
    if options.keep and os.path.exists(manifest.path_of(keeper.capture)):
        for path in retention.prune(keeper.capture, record, options.keep):
            print("removed the older capture " + path)
    return record


def _work(
    keeper: Keeper,
    options: Options,
    request: Dict[str, Any],
    partial: Optional[str],
    scratch: Optional[str],
) -> None:
    capture, record = keeper.capture, keeper.record
    if record["kind"] == "torch":
        _publish_trace(keeper, partial)
        return
    if not os.path.isdir(capture):
        raise Failure("the capture directory is gone: " + capture)
    _guard_disk(keeper, options)
    if not request.get("analyse", True):
        keeper.update(stage="raw")
        return
    with slots.turn():
        npu_analysis.analyse(keeper, options, scratch)
    if _wants_trace(options):
        _convert(keeper)
    if options.compact:
        keeper.update(stage="compact")
        record["compact"] = compact.compact(capture)


def _publish_trace(keeper: Keeper, partial: Optional[str]) -> None:
    """A ``torch.profiler`` trace: pack it and give it its name, at once."""
    keeper.update(stage="compress")
    folder, name = os.path.split(keeper.capture)
    if partial is None:
        stem = name[: -len(".pt.trace.json.gz")]
        partial = os.path.join(folder, "." + stem + ".partial")
    if not os.path.exists(partial):
        raise Failure("the trace was never written: the job died while exporting it")
    with open(partial, "rb") as stream:
        stream.seek(max(0, os.path.getsize(partial) - 64))
        if not stream.read().rstrip().endswith((b"}", b"]")):
            raise Failure("the trace is cut short: the job died while exporting it; see " + partial)
    compact.pack(partial, keeper.capture)


def _guard_disk(keeper: Keeper, options: Options) -> None:
    """Little space left: the recording is kept only when it is small, and never analysed."""
    free = shutil.disk_usage(keeper.capture).free
    if free >= options.min_free_bytes:
        return
    size = sum(int(entry["bytes"]) for entry in manifest.list_files(keeper.capture))
    told = "only {:.2f} GB are free and min_free_gb is {:.2f}".format(
        free / 1e9, options.min_free_bytes / 1e9
    )
    if size > options.min_free_bytes / 100:
        retention.drop_raw(keeper.capture)
        keeper.record["raw"] = False
        raise Failure(
            "{}: the recording of {:.2f} GB was deleted to leave the disk to the job; "
            "make room and record again".format(told, size / 1e9)
        )
    raise Failure(
        "{}: the recording was kept but not analysed; make room, then tb-npu analyse {}".format(
            told, keeper.capture
        )
    )


def _wants_trace(options: Options) -> bool:
    if options.pytorch_trace == "auto":
        return importlib.util.find_spec("torch_tb_profiler") is not None
    return bool(options.pytorch_trace)


def _convert(keeper: Keeper) -> None:
    """The file for the PyTorch Profiler tab, beside the capture.  Its failure is a warning."""
    keeper.update(stage="convert")
    capture, record = keeper.capture, keeper.record
    source = os.path.join(capture, verify.OUTPUT, TRACE)
    name = "{}_{}.{}.pt.trace.json.gz".format(
        record.get("worker", "worker"), record.get("pid", 0), record.get("start_ns") or 0
    )
    target = os.path.join(os.path.dirname(capture), name)
    try:
        done = convert.convert(source, target, record.get("rank"), record.get("world_size"))
    except (OSError, ValueError) as error:
        record["warnings"].append({"where": "pytorch_trace", "message": reason_of(error)})
        return
    record["exports"] = [
        {
            "kind": "pytorch_trace",
            "path": os.path.join("..", name),
            "bytes": os.path.getsize(target),
            "events": done.events,
            "kernels": done.kernels,
        }
    ]


def _close(keeper: Keeper, state: str, reason: Optional[str]) -> None:
    """The final state, with the list of files; said last and once."""
    keeper.finish()
    record, capture = keeper.record, keeper.capture
    if record["kind"] == "torch_npu":
        record["files"] = manifest.list_files(capture)
        record["raw"] = verify.is_raw(capture)
        end = (verify.profiler_info(capture).get("end_info") or {}).get("collectionTimeEnd")
        if isinstance(end, int):
            record["end_ns"] = end
    elif os.path.exists(capture):
        record["files"] = [{"path": os.path.basename(capture), "bytes": os.path.getsize(capture)}]
    if state == manifest.COMPLETE and record.get("stage") != "raw":
        record["stage"] = "done"
    if reason:
        print(reason)
    keeper.update(state=state, reason=reason)


def _deliver(keeper: Keeper, target: str) -> None:
    """Bring the capture to its place; the local copy is deleted once it has arrived whole."""
    final = dict(keeper.record)
    again = Keeper(keeper.capture, keeper.record)
    again.update(state=manifest.ANALYSING, stage="deliver")
    again.start()
    try:
        arrived = deliver.deliver(keeper.capture, final, target)
    except Exception as error:
        again.finish()
        again.update(
            state=manifest.FAILED,
            stage="deliver",
            reason="not delivered to {}: {}; it is whole here, and tb-npu analyse {} tries "
            "again".format(target, reason_of(error), keeper.capture),
        )
        return
    again.finish()
    keeper.record.update(final, delivered=arrived)
    retention.remove(keeper.capture, keeper.record)


def main() -> int:
    job: Dict[str, Any] = json.loads(sys.argv[1])
    supervise.be_humble()
    capture = str(job["capture"])
    record = manifest.read(capture) or job.get("fallback")
    if not isinstance(record, dict):
        print("no manifest at " + capture)
        return 1
    with slots.alone(capture) as mine:
        if not mine:
            print("another process is at work on " + capture)
            return 1
        done = run(capture, record, partial=job.get("partial"), scratch=job.get("scratch"))
    return 0 if done["state"] == manifest.COMPLETE else 1


if __name__ == "__main__":
    sys.exit(main())
