"""torch_npu's own analysis of one capture, and whether it can be believed."""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import Optional

from . import launch, supervise, verify
from .keeper import Keeper
from .options import Options


class Failure(Exception):
    """The work cannot go on; the message says why and what to do."""


def analyse(keeper: Keeper, options: Options, scratch: Optional[str]) -> None:
    """torch_npu's own analysis, in a process of its own, under limits; then look at what came."""
    capture = keeper.capture
    keeper.update(stage="analyse")
    where = capture
    if scratch is not None:
        where = os.path.join(scratch, os.path.basename(capture))
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(capture, where, ignore=shutil.ignore_patterns(verify.OUTPUT))
    limits = supervise.Limits(
        options.timeout_s, supervise.memory_limit(), options.min_free_bytes // 2, where
    )
    began = time.time()
    job = json.dumps({"capture": where, "export": options.export})
    outcome = supervise.run(launch.command("parse", job), limits, launch.environment())
    print(outcome.output)
    if scratch is not None:
        _bring_back(where, capture)
    errors, warnings = verify.messages(outcome.output)
    errors += [one for one in verify.log_errors(capture, began) if one not in errors]
    if outcome.stopped == "disk":
        shutil.rmtree(os.path.join(capture, verify.OUTPUT), ignore_errors=True)
    errors += verify.missing_outputs(capture, options.export)
    keeper.record["errors"], keeper.record["warnings"] = errors, warnings
    keeper.record["analysed_s"] = round(outcome.seconds, 3)
    reason = _reason(outcome, keeper, options)
    if reason:
        raise Failure(reason)


def _reason(outcome: supervise.Outcome, keeper: Keeper, options: Options) -> Optional[str]:
    """Why the analysis does not count as done; ``None`` when it does."""
    again = "tb-npu analyse " + keeper.capture
    if outcome.stopped == "timeout":
        return "the analysis took more than {:.0f} s and was ended; {}".format(
            options.timeout_s, again
        )
    if outcome.stopped == "memory":
        return (
            "the analysis needed more memory than it may take here; on another host, or with "
            "TB_NPU_MEMORY_GB set: " + again
        )
    if outcome.stopped == "disk":
        return "the disk was filling up, so the analysis was ended; make room, then " + again
    if outcome.code != 0:
        last = [line for line in outcome.output.splitlines() if line.strip()][-1:]
        return "the analysis ended with code {}: {}".format(outcome.code, "".join(last)[:500])
    if not keeper.record["errors"]:
        return None
    first = keeper.record["errors"][0]
    told = "the analysis is not whole: {}: {}".format(first["where"], first["message"])
    if verify.device_folders(keeper.capture) and shutil.which("msprof") is None:
        return told + "; msprof is not on PATH: source CANN's set_env.sh, then " + again
    if verify.looks_like_bad_mount(keeper.capture):
        return told + "; some mounts do this: " + again + " --scratch /tmp"
    return told + "; " + again


def _bring_back(where: str, capture: str) -> None:
    """The scratch copy's results replace the capture's, each folder at once."""
    for name in (verify.OUTPUT, "logs"):
        made = os.path.join(where, name)
        if not os.path.isdir(made):
            continue
        fresh = os.path.join(capture, ".{}.new".format(name))
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(made, fresh)
        if name == verify.OUTPUT:
            shutil.rmtree(os.path.join(capture, name), ignore_errors=True)
            os.replace(fresh, os.path.join(capture, name))
        else:
            shutil.copytree(fresh, os.path.join(capture, name), dirs_exist_ok=True)
            shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(where, ignore_errors=True)
