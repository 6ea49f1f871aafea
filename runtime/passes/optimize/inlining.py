"""Calls and conditionals whose graph is known are replaced by the nodes of the graph.

Before::

    %1 = PartitionedCall(%0)           %1 = Const(value=True)
        graph(%0):                     %2 = If(%1, %0)
          %1 = Exp(%0)                     then_graph(%0):
          return %1                          %1 = Exp(%0)
                                             return %1
                                           else_graph(%0): ...
After::

    %1 = Exp(%0)                       %2 = Exp(%0)

Exact: the same nodes run in the same order and keep their lines, and no node that can
fail is left out. Calls of any size are inlined. A graph that calls itself stays a
function.
"""

from __future__ import annotations

import numpy as np

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import (
    CONTROL_FLOW,
    Editor,
    Tensors,
    bodies_of,
    make_constants,
    move_nodes,
    sweep,
)
from runtime.core.graph.prune import is_recursive_call
from runtime.core.location.user_code import Location
from runtime.passes.optimize.facts import can_drop, constant, number


def inline_calls(graph: Graph) -> int:
    """Put the nodes of called graphs in the place of the calls."""
    total = 0
    while found := sweep(graph, {"PartitionedCall": _inline_call}):
        total += found
    return total


def known_branches(graph: Graph) -> int:
    """Put the branch that a constant chooses in the place of the conditional.

    Within a branch the condition is a constant. A result that is the same tensor in all
    branches is that tensor, and an assertion that is known to hold is removed.
    """
    return sweep(graph, {"If": _if, "Case": _case, "Assert": _assert})


def _inline_call(node: Node, editor: Editor) -> Tensors | None:
    if is_recursive_call(node):
        return None
    if node.location is not None:
        _note_caller(node.attrs["graph"], node.location)
    return inline(node.attrs["graph"], node.inputs, node, editor)


def _note_caller(graph: Graph, caller: Location) -> None:
    """Let the nodes of a called graph know where it is called.

    Those of graphs that it calls know when these are inlined, or the run knows.
    """
    known: dict[int, Location] = {}
    waiting = [graph]
    while waiting:
        for node in waiting.pop().nodes:
            location = node.location
            if location is not None:
                if id(location) not in known:
                    known[id(location)] = location.called_from(caller)
                node.location = known[id(location)]
            if node.op in CONTROL_FLOW and node.op != "PartitionedCall":
                waiting += bodies_of(node)


def inline(source: Graph, inputs: Tensors, node: Node, editor: Editor) -> Tensors:
    """Append the nodes of a graph of `node`; gives what its outputs are for `inputs`.

    The nodes become those of the graph that `editor` goes through.
    """
    move_nodes(source, editor.graph, source.nodes)
    for tensor, value in zip(source.inputs, inputs):
        editor.replaced[id(tensor)] = value
    for inner in source.nodes:
        inner.inputs = editor.resolve(inner.inputs)
    editor.nodes += source.nodes
    editor.keep_alive.append(source)
    values = editor.resolve(source.outputs)
    labels, inside = editor.graph.labels, set(source.nodes)
    if labels is not None:
        # What the caller calls it tells more than what it is called inside.
        for output, value in zip(node.outputs, values):
            while value.node in inside and output in labels:
                labels[value] = labels[output]
                if value.node.op != "Identity":
                    break
                (value,) = value.node.inputs
    return values


def _if(node: Node, editor: Editor) -> Tensors | None:
    test = number(node.inputs[0])
    if test is None:
        _tell_branches(node, editor)
        _same_results(node, editor)
        return None
    return _choose(node.attrs["then_graph" if test else "else_graph"], node, editor)


def _case(node: Node, editor: Editor) -> Tensors | None:
    index = number(node.inputs[0])
    branches = node.attrs["branch_graphs"]
    if len(branches) == 1:
        index = 0
    if index is None:
        _same_results(node, editor)
        return None
    taken = int(index) if 0 <= index < len(branches) else len(branches) - 1
    return _choose(branches[taken], node, editor)


def _choose(graph: Graph, node: Node, editor: Editor) -> Tensors | None:
    """Inline the branch that is taken.

    None if an input that only the other branches read might fail.
    """
    used = {id(tensor) for inner in graph.nodes for tensor in inner.inputs}
    used.update(map(id, graph.outputs))
    for tensor, inner in zip(node.inputs[1:], graph.inputs):
        if id(inner) not in used and not can_drop(tensor):
            return None
    return inline(graph, node.inputs[1:], node, editor)


def _tell_branches(node: Node, editor: Editor) -> None:
    """Replace the condition by True or False within the branches of an `If`."""
    condition = node.inputs[0]
    for place, tensor in enumerate(node.inputs[1:]):
        if tensor is condition and tensor.shape.rank == 0:
            for graph, value in zip(bodies_of(node), (True, False)):
                known = graph.inputs[place], np.array(value)
                editor.changes += make_constants(graph, [known])


def _same_results(node: Node, editor: Editor) -> None:
    """Replace a result by an input, where all branches return this input unchanged."""
    graphs = bodies_of(node)
    places = {id(tensor): place for place, tensor in enumerate(graphs[0].inputs)}
    pairs = []
    for index, output in enumerate(node.outputs):
        place = places.get(id(graphs[0].outputs[index]))
        if place is not None and all(
            graph.outputs[index] is graph.inputs[place] for graph in graphs
        ):
            pairs.append((output, node.inputs[1 + place]))
    if pairs and can_drop(node.inputs[0]):
        editor.replace(*zip(*pairs))


def _assert(node: Node, editor: Editor) -> Tensors | None:
    condition = constant(node.inputs[0])
    return () if condition is not None and condition.all() else None
