"""The pass `lower`: replace composite ops by their decompositions.

A traced graph keeps the names of TensorFlow: ``Softplus``, ``Mean``. Gradients, XLA and
native code know the primitives alone, about half of the ops. They work on a copy of
the graph in which `lower` has written the composites out. NumPy executors run the
traced ops themselves, whose kernels are faster than their decompositions. A rule
stands beside its op (`record.decomposes`).

>>> from runtime.core.graph import Graph
>>> from runtime.ops.elementwise.functions import softsign
>>> from runtime.core.types.specs import TensorSpec
>>> graph = Graph("squashed")
>>> x = graph.add_input(TensorSpec([None], "float32"), "x")
>>> with graph.as_default():
...     graph.outputs = [softsign(x)]
>>> print(lowered(graph))
graph squashed(%0: float32[?] 'x'):
  %1: float32[?] = Abs(%0)  # ...
  %2: float32[] = Const(value=1.0)  # ...
  %3: float32[?] = AddV2(%2, %1)  # ...
  %4: float32[?] = RealDiv(%0, %3)  # ...
  return %4

A decomposition computes the same: integers, comparisons, moves and ``+ - * / sqrt``
to the bit, functions within 6 units in the last place (numbers below the smallest
normal one may be 0), sums and products within n roundings. It raises errors of the same
type. Where too little is known of a shape, the node stays; so do some ops on texts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal

from runtime.core.errors import InternalError, OpError
from runtime.core.graph import Graph, Node, record
from runtime.core.graph.context import building, name_scope
from runtime.core.graph.editing import (
    Editor,
    Tensors,
    copy_graph,
    make_node,
    nested_graphs,
    note_captures,
)
from runtime.core.tensor import SymbolicTensor
from runtime.core.types.specs import TensorSpec
from runtime.ops.operands import attributes_with_tensors

Kind = Literal["primitive", "composite", "host", "structure"]


def kind_of(name: str) -> Kind:
    """Who knows the op of that name.

    Compilers and gradients have rules for primitives; a composite has a
    ``decomposition`` into other ops; a host op needs Python or strings; the structure
    of programs is no matter of rules. Raises InternalError if there is no such op.
    """
    op = record.get(name)
    if op.decomposition is not None:
        return "composite"
    if op.family in ("text", "python") or op.is_host:
        return "host"
    return "structure" if op.family == "structure" else "primitive"


def lowered(
    graph: Graph, *, holds_state: bool = False, keep: Collection[str] = ()
) -> Graph:
    """A copy of `graph` that does the same by primitives and host ops.

    `holds_state` and `keep`: as for `lower`.
    """
    copy = copy_graph(graph)
    lower(copy, holds_state=holds_state, keep=keep)
    note_captures(copy)
    return copy


def lower(
    graph: Graph, *, holds_state: bool = False, keep: Collection[str] = ()
) -> int:
    """Replace composites in a copy of a graph and in its sub-graphs; gives how many.

    The kernel of an update of a variable lets no other thread assign meanwhile. Its
    decomposition is a read and an assignment, between which one may. So updates stay,
    unless the executor of the graph `holds_state`: no other thread assigns to the
    variables while it runs.

    The ops in `keep` stay as well: those that the caller knows.
    """

    def stays(op: str) -> bool:
        return op in keep or (record.get(op).family == "state" and not holds_state)

    return sum([_lower_nodes(inner, stays) for inner in nested_graphs(graph)])


def _lower_nodes(graph: Graph, stays: Callable[[str], bool]) -> int:
    editor = Editor(graph)
    old = list(graph.nodes)  # kept alive: `Editor` looks tensors up by id
    for node in old:
        _lower_node(node, editor, stays)
    graph.nodes = editor.nodes
    graph.outputs = list(editor.resolve(graph.outputs))
    for node in editor.nodes:
        graph._names.setdefault(node.name.lower(), 1)
    return editor.changes


def _lower_node(node: Node, editor: Editor, stays: Callable[[str], bool]) -> None:
    """Append the node to the new list, or the nodes that it decomposes into."""
    node.inputs = editor.resolve(node.inputs)
    rule = None if stays(node.op) else record.get(node.op).decomposition
    found = None if rule is None else decompose(node, rule)
    if found is None:
        editor.nodes.append(node)
        return
    nodes, results = found
    editor.keep_alive.append(nodes)
    for inner in nodes:
        _lower_node(inner, editor, stays)
    editor.replace(node.outputs, editor.resolve(results))


def decompose(
    node: Node, rule: Callable[..., Any]
) -> tuple[list[Node], Tensors] | None:
    """The nodes that `rule` applies for a node, and the tensors for its outputs.

    The rule appends its nodes to the graph of the node; they are taken off again.
    """
    graph = node.graph
    tensors, attrs = attributes_with_tensors(node.inputs, node.attrs)
    count = len(graph.nodes)
    specs = [tensor._spec for tensor in node.inputs]
    try:
        for tensor in node.inputs:
            # Public functions would narrow a number of Python to 32 bits.
            if not (tensor.dtype.is_integer and record.get(node.op).exact):
                tensor._spec = tensor._spec.with_weak(False)
        with building(graph), name_scope(f"{node.name}/"):
            # Rules do not ask whether shapes fit that are known only since the trace.
            record.get(node.op).infer(*[t.spec for t in node.inputs], **node.attrs)
            found = rule(*tensors, **attrs)
            if found is NotImplemented:
                return None
            values = found if isinstance(found, tuple) else (found,)
            results = [graph.capture(value) for value in values if value is not None]
        nodes = graph.nodes[count:]
    except OpError:
        # What is known of the shapes shows that the op fails: it says so when it runs.
        return None
    finally:
        del graph.nodes[count:]
        for tensor, spec in zip(node.inputs, specs):
            tensor._spec = spec
    for made in nodes:
        made.location, made.device = node.location, node.device
    if len(results) != len(node.outputs):
        raise InternalError(
            f"the decomposition of {node.op} gives {len(results)} results, not "
            f"{len(node.outputs)}"
        )
    return nodes, [
        _with_spec(result, output, nodes)
        for result, output in zip(results, node.outputs)
    ]


def _with_spec(
    result: SymbolicTensor, output: SymbolicTensor, nodes: list[Node]
) -> SymbolicTensor:
    """The result, of which as much is known as of the output it stands for."""
    node, old, new = output.node, output._spec, result._spec
    if old.dtype is not new.dtype:
        raise InternalError(
            f"the decomposition of {node.op} gives {new.describe()}, not "
            f"{old.describe()}"
        )
    spec = TensorSpec(old.shape.merge_with(new.shape), old.dtype, weak=old.weak)
    if spec == new:
        return result
    if not any(made is result.node for made in nodes):
        # A tensor from before the node: not all its readers may know as much.
        copy = make_node(node.graph, "Identity", (result,), {}, (spec,), node)
        copy.name = node.graph.unique_name(f"{node.name}/Identity")
        nodes.append(copy)
        return copy.outputs[0]
    result._spec = spec
    return result
