"""Stacks: what a loop keeps of each iteration, as further parts of its state.

A tensor of the body whose shape is known is a row of a `TensorArray` where it is known
how often the loop runs, and else an element of a list. Of one whose shape may change,
the elements lie one behind the other, beside its shapes and where they begin: see
`StackPush`. So do lengths, which XLA then knows, as it knows the shapes of arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from runtime.autodiff.control_flow import add_outputs
from runtime.autodiff.shapes import is_made_of_shapes
from runtime.core.graph import Graph, Node
from runtime.core.graph.context import building
from runtime.core.graph.counted import find_counter, trip_count
from runtime.core.graph.recording import unrecorded
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.core.types.specs import TensorSpec
from runtime.ops.containers import stacks as _stacks  # noqa: F401
from runtime.ops.containers.tensor_array_ops import fresh_buffer
from runtime.ops.convert import constant
from runtime.ops.operands import run
from runtime.ops.reduce.reductions import reduce_prod
from runtime.ops.shapes import Dims

#: Gives what was kept of an iteration, by its number.
Read = Callable[[Any], Any]


class Stacks:
    """The stacks of one `While`, and how often it runs."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.body: Graph = node.attrs["body_graph"]
        #: Which part of the state counts the iterations, and where it begins.
        self.counter: int | None = None
        self.start = 0
        self._trip_count: int | None = None
        self._find_counter()
        #: The part of the state that counts them from 0, where that is another one.
        self._own_counter: int | None = None
        self._number: Any = None
        self._reads: dict[int, Read] = {}
        self._kept: list[SymbolicTensor] = []

    def _find_counter(self) -> None:
        loop = find_counter(self.node)
        start = None if loop is None else loop.start
        if loop is None or start is None:
            return
        self.counter, self.start = loop.counter, start
        self._trip_count = trip_count(self.node)

    @property
    def known_trip_count(self) -> int | None:
        """How often the loop runs, where that is known before."""
        return self._trip_count

    def trip_count(self) -> Any:
        """How often the loop runs: an int, or a tensor of the graph that it is in."""
        if self._trip_count is not None:
            return self._trip_count
        self._count()
        assert self._own_counter is not None
        return self.node.outputs[self._own_counter]

    def _count(self) -> Any:
        """The number of the iteration, in the body."""
        if self._number is None and self._trip_count is not None:
            assert self.counter is not None
            number = self.body.inputs[self.counter]
            with unrecorded(), building(self.body):
                self._number = number - self.start if self.start else number
        elif self._number is None:
            self._own_counter = len(self.node.outputs)
            self._number = self._add_state(_NUMBER, self._zeros((), dtypes.int32))
            self._set_next(lambda: self._number + 1)
        return self._number

    # --- writing and reading ----------------------------------------------------------

    def push(self, tensor: SymbolicTensor) -> Read:
        """Keep a tensor of the body; gives what reads it."""
        read = self._reads.get(id(tensor))
        if read is None:
            if not tensor.shape.is_fully_defined() or is_made_of_shapes(tensor):
                read = self._push_elements(tensor)
            elif self._trip_count is not None:
                read = self._push_row(tensor, self._trip_count)
            else:
                read = self._push_item(tensor)
            self._reads[id(tensor)] = read
            self._kept.append(tensor)
        return read

    def kept(self) -> list[SymbolicTensor]:
        """The tensors of the body that are kept of each iteration."""
        return list(self._kept)

    def _push_row(self, tensor: SymbolicTensor, count: int) -> Read:
        """Keep a tensor as a row of a `TensorArray` of known size."""
        number, place = self._count(), len(self.node.outputs)
        dims = tensor.shape.as_tuple()
        facts: dict[str, Any] = {
            "size": count,
            "dtype": tensor.dtype,
            "element_shape": dims,
        }
        buffer = self._add_state(
            TensorSpec((count, *dims), tensor.dtype),
            lambda: run("TensorArrayV3", **facts),
        )
        self._set_next(lambda: run("TensorArrayWriteV3", buffer, tensor, index=number))
        return lambda number: run(
            "TensorArrayReadV3",
            self.node.outputs[place],
            index=number,
            size=None,
            element_shape=dims,
        )

    def _push_item(self, tensor: SymbolicTensor) -> Read:
        """Keep a tensor as an element of a list."""
        number, place = self._count(), len(self.node.outputs)
        dims = tensor.shape.as_tuple()
        buffer = self._add_state(
            TensorSpec((None, *dims), tensor.dtype),
            self._zeros((0, *dims), tensor.dtype),
        )
        self._set_next(lambda: run("ListAppend", buffer, number, tensor))
        return lambda number: run("ListRow", self.node.outputs[place], number)

    def _push_elements(self, tensor: SymbolicTensor) -> Read:
        """Keep the elements of a tensor, behind those of the iterations before."""
        number = self._count()
        begin, read_begin, read_dims = self._extent(tensor, number)
        place = len(self.node.outputs)
        buffer = self._add_state(
            TensorSpec((None,), tensor.dtype), self._zeros((0,), tensor.dtype)
        )
        size, dims = self._trip_count, tensor.shape.dims
        self._set_next(
            lambda: run("StackPush", buffer, number, begin, tensor, size=size)
        )
        return lambda number: run(
            "StackRead",
            self.node.outputs[place],
            number,
            read_begin(number),
            read_dims(number),
            shape=None if dims is None else tuple(dims),
        )

    def _extent(self, tensor: SymbolicTensor, number: Any) -> tuple[Any, Read, Read]:
        """Where the elements of a tensor begin, how to read that, and its shape."""
        count = tensor.shape.num_elements()
        if count is not None:
            lengths = np.array(tensor.shape.dims, np.int32)
            with unrecorded(), building(self.body):
                begin = number * count
            return begin, lambda number: number * count, lambda _: constant(lengths)
        with unrecorded(), building(self.body):
            dims = run("StackDims", tensor)
        begin = self._add_state(_NUMBER, self._zeros((), dtypes.int32))
        self._set_next(lambda: begin + reduce_prod(dims))
        return begin, self.push(begin), self.push(dims)

    # --- the loop ---------------------------------------------------------------------

    def _add_state(self, spec: TensorSpec, init: Callable[[], Any]) -> SymbolicTensor:
        """Give the loop a further part of its state, made by `init` in front of it.

        Gives the part at the beginning of an iteration; `_set_next` is to follow.
        """
        node, count = self.node, len(self.node.outputs)
        first = in_front_of(node, init)
        node.inputs = (*node.inputs[:count], first, *node.inputs[count:])
        for body in (node.attrs["cond_graph"], self.body):
            begin = body.add_input(spec, "kept")
            body.inputs.insert(count, body.inputs.pop())
        add_outputs(node, [spec])
        return begin

    def _set_next(self, next_value: Callable[[], Any]) -> None:
        """Say what the part of the state that was added last is after an iteration."""
        with unrecorded(), building(self.body):
            self.body.outputs = [*self.body.outputs, self.body.capture(next_value())]

    def _zeros(self, dims: Dims, dtype: DType) -> Callable[[], Any]:
        """Makes a constant of zeros, which no other node shares."""
        value = (
            fresh_buffer(0, dtype, tuple(dims[1:])) if dims else np.zeros((), np.int32)
        )
        spec = TensorSpec(dims, dtype)
        return lambda: self.node.graph.add("Const", (), {"value": value}, (spec,))[0]


