"""Gradients within a graph, without a tape: `gradients` and `hessians`."""

from __future__ import annotations

from typing import Any

from runtime.autodiff.backprop import Recording, backprop, load_rules
from runtime.autodiff.jacobians import jacobian
from runtime.autodiff.tape import UnconnectedGradients, seeds
from runtime.core.errors import GradientError
from runtime.core.graph import Graph
from runtime.core.graph.context import current_graph
from runtime.core.tensor import EagerTensor, Tensor
from runtime.core.types import nest
from runtime.ops.arrays.creation import zeros_like
from runtime.ops.convert import convert_to_tensor
from runtime.ops.variables import Variable, underlying


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str | None = None,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Any]:
    """The gradients of the sum of `ys` with respect to each of `xs`, in a graph.

    Nothing needs to be watched: a graph knows what its tensors were computed from.

    Args:
        ys: a tensor, or a list of them.
        xs: a tensor or variable, or a list of them.
        grad_ys: what the gradients of the `ys` are multiplied with: a list of tensors
            or None, which stands for ones.
        name: not used, as are ``gate_gradients`` and ``aggregation_method``.
        stop_gradients: tensors that count as constants.
        unconnected_gradients: as in `GradientTape.gradient`.

    >>> import runtime as tf
    >>> @tf.function
    ... def slope(x):
    ...     return tf.gradients(x * x, [x])[0]
    >>> slope(tf.constant(3.0))
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>

    Raises:
        RuntimeError: no graph is being built.
        LookupError: a tensor comes from outside of the function, branch or loop that is
            being traced (AG330), or an operation between them has no gradient.
    """
    load_rules()
    kind = UnconnectedGradients(unconnected_gradients)
    graph = current_graph()
    if graph is None:
        raise RuntimeError(
            "tf.gradients is for graphs, in a tf.function; eagerly use tf.GradientTape"
        )
    sources = [_of_graph(graph, x) for x in nest.flatten(xs)]
    targets = [_of_graph(graph, y) for y in nest.flatten(ys)]
    constants = {id(_of_graph(graph, x)) for x in nest.flatten(stop_gradients or [])}
    steps = [n for n in graph.nodes if constants.isdisjoint(map(id, n.outputs))]
    given = None if grad_ys is None else nest.flatten(grad_ys)
    found = backprop(steps, seeds(targets, given), sources)
    return [
        zeros_like(source)
        if gradient is None and kind is UnconnectedGradients.ZERO
        else gradient
        for gradient, source in zip(found, sources)
    ]


def hessians(ys: Any, xs: Any, name: str | None = None) -> list[Any]:
    """The second derivatives of the sum of `ys` by each of `xs`, in a graph.

    Each has the shape of its `x` twice. Raises what `gradients` raises.
    """
    graph = current_graph()
    results: list[Any] = []
    for x in nest.flatten(xs):
        (gradient,) = gradients(ys, x)
        assert graph is not None
        if gradient is None:
            results.append(None)
            continue
        recording = Recording()
        recording.steps = list(graph.nodes)
        target = convert_to_tensor(gradient)
        results += jacobian(recording, target, [_of_graph(graph, x)])
    return results


def _of_graph(graph: Graph, value: Any) -> Any:
    """A tensor of the graph; what lies outside has no path that it could know."""
    value = underlying(value)
    if isinstance(value, Variable):
        return value
    tensor: Any = value if isinstance(value, Tensor) else convert_to_tensor(value)
    if isinstance(tensor, EagerTensor):
        return graph.capture(tensor)
    if tensor.graph is not graph:
        raise GradientError(
            "AG330: tf.gradients of tensors of an enclosing function, branch or loop; "
            "take the gradient where the tensors were computed, or use tf.GradientTape"
        )
    return tensor
