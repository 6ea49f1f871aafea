"""What a backward graph needs of the forward graph: passed, replayed, or kept.

The graph that goes backwards through a branch or a loop body is traced as a child of
it, so that each tensor of the forward graph that a rule reads becomes a capture. Then
the backward graph moves into the graph that asks for the gradient, and each capture is
replaced:

* a constant is made again, and what the forward graph had from outside is passed;
* what cheap operations make of these is *replayed* by the same operations;
* the rest is *kept*: the forward graph gives it as a further output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from runtime.core.graph import Graph, Node, record
from runtime.core.graph.context import building
from runtime.core.graph.recording import unrecorded
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.identity import IdentityMap
from runtime.ops.gradient_shapes import shape_at_home

#: Gives the tensor of the backward graph, which is being built.
Value = Callable[[], Any]

#: More elements than a tensor has that a loop keeps.
_MANY = 1 << 40

_CHEAP = frozenset({"elementwise", "movement", "creation"})


class Residuals:
    """The captures of a backward graph, which is complete.

    Inputs that it has besides stay its first ones.
    """

    def __init__(self, back: Graph) -> None:
        self._back = back
        used = _drop_unused(back)
        captured = {id(inner) for inner in back.captures.values()}
        self._captured = [
            (outer, inner)
            for outer, inner in back.captures.items()
            if isinstance(outer, SymbolicTensor) and id(inner) in used
        ]
        back.inputs = [tensor for tensor in back.inputs if id(tensor) not in captured]
        self.values: dict[int, Value] = {}
        #: Tensors whose ``id`` stands in `values`.
        self._alive: list[Any] = []

    def provide(self, tensor: SymbolicTensor, value: Value) -> None:
        """Say what stands for a tensor of the forward graph."""
        self.values[id(tensor)] = value
        self._alive.append(tensor)

    def missing(self, states: Iterable[SymbolicTensor] = ()) -> list[SymbolicTensor]:
        """The tensors that have to be kept.

        `states` are those that a loop has at the beginning of each iteration: they are
        kept in the place of what can be replayed from them, where that is not less.
        """
        known = set(self.values)
        wanted = [t for t, _ in self._captured if not self._is_made_of(t, known)]
        begin = {id(tensor): tensor for tensor in states if id(tensor) not in known}
        kept = {id(tensor) for tensor in wanted if id(tensor) in begin}
        known |= kept
        wanted = [t for t in wanted if id(t) in kept or not self._is_made_of(t, known)]
        found: set[int] = set()
        made = [t for t in wanted if self._is_made_of(t, {*known, *begin}, found)]
        more = [tensor for key, tensor in begin.items() if key in found - known]
        made = [t for t in made if id(t) not in kept]
        if more and _size(more) <= _size(made):
            wanted = [t for t in wanted if not any(t is other for other in made)]
            wanted += more
        return wanted

    def _is_made_of(
        self, tensor: SymbolicTensor, known: set[int], used: set[int] | None = None
    ) -> bool:
        """Whether cheap operations make a tensor of those in `known`.

        Those that they take are added to `used`, if they do.
        """
        taken: set[int] = set()
        waiting, seen = [tensor], {id(tensor)}
        while waiting:
            item = waiting.pop()
            if id(item) in known:
                taken.add(id(item))
                continue
            if item.node.op != "Const" and not _is_cheap(item.node):
                return False
            for operand in item.node.inputs:
                if id(operand) not in seen:
                    seen.add(id(operand))
                    waiting.append(operand)
        if used is not None:
            used |= taken
        return True

    def settle(self, parent: Graph) -> None:
        """Move the backward graph into `parent`, once all that is kept is provided."""
        back = self._back
        nodes, back.nodes = back.nodes, []
        back.parent, back.captures = parent, IdentityMap()
        back._constants, back._checked = {}, IdentityMap()
        with unrecorded(), building(back):
            made: dict[int, Any] = {}
            found = {
                id(inner): self._value(outer, made) for outer, inner in self._captured
            }
        back.nodes += nodes
        replace_tensors(back, found)

    def _value(self, tensor: SymbolicTensor, made: dict[int, Any]) -> Any:
        """The tensor of the backward graph that stands for one of the forward graph."""
        waiting = [tensor]
        while waiting:
            item = waiting[-1]
            if id(item) in made:
                waiting.pop()
                continue
            provided = self.values.get(id(item))
            if provided is not None:
                made[id(item)] = self._back.capture(provided())
                continue
            node = item.node
            is_shape = node.op == "Shape" and id(node.inputs[0]) in self.values
            if is_shape:
                # Where the tensor itself is, or all of it would be kept further out.
                source = self.values[id(node.inputs[0])]()
                found = shape_at_home(source, node.attrs["out_type"])
                made[id(item)] = self._back.capture(found)
                continue
            rest = [operand for operand in node.inputs if id(operand) not in made]
            if rest:
                waiting += rest
                continue
            inputs = [made[id(operand)] for operand in node.inputs]
            specs = [output.spec for output in node.outputs]
            outputs = self._back.add(node.op, inputs, node.attrs, specs)
            self._back.nodes[-1].location = node.location
            for old, new in zip(node.outputs, outputs):
                made[id(old)] = new
        return made[id(tensor)]


def replace_tensors(graph: Graph, found: Mapping[int, Any]) -> None:
    """Put other tensors in the place of those whose ``id`` is in `found`."""
    for node in graph.nodes:
        if not any(id(tensor) in found for tensor in node.inputs):
            continue
        node.inputs = tuple([found.get(id(t), t) for t in node.inputs])
        for _, inner in node.subgraphs():
            captures = IdentityMap[Any, SymbolicTensor](
                (found.get(id(t), t), own) for t, own in inner.captures.items()
            )
            # As in copies of graphs: where two are one now, the inputs alone tell.
            same = len(captures) == len(inner.captures)
            inner.captures = captures if same else IdentityMap()
    graph.outputs = [found.get(id(tensor), tensor) for tensor in graph.outputs]


def _drop_unused(graph: Graph) -> set[int]:
    """Drop nodes that no output needs: rules make some. Gives what is used."""
    used = {id(tensor) for tensor in graph.outputs}
    kept = []
    for node in reversed(graph.nodes):
        is_used = any(id(tensor) in used for tensor in node.outputs)
        if is_used or record.get(node.op).family == "check":
            kept.append(node)
            used.update(id(tensor) for tensor in node.inputs)
    graph.nodes = kept[::-1]
    return used


def _is_cheap(node: Node) -> bool:
    """Whether a node may run once more, and costs no more than to keep its results."""
    if node.op in ("Placeholder", "Identity") and not node.inputs:
        return False
    definition = record.get(node.op)
    return (
        definition.family in _CHEAP
        and not definition.stateful
        and not definition.calls_python
    )


def _size(tensors: Iterable[SymbolicTensor]) -> int:
    """The elements of tensors; many for each whose number of them is not known."""
    return sum(
        _MANY if t.shape.num_elements() is None else t.shape.num_elements() or 0
        for t in tensors
    )
