"""`while_loop`: a loop as a function, over tensors passed from turn to turn.

>>> while_loop(lambda i, total: i < 4, lambda i, total: (i + 1, total + i), (0, 0))[1]
<tf.Tensor: shape=(), dtype=int32, numpy=6>
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph
from runtime.core.tensor import Tensor
from runtime.core.types import nest
from runtime.core.types.classes import defines
from runtime.core.types.shapes import TensorShape, as_shape
from runtime.core.types.specs import TensorSpec
from runtime.ops.arguments import int_argument
from runtime.ops.convert import convert_to_tensor
from runtime.ops.elementwise.logical import logical_and
from runtime.staging.tracing.form import Results, flatten_results
from runtime.staging.tracing.joins import check_invariant, join_specs
from runtime.staging.tracing.stage_while import stage_while
from runtime.staging.tracing.subgraph import (
    predicate,
    set_outputs,
    state_tensor,
    trace_subgraph,
)

Shapes = Sequence[TensorShape | None] | None


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
    Each keeps its dtype, and its shape if `shape_invariants` gives one; without one, a
    dimension that changes is unknown after a loop that is traced.

    Args:
        cond, body: take the loop variables. The functions are converted where a traced
            function that calls this is.
        loop_vars: a list or tuple, also a named one, of tensors and structures of them.
        shape_invariants: shapes or specs in the structure of `loop_vars`, or None in
            their place, with None for the dimensions that change.
        maximum_iterations: a number of turns after which the loop ends in any case.
        parallel_iterations, back_prop, swap_memory: accepted, without effect.

    Raises:
        ValueError: `body` returns another structure or shape, or there are no
            variables.
        TypeError: an argument is of another type, or a variable changes its dtype.

    >>> while_loop(lambda i: i < 10, lambda i: [i * 2], [1])
    [<tf.Tensor: shape=(), dtype=int32, numpy=16>]
    """
    _check_arguments(cond, body, loop_vars)
    shapes = _flat_shapes(loop_vars, shape_invariants)
    limit = maximum_iterations
    if limit is not None:
        limit = int_argument(limit, "maximum_iterations")
    if current_graph() is None:
        return _loop_eagerly(cond, body, loop_vars, shapes, limit)
    tensors, start = flatten_results(loop_vars, "while_loop")
    if limit is None or isinstance(limit, int):
        return _stage(cond, body, tensors, start, shapes, limit, name)
    counted = _counted(cond, body, start, limit)
    variables = (convert_to_tensor(0, limit.dtype), start.pack(tensors))
    if shapes is not None:
        shapes = [None, *shapes]
    tensors, start = flatten_results(variables, "while_loop")
    return _stage(*counted, tensors, start, shapes, None, name)[1]


def _check_arguments(cond: Any, body: Any, loop_vars: Any) -> None:
    for label, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"while_loop: {label} must be callable, not {function!r}")
    if not isinstance(loop_vars, (list, tuple)):
        raise TypeError(
            "while_loop: loop_vars must be a list or tuple of the loop variables, not "
            f"{nest.outline(loop_vars)!r}; one variable is [x]"
        )
    if not loop_vars:
        raise ValueError("while_loop: there are no loop variables")


# --- in graphs ------------------------------------------------------------------------


def _stage(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    tensors: list[Tensor],
    start: Results,
    shapes: Shapes,
    limit: int | None,
    name: str | None,
) -> Any:
    names = _variable_names(body, start.structure, len(tensors))

    def trace(specs: list[TensorSpec]) -> tuple[Graph, Graph]:
        test = trace_subgraph(lambda *t: predicate(cond(*start.pack(t))), specs, "cond")
        set_outputs(test.graph, [test.result])
        step = trace_subgraph(lambda *t: _values(body(*start.pack(t))), specs, "body")
        set_outputs(step.graph, _next_state(step.result, start))
        after = [tensor.spec for tensor in step.graph.outputs]
        _check_invariants(after, shapes, names)
        return test.graph, step.graph

    outputs = stage_while(
        trace,
        tensors,
        name or "while",
        maximum_iterations=limit,
        shape_invariants=shapes,
        names=names,
    )
    return start.pack(outputs)


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
    """The tensors of a body's result, which must have the loop variables' structure."""
    result = _as_structured(result, start.structure)
    result = nest.map_structure(_as_number, result)
    tensors, results = flatten_results(result, "body", state_tensor)
    same = results.form.has_nesting_of(start.form)
    if not same or results.are_tensors != start.are_tensors:
        raise _other_structure(start.structure, result)
    nest.check_composites(start.structure, result)
    return tensors


