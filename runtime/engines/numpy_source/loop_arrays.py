"""Arrays in loops: those that a loop fills row by row, and those that it broadcasts.

A `TensorArray` or list that a loop fills is an array of its final shape, made in front
of the loop, and a write is an assignment. An operand that each iteration would
broadcast has the shape of the result from the start: NumPy takes twice as long for rows
that it has to repeat. ::

    outputs = np.zeros((100, 32, 64), np.float32)
    b_rows = np.full((32, 64), b)
    for i in range(100):
        state = np.tanh(x[i].dot(w) + state.dot(u) + b_rows)
        outputs[i] = state

Exact: the writes are those whose places and shapes are known to fit, into an array that
nobody else holds; the sum, difference, product and quotient of two numbers do not
depend on how they are reached.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from runtime.core.graph import Node
from runtime.core.graph.counted import trip_count
from runtime.core.graph.prune import Live
from runtime.core.tensor import SymbolicTensor
from runtime.engines.numpy_source.scalars import Scalars
from runtime.ops.operands import Operand

Users = Mapping[SymbolicTensor, list[tuple[float, Node | None]]]

#: Arrays with so many elements are not repeated in front of a loop.
WIDE = 1 << 14

_EXACT = frozenset({"AddV2", "Sub", "Mul", "RealDiv"})


class Filled(NamedTuple):
    """An array that a loop fills: its shape, and the node `write` that writes a row.

    The inputs number ``place`` and ``row`` of this node are the index and the row.
    ``result`` is the output of the loop that is the filled array.
    """

    shape: tuple[Any, ...]
    write: Node
    place: int
    row: int
    result: SymbolicTensor


def filled_by(array: Node, users: Users, live: Live, scalars: Scalars) -> Filled | None:
    """How a loop fills a ``TensorArrayV3``; None if the array is used otherwise.

    `users` are the readers of all tensors of its graph.
    """
    (buffer,) = array.outputs
    found = users.get(buffer, [])
    loop, size = found[0][1] if len(found) == 1 else None, array.attrs["size"]
    if loop is None or loop.op != "While" or type(size) is not int:
        return None
    position = next(i for i, given in enumerate(loop.inputs) if given is buffer)
    write = _only_write(loop, position, "TensorArrayWriteV3", live)
    index = None if write is None else write.attrs["index"]
    if write is None or not isinstance(index, Operand):
        return None
    return _filled(loop, position, write, (index.index, 1, size), scalars)


def appended_by(
    loop: Node, position: int, live: Live, scalars: Scalars
) -> Filled | None:
    """How a loop fills an empty list; None if it does anything else with it."""
    first = loop.inputs[position].node
    if first.op != "Const" or first.attrs["value"].size:
        return None
    write = _only_write(loop, position, "ListAppend", live)
    if write is None:
        return None
    return _filled(loop, position, write, (1, 2, trip_count(loop) or 0), scalars)


def _filled(
    loop: Node,
    position: int,
    write: Node,
    places: tuple[int, int, int],
    scalars: Scalars,
) -> Filled | None:
    """The record of an array; None if an index may lie outside of it.

    `places` are the positions of the index and the row, and the number of rows.
    """
    place, row, size = places
    element = write.inputs[row]
    if not element.shape.is_fully_defined() or element.dtype.kind not in "biuf":
        return None
    lowest, highest = scalars.bounds(write.inputs[place])
    if scalars.is_shared or not 0 <= lowest <= highest < size:
        return None
    shape = (size, *element.shape.as_tuple())
    return Filled(shape, write, place, row, loop.outputs[position])


def _only_write(loop: Node, position: int, op: str, live: Live) -> Node | None:
    """The node that writes to an array of the state, if nothing else reads it.

    It runs at least once.
    """
    test_live, body_live = live.bodies[loop]
    if not trip_count(loop) or position in test_live.inputs:
        return None
    body = loop.attrs["body_graph"]
    if position >= len(body.outputs):
        return None
    before, after = body.inputs[position], body.outputs[position]
    if after.node.op != op or after.node.inputs[0] is not before:
        return None
    if _reads(body_live, before) != 1 or _reads(body_live, after):
        return None
    once = sum(output is after for output in body.outputs) == 1
    return after.node if once else None


def is_there(node: Node, scalars: Scalars) -> bool:
    """Whether a ``ListGet`` is known to find its item, counted from the front."""
    buffer, count, index = node.inputs
    lowest, highest = scalars.bounds(index)
    known = buffer.dtype.kind in "biuf" and not scalars.is_shared
    return known and 0 <= lowest <= highest < scalars.bounds(count)[0]


def is_row_there(node: Node, scalars: Scalars) -> bool:
    """Whether a ``TensorArrayReadV3`` is known to find its row, of a known shape."""
    buffer, row = node.inputs[0], node.outputs[0]
    index, size = node.attrs["index"], node.attrs["size"]
    if not (size is None or type(size) is int):
        return False
    if not buffer.shape.is_fully_defined() or not buffer.shape.rank:
        return False
    count: int
    count, *element = buffer.shape.as_tuple()  # type: ignore[assignment]
    if row.shape.as_tuple() != tuple(element) or buffer.dtype.kind not in "biuf":
        return False
    count = count if size is None else min(count, size)
    lowest, highest = (
        scalars.bounds(node.inputs[index.index])
        if isinstance(index, Operand)
        else (index, index)
    )
    return not scalars.is_shared and 0 <= lowest <= highest < count


def _reads(live: Live, tensor: SymbolicTensor) -> int:
    """How often the nodes of a graph read a tensor."""
    return sum(used is tensor for node in live.nodes for used in live.inputs_of(node))


def wide_shape(live: Live, tensor: SymbolicTensor) -> tuple[Any, ...] | None:
    """The shape to which each iteration of a loop broadcasts what it captures.

    None if something in its body, whose `live` nodes these are, needs it as it is.
    """
    if not tensor.shape.rank or not tensor.shape.is_fully_defined():
        return None
    shapes: set[tuple[Any, ...]] = set()
    for node in live.nodes:
        if any(used is tensor for used in live.inputs_of(node)):
            shape = node.outputs[0].shape if node.op in _EXACT else None
            if shape is None or not shape.is_fully_defined():
                return None
            shapes.add(shape.as_tuple())
    if len(shapes) != 1:
        return None
    (found,) = shapes
    if found == tensor.shape.as_tuple() or not 0 < math.prod(found) < WIDE:
        return None
    return found
