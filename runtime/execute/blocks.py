"""Elementwise chains on large arrays, computed in blocks that fit the cache.

A *region* is a set of elementwise operations on arrays of one shape, with rows, columns
and scalars beside them. `with_regions` puts one node ``Fused`` in place of each: its
body is a graph of its own, its outputs are those tensors of the region that are used
elsewhere. It runs where the last of its operations stood; nothing between the first and
the last needs its results or could tell the difference.

`write_blocks` writes the function that computes a region for one block, which
`runtime.execute.in_blocks` runs. Each value lies in a *slot*, an array of the size of a
block. A statement may write its result over an operand that nobody reads any more, so
that few blocks are in use at a time. A slot that has a result in the end is the block
of that result; the others are scratch.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from runtime.execute import in_blocks
from runtime.execute.prune import CONTROL_FLOW, Live, find_live, has_effects
from runtime.execute.text import large_source, scalar_text
from runtime.graph import Graph, Node
from runtime.ops.python_ints import is_exact
from runtime.ops.record import Fails, get, register_structure
from runtime.ops.static import static_value
from runtime.tensor import SymbolicTensor

__all__ = [
    "FUSED",
    "first_array",
    "fits",
    "is_simple",
    "role",
    "with_regions",
    "write_blocks",
]

#: The op of the nodes that stand for regions. It is known to the writer of source only.
FUSED = "Fused"
register_structure(FUSED)

#: Where the size is not known, this many statements are worth two ways to compute them.
MANY = 3

#: Wider lines are split.
WIDTH = 88

#: Ops whose result must not lie where an operand lies.
_APART = frozenset({"Erf"})

#: The names that the function reads.
_GLOBALS = frozenset({"np", "erf", "extreme", "select"})


# --- operations -----------------------------------------------------------------------


def is_simple(node: Node) -> bool:
    """Whether the node can be computed in blocks, as far as ops and dtypes tell.

    It has one result, raises nothing for operands whose shapes fit, and computes every
    element in the same way wherever it lies.
    """
    kinds = {tensor.dtype.kind for tensor in (*node.inputs, *node.outputs)}
    if len(node.outputs) != 1 or not kinds <= set("biuf"):
        return False
    if is_exact(node) or (node.op == "Pow" and not _is_power(node)):
        return False
    source = node.inputs[0].dtype.kind if node.inputs else ""
    if node.op == "Cast":
        # What integer a NaN or a number out of range becomes depends on its place.
        return source != "f" or node.outputs[0].dtype.kind in "fb"
    op = get(node.op)
    if not (op.ufunc or op.steps or op.large_source):
        return False
    if op.fails in (Fails.DIVISOR, Fails.EXPONENT) and source in "iu":
        known, complete = static_value(node.inputs[1])
        return complete and isinstance(known, int) and known > 0
    return node.op != "Round" or source == "f"


def _is_power(node: Node) -> bool:
    """Whether the exponent is known not to be one that NumPy takes for a root."""
    known, complete = static_value(node.inputs[1])
    return complete and known != 0.5


def fits(node: Node) -> bool:
    """Whether the shapes of the operands are known to fit each other."""
    several = {tensor for tensor in node.inputs if tensor.shape.rank != 0}
    known = all(tensor.shape.is_fully_defined() for tensor in several)
    return len(several) < 2 or known


def steps_of(node: Node) -> Sequence[str]:
    """The statements for the node, with ``{0}``, ``{1}`` for its operands.

    ``{out}`` is the block that takes the result; statements may use it in between.
    """
    op, large = get(node.op), large_source(node)
    if large:
        return (f"{large[:-1]}, out={{out}})",)
    if op.ufunc:
        places = ", ".join(f"{{{index}}}" for index in range(len(node.inputs)))
        return (f"np.{op.ufunc}({places}, out={{out}})",)
    steps = op.steps
    for key, value in node.attrs.items():
        steps = tuple([step.replace(f"{{{key}}}", repr(value)) for step in steps])
    return steps


def _may_pass(node: Node) -> bool:
    """Whether regions may be computed in front of the node, or behind it."""
    are_numbers = all(tensor.dtype.kind != "O" for tensor in node.inputs)
    never = get(node.op).fails is Fails.NEVER and not is_exact(node)
    return node.op == FUSED or (are_numbers and never)


# --- regions --------------------------------------------------------------------------

Dims = tuple["int | None", ...]

#: What an operand is beside arrays of the shape of the region.
Role = str


def _dims(tensor: SymbolicTensor) -> Dims | None:
    """The dimensions, as far as they are known; None if their number is not."""
    shape = tensor.shape
    return None if shape.rank is None else tuple(shape)


def role(dims: Dims | None, whole: Dims) -> Role | None:
    """``array``, ``row``, ``column``, ``scalar``, or None for what does not fit.

    >>> role((5, 3), (5, 3)), role((3,), (5, 3)), role((5, 1), (5, 3)), role((), (3,))
    ('array', 'row', 'column', 'scalar')
    """
    if dims is None:
        return None
    if dims == ():
        return "scalar"
    if dims == whole:
        return "array"
    if len(whole) > 1 and whole[-1] != 1:
        if dims == whole[-1:]:
            return "row"
        if dims == (*whole[:-1], 1):
            return "column"
    return None


@dataclass(eq=False)
class _Region:
    """A region that grows."""

    dims: Dims
    nodes: dict[Node, int] = field(default_factory=dict)
    made: set[SymbolicTensor] = field(default_factory=set)
    #: Whether shapes are known to fit, so that nothing in it can fail.
    is_safe: bool = True
    #: The place of the last node.
    last: int = 0

    def add(self, node: Node, place: int) -> None:
        """Make the node, at this place of the program, a part of it."""
        self.nodes[node] = self.last = place
        self.made.update(node.outputs)
        self.is_safe &= fits(node)

    def join(self, other: _Region) -> None:
        """Take over another region of this shape."""
        self.nodes |= other.nodes
        self.made |= other.made
        self.is_safe &= other.is_safe

    def is_worth_it(self) -> bool:
        """Whether arrays may be large enough, and statements enough."""
        count = sum(
            len(steps_of(node)) + bool(large_source(node)) for node in self.nodes
        )
        return count >= (MANY if None in self.dims else 2)


def _takes(regions: Sequence[_Region], node: Node) -> bool:
    """Whether the node only works on arrays of the shape of the regions.

    These become one with it.
    """
    whole = regions[0].dims
    if any(region.dims != whole for region in regions):
        return False
    roles = [role(_dims(tensor), whole) for tensor in node.inputs]
    return None not in roles and "array" in roles and _dims(node.outputs[0]) == whole


def with_regions(graph: Graph, live: Live) -> Live:
    """The same program with the node ``Fused`` in place of each region.

    This goes for the bodies of control flow, too.
    """
    bodies = dict(live.bodies)
    for node, inner in live.bodies.items():
        graphs = [body for _, body in node.subgraphs()]
        bodies[node] = tuple(map(with_regions, graphs, inner))
    live = replace(live, bodies=bodies)
    regions = [region for region in _find_regions(live) if region.is_worth_it()]
    if not regions:
        return live
    home = {node: region for region in regions for node in region.nodes}
    used = {graph.outputs[index] for index in live.outputs}
    for node in live.nodes:
        inside = home[node].made if node in home else ()
        used.update(t for t in live.inputs_of(node) if t not in inside)
    nodes: list[Node] = []
    for place, node in enumerate(live.nodes):
        region = home.get(node)
        if region is None:
            nodes.append(node)
        elif place == region.last:
            fused = _fused(region, used)
            bodies[fused] = (find_live(fused.attrs["graph"]),)
            nodes.append(fused)
    return replace(live, nodes=tuple(nodes), bodies=bodies)


def _find_regions(live: Live) -> Iterable[_Region]:
    found: dict[_Region, None] = {}
    #: The region that made a tensor, as long as it grows.
    maker: dict[SymbolicTensor, _Region] = {}
    grows: dict[_Region, None] = {}
    for place, node in enumerate(live.nodes):
        touched = list(dict.fromkeys(maker[t] for t in node.inputs if t in maker))
        touched = [region for region in touched if region in grows]
        simple = node.op not in CONTROL_FLOW and is_simple(node)
        if simple and touched and _takes(touched, node):
            home = max(touched, key=lambda region: len(region.nodes))
            for other in touched:
                if other is not home:
                    home.join(other)
                    maker.update(dict.fromkeys(other.made, home))
                    del found[other], grows[other]
            home.add(node, place)
            maker[node.outputs[0]] = home
            continue
        begun = _begin_region(node, place) if simple else None
        for region in touched:
            del grows[region]
        if grows and not _may_pass(node) and not (begun is not None and begun.is_safe):
            # What may fail, or has effects, must not change places with these.
            stops = has_effects(node)
            grows = {r: None for r in grows if r.is_safe and not stops}
        if begun is not None:
            found[begun] = grows[begun] = None
            maker[node.outputs[0]] = begun
    return found


def _begin_region(node: Node, place: int) -> _Region | None:
    """A region with this node, if its arrays are large or of an unknown size."""
    dims = _dims(node.outputs[0])
    if not dims:
        return None
    known = [size for size in dims if size is not None]
    if len(known) == len(dims) and math.prod(known) < in_blocks.LARGE:
        return None
    region = _Region(dims)
    if not _takes([region], node):
        return None
    region.add(node, place)
    return region


def _fused(region: _Region, used: Collection[SymbolicTensor]) -> Node:
    """The node that stands for a region."""
    body = Graph("block")
    inner: dict[SymbolicTensor, SymbolicTensor] = {}
    inputs: list[SymbolicTensor] = []
    outputs: list[SymbolicTensor] = []
    nodes = sorted(region.nodes, key=region.nodes.__getitem__)
    for node in nodes:
        for tensor in node.inputs:
            if tensor in inner:
                continue
            if tensor.node.op == "Const" and tensor.shape.rank == 0:
                _copy(tensor.node, body, inner)
                continue
            place = Node(body, "Placeholder", (), {}, tensor.node.name, None)
            place.outputs = (inner.setdefault(tensor, _tensor(body, place, tensor)),)
            body.inputs.append(inner[tensor])
            inputs.append(tensor)
        _copy(node, body, inner)
        outputs += [tensor for tensor in node.outputs if tensor in used]
    body.outputs = [inner[tensor] for tensor in outputs]
    last = nodes[-1]
    fused = Node(
        last.graph, FUSED, tuple(inputs), {"graph": body}, last.name, last.location
    )
    fused.outputs = tuple(outputs)
    return fused


def _copy(node: Node, body: Graph, inner: dict[SymbolicTensor, SymbolicTensor]) -> None:
    inputs = tuple(inner[tensor] for tensor in node.inputs)
    copy = Node(body, node.op, inputs, node.attrs, node.name, node.location)
    copy.outputs = tuple(_tensor(body, copy, tensor) for tensor in node.outputs)
    inner.update(zip(node.outputs, copy.outputs))
    body.nodes.append(copy)


def _tensor(body: Graph, node: Node, tensor: SymbolicTensor) -> SymbolicTensor:
    return SymbolicTensor(body, node, tensor.value_index, tensor.spec)


# --- writing --------------------------------------------------------------------------


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
        for step in steps_of(node):
            lines.append("    " + step.format(*operands, out=names[node.outputs[0]]))
    return lines


def first_array(body: Graph) -> int:
    """The number of the input that tells how large the arrays of a region are."""
    return _roles(body).index("array")


def _roles(body: Graph) -> list[str]:
    """What each input is beside the arrays of the region."""
    whole = _dims(body.outputs[0])
    assert whole is not None
    return [str(role(_dims(tensor), whole)) for tensor in body.inputs]


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
