"""A small training loop under a profiler, told by one JSON argument what to do; see ``PLAN``."""

import json
import multiprocessing
import os
import shutil
import signal
import sys
import time

PLAN = {
    "dir": None,
    "worker_name": None,
    "steps": 3,  # calls of prof.step()
    "schedule": {"wait": 0, "warmup": 1, "active": 2, "repeat": 1},
    "profiler": "torch_npu",  # or "torch"
    "npu": False,  # record the NPU activity too
    "export": ["text"],
    "options": {},  # of npu_handler
    "switches": {"record_shapes": True},
    "kill_at": None,  # "recording": in the window; "finalised": before the handler is called;
    #                    "handed over": after it, with the whole process group
    "signal": "SIGKILL",
    "raise_at": None,  # step
    "stock": False,  # torch_npu's own handler
    "second": None,  # directory of a second handler in the same process
    "how": "main",  # or "fork", "daemon": where the loop runs
    "wait": 60,
    "remove": None,  # the directory: "recording", or "finalised", before the handler is called
    "late": False,  # make the handler before torch is imported
    "leave": False,  # end without stopping the profiler
}


def make_handler(plan, directory):
    from tb_npu_handler import npu_handler

    return npu_handler(directory, plan["worker_name"], **plan["options"])


def loop(plan, handler):
    import torch

    if plan["profiler"] == "torch":
        from torch import profiler

        extra = {}
    else:
        import torch_npu  # noqa: F401
        from torch_npu import profiler

        kinds = {"text": profiler.ExportType.Text, "db": profiler.ExportType.Db}
        chosen = [kinds[kind] for kind in plan["export"]]
        config = profiler._ExperimentalConfig(export_type=chosen if len(chosen) > 1 else chosen[0])
        extra = {"experimental_config": config}
    activities = [profiler.ProfilerActivity.CPU]
    if plan["npu"]:
        activities.append(profiler.ProfilerActivity.NPU)
    if plan["stock"]:
        handler = profiler.tensorboard_trace_handler(plan["dir"])
    if handler is None:
        handler = make_handler(plan, plan["dir"])
    second = make_handler(plan, plan["second"]) if plan["second"] else None
    report = {"handler_s": [], "died": None}

    def ready(prof):
        if plan["kill_at"] == "finalised":
            os.kill(os.getpid(), getattr(signal, plan["signal"]))
        if plan["remove"] == "finalised":
            shutil.rmtree(plan["dir"])
        handler(prof)

    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))

    def record(callback):
        if plan["schedule"] == "broken":
            schedule = broken_schedule(profiler)
        else:
            schedule = profiler.schedule(**plan["schedule"]) if plan["schedule"] else None
        prof = profiler.profile(
            activities=activities,
            schedule=schedule,
            on_trace_ready=callback,
            **plan["switches"],
            **extra,
        )
        prof.start()
        try:
            for step in range(plan["steps"]):
                model(torch.randn(32, 8)).sum().backward()
                if plan["npu"]:
                    block = torch.empty(1 << 18, device="npu")
                    del block
                if plan["kill_at"] == "recording" and step == plan["steps"] - 1:
                    time.sleep(0.3)
                    os.kill(os.getpid(), getattr(signal, plan["signal"]))
                if plan["remove"] == "recording" and step == plan["steps"] - 1:
                    shutil.rmtree(plan["dir"])
                if plan["raise_at"] == step:
                    raise RuntimeError("the loop broke")
                prof.step()
        finally:
            if not plan["leave"]:
                prof.stop()
        return prof

    try:
        record(ready if "finalised" in (plan["kill_at"], plan["remove"]) else handler)
        if second is not None:
            record(second)
            record(handler)
    except RuntimeError as error:
        report["died"] = str(error)
    if plan["kill_at"] == "handed over":
        os.killpg(0, getattr(signal, plan["signal"]))
        time.sleep(60)
    report["captures"] = list(getattr(handler, "captures", []))
    if second is not None:
        report["second"] = list(second.captures)
    if plan["wait"] and hasattr(handler, "wait"):
        report["states"] = handler.wait(plan["wait"])
        if second is not None:
            second.wait(plan["wait"])
    print("REPORT " + json.dumps(report), flush=True)


def broken_schedule(profiler):
    """A schedule that leaves RECORD without RECORD_AND_SAVE."""
    kinds = profiler.ProfilerAction
    return lambda step: [kinds.WARMUP, kinds.RECORD, kinds.NONE][min(step, 2)]


def main():
    plan = dict(PLAN, **json.loads(sys.argv[1]))
    if plan["kill_at"] == "handed over":
        os.setpgid(0, 0)
    handler = make_handler(plan, plan["dir"]) if plan["late"] else None
    if plan["how"] == "main":
        loop(plan, handler)
        return
    context = multiprocessing.get_context("fork")
    child = context.Process(target=loop, args=(plan, handler), daemon=plan["how"] == "daemon")
    child.start()
    child.join()
    sys.exit(child.exitcode)


if __name__ == "__main__":
    main()
