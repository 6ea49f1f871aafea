"""Cross entropies and other losses of ``tf.nn``."""

from __future__ import annotations

from typing import Any

from runtime.ops.arguments import together
from runtime.ops.arrays.gather import gather
from runtime.ops.convert import as_tensor
from runtime.ops.elementwise.arithmetic import add, maximum, minimum, multiply, subtract
from runtime.ops.elementwise.functions import exp, log1p, negative, square
from runtime.ops.nn.softmax import log_softmax
from runtime.ops.reduce.reductions import reduce_sum


def l2_loss(t: Any, name: str | None = None) -> Any:
    """Half of the sum of squares."""
    return multiply(reduce_sum(square(t)), 0.5, name=name)


def sigmoid_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Any:
    """The cross entropy of probabilities `labels` and ``sigmoid(logits)``.

    >>> print(sigmoid_cross_entropy_with_logits([1.0], [0.0]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    target, x = together((labels, logits), "LogisticLoss", name)
    _check_shapes(target, x)
    # max(x, 0) - x * z + log(1 + exp(-|x|)) does not overflow for any x. At 0, where
    # the first of two equal operands has the gradient, -|x| has -1 with that of max.
    linear = subtract(maximum(x, 0), multiply(x, target))
    return add(linear, log1p(exp(minimum(negative(x), x))), name=name)


def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Any:
    """As `sigmoid_cross_entropy_with_logits`, with errors on positives weighted."""
    target, x = together((labels, logits), "LogisticLoss", name)
    _check_shapes(target, x)
    weight = add(1, multiply(subtract(pos_weight, 1), target))
    tail = add(log1p(exp(minimum(x, negative(x)))), maximum(negative(x), 0))
    return add(multiply(subtract(1, target), x), multiply(weight, tail), name=name)


def _check_shapes(labels: Any, logits: Any) -> None:
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(
            f"labels and logits must have one shape, not {labels.shape} and "
            f"{logits.shape}"
        )


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = -1, name: str | None = None
) -> Any:
    """The cross entropy of probabilities `labels` and ``softmax(logits)``."""
    target, x = together((labels, logits), "SoftmaxCrossEntropyWithLogits", name)
    terms = multiply(target, log_softmax(x, axis))
    return negative(reduce_sum(terms, axis), name=name)


def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Any:
    """The cross entropy of the classes `labels` and ``softmax(logits)``.

    >>> print(sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    classes, x = as_tensor(labels), as_tensor(logits)
    if x.shape.rank is not None and classes.shape.rank != x.shape.rank - 1:
        raise ValueError(
            f"labels of shape {classes.shape} do not fit logits of shape {x.shape}: "
            "they have one axis less"
        )
    rank = classes.shape.rank
    if rank is None:
        raise ValueError("the rank of labels must be known")
    picked = gather(log_softmax(x), classes, axis=-1, batch_dims=rank)
    return negative(picked, name=name)
