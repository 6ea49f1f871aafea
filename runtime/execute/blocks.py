"""Writing the function of blocks for a region: see `runtime.execute.in_blocks`.

Each value of a region lies in a *slot*, an array of the size of a block. A statement
may write its result over an operand that nobody reads any more, so that few blocks are
in use at a time and all of them stay in the cache. A slot that has a result in the end
is the block of that result; the others are scratch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runtime.execute.elementwise import steps_of
from runtime.execute.regions import dims_of, role
from runtime.execute.text import scalar_text
from runtime.graph import Graph, Node
from runtime.tensor import SymbolicTensor

__all__ = ["first_array", "write_blocks"]

#: Wider lines are split.
WIDTH = 88

#: Ops whose result must not lie where an operand lies.
_APART = frozenset({"Erf"})

#: Ops that NumPy is slow at where one operand is a number.
_EXTREMES = frozenset({"Maximum", "Minimum"})

#: The names that the function reads.
_GLOBALS = frozenset({"np", "erf", "extreme", "select"})


def write_blocks(
    name: str, body: Graph, hints: Mapping[SymbolicTensor, str]
) -> list[str]:
    """The source of the function of that name for the body of a region.

    `hints` are names for inputs and outputs of the body.
    """
    slots, homes = _slots(body)
    taken = set(_GLOBALS)
    inputs = [_free(hints.get(tensor, "x"), taken) for tensor in body.inputs]
    for tensor in body.outputs:
        homes[tensor].name = _free(hints.get(tensor, "y"), taken)
    results = [homes[tensor] for tensor in body.outputs]
    scratch = [slot for slot in slots if slot not in results]
    for slot in scratch:
        slot.name = _free("t", taken)
    names = dict(zip(body.inputs, inputs))
    names |= {tensor: slot.name for tensor, slot in homes.items()}
    kinds = [
        *_roles(body),
        *(f"scratch {slot.dtype}" for slot in scratch),
        *(f"result {slot.dtype}" for slot in results),
    ]
    parameters = [*inputs, *(slot.name for slot in (*scratch, *results))]
    lines = [
        *_listed("@in_blocks(", [f'"{kind}"' for kind in kinds], ")"),
        *_listed(f"def {name}(", parameters, "):"),
    ]
    for node in _operations(body):
        operands = _operands(node, names)
        for step in _steps(node):
            lines.append("    " + step.format(*operands, out=names[node.outputs[0]]))
    return lines


def first_array(body: Graph) -> int:
    """The number of the input that tells how large the arrays of a region are."""
    return _roles(body).index("array")


def _roles(body: Graph) -> list[str]:
    """What each input is beside the arrays of the region."""
    whole = dims_of(body.outputs[0])
    assert whole is not None
    return [str(role(dims_of(tensor), whole)) for tensor in body.inputs]


def _operations(body: Graph) -> list[Node]:
    return [node for node in body.nodes if node.op != "Const"]


def _free(hint: str, taken: set[str]) -> str:
    """A name that is not taken, which it is from now on."""
    name, number = hint, 1
    while name in taken:
        name, number = f"{hint}_{number}", number + 1
    taken.add(name)
    return name


def _listed(start: str, parts: Sequence[str], end: str) -> list[str]:
    """A line, or one for each part if it were too wide."""
    line = f"{start}{', '.join(parts)}{end}"
    if len(line) <= WIDTH:
        return [line]
    return [start, *(f"    {part}," for part in parts), end]


# --- slots ----------------------------------------------------------------------------


@dataclass(eq=False)
class _Slot:
    """An array of the size of a block, which one value after the other lies in."""

    dtype: str
    name: str = ""
    #: The value in it; None if nobody reads that any more.
    value: SymbolicTensor | None = None


def _slots(body: Graph) -> tuple[list[_Slot], dict[SymbolicTensor, _Slot]]:
    """The slots that a region needs, and the one of each value."""
    nodes = _operations(body)
    last: dict[SymbolicTensor, float] = {}
    for index, node in enumerate(nodes):
        last.update(dict.fromkeys(node.inputs, index))
    last.update(dict.fromkeys(body.outputs, len(nodes)))
    slots: list[_Slot] = []
    homes: dict[SymbolicTensor, _Slot] = {}
    for index, node in enumerate(nodes):
        (output,) = node.outputs
        dying = {t for t in node.inputs if last[t] == index and _may_overwrite(node, t)}
        usable = [slot for slot in slots if slot.dtype == output.dtype.name]
        free = [slot for slot in usable if slot.value in dying]
        free += [slot for slot in usable if slot.value is None]
        if not free:
            free.append(_Slot(output.dtype.name))
            slots += free
        homes[output] = free[0]
        free[0].value = output
        for slot in slots:
            if slot.value is not None and last[slot.value] <= index:
                slot.value = None
    return slots, homes


def _may_overwrite(node: Node, operand: SymbolicTensor) -> bool:
    """Whether no statement reads the operand after the first has written its result."""
    if node.op in _APART:
        return False
    places = [i for i, tensor in enumerate(node.inputs) if tensor is operand]
    later = steps_of(node)[1:]
    return not any(f"{{{place}}}" in step for place in places for step in later)


# --- statements -----------------------------------------------------------------------


def _steps(node: Node) -> Sequence[str]:
    if node.op in _EXTREMES and any(map(_number, node.inputs)):
        return [f"extreme(np.{node.op.lower()}, {{0}}, {{1}}, out={{out}})"]
    return steps_of(node)


def _operands(node: Node, names: Mapping[SymbolicTensor, str]) -> list[str]:
    """How the inputs are written: constants as Python's numbers where that is exact."""
    numbers = [_number(tensor) for tensor in node.inputs]
    texts = []
    for tensor, number in zip(node.inputs, numbers):
        if tensor.node.op != "Const":
            texts.append(names[tensor])
        elif number is not None and len(numbers) == 2 and None in numbers:
            texts.append(number)
        else:
            text = scalar_text(tensor.node.attrs["value"])
            assert text is not None
            texts.append(text.code)
    return texts


def _number(tensor: SymbolicTensor) -> str | None:
    """The Python number that a constant is."""
    if tensor.node.op != "Const":
        return None
    text = scalar_text(tensor.node.attrs["value"])
    return None if text is None else text.number
