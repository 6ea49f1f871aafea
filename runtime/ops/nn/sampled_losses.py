"""Losses that compare true classes with a sample of all others."""

from __future__ import annotations

from typing import Any

from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.convert import as_tensor, cast
from runtime.ops.nn.losses import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
)
from runtime.ops.random.candidates import log_uniform_candidate_sampler


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: Any = None,
    name: str = "sampled_softmax_loss",
) -> Any:
    """The cross entropy of softmax over the true classes and a sample: for training.

    Args:
        weights: ``[num_classes, dim]``, or a list of tensors that are its rows.
        biases: ``[num_classes]``.
        labels: integers, ``[batch, num_true]``.
        inputs: ``[batch, dim]``.
        num_sampled, num_classes, num_true: how many classes are drawn for a batch,
            how many there are, and how many of these are true for an example.
        sampled_values: what a sampler gave; by default that of
            `tf.random.log_uniform_candidate_sampler`, each class once.
        remove_accidental_hits: whether sampled classes that are true ones of an
            example count nothing there.
        seed: the seed of the sampler.

    Returns the losses, ``[batch]``. Raises InvalidArgumentError for labels that are
    no classes.

    >>> drawn = ([1], [[1.0]], [1.0])
    >>> ones = [[1.0], [1.0], [1.0]], [0.0, 0.0, 0.0]
    >>> print(sampled_softmax_loss(*ones, [[0]], [[1.0]], 1, 3, sampled_values=drawn))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    sampler = num_sampled, num_classes, seed
    layer = weights, biases, labels, inputs, num_true
    logits, targets = _logits(sampler, layer, sampled_values, remove_accidental_hits)
    return softmax_cross_entropy_with_logits(targets, logits)


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Any:
    """The loss of noise-contrastive estimation: true classes told from sampled ones.

    The arguments are those of `sampled_softmax_loss`.

    >>> drawn = ([1], [[1.0]], [1.0])
    >>> zeros = [[0.0], [0.0], [0.0]], [0.0, 0.0, 0.0]
    >>> print(nce_loss(*zeros, [[0]], [[1.0]], 1, 3, sampled_values=drawn))
    tf.Tensor([1.3862944], shape=(1,), dtype=float32)
    """
    sampler = num_sampled, num_classes, None
    layer = weights, biases, labels, inputs, num_true
    logits, targets = _logits(sampler, layer, sampled_values, remove_accidental_hits)
    return tf.reduce_sum(sigmoid_cross_entropy_with_logits(targets, logits), 1)


def _logits(
    sampler: Any, layer: Any, sampled_values: Any, without_hits: bool
) -> tuple[Any, Any]:
    """The logits of the true and the sampled classes, and their probabilities."""
    weights, biases, labels, inputs, num_true = layer
    if sampled_values is None:
        count, classes, seed = sampler
        sampled_values = log_uniform_candidate_sampler(
            labels, num_true, count, True, classes, seed
        )
    if isinstance(weights, (list, tuple)) and as_tensor(weights[0]).shape.rank == 2:
        weights = tf.concat(weights, 0)
    inputs = as_tensor(inputs)
    labels = cast(as_tensor(labels), dtypes.int64)
    sampled, *counts = map(as_tensor, sampled_values)
    sampled = cast(sampled, dtypes.int64)
    true_count, sampled_count = (
        tf.stop_gradient(cast(c, inputs.dtype)) for c in counts
    )

    # One lookup, whose gradient has a row for each class of the sample.
    ids = tf.concat([tf.reshape(labels, [-1]), sampled], 0)
    rows, offsets = tf.gather(weights, ids), tf.gather(biases, ids)
    parts = [tf.size(labels), tf.size(sampled)]
    (true_rows, sampled_rows), (true_offsets, sampled_offsets) = (
        tf.split(x, parts) for x in (rows, offsets)
    )
    true_rows = tf.reshape(true_rows, [-1, num_true, rows.shape[-1]])
    true = tf.reduce_sum(true_rows * inputs[:, None], -1)
    true += tf.reshape(true_offsets, [-1, num_true]) - tf.log(true_count)
    others = tf.matmul(inputs, sampled_rows, transpose_b=True)
    others += sampled_offsets - tf.log(sampled_count)
    if without_hits:
        hits = tf.reduce_any(tf.equal(labels[:, :, None], sampled), 1)
        others = tf.where(hits, inputs.dtype.min, others)
    logits = tf.concat([true, others], 1)
    targets = tf.concat([tf.ones_like(true) / num_true, tf.zeros_like(others)], 1)
    return logits, tf.stop_gradient(targets)
