"""Means and variances by weights or from sums, and what normalizes by neighbours."""

from __future__ import annotations

from math import pi
from typing import Any

from runtime.ops import late as tf
from runtime.ops.convert import as_tensor, cast, constant


def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean and the variance along axes, where elements count by their weights.

    >>> mean, variance = weighted_moments([1.0, 4.0], [0], [2.0, 1.0])
    >>> mean.numpy(), variance.numpy()
    (np.float32(2.0), np.float32(2.0))
    """
    x = as_tensor(x)
    weights = cast(frequency_weights, x.dtype)
    x, weights = x + tf.zeros_like(weights), weights + tf.zeros_like(x)
    total = tf.reduce_sum(weights, axes, keepdims=True)
    mean = tf.reduce_sum(weights * x, axes, keepdims=True) / total
    squares = tf.squared_difference(x, tf.stop_gradient(mean))
    variance = tf.reduce_sum(weights * squares, axes, keepdims=True) / total
    if keepdims:
        return mean, variance
    return tf.squeeze(mean, axes), tf.squeeze(variance, axes)


def sufficient_statistics(
    x: Any,
    axes: Any,
    shift: Any = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Any, Any, Any, Any]:
    """What `normalize_moments` needs: the count, the sum and the sum of squares along
    axes, of the elements less `shift`; and `shift`.
    """
    x = as_tensor(x)
    ones = cast(tf.reduce_sum(tf.ones_like(x), axes, keepdims=True), x.dtype)
    count = tf.reshape(ones, [-1])[0]
    moved = x if shift is None else x - shift
    sums = tf.reduce_sum(moved, axes, keepdims=keepdims)
    squares = tf.reduce_sum(tf.square(moved), axes, keepdims=keepdims)
    return count, sums, squares, None if shift is None else as_tensor(shift)


def normalize_moments(
    counts: Any,
    mean_ss: Any,
    variance_ss: Any,
    shift: Any,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean and the variance, of what `sufficient_statistics` gave.

    >>> sums = sufficient_statistics([1.0, 3.0], [0])
    >>> [moment.numpy().item() for moment in normalize_moments(*sums)]
    [2.0, 1.0]
    """
    counts = as_tensor(counts)
    moved = as_tensor(mean_ss) / counts
    variance = as_tensor(variance_ss) / counts - tf.square(moved)
    return (moved if shift is None else moved + shift), variance


def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Any:
    """Elements over a power of the sum of squares of their neighbours among channels.

    A. Krizhevsky, I. Sutskever, G. Hinton, "ImageNet classification with deep
    convolutional neural networks", 2012, section 3.3.

    >>> local_response_normalization([[[[1.0, 0.0]]]], 1, bias=3).numpy().tolist()
    [[[[0.5, 0.0]]]]
    """
    x = as_tensor(input)
    reach, depth = 2 * depth_radius + 1, tf.shape(x)[-1]
    padded = tf.pad(tf.square(x), [[0, 0]] * 3 + [[depth_radius, depth_radius]])
    squares = tf.add_n([padded[..., i : i + depth] for i in range(reach)])
    return x / tf.pow(bias + alpha * squares, beta)


lrn = local_response_normalization


def log_poisson_loss(
    targets: Any,
    log_input: Any,
    compute_full_loss: bool = False,
    name: str | None = None,
) -> Any:
    """The negative log of the probability of counts by a Poisson distribution.

    `log_input` is the log of its mean. The full loss has Stirling's approximation of
    the term that only `targets` determine, where they are larger than 1.

    >>> log_poisson_loss([2.0], [0.0]).numpy().tolist()
    [1.0]
    """
    targets, log_input = as_tensor(targets), as_tensor(log_input)
    if not targets.shape.is_compatible_with(log_input.shape):
        raise ValueError(f"the shapes {targets.shape} and {log_input.shape} differ")
    loss = tf.exp(log_input) - log_input * targets
    if not compute_full_loss:
        return loss
    half = constant(0.5, targets.dtype)
    stirling = targets * tf.log(targets) - targets + half * tf.log(2 * pi * targets)
    small = tf.logical_and(targets >= 0, targets <= 1)
    return loss + tf.where(small, tf.zeros_like(targets), stirling)
