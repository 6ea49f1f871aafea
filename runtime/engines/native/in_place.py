"""Which arrays a program may write to, instead of to a copy.

An op that gives its first input with other elements (see `WRITERS`) writes to the
memory of that input, if no node needs the old elements later and no other tensor has
the same memory. So does a branch or a loop all of whose nodes do: an array that a loop
fills is one array in memory.

What was computed of the old elements and is not stored yet is stored before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import bodies_of
from runtime.core.graph.prune import find_live
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap
from runtime.engines.native.builder import Builder
from runtime.engines.native.nests import fill, force, same_shape
from runtime.engines.native.result_memory import Home
from runtime.engines.native.values import Buffer, Lazy, Scalar, Value

#: The writers that give an array more rows.
GROWERS = frozenset({"ListAppend", "ListExtend", "ListInsert", "TensorArrayGrowV3"})

#: The ops whose first result is their first input with other elements.
WRITERS = GROWERS | {
    "ListDelete",
    "ListSet",
    "TensorArrayWriteV3",
    "TensorScatterAdd",
    "TensorScatterMax",
    "TensorScatterMin",
    "TensorScatterUpdate",
}


class Chain(NamedTuple):
    """The input that an output is, with other elements, and whether it may grow."""

    place: int
    grows: bool


def _passed_on(graph: Graph) -> dict[int, Chain]:
    """The outputs that are an input with other elements, which nobody else needs."""
    nodes = find_live(graph).nodes
    last = _last_uses(graph, nodes)
    chains = {id(t): Chain(place, False) for place, t in enumerate(graph.inputs)}
    for number, node in enumerate(nodes):
        for output, (place, grows) in overwritten(node).items():
            tensor = node.inputs[place]
            if id(tensor) in chains and last[id(tensor)] == number:
                if sum(other is tensor for other in node.inputs) == 1:
                    before = chains[id(tensor)]
                    after = Chain(before.place, before.grows or grows)
                    chains[id(node.outputs[output])] = after
    found = {
        output: chains[id(tensor)]
        for output, tensor in enumerate(graph.outputs)
        if id(tensor) in chains
    }
    places = [chain.place for chain in found.values()]
    return {k: chain for k, chain in found.items() if places.count(chain.place) == 1}


def _last_uses(graph: Graph, nodes: Sequence[Node]) -> dict[int, int]:
    """The number of the last node that needs a tensor; outputs come after all."""
    last = {id(t): number for number, node in enumerate(nodes) for t in node.inputs}
    return last | {id(tensor): len(nodes) for tensor in graph.outputs}


def overwritten(node: Node) -> dict[int, Chain]:
    """The outputs of a node that are an input with other elements."""
    if node.op in WRITERS:
        return {0: Chain(0, node.op in GROWERS)}
    if node.op == "While":
        found = _passed_on(node.attrs["body_graph"])
        return {k: chain for k, chain in found.items() if k == chain.place}
    if node.op not in ("If", "Case"):
        return {}
    branches = [_passed_on(body) for body in bodies_of(node)]
    joined = {}
    for output in branches[0]:
        chains = [branch.get(output) for branch in branches]
        places = {None if chain is None else chain.place for chain in chains}
        place = places.pop()
        if place is not None and not places:
            grows = any(chain is not None and chain.grows for chain in chains)
            joined[output] = Chain(place + 1, grows)
    return joined


def settle(step: Any, result: Value, memory: Buffer) -> None:
    """Have the memory that was overwritten hold a result, wherever this lies."""
    if not (isinstance(result, Buffer) and result.pointer is memory.pointer):
        if not same_shape(result.shape, memory.shape):
            raise step.refused("arrays of several shapes in one place")
        fill(step.builder, [(result, memory)])


class Scope:
    """The values of one graph while it is written.

    Inputs at the places `owned` may be overwritten. Outputs lie where `into` says.
    """

    def __init__(
        self,
        builder: Builder,
        graph: Graph,
        inputs: Sequence[Value],
        into: Sequence[Buffer | Home | None],
        owned: Collection[int],
    ) -> None:
        self.builder = builder
        self.nodes = find_live(graph).nodes
        self.values = IdentityMap[Any, Any](zip(graph.inputs, inputs))
        self.wanted: IdentityMap[Any, Buffer | Home] = IdentityMap()
        for tensor, place in zip(graph.outputs, into):
            if place is not None:
                self.wanted.setdefault(tensor, place)
        self._last = _last_uses(graph, self.nodes)
        self._uses = Counter(
            id(tensor)
            for tensors in (*[node.inputs for node in self.nodes], graph.outputs)
            for tensor in tensors
        )
        self._owned = {id(graph.inputs[place]) for place in owned}
        #: The number of the node that is being written.
        self.number = 0
        #: The memory that it may write to, for which of its results.
        self.granted: dict[int, Buffer] = {}

    def note(self, tensors: Sequence[SymbolicTensor]) -> None:
        """Tell arrays that are not stored who reads them and where they are wanted."""
        for tensor in tensors:
            value = self.values[tensor]
            if not isinstance(value, Lazy):
                continue
            count = self._uses[id(tensor)]
            if value.uses:
                # It is that of another tensor as well, which this one counts as a use.
                value.uses += max(count - 1, 0)
                continue
            value.uses = count
            home = self.wanted.get(tensor)
            if isinstance(home, Buffer) and same_shape(home.shape, value.shape):
                value.home = home

    def own(self, tensor: SymbolicTensor) -> None:
        """Note that no other tensor has the memory of this one."""
        self._owned.add(id(tensor))

    def grant(self, node: Node) -> None:
        """Find what the node may write to, and store what depends on it."""
        self.granted = {}
        for output, (place, grows) in overwritten(node).items():
            tensor = node.inputs[place]
            value = self.values[tensor]
            is_last = self._last[id(tensor)] == self.number
            is_one = sum(other is tensor for other in node.inputs) == 1
            if id(tensor) in self._owned and is_last and is_one:
                if isinstance(value, Buffer) and (
                    not grows or self.builder.room_of(value) is not None
                ):
                    self._store_dependents(tensor)
                    self.granted[output] = value

    def _store_dependents(self, tensor: SymbolicTensor) -> None:
        """Store what is computed of a tensor, where it is needed from here on."""
        dependents = {id(tensor)}
        for node in self.nodes[: self.number]:
            if not any(id(other) in dependents for other in node.inputs):
                continue
            for output in node.outputs:
                value = self.values[output]
                if isinstance(value, Scalar) or output is tensor:
                    continue
                if id(output) in self._owned:
                    continue
                dependents.add(id(output))
                if self._last.get(id(output), -1) >= self.number:
                    self.values[output] = self._stored(value)

    def _stored(self, value: Value) -> Buffer:
        if isinstance(value, Lazy):
            return force(self.builder, value)
        assert isinstance(value, Buffer)
        found = self.builder.new_buffer(value.shape, value.dtype)
        self.builder.copy(value, found)
        return found
