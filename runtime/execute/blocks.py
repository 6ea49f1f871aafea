"""Elementwise chains on large arrays, computed in blocks that fit the cache.

A *region* is a run of elementwise operations on arrays of one shape, with operands
beside them that are broadcast to it. `with_regions` puts one node ``Fused`` in place of
each, where its last operation stood: its body is a graph of its own, its outputs are
those tensors of the region that are used elsewhere.

`write_blocks` writes the function that computes a region for one block, which
`runtime.execute.in_blocks` runs. Each value lies in a *slot*, an array of the size of a
block. A statement may write its result over an operand that nobody reads any more, so
that few blocks are in use at a time. A slot that has a result in the end is the block
of that result; the others are scratch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from runtime.execute import in_blocks
from runtime.execute.prune import CONTROL_FLOW, Live, find_live, has_effects
from runtime.execute.text import large_source, scalar_text
from runtime.graph import Graph, Node
from runtime.ops.python_ints import is_exact
from runtime.ops.record import Fails, get, register_structure
from runtime.ops.static import static_value
from runtime.tensor import SymbolicTensor

__all__ = ["FUSED", "first_array", "with_regions", "write_blocks"]

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


def _is_simple(node: Node) -> bool:
    """Whether the node can be computed in blocks, as far as ops and dtypes tell.

    It has one result, raises nothing for operands whose shapes fit, and computes every
    element in the same way wherever it lies.
    """
    kinds = {tensor.dtype.kind for tensor in (*node.inputs, *node.outputs)}
    if node.op in CONTROL_FLOW or len(node.outputs) != 1 or not kinds <= set("biuf"):
        return False
    source = node.inputs[0].dtype.kind if node.inputs else ""
    if node.op == "Cast":
        # What integer a NaN or a number out of range becomes depends on its place.
        return source != "f" or node.outputs[0].dtype.kind in "fb"
    op = get(node.op)
    if is_exact(node) or not (op.ufunc or op.steps or op.large_source):
        return False
    known = static_value(node.inputs[1]) if len(node.inputs) == 2 else (None, False)
    if node.op == "Pow" and (not known[1] or known[0] == 0.5):
        return False  # NumPy may take the exponent for a root.
    if op.fails in (Fails.DIVISOR, Fails.EXPONENT) and source in "iu":
        return known[1] and isinstance(known[0], int) and known[0] > 0
    return node.op != "Round" or source == "f"


def _is_safe(node: Node) -> bool:
    """Whether the shapes of the operands are known to fit each other."""
    several = {tensor for tensor in node.inputs if tensor.shape.rank != 0}
    known = all(tensor.shape.is_fully_defined() for tensor in several)
    return len(several) < 2 or known


def _steps_of(node: Node) -> Sequence[str]:
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


# --- regions --------------------------------------------------------------------------

Dims = tuple["int | None", ...]


def _dims(tensor: SymbolicTensor) -> Dims | None:
    """The dimensions, as far as they are known; None if their number is not."""
    return None if tensor.shape.rank is None else tuple(tensor.shape)


def _kind(dims: Dims | None, whole: Dims) -> str | None:
    """What an operand is in a region: see `in_blocks`; None for what does not fit.

    >>> _kind((5, 3), (5, 3)), _kind((3,), (5, 3)), _kind((5, 1), (5, 3))
    ('sliced', 'shared', 'sliced')
    """
    if dims is None or len(dims) > len(whole):
        return None
    if any(a not in (1, b) for a, b in zip(dims[::-1], whole[::-1])):
        return None
    is_cut = len(dims) == len(whole) and dims[0] == whole[0]
    return "sliced" if is_cut else "shared"


def _takes(whole: Dims, node: Node) -> bool:
    """Whether the node only works on arrays of a shape, and on what is broadcast."""
    dims = [_dims(tensor) for tensor in node.inputs]
    fits = None not in [_kind(each, whole) for each in dims]
    return fits and whole in dims and _dims(node.outputs[0]) == whole


def _is_worth_it(region: Sequence[Node]) -> bool:
    """Whether arrays may be large enough, and statements enough."""
    if not region:
        return False
    count = sum(len(_steps_of(node)) + bool(large_source(node)) for node in region)
    return count >= (2 if region[0].outputs[0].shape.is_fully_defined() else MANY)


def with_regions(graph: Graph, live: Live) -> Live:
    """The same program with the node ``Fused`` in place of each region.

    This goes for the bodies of control flow, too.
    """
    bodies = dict(live.bodies)
    for node, inner in live.bodies.items():
        graphs = [body for _, body in node.subgraphs()]
        bodies[node] = tuple(map(with_regions, graphs, inner))
    live = replace(live, bodies=bodies)
    regions = [region for region in _find_regions(live) if _is_worth_it(region)]
    if not regions:
        return live
    home = {node: region for region in regions for node in region}
    used = {graph.outputs[index] for index in live.outputs}
    for node in live.nodes:
        own = home.get(node)
        read = live.inputs_of(node)
        used.update(t for t in read if own is None or home.get(t.node) is not own)
    nodes: list[Node] = []
    for node in live.nodes:
        region = home.get(node)
        if region is None:
            nodes.append(node)
        elif node is region[-1]:
            fused = _fused(region, used)
            bodies[fused] = (find_live(fused.attrs["graph"]),)
            nodes.append(fused)
    return replace(live, nodes=tuple(nodes), bodies=bodies)


def _find_regions(live: Live) -> list[list[Node]]:
    """The nodes of each region: one grows at a time.

    Nodes that do not read what it makes may stand between its own, if these cannot
    fail: they then run before all of it.
    """
    regions: list[list[Node]] = [[]]
    for node in live.nodes:
        region = regions[-1]
        whole = _dims(region[0].outputs[0]) if region else None
        simple = _is_simple(node)
        if simple and whole is not None and _takes(whole, node):
            region.append(node)
            continue
        reads = any(t.node in region for t in live.inputs_of(node))
        passes = node.op == "Const" or (
            all(map(_is_safe, region)) and not has_effects(node)
        )
        begins = simple and _may_begin(node)
        if region and (reads or begins or not passes):
            regions.append([])
        if begins:
            regions[-1].append(node)
    return regions


def _may_begin(node: Node) -> bool:
    """Whether the arrays of the node are large, or of an unknown size."""
    dims = _dims(node.outputs[0])
    size = node.outputs[0].shape.num_elements()
    if not dims or (size is not None and size < in_blocks.LARGE):
        return False
    return _takes(dims, node)


def _fused(region: Sequence[Node], used: Collection[SymbolicTensor]) -> Node:
    """The node that stands for a region."""
    body = Graph("block")
    inner: dict[SymbolicTensor, SymbolicTensor] = {}
    inputs: list[SymbolicTensor] = []
    outputs: list[SymbolicTensor] = []
    for node in region:
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
    last = region[-1]
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
        *_kinds(body),
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
        for step in _steps_of(node):
            lines.append("    " + step.format(*operands, out=names[node.outputs[0]]))
    return lines


def first_array(body: Graph) -> int:
    """The number of the input that tells how large the arrays of a region are."""
    whole = _dims(body.outputs[0])
    return next(i for i, t in enumerate(body.inputs) if _dims(t) == whole)


def _kinds(body: Graph) -> list[str]:
    whole = _dims(body.outputs[0])
    assert whole is not None
    return [str(_kind(_dims(tensor), whole)) for tensor in body.inputs]


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
    later = _steps_of(node)[1:]
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
