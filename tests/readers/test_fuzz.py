"""Files with random damage: no reader fails, hangs, or writes beside the file.

``make fuzz`` runs it long and at random; in ``make test`` it is short and always the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_captures import OUTPUT

from tb_npu_plugin.backend.cache import fingerprint
from tb_npu_plugin.backend.ingest import Job, ingest
from tb_npu_plugin.backend.readers import reader_for, reader_name, readers_for
from tb_npu_plugin.sample import write_sample

#: Damaged copies of each file.
EXAMPLES = int(os.environ.get("TB_NPU_FUZZ") or 6)
#: What the damage is made of: what ends, opens, escapes, overflows or is no number somewhere.
TOKENS = (
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b'""', b",", b"\t", b"\r", b"\r\n", b"\n\n",
    b"{", b"}", b"[", b"]", b"\\", b"\\u12", b"N/A", b"NaN", b"-", b"1e999", b"-9223372036854775808",
    b"99999999999999999999999", b"0x10", b"1,5", b"\xc4\xe3", b"\xf0\x9f", b":", b"null", b"true",
    b'"ph":"X"', b'"dur":-1', b"SQLite format 3\x00",
)  # fmt: skip
DAMAGE = st.lists(
    st.tuples(
        st.sampled_from(("replace", "insert", "delete", "repeat", "flip", "cut")),
        st.floats(0, 1),
        st.integers(1, 400),
        st.sampled_from(TOKENS),
    ),
    min_size=1,
    max_size=6,
)


def damaged(content: bytes, damage: list[tuple[str, float, int, bytes]]) -> bytes:
    data = bytearray(content)
    for kind, where, length, token in damage:
        at = int(where * len(data))
        if kind == "replace":
            data[at : at + max(1, len(token))] = token
        elif kind == "insert":
            data[at:at] = token
        elif kind == "delete":
            del data[at : at + length]
        elif kind == "repeat":
            data[at:at] = data[at : at + length] * 3
        elif kind == "flip" and at < len(data):
            data[at] ^= 1 << (length % 8)
        elif kind == "cut":
            del data[at:]
    return bytes(data)


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a small job in both forms."""
    folder = tmp_path_factory.mktemp("seeds")
    write_sample(folder / "text", ranks=2, steps=2, kernels_per_step=12, seed=1, memory_leak=True)
    write_sample(folder / "db", ranks=1, steps=2, kernels_per_step=12, seed=1, export=("db",))
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.rglob(f"{OUTPUT}/*"))
        if path.is_file() and reader_for(path.name)
    }


NAMES = (
    "kernel_details.csv", "step_trace_time.csv", "operator_details.csv", "operator_memory.csv",
    "memory_record.csv", "npu_module_mem.csv", "op_statistic.csv", "api_statistic.csv",
    "l2_cache.csv", "communication.json", "communication_matrix.json", "trace_view.json",
    "ascend_pytorch_profiler_0.db", "analysis.db",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_a_finding_never_a_failure(
    name: str, seeds: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("fuzz") / "capture" / OUTPUT
    folder.mkdir(parents=True)
    content, path, cache = seeds[name], folder / name, folder.parents[1] / "cache"

    @settings(
        max_examples=EXAMPLES,
        derandomize="TB_NPU_FUZZ" not in os.environ,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(DAMAGE)
    def run(damage: list[tuple[str, float, int, bytes]]) -> None:
        path.write_bytes(damaged(content, damage))
        read_all(path, cache, lambda: sorted(os.listdir(folder)) == [name])

    run()


def read_all(path: Path, cache: Path, alone: Callable[[], bool]) -> None:
    """Have every reader of the file read it, those that derive from its tables too."""
    stat, before = path.stat(), path.read_bytes()
    origin = ""
    for reader in readers_for(path.name):
        rel = f"{OUTPUT}/{path.name}"
        key = fingerprint(
            path, rel, stat.st_size, stat.st_mtime_ns, reader_name(reader), reader.VERSION
        )
        job = Job("capture", os.fsencode(path), rel, reader_name(reader), key, stat.st_size,
                  str(cache), origin=origin)  # fmt: skip
        done = ingest(job)
        assert "reader-failed" not in [n.code for n in done.notes], done.error
        assert alone(), "something was written beside the file"
        if not done.tables:
            break  # nothing to derive from
        origin = origin or key
    assert path.read_bytes() == before
