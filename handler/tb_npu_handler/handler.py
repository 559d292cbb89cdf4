"""The callable that a profiler calls when a recording is ready.

In the job's thread it only writes a small manifest and starts a process; everything that takes time
(torch_npu's analysis, compressing, converting, uploading, deleting) happens in that process.
"""

from __future__ import annotations

import os
import time
import weakref
from functools import partial
from typing import Any, Dict, List, Mapping, Optional

from . import advice, handover, identity, manifest, npu_api, registry, verify
from .options import NEVER, Analyse, Options, PytorchTrace, parse
from .pairs import pair_problem
from .place import Place, choose
from .say import reason_of, say

_cycles: Dict[str, int] = {}


class NpuHandler:
    """What :func:`npu_handler` returns; call it with a profiler, or hand it to one."""

    def __init__(self, directory: str, worker_name: Optional[str], options: Options) -> None:
        self.directory = directory
        self.worker_name = worker_name
        self.options = options
        self.captures: List[str] = []
        self._vanished = 0
        self._last_step: Optional[int] = None
        self._recording: "Optional[weakref.ReferenceType[Any]]" = None
        self._processes: List[Any] = []
        self._place: Optional[Place] = None
        self._checked = False
        try:
            self._prepare()
        except Exception as error:
            self._failed("cannot prepare to record", directory, error)
        registry.add(self)

    def __call__(self, prof: Any) -> None:
        try:
            if npu_api.is_npu_profiler(prof):
                self._ready_npu(prof)
            else:
                self._ready_torch(prof)
        except Exception as error:
            where = getattr(npu_api.interface(prof), "prof_path", None) or self.directory
            self._failed("this capture could not be finished", str(where), error)

    def wait(self, timeout_s: Optional[float] = None) -> List[Optional[str]]:
        """Wait for the background work of this process; the state of each capture, in order.

        Only for a job that is about to end in a container which dies with it: nothing else waits.
        """
        limit = None if timeout_s is None else time.monotonic() + timeout_s
        for process in self._processes:
            left = None if limit is None else max(0.0, limit - time.monotonic())
            try:
                process.wait(left)
            except Exception:  # still running: the states tell
                break
        found = [manifest.read(capture) for capture in self.captures]
        return [None if one is None else str(one["state"]) for one in found]

    @property
    def folder(self) -> Optional[str]:
        """The local directory this handler records in; ``None`` when it could not prepare."""
        return None if self._place is None else self._place.folder

    # Recording ---------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Choose the place and hook torch_npu's path creator, once torch_npu is there."""
        if self._checked:
            return
        self._checked = npu_api.path_creator() is not None
        if self._place is None or self._checked:
            self._place = choose(self.directory)
        if self._checked:
            placement = self.placement()
            creator = npu_api.path_creator()
            if creator is not None:
                creator.init(worker_name=placement.worker, dir_name=placement.folder)
            npu_api.hook(registry.plan)
            found = identity.versions()
            problem = pair_problem(found["torch"], found["torch_npu"])
            if problem:
                say("npu_handler: " + problem)

    def placement(self, prof: Any = npu_api.UNKNOWN) -> npu_api.Placement:
        assert self._place is not None
        worker = identity.worker_of(self.worker_name, identity.rank_of())
        os.makedirs(self._place.folder, exist_ok=True)
        return npu_api.Placement(self._place.folder, worker, partial(self._made, prof))

    def _made(self, prof: Any, capture: str) -> bool:
        """torch_npu made the directory ``capture``; ``False`` when it is another process's."""
        self._adopt_finished()
        record = manifest.new("torch_npu", **self._identity(capture))
        record["clock"] = npu_api.clocks()
        record["start_ns"] = record["clock"]["epoch_ns"]
        if prof is not npu_api.UNKNOWN:
            record["config"] = npu_api.settings(prof)
        if not manifest.claim(capture, record):
            return False
        _cycles[os.path.dirname(capture)] = record["cycle"]
        registry.recordings[capture] = (self, record)
        if prof is not npu_api.UNKNOWN:
            self._recording = weakref.ref(prof)
        return True

    def _identity(self, capture: str) -> Dict[str, Any]:
        rank = identity.rank_of()
        job, source = identity.job_of()
        return {
            "job": job,
            "job_source": source,
            "cycle": _cycles.get(os.path.dirname(capture), -1) + 1,
            "role": self.worker_name,
            "worker": identity.worker_of(self.worker_name, rank),
            "rank": rank,
            "world_size": identity.world_size_of(),
            "local_rank": identity.local_rank_of(),
            "host": identity.host(),
            "pid": os.getpid(),
            "versions": identity.versions(),
            "metadata": self.options.metadata,
            "request": self.options.request(),
        }

    # A recording is ready ----------------------------------------------------------------------

    def _ready_npu(self, prof: Any) -> None:
        self._prepare()
        face = npu_api.interface(prof)
        capture = str(face.prof_path)
        if not os.path.isdir(capture):
            registry.recordings.pop(capture, None)
            raise FileNotFoundError("the capture directory is gone: " + capture)
        _, record = registry.recordings.pop(capture, (self, None))
        if record is None:
            record = manifest.new("torch_npu", **self._identity(capture))
            _cycles[os.path.dirname(capture)] = record["cycle"]
        record["config"] = npu_api.settings(prof)
        start = npu_api.epoch_ns(getattr(face, "start_monotonic", 0))
        if start is not None:
            record["start_ns"] = start
        # The 6.0.rc lines hand over their interface, which does not count steps.
        known = None if self._recording is None else self._recording()
        self._finish_record(record, prof if known is None or hasattr(prof, "step_num") else known)
        wants_npu = any("NPU" in str(activity) for activity in face.activities)
        device = bool(verify.device_folders(capture)) if wants_npu else None
        record["advice"] = advice.of_settings(record["config"], device) + record["advice"]
        self._hand_over(capture, record)

    def _adopt_finished(self) -> None:
        """Take up recordings that torch_npu finished without calling back (a wrong schedule)."""
        mine = [path for path, (owner, _) in registry.recordings.items() if owner is self]
        for capture in mine:
            if not os.path.isdir(capture):
                del registry.recordings[capture]
                self._vanished += 1
            elif verify.has_profiler_info(capture):
                _, record = registry.recordings.pop(capture)
                record["end_ns"] = time.time_ns()
                record["advice"] = [
                    "the schedule left its recording without RECORD_AND_SAVE, so the profiler did "
                    "not hand it over; it was taken up afterwards"
                ]
                self._hand_over(capture, record)

    def _ready_torch(self, prof: Any) -> None:
        self._prepare()
        assert self._place is not None
        os.makedirs(self._place.folder, exist_ok=True)
        rank = identity.rank_of()
        worker = identity.worker_of(self.worker_name, rank)
        stem = "{}_{}.{}".format(worker, os.getpid(), time.time_ns())
        trace = os.path.join(self._place.folder, stem + ".pt.trace.json.gz")
        exported = os.path.join(self._place.folder, "." + stem + ".partial")
        record = manifest.new("torch", **self._identity(trace))
        record["start_ns"] = None
        record["config"] = npu_api.settings(prof)
        self._finish_record(record, prof)
        record["state"], record["stage"] = manifest.ANALYSING, "export"
        manifest.claim(trace, record)
        _cycles[self._place.folder] = record["cycle"]
        prof.export_chrome_trace(exported)
        if self.options.mode == NEVER:
            trace = handover.publish_plain(trace, record, exported)
            self.captures.append(trace)
            self._announce(trace, record)
            return
        self._hand_over(trace, record, exported)

    def _finish_record(self, record: manifest.Manifest, prof: Any) -> None:
        """What is known only now: the end, the steps, and a rank that came up since the start."""
        record["end_ns"] = time.time_ns()
        rank = identity.rank_of()
        if rank is not None and record.get("rank") is None:
            record["rank"], record["world_size"] = rank, identity.world_size_of()
            record["worker"] = identity.worker_of(self.worker_name, rank)
        record["parallel_groups"] = identity.parallel_groups()
        steps = getattr(prof, "step_num", None)
        if not isinstance(steps, int):
            return
        schedule = getattr(prof, "schedule", None)
        stopped = steps == self._last_step or advice.is_inside_window(schedule, steps)
        self._last_step = steps
        record["steps"] = {"called": steps}
        record["advice"] = advice.of_window(schedule, steps, stopped)

    def _hand_over(
        self, capture: str, record: manifest.Manifest, exported: Optional[str] = None
    ) -> None:
        assert self._place is not None
        self.captures.append(capture)
        self._announce(capture, record)
        process = handover.hand_over(capture, record, self.options, self._place, exported)
        if process is not None:
            self._processes.append(process)

    def _announce(self, capture: str, record: manifest.Manifest) -> None:
        """After the first capture: one paragraph on where it is and what it will lack."""
        if len(self.captures) > 1 or (record.get("rank") or 0) != 0:
            return
        parts = ["first capture in {}".format(capture)]
        if record["kind"] == "torch_npu" and not self.options.analyses(record.get("rank")):
            parts.append("it is not analysed; to do that: tb-npu analyse {}".format(capture))
        say("; ".join(parts + record["advice"]))

    def _failed(self, what: str, where: str, error: Exception) -> None:
        if self.options.raises:
            raise error
        say(
            "npu_handler: {}: {} ({}). The job goes on; if data was left there, "
            "tb-npu analyse {} finishes it".format(what, where, reason_of(error), where)
        )

    def at_exit(self) -> None:
        """Take up what is left, and say so when a loop never reached its recording."""
        self._adopt_finished()
        going_on = any(owner is self for owner, _ in registry.recordings.values())
        if self.captures or going_on or (identity.rank_of() or 0) != 0:
            return
        told = (
            "the loop ended in the schedule's warm-up; let it run wait + warmup + active steps and "
            "call prof.step() in each"
            if self._vanished
            else "the profiler never reached its recorded steps; check that it is started and that "
            "prof.step() is called"
        )
        say("npu_handler: nothing was recorded in {}: {}".format(self.directory, told))


def npu_handler(
    dir: str,
    worker_name: Optional[str] = None,
    *,
    analyse: Analyse = "background",
    export: Any = None,
    compact: bool = False,
    keep: Optional[int] = None,
    min_free_gb: float = 2.0,
    timeout_s: float = 1800,
    pytorch_trace: PytorchTrace = "auto",
    metadata: Optional[Mapping[str, Any]] = None,
    on_error: str = "warn",
) -> NpuHandler:
    """A drop-in for ``torch_npu.profiler.tensorboard_trace_handler`` that never hurts the job.

    Give it to a profiler of torch_npu or of torch as ``on_trace_ready``.  ``dir`` is a TensorBoard
    log directory or a URL that fsspec knows; ``worker_name`` names this process's role.  The
    keyword arguments are described in ``docs/handler.md``.  Wrong arguments raise ``ValueError``
    here, at once; nothing else raises unless ``on_error="raise"``.

    >>> profile(..., on_trace_ready=npu_handler("runs/a"))
    """
    options = parse(
        analyse,
        export,
        compact,
        keep,
        min_free_gb,
        timeout_s,
        pytorch_trace,
        metadata,
        on_error,
    )
    return NpuHandler(os.fspath(dir), worker_name, options)
