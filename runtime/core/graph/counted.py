"""Loops that count: how often they run, and those that Python writes as ``for``.

A loop over a tensor or a range is staged as a ``While`` with a number that counts its
iterations, and picks its elements by that number. The same holds for what a program
counts itself, ``while i < n: …; i += 1``. `find_counter` tells these from other loops,
for the optimiser, gradients and all executors: it looks at the node as it is now, since
passes move state. Where nobody reads ``i`` afterwards, NumPy source has the loop as
``for``: `find` says how.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

from runtime.core.graph import Graph, Node
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor


@dataclass(frozen=True)
class Test:
    """A loop goes on while number ``counter`` of its state is less than ``limit``.

    ``limit`` is a tensor in the graph of the loop ``node``. A loop whose test is a part
    of its state (``condition``) is tested at the end of its iterations, and also ends
    where ``flag``, a tensor of the body, is ``stop``.
    """

    node: Node
    counter: int
    limit: SymbolicTensor
    condition: int | None = None
    flag: SymbolicTensor | None = None
    stop: bool = False


@dataclass(frozen=True)
class CountedLoop(Test):
    """A loop whose iterations each add one to the counter; made by `find_counter`.

    `find` adds ``elements``, the tensor outside that has as many rows as there are
    iterations, and ``element``, the tensor of the body that is the present row.
    """

    elements: SymbolicTensor | None = None
    element: SymbolicTensor | None = None

    @property
    def start(self) -> int | None:
        """The first value of the counter, where it is known."""
        return constant_int(self.node.inputs[self.counter])

    @property
    def limit_input(self) -> int | None:
        """Which input of the node the limit is; None of a constant."""
        if constant_int(self.limit) is not None:
            return None
        first = len(self.node.outputs)
        outside = enumerate(self.node.inputs[first:], first)
        return next(index for index, tensor in outside if tensor is self.limit)

    @property
    def ends_early(self) -> bool:
        """Whether the loop may end before the limit is reached."""
        return self.flag is not None

    @property
    def most_iterations(self) -> int | None:
        """The number of iterations, the most there may be if the loop `ends_early`."""
        start, limit = self.start, constant_int(self.limit)
        return None if start is None or limit is None else max(0, limit - start)

    @property
    def hidden(self) -> frozenset[int]:
        """The positions of the state that a ``for`` statement keeps itself."""
        found = {self.counter, self.condition}
        return frozenset(position for position in found if position is not None)


class Shifted(NamedTuple):
    """A node that makes ``start + index`` of the index, or ``start - index``."""

    node: Node
    start: int
    step: int


def shifted(index: SymbolicTensor, users: Collection[Node]) -> Shifted | None:
    """How the only user of an index shifts it, if that is what it does."""
    if len(users) != 1:
        return None
    (node,) = users
    if node.op not in ("AddV2", "Sub") or len(node.inputs) != 2:
        return None
    for one, other in (node.inputs, node.inputs[::-1]):
        number = constant_int(other)
        if one is index and number is not None:
            if node.op == "AddV2":
                return Shifted(node, number, 1)
            is_first = node.inputs[0] is index
            return Shifted(node, -number, 1) if is_first else Shifted(node, number, -1)
    return None


def find_test(node: Node) -> Test | None:
    """The comparison that holds whenever the body of a loop begins, if there is one."""
    test, body = node.attrs["cond_graph"], node.attrs["body_graph"]
    go_on = _source(test.outputs[0])
    pair = _less(go_on.node)
    if pair is None:
        condition = _position(go_on, test)
        if condition is None or condition >= len(node.outputs):
            return None
        return _tested_at_the_end(node, body, condition)
    index = _position(pair[0], test)
    limit = outside(node, test, pair[1])
    if index is None or limit is None or index >= len(node.outputs):
        return None
    return Test(node, index, limit)


def find_counter(node: Node) -> CountedLoop | None:
    """The ``While`` as a loop that counts, if it is one."""
    test = find_test(node)
    if test is None or node.attrs["maximum_iterations"] is not None:
        return None
    counter = node.attrs["body_graph"].inputs[test.counter]
    is_int = counter.dtype.name in ("int32", "int64")
    counts = is_int and step_of(node.attrs["body_graph"], test.counter) == 1
    return CountedLoop(**vars(test)) if counts else None


def trip_count(node: Node) -> int | None:
    """How often a ``While`` runs, where that is known."""
    loop = find_counter(node)
    return None if loop is None or loop.ends_early else loop.most_iterations


def find(node: Node, results: Collection[int]) -> CountedLoop | None:
    """The loop as a ``for``, if it can be one; `results` are its outputs in use."""
    loop = find_counter(node)
    if loop is None or loop.hidden & set(results):
        return None
    # What is tested in front of the loop must not be able to fail.
    nodes = node.attrs["cond_graph"].nodes
    if any(inner.op not in ("Const", "Less", "Greater") for inner in nodes):
        return None
    return _over_elements(node, node.attrs["body_graph"], loop) or loop


def constant_int(tensor: SymbolicTensor) -> int | None:
    """The value of a constant integer of rank 0."""
    node = _source(tensor).node
    if node.op != "Const" or tensor.shape.rank != 0 or not tensor.dtype.is_integer:
        return None
    return int(node.attrs["value"])


def _source(tensor: SymbolicTensor) -> SymbolicTensor:
    while get(tensor.node.op).is_alias:
        (tensor,) = tensor.node.inputs
    return tensor


def _position(tensor: SymbolicTensor, graph: Graph) -> int | None:
    """Which input of the graph the tensor is."""
    tensor = _source(tensor)
    for position, known in enumerate(graph.inputs):
        if known is tensor:
            return position
    return None


def outside(node: Node, graph: Graph, tensor: SymbolicTensor) -> SymbolicTensor | None:
    """What a tensor of the test or body is outside: a constant, or what is captured."""
    tensor = _source(tensor)
    if constant_int(tensor) is not None:
        return tensor
    position = _position(tensor, graph)
    if position is None or position < len(node.outputs):
        return None
    return node.inputs[position]


def _same(one: SymbolicTensor, other: SymbolicTensor) -> bool:
    if _source(one) is _source(other):
        return True
    number = constant_int(one)
    return number is not None and number == constant_int(other)


def step_of(body: Graph, position: int) -> int | None:
    """What each iteration adds to an integer of the state, if it is always the same."""
    before, after = body.inputs[position], _source(body.outputs[position]).node
    if before.shape.rank != 0 or after.op not in ("AddV2", "Sub"):
        return None
    one, other = after.inputs
    if _source(other) is before and after.op == "AddV2":
        one, other = other, one
    step = constant_int(other)
    if step is None or _source(one) is not before:
        return None
    return -step if after.op == "Sub" else step


def _less(node: Node) -> tuple[SymbolicTensor, SymbolicTensor] | None:
    """The smaller and the larger of what a node compares."""
    if node.op not in ("Less", "Greater"):
        return None
    one, other = map(_source, node.inputs)
    return (one, other) if node.op == "Less" else (other, one)


def _tested_at_the_end(node: Node, body: Graph, condition: int) -> Test | None:
    """The test of a loop that computes it at the end of its iterations.

    The first test must be the same comparison, of the number that the loop starts with.
    """
    less, flag = _conjunction(_source(body.outputs[condition]))
    stop = flag is not None and flag.node.op == "LogicalNot"
    if flag is not None and stop:
        (flag,) = map(_source, flag.node.inputs)
    if less is None:
        return None
    following, limit = less
    outer = outside(node, body, limit)
    if outer is None:
        return None
    for index, output in enumerate(body.outputs):
        if _source(output) is following and _is_first_test(
            node.inputs[condition], node.inputs[index], outer
        ):
            return Test(node, index, outer, condition, flag, stop)
    return None


def _is_first_test(
    tensor: SymbolicTensor, start: SymbolicTensor, limit: SymbolicTensor
) -> bool:
    """Whether a tensor is ``start < limit``, or what that is known to be."""
    first = _source(tensor).node
    less = _less(first)
    if less is not None:
        return _same(start, less[0]) and _same(limit, less[1])
    numbers = constant_int(start), constant_int(limit)
    if first.op != "Const" or numbers[0] is None or numbers[1] is None:
        return False
    return bool(first.attrs["value"]) == (numbers[0] < numbers[1])


def _conjunction(
    tensor: SymbolicTensor,
) -> tuple[tuple[SymbolicTensor, SymbolicTensor] | None, SymbolicTensor | None]:
    """A comparison, alone or with another condition that is tested in front of it."""
    node = tensor.node
    less = _less(node)
    if less is None and node.op == "If" and len(node.outputs) == 1:
        then, otherwise = node.attrs["then_graph"], node.attrs["else_graph"]
        taken = _position(then.outputs[0], then)
        other = _source(otherwise.outputs[0])
        if taken is not None and _is_false(other):
            return _less(_source(node.inputs[1 + taken]).node), node.inputs[0]
    if less is None and node.op == "SelectV2":  # what lowering makes of the above
        flag, taken_less, other = node.inputs
        if flag.shape.rank == 0 and _is_false(_source(other)):
            return _less(_source(taken_less).node), flag
    return less, None


def _is_false(tensor: SymbolicTensor) -> bool:
    """Whether it is the constant False."""
    node = tensor.node
    is_scalar = node.op == "Const" and tensor.shape.rank == 0
    return is_scalar and not node.attrs["value"]


def _over_elements(node: Node, body: Graph, loop: CountedLoop) -> CountedLoop | None:
    """The loop as one over the elements of a tensor, if it takes each of them."""
    index = body.inputs[loop.counter]
    if loop.start != 0:
        return None
    for inner in body.nodes:
        if not is_item(inner, index):
            continue
        position = _position(inner.inputs[0], body)
        if position is None or position < len(node.outputs):
            continue
        source = node.inputs[position]
        if source.dtype.kind in "biuf" and is_length(loop.limit, source):
            return replace(loop, elements=source, element=inner.outputs[0])
    source_of_limit = _measured(loop.limit)
    if source_of_limit is not None and source_of_limit.shape.rank:
        return replace(loop, elements=source_of_limit)
    return None


def is_item(node: Node, index: SymbolicTensor) -> bool:
    """Whether the node picks the row of this number."""
    plain = node.op == "GatherV2" and node.attrs == {"axis": 0, "batch_dims": 0}
    return plain and node.inputs[1] is index and len(node.inputs) == 2


def is_length(limit: SymbolicTensor, source: SymbolicTensor) -> bool:
    """Whether `limit` is the number of rows of `source`."""
    if not source.shape.rank:
        return False
    number = constant_int(limit)
    if number is not None:
        return number == source.shape[0]
    return _measured(limit) is _source(source)


def _measured(limit: SymbolicTensor) -> SymbolicTensor | None:
    """The tensor whose first dimension this is."""
    node = _source(limit).node
    if node.op == "Cast" and limit.spec.weak:  # the length as an int of Python
        node = _source(node.inputs[0]).node
    if node.op != "StridedSlice" or node.attrs["key"] != (0,):
        return None
    shape = _source(node.inputs[0]).node
    return _source(shape.inputs[0]) if shape.op == "Shape" else None
