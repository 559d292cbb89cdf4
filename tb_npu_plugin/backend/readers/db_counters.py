"""Counters of a database, under the names and in the units of the trace."""

from __future__ import annotations

from dataclasses import dataclass, field

from tb_npu_plugin.backend.readers.csv_file import ident, quote
from tb_npu_plugin.backend.readers.db_file import Database, Table, key
from tb_npu_plugin.backend.readers.db_load import Want, double, id_, instant, load
from tb_npu_plugin.backend.readers.db_tracks import TimelineRows

_MIB = 1 << 20


@dataclass(frozen=True)
class Counter:
    """Values of one column: ``name`` and ``series`` are SQL over the table's ids (``i_…``)."""

    column: str
    name: str
    series: str
    divide: float = 1.0
    ids: tuple[str, ...] = field(default=())


def _plain(column: str, name: str, series: str, divide: float = 1.0) -> Counter:
    return Counter(column, quote(name), quote(series), divide)


_HBM = "CASE WHEN lower(s_type.value) LIKE 'w%' THEN 'Write' ELSE 'Read' END"
_MEM = "CASE WHEN lower(s_type.value) = 'app' THEN 'APP' ELSE 'Device' END"
_LLC = "'LLC ' || i_llcid || ' ' || CASE WHEN lower(s_mode.value) LIKE 'w%' THEN 'Write' ELSE 'Read' END"
#: Table -> (process, counters).
COUNTERS: dict[str, tuple[str, tuple[Counter, ...]]] = {
    "AICORE_FREQ": ("AI Core Freq", (_plain("freq", "AI Core Freq", "MHz"),)),
    "HBM": ("HBM", (
        Counter("bandwidth", f"'HBM ' || i_hbmid || '/' || {_HBM}", f"{_HBM} || '(MB/s)'", _MIB,
                ("hbmId", "type")),)),
    "LLC": ("LLC", (
        Counter("throughput", f"{_LLC} || '/Throughput'", "'Throughput(MB/s)'", _MIB,
                ("llcId", "mode")),
        Counter("hitRate", f"{_LLC} || '/Hit Rate'", "'Hit Rate(%)'", 1.0, ("llcId", "mode")))),
    "DDR": ("DDR", (_plain("read", "DDR/Read", "Read(MB/s)", _MIB),
                    _plain("write", "DDR/Write", "Write(MB/s)", _MIB))),
    "NPU_MEM": ("NPU MEM", (
        Counter("ddr", f"{_MEM} || '/DDR'", "'KB'", 1024, ("type",)),
        Counter("hbm", f"{_MEM} || '/HBM'", "'KB'", 1024, ("type",)))),
    "ACC_PMU": ("Acc PMU", tuple(
        Counter(column, quote(name), "'value acc_id ' || i_accid", 1.0, ("accId",))
        for column, name in (("readBwLevel", "read_bandwidth"), ("writeBwLevel", "write_band_width"),
                             ("readOstLevel", "read_ost"), ("writeOstLevel", "write_ost")))),
    "SOC_BANDWIDTH_LEVEL": ("Stars Soc Info", (
        _plain("l2BufferBwLevel", "L2 Buffer Bw Level", "value"),
        _plain("mataBwLevel", "Mata Bw Level", "value"))),
    "QOS": ("QoS", (Counter("bandwidth", "'QoS ' || coalesce(s_eventname.value, '')", "'value'", 1.0,
                            ("eventName",)),)),
    "CPU_USAGE": ("CPU Usage", (Counter("usage", "'CPU ' || i_cpuid", "'Usage(%)'", 1.0, ("cpuId",)),)),
}  # fmt: skip
#: Tables whose columns other than these are counters by their own names, and their processes.
OTHERS = {
    "HCCS": "HCCS", "PCIE": "PCIe", "NIC": "NIC", "ROCE": "RoCE", "NETDEV_STATS": "Network",
    "HOST_MEM_USAGE": "Memory Usage", "HOST_DISK_USAGE": "Disk Usage",
    "HOST_NETWORK_USAGE": "Network Usage",
}  # fmt: skip
_KEYS = {"deviceid", "timestampns", "funcid", "start", "end"}


def counters(db: Database, rows: TimelineRows) -> None:
    """Values of every counter that the database has."""
    for name, (process, found) in COUNTERS.items():
        table = db.table(name)
        if table is not None:
            _values(db, rows, table, process, found)
    for name, process in OTHERS.items():
        table = db.table(name)
        if table is not None:
            own = [column for k, (_, column) in table.columns.items() if k not in _KEYS]
            _values(db, rows, table, process, tuple(_plain(c, f"{process}/{c}", c) for c in own))


def _values(
    db: Database, rows: TimelineRows, table: Table, process: str, found: tuple[Counter, ...]
) -> None:
    con = db.source.con
    there = [c for c in found if table.column((c.column,))]
    wanted: dict[str, Want] = {"time": instant("timestampNs"), "device": id_("deviceId")}
    wanted |= {f"i_{key(i)}": id_(i) for c in there for i in c.ids}
    wanted |= {f"v_{key(c.column)}": double(c.column) for c in there}
    load(db, "values_of", table.name, wanted, "time IS NOT NULL")
    devices = con.execute("SELECT DISTINCT coalesce(device, -1) FROM values_of").fetchall()
    rows.tracks(
        "device_codes", [(d, process, None if d < 0 else d, 0, None) for (d,) in devices],
        ("device",),
    )  # fmt: skip
    for counter in there:
        joins = " ".join(
            f"LEFT JOIN strings s_{key(i)} ON s_{key(i)}.id = v.i_{key(i)}" for i in counter.ids
        )
        value = f"v.{ident('v_' + key(counter.column))}"
        rows.counters.copy(
            con,
            f"SELECT c.code, {counter.name} AS name, {counter.series} AS series, v.time AS time_ns, "
            f"{value} / {counter.divide!r} AS value FROM values_of v JOIN device_codes c "
            f"ON c.device = coalesce(v.device, -1) {joins} WHERE {value} IS NOT NULL",
        )
    con.execute("DROP TABLE values_of")
