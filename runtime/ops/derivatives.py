"""The tables of derivatives, and how ops add to them.

* `partials` gives the derivative of an elementwise op by each operand. Backwards it is
  multiplied with the gradient of the result and added up over what was broadcast,
  forwards with the tangent of the operand.
* `linear` is for an op that is linear in its first input: its rule goes backwards, and
  forwards the op itself is run on the tangent.
* `gradient` is for others: a rule that is given the gradients of the results.
* `differentiated_as` gives other ops that compute the same, for a primitive, or for a
  composite whose decomposition would not do.

A rule stands beside its op; those that need tapes or loops are in `autodiff.rules`.
Rules apply public operations alone, so that an outer tape records them, and in a graph
they become nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Applied(NamedTuple):
    """An op that was applied, as rules see it."""

    op: str
    #: The tensors, without those that stand in attributes.
    inputs: Sequence[Any]
    #: The attributes, in which tensors may stand.
    attrs: dict[str, Any]
    outputs: Sequence[Any]
    #: Which of the inputs need a gradient.
    wanted: Sequence[bool]


#: ``rule(applied, *gradients)``: the gradients of the inputs, in order; None for an
#: input that has none or needs none. NotImplemented, where too little is known.
Rule = Callable[..., Sequence[Any]]
#: ``partial(*inputs, output)``: a tensor or number to multiply with, a bool tensor that
#: says where the gradient goes through, or None where the derivative is 0.
Partial = Callable[..., Any]

GRADIENTS: dict[str, Rule] = {}
PARTIALS: dict[str, tuple[Partial | None, ...]] = {}
#: Ops whose derivative is infinite somewhere: where the gradient is 0, the product is,
#: too, as in TensorFlow, so that `tf.where` can leave such a place out.
POLES: set[str] = set()
LINEAR: set[str] = set()
#: As `Op.decomposition`.
REWRITES: dict[str, Callable[..., Any]] = {}
#: Ops whose results do not depend on their inputs in a way that has a derivative.
NO_GRADIENT: set[str] = set()


def gradient(*ops: str) -> Callable[[Rule], Rule]:
    """Make the decorated function the rule of `ops`."""

    def add(rule: Rule) -> Rule:
        for op in ops:
            _check_free(op)
            GRADIENTS[op] = rule
        return rule

    return add


def linear(*ops: str) -> Callable[[Rule], Rule]:
    """As `gradient`, for ops that are linear in their tensors of floats."""
    LINEAR.update(ops)
    return gradient(*ops)


def differentiated_as(*ops: str) -> Callable[[Any], Any]:
    """Make the decorated function, of tensors and attributes, stand for `ops`."""

    def add(function: Any) -> Any:
        for op in ops:
            _check_free(op)
            REWRITES[op] = function
        return function

    return add


def partials(op: str, *derivatives: Partial | None, has_pole: bool = False) -> None:
    """Say the derivatives of an elementwise op by its operands; None: it is 0."""
    _check_free(op)
    PARTIALS[op] = derivatives
    if has_pole:
        POLES.add(op)


def without_gradient(*ops: str) -> None:
    """Say that gradients end at `ops`."""
    for op in ops:
        _check_free(op)
        NO_GRADIENT.add(op)


def _check_free(op: str) -> None:
    if op in GRADIENTS or op in PARTIALS or op in NO_GRADIENT or op in REWRITES:
        raise ValueError(f"the op {op!r} has a derivative already")
