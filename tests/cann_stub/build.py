"""Build a stand-in for the CANN C libraries from an installed torch_npu wheel.

torch_npu's wheel links against the CANN libraries only by C symbol names.  This script collects
those names from the wheel (the undefined symbols, and the names it looks up at run time), writes
one C function for each that reports success, and compiles them into one shared object that stands
under the name of every CANN library.  A dozen functions that hand something back (a count, a
handle, memory) do so truthfully enough for the unmodified torch_npu to import and record.

It is a host without an NPU: host operators, stacks, shapes, schedules and the caching allocator
are torch_npu's own and real; no kernel ever runs and no device data (``PROF_*``) is written.

    python tests/cann_stub/build.py OUT [--torch-npu DIR]
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBRARIES = (
    "libascendcl",
    "libhccl",
    "libacl_op_compiler",
    "libge_runner",
    "libgraph",
    "libacl_tdt_channel",
    "libmsprofiler",
    "libopapi",
    "libnnopbase",
    "libruntime",
    "libascend_hal",
)
C_NAME = re.compile(r"^(?:acl|rt|Msprof|Hccl|hccl|hal|ge[A-Z]|GE)[A-Za-z0-9_]*$")
# Old lines (torch 2.1) also link against CANN's C++ graph classes; their names are C identifiers.
GRAPH_NAME = re.compile(r"^_ZNK?2ge[A-Za-z0-9_]+$")


def wheel_objects(package: Path) -> list[Path]:
    """The shared objects of a torch_npu package that link against CANN."""
    named = ("libtorch_npu.so", "libtensorpipe.so", "libnpu_profiler.so")
    found = [package / "lib" / name for name in named]
    return [path for path in found if path.exists()] + sorted(package.glob("_C*.so"))


def undefined_names(objects: Iterable[Path]) -> set[str]:
    """C symbols the dynamic linker will ask CANN for."""
    names: set[str] = set()
    for path in objects:
        out = subprocess.run(
            ["nm", "-D", "--undefined-only", str(path)], check=True, capture_output=True, text=True
        ).stdout
        names.update(line.split()[-1] for line in out.splitlines() if line.split())
    return {name for name in names if C_NAME.match(name) or GRAPH_NAME.match(name)}


def looked_up_names(objects: Iterable[Path]) -> set[str]:
    """C symbols torch_npu asks for by name at run time (they lie in its read-only data)."""
    names: set[str] = set()
    for path in objects:
        for text in re.findall(rb"\0([A-Za-z][A-Za-z0-9_]{3,80})(?=\0)", path.read_bytes()):
            names.add(text.decode("ascii"))
    return {name for name in names if C_NAME.match(name)}


def generate(names: Iterable[str], answers: str) -> str:
    """C source: the hand-written answers, then one function returning 0 for every other name."""
    answered = set(re.findall(r"^[a-z_0-9 ]+[ *](\w+)\(", answers, re.M))
    rest = sorted(set(names) - answered)
    lines = [f"int {name}(void) {{ return 0; }}" for name in rest]
    return answers + "\n" + "\n".join(lines) + "\n"


def build(package: Path, out: Path) -> Path:
    """Compile the stub of ``package`` into ``out`` and return ``out``; built once, then reused."""
    objects = wheel_objects(package)
    if not objects:
        raise SystemExit(f"no torch_npu libraries in {package}")
    names = undefined_names(objects) | looked_up_names(objects)
    source = generate(names, (HERE / "answers.c").read_text(encoding="utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    c_file = out / "stub.c"
    built = all((out / (name + ".so")).exists() for name in LIBRARIES)
    if built and c_file.exists() and c_file.read_text(encoding="utf-8") == source:
        return out
    c_file.write_text(source, encoding="utf-8")
    first = out / (LIBRARIES[0] + ".so")
    for library in LIBRARIES:
        target = out / (library + ".so")
        if library == LIBRARIES[0]:
            subprocess.run(
                ["gcc", "-w", "-O1", "-shared", "-fPIC", "-o", str(target), str(c_file)], check=True
            )
        else:
            shutil.copyfile(str(first), str(target))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--torch-npu", type=Path, help="folder of the installed torch_npu package")
    args = parser.parse_args()
    package = args.torch_npu
    if package is None:
        import importlib.util

        spec = importlib.util.find_spec("torch_npu")
        if spec is None or spec.origin is None:
            raise SystemExit(f"torch_npu is not installed for {sys.executable}")
        package = Path(spec.origin).parent
    print(build(package, args.out))


if __name__ == "__main__":
    main()
