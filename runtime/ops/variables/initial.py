"""The values that variables begin with.

A variable that is made while a function is traced needs its value then, outside of the
graph. What the graph would compute of constants alone, random numbers among them, is
computed at once; what depends on the arguments of the function is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runtime.core.graph import Graph, Node, context
from runtime.core.graph.record import get
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.types import nest
from runtime.core.types.classes import defines
from runtime.core.types.identity import IdentityMap, IdentitySet
from runtime.ops.apply import as_array, run_kernel
from runtime.ops.convert import convert_to_tensor
from runtime.ops.python_ints import kernel_of
from runtime.ops.random.state import RandomState

Array = np.ndarray[Any, Any]
Values = IdentityMap[SymbolicTensor, Array]


def initial_tensor(value: Any, dtype: Any) -> EagerTensor:
    """The initial value of a variable, or what a function gives, as an eager tensor.

    Raises ValueError for a tensor of a graph that has no value yet.
    """
    if callable(value):
        with context.init_scope():
            value = value()
    if context.inside_function() and any(map(_is_read, nest.flatten(value))):
        tensor = convert_to_tensor(value, dtype)
        assert isinstance(tensor, SymbolicTensor)
        return EagerTensor(_lifted(tensor))
    with context.init_scope():
        eager = convert_to_tensor(value, dtype)
    assert isinstance(eager, EagerTensor)
    return eager


def _is_read(value: Any) -> bool:
    """Whether the graph being built has a part in a value: tensors and variables."""
    return isinstance(value, SymbolicTensor) or defines(type(value), "__tf_tensor__")


def _lifted(tensor: SymbolicTensor) -> Array:
    """The value that a tensor of a graph will have, computed at once."""
    (value,) = _values(tensor.graph, [tensor])
    return value


def _values(graph: Graph, wanted: Sequence[SymbolicTensor]) -> list[Array]:
    needed = IdentitySet(wanted)
    nodes: list[Node] = []
    for node in reversed(graph.nodes):
        if any(tensor in needed for tensor in node.outputs):
            nodes.append(node)
            needed.update(node.inputs)
    known = _inputs(graph, needed)
    for node in reversed(nodes):
        _check(node, graph)
        arrays = [known[tensor] for tensor in node.inputs]
        result = run_kernel(get(node.op), arrays, node.attrs, kernel_of(node))
        results = result if isinstance(result, tuple) else (result,)
        known.update(zip(node.outputs, map(as_array, results)))
    return [known[tensor] for tensor in wanted]


def _inputs(graph: Graph, needed: IdentitySet[SymbolicTensor]) -> Values:
    """The values of the inputs that are needed, which come from graphs around."""
    inner = [tensor for tensor in graph.inputs if tensor in needed]
    outer_of = IdentityMap[SymbolicTensor, Any](
        (inner, outer) for outer, inner in graph.captures.items()
    )
    for tensor in inner:
        if tensor not in outer_of:
            raise _unknown(
                f"depends on {tensor.name!r}, which has its value only when "
                f"{graph.name!r} runs"
            )
    if not inner:
        return Values()
    assert graph.parent is not None
    outer: Any = [outer_of[tensor] for tensor in inner]
    return Values(zip(inner, _values(graph.parent, outer)))


def _check(node: Node, graph: Graph) -> None:
    """Raise ValueError for an operation that only the graph can run, in its place."""
    if any(True for _ in node.subgraphs()):
        raise _unknown(f"depends on control flow of the graph, {node.name!r}")
    if node.op == "ReadVariableOp":
        variable = node.attrs["variable"]
        if _changes(graph, variable):
            raise _unknown(
                f"depends on the variable {variable.name!r}, which "
                f"{graph.name!r} changes when it runs"
            )
    elif get(node.op).stateful and not any(
        isinstance(value, RandomState) for value in node.attrs.values()
    ):
        raise _unknown(f"depends on an effect of the graph, {node.name!r}")


def _changes(graph: Graph | None, variable: Any) -> bool:
    """Whether a graph, one in it, or one around it, assigns the variable."""
    while graph is not None:
        if _assigns(graph, variable):
            return True
        graph = graph.parent
    return False


def _assigns(graph: Graph, variable: Any) -> bool:
    for node in graph.nodes:
        if node.attrs.get("variable") is variable and node.op != "ReadVariableOp":
            return True
        # The body of a call to itself is met in the graph that it is written in.
        inner = (body for _, body in node.subgraphs() if not body.is_recursive)
        if any(_assigns(body, variable) for body in inner):
            return True
    return False


def _unknown(why: str) -> ValueError:
    return ValueError(
        "the initial value of a variable made while tracing must be known at once, but "
        f"it {why}; make the variable outside of the function, or give a number, an "
        "array, or a function that computes it from such"
    )
