"""A database of a capture: its tables by release line, names through STRING_IDS, rows in blocks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from .lines import Line

FRAMEWORK, MEMORY = 1 << 28, 1 << 29  # where ids of torch_npu's own names begin
NO_ID = 4294967295
NAMES = {
    "ENUM_API_TYPE": {5000: "runtime", 10000: "node", 15000: "model", 20000: "acl", 50001: "op",
                      50002: "queue", 50003: "trace", 50004: "mstx"},
    "ENUM_HCCL_DATA_TYPE": {3: "FP16", 4: "FP32", 11: "BFP16", 65534: "N/A", 65535: "INVALID_TYPE"},
    "ENUM_HCCL_LINK_TYPE": {0: "ON_CHIP", 1: "HCCS", 2: "PCIE", 3: "ROCE", 4: "SIO", 5: "HCCS_SW",
                            65535: "INVALID_TYPE"},
    "ENUM_HCCL_TRANSPORT_TYPE": {0: "SDMA", 1: "RDMA", 2: "LOCAL", 65535: "INVALID_TYPE"},
    "ENUM_HCCL_RDMA_TYPE": {0: "RDMA_SEND_NOTIFY", 1: "RDMA_SEND_PAYLOAD", 65535: "INVALID_TYPE"},
}  # fmt: skip
_TASK = (
    "startNs endNs deviceId connectionId globalTaskId globalPid taskType contextId streamId taskId "
    "modelId"
)
_COMPUTE = (
    "taskType opType inputFormats inputDataTypes inputShapes outputFormats outputDataTypes "
    "outputShapes attrInfo"
)
_MEMORY = (
    "allocationTotalAllocated allocationTotalReserved allocationTotalActive releaseTotalAllocated "
    "releaseTotalReserved releaseTotalActive streamPtr deviceId"
)
_TIMES = "elapse_time transit_time wait_time synchronization_time idle_time step type"
#: Columns of each table; ``!`` marks the primary key, ``:T`` text, ``:N`` numbers with fractions.
TABLES = {
    "STRING_IDS": "id! value:T",
    "SESSION_TIME_INFO": "startTimeNs endTimeNs",
    "NPU_INFO": "id name:T",
    "HOST_INFO": "hostUid:T hostName:T",
    "RANK_DEVICE_MAP": "rankId deviceId",
    "META_DATA": "name:T value:T",
    "TASK": _TASK,
    "TASK_PMU_INFO": "globalTaskId name value:N",
    "COMMUNICATION_TASK_INFO": "name globalTaskId taskType planeId groupName notifyId rdmaType "
                               "srcRank dstRank transportType size dataType linkType opId",
    "CANN_API": "startNs endNs type globalTid connectionId! name",
    "PYTORCH_API": "startNs:T endNs:T globalTid connectionId name sequenceNumber fwdThreadId "
                   "inputDtypes inputShapes callchainId type",
    "CONNECTION_IDS": "id connectionId",
    "PYTORCH_CALLCHAINS": "id stack stackDepth",
    "STEP_TIME": "id startNs endNs",
    "MEMORY_RECORD": "component timestamp totalAllocated totalReserved totalActive streamPtr deviceId",
    "OP_MEMORY": "name size allocationTime releaseTime activeReleaseTime duration activeDuration "
                 + _MEMORY,
    "NPU_MEM": "type ddr:N hbm:N timestampNs deviceId",
    "NPU_MODULE_MEM": "moduleId timestampNs totalReserved:N deviceId",
    "AICORE_FREQ": "deviceId timestampNs:N freq",
    "CommAnalyzerTime": "hccl_op_name:T group_name:T start_timestamp:N "
                        + _TIMES.replace("_time ", "_time:N ").replace("step type", "step:T type:T"),
    "CommAnalyzerBandwidth": "hccl_op_name:T group_name:T transport_type:T transit_size:N "
                             "transit_time:N bandwidth:N large_packet_ratio:N package_size:N count:N "
                             "total_duration:N step:T type:T",
    "CommAnalyzerMatrix": "hccl_op_name:T group_name:T src_rank:T dst_rank:T transport_type:T "
                          "transit_size:N transit_time:N bandwidth:N step:T type:T op_name:T",
    **dict.fromkeys((*NAMES, "ENUM_MODULE"), "id! name:T"),
}  # fmt: skip
INDEXES = {
    "TASK": "CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId)",
    "COMMUNICATION_TASK_INFO":
        "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)",
}  # fmt: skip


def columns_of(table: str, line: Line) -> str:
    """A table's columns; three of them differ between release lines."""
    if table == "COMPUTE_TASK_INFO":
        new = line.block == "Num"
        blocks = "blockNum mixBlockNum" if new else "blockDim mixBlockDim"
        tail = " opState hf32Eligible gridDim blockDim" if new else ""
        return f"name globalTaskId! {blocks} {_COMPUTE}{tail}"
    if table == "COMMUNICATION_OP":
        tail = " deviceId" if line.device_id else ""
        return ("opName startNs endNs connectionId groupName opId! relay retry dataType algType "
                f"count:N opType{tail}")  # fmt: skip
    if table == "StepTraceTime":
        parts = (
            "computing communication_not_overlapped overlapped communication free stage bubble "
            "communication_not_overlapped_and_exclude_receive preparing"
        )
        lead = "deviceId " if line.device_id else ""
        return f"{lead}step:T {' '.join(f'{part}:N' for part in parts.split())}"
    return TABLES[table]


class Database:
    """A database file that is only ever added to; open only while a block is written."""

    def __init__(self, path: Path, line: Line) -> None:
        self.path, self.line = path, line
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._made: set[str] = set()
        self._ids: dict[tuple[int, str], int] = {}
        self._next = {0: 0, FRAMEWORK: FRAMEWORK, MEMORY: MEMORY}

    def name(self, text: str, first: int = 0) -> int:
        """The id of a name; ``first``: where the ids of its writer begin."""
        known = self._ids.get((first, text))
        if known is None:
            known = self._ids[first, text] = self._next[first]
            self._next[first] += 1
            self.add("STRING_IDS", [(known, text)])
        return known

    def add(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Rows for the next block."""
        self._rows.setdefault(table, []).extend(rows)

    def flush(self) -> None:
        """Write what was added. A table without rows is never made."""
        if not any(self._rows.values()):
            return
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            for table, rows in self._rows.items():
                if not rows:
                    continue
                if table not in self._made:
                    connection.execute(f"CREATE TABLE {table} ({self._declared(table)})")
                    self._made.add(table)
                marks = ",".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            connection.commit()
        self._rows = {}

    def finish(self) -> None:
        """Write the rest and the indexes."""
        self.flush()
        with closing(sqlite3.connect(self.path)) as connection:
            for table, index in INDEXES.items():
                if table in self._made:
                    connection.execute(index)
            connection.commit()

    def _declared(self, table: str) -> str:
        kinds = {"T": "TEXT", "N": "NUMERIC", "": "INTEGER"}
        out = []
        for column in columns_of(table, self.line).split():
            name, _, kind = column.partition(":")
            key = " PRIMARY KEY" if name.endswith("!") else ""
            out.append(f"{name.rstrip('!')} {kinds[kind]}{key}")
        return ",".join(out)
