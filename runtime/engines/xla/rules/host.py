"""What runs in Python, called by the program: prints, functions, texts.

Texts are never in an XLA program: what one is made of is handed on, `OnHost`, to where
Python needs it, and it is made there.

Calls that are seen outside happen in the order of the program, until the flag is
raised. What they gave is kept in a `Log`, for the interpreter (see
`numpy_source.replay`). The values of variables go to a Python function and come from
it, since it may read and assign them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import local
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.core.graph.record import get
from runtime.engines.failure import call_kernel
from runtime.engines.numpy_source.replay import has_effect
from runtime.engines.xla.flow import Step, Value, is_known, rule
from runtime.engines.xla.rows import OnHost, on_host


def has_effects(graph: Graph) -> bool:
    """Whether calls in a graph are seen outside, or in one within it."""
    nodes = (node for inner in nested_graphs(graph) for node in inner.nodes)
    return any(has_effect(get(node.op)) for node in nodes)


def calls_functions(graph: Graph) -> bool:
    """Whether functions of the program are called that may assign variables."""
    nodes = (node for inner in nested_graphs(graph) for node in inner.nodes)
    return any(_assigns(node) for node in nodes)


def _assigns(node: Any) -> bool:
    op = get(node.op)
    return op.calls_python and has_effect(op)


class _Inside(local):
    """In how many calls of Python by programs a thread is."""

    calls = 0


inside = _Inside()


class Log:
    """What the calls of one run gave, in their order."""

    def __init__(self, variables: Sequence[tuple[Any, Any]]) -> None:
        self.calls: list[Callable[[], Any]] = []
        self._variables = variables
        #: How many of the calls a run that begins again has come to.
        self._passed = 0

    def rewind(self) -> None:
        """Begin again, with the values that variables had at first."""
        self._passed = 0
        for variable, value in self._variables:
            variable.keep_on_device(value)

    def next(self, variables: dict[int, Any], call: Callable[[], Any]) -> Any:
        """What the next call gives, or gave before; it may change variables."""
        if self._passed == len(self.calls):
            self.calls.append(_kept(variables, call))
        self._passed += 1
        return self.calls[self._passed - 1]()


def _kept(variables: dict[int, Any], call: Callable[[], Any]) -> Callable[[], Any]:
    """Gives what a call gives or raises now, whenever it is asked."""
    found, error = None, None
    try:
        found = call()
    except BaseException as failure:
        error = failure
    values = [np.array(variable.on_device()) for variable in variables.values()]

    def again() -> Any:
        for variable, value in zip(variables.values(), values):
            variable.keep_on_device(value)
        if error is not None:
            raise error
        return found

    return again


@rule("python*", "text*", checks=True)
def _host(step: Step, *arguments: Value) -> Any:
    node, op = step.node, get(step.node.op)
    given = tuple([_constant(v) if is_known(v) else v for v in arguments])
    if any(tensor.dtype.kind == "O" for tensor in node.outputs):
        if len(node.outputs) > 1 or has_effect(op):
            raise step.refused(
                f"XLA has no texts and no data sets, which {node.op} gives"
            )
        text = OnHost(lambda *arrays: call_kernel(node, arrays), given)
        if op.stateful:
            # It may raise, whether or not anybody asks for the text.
            _call(step, (text,), lambda *arrays: (), [])
        return text
    shapes = [_shape(step, tensor) for tensor in node.outputs]
    return _call(step, given, lambda *arrays: call_kernel(node, arrays), shapes)


def _constant(value: Value) -> OnHost:
    return OnHost(lambda: np.asarray(value), ())


def _shape(step: Step, tensor: Any) -> Any:
    if not tensor.shape.is_fully_defined():
        raise step.refused(
            f"XLA needs to know the shape of what {step.node.op} gives: say it by a "
            "tf.TensorSpec"
        )
    return jax.ShapeDtypeStruct(tensor.shape.as_tuple(), tensor.dtype.np_dtype)


def _call(
    step: Step,
    given: tuple[Value, ...],
    function: Callable[..., Any],
    shapes: list[Any],
) -> tuple[Value, ...]:
    """The results of a function of arrays; the flag where it raises."""
    leaves, tree = jax.tree_util.tree_flatten(given)
    flow = step.flow
    is_seen = has_effect(get(step.node.op))
    owners = flow.owners if _assigns(step.node) else {}
    values = [flow.variables[key] for key in owners]
    if is_seen and flow.run_number is None:
        raise step.refused(f"{step.node.op} has no place in a pure function")

    def made(*parts: Any) -> Any:
        return function(*map(on_host, jax.tree_util.tree_unflatten(tree, parts)))

    def call(failed: Any, number: Any, *arrays: Any) -> Any:
        state, parts = arrays[: len(values)], arrays[len(values) :]
        nothing = [np.zeros(shape.shape, shape.dtype) for shape in shapes]
        if failed:
            return [*nothing, *state, True]
        for variable, value in zip(owners.values(), state):
            variable.keep_on_device(np.array(value))
        inside.calls += 1
        try:
            if is_seen:
                found = flow.logs[int(number)].next(owners, lambda: made(*parts))
            else:
                found = made(*parts)
        except BaseException:
            return [*nothing, *state, False]
        finally:
            inside.calls -= 1
        state = tuple([np.array(variable.on_device()) for variable in owners.values()])
        found = found if isinstance(found, tuple) else (found,)
        results = [np.asarray(a, s.dtype) for a, s in zip(found, shapes)]
        return [*results, *state, True]

    expected = [*shapes, *map(_like, values), jax.ShapeDtypeStruct((), np.bool_)]
    failed = jnp.asarray(flow.failed, np.int8)
    if is_seen:
        state = failed, flow.run_number, *values
        found = io_callback(call, expected, *state, *leaves, ordered=True)
    else:
        found = jax.pure_callback(
            call, expected, failed, 0, *leaves, vmap_method="sequential"
        )
    flow.variables.update(zip(owners, found[len(shapes) :]))
    step.check(found[-1])
    return tuple(found[: len(shapes)])


def _like(value: Value) -> Any:
    return jax.ShapeDtypeStruct(jnp.shape(value), jnp.asarray(value).dtype)
