"""What a capture's list of files alone tells: which tables cannot be there, and why."""

from __future__ import annotations

import shlex

from tb_npu_plugin.backend.discovery import OUTPUT, Found, is_prof
from tb_npu_plugin.backend.findings import Note
from tb_npu_plugin.backend.readers.msprof_files import exported_by_msprof
from tb_npu_plugin.backend.readers.profiler_info import ProfilerInfo
from tb_npu_plugin.backend.schema.parts import LEVEL1, recording
from tb_npu_plugin.backend.wording import printable

_TORCH = "import sys; from torch_npu.profiler.profiler import analyse; analyse(sys.argv[1])"
_MINDSPORE = "import sys; from mindspore.profiler.profiler import analyse; analyse(sys.argv[1])"


def note_without_analysis(
    found: Found, databases: bool, exported: bool, command: str, notes: list[Note]
) -> None:
    """Say that a capture was only recorded, with the command that analyses it; or only exported."""
    if exported and all(exported_by_msprof(name) for name, _, _ in found.files):
        notes.append(Note("msprof-only"))
    if found.output is not None or databases or exported:
        return
    inside = any(is_prof(folder) for folder in found.folders)
    if "FRAMEWORK" not in found.folders and not inside and not is_prof(found.path.name):
        return
    path = shlex.quote(printable(str(found.path)))
    notes.append(Note("raw-only", None, None, {"path": path, "command": command}))


def framework_of(found: Found, info: ProfilerInfo) -> str:
    """``mindspore`` or ``torch_npu``; "" where msprof alone recorded. By content, then by name."""
    names = [name for name, _, _ in (*found.files, *found.top_files)]
    if info.mindspore_version or any(n.startswith("ascend_mindspore") for n in names):
        return "mindspore"
    if found.path.name.endswith("_ascend_ms"):
        return "mindspore"
    by_torch = found.path.name.endswith("_ascend_pt") or info.files or found.output is not None
    return "torch_npu" if by_torch or "FRAMEWORK" in found.folders else ""


def analysis(found: Found, framework: str) -> str:
    """The command that analyses a capture which was only recorded."""
    path = shlex.quote(printable(str(found.path)))
    if framework == "mindspore":
        return f"python3 -c '{_MINDSPORE}' {path}"
    if framework:
        return f"python3 -c '{_TORCH}' {path}"
    return f"msprof --export=on --output={path}"


def note_missing_tables(
    found: Found, info: ProfilerInfo, names: set[str], notes: list[Note]
) -> None:
    if found.output is None or any(n.endswith(".db") for n in names):
        return
    why = {
        "Level_none": (" (recorded at Level_none)", "（采集级别为 Level_none）"),
    }.get(info.level or "", ("", ""))
    if info.options.npu == 0:
        why = (" (only the CPU was recorded)", "（只采集了 CPU）")
    _note_missing_memory(info, names, notes)
    _note_missing_communication(names, notes)
    level = info.options.level
    if level is not None and level < 1 and "api_statistic.csv" not in names:
        notes.append(Note("apis-level", f"{OUTPUT}/api_statistic.csv", None, {
            "off": LEVEL1.off[0], "off_zh": LEVEL1.off[1], "call": recording([LEVEL1])}))  # fmt: skip
    params = {"why": why[0], "why_zh": why[1]}
    if "kernel_details.csv" not in names and not any(n.startswith("op_summary") for n in names):
        notes.append(Note("kernels-missing", f"{OUTPUT}/kernel_details.csv", None, params))
    if "step_trace_time.csv" not in names:
        notes.append(Note("steps-missing", f"{OUTPUT}/step_trace_time.csv", None, params))


def _note_missing_memory(info: ProfilerInfo, names: set[str], notes: list[Note]) -> None:
    blocks = any(n.startswith("operator_memory") for n in names)
    totals = any(n.startswith("memory_record") for n in names)
    if not blocks and not totals:
        asked = info.options.profile_memory
        why = ("", "")
        if asked == 0:
            why = (" (profile_memory was off)", "（profile_memory 未开启）")
        elif asked == 1:
            why = (" although profile_memory was on", "（尽管已开启 profile_memory）")
        notes.append(Note("memory-not-recorded", None, None, {"why": why[0], "why_zh": why[1]}))
    elif not blocks:
        params = {"name": "operator_memory.csv", "what": "the single blocks are",
                  "what_zh": "单个内存块"}  # fmt: skip
        notes.append(Note("memory-file-missing", f"{OUTPUT}/operator_memory.csv", None, params))
    elif not totals:
        params = {"name": "memory_record.csv", "what": "the totals over time are",
                  "what_zh": "随时间变化的总量"}  # fmt: skip
        notes.append(Note("memory-file-missing", f"{OUTPUT}/memory_record.csv", None, params))


def _note_missing_communication(names: set[str], notes: list[Note]) -> None:
    """One of the two files without the other; that both are absent the kernels tell, or nothing."""
    operations, matrix = "communication.json", "communication_matrix.json"
    for name, other, what, what_zh in (
        (operations, matrix, "the times, sizes and link types of operations are",
         "通信算子的时间、数据量与链路类型"),
        (matrix, operations, "what each rank sent to which other is", "各卡之间的通信量"),
    ):  # fmt: skip
        if other in names and name not in names:
            notes.append(Note("communication-file-missing", f"{OUTPUT}/{name}", None, {
                "name": name, "other": other, "what": what, "what_zh": what_zh}))  # fmt: skip
