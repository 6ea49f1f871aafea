"""Conditionals and loops as functions: `cond`, `case`, `switch_case`, `while_loop`.

They run as plain Python on eager tensors. While a function is traced they become the
nodes ``If``, ``Case`` and ``While`` of its graph.

>>> while_loop(lambda i, total: i < 4, lambda i, total: (i + 1, total + i), (0, 0))[1]
<tf.Tensor: shape=(), dtype=int32, numpy=6>
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from runtime import nest
from runtime.context import current_graph
from runtime.errors import UnknownResultError
from runtime.graph import Graph
from runtime.ops.convert import cast, convert_to_tensor
from runtime.ops.logical import logical_and
from runtime.shapes import TensorShape, as_shape
from runtime.specs import TensorSpec
from runtime.subgraph import (
    emit_case,
    emit_if,
    predicate,
    set_outputs,
    stage_while,
    trace_subgraph,
)
from runtime.tensor import EagerTensor, Tensor
from runtime.tracing import Results, flatten_results

__all__ = ["case", "cond", "switch_case", "while_loop"]

Branch = Callable[[], Any]


def cond(
    pred: Any,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    name: str | None = None,
) -> Any:
    """``true_fn()`` where `pred` holds, else ``false_fn()``.

    Both return the same structure of tensors (or None). A Python bool and an eager
    tensor decide at once; with a symbolic one both functions are traced.

    >>> cond(True, lambda: "yes", lambda: "no")
    'yes'
    """
    if true_fn is None or false_fn is None:
        raise TypeError("cond() needs both true_fn and false_fn")
    if current_graph() is None or _is_known(pred):
        return true_fn() if _truth(pred) else false_fn()
    condition = predicate(pred)
    graphs, results = _trace_branches((true_fn, false_fn), ("true_fn", "false_fn"))
    return results.pack(emit_if(condition, graphs[0], graphs[1], name or "cond"))


def case(
    pred_fn_pairs: Iterable[tuple[Any, Branch]] | Mapping[Any, Branch],
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose condition holds, else of `default`.

    Without a default the last function runs where no condition holds. `exclusive` asks
    that at most one condition holds; where that can be seen (eagerly), several are a
    ValueError.
    """
    pairs = list(
        pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs
    )
    if not pairs:
        raise ValueError("case() needs at least one pair of a condition and a function")
    if exclusive and current_graph() is None:
        held = sum(_truth(pred) for pred, _ in pairs)
        if held > 1:
            raise ValueError(f"case(exclusive=True): {held} conditions hold at once")
    if default is None:
        *pairs, (_, default) = pairs
    chosen = default
    for pred, fn in reversed(pairs):
        chosen = _either(pred, fn, chosen, name)
    return chosen()


def _either(pred: Any, fn: Branch, otherwise: Branch, name: str) -> Branch:
    return lambda: cond(pred, fn, otherwise, name=name)


def switch_case(
    branch_index: Any,
    branch_fns: Sequence[Branch] | Sequence[tuple[int, Branch]] | Mapping[int, Branch],
    default: Branch | None = None,
    name: str = "switch_case",
) -> Any:
    """The result of the function number `branch_index`, else of `default`.

    `branch_fns` are functions, or pairs of an index and a function. Without a default
    the last one runs for any other index.

    >>> switch_case(1, [lambda: "a", lambda: "b", lambda: "c"])
    'b'
    """
    functions = _numbered(branch_fns)
    fallback = functions[max(functions)] if default is None else default
    if current_graph() is None or _is_known(branch_index):
        return functions.get(int(branch_index), fallback)()
    dense = [functions.get(index, fallback) for index in range(max(functions) + 1)]
    if default is not None:
        dense.append(default)
    index = cast(branch_index, "int32")
    labels = [f"branch {position}" for position in range(len(dense))]
    graphs, results = _trace_branches(dense, labels)
    return results.pack(emit_case(index, graphs, name))


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Repeat ``loop_vars = body(*loop_vars)`` while ``cond(*loop_vars)`` holds.

    Gives the loop variables after the loop, in the structure in which they came in.
    While traced, each keeps its dtype; a dimension that changes becomes unknown, or is
    given by `shape_invariants`. `parallel_iterations`, `back_prop`, `swap_memory` are
    there for TensorFlow's signature.

    >>> while_loop(lambda i: i < 10, lambda i: [i * 2], [1])
    [<tf.Tensor: shape=(), dtype=int32, numpy=16>]
    """
    if current_graph() is None:
        return _loop_eagerly(cond, body, loop_vars, maximum_iterations)
    tensors, start = flatten_results(loop_vars, "while_loop")
    shapes = _flat_shapes(loop_vars, shape_invariants)
    limit = maximum_iterations
    if limit is not None and not isinstance(limit, int):
        if not _is_known(limit):
            counted = _counted(cond, body, start, cast(limit, "int32"))
            variables = (convert_to_tensor(0), start.pack(tensors))
            if shapes is not None:
                shapes = [None, *shapes]
            tensors, start = flatten_results(variables, "while_loop")
            return _stage(*counted, tensors, start, shapes, None, name)[1]
        limit = int(limit)
    return _stage(cond, body, tensors, start, shapes, limit, name)


def _stage(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    tensors: list[Tensor],
    start: Results,
    shapes: list[TensorShape | None] | None,
    limit: int | None,
    name: str | None,
) -> Any:
    def trace(specs: list[TensorSpec]) -> tuple[Graph, Graph]:
        test = trace_subgraph(lambda *t: predicate(cond(*start.pack(t))), specs, "cond")
        set_outputs(test.graph, [test.result])
        step = trace_subgraph(lambda *t: body(*start.pack(t)), specs, "body")
        set_outputs(step.graph, _next_state(step.result, start))
        return test.graph, step.graph

    outputs = stage_while(
        trace,
        tensors,
        name or "while",
        maximum_iterations=limit,
        shape_invariants=shapes,
        names=_variable_names(body, start.structure, len(tensors)),
    )
    return start.pack(outputs)


def _variable_names(body: Callable[..., Any], variables: Any, count: int) -> list[str]:
    """What the body calls the loop variables, if each is one tensor; else nothing."""
    try:
        names = list(inspect.signature(body).parameters)
    except (TypeError, ValueError):
        return []
    return names if len(names) == len(variables) == count else []


def _loop_eagerly(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: Any,
) -> Any:
    variables = nest.map_structure(_as_variable, loop_vars)
    rounds = 0
    while maximum_iterations is None or rounds < maximum_iterations:
        if not _truth(cond(*variables)):
            break
        result = _as_structured(body(*variables), loop_vars)
        leaves = map(_as_variable, nest.flatten(result))
        variables = nest.pack_sequence_as(loop_vars, leaves)
        rounds += 1
    return variables


def _as_variable(leaf: Any) -> Any:
    if leaf is None or hasattr(type(leaf), "__tf_flatten__"):
        return leaf
    return convert_to_tensor(leaf)


def _counted(
    cond: Callable[..., Any], body: Callable[..., Any], start: Results, limit: Tensor
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The test and the body of a loop that counts its iterations up to `limit`."""

    def test(count: Tensor, variables: Any) -> Any:
        return logical_and(count < limit, predicate(cond(*variables)))

    def step(count: Tensor, variables: Any) -> Any:
        return count + 1, start.pack(_next_state(body(*variables), start))

    return test, step


