"""Every kind of finding: how severe, which views it touches, and its words in both languages.

A message says what happened and what it means, a remedy what to do. ``{names}`` are parameters of
the note; a parameter ``name_zh`` takes the place of ``name`` in Chinese.
"""

from __future__ import annotations

import msgspec

from tb_npu_plugin.backend.results import Severity


class Kind(msgspec.Struct, frozen=True):
    """Severity, the views a code touches, and its words: (message, remedy) in each language."""

    severity: Severity
    views: tuple[str, ...]
    en: tuple[str, str]
    zh: tuple[str, str]


#: ``{path}`` is quoted for the shell: a directory's name is text, not part of the command.
_KERNEL = ("kernel", "overview")
_STEP = ("step", "overview")
_COMM = ("communication",)
_TRACE = ("timeline", "files")

KINDS: dict[str, Kind] = {
    "permission-denied": Kind(
        "error", ("files",),
        ("Permission denied: mode {mode}, owned by {owner}.",
         "Run TensorBoard as that user, or: chmod -R g+rX {path}"),
        ("没有权限读取：权限 {mode}，属主 {owner}。",
         "用该用户启动 TensorBoard，或执行：chmod -R g+rX {path}"),
    ),
    "file-unreadable": Kind(
        "error", ("files",),
        ("The file cannot be read: {error}.", "Check the disk and the mount, then reload."),
        ("文件无法读取：{error}。", "检查磁盘与挂载点后重新加载。"),
    ),
    "file-empty": Kind(
        "warning", ("files",),
        ("The file is empty (0 bytes).",
         "The analysis was probably interrupted or the disk was full: analyse the capture again."),
        ("文件为空（0 字节）。", "解析可能被中断或磁盘已满：请重新解析该采集数据。"),
    ),
    "no-header": Kind(
        "error", ("files",),
        ("No header with known columns was found in the first line: {head}.",
         "Check that the file is what its name says; analyse the capture again if it was damaged."),
        ("首行中没有可识别的列名：{head}。", "请确认文件内容与名称一致；若已损坏，请重新解析。"),
    ),
    "column-missing": Kind(
        "warning", ("files",),
        ("No column for {columns}: shown as unknown.",
         "Older versions do not write it; analyse with a newer torch_npu/CANN if you need it."),
        ("缺少列 {columns}：按未知处理。", "旧版本不输出该列；如需要请用更新的 torch_npu/CANN 解析。"),
    ),
    "rows-rejected": Kind(
        "warning", ("files",),
        ("{count} row(s) could not be read ({reason}) and are left out; the rest is shown.",
         "Look at the named lines; analyse the capture again if the file was cut."),
        ("{count} 行无法读取（{reason}），已跳过；其余照常显示。", "请查看所列行号；若文件被截断，请重新解析。"),
    ),
    "rows-padded": Kind(
        "info", ("files",),
        ("{count} row(s) have fewer or more cells than the header; missing cells count as unknown.",
         "Nothing to do, unless the cells matter to you: then analyse the capture again."),
        ("{count} 行的列数与表头不一致；缺少的单元格按未知处理。", "一般无需处理；如需要这些数据，请重新解析。"),
    ),
    "file-cut": Kind(
        "warning", ("files",),
        ("The file ends inside a row: the last, incomplete row is left out.",
         "The disk was full or the analysis was interrupted (or still runs): analyse it again."),
        ("文件在一行中间结束：最后不完整的一行已跳过。", "磁盘已满、解析被中断或仍在进行：请重新解析。"),
    ),
    "pack-cut": Kind(
        "warning", ("files",),
        ("The packed file is cut or damaged: what could be unpacked is shown, rows after it are lost.",
         "Copy the file again, or pack it again from its original."),
        ("压缩文件被截断或已损坏：已显示能解压的部分，其后的行丢失。", "请重新拷贝该文件，或用原文件重新压缩。"),
    ),
    "encoding": Kind(
        "info", ("files",),
        ("The file is {encoding}, not UTF-8; it was converted for reading.",
         "Nothing to do: the file itself is unchanged."),
        ("文件编码为 {encoding} 而非 UTF-8，读取时已转换。", "无需处理：原文件未改动。"),
    ),
    "encoding-damaged": Kind(
        "warning", ("files",),
        ("Some bytes are not UTF-8 (a name was cut inside a character, or damaged): they show as �.",
         "Analyse the capture again if the names matter to you."),
        ("部分字节不是 UTF-8（名称在字符中间被截断或已损坏），显示为 �。", "如需要这些名称，请重新解析该采集数据。"),
    ),
    "value-unreadable": Kind(
        "warning", ("files",),
        ("{count} value(s) in column {column} are not numbers, e.g. {example}: shown as unknown.",
         "Check the file if the column matters to you."),
        ("列 {column} 有 {count} 个值不是数字，例如 {example}：按未知处理。", "如需要该列，请检查文件。"),
    ),
    "impossible-value": Kind(
        "warning", ("files",),
        ("{count} value(s) in column {column} cannot be (e.g. {example}) and are left out of sums.",
         "A known defect of the analysis where a step has no device work; the rest is sound."),
        ("列 {column} 有 {count} 个不可能的值（例如 {example}），未计入合计。",
         "这是解析在 Step 内没有设备任务时的已知缺陷；其余数据可用。"),
    ),
    "spreadsheet-times": Kind(
        "warning", _KERNEL,
        ("Start times were rounded by a spreadsheet (e.g. {example}): durations stand, the order "
         "in time does not.",
         "Use the original file: open it in a spreadsheet as a copy only."),
        ("开始时间被电子表格四舍五入（例如 {example}）：耗时可用，时间先后不可用。",
         "请使用原始文件；需要用表格软件打开时请先复制。"),
    ),
    "kernels-empty": Kind(
        "warning", _KERNEL,
        ("The file is there but holds 0 kernels.",
         "Nothing ran on the device in the recorded window: move the schedule's active steps."),
        ("文件存在，但其中没有 Kernel（0 行）。", "采集窗口内设备上没有任务：请调整 schedule 的 active 步。"),
    ),
    "kernels-missing": Kind(
        "warning", _KERNEL,
        ("There is no kernel_details.csv: torch_npu does not create it when nothing was "
         "recorded{why}.",
         "Record with ProfilerActivity.NPU and profiler_level Level1; in graph mode also check "
         "that the steps really ran inside the window."),
        ("没有 kernel_details.csv：没有记录到 Kernel 时 torch_npu 不会创建该文件{why}。",
         "采集时启用 ProfilerActivity.NPU 与 profiler_level Level1；图模式下请确认 Step 在采集窗口内执行。"),
    ),
    "steps-missing": Kind(
        "warning", _STEP,
        ("There is no step_trace_time.csv, so the split of the step is unknown{why}.",
         "Record with ProfilerActivity.NPU at Level0 or above and call prof.step() in the loop."),
        ("没有 step_trace_time.csv，无法得知 Step 时间的划分{why}。",
         "采集时启用 ProfilerActivity.NPU、Level0 及以上，并在循环中调用 prof.step()。"),
    ),
    "steps-unmarked": Kind(
        "info", _STEP,
        ("No step markers: the whole capture counts as one unnamed step.",
         "Give the profiler a schedule and call prof.step() once per iteration."),
        ("没有 Step 标记：整段采集视为一个未命名的 Step。", "为 profiler 设置 schedule，并在每次迭代调用 prof.step()。"),
    ),
    "step-sum": Kind(
        "warning", _STEP,
        ("Step {step}: computing + not overlapped + free = {sum_us} µs, but stage + bubble = "
         "{stage_us} µs.",
         "Some versions count other tasks as free; trust the parts, not the sum."),
        ("Step {step}：计算 + 未掩盖通信 + 空闲 = {sum_us} µs，但 Stage + Bubble = {stage_us} µs。",
         "部分版本的空闲包含其他任务；请以各分项为准。"),
    ),
    "steps-fewer": Kind(
        "warning", _STEP,
        ("{rows} steps on {devices} device(s), the schedule records {active}.",
         "Call prof.step() after every step, also after the last one of the window."),
        ("{devices} 个设备共 {rows} 个 Step，schedule 应记录 {active} 个。",
         "每个 Step 结束后调用 prof.step()，包括窗口的最后一个。"),
    ),
    "kernels-lost": Kind(
        "warning", _KERNEL,
        ("The first step ({step}) has {count} kernels, the others {usual} each: its first kernels were "
         "probably lost while recording began.",
         "Give the schedule warmup=1 or more, and leave the first step out of comparisons."),
        ("首个 Step（{step}）有 {count} 个 Kernel，其他 Step 各有 {usual} 个：采集开始时可能丢失了最初的 Kernel。",
         "将 schedule 的 warmup 设为 1 或更大；比较时不要包含首个 Step。"),
    ),
    "shapes-off": Kind(
        "info", ("operator",),
        ("Shapes of operators are unknown: {off}.", "{call}"),
        ("算子的 Shape 未知：{off}。", "{call}"),
    ),
    "stacks-off": Kind(
        "info", ("operator",),
        ("Call stacks are unknown: {off}.", "{call}"),
        ("调用栈未知：{off}。", "{call}"),
    ),
    "cache-rates-off": Kind(
        "info", ("kernel",),
        ("L2 cache rates of kernels are unknown: {off}.", "{call}"),
        ("Kernel 的 L2 Cache 命中率未知：{off}。", "{call}"),
    ),
    "apis-level": Kind(
        "info", ("api",),
        ("Host API statistics are unknown: {off}.", "{call}"),
        ("Host API 统计未知：{off}。", "{call}"),
    ),
    "rank-twice": Kind(
        "warning", ("overview", "ranks"),
        ("{name} and {other} are both rank {rank} and were recorded at the same time; the other is shown "
         "as recording {recording}.",
         "One of them has a wrong rank, or two jobs were recorded into one folder: put each job into a "
         "folder of its own."),
        ("{name} 与 {other} 的卡号同为 {rank}，且采集时间重叠；后者显示为采集 {recording}。",
         "其中一个卡号有误，或两个作业采集到了同一目录：请将各作业放入各自的目录。"),
    ),
    "clocks-apart": Kind(
        "warning", ("ranks", "timeline", "communication"),
        ("The kernels of ranks {ranks} lie {gap} or more away from all of those of {reference}: the clocks "
         "of the hosts disagree, or these captures are not of one job.",
         "Do not compare moments between these ranks; durations stand. Synchronise the clocks (NTP) "
         "before the next recording."),
        ("卡 {ranks} 的 Kernel 与 {reference} 的全部 Kernel 相距 {gap} 以上：主机时钟不一致，或并非同一作业的采集。",
         "不要比较这些卡之间的时刻；耗时仍然有效。下次采集前请同步时钟（NTP）。"),
    ),
    "level-too-low": Kind(
        "info", ("kernel",),
        ("Short column set (Level0, or aic_metrics off): no streams, shapes or pipe metrics, and at "
         "Level0 no types either.",
         "experimental_config=torch_npu.profiler._ExperimentalConfig("
         "profiler_level=torch_npu.profiler.ProfilerLevel.Level1, "
         "aic_metrics=torch_npu.profiler.AiCMetrics.PipeUtilization)"),
        ("列数较少（Level0 或未启用 aic_metrics）：没有流、Shape 与流水线指标，Level0 下也没有类型。",
         "experimental_config=torch_npu.profiler._ExperimentalConfig("
         "profiler_level=torch_npu.profiler.ProfilerLevel.Level1, "
         "aic_metrics=torch_npu.profiler.AiCMetrics.PipeUtilization)"),
    ),
    "no-step-column": Kind(
        "info", ("kernel",),
        ("Kernels carry no step, so they cannot be told apart by step.",
         "Give the profiler a schedule and call prof.step() once per iteration."),
        ("Kernel 没有 Step 信息，无法按 Step 区分。", "为 profiler 设置 schedule，并在每次迭代调用 prof.step()。"),
    ),
    "rows-outside-steps": Kind(
        "info", ("kernel",),
        ("{count} kernel(s) lie outside any step.", "Choose the step “outside any step” to see them."),
        ("{count} 个 Kernel 不在任何 Step 内。", "选择“不在任何 Step 内”即可查看。"),
    ),
    "json-broken": Kind(
        "warning", ("files", "overview"),
        ("The JSON cannot be read: {error}.",
         "The file was cut or edited; rank, level and settings may be unknown."),
        ("JSON 无法解析：{error}。", "文件被截断或改动；卡号、级别与配置可能未知。"),
    ),
    "info-missing": Kind(
        "info", ("overview", "files"),
        ("No profiler_info*.json beside ASCEND_PROFILER_OUTPUT: level, versions and settings are "
         "unknown.",
         "Copy the whole …_ascend_pt directory, not only ASCEND_PROFILER_OUTPUT."),
        ("ASCEND_PROFILER_OUTPUT 旁没有 profiler_info*.json：级别、版本与配置未知。",
         "请拷贝整个 …_ascend_pt 目录，而不只是 ASCEND_PROFILER_OUTPUT。"),
    ),
    "rank-conflict": Kind(
        "warning", ("overview",),
        ("The rank is told differently by its sources: {candidates}. {rank} is used.",
         "Rename or remove the wrong file; files of different captures may have been mixed."),
        ("各来源的卡号不一致：{candidates}。采用 {rank}。", "请改正错误的文件；可能混入了其他采集的文件。"),
    ),
    "ranks-missing": Kind(
        "info", ("overview", "step"),
        ("{missing} of {world} ranks are not in this folder; figures over ranks cover {present} only.",
         "Collect the captures of all hosts into one folder."),
        ("{world} 张卡中有 {missing} 张不在此目录；跨卡数据只覆盖 {present}。", "请将所有主机的采集数据收集到同一目录。"),
    ),
    "raw-only": Kind(
        "warning", ("overview", "kernel", "step"),
        ("Recorded but not analysed: there is only raw data.", "{command}"),
        ("已采集但未解析：只有原始数据。", "{command}"),
    ),
    "msprof-only": Kind(
        "info", ("overview", "step", "operator"),
        ("Exported by msprof and not analysed by a framework: no steps, no operators of the framework.",
         "Nothing to do where msprof alone recorded; of a framework's capture run its analysis."),
        ("由 msprof 导出，未经框架解析：没有 Step，也没有框架算子。",
         "若只用 msprof 采集则无需处理；框架采集的数据请运行其解析。"),
    ),
    "older-export": Kind(
        "info", ("files",),
        ("msprof exported here more than once: the newest of each table is read, {count} older "
         "file(s) are not.",
         "Delete the older files if they are of no use."),
        ("此处存在多次 msprof 导出：每张表只读取最新的一份，忽略 {count} 个较旧文件。",
         "如无用处可删除较旧文件。"),
    ),
    "interrupted": Kind(
        "error", ("overview", "kernel", "step", "operator"),
        ("The process that recorded or analysed it is gone; it had got as far as “{stage}”.",
         "tb-npu analyse {path}"),
        ("采集或解析进程已不存在，进行到“{stage}”。", "tb-npu analyse {path}"),
    ),
    "recording-failed": Kind(
        "error", ("overview", "kernel", "step", "operator"),
        ("The handler could not finish this capture: {reason}", "tb-npu analyse {path}"),
        ("handler 未能完成该采集：{reason}", "tb-npu analyse {path}"),
    ),
    "parser-failed": Kind(
        "warning", ("overview", "files"),
        ("{parser} failed during the analysis: {error}",
         "What it writes is missing or not whole. Analyse again: tb-npu analyse PATH; if it fails "
         "again, on another (local) filesystem: tb-npu analyse PATH --scratch DIR"),
        ("解析时 {parser} 失败：{error}",
         "其输出缺失或不完整。请重新解析：tb-npu analyse PATH；若仍失败，换到其他（本地）文件系统："
         "tb-npu analyse PATH --scratch DIR"),
    ),
    "growing": Kind(
        "info", ("overview", "kernel", "step"),
        ("Still being written: it is read again when its files stop changing.", "Wait; nothing to do."),
        ("仍在写入：文件不再变化后会自动重新读取。", "请等待，无需操作。"),
    ),
    "analysis-incomplete": Kind(
        "warning", ("overview", "kernel", "step"),
        ("The analysis ended with errors: analyse.done is there, but {missing} are not.",
         "Read the capture's logs/ folder, then analyse again."),
        ("解析以错误结束：有 analyse.done，但缺少 {missing}。", "查看采集目录下的 logs/，然后重新解析。"),
    ),
    "database-unreadable": Kind(
        "error", ("files", "overview"),
        ("The database cannot be read: {error}.",
         "It was cut, or is no SQLite file: copy it again, or analyse the capture again. Text files "
         "beside it are shown in its place."),
        ("数据库无法读取：{error}。", "文件被截断或不是 SQLite 数据库：请重新拷贝或重新解析。旁边的文本文件照常显示。"),
    ),
    "database-cut": Kind(
        "warning", ("files", "overview"),
        ("The database is cut: {missing} of its {pages} pages are missing; what is left is shown.",
         "Copy it again, or analyse the capture again; the disk may have been full."),
        ("数据库被截断：{pages} 页中缺少 {missing} 页；其余照常显示。", "请重新拷贝或重新解析；磁盘可能已满。"),
    ),
    "database-damaged": Kind(
        "warning", ("files", "overview"),
        ("Table {table} is damaged: {what} could not be read and are left out.",
         "Copy the database again, or analyse the capture again."),
        ("表 {table} 已损坏：{what} 无法读取，已跳过。", "请重新拷贝数据库或重新解析。"),
    ),
    "database-log": Kind(
        "info", ("files",),
        ("{logs} lies beside the database: what it holds was read with it, from a copy.",
         "Nothing to do: another program has the database open, or ended without closing it."),
        ("数据库旁有 {logs}：其内容已通过副本一并读取。", "无需处理：其他程序正打开该数据库，或未正常关闭。"),
    ),
    "database-altered": Kind(
        "info", ("files",),
        ("Another tool (MindStudio Insight) has added to this database ({tables}); its additions are "
         "not used.",
         "Nothing to do: what the profiler wrote is unchanged."),
        ("其他工具（MindStudio Insight）在该数据库中添加了内容（{tables}），未使用。", "无需处理：采集数据本身未改动。"),
    ),
    "db-strings-missing": Kind(
        "warning", ("kernel", "operator", "overview"),
        ("There is no table {table}, so nothing has a name.",
         "The export was interrupted: analyse the capture again."),
        ("没有表 {table}，所有名称未知。", "导出被中断：请重新解析。"),
    ),
    "db-kernels-missing": Kind(
        "warning", _KERNEL,
        ("There is no table {table}, so what ran on the device, and when, is unknown.",
         "Record with ProfilerActivity.NPU and profiler_level Level1."),
        ("没有表 {table}，无法得知设备上的任务及其时间。", "采集时启用 ProfilerActivity.NPU 与 profiler_level Level1。"),
    ),
    "db-kernel-names-missing": Kind(
        "warning", _KERNEL,
        ("There is no table {table}: kernels are shown by the kind of their task; names, types and "
         "shapes are unknown.",
         "Record with profiler_level=Level1 or above, and analyse with a newer CANN."),
        ("没有表 {table}：Kernel 按任务类型显示，名称、类型与 Shape 未知。",
         "请以 profiler_level=Level1 或更高级别采集，并用更新的 CANN 解析。"),
    ),
    "db-steps-missing": Kind(
        "info", _STEP,
        ("There is no table {table}: the whole capture counts as one unnamed step.",
         "Record with ProfilerActivity.CPU, give the profiler a schedule and call prof.step() once "
         "per iteration; CANN's own databases (msprof_*.db) hold no steps."),
        ("没有表 {table}：整段采集视为一个未命名的 Step。",
         "采集时启用 ProfilerActivity.CPU，为 profiler 设置 schedule,并在每次迭代调用 prof.step()；"
         "CANN 自身的数据库（msprof_*.db）不含 Step。"),
    ),
    "db-operators-missing": Kind(
        "info", ("operator",),
        ("There is no table {table}, so the framework's operators are unknown.",
         "Record with ProfilerActivity.CPU and open ascend_pytorch_profiler*.db: CANN's own databases "
         "(msprof_*.db) hold no operators."),
        ("没有表 {table}，框架算子未知。",
         "采集时启用 ProfilerActivity.CPU，并打开 ascend_pytorch_profiler*.db；CANN 自身的数据库（msprof_*.db）不含框架算子。"),
    ),
    "mindspore-database": Kind(
        "info", ("operator", "step", "memory"),
        ("MindSpore's database holds CANN's half only: no operators of the framework, no steps, no "
         "memory of the framework.",
         "Export text as well: mindspore.profiler._ExperimentalConfig(export_type=["
         "mindspore.profiler.ExportType.Text, mindspore.profiler.ExportType.Db])"),
        ("MindSpore 的数据库只含 CANN 部分：没有框架算子、Step 与框架内存。",
         "同时导出文本：mindspore.profiler._ExperimentalConfig(export_type=["
         "mindspore.profiler.ExportType.Text, mindspore.profiler.ExportType.Db])"),
    ),
    "db-apis-missing": Kind(
        "info", ("api",),
        ("There is no table {table}, so CANN's host calls are unknown.",
         "Record with ProfilerActivity.NPU and profiler_level=Level1 or above."),
        ("没有表 {table}，CANN 主机侧调用未知。", "采集时启用 ProfilerActivity.NPU，profiler_level 为 Level1 或更高。"),
    ),
    "db-memory-missing": Kind(
        "info", ("memory",),
        ("There is no table {table}: PyTorch's memory was not recorded.",
         "torch_npu.profiler.profile(..., profile_memory=True)"),
        ("没有表 {table}：未采集 PyTorch 内存。", "torch_npu.profiler.profile(..., profile_memory=True)"),
    ),
    "db-communication-missing": Kind(
        "info", _COMM,
        ("There is no table {table} with rows, nor an analysis.db: wait, transit, sizes and links of "
         "communication are unknown, if there was any.",
         "Record with profiler_level=Level1 or above, and copy analysis.db with the other database."),
        ("没有含数据的表 {table}，也没有 analysis.db：通信（如有）的等待、传输、数据量与链路未知。",
         "请以 profiler_level=Level1 或更高级别采集，并将 analysis.db 与另一数据库一并拷贝。"),
    ),
    "steps-recomputed": Kind(
        "info", _STEP,
        ("Step times were worked out from the tasks: there is no analysis.db with StepTraceTime.",
         "Nothing to do; analyse the capture again if you want the profiler's own figures."),
        ("Step 时间由任务计算得出：没有含 StepTraceTime 的 analysis.db。", "无需处理；如需要采集工具自身的数据，请重新解析。"),
    ),
    "communication-recomputed": Kind(
        "info", _COMM,
        ("Communication was worked out from the tasks: there is no analysis.db with CommAnalyzerTime; "
         "the matrix is unknown.",
         "Copy analysis.db with the other database, or analyse the capture again."),
        ("通信数据由任务计算得出：没有含 CommAnalyzerTime 的 analysis.db；通信矩阵未知。",
         "请将 analysis.db 与另一数据库一并拷贝，或重新解析。"),
    ),
    "reader-failed": Kind(
        "error", ("files",),
        ("Reading failed: {error}.", "Please report it with the file's first lines; other files are not affected."),
        ("读取失败：{error}。", "请附上文件前几行反馈问题；其他文件不受影响。"),
    ),
    "cache-temporary": Kind(
        "info", ("files",),
        ("The cache directory {path} cannot be written; a temporary one is used.",
         "Set TB_NPU_CACHE or --npu_cache to a writable directory."),
        ("缓存目录 {path} 不可写，改用临时目录。", "将 TB_NPU_CACHE 或 --npu_cache 设为可写目录。"),
    ),
    "not-in-store": Kind(
        "info", _TRACE,
        ("The file is not in the store: its capture was ingested without the timeline.",
         "Where the raw files are: tb-npu ingest LOGDIR --store STORE, without --no-timeline."),
        ("该文件不在存储中：入库时未包含时间线。",
         "在原始文件所在位置执行：tb-npu ingest LOGDIR --store STORE（不带 --no-timeline）。"),
    ),
    "store-outdated": Kind(
        "error", ("files",),
        ("The store holds it as version {version} read it, which this version cannot show.",
         "Where the raw files are: tb-npu ingest LOGDIR --store STORE; or use that version."),
        ("存储中的内容由版本 {version} 读取，当前版本无法显示。",
         "在原始文件所在位置执行：tb-npu ingest LOGDIR --store STORE；或使用该版本。"),
    ),
    "store-unreachable": Kind(
        "error", ("files",),
        ("The store {store} cannot be read: {error}",
         "Check its address, the network and the credentials; it is tried again meanwhile."),
        ("无法读取存储 {store}：{error}", "请检查其地址、网络与凭据；程序会继续重试。"),
    ),
    "memory-not-recorded": Kind(
        "info", ("memory",),
        ("No memory was recorded{why}: there is neither operator_memory.csv nor memory_record.csv.",
         "torch_npu.profiler.profile(..., profile_memory=True)"),
        ("没有采集内存{why}：既没有 operator_memory.csv，也没有 memory_record.csv。",
         "torch_npu.profiler.profile(..., profile_memory=True)"),
    ),
    "memory-file-missing": Kind(
        "info", ("memory",),
        ("There is no {name}, so {what} unknown.",
         "Copy the whole ASCEND_PROFILER_OUTPUT directory, or analyse the capture again."),
        ("没有 {name}，无法得知{what}。", "请拷贝整个 ASCEND_PROFILER_OUTPUT 目录，或重新解析。"),
    ),
    "memory-empty": Kind(
        "warning", ("memory",),
        ("The file is there but holds 0 {what}.",
         "Nothing was allocated in the recorded window: move the schedule's active steps."),
        ("文件存在，但其中没有{what}（0 行）。", "采集窗口内没有内存分配：请调整 schedule 的 active 步。"),
    ),
    "blocks-incomplete": Kind(
        "info", ("memory",),
        ("Of {total} blocks, {held} were not released in the capture and {before} were allocated "
         "before it.",
         "Expected for weights and optimizer states. A block held by mistake recurs step by step: "
         "record two or more steps and group the held blocks by operator."),
        ("{total} 个内存块中，{held} 个在采集期间未释放，{before} 个在采集前分配。",
         "权重与优化器状态属正常情况；泄漏会逐 Step 重复出现：请采集两个以上 Step，并按算子汇总未释放的块。"),
    ),
    "blocks-without-times": Kind(
        "warning", ("memory",),
        ("Of {count} block(s) neither the allocation nor the release is known: they are in no curve.",
         "Analyse the capture again if it matters."),
        ("{count} 个内存块的分配与释放时间均未知，不参与曲线。", "如需要请重新解析。"),
    ),
    "blocks-without-size": Kind(
        "warning", ("memory",),
        ("{count} block(s) have no size and are left out of sums.", "Analyse the capture again if it matters."),
        ("{count} 个内存块没有大小，未计入合计。", "如需要请重新解析。"),
    ),
    "memory-totals-disagree": Kind(
        "warning", ("memory",),
        ("In {count} record(s) more is allocated than reserved, which cannot be; they are shown as "
         "they stand.",
         "The totals of one moment were written by two threads; trust the peak of each curve, not "
         "their difference."),
        ("{count} 条记录的已分配大于预留，这不可能；按原值显示。", "同一时刻的总量由两个线程写入；请参考各曲线的峰值，而非差值。"),
    ),
    "memory-totals-negative": Kind(
        "warning", ("memory",),
        ("{count} record(s) hold a negative total, which cannot be; they are shown as they stand.",
         "Blocks allocated before the capture were released in it and taken off a total that did "
         "not hold them; analyse with a newer torch_npu."),
        ("{count} 条记录的总量为负，这不可能；按原值显示。",
         "采集前分配的块在采集中释放，却从未计入总量；请用更新的 torch_npu 解析。"),
    ),
    "memory-times-rounded": Kind(
        "warning", ("memory",),
        ("Times were rounded by a spreadsheet (e.g. {example}): sizes and lifetimes stand, the "
         "curve over time does not.",
         "Use the original file: open it in a spreadsheet as a copy only."),
        ("时间被电子表格四舍五入（例如 {example}）：大小与生命周期可用，随时间的曲线不可用。",
         "请使用原始文件；需要用表格软件打开时请先复制。"),
    ),
    "module-released-only": Kind(
        "info", ("memory",),
        ("{count} sample(s) of module memory saw only a release (−1 KB): shown as unknown.",
         "Nothing to do: what was released had been allocated before the capture."),
        ("{count} 个模块内存采样只记录到释放（−1 KB）：按未知处理。", "无需处理：该内存在采集前分配。"),
    ),
    "json-cut": Kind(
        "warning", (*_COMM, "files"),
        ("The file is cut: it ends at byte {size} inside an object; what begins at byte {offset} is left out, all before it is shown.",
         "The disk was full or the analysis was interrupted (or still runs): analyse the capture again."),
        ("文件被截断：在第 {size} 字节处结束于一个对象内部；自第 {offset} 字节起的内容已跳过，之前的照常显示。",
         "磁盘已满、解析被中断或仍在进行：请重新解析该采集数据。"),
    ),
    "json-members-broken": Kind(
        "warning", (*_COMM, "files"),
        ("{count} object(s) of the JSON cannot be read and are left out; the rest is shown.",
         "Look at the named bytes; analyse the capture again if the file was damaged."),
        ("JSON 中有 {count} 个对象无法读取，已跳过；其余照常显示。", "请查看所列字节位置；若文件已损坏，请重新解析。"),
    ),
    "json-no-object": Kind(
        "error", (*_COMM, "files"),
        ("This is no JSON object; it begins with {head}.",
         "Check that the file is what its name says; analyse the capture again if it was damaged."),
        ("文件不是 JSON 对象，开头为 {head}。", "请确认文件内容与名称一致；若已损坏，请重新解析。"),
    ),
    "json-not-numbers": Kind(
        "info", (*_COMM, "files"),
        ("{count} value(s) are NaN, Infinity or N/A: shown as unknown.",
         "Nothing to do, unless the values matter to you: then analyse the capture again."),
        ("有 {count} 个值为 NaN、Infinity 或 N/A：按未知处理。", "一般无需处理；如需要这些数据，请重新解析。"),
    ),
    "communication-missing": Kind(
        "warning", _COMM,
        ("{count} kernel row(s) are communication operations, but there is no communication.json{why}: "
         "wait, transit, sizes and links are unknown.",
         "Record with profiler_level=Level1 or above; if it was, analyse the capture again and read its logs/."),
        ("有 {count} 行 Kernel 为通信算子，但没有 communication.json{why}：等待、传输、数据量与链路未知。",
         "请以 profiler_level=Level1 或更高级别采集；若已是如此，请重新解析并查看 logs/。"),
    ),
    "communication-file-missing": Kind(
        "info", _COMM,
        ("There is no {name}, though {other} is here: {what} unknown.",
         "Copy the whole capture, or analyse it again; the rest of this view is not affected."),
        ("没有 {name}（但有 {other}）：{what}未知。", "请拷贝完整的采集目录或重新解析；本视图其余内容不受影响。"),
    ),
    "communication-empty": Kind(
        "info", _COMM,
        ("The file is there but holds 0 operations.",
         "Nothing was communicated in the recorded window: move the schedule's active steps."),
        ("文件存在，但其中没有通信算子（0 个）。", "采集窗口内没有通信：请调整 schedule 的 active 步。"),
    ),
    "communication-times-missing": Kind(
        "info", _COMM,
        ("{count} operation(s) carry no time info, e.g. {example}: their times are unknown, not 0.",
         "Analyse with a newer CANN if you need them."),
        ("{count} 个通信算子没有时间信息，例如 {example}：时间未知，而非 0。", "如需要请用更新的 CANN 解析。"),
    ),
    "communication-sum": Kind(
        "warning", _COMM,
        ("{count} operation(s) do not add up: transit + wait + idle = {sum_us} µs, but elapse = {elapse_us} µs.",
         "Trust the parts less than the elapse; analyse with a newer CANN."),
        ("{count} 个通信算子的时间不一致：传输 + 等待 + 空闲 = {sum_us} µs，而总耗时 = {elapse_us} µs。",
         "以总耗时为准；请用更新的 CANN 解析。"),
    ),
    "bandwidth-unknown": Kind(
        "info", _COMM,
        ("{count} operation(s) carry no bandwidth info, e.g. {example}: size and bandwidth are unknown, not 0.",
         "Record with profiler_level=Level1 or above, and analyse with a newer CANN."),
        ("{count} 个通信算子没有带宽信息，例如 {example}：数据量与带宽未知，而非 0。",
         "请以 Level1 或更高级别采集，并用更新的 CANN 解析。"),
    ),
    "bandwidth-undefined": Kind(
        "info", _COMM,
        ("{count} link(s) moved data in time 0, e.g. {example}: their bandwidth is undefined, not 0.",
         "The clock is too coarse for so short a transfer, or the time was not recorded: nothing to do."),
        ("{count} 条链路在时间 0 内传输了数据，例如 {example}：带宽无定义，而非 0。",
         "传输时间短于时钟精度，或未记录时间：无需处理。"),
    ),
    "trace-unclosed": Kind(
        "warning", _TRACE,
        ("The trace has no closing bracket after {events} events: its device half was probably never written.",
         "The analysis died or still runs: wait, or analyse the capture again; what is there is shown."),
        ("trace 在 {events} 个事件之后没有结束括号：设备部分很可能没有写入。",
         "解析中断或仍在进行：请等待或重新解析；已有内容照常显示。"),
    ),
    "trace-truncated": Kind(
        "warning", _TRACE,
        ("The trace is cut: it ends at byte {size} inside an event that began at byte {offset}. {events} events were "
         "read, 1 partial event is dropped.",
         "The disk was full or the analysis was interrupted (or still runs): analyse the capture again."),
        ("trace 被截断：在第 {size} 字节处结束于一个事件内部（始于第 {offset} 字节）。已读取 {events} 个事件，丢弃 1 个不完整事件。",
         "磁盘已满、解析被中断或仍在进行：请重新解析该采集数据。"),
    ),
    "trace-trailing-comma": Kind(
        "info", _TRACE,
        ("The trace ends with a comma before its closing bracket: the device half that was appended is empty.",
         "Nothing to do for the reading; record with ProfilerActivity.NPU to have device events."),
        ("trace 的结束括号前有多余的逗号：追加的设备部分为空。", "不影响读取；需要设备事件请启用 ProfilerActivity.NPU。"),
    ),
    "trace-host-only": Kind(
        "warning", _TRACE,
        ("The trace holds host events only: no device work is in it.",
         "Record with ProfilerActivity.NPU; if that was on, the device half was not written: analyse the capture again."),
        ("trace 中只有主机事件，没有设备任务。", "请启用 ProfilerActivity.NPU；若已启用，则设备部分未写入：请重新解析。"),
    ),
    "trace-object-skipped": Kind(
        "warning", _TRACE,
        ("{count} object(s) of the trace cannot be read and are left out; the rest is shown.",
         "Often metadata with a quote or backslash (add_metadata): look at the named bytes."),
        ("trace 中有 {count} 个对象无法读取，已跳过；其余照常显示。", "常见原因是元数据（add_metadata）含引号或反斜杠：请查看所列字节位置。"),
    ),
    "trace-not-numbers": Kind(
        "info", _TRACE,
        ("{count} value(s) of the trace are NaN, Infinity or N/A: shown as unknown.",
         "Nothing to do, unless the values matter to you: then analyse the capture again."),
        ("trace 中有 {count} 个值为 NaN、Infinity 或 N/A：按未知处理。", "一般无需处理；如需要这些数据，请重新解析。"),
    ),
    "trace-without-time": Kind(
        "warning", _TRACE,
        ("{count} event(s) of the trace have no time and are left out.", "Analyse the capture again if they matter to you."),
        ("trace 中有 {count} 个事件没有时间，已跳过。", "如需要这些事件，请重新解析。"),
    ),
    "trace-without-duration": Kind(
        "info", _TRACE,
        ("{count} slice(s) of the trace have no duration: it is unknown, not 0.",
         "They did not end while the profiler ran, or the file holds no number: nothing to do."),
        ("trace 中有 {count} 个区间没有耗时：未知，而非 0。", "它们在采集期间未结束，或文件中没有数值：无需处理。"),
    ),
    "trace-phases-skipped": Kind(
        "info", _TRACE,
        ("{count} event(s) are of kinds that are not shown ({phases}).", "The original file opens in Perfetto with them."),
        ("有 {count} 个事件的类型不显示（{phases}）。", "可用 Perfetto 打开原文件查看。"),
    ),
    "trace-flows-open": Kind(
        "info", _TRACE,
        ("{count} arrow(s) have only one end in the trace and are left out.",
         "Expected at Level0 (host calls of CANN are left out) and at the window's edges."),
        ("有 {count} 个箭头在 trace 中只有一端，已跳过。", "Level0（不含 CANN 主机侧调用）及采集窗口边缘属正常情况。"),
    ),
    "torch-trace": Kind(
        "info", ("overview", "files"),
        ("A trace of torch.profiler: steps, kernels and operators are worked out from its events.",
         "The fallback view for such files is the PyTorch Profiler tab: pip install torch-tb-profiler"),
        ("这是 torch.profiler 的 trace：Step、Kernel 与算子由其事件计算得出。",
         "此类文件的备用视图是 PyTorch Profiler 页签：pip install torch-tb-profiler"),
    ),
    "torch-trace-tab": Kind(
        "info", ("overview", "files"),
        ("A trace of torch.profiler: steps, kernels and operators are worked out from its events.",
         "The fallback view for such files is the PyTorch Profiler tab of this TensorBoard: #pytorch_profiler"),
        ("这是 torch.profiler 的 trace：Step、Kernel 与算子由其事件计算得出。",
         "此类文件的备用视图是本 TensorBoard 的 PyTorch Profiler 页签：#pytorch_profiler"),
    ),
    "torch-cpu-only": Kind(
        "info", ("overview", "step", "kernel"),
        ("The trace holds no kernels: only the CPU was recorded, so where the time of a step went is unknown.",
         "Add the device's activity to the profiler: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"),
        ("该 trace 中没有 Kernel：只采集了 CPU，无法得知 Step 时间的划分。",
         "请在 profiler 中加入设备活动：activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"),
    ),
    "torch-ranks-merged": Kind(
        "warning", _TRACE,
        ("The trace names several ranks: it was merged from several files, whose process numbers may collide.",
         "Put the single files of the ranks into the logdir instead."),
        ("该 trace 包含多张卡：由多个文件合并而成，进程号可能冲突。", "请改为将各卡的单独文件放入日志目录。"),
    ),
    "trace-empty": Kind(
        "warning", _TRACE,
        ("The trace is there but holds 0 events.",
         "Nothing ran in the recorded window: move the schedule's active steps."),
        ("trace 文件存在，但其中没有事件（0 个）。", "采集窗口内没有任何活动：请调整 schedule 的 active 步。"),
    ),
    "trace-no-events": Kind(
        "error", _TRACE,
        ("This is no trace: neither an array of events nor an object with traceEvents; it begins with {head}.",
         "Check that the file is what its name says; analyse the capture again if it was damaged."),
        ("这不是 trace：既不是事件数组，也不是含 traceEvents 的对象，开头为 {head}。",
         "请确认文件内容与名称一致；若已损坏，请重新解析。"),
    ),
    "links-skipped": Kind(
        "info", _COMM,
        ("{count} link(s) are not of the form source-destination with a named transport, e.g. {example}: left out.",
         "Nothing to do; analyse with a newer torch_npu if the link matters to you."),
        ("{count} 条链路不是“源-目的”加传输方式的形式，例如 {example}：已跳过。",
         "无需处理；如需要该链路，请用更新的 torch_npu 解析。"),
    ),
}  # fmt: skip

#: A code that another version of the plugin left in the cache.
OTHER = Kind("info", ("files",), ("A finding of another version.", "Clear the cache: tb-npu cache clear"),
              ("其他版本的提示。", "请清除缓存：tb-npu cache clear"))  # fmt: skip
