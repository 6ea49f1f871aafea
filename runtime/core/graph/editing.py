"""Copies of graphs, and changes to the copies.

Rewrites own a copy of the traced graph and change its nodes in place. A copied node
keeps the name, line and device of its original. The copy also stores the names of the
user's variables: these follow from the lines of neighbouring nodes, and a rewrite may
remove neighbours.

Tensors are looked up by ``id``, since they have no hash. This is safe as long as the
tensors are alive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from runtime.core.graph import Graph, Node
from runtime.core.graph.labels import find_labels
from runtime.core.graph.nodes import make_node
from runtime.core.graph.prune import CONTROL_FLOW
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.dtypes import of_array
from runtime.core.types.identity import IdentityMap
from runtime.core.types.specs import TensorSpec

Tensors = Sequence[SymbolicTensor]


# --- nodes ----------------------------------------------------------------------------


def add_placeholder(graph: Graph, tensor: SymbolicTensor) -> SymbolicTensor:
    """A further input of `graph`, for `tensor` of another graph."""
    node = make_node(graph, "Placeholder", (), {}, (tensor.spec,), tensor.node)
    node.name = free_name(graph, node.name.rpartition("/")[2])
    graph.inputs.append(node.outputs[0])
    return node.outputs[0]


def free_name(graph: Graph, name: str) -> str:
    """A name for a new node: `name`, numbered if the graph has it."""
    names, key = graph._names, name.lower()
    count = names.get(key)
    if count is None:
        names[key] = 1
        return name
    while f"{key}_{count}" in names:
        count += 1
    names[key] = count + 1
    names[f"{key}_{count}"] = 1
    return f"{name}_{count}"


# --- copies ---------------------------------------------------------------------------


def copy_graph(graph: Graph) -> Graph:
    """A copy of the graph and of all graphs in it, one for each node that has one.

    A graph that calls itself is copied once.
    """
    return _copy(graph, None, {})


def _copy(graph: Graph, parent: Graph | None, known: dict[Graph, Graph]) -> Graph:
    new = Graph(graph.name, parent)
    new.executor = graph.executor
    # Those of nodes that are there: tracing has also named what it dropped again.
    names = new._names
    if graph.is_recursive:
        new.is_recursive = True
        known[graph] = new
    found: dict[int, SymbolicTensor] = {}
    for tensor in graph.inputs:
        node = make_node(new, "Placeholder", (), {}, (tensor._spec,), tensor.node)
        new.inputs.append(node.outputs[0])
        found[id(tensor)] = node.outputs[0]
        names.setdefault(node.name.lower(), 1)
    for node in graph.nodes:
        attrs = node.attrs
        if node.op in CONTROL_FLOW:
            attrs = {key: _copy_attr(attrs[key], new, known) for key in attrs}
        inputs = tuple([found[id(tensor)] for tensor in node.inputs])
        specs = [tensor._spec for tensor in node.outputs]
        copy = make_node(new, node.op, inputs, attrs, specs, node)
        for tensor, output in zip(node.outputs, copy.outputs):
            found[id(tensor)] = output
        new.nodes.append(copy)
        names.setdefault(node.name.lower(), 1)
    new.outputs = [found[id(tensor)] for tensor in graph.outputs]
    labels = graph.labels
    if labels is None:
        labels = find_labels(graph.nodes)
    # An optimised graph may have labels of tensors that are gone.
    new.labels = IdentityMap(
        (found[id(tensor)], label)
        for tensor, label in labels.items()
        if id(tensor) in found
    )
    return new


def _copy_attr(value: Any, parent: Graph, known: dict[Graph, Graph]) -> Any:
    if isinstance(value, Graph):
        copy = known.get(value)
        return _copy(value, parent, known) if copy is None else copy
    if isinstance(value, tuple) and value and isinstance(value[0], Graph):
        return tuple(_copy_attr(graph, parent, known) for graph in value)
    return value


# --- graphs within graphs -------------------------------------------------------------


def bodies_of(node: Node) -> list[Graph]:
    """The graphs of a node of control flow."""
    found = []
    for value in node.attrs.values():
        if isinstance(value, Graph):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += [graph for graph in value if isinstance(graph, Graph)]
    return found


def nested_graphs(graph: Graph) -> Iterator[Graph]:
    """The graph and all graphs in it, outer ones first, each once.

    Nodes that are added to a graph while this runs are not looked at.
    """
    seen: set[Graph] = set()
    waiting = [graph]
    while waiting:
        found = waiting.pop()
        if found.is_recursive:
            if found in seen:
                continue
            seen.add(found)
        yield found
        for node in found.nodes:
            if node.op in CONTROL_FLOW:
                waiting.extend(bodies_of(node))


def note_captures(graph: Graph) -> None:
    """Note which inputs of inner graphs are captures, as traced graphs have it."""
    for outer in nested_graphs(graph):
        for node in outer.nodes:
            if node.op in CONTROL_FLOW and node.op != "PartitionedCall":
                first = first_captured(node)
                offset = 0 if node.op == "While" else 1
                for body in bodies_of(node):
                    inner = body.inputs[first - offset :]
                    found = IdentityMap[Any, SymbolicTensor](
                        zip(node.inputs[first:], inner)
                    )
                    is_complete = len(found) == len(inner)
                    body.captures = found if is_complete else IdentityMap()


def first_captured(node: Node) -> int:
    """The number of the first input of an If, Case or While that is captured."""
    return len(node.outputs) if node.op == "While" else 1


def add_captures(node: Node, tensors: Iterable[SymbolicTensor]) -> list[Tensors]:
    """Let the graphs of an If, Case or While read tensors of the graph it is in.

    Gives, for each of `tensors`, the inputs of the graphs that stand for it.
    """
    graphs = bodies_of(node)
    first = first_captured(node)
    offset = 0 if node.op == "While" else 1
    places = {id(t): first + i for i, t in enumerate(node.inputs[first:])}
    found: list[Tensors] = []
    for tensor in tensors:
        place = places.get(id(tensor))
        if place is None:
            places[id(tensor)] = place = len(node.inputs)
            node.inputs = (*node.inputs, tensor)
            for graph in graphs:
                add_placeholder(graph, tensor)
        found.append([graph.inputs[place - offset] for graph in graphs])
    return found


def make_constants(graph: Graph, values: Iterable[tuple[SymbolicTensor, Any]]) -> bool:
    """Replace inputs of a graph by constants, where they are used; whether any is.

    The inputs themselves are left to the caller.
    """
    used = {id(tensor) for node in graph.nodes for tensor in node.inputs}
    used.update(map(id, graph.outputs))
    editor = Editor(graph)
    for tensor, array in values:
        if id(tensor) in used:
            spec = TensorSpec(array.shape, of_array(array), weak=tensor._spec.weak)
            attrs = {"value": array}
            node = make_node(graph, "Const", (), attrs, (spec,), tensor.node)
            node.name = free_name(graph, node.name)
            editor.nodes.append(node)
            editor.replace((tensor,), node.outputs)
    if editor.changes:
        for node in graph.nodes:
            node.inputs = editor.resolve(node.inputs)
        graph.nodes = editor.nodes + graph.nodes
        graph.outputs = list(editor.resolve(graph.outputs))
    return bool(editor.changes)


def move_nodes(source: Graph, target: Graph, nodes: Iterable[Node]) -> None:
    """Make nodes of one graph those of another: all but to list them there."""
    labels, known = source.labels or IdentityMap(), target.labels
    for node in nodes:
        node.name = free_name(target, node.name)
        node.graph = target
        for tensor in node.outputs:
            tensor.graph = target
            if known is not None and tensor in labels:
                known[tensor] = labels[tensor]
        if node.op in CONTROL_FLOW:
            for graph in bodies_of(node):
                graph.parent = target


# --- sweeps ---------------------------------------------------------------------------


class Editor:
    """Builds the new list of nodes of a graph while a pass reads the old one."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        #: The nodes of the new list up to here.
        self.nodes: list[Node] = []
        #: The replacements of tensors, by the ``id`` of the old tensor.
        self.replaced: dict[int, SymbolicTensor] = {}
        #: How many nodes were changed or replaced.
        self.changes = 0
        #: Removed objects whose ``id`` is still a key.
        self.keep_alive: list[Any] = []

    def add(
        self,
        op: str,
        inputs: tuple[SymbolicTensor, ...],
        attrs: dict[str, Any],
        spec: TensorSpec,
        origin: Node,
        name: str | None = None,
    ) -> SymbolicTensor:
        """The output of a new node, which stands for `origin` or a part of it."""
        node = make_node(self.graph, op, inputs, attrs, (spec,), origin)
        node.name = free_name(self.graph, name or node.name)
        self.nodes.append(node)
        return node.outputs[0]

    def constant(self, array: Any, origin: Node, weak: bool = False) -> SymbolicTensor:
        """A new constant."""
        spec = TensorSpec(array.shape, of_array(array), weak=weak)
        return self.add("Const", (), {"value": array}, spec, origin)

    def replace(self, outputs: Tensors, values: Tensors) -> None:
        """Have `values` stand for `outputs` from here on, and take over their names."""
        self.changes += 1
        labels = self.graph.labels
        for old, new in zip(outputs, values):
            self.replaced[id(old)] = new
            if labels and old in labels:
                labels.setdefault(new, labels[old])

    def resolve(self, tensors: Tensors) -> tuple[SymbolicTensor, ...]:
        """`tensors`, with replaced ones exchanged for their replacements."""
        replaced = self.replaced
        return tuple([replaced.get(id(tensor), tensor) for tensor in tensors])


#: Returns replacements for the outputs of a node, or None to leave it as it is.
Rule = Callable[[Node, Editor], "Tensors | None"]


def sweep(graph: Graph, rules: Mapping[str, Rule], default: Rule | None = None) -> int:
    """Go through all nodes in program order, and replace those that rules replace.

    `rules` are by op; `default` is for all others. Gives how many nodes were changed.
    """
    return sum(_sweep(found, rules, default) for found in nested_graphs(graph))


def _sweep(graph: Graph, rules: Mapping[str, Rule], default: Rule | None) -> int:
    editor = Editor(graph)
    replaced, kept = editor.replaced, editor.nodes
    old = graph.nodes  # kept alive: see above
    for node in old:
        if replaced:
            node.inputs = editor.resolve(node.inputs)
        rule = rules.get(node.op, default)
        if rule is not None:
            values = rule(node, editor)
            if values is not None:
                editor.replace(node.outputs, values)
                continue
        kept.append(node)
    if editor.changes:
        graph.nodes = kept
        graph.outputs = list(editor.resolve(graph.outputs))
    return editor.changes
