"""The pass `ranges`: loops over ``tf.range(n)`` need no array of unknown length.

Before::

    %1 = Range(%n, start=0, limit=input0, delta=1)
    %2 = Shape(%1)
    %3 = StridedSlice(%2, key=(0,))
    %4, %5 = While(0, %x, %3, %1)
        body_graph(%0 'index', %1 'x', %2 captured, %3 captured 'range'):
          %4 = GatherV2(%3, %0)

After::

    Assert(GreaterEqual(%n, 0))
    %3 = StridedSlice(Reshape(%n, shape=(1,)), key=(0,))
    %4, %5 = While(0, %x, %3)  # with %0 instead of %4

Exact: only ranges of integers that nobody reads otherwise go, whose lengths and items
64 bits hold on the way. A limit on the wrong side of the start is an error as before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.core.graph import Graph, Node
from runtime.core.graph.counted import find_counter, is_item, is_length
from runtime.core.graph.editing import Editor, add_captures, nested_graphs
from runtime.core.tensor import SymbolicTensor
from runtime.core.types import dtypes
from runtime.core.types.dtypes import DType
from runtime.ops.apply import apply
from runtime.ops.arrays.shape import reshape
from runtime.ops.convert import cast
from runtime.ops.operands import Operand, attributes_with_tensors
from runtime.passes.lowering.lower import decompose


def ranges(graph: Graph) -> int:
    """Take the ranges of unknown length out of loops over them; gives how many."""
    return sum(
        [_remove(node) for inner in nested_graphs(graph) for node in inner.nodes]
    )


def _remove(node: Node) -> int:
    if node.op != "Range" or not _is_simple(node):
        return 0
    graph, (items,) = node.graph, node.outputs
    users = _users(items, graph)
    if any(tensor is items for tensor in graph.outputs):
        return 0
    if not all(user.op == "Shape" or _takes_items(user, items) for user in users):
        return 0
    for loop in [user for user in users if user.op == "While"]:
        _count(loop, items)
    _replace(graph, [user for user in users if user.op == "Shape"], _length)
    return 1


def _users(tensor: SymbolicTensor, graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if any(t is tensor for t in node.inputs)]


def _is_simple(node: Node) -> bool:
    start, limit, delta = (node.attrs[key] for key in ("start", "limit", "delta"))
    if not isinstance(limit, Operand) or type(delta) is not int or not delta:
        return False
    if any(not tensor.dtype.is_integer for tensor in (*node.inputs, *node.outputs)):
        return False
    if all(tensor.dtype is dtypes.int32 for tensor in node.inputs):
        return isinstance(start, (int, Operand))
    return type(start) is int and start == 0 and delta == 1


def _takes_items(loop: Node, items: SymbolicTensor) -> bool:
    """Whether a node is a loop over the items, which does nothing else with them."""
    test = find_counter(loop) if loop.op == "While" else None
    if test is None or not is_length(test.limit, items):
        return False
    if test.start is None or test.start < 0:
        return False
    for graph in (loop.attrs["cond_graph"], loop.attrs["body_graph"]):
        for outer, inner in zip(loop.inputs, graph.inputs):
            if outer is items and not _are_items(inner, graph.inputs[test.counter]):
                return False
    return not any(tensor is items for tensor in loop.inputs[: len(loop.outputs)])


def _are_items(inner: SymbolicTensor, counter: SymbolicTensor) -> bool:
    graph = inner.graph
    if any(tensor is inner for tensor in graph.outputs):
        return False
    return all(is_item(node, counter) for node in _users(inner, graph))


# --- what stands for it ---------------------------------------------------------------


def _count(loop: Node, items: SymbolicTensor) -> None:
    """Compute the items in the body of a loop of its counter."""
    test = find_counter(loop)
    assert test is not None
    start, _, delta = _bounds(items.node)
    if isinstance(start, SymbolicTensor):
        start = add_captures(loop, [start])[0][1]
    body = loop.attrs["body_graph"]
    place = next(i for i, tensor in enumerate(loop.inputs) if tensor is items)
    inner = body.inputs[place]

    def item(_: Any, index: Any, **attrs: Any) -> Any:
        index = cast(index, items.dtype)
        index = index if delta == 1 else index * delta
        return index if type(start) is int and start == 0 else index + start

    _replace(body, _users(inner, body), item)


def _length(items: Any, *, out_type: DType) -> Any:
    """The shape of a range; an error where its bounds are the wrong way round."""
    start, limit, delta = _bounds(items.node)
    holds = limit >= start if delta > 0 else limit <= start
    way = "<=" if delta > 0 else ">="
    text = f"start {way} limit must hold for delta = {delta}"
    apply("Assert", holds, template=(text,), summarize=3)
    if type(start) is int and start == 0 and delta == 1:
        return reshape(_exactly(limit, out_type), [1])
    span = cast(limit, dtypes.int64) - cast(start, dtypes.int64)
    length = (span + (delta - 1 if delta > 0 else delta + 1)) // delta
    return reshape(_exactly(length, out_type), [1])


def _exactly(length: Any, dtype: DType) -> Any:
    """A length in another dtype; an error where it does not fit."""
    if length.dtype is dtype:
        return length
    return apply("CastExactly", length, dtype=dtype)


def _bounds(node: Node) -> Any:
    """The start, the limit and the step of a range: tensors or ints."""
    _, attrs = attributes_with_tensors(node.inputs, node.attrs)
    return attrs["start"], attrs["limit"], attrs["delta"]


def _replace(graph: Graph, nodes: list[Node], rule: Callable[..., Any]) -> None:
    """Write nodes of a graph as `rule` applies other ops."""
    editor, gone = Editor(graph), set(nodes)
    for node in list(graph.nodes):
        node.inputs = editor.resolve(node.inputs)
        found = decompose(node, rule) if node in gone else None
        if found is None:
            editor.nodes.append(node)
        else:
            editor.nodes += found[0]
            editor.keep_alive.append(node)
            editor.replace(node.outputs, found[1])
    graph.nodes = editor.nodes
    graph.outputs = list(editor.resolve(graph.outputs))
