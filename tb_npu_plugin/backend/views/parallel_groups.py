"""How a job is cut: its tensor, context, expert, data and pipeline parallel groups.

Told, in this order, by the shape that the user gives, by the names of the communication groups
(metadata or a cluster analysis), or by the sizes among the framework's arguments in the metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.selection import Selected
from tb_npu_plugin.backend.views.communication_groups import known_groups

#: Parallel axes as Megatron orders ranks: neighbours are in one tensor-parallel group.
AXES = ("tp", "cp", "ep", "dp", "pp")
#: Names that frameworks give their groups, without "mesh_" in front and a number behind.
_NAMES = {
    "tp": "tp", "tensor": "tp", "tensor_model_parallel_group": "tp", "tensor_parallel": "tp",
    "cp": "cp", "context": "cp", "context_parallel_group": "cp", "context_parallel": "cp",
    "ep": "ep", "expert": "ep", "expert_model_parallel_group": "ep", "expert_parallel": "ep",
    "exp": "ep",
    "dp": "dp", "data": "dp", "data_parallel_group": "dp", "data_parallel": "dp", "fsdp": "dp",
    "pp": "pp", "pipe": "pp", "pipeline": "pp", "pipeline_model_parallel_group": "pp",
    "pipeline_parallel": "pp",
}  # fmt: skip
_ARGUMENTS = {
    "tp": "tensor_model_parallel_size",
    "cp": "context_parallel_size",
    "ep": "expert_model_parallel_size",
    "dp": "data_parallel_size",
    "pp": "pipeline_model_parallel_size",
}
_TERM = re.compile(r"^(tp|cp|ep|dp|pp)=?(\d{1,6})$")


@dataclass(frozen=True)
class Axis:
    """One axis of the job. ``groups``: global ranks by their position in the group."""

    id: str
    groups: tuple[tuple[int, ...], ...]

    def places(self) -> dict[int, tuple[int, int]]:
        """Rank -> (number of its group, its position there)."""
        return {
            rank: (number, position)
            for number, group in enumerate(self.groups)
            for position, rank in enumerate(group)
        }


def axes(sel: Selected) -> dict[str, Axis]:
    """The known axes with more than one rank in a group, in the order of :data:`AXES`.

    Raises RequestError 400 for a ``shape`` option that does not fit the job.
    """
    return sel.once("axes", sel.options.get("shape", ""), make=lambda: _axes(sel))


def _axes(sel: Selected) -> dict[str, Axis]:
    world = _world(sel)
    shape = sel.options.get("shape")
    if shape:
        return of_sizes(parse_shape(shape, world), world)
    return _named(sel) or _of_arguments(sel, world)


def stages(sel: Selected) -> list[int | None]:
    """Pipeline stage per capture of the selection; None where unknown."""
    pipeline = axes(sel).get("pp")
    places = pipeline.places() if pipeline else {}
    return [places[c.rank][1] if c.rank in places else None for c in sel.captures]


def shape_text(found: Mapping[str, Axis]) -> str:
    """``tp=8 dp=4 pp=2``; "" where nothing is known."""
    return " ".join(f"{axis.id}={max(map(len, axis.groups))}" for axis in found.values())


def parse_shape(text: str, world: int) -> dict[str, int]:
    """``tp=8,pp=2`` as sizes; ``dp``, if left out, is what remains of the ``world``.

    Raises RequestError 400 for words that are no size, and where the sizes do not divide the job.
    """
    sizes: dict[str, int] = {}
    for word in re.split(r"[,\s]+", text.strip().lower()):
        match = _TERM.match(word)
        if not match or not int(match[2]):
            raise RequestError(400, "bad-shape", f"The shape cannot hold {word!r}.",
                               "Write sizes like tp=8,pp=2; dp is what remains.")  # fmt: skip
        sizes[match[1]] = int(match[2])
    cut = prod(size for axis, size in sizes.items() if axis not in ("dp", "ep"))
    if world % cut or sizes.get("dp", world // cut) * cut != world:
        raise RequestError(400, "bad-shape", f"{text} does not make the {world} ranks of this job.",
                           "tp × cp × dp × pp is the number of ranks.")  # fmt: skip
    sizes["dp"] = world // cut
    rest = sizes["dp"] * sizes.get("cp", 1)
    if rest % sizes.get("ep", 1):
        raise RequestError(400, "bad-shape", f"ep={sizes['ep']} does not divide dp × cp = {rest}.",
                           "Experts are spread over data-parallel ranks.")  # fmt: skip
    return sizes


def of_sizes(sizes: Mapping[str, int], world: int) -> dict[str, Axis]:
    """The groups that Megatron's order of ranks (tp, cp, dp, pp; experts: tp, ep, dp, pp) gives."""
    dense = [(axis, sizes.get(axis, 1)) for axis in ("tp", "cp", "dp", "pp")]
    experts = sizes.get("ep", 1)
    rest = sizes.get("cp", 1) * sizes["dp"] // experts
    sparse = [("tp", sizes.get("tp", 1)), ("ep", experts), ("dp", rest), ("pp", sizes.get("pp", 1))]
    found = {}
    for axis in AXES:
        order = sparse if axis == "ep" else dense
        if dict(order).get(axis, 1) > 1:
            found[axis] = Axis(axis, _along(axis, order, world))
    return found


def _along(axis: str, order: Iterable[tuple[str, int]], world: int) -> tuple[tuple[int, ...], ...]:
    stride, size = 1, 1
    for name, length in order:
        if name == axis:
            size = length
            break
        stride *= length
    starts = (r for r in range(world) if r // stride % size == 0)
    return tuple(tuple(start + i * stride for i in range(size)) for start in starts)


def axis_of_name(name: str) -> str | None:
    """The axis that a communication group's name tells.

    >>> axis_of_name("mesh_tp"), axis_of_name("pp:0"), axis_of_name("DATA_PARALLEL_GROUP")
    ('tp', 'pp', 'dp')
    """
    plain = re.sub(r"[:_]?\d+$", "", name.strip().lower().removeprefix("mesh_"))
    return _NAMES.get(plain)


def _named(sel: Selected) -> dict[str, Axis]:
    groups: dict[str, set[tuple[int, ...]]] = {}
    for group in known_groups(sel).values():
        axis = axis_of_name(group.name)
        if axis and len(group.ranks) > 1:
            groups.setdefault(axis, set()).add(group.ranks)
    # A rank in two groups of one name: the name says something else here.
    return {
        axis: Axis(axis, tuple(sorted(groups[axis])))
        for axis in AXES
        if axis in groups and _apart(groups[axis])
    }


def _apart(groups: Iterable[tuple[int, ...]]) -> bool:
    ranks = [rank for group in groups for rank in group]
    return len(ranks) == len(set(ranks))


def _of_arguments(sel: Selected, world: int) -> dict[str, Axis]:
    for capture in sel.recording.captures:
        arguments = capture.info.metadata.get("distributed_args")
        if not isinstance(arguments, dict):
            continue
        sizes = {axis: _size(arguments.get(key)) for axis, key in _ARGUMENTS.items()}
        told = _size(arguments.get("world_size")) or world
        text = ",".join(f"{axis}={size}" for axis, size in sizes.items() if size)
        try:
            return of_sizes(parse_shape(text, told), told)
        except RequestError:  # arguments that contradict each other tell nothing
            continue
    return {}


def _size(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0


def _world(sel: Selected) -> int:
    ranks = [c.rank for c in sel.recording.captures if c.rank is not None]
    return max(sel.recording.world_size, max(ranks, default=-1) + 1, 1)
