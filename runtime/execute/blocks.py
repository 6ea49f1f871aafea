"""Writing the function of blocks for a region: see `runtime.execute.in_blocks`.

Values that are as large as a block lie in scratch or in the blocks of results. A
statement may write its result over an operand that nobody reads any more, so that few
blocks are in use at a time and all of them stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from runtime.execute.elementwise import REDUCTIONS, is_total, needs_rows, steps_of
from runtime.execute.regions import role
from runtime.execute.text import scalar_text
from runtime.graph import Graph, Node
from runtime.ops.record import get
from runtime.tensor import SymbolicTensor

__all__ = ["BlockText", "first_array", "write_blocks"]

#: So many results are considered as scratch.
FEW = 8

#: Wider lines are split.
WIDTH = 88

#: Ops whose result must not lie where an operand lies.
_APART = frozenset({"Erf", "Softmax"})

#: Ops that NumPy is slow at where one operand is a number.
_EXTREMES = frozenset({"Maximum", "Minimum"})

#: Names of the values that rows are reduced to.
_REDUCED = {"Max": "largest", "Mean": "mean", "Min": "smallest", "Sum": "total"}


@dataclass(frozen=True)
class BlockText:
    """A function of blocks as source."""

    lines: list[str]

    def calls(self, function: str) -> bool:
        """Whether some statement calls this function."""
        return any(f"{function}(" in line for line in self.lines)


def write_blocks(
    name: str, body: Graph, hints: Mapping[SymbolicTensor, str]
) -> BlockText:
    """The source of the function of that name for the body of a region.

    `hints` are names for inputs and outputs of the body.
    """
    writer = _Writer(body, hints)
    writer.write()
    kinds = [f'"{kind}"' for kind in writer.kinds()]
    if any(map(needs_rows, body.nodes)):
        kinds.append("whole_rows=True")
    if any(node.attrs.get("dtype") for node in body.nodes if node.op in REDUCTIONS):
        kinds.append("casts=True")
    head = [
        *_listed("@in_blocks(", kinds, ")"),
        *_listed(f"def {name}(", writer.parameters(), "):"),
    ]
    return BlockText([*head, *(f"    {line}" for line in writer.lines)])


def _listed(start: str, parts: Sequence[str], end: str) -> list[str]:
    """A line, or one for each part if it were too wide."""
    line = f"{start}{', '.join(parts)}{end}"
    if len(line) <= WIDTH:
        return [line]
    return [start, *(f"    {part}," for part in parts), end]


@dataclass(eq=False)
class _Slot:
    """A parameter that takes results: scratch, or the block of a result."""

    dtype: str
    name: str = ""
    #: What it holds; None if that is not needed any more.
    value: SymbolicTensor | None = None


class _Writer:
    def __init__(self, body: Graph, hints: Mapping[SymbolicTensor, str]) -> None:
        self._body = body
        self._names: dict[SymbolicTensor, str] = {}
        self._taken: set[str] = {
            "np",
            "erf",
            "extreme",
            "select",
            "short_rows",
            "softmax_rows",
            "sums",
        }
        self.lines: list[str] = []
        self._scratch: list[_Slot] = []
        self._results: dict[SymbolicTensor, _Slot] = {}
        self._whole = _shape_of_region(body)
        for tensor in body.inputs:
            self._names[tensor] = self._free(hints.get(tensor, "x"))
        self._inputs = dict(self._names)
        for tensor in body.outputs:
            slot = _Slot(tensor.dtype.name, self._free(hints.get(tensor, "y")))
            self._results[tensor] = slot
        #: Where the values lie that are no results.
        self._homes: dict[SymbolicTensor, _Slot] = {}
        self._last: dict[SymbolicTensor, int] = {}
        self._nodes = _near_use(body)
        self._places = {node: index for index, node in enumerate(self._nodes)}
        for index, node in enumerate(self._nodes):
            self._last.update(dict.fromkeys(node.inputs, index))

    def _free(self, hint: str) -> str:
        name, number = hint, 1
        while name in self._taken:
            name, number = f"{hint}_{number}", number + 1
        self._taken.add(name)
        return name

    # --- parameters -------------------------------------------------------------------

    def kinds(self) -> list[str]:
        """The kinds of the parameters."""
        found = [str(role(_dims(t), self._whole)) for t in self._body.inputs]
        found += [f"scratch {slot.dtype}" for slot in self._scratch]
        for tensor, slot in self._results.items():
            if is_total(tensor.node):
                found.append(f"{tensor.node.op.lower()} {slot.dtype}")
                continue
            column = "" if _dims(tensor) == self._whole else "column "
            kept = " kept" if column and tensor.shape.rank == len(self._whole) else ""
            found.append(f"{column}result{kept} {slot.dtype}")
        return found

    def parameters(self) -> list[str]:
        """Their names."""
        names = [self._inputs[tensor] for tensor in self._body.inputs]
        return names + [s.name for s in (*self._scratch, *self._results.values())]

    # --- statements -------------------------------------------------------------------

    def write(self) -> None:
        """Write all statements."""
        for index, node in enumerate(self._nodes):
            (output,) = node.outputs
            operands = self._operands(node)
            if is_total(node):
                self._total(node, operands)
            elif node.op in REDUCTIONS or _dims(output) != self._whole:
                self._reduced(node, operands)
            else:
                self._elementwise(index, node, operands)
            for tensor in (*node.inputs, output):
                slot = self._homes.get(tensor)
                if slot is not None and self._last.get(tensor, -1) <= index:
                    del self._homes[tensor]
                    if slot.value is tensor:
                        slot.value = None

    def _operands(self, node: Node) -> list[str]:
        numbers = [_number(tensor) for tensor in node.inputs]
        texts = []
        for tensor, number in zip(node.inputs, numbers):
            if tensor.node.op != "Const":
                texts.append(self._names[tensor])
            elif number is not None and len(numbers) == 2 and None in numbers:
                texts.append(number)
            else:
                text = scalar_text(tensor.node.attrs["value"])
                assert text is not None
                texts.append(text.code)
        return texts

    def _reduced(self, node: Node, operands: Sequence[str]) -> None:
        """One value for each row: it is small, and gets a name of its own."""
        (output,) = node.outputs
        code: str | None
        if node.attrs.get("has_short_rows"):
            ufunc = "maximum" if node.op == "Max" else "minimum"
            code = f"short_rows(np.{ufunc}, {operands[0]})[:, None]"
        elif node.op in REDUCTIONS:
            source = get(node.op).source
            assert callable(source)
            attrs = {**node.attrs, "axis": -1, "keepdims": True}
            code = source(list(operands), attrs)
            assert code is not None
        else:
            steps = [step.format(*operands, out="@") for step in steps_of(node)]
            code = steps[0].replace(", out=@", "")
        slot = self._results.get(output)
        name = self._names[output] = self._free(_REDUCED.get(node.op, "value"))
        self.lines.append(f"{name} = {code}")
        if node.op not in REDUCTIONS:
            for step in steps[1:]:
                self.lines.append(step.replace("@", name))
        if slot is not None:
            self.lines.append(f"np.copyto({slot.name}, {name})")

    def _total(self, node: Node, operands: Sequence[str]) -> None:
        """What a block contributes to the total of the array."""
        (output,) = node.outputs
        reduce = "sum" if node.op == "Mean" else node.op.lower()
        dtype = node.attrs.get("dtype")
        wide = f", dtype=np.{dtype.name}" if dtype is not None else ""
        name = self._results[output].name
        self.lines.append(f"{name}[0] = np.{reduce}({operands[0]}{wide})")

    def _elementwise(self, index: int, node: Node, operands: Sequence[str]) -> None:
        (output,) = node.outputs
        result = self._results.get(output)
        slot = result or self._slot(index, node)
        slot.value = output
        if result is None:
            self._homes[output] = slot
        self._names[output] = slot.name
        steps = steps_of(node)
        if node.op in _EXTREMES and any(map(_number, node.inputs)):
            steps = [f"extreme(np.{node.op.lower()}, {{0}}, {{1}}, out={{out}})"]
        for step in steps:
            self.lines.append(step.format(*operands, out=slot.name))

    def _slot(self, index: int, node: Node) -> _Slot:
        """A place for the result of a node: that of an operand if nobody needs it."""
        (output,) = node.outputs
        waiting = [
            slot
            for result, slot in islice(self._results.items(), FEW)
            if self._may_wait_in(slot, output, result, index)
        ]
        slots = [
            slot
            for slot in (*waiting, *self._scratch)
            if slot.dtype == output.dtype.name
        ]
        for slot in slots:
            held = slot.value
            if held is not None and self._last[held] == index and _reads(node, held):
                if _may_overwrite(node, held):
                    return slot
        for slot in slots:
            if slot.value is None:
                return slot
        slot = _Slot(output.dtype.name, self._free("t"))
        self._scratch.append(slot)
        return slot

    def _may_wait_in(
        self,
        slot: _Slot,
        value: SymbolicTensor,
        result: SymbolicTensor,
        index: int,
    ) -> bool:
        """Whether the block of a result is free for a value until it is computed."""
        place, last = self._places[result.node], self._last.get(value, -1)
        if _dims(result) != self._whole or place <= index:
            return False
        return last < place or (last == place and _may_overwrite(result.node, value))


def _reads(node: Node, tensor: SymbolicTensor) -> bool:
    return any(found is tensor for found in node.inputs)


def _may_overwrite(node: Node, operand: SymbolicTensor) -> bool:
    """Whether no statement reads the operand after the first has written its result."""
    if node.op in _APART:
        return False
    steps = steps_of(node)
    places = [i for i, tensor in enumerate(node.inputs) if tensor is operand]
    return not any(f"{{{place}}}" in step for place in places for step in steps[1:])


def _near_use(body: Graph) -> list[Node]:
    """The operations, each shortly before its first use: this takes least scratch."""
    order: dict[Node, None] = {}
    stack = [(tensor.node, False) for tensor in reversed(body.outputs)]
    while stack:
        node, ready = stack.pop()
        if node in order or node.op in ("Const", "Placeholder"):
            continue
        if ready:
            order[node] = None
        else:
            stack.append((node, True))
            stack += [(tensor.node, False) for tensor in reversed(node.inputs)]
    return list(order)


def first_array(body: Graph) -> int:
    """The number of the input that tells how large the arrays of a region are."""
    whole = _shape_of_region(body)
    return [role(_dims(tensor), whole) for tensor in body.inputs].index("array")


def _shape_of_region(body: Graph) -> tuple[int | None, ...]:
    first = next(node for node in body.nodes if node.op != "Const")
    reduces = first.op in REDUCTIONS
    tensors: Iterable[SymbolicTensor] = first.inputs if reduces else ()
    return _dims(next(iter(tensors), first.outputs[0]))


def _dims(tensor: SymbolicTensor) -> tuple[int | None, ...]:
    return tuple(tensor.shape)


def _number(tensor: SymbolicTensor) -> str | None:
    """The Python number that a constant is."""
    if tensor.node.op != "Const":
        return None
    text = scalar_text(tensor.node.attrs["value"])
    return None if text is None else text.number