def _values(result: Any) -> Any:
    """The result of a body, with the present values of variables in it."""
    return nest.map_structure(
        lambda leaf: (
            convert_to_tensor(leaf) if defines(type(leaf), "__tf_tensor__") else leaf
        ),
        result,
    )


def _as_number(leaf: Any) -> Any:
    """A Python number takes the dtype of its variable: it stays weak until then."""
    return state_tensor(leaf) if type(leaf) in (int, float, complex) else leaf


# --- outside of graphs ----------------------------------------------------------------


def _loop_eagerly(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shapes: Shapes,
    limit: int | None,
) -> Any:
    variables = nest.map_structure(_as_variable, loop_vars)
    leaves = nest.flatten(variables)
    names = _variable_names(body, loop_vars, len(leaves))
    rounds = 0
    while (limit is None or rounds < limit) and bool(predicate(cond(*variables))):
        result = _as_structured(body(*variables), loop_vars)
        after = nest.flatten(result)
        if [leaf is None for leaf in after] != [leaf is None for leaf in leaves]:
            raise _other_structure(variables, result)
        pairs = enumerate(zip(leaves, after))
        leaves = [_checked(old, new, names, index) for index, (old, new) in pairs]
        if shapes is not None:
            specs = [leaf.spec for leaf in leaves if isinstance(leaf, Tensor)]
            _check_invariants(specs, shapes, names)
        variables = nest.pack_sequence_as(loop_vars, leaves)
        rounds += 1
    return variables


def _as_variable(leaf: Any) -> Any:
    if leaf is None or defines(type(leaf), "__tf_flatten__"):
        return leaf
    return convert_to_tensor(leaf)


def _checked(old: Any, new: Any, names: Sequence[str], index: int) -> Any:
    """The new value of a variable, which must keep its dtype."""
    if not isinstance(old, Tensor):
        return new
    tensor = convert_to_tensor(new, dtype_hint=old.dtype)
    if tensor.dtype is not old.dtype:
        join_specs(old.spec, tensor.spec, _label(names, index))
    return tensor


# --- both -----------------------------------------------------------------------------


def _as_structured(result: Any, variables: Any) -> Any:
    """The result of a body in the structure of the loop variables; else ValueError."""
    if len(variables) == 1 and _is_alone(result, variables[0]):
        # A body of one variable may return it without a list around it.
        result = nest.rebuild(variables, [result])
    try:
        nest.assert_same_structure(variables, result, check_types=False)
    except ValueError:
        raise _other_structure(variables, result) from None
    return result


def _other_structure(variables: Any, result: Any) -> ValueError:
    given, returned = nest.outline(variables), nest.outline(result)
    reason: Any = "what is None in one must be None in the other"
    try:
        nest.assert_same_structure(given, returned, check_types=False)
    except ValueError as error:
        reason = error
    return ValueError(
        f"the body of while_loop returns {returned!r}, which has another structure "
        f"than loop_vars, {given!r}: {reason}"
    )


def _is_alone(result: Any, variable: Any) -> bool:
    """Whether a result is the only variable itself, without a list around it."""
    named = hasattr(result, "_fields") and type(result) is type(variable)
    return named or not isinstance(result, (list, tuple))


def _variable_names(body: Callable[..., Any], variables: Any, count: int) -> list[str]:
    """The parameter names of the body, if each variable is one tensor; else none."""
    try:
        names = list(inspect.signature(body).parameters)
    except (TypeError, ValueError):
        return []
    is_flat = not any(map(nest.is_nested, variables))
    return names if is_flat and len(names) == len(variables) == count else []


def _flat_shapes(loop_vars: Any, shape_invariants: Any) -> Shapes:
    """The shapes for the tensors among the loop variables: shapes, specs or None."""
    if shape_invariants is None:
        return None
    try:
        shapes = nest.flatten_up_to(nest.outline(loop_vars), shape_invariants)
    except ValueError as error:
        raise ValueError(
            "while_loop: shape_invariants must be in the structure of loop_vars; "
            f"{error}"
        ) from None
    return [
        None if shape is None else as_shape(getattr(shape, "shape", shape))
        for shape, leaf in zip(shapes, nest.flatten(loop_vars))
        if leaf is not None
    ]


def _check_invariants(
    specs: Sequence[TensorSpec], shapes: Shapes, names: Sequence[str]
) -> None:
    for index, (spec, shape) in enumerate(zip(specs, shapes or ())):
        if shape is not None:
            check_invariant(spec.shape, shape, _label(names, index))


def _label(names: Sequence[str], index: int) -> str:
    return repr(names[index]) if index < len(names) else f"value {index}"
