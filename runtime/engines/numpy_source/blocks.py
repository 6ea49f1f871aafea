"""Elementwise chains on large arrays, computed in blocks that fit the cache.

A *region* is a run of elementwise operations on arrays of one shape, with operands
beside them that are broadcast to it. `with_regions` puts one node ``Fused`` in place of
each, where its last operation stood; its body is a graph of its own. `write_blocks`
writes the function that computes a region for one block::

    @in_blocks("array", "scratch float32", "result float32")
    def gelu_blocks(x, t, y):
        np.divide(x, 1.4142135, out=t)
        ...

Each parameter has its kind: an ``array`` has the shape of the results, a ``broadcast``
one is broadcast to it, ``scratch`` is for intermediate values. Called with its inputs,
the function gives the results, or None for arrays that are small or of other shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.nodes import cut_out, make_node
from runtime.core.graph.prune import CONTROL_FLOW, Live, find_live, has_effects
from runtime.core.graph.record import Fails, get, register_structure
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap, IdentitySet
from runtime.engines.numpy_source.rules import RULES
from runtime.engines.numpy_source.text import large_source, scalar_text
from runtime.ops.kernels.buffers import Unbuffered, new_result
from runtime.ops.kernels.threads import allowed_threads, share
from runtime.ops.python_ints import is_exact
from runtime.ops.static import static_value

#: The op of the nodes that stand for regions. It is known to the writer of source only.
FUSED = "Fused"
register_structure(FUSED)

#: Arrays with fewer elements are faster in the ordinary way, since they and their
#: intermediate values stay in the cache.
LARGE = 1 << 17

#: The bytes of one array that a block has. With smaller blocks the calls of NumPy cost
#: more than the cache saves, and threads meet more often at the interpreter's lock.
BLOCK = 1 << 21

#: Where the size is not known, this many statements are worth two ways to compute them.
MANY = 3


# --- regions --------------------------------------------------------------------------


def _is_simple(node: Node) -> bool:
    """Whether the node can be computed in blocks.

    It has one result, of the shape of an operand to which the others are broadcast. It
    raises nothing for operands whose shapes fit, and computes every element in the same
    way wherever it lies.
    """
    if node.op in CONTROL_FLOW or len(node.outputs) != 1:
        return False
    fit = [_kind(tensor, node.outputs[0]) for tensor in node.inputs]
    kinds = {tensor.dtype.kind for tensor in (*node.inputs, *node.outputs)}
    if "array" not in fit or None in fit or not kinds <= set("biuf"):
        return False
    source = node.inputs[0].dtype.kind
    if node.op == "Cast":
        # What integer a NaN or a number out of range becomes depends on its place.
        return source != "f" or node.outputs[0].dtype.kind in "fb"
    op, rule = get(node.op), RULES[node.op]
    if is_exact(node) or not (rule.steps or rule.large):
        return False
    known = static_value(node.inputs[1]) if len(node.inputs) == 2 else (None, False)
    if node.op == "Pow" and (not known[1] or known[0] == 0.5):
        return False  # NumPy may take the exponent for a root.
    if op.fails in (Fails.DIVISOR, Fails.EXPONENT) and source in "iu":
        return known[1] and isinstance(known[0], int) and known[0] > 0
    return node.op != "Round" or source == "f"


def _kind(tensor: SymbolicTensor, result: SymbolicTensor) -> str | None:
    """The kind of an operand of what has that result; None if it does not fit."""
    dims, whole = tensor.shape.dims, result.shape.dims
    if dims is None or whole is None or not _broadcasts(dims, whole):
        return None
    return "array" if dims == whole else "broadcast"


def _broadcasts(dims: Sequence[int | None], whole: Sequence[int | None]) -> bool:
    """Whether an array of the one shape is repeated as often as the other one says."""
    pairs = zip(dims[::-1], whole[::-1])
    return len(dims) <= len(whole) and all(a in (1, b) for a, b in pairs)


def _is_large(tensor: SymbolicTensor) -> bool:
    """Whether an array has many elements, or may have."""
    shape = tensor.shape
    if shape.rank == 0:
        return False
    size = shape.num_elements()
    return size is None or size >= LARGE


def _find_regions(live: Live) -> list[list[Node]]:
    """The nodes of each region: one grows at a time.

    Nodes that do not read what it makes may stand between its own, if these cannot
    fail, since all shapes are known: they then run before all of it.
    """
    regions: list[list[Node]] = [[]]
    if not any(_is_large(tensor) for node in live.nodes for tensor in node.outputs):
        return []
    for node in live.nodes:
        region, begins = regions[-1], False
        shape = region[0].outputs[0].shape if region else None
        if _is_simple(node):
            found = node.outputs[0].shape
            if shape is not None and shape.dims == found.dims:
                region.append(node)
                continue
            begins = _is_large(node.outputs[0])
        reads = any(tensor.node in region for tensor in live.inputs_of(node))
        stays = shape is not None and shape.is_fully_defined() and not has_effects(node)
        if begins or reads or not (stays or node.op == "Const"):
            regions.append([node] if begins else [])
    return [region for region in regions if region and _is_worth_it(region)]


def _is_worth_it(region: Sequence[Node]) -> bool:
    """Whether there are enough statements."""
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
    home = {node: region for region in _find_regions(live) for node in region}
    if not home:
        return replace(live, bodies=bodies)
    used = IdentitySet(graph.outputs[index] for index in live.outputs)
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
            nodes.append(_fused(region, used))
            bodies[nodes[-1]] = (find_live(nodes[-1].attrs["graph"]),)
    return replace(live, nodes=tuple(nodes), bodies=bodies)


def _fused(region: Sequence[Node], used: Collection[SymbolicTensor]) -> Node:
    """The node that stands for a region."""
    read = IdentitySet(tensor for node in region for tensor in node.inputs)
    inside = IdentitySet(t for t in read if t.node.op == "Const" and t.shape.rank == 0)
    inside.update(node.outputs[0] for node in region)
    inputs = [tensor for tensor in read if tensor not in inside]
    outputs = [node.outputs[0] for node in region if node.outputs[0] in used]
    attrs = {"graph": cut_out("block", region, inputs, outputs)}
    specs = [tensor.spec for tensor in outputs]
    fused = make_node(region[-1].graph, FUSED, tuple(inputs), attrs, specs, region[-1])
    fused.outputs = tuple(outputs)
    return fused


# --- writing --------------------------------------------------------------------------


def write_blocks(
    name: str, body: Graph, hints: Mapping[SymbolicTensor, str]
) -> list[str]:
    """The source of the function of that name for the body of a region.

    `hints` are names for inputs and outputs of the body.
    """
    nodes = [node for node in body.nodes if node.op != "Const"]
    slots, dtypes = _slots(nodes, body.outputs)
    results = [slots[tensor] for tensor in body.outputs]
    scratch = [slot for slot in range(len(dtypes)) if slot not in results]
    taken = {"np", "erf", "extreme", "select"}
    names = IdentityMap(
        (tensor, _free(hints.get(tensor, "x"), taken)) for tensor in body.inputs
    )
    own = {slots[t]: _free(hints.get(t, "y"), taken) for t in body.outputs}
    own = {slot: _free("t", taken) for slot in scratch} | own
    names.update((tensor, own[slot]) for tensor, slot in slots.items())
    kinds = [
        *(f'"{_kind(tensor, body.outputs[0])}"' for tensor in body.inputs),
        *(f'"scratch {dtypes[slot]}"' for slot in scratch),
        *(f'"result {dtypes[slot]}"' for slot in results),
    ]
    parameters = [*(names[tensor] for tensor in body.inputs), *own.values()]
    lines = [
        *_listed("@in_blocks(", kinds, ")"),
        *_listed(f"def {name}(", parameters, "):"),
    ]
    for node in nodes:
        operands = [_operand(node, tensor, names) for tensor in node.inputs]
        for step in _steps_of(node):
            lines.append("    " + step.format(*operands, out=names[node.outputs[0]]))
    return lines


def first_array(body: Graph) -> int:
    """The number of the input that tells how large the arrays of a region are."""
    whole = body.outputs[0].shape.dims
    return [tensor.shape.dims for tensor in body.inputs].index(whole)


def _slots(
    nodes: Sequence[Node], results: Sequence[SymbolicTensor]
) -> tuple[IdentityMap[SymbolicTensor, int], list[str]]:
    """Which array of the size of a block each value lies in, and the dtypes of these.

    A value may lie where one lay that nobody reads any more.
    """
    last = IdentityMap(
        (tensor, i) for i, node in enumerate(nodes) for tensor in node.inputs
    )
    last.update((tensor, len(nodes)) for tensor in results)
    slots: IdentityMap[SymbolicTensor, int] = IdentityMap()
    dtypes: list[str] = []
    free: list[int] = []
    for index, node in enumerate(nodes):
        (output,) = node.outputs
        read = [tensor for tensor in IdentitySet(node.inputs) if tensor in slots]
        dying = [tensor for tensor in read if last[tensor] == index]
        usable = [slots[t] for t in dying if _may_overwrite(node, t)] + free
        usable = [slot for slot in usable if dtypes[slot] == output.dtype.name]
        if not usable:
            usable = [len(dtypes)]
            dtypes.append(output.dtype.name)
        slots[output] = usable[0]
        free += [slots[tensor] for tensor in dying]
        free = [slot for slot in free if slot != usable[0]]
    return slots, dtypes


def _may_overwrite(node: Node, operand: SymbolicTensor) -> bool:
    """Whether no statement reads the operand after the first has written its result."""
    places = [f"{{{i}}}" for i, t in enumerate(node.inputs) if t is operand]
    later = "".join(_steps_of(node)[1:])
    # The kernel of erf reads its operand again after it has written.
    return node.op != "Erf" and not any(place in later for place in places)


def _steps_of(node: Node) -> Sequence[str]:
    """The statements for the node, with ``{0}``, ``{1}`` for its operands.

    ``{out}`` is the block that takes the result; statements may use it in between.
    """
    large = large_source(node)
    if large:
        return (f"{large[:-1]}, out={{out}})",)
    steps = RULES[node.op].steps
    for key, value in node.attrs.items():
        steps = tuple([step.replace(f"{{{key}}}", repr(value)) for step in steps])
    return steps


def _operand(
    node: Node, tensor: SymbolicTensor, names: Mapping[SymbolicTensor, str]
) -> str:
    """How an input is written: a constant as a Python number where that is exact."""
    if tensor in names:
        return names[tensor]
    text = scalar_text(tensor.node.attrs["value"])
    assert text is not None
    is_exact = len(node.inputs) == 2 and any(other in names for other in node.inputs)
    return text.number if is_exact and text.number is not None else text.code


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
    return [line] if len(line) <= 88 else [start, *(f"    {p}," for p in parts), end]


# --- running --------------------------------------------------------------------------


class BlockFunction:
    """A function that is run block by block, on all threads; made by `in_blocks`."""

    def __init__(self, kinds: Sequence[str], function: Callable[..., Any]) -> None:
        self._function = function
        self._kinds = [kind for kind in kinds if " " not in kind]
        self._first = self._kinds.index("array")
        made = [kind.split() for kind in kinds if " " in kind]
        self._scratch = [np.dtype(dtype) for kind, dtype in made if kind == "scratch"]
        self._results = [np.dtype(dtype) for kind, dtype in made if kind == "result"]

    def __call__(self, *inputs: Any) -> Any:
        """The result for these inputs (a tuple of several), or None: see above."""
        shape = inputs[self._first].shape
        size = math.prod(shape)
        if size < LARGE or not all(map(partial(_fits, shape), inputs, self._kinds)):
            return None
        results = [new_result(shape, dtype) for dtype in self._results]
        arrays = [*inputs, *results]
        if all(np.shape(value) in (shape, ()) for value in inputs):
            arrays = [a.reshape(-1) if np.ndim(a) else a for a in arrays]
        room, threads = BLOCK // inputs[self._first].itemsize, allowed_threads()
        # A multiple of the threads, lest some wait for the last block.
        count = -(-size // (room * threads)) * threads
        count = min(count, len(arrays[self._first]))
        share(partial(self._run, arrays, count), count, threads)
        return results[0] if len(results) == 1 else tuple(results)

    def _run(self, arrays: Sequence[Any], count: int, number: int) -> None:
        """Run the function on one of `count` blocks."""
        first = arrays[self._first]
        # Even parts: NumPy computes single elements in another way than many.
        start, stop = (len(first) * n // count for n in (number, number + 1))
        parts = [
            a[start:stop] if np.ndim(a) == first.ndim and len(a) == len(first) else a
            for a in arrays
        ]
        shape = parts[self._first].shape
        inputs = len(self._kinds)
        scratch = [new_result(shape, dtype) for dtype in self._scratch]
        with Unbuffered(shape[-1]):
            self._function(*parts[:inputs], *scratch, *parts[inputs:])


def in_blocks(*kinds: str) -> Callable[..., BlockFunction]:
    """The decorator of a function of blocks, whose parameters have these kinds."""
    return partial(BlockFunction, kinds)


def _fits(shape: tuple[int, ...], value: Any, kind: str) -> bool:
    """Whether an input has the shape that its kind says, and lies side by side."""
    own: tuple[int, ...] = np.shape(value)
    if own and not value.flags.c_contiguous:
        return False
    return own == shape if kind == "array" else _broadcasts(own, shape)
