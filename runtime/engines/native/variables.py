"""The pass `without_variables`: variables become inputs and outputs of the program.

Before::

    graph f(%0 'x'):
      %1 = ReadVariableOp(variable=<v>)
      %2 = AddV2(%1, %0)
      %3 = AssignVariableOp(%2, variable=<v>)
      return %1

After::

    graph f(%0 'x', %1 'v'):
      %2 = AddV2(%1, %0)
      return %1, %2

A branch gives the new values of the variables that one of its sides assigns; a loop has
those that its body assigns in its state. So a read keeps its value whatever is assigned
later, and the host makes the outputs the values of variables once nothing has failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from runtime.core.graph import Graph, Node
from runtime.core.graph.editing import (
    Editor,
    add_captures,
    bodies_of,
    copy_graph,
    make_node,
    nested_graphs,
    note_captures,
)
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.specs import TensorSpec
from runtime.engines.native.flow import NotNative

#: The ops that need no rules, since none of their nodes is left.
REPLACED = frozenset({"ReadVariableOp"})

#: The values of variables, by the ids of these.
Values = dict[int, SymbolicTensor]


class Stateless(NamedTuple):
    """A graph that takes the values of ``variables`` behind its other inputs.

    It gives the new values of those that are ``assigned`` behind its other outputs.
    """

    graph: Graph
    variables: list[Any]
    assigned: list[Any]


def without_variables(graph: Graph) -> Stateless:
    """What computes the same without variables: a copy, where there are some.

    Raises NotNative for a variable that is assigned where no value can be given.
    """
    variables = _variables_of([graph])
    if not variables:
        return Stateless(graph, [], [])
    graph = copy_graph(graph)
    names = [variable.name.partition(":")[0] for variable in variables]
    inputs = [graph.add_input(v.spec, name) for v, name in zip(variables, names)]
    values = dict(zip(map(id, variables), inputs))
    assigned = _variables_of([graph], "AssignVariableOp")
    _replace(graph, values)
    graph.outputs += [values[id(variable)] for variable in assigned]
    note_captures(graph)
    return Stateless(graph, variables, assigned)


def _variables_of(graphs: Iterable[Graph], *ops: str) -> list[Any]:
    """The variables that graphs read or assign; perhaps by these ops alone."""
    found: dict[int, Any] = {}
    for graph in graphs:
        for inner in nested_graphs(graph):
            for node in inner.nodes:
                if node.op in (ops or ("ReadVariableOp", "AssignVariableOp")):
                    variable = node.attrs["variable"]
                    if getattr(variable, "layout", None) is not None:
                        raise NotNative(node, "a variable that is divided over devices")
                    found[id(variable)] = variable
    return list(found.values())


def _replace(graph: Graph, values: Values) -> None:
    """Replace reads and assignments in a graph; `values` become those at its end."""
    editor = Editor(graph)
    old = graph.nodes  # kept alive: `Editor` looks tensors up by id
    for node in old:
        node.inputs = editor.resolve(node.inputs)
        if node.op == "ReadVariableOp":
            editor.replace(node.outputs, (values[id(node.attrs["variable"])],))
            continue
        if node.op == "AssignVariableOp":
            (value,), variable = node.inputs, node.attrs["variable"]
            if not variable.shape.is_fully_defined() or value.shape.is_fully_defined():
                values[id(variable)] = value
                editor.replace(node.outputs, (value,))
                continue
            # It stays for its check, whether the shape fits.
            values[id(variable)] = node.outputs[0]
        editor.nodes.append(node)
        bodies = bodies_of(node)
        if bodies and _variables_of(bodies):
            _carry(node, bodies, values)
    graph.nodes = editor.nodes
    graph.outputs = list(editor.resolve(graph.outputs))


def _carry(node: Node, bodies: list[Graph], values: Values) -> None:
    """Have a node of control flow take the values of variables, and give new ones."""
    if any(body.is_recursive for body in bodies):
        raise NotNative(node, "variables in a function that calls itself")
    assigned = _variables_of(bodies, "AssignVariableOp")
    own: list[Values] = [{} for _ in bodies]
    if node.op == "While":
        _add_state(node, bodies, assigned, values, own)
    read = [v for v in _variables_of(bodies) if id(v) not in own[0]]
    tensors = [values[id(variable)] for variable in read]
    if node.op == "PartitionedCall":
        node.inputs = (*node.inputs, *tensors)
        inner: list[Any] = [[_new_input(bodies[0], t.spec)] for t in tensors]
    else:
        inner = add_captures(node, tensors)
    for variable, inputs in zip(read, inner):
        for found, tensor in zip(own, inputs):
            found[id(variable)] = tensor
    for body, found in zip(bodies, own):
        _replace(body, found)
        if body is not node.attrs.get("cond_graph"):
            body.outputs += [found[id(variable)] for variable in assigned]
    values.update(zip(map(id, assigned), _new_outputs(node, assigned)))


def _add_state(
    node: Node,
    bodies: list[Graph],
    assigned: list[Any],
    values: Values,
    own: list[Values],
) -> None:
    """Put the variables that the body of a loop assigns behind its other state."""
    if _variables_of([node.attrs["cond_graph"]], "AssignVariableOp"):
        raise NotNative(node, "a variable that the test of a loop assigns")
    count = len(node.outputs)
    begin = [values[id(variable)] for variable in assigned]
    node.inputs = (*node.inputs[:count], *begin, *node.inputs[count:])
    for body, found in zip(bodies, own):
        for place, variable in enumerate(assigned, count):
            found[id(variable)] = _new_input(body, variable.spec)
            body.inputs.insert(place, body.inputs.pop())


def _new_input(graph: Graph, spec: TensorSpec) -> SymbolicTensor:
    return graph.add_input(spec, "variable")


def _new_outputs(node: Node, assigned: list[Any]) -> tuple[SymbolicTensor, ...]:
    """Further outputs of a node: the new values of variables."""
    count = len(node.outputs)
    specs = [output.spec for output in node.outputs] + [v.spec for v in assigned]
    new = make_node(node.graph, node.op, (), {}, specs, node).outputs[count:]
    for output in new:
        output.node = node
    node.outputs = (*node.outputs, *new)
    return new
