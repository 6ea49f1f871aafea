"""Gradients that programs write themselves: `custom_gradient` and what stands on it.

What a function computes is recorded as ever, for what its gradient uses of it may be
differentiated again; but its results are copies that depend on its arguments by one
step, whose rule is the function that it gave. Eagerly that function is kept. In a graph
its own graph is traced at once, and the node takes what that one uses besides the
gradients: so the node can be copied, and needs nothing of Python's when it is
differentiated. Optimised graphs have the results alone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from runtime.autodiff.backprop import has_gradient
from runtime.autodiff.calls import closed, run
from runtime.autodiff.control_flow import control_flow_rule, operands
from runtime.autodiff.tape import GradientTape
from runtime.core.errors import GradientError
from runtime.core.graph import Graph
from runtime.core.graph.context import building, current_graph
from runtime.core.graph.recording import Recorder, recorded_by, recorders, unrecorded
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import nest
from runtime.core.types.specs import TensorSpec
from runtime.ops.apply import record
from runtime.ops.arrays.shape import identity
from runtime.ops.convert import convert_to_tensor
from runtime.ops.gradient_shapes import zeros_of
from runtime.ops.variables import Variable

F = TypeVar("F", bound=Callable[..., Any])


class VariableReads(Recorder):
    """Hears which trainable variables are read."""

    repeats = 1

    def __init__(self) -> None:
        self.found: dict[int, Variable] = {}

    def record(self, step: Any) -> None:
        """Note the variables that a step reads."""
        for operand in operands(step):
            if _is_trained(operand):
                self.found.setdefault(id(operand), operand)

    def wants(self, operand: Any) -> bool:
        """Whether it is to hear of steps with this operand."""
        return _is_trained(operand)


def _is_trained(operand: Any) -> bool:
    return isinstance(operand, Variable) and operand.trainable and has_gradient(operand)


@dataclass
class Rule:
    """How a step of ops goes backwards that has a gradient of its own."""

    name: str
    #: How many results stand at the beginning of the inputs of a node.
    count: int
    #: What the results depend on besides the inputs.
    variables: Sequence[Variable]
    #: From the step and the gradients of its results to those of its `operands`.
    function: Callable[[Any, Sequence[Any]], Sequence[Any]]


@dataclass
class GradientGraph:
    """The gradient of a node: a graph of its own, from gradients to gradients."""

    graph: Graph
    #: How many results and then how many arguments stand before the inputs of a node
    #: that the graph takes, after the gradients of the results.
    count: int
    arguments: int
    #: Whether it gives a gradient, for each argument and each variable.
    given: Sequence[bool]

    def __call__(self, step: Any, gradients: Sequence[Any]) -> Sequence[Any]:
        """The gradients of the operands of a step, of those of its results."""
        used = step.inputs[self.count + self.arguments :]
        results = iter(run(self.graph, [*gradients, *used]))
        found = [next(results) if is_given else None for is_given in self.given]
        of_arguments, of_variables = found[: self.arguments], found[self.arguments :]
        rest = [None] * len(used)
        return [*[None] * self.count, *of_arguments, *rest, *of_variables]


def lost_rule(name: str, count: int) -> Rule:
    """That of a function whose gradient is no data: it raises GradientError."""

    def refuse(step: Any, gradients: Sequence[Any]) -> Sequence[Any]:
        raise GradientError(
            f"AG330: {name}() has a gradient of its own, which a saved model has not"
        )

    return Rule(name, count, (), refuse)


@control_flow_rule("CustomGradient")
def _backwards(
    step: Any, gradients: Sequence[Any], wanted: Sequence[bool]
) -> Sequence[Any]:
    full = [
        zeros_of(output) if gradient is None else gradient
        for gradient, output in zip(gradients, step.outputs)
    ]
    found: Sequence[Any] = step.attrs["rule"].function(step, full)
    return found


def custom_gradient(f: F) -> F:
    """Give a function the gradient that it says itself.

    `f` returns its result and a function from the gradients of the result (one argument
    for each tensor of it) to those of the arguments of `f`: one, or a list with one
    for each tensor, in which None stands for an argument that has none. Where `f` reads
    trainable variables that are no arguments of it, that function takes them as
    ``variables=`` as well, and returns a pair: what is said above, and a list of the
    gradients of the variables.

    >>> import runtime as tf
    >>> @tf.custom_gradient
    ... def log1pexp(x):
    ...     e = tf.exp(x)
    ...     return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
    >>> x = tf.constant(100.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = log1pexp(x)
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=1.0>

    The gradient is differentiable itself, by what it computes.

    Raises, when the function is called or differentiated:
        TypeError: `f` reads variables, and its gradient takes no ``variables``.
        ValueError: the gradient gives more or fewer values than there are arguments.
    """

    @functools.wraps(f)
    def with_gradient(*args: Any, **kwargs: Any) -> Any:
        return _call(f, args, kwargs)

    return with_gradient  # type: ignore[return-value]


def recompute_grad(f: F) -> F:
    """Compute `f` again when its gradient is asked for: tapes keep its arguments alone.

    Takes time for memory. `f` may have structures of tensors as arguments and result,
    and read variables; it has no effects.

    >>> import runtime as tf
    >>> block = tf.recompute_grad(lambda x: tf.tanh(tf.tanh(x)))
    >>> x = tf.constant(0.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = block(x)
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=1.0>
    """

    @functools.wraps(f)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        def again(*gradients: Any, variables: Sequence[Variable] = ()) -> Any:
            copies = nest.map_structure(_copy, args)
            sources = [x for x in nest.flatten(copies) if isinstance(x, Tensor)]
            sources = [x for x in sources if has_gradient(x)]
            with GradientTape() as tape:
                tape.watch(sources)
                result = f(*copies, **kwargs)
            found = tape.gradient(
                nest.flatten(result), [sources, list(variables)], list(gradients)
            )
            by_id = {id(x): g for x, g in zip(sources, found[0])}
            given = [by_id.get(id(x)) for x in nest.flatten(copies)]
            return (given, found[1]) if variables else given

        def with_rule(*args: Any, **kwargs: Any) -> Any:
            return f(*args, **kwargs), again

        with_rule.__name__ = getattr(f, "__name__", "recompute_grad")
        return _call(with_rule, args, kwargs, is_hidden=True)

    return recomputed  # type: ignore[return-value]


def _copy(x: Any) -> Any:
    return identity(x) if isinstance(x, Tensor) else x


def grad_pass_through(f: F) -> F:
    """Compute `f`, of one tensor, and let gradients through as if it were the identity.

    >>> import runtime as tf
    >>> x = tf.constant(2.4)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.grad_pass_through(tf.round)(x)
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=1.0>
    """

    def passed(*args: Any, **kwargs: Any) -> Any:
        def through(gradient: Any, variables: Sequence[Variable] = ()) -> Any:
            return (gradient, [None] * len(variables)) if variables else gradient

        return f(*args, **kwargs), through

    return custom_gradient(functools.wraps(f)(passed))  # type: ignore[return-value]


# --- calls ----------------------------------------------------------------------------


def _call(f: Any, args: Any, kwargs: dict[str, Any], is_hidden: bool = False) -> Any:
    """Call a function that gives its result and the gradient of it.

    What is hidden is not recorded: its gradient uses nothing of it.
    """
    name = getattr(f, "__name__", "custom_gradient")
    graph, outer = current_graph(), recorders()
    if graph is None and not outer:
        result, _ = _pair(name, f(*args, **kwargs))
        return result
    reads = VariableReads()
    with recorded_by(*(() if is_hidden else outer), reads):
        result, gradient = _pair(name, f(*args, **kwargs))
    flat = nest.flatten(args)
    given = {id(x) for x in flat}
    variables = [v for i, v in reads.found.items() if i not in given]
    if variables and not _takes_variables(gradient):
        names = ", ".join(repr(variable.name) for variable in variables)
        raise TypeError(
            f"{name}() reads the variables {names}, so that its gradient must take "
            "them, too: def grad(*upstream, variables=None), which returns a pair of "
            "lists, for the arguments and for the variables"
        )
    leaves = nest.flatten(result)
    places = [i for i, x in enumerate(leaves) if isinstance(x, (Tensor, Variable))]
    values = [convert_to_tensor(leaves[place]) for place in places]
    of = _Gradients(name, gradient, flat, variables)
    copies = _record_eagerly(of, values) if graph is None else _add(graph, of, values)
    for place, copy in zip(places, copies):
        leaves[place] = copy
    return nest.pack_sequence_as(result, leaves)


def _pair(name: str, result: Any) -> tuple[Any, Callable[..., Any]]:
    if isinstance(result, tuple) and len(result) == 2 and callable(result[1]):
        return result
    raise TypeError(
        f"{name}() is to return its result and a function, its gradient; it gave "
        f"{type(result).__name__}"
    )


def _takes_variables(gradient: Callable[..., Any]) -> bool:
    parameters = inspect.signature(gradient).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


@dataclass
class _Gradients:
    """The gradient of a call, as the program wrote it."""

    name: str
    function: Callable[..., Any]
    #: The leaves of the arguments.
    arguments: Sequence[Any]
    variables: Sequence[Variable]

    @property
    def tensors(self) -> list[Any]:
        """The arguments that are tensors."""
        return [x for x in self.arguments if isinstance(x, Tensor)]

    @property
    def read(self) -> list[Variable]:
        """The variables that the results depend on, among the arguments and others."""
        given = [x for x in self.arguments if isinstance(x, Variable)]
        return [*{id(v): v for v in given}.values(), *self.variables]

    def __call__(self, upstream: Sequence[Any]) -> list[Any]:
        """The gradients of the `tensors`, then of the variables that are `read`."""
        if self.variables:
            found = self.function(*upstream, variables=list(self.variables))
            if not isinstance(found, (tuple, list)) or len(found) != 2:
                raise ValueError(
                    f"the gradient of {self.name}() is to return a pair, for the "
                    "arguments and for the variables"
                )
            by_argument, by_variable = nest.flatten(found[0]), list(found[1])
        else:
            by_argument, by_variable = nest.flatten(self.function(*upstream)), []
        self._check(by_argument, self.arguments, "arguments")
        self._check(by_variable, self.variables, "variables")
        pairs = list(zip(self.arguments, by_argument))
        of_given: dict[int, Any] = {}
        for x, gradient in pairs:
            if isinstance(x, Variable) and gradient is not None:
                known = of_given.get(id(x))
                of_given[id(x)] = gradient if known is None else known + gradient
        given = self.read[: len(self.read) - len(self.variables)]
        return [
            *[gradient for x, gradient in pairs if isinstance(x, Tensor)],
            *[of_given.get(id(variable)) for variable in given],
            *by_variable,
        ]

    def _check(self, found: Sequence[Any], of: Sequence[Any], what: str) -> None:
        if len(found) != len(of):
            raise ValueError(
                f"the gradient of {self.name}() gave {len(found)} values for "
                f"{len(of)} {what}"
            )


def _record_eagerly(of: _Gradients, values: Sequence[Any]) -> list[Any]:
    """Copies of eager results, which open tapes know by the gradient."""
    copies = [EagerTensor(value._array) for value in values]
    rule = Rule(of.name, 0, of.read, lambda step, gradients: of(gradients))
    record("CustomGradient", of.tensors, {"rule": rule}, copies)
    return copies


def _add(graph: Graph, of: _Gradients, values: Sequence[Any]) -> Sequence[Any]:
    """Results in a graph, given by a node that knows the gradient."""
    back = Graph(f"{of.name}_gradient", parent=graph)
    given: list[bool] = []
    with unrecorded(), building(back):
        upstream = [
            back.add_input(TensorSpec(value.shape, value.dtype), "gradient")
            for value in values
        ]
        for gradient in of(upstream):
            given.append(gradient is not None)
            if gradient is not None:
                back.outputs.append(identity(back.capture(convert_to_tensor(gradient))))
    kept = closed(back)
    tensors = of.tensors
    gradient_graph = GradientGraph(back, len(values), len(tensors), given)
    rule = Rule(of.name, len(values), of.read, gradient_graph)
    specs = [TensorSpec(value.shape, value.dtype) for value in values]
    inputs = [*values, *tensors, *kept]
    return graph.add("CustomGradient", inputs, {"rule": rule}, specs, of.name)
