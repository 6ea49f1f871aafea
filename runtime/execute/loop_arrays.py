"""Arrays in loops: those that a loop fills row by row, and those that it broadcasts.

A `TensorArray` that a loop fills is an array of its final shape, made in front of the
loop, and a write is an assignment. An operand that each iteration would broadcast has
the shape of the result from the start: NumPy takes twice as long for rows that it has
to repeat. ::

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

from runtime.execute.prune import Live
from runtime.execute.regions import LARGE
from runtime.execute.scalars import Scalars
from runtime.graph import Node
from runtime.ops.define import Operand
from runtime.tensor import SymbolicTensor

__all__ = ["Filled", "filled_by", "wide_shape"]

Users = Mapping[SymbolicTensor, list[tuple[float, Node | None]]]

_EXACT = frozenset({"AddV2", "Sub", "Mul", "RealDiv"})


class Filled(NamedTuple):
    """An array that a loop fills: its shape, and the node that writes a row.

    ``result`` is what the loop hands out.
    """

    shape: tuple[Any, ...]
    write: Node
    result: SymbolicTensor


def filled_by(array: Node, users: Users, live: Live, scalars: Scalars) -> Filled | None:
    """How a loop fills a ``TensorArrayV3``, if that is all that becomes of it.

    `users` are those of the graph that it stands in.
    """
    (buffer,) = array.outputs
    found = users.get(buffer, [])
    loop = found[0][1] if len(found) == 1 and not scalars.is_shared else None
    if loop is None or loop.op != "While" or loop.attrs.get("trip_count", 0) < 1:
        return None
    position = next(i for i, given in enumerate(loop.inputs) if given is buffer)
    test_live, body_live = live.bodies[loop]
    if position >= len(loop.outputs) or position in test_live.inputs:
        return None
    body = loop.attrs["body_graph"]
    write = body.outputs[position].node
    if write.op != "TensorArrayWriteV3" or write.inputs[0] is not body.inputs[position]:
        return None
    row, size = write.inputs[1], array.attrs["size"]
    if not row.shape.is_fully_defined() or row.dtype.kind not in "biuf":
        return None
    if type(size) is not int or not _fits(write, size, scalars):
        return None
    if _reads(body_live, write.inputs[0]) != 1 or _reads(body_live, write.outputs[0]):
        return None
    if sum(output is write.outputs[0] for output in body.outputs) != 1:
        return None
    return Filled((size, *row.shape.as_tuple()), write, loop.outputs[position])


def _fits(write: Node, size: int, scalars: Scalars) -> bool:
    """Whether a write is known to be to one of so many rows."""
    index = write.attrs["index"]
    if not isinstance(index, Operand):
        return False
    lowest, highest = scalars.bounds(write.inputs[index.index])
    return 0 <= lowest <= highest < size


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
    if found == tensor.shape.as_tuple() or not 0 < math.prod(found) < LARGE:
        return None
    return found
