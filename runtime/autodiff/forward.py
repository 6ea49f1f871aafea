"""Forward mode: `ForwardAccumulator` carries tangents along with what runs.

An elementwise op multiplies the tangents of its operands with its partial derivatives,
a linear one is run on them. For all others the rule that goes backwards is used twice:
it is linear in the gradient that it is given, and the gradient of a linear function by
its argument is the transposed function (J. Townsend, "A new trick for calculating
Jacobian vector products", 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.autodiff.backprop import (
    Recording,
    applied,
    backprop,
    has_gradient,
    load_rules,
    mark_recorded,
    scaled,
    step_back,
)
from runtime.autodiff.control_flow import operands
from runtime.autodiff.sparse import dense, with_rows_of
from runtime.autodiff.tape import UnconnectedGradients, in_graph
from runtime.core.errors import GradientError
from runtime.core.graph.recording import (
    Recorder,
    begin_recording,
    end_recording,
    recorded_by,
    recorders,
)
from runtime.core.tensor import Tensor
from runtime.core.types import nest
from runtime.ops.arrays.creation import ones_like, zeros_like
from runtime.ops.convert import convert_to_tensor
from runtime.ops.derivatives import LINEAR, NO_GRADIENT, PARTIALS, POLES, Applied
from runtime.ops.gradient_shapes import broadcast_like
from runtime.ops.operands import run
from runtime.ops.variables import Variable


class ForwardAccumulator(Recorder):
    """Computes Jacobian-vector products of what runs in its block.

    `primals` are tensors and variables in any structure, `tangents` their directions in
    the same structure. `jvp` gives the derivative of a result in that direction.

    >>> import runtime as tf
    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = tf.reduce_sum(x * x * x)
    >>> acc.jvp(y)
    <tf.Tensor: shape=(), dtype=float32, numpy=12.0>

    One pass gives one direction for any number of results; a `GradientTape` gives all
    directions of one result. With a tape inside, `jvp` of its gradient is a product of
    the Hessian with a vector.

    Raises ValueError for tangents of other shapes or dtypes than the primals, and for
    primals that are not of floats or complex numbers.
    """

    #: Rules are differentiated by the gradients that they are given.
    repeats = 2

    def __init__(self, primals: Any, tangents: Any) -> None:
        load_rules()
        #: What has a tangent, and that, by the id of the former.
        self._known: dict[int, tuple[Any, Any]] = {}
        #: What nodes with tangents give to gradients besides, by its id.
        self._without: dict[int, Any] = {}
        self._is_open = False
        given = nest.flatten_up_to(primals, tangents)
        for primal, tangent in zip(nest.flatten(primals), given):
            self._watch(primal, tangent)

    def _watch(self, primal: Any, tangent: Any) -> None:
        if not isinstance(primal, (Tensor, Variable)) or not has_gradient(primal):
            raise ValueError(
                "a primal is a tensor or variable of floats or complex numbers, not "
                f"{primal!r}"
            )
        if tangent is None:
            return
        vector = convert_to_tensor(tangent, primal.dtype)
        if not vector.shape.is_compatible_with(primal.shape):
            raise ValueError(
                f"the tangent of a primal of shape {primal.shape} has the shape "
                f"{vector.shape}"
            )
        primal = in_graph(primal, is_source=True)
        if id(primal) in self._known:
            vector = self._known[id(primal)][1] + vector
        self._known[id(primal)] = primal, vector

    def __enter__(self) -> ForwardAccumulator:
        if self._is_open:
            raise ValueError("the accumulator is running already")
        self._is_open = True
        begin_recording(self)
        mark_recorded([primal for primal, _ in self._known.values()])
        return self

    def __exit__(self, *raised: object) -> None:
        self._is_open = False
        end_recording(self)

    def jvp(
        self,
        primals: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """The tangents of results, in their structure.

        One that does not depend on the primals has None, or zeros where
        `unconnected_gradients` is "zero".
        """
        kind = UnconnectedGradients(unconnected_gradients)

        def tangent(value: Any) -> Any:
            if value is None:
                return None
            known = self._known.get(id(value))
            if known is not None:
                return known[1]
            return zeros_like(value) if kind is UnconnectedGradients.ZERO else None

        return nest.map_structure(tangent, primals)

    # --- what it hears: see `core.graph.recording` ---------------------------------

    def wants(self, operand: Any) -> bool:
        """Whether an eager tensor or variable has a tangent."""
        return id(operand) in self._known

    def record(self, step: Any) -> None:
        """Compute the tangents of the results of a step."""
        known = self._known
        tangents = []
        for operand in operands(step):
            if id(operand) in self._without:
                raise _without_tangent(operand.node)
            tangents.append(known[id(operand)][1] if id(operand) in known else None)
        if step.op in NO_GRADIENT or all(tangent is None for tangent in tangents):
            return
        outer = recorders()
        with recorded_by(*outer[: outer.index(self)]):
            results = _push(step, tangents)
        for output, result in zip(step.outputs, results):
            if result is not None and has_gradient(output):
                known[id(output)] = output, result
        # The rule that goes backwards has given a node more outputs.
        self.extended(step, step.outputs[len(results) :])
        mark_recorded([output for output in step.outputs if id(output) in known])

    def extended(self, node: Any, added: Sequence[Any]) -> None:
        """Note further outputs of a node whose tangents have been computed."""
        if any(id(output) in self._known for output in node.outputs):
            self._without.update((id(t), t) for t in added if has_gradient(t))


def _without_tangent(node: Any) -> GradientError:
    return GradientError(
        f"AG330: the node {node.name!r} is differentiated forwards and then backwards; "
        "open the tf.GradientTape outside of the accumulator"
    )


def _push(step: Any, tangents: Sequence[Any]) -> Sequence[Any]:
    """The tangents of the results of a step, from those of what it depends on."""
    if step.op == "ReadVariableOp":
        return tangents
    node = applied(step, [tangent is not None for tangent in tangents])
    in_attributes = any(t is not None for t in tangents[len(node.inputs) :])
    if step.op in PARTIALS and not in_attributes:
        return [_by_partials(node, tangents)]
    if step.op in LINEAR and not in_attributes:
        return _by_itself(node, tangents)
    return _by_transposing(step, tangents)


def _by_partials(node: Applied, tangents: Sequence[Any]) -> Any:
    (output,) = node.outputs
    total = None
    for tangent, partial in zip(tangents, PARTIALS[node.op]):
        if tangent is None or partial is None:
            continue
        factor = partial(*node.inputs, output)
        if factor is None:
            continue
        if not isinstance(factor, (int, float)) and factor.dtype.is_bool:
            tangent = broadcast_like(tangent, output)
        part = scaled(tangent, factor, at_pole=node.op in POLES)
        total = part if total is None else total + part
    return None if total is None else broadcast_like(total, output)


def _by_itself(node: Applied, tangents: Sequence[Any]) -> Sequence[Any]:
    moved = [
        x if not has_gradient(x) else zeros_like(x) if tangent is None else tangent
        for x, tangent in zip(node.inputs, tangents)
    ]
    found = run(node.op, *moved, **node.attrs)
    return found if isinstance(found, tuple) else (found,)


def _by_transposing(step: Any, tangents: Sequence[Any]) -> Sequence[Any]:
    needed, wanted = operands(step), [tangent is not None for tangent in tangents]
    # Rules are linear, so that it does not matter where they are differentiated; at 0
    # some go another way.
    seeds = [
        ones_like(output) if has_gradient(output) else None for output in step.outputs
    ]
    own = [seed for seed in seeds if seed is not None]
    recording = Recording()
    for seed in own:
        recording.watch(seed)
    with recorded_by(*recorders(), recording):
        mark_recorded(own)
        found = [
            None if gradient is None else dense(gradient)
            for gradient in step_back(step, seeds, wanted)
        ]
    along: dict[int, Any] = {}
    for operand, gradient, tangent in zip(needed, found, tangents):
        if gradient is not None and tangent is not None:
            tangent = with_rows_of(tangent, gradient, operand)
            known = along.get(id(gradient))
            along[id(gradient)] = tangent if known is None else known + tangent
    results = iter(backprop(recording.steps, along, own))
    return [None if seed is None else next(results) for seed in seeds]