def in_front_of(node: Node, make: Callable[[], Any]) -> SymbolicTensor:
    """What `make` gives, computed in front of a node of a graph."""
    graph = node.graph
    at = graph.nodes.index(node)
    graph.nodes, rest = graph.nodes[:at], graph.nodes[at:]
    with unrecorded(), building(graph):
        made = graph.capture(make())
    graph.nodes += rest
    return made


def value_in_front_of(node: Node, variable: Any) -> SymbolicTensor:
    """The value of a variable in front of a node: one tensor, by which it is known."""
    known = node.graph.gradient_facts.setdefault("values", {})
    if (node, id(variable)) not in known:
        known[node, id(variable)] = in_front_of(node, variable.read_value)
    found: SymbolicTensor = known[node, id(variable)]
    return found


_NUMBER = TensorSpec((), dtypes.int32)


def stacks_of(node: Node) -> Stacks:
    """The stacks of a loop, also of one that has some already."""
    facts = node.attrs["body_graph"].gradient_facts
    if "stacks" not in facts:
        facts["stacks"] = Stacks(node)
    found: Stacks = facts["stacks"]
    return found


def stacks_in(graph: Graph) -> Iterator[Stacks]:
    """The stacks of the loops in a graph, and in the graphs in it."""
    seen: set[int] = set()
    waiting = [graph]
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        for node in found.nodes:
            bodies = [inner for _, inner in node.subgraphs()]
            facts = [inner.gradient_facts for inner in bodies]
            yield from (known["stacks"] for known in facts if "stacks" in known)
            waiting += bodies