def _next_state(result: Any, start: Results) -> list[Tensor]:
    """The tensors of what a body returned, which must look as the loop variables."""
    result = _as_structured(result, start.structure)
    tensors, found = flatten_results(result, "body")
    if [recipe and recipe[0] for recipe in found.leaves] != [
        recipe and recipe[0] for recipe in start.leaves
    ]:
        raise ValueError("the body of while_loop and loop_vars have None elsewhere")
    return tensors


def _as_structured(result: Any, variables: Any) -> Any:
    """What a body returned, which must have the structure of the loop variables."""
    if len(variables) == 1 and not nest.is_nested(result):
        # A body of one variable may return it without a list around it.
        result = nest.pack_sequence_as(variables, [result])
    try:
        nest.assert_same_structure(variables, result, check_types=False)
    except ValueError as error:
        raise ValueError(
            f"the body of while_loop returns another structure than loop_vars: {error}"
        ) from None
    return result


def _trace_branches(
    functions: Sequence[Branch], labels: Sequence[str]
) -> tuple[list[Graph], Results]:
    """The graphs of branches, which return one structure.

    Another branch stands for one whose result is not known yet.
    """
    graphs: list[Graph | None] = []
    first: Results | None = None
    for fn, label in zip(functions, labels):
        try:
            graph, result = trace_subgraph(fn, (), label)
        except UnknownResultError:
            graphs.append(None)
            continue
        with graph.as_default():
            tensors, results = flatten_results(result, label)
        set_outputs(graph, tensors)
        graphs.append(graph)
        if first is None:
            first = results
        else:
            _check_same(first, results, labels[0], label)
    known = [graph for graph in graphs if graph is not None]
    if first is None:
        raise UnknownResultError
    return [graph or known[0] for graph in graphs], first


def _check_same(one: Results, other: Results, label: str, other_label: str) -> None:
    try:
        nest.assert_same_structure(one.structure, other.structure)
        if [r is None for r in one.leaves] != [r is None for r in other.leaves]:
            raise ValueError(f"{one.structure!r} against {other.structure!r}")
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{label} and {other_label} return different structures: {error}"
        ) from None


def _numbered(branch_fns: Any) -> dict[int, Branch]:
    if isinstance(branch_fns, Mapping) or (branch_fns and not callable(branch_fns[0])):
        functions = dict(branch_fns)
    else:
        functions = dict(enumerate(branch_fns))
    if not functions or min(functions) < 0:
        raise ValueError("switch_case() needs functions for indices from 0 on")
    return functions


def _flat_shapes(
    loop_vars: Any, shape_invariants: Any
) -> list[TensorShape | None] | None:
    """The shapes for the tensors among the loop variables: shapes, specs or None."""
    if shape_invariants is None:
        return None
    shapes = nest.flatten_up_to(loop_vars, shape_invariants)
    return [
        None if shape is None else as_shape(getattr(shape, "shape", shape))
        for shape, leaf in zip(shapes, nest.flatten(loop_vars))
        if leaf is not None
    ]


def _is_known(value: Any) -> bool:
    """Whether the value is there already, although a graph may be being built."""
    return isinstance(value, EagerTensor) or not (
        isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__")
    )


def _truth(value: Any) -> bool:
    return bool(predicate(value)) if isinstance(value, Tensor) else bool(value)
