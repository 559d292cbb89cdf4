"""Events of a trace: tracks, slices on them, flows between slices, counters.

A track is one thread of one process of the trace (a host thread, a stream, a plane of a
communication group, an overlap row, a group of counters). Ids of the source are text: they pass
2^53 and even 2^64.
"""

from __future__ import annotations

from tb_npu_plugin.backend.schema.fields import Field, TableSchema

#: What a track shows: word -> (English, Chinese).
TRACK_KINDS: dict[str, tuple[str, str]] = {
    "python": ("Host threads of the framework", "框架的主机线程"),
    "gc": ("Python's garbage collector", "Python 垃圾回收"),
    "cann": ("Host calls of CANN", "CANN 主机侧调用"),
    "runtime": ("Host calls of the device's runtime", "设备运行时的主机侧调用"),
    "hardware": ("Streams of a device", "设备的流"),
    "communication": ("Communication operations and planes", "通信算子与平面"),
    "overlap": ("Computing, communication and free time", "计算、通信与空闲时间"),
    "counter": ("Counters", "计数器"),
    "other": ("Anything else", "其他"),
}

TRACKS = TableSchema(
    "tracks",
    (
        Field("track", "BIGINT", "id", "Track", "轨道", about_en="In display order, from 0",
              about_zh="按显示顺序，从 0 开始"),
        Field("kind", "VARCHAR", "text", "Kind", "类别",
              about_en=", ".join(TRACK_KINDS), about_zh=", ".join(TRACK_KINDS)),
        Field("device", "BIGINT", "device", "Device", "设备",
              about_en="From the process label; unknown where the label has no number",
              about_zh="取自进程标签；标签无编号时未知"),
        Field("process", "VARCHAR", "name", "Process", "进程"),
        Field("label", "VARCHAR", "text", "Label", "标签", shown=False),
        Field("process_sort", "BIGINT", "int", "Process order", "进程顺序", shown=False),
        Field("thread", "VARCHAR", "name", "Thread", "线程"),
        Field("thread_sort", "BIGINT", "int", "Thread order", "线程顺序", shown=False),
        Field("pid", "VARCHAR", "id", "Process id", "进程号"),
        Field("tid", "VARCHAR", "id", "Thread id", "线程号"),
        Field("slices", "BIGINT", "int", "Slices", "区间数",
              about_en="Slices and instants", about_zh="区间与瞬时事件数"),
        Field("depths", "BIGINT", "int", "Rows", "行数", about_en="Deepest nesting + 1; 0: no slices",
              about_zh="最大嵌套层数 + 1;0 表示没有区间"),
        Field("points", "BIGINT", "int", "Counter values", "计数值个数", shown=False),
        Field("start_ns", "BIGINT", "time", "First event", "首个事件"),
        Field("end_ns", "BIGINT", "time", "Last end", "最后结束"),
    ),
)  # fmt: skip

SLICES = TableSchema(
    "slices",
    (
        Field("track", "BIGINT", "id", "Track", "轨道"),
        Field("depth", "BIGINT", "int", "Depth", "层",
              about_en="Row within the track: slices of one depth never overlap; instants are at 0",
              about_zh="轨道内的行：同一层的区间互不重叠；瞬时事件在第 0 层"),
        Field("start_ns", "BIGINT", "time", "Start", "开始"),
        Field("dur_ns", "DOUBLE", "duration", "Duration", "耗时",
              about_en="Unknown where the file has no number for it",
              about_zh="文件中没有数值时未知"),
        Field("name", "VARCHAR", "name", "Name", "名称"),
        Field("cat", "VARCHAR", "text", "Category", "类别"),
        Field("phase", "VARCHAR", "text", "Phase", "阶段", shown=False,
              about_en="X: slice; i: instant (duration 0)", about_zh="X：区间；i：瞬时事件（耗时 0）"),
        Field("args", "VARCHAR", "text", "Arguments", "参数", shown=False,
              about_en="JSON, as it stands in the file", about_zh="JSON，与文件一致"),
        Field("event", "BIGINT", "int", "Event", "事件序号", shown=False,
              about_en="Ordinal of the event in the file", about_zh="事件在文件中的序号"),
    ),
)  # fmt: skip

FLOWS = TableSchema(
    "flows",
    (
        Field("cat", "VARCHAR", "text", "Category", "类别",
              about_en="async_npu, async_task_queue, fwdbwd, HostToDevice, ac2g, …",
              about_zh="async_npu、async_task_queue、fwdbwd、HostToDevice、ac2g 等"),
        Field("name", "VARCHAR", "text", "Name", "名称"),
        Field("id", "VARCHAR", "id", "Id", "ID"),
        Field("from_track", "BIGINT", "id", "From track", "起始轨道"),
        Field("from_ns", "BIGINT", "time", "From", "起始时间"),
        Field("to_track", "BIGINT", "id", "To track", "目的轨道"),
        Field("to_ns", "BIGINT", "time", "To", "目的时间"),
    ),
)  # fmt: skip

COUNTERS = TableSchema(
    "counters",
    (
        Field("track", "BIGINT", "id", "Track", "轨道"),
        Field("name", "VARCHAR", "name", "Counter", "计数器"),
        Field("series", "VARCHAR", "text", "Series", "序列",
              about_en="With the unit, where the source names one: Read(MB/s)",
              about_zh="来源注明单位时包含单位：Read(MB/s)"),
        Field("time_ns", "BIGINT", "time", "Time", "时间"),
        Field("value", "DOUBLE", "number", "Value", "值"),
    ),
)  # fmt: skip
