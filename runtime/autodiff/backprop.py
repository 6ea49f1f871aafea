"""Reverse accumulation: from the gradients of results to those of what they depend on.

What ran is a list of steps (of a tape) or nodes (of a graph). It is gone through from
the end. The gradients of the results of a step give those of its inputs, by a rule, and
where a tensor was used several times its gradients are added. Rules apply public
operations: in eager code these run at once, and are heard by the tapes that are open;
while a graph is built they become nodes. So gradients have gradients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runtime.autodiff.control_flow import RULES, operands
from runtime.autodiff.sparse import added, dense
from runtime.core.errors import GradientError
from runtime.core.graph import record
from runtime.core.graph.context import current_graph
from runtime.core.graph.recording import Recorder, Step, begin_recording, end_recording
from runtime.core.tensor import EagerTensor, Recorded, SymbolicTensor, Tensor
from runtime.core.types.shapes import UnknownRank
from runtime.ops.arrays.creation import zeros
from runtime.ops.arrays.gather import where
from runtime.ops.derivatives import (
    GRADIENTS,
    NO_GRADIENT,
    PARTIALS,
    POLES,
    REWRITES,
    Applied,
)
from runtime.ops.elementwise.arithmetic import multiply_no_nan
from runtime.ops.elementwise.complex_numbers import conj
from runtime.ops.elementwise.functions import negative
from runtime.ops.gradient_shapes import are_alike, rows_like, sum_to, zeros_of
from runtime.ops.operands import attributes_with_tensors


def load_rules() -> None:
    """Bring the rules of all ops, which programs without gradients do without."""
    from runtime.autodiff import branches, calls, custom, loop_gradients, rules  # noqa: F401


def applied(step: Any, wanted: Sequence[bool]) -> Applied:
    """A step of a tape, or a node, as rules see it."""
    inputs, attrs = attributes_with_tensors(step.inputs, step.attrs)
    return Applied(step.op, inputs, attrs, step.outputs, wanted)


def has_gradient(tensor: Any) -> bool:
    """Whether a tensor (or variable) is of a dtype that has gradients."""
    if isinstance(tensor, EagerTensor):
        return tensor._array.dtype.kind in "fc"
    dtype = tensor.dtype
    return bool(dtype.is_floating or dtype.is_complex)


class Recording(Recorder):
    """The steps that depend on some tensors: what a tape keeps.

    Tensors and variables are known by their ``id``, and kept alive.
    """

    def __init__(self) -> None:
        self.steps: list[Any] = []
        self.known: dict[int, Any] = {}
        self.repeats = 1

    def wants(self, operand: Any) -> bool:
        """Whether it records what is computed from a tensor or variable."""
        return id(operand) in self.known

    def watch(self, source: Any) -> None:
        """Begin to record what depends on a tensor or variable."""
        self.known[id(source)] = source

    def record(self, step: Any) -> None:
        """Keep a step that depends on what is known; its results are known, too."""
        known = self.known
        depends = False
        for operand in operands(step):
            if id(operand) in known or self._is_captured(operand):
                depends = True
        if not depends:
            return
        if step.op in NO_GRADIENT:
            return
        outputs = [tensor for tensor in step.outputs if has_gradient(tensor)]
        if not outputs:
            return
        self.steps.append(step)
        for tensor in outputs:
            known[id(tensor)] = tensor
        mark_recorded(outputs)

    def _is_captured(self, tensor: Any) -> bool:
        """Whether an inner graph has a tensor that is known from around it.

        Then the capture is a step, too.
        """
        outer = outside(tensor)
        if outer is None:
            return False
        if id(outer) not in self.known and not self._is_captured(outer):
            return False
        self.steps.append(Step("Identity", (outer,), {}, (tensor,)))
        self.known[id(tensor)] = tensor
        return True

    def extended(self, node: Any, added: Sequence[Any]) -> None:
        """Know the outputs that are added to a node whose others are known."""
        if any(id(tensor) in self.known for tensor in node.outputs):
            self.known.update((id(t), t) for t in added if has_gradient(t))


def outside(tensor: Any) -> Any:
    """What a graph has captured under the name of a tensor; None if that is nothing."""
    if not isinstance(tensor, SymbolicTensor) or tensor.node.op != "Placeholder":
        return None
    captures = tensor.graph.captures.items()
    return next((outer for outer, inner in captures if inner is tensor), None)


def mark_recorded(tensors: Iterable[Any]) -> None:
    """Send eager tensors the general way, on which tapes hear of operations.

    A `DeviceTensor` always goes that way.
    """
    for tensor in tensors:
        if type(tensor) is EagerTensor:
            tensor.__class__ = Recorded


def backprop(
    steps: Sequence[Any], gradients: Mapping[int, Any], sources: Iterable[Any]
) -> list[Any]:
    """The gradient of each of `sources`, or None where nothing depends on it.

    `gradients` are those of results, by the ``id`` of the tensor.
    """
    wanted = list(sources)
    places = {id(source) for source in wanted}
    passed = dependents(steps, set(places))
    found = dict(gradients)
    for step, needed, flags in reversed(passed):
        # No other step gives these: their gradients may go, but for those asked for.
        given = [
            (found.get if id(tensor) in places else found.pop)(id(tensor), None)
            for tensor in step.outputs
        ]
        if all(gradient is None for gradient in given):
            continue
        results = step_back(step, given, flags)
        if any(flags[len(results) :]):
            raise _no_rule(step)  # by what stands in an attribute
        for operand, flag, result in zip(needed, flags, results):
            if flag and result is not None and has_gradient(operand):
                known = found.get(id(operand))
                found[id(operand)] = (
                    result if known is None else added(known, result, operand)
                )
    return [found.get(id(source)) for source in wanted]


def dependents(
    steps: Iterable[Any], reached: set[int]
) -> list[tuple[Any, Sequence[Any], list[bool]]]:
    """The steps that depend on tensors whose ``id`` is in `reached`, in order.

    With each go its operands (which a rule may add to), and which of them depend on
    these. The results that do are added to `reached`.
    """
    passed = []
    for step in steps:
        needed = operands(step)
        flags = [id(operand) in reached for operand in needed]
        if any(flags) and step.op not in NO_GRADIENT:
            passed.append((step, needed, flags))
            reached.update(id(t) for t in step.outputs if has_gradient(t))
    return passed


def step_back(
    step: Any, gradients: Sequence[Any], wanted: Sequence[bool]
) -> Sequence[Any]:
    """The gradients of what a step depends on, from those of its results."""
    try:
        return _by_rule(step, gradients, wanted)
    except UnknownRank:
        raise _no_rule(step) from None


def _by_rule(
    step: Any, gradients: Sequence[Any], wanted: Sequence[bool]
) -> Sequence[Any]:
    op = step.op
    if op == "ReadVariableOp":
        return gradients
    if op in NO_GRADIENT:
        return [None] * len(wanted)
    full = [None if g is None else dense(g) for g in gradients]
    if op in RULES:
        return RULES[op](step, full, wanted)
    for place, (gradient, output) in enumerate(zip(full, step.outputs)):
        if gradient is None or are_alike(gradient, output):
            continue
        if output.shape.rank and output.shape[0] is not None:
            full[place] = rows_like(gradient, output)
    node = applied(step, wanted)
    if op in PARTIALS:
        return _by_partials(node, full[0])
    if op in GRADIENTS:
        for place, (gradient, output) in enumerate(zip(full, node.outputs)):
            if gradient is None and has_gradient(output):
                full[place] = zeros_of(output)
        results = GRADIENTS[op](node, *full)
        if results is not NotImplemented:
            return results
    decomposition = REWRITES.get(op) or record.get(op).decomposition
    if decomposition is not None and _is_pure(op):
        found = _by_decomposition(step, wanted, decomposition, full)
        if found is not None:
            return found
    raise _no_rule(step)


def _by_partials(node: Applied, gradient: Any) -> list[Any]:
    """Backwards through an elementwise op."""
    results: list[Any] = []
    for place, partial in enumerate(PARTIALS[node.op]):
        if partial is None or not node.wanted[place]:
            results.append(None)
            continue
        factor = partial(*node.inputs, *node.outputs)
        at_pole = node.op in POLES
        through = None if factor is None else scaled(gradient, factor, True, at_pole)
        if through is not None and len(node.inputs) > 1:
            others = [x for i, x in enumerate(node.inputs) if i != place]
            through = sum_to(through, node.inputs[place], others)
        results.append(through)
    return results


def scaled(
    gradient: Any, factor: Any, backwards: bool = False, at_pole: bool = False
) -> Any:
    """A gradient (or tangent) times what a partial derivative gave, which may be
    infinite ``at_pole``.
    """
    if isinstance(factor, (int, float)):
        if factor == 1:
            return gradient
        return negative(gradient) if factor == -1 else gradient * factor
    if factor.dtype.is_bool:
        return where(factor, gradient, zeros([], gradient.dtype))
    if backwards and factor.dtype.is_complex:
        factor = conj(factor)
    if at_pole:
        return multiply_no_nan(factor, gradient)
    # A public function would make a float32 of what stands for a float of Python.
    return gradient * factor


def _is_pure(op: str) -> bool:
    definition = record.get(op)
    return not definition.stateful and definition.family not in ("random", "buffer")


def _by_decomposition(
    step: Any, wanted: Sequence[bool], decomposition: Any, gradients: Sequence[Any]
) -> list[Any] | None:
    """Backwards through the ops that a composite is made of; None: too little known."""
    graph, inputs = current_graph(), step.inputs
    if graph is not None:
        # What is recorded is recorded of the tensors of this graph.
        inputs = [graph.capture(tensor) for tensor in inputs]
    node = applied(Step(step.op, inputs, step.attrs, step.outputs), wanted)
    recording = Recording()
    for tensor, is_wanted in zip(inputs, wanted):
        if is_wanted:
            recording.watch(tensor)
    mark_recorded(recording.known.values())
    begin_recording(recording)
    try:
        found = decomposition(*node.inputs, **node.attrs)
    finally:
        end_recording(recording)
    if found is NotImplemented:
        return None
    values = found if isinstance(found, tuple) else (found,)
    seeds: dict[int, Any] = {}
    for value, gradient in zip(values, gradients):
        if gradient is not None:
            known = seeds.get(id(value))
            seeds[id(value)] = (
                gradient if known is None else added(known, gradient, value)
            )
    # A tensor that is given twice has its gradient in the first place.
    places = {id(tensor): place for place, tensor in reversed(list(enumerate(inputs)))}
    results: list[Any] = [None] * len(inputs)
    sources = [inputs[place] for place in places.values()]
    for place, result in zip(
        places.values(), backprop(recording.steps, seeds, sources)
    ):
        results[place] = result
    return results


def _no_rule(step: Any) -> GradientError:
    location = getattr(step, "location", None)
    where_text = f"{location[0]}:{location[1]}: " if location else ""
    shapes = ", ".join(
        f"{tensor.dtype.name}{tensor.shape}"
        for tensor in step.inputs
        if isinstance(tensor, Tensor)
    )
    ranks = [t.shape.rank for t in step.inputs if isinstance(t, Tensor)]
    advice = (
        "use other operations" if None not in ranks else "tf.ensure_shape says more"
    )
    return GradientError(
        f"{where_text}AG330: the operation {step.op}({shapes}) is not differentiable; "
        f"{advice}, or tf.stop_gradient for what is to count as a constant"
    )
