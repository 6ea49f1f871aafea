"""A `TensorArray` is told the shape of its elements, where all that use it know it.

Before::

    %1: float32[...] = TensorArrayV3(size=4)
    %2, %3: float32[...] = While(0, %1, ...)
        body_graph(%0 'i', %1: float32[...], ...):
          %4: float32[?,3] = TensorArrayWriteV3(%1, %3, index=%0)
          ...
    %4: float32[?,3] = TensorArrayStackV3(%3, element_shape=(3,))

After::

    %1: float32[4,3] = TensorArrayV3(size=4, element_shape=(3,))
    ...

For compilers, who make the buffer where the array is made. (`known_shapes` propagates
what is known then.)

Exact: an array of whose elements nothing is known gives zeros to whoever reads what was
not written and knows the shape, as the others do. Arrays that are read without that
knowledge, or written with other shapes, stay.
"""

from __future__ import annotations

from collections import defaultdict

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import CONTROL_FLOW, bodies_of, nested_graphs
from runtime.core.graph.record import get
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.shapes import TensorShape

#: Which input of an op is written to the buffer, which is the first one.
_WRITTEN = {"TensorArrayWriteV3": 1, "TensorArrayGrowV3": 2}
_WRITTEN_ROWS = {"TensorArrayScatterV3": 2, "TensorArrayUnstackV3": 1}
_READ = frozenset({"TensorArrayReadV3", "TensorArrayStackV3", "TensorArrayGatherV3"})
#: Only gradients ask for the shape of a buffer; they want that of its elements.
_MEASURED = frozenset({"TensorArraySizeV3", "Shape"})

Shape = tuple["int | None", ...]


def buffer_elements(graph: Graph) -> int:
    """Tell new arrays the shape of their elements; gives how many."""
    graphs = list(nested_graphs(graph))
    new = [n for inner in graphs for n in inner.nodes if n.op == "TensorArrayV3"]
    flow = _Flow(graphs) if new else None
    changes = 0
    for node in new:
        element = node.attrs["element_shape"]
        if flow is not None and (element is None or None in element):
            found = flow.element_of(node.outputs[0])
            if found is not None:
                node.attrs = {**node.attrs, "element_shape": found}
                changes += 1
    return changes


class _Unknown(Exception):
    """Somebody uses a buffer in another way."""


class _Flow:
    """Where the tensors of a graph go."""

    def __init__(self, graphs: list[Graph]) -> None:
        self.users: dict[int, list[tuple[Node, int]]] = defaultdict(list)
        #: The nodes of control flow whose graphs give a tensor, and as which result.
        self.given: dict[int, list[tuple[Node | None, int]]] = defaultdict(list)
        owners: dict[int, Node] = {}
        for graph in graphs:
            for node in graph.nodes:
                for place, tensor in enumerate(node.inputs):
                    self.users[id(tensor)].append((node, place))
                if node.op in CONTROL_FLOW:
                    owners.update((id(body), node) for body in bodies_of(node))
        for graph in graphs:
            for place, tensor in enumerate(graph.outputs):
                self.given[id(tensor)].append((owners.get(id(graph)), place))

    def element_of(self, buffer: SymbolicTensor) -> Shape | None:
        """The shape of the elements of a buffer, if everybody knows it."""
        elements: set[Shape] = set()
        seen: set[int] = set()
        waiting = [buffer]
        try:
            while waiting:
                tensor = waiting.pop()
                if id(tensor) in seen:
                    continue
                seen.add(id(tensor))
                for node, place in self.users[id(tensor)]:
                    waiting += _used(node, place, elements)
                for owner, place in self.given[id(tensor)]:
                    waiting += _given(owner, place)
        except _Unknown:
            return None
        (element, *others) = elements or {(None,)}
        # What has no elements is not told from what has none yet.
        return None if others or None in element or 0 in element else element


def _used(node: Node, place: int, elements: set[Shape]) -> list[SymbolicTensor]:
    """Note the shape by which a node uses a buffer; gives where the buffer goes."""
    if node.op in CONTROL_FLOW:
        return _entered(node, place)
    if place == 0 and node.op in _WRITTEN:
        elements.add(_dims(node.inputs[_WRITTEN[node.op]].shape))
    elif place == 0 and node.op in _WRITTEN_ROWS:
        elements.add(_dims(node.inputs[_WRITTEN_ROWS[node.op]].shape)[1:])
        if node.op == "TensorArrayUnstackV3":
            return []
    elif place == 0 and node.op in _READ:
        elements.add(_dims(TensorShape(node.attrs["element_shape"])))
        return []
    elif node.op in _MEASURED:
        return []
    elif not get(node.op).is_alias:
        raise _Unknown
    return [node.outputs[0]]


def _entered(node: Node, place: int) -> list[SymbolicTensor]:
    if node.op == "While":
        after = [node.outputs[place]] if place < len(node.outputs) else []
        return [*after, *[graph.inputs[place] for graph in bodies_of(node)]]
    offset = 0 if node.op == "PartitionedCall" else 1
    if place < offset or any(graph.is_recursive for graph in bodies_of(node)):
        raise _Unknown
    return [graph.inputs[place - offset] for graph in bodies_of(node)]


def _given(owner: Node | None, place: int) -> list[SymbolicTensor]:
    """Where what a graph gives goes."""
    if owner is None:
        raise _Unknown
    inner = bodies_of(owner) if owner.op == "While" else []
    return [owner.outputs[place], *[graph.inputs[place] for graph in inner]]


def _dims(shape: TensorShape) -> Shape:
    if shape.dims is None:
        raise _Unknown
    return tuple(shape.dims)
