"""Connectionist temporal classification: sequences without an alignment."""

from __future__ import annotations

import math
from typing import Any

from runtime.core.errors import UnimplementedError
from runtime.core.types import dtypes
from runtime.ops import late as tf
from runtime.ops.convert import as_tensor, cast
from runtime.ops.nn.softmax import log_softmax
from runtime.staging.control_flow.mapping import foldl

#: What an impossible transition adds to the logarithm of a probability. It is finite,
#: as TensorFlow's: an example that cannot be aligned does not spoil a batch.
_PENALTY = -707.0


def ctc_loss(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Any:
    """The negative logarithm of the probability of each sequence of labels.

    It is the sum over all alignments with the steps of the logits.

    Args:
        labels: integers, ``[batch, most labels]``, of which the first `label_length`
            count.
        logits: floats, ``[steps, batch, classes]``; ``[batch, steps, classes]`` if
            `logits_time_major` is False.
        label_length: integers, ``[batch]``.
        logit_length: integers, ``[batch]``: how many steps count.
        logits_time_major: whether steps are the first axis of `logits`.
        unique: ignored; TensorFlow computes the same with it.
        blank_index: the class of the blank, from the end if negative; 0 by default.
        name: ignored.

    Returns the losses, ``[batch]``. Labels that do not fit in the steps have a loss
    of about 707 or more.

    Raises UnimplementedError without `label_length` (that is for sparse labels),
    InvalidArgumentError for labels that are no classes, ValueError for shapes that do
    not fit.

    >>> even = [[[0.0, 0.0]], [[0.0, 0.0]]]  # the label: blank first, last, or never
    >>> print(ctc_loss([[1]], even, [1], [2]))
    tf.Tensor([0.287682...], shape=(1,), dtype=float32)
    """
    if label_length is None:
        raise UnimplementedError(
            "tf.nn.ctc_loss takes dense labels with their label_length; there are no "
            "sparse tensors here"
        )
    logits, labels = as_tensor(logits), cast(as_tensor(labels), dtypes.int32)
    if logits.shape.rank != 3 or labels.shape.rank != 2:
        raise ValueError(
            "ctc_loss takes labels of the shape [batch, labels] and logits of three "
            f"axes, not {labels.shape} and {logits.shape}"
        )
    label_length, logit_length = (
        cast(as_tensor(x), dtypes.int32)[:, None] for x in (label_length, logit_length)
    )
    if logits_time_major:
        logits = tf.transpose(logits, [1, 0, 2])
    blank = _class_of(blank_index or 0, logits)
    states = _with_blanks(labels, label_length, blank)
    scores = _final_scores(log_softmax(logits), logit_length, states)
    # The last label, or the blank after it.
    is_end = tf.equal((tf.range(tf.shape(states)[1]) + 1) // 2, label_length)
    ends = tf.where(is_end, scores, scores + _PENALTY)
    return -tf.reduce_logsumexp(ends, 1)


def _class_of(blank: int, logits: Any) -> Any:
    classes = logits.shape[2]
    if classes is not None and not -classes <= blank < classes:
        raise ValueError(f"blank_index {blank} is none of {classes} classes")
    return blank + tf.shape(logits)[2] if blank < 0 else blank


def _final_scores(logs: Any, logit_length: Any, states: Any) -> Any:
    """The logarithms of the probabilities to be in each state at the end."""
    emitted = tf.gather(logs, states, axis=2, batch_dims=1)
    # A label may follow another one directly, unless it is the same.
    may_skip = tf.not_equal(states, tf.roll(states, 2, 1))
    zero = tf.zeros_like(states[:, :1], logs.dtype)
    skip = tf.where(may_skip, zero, _PENALTY)

    def shifted(scores: Any, by: int) -> Any:
        padded = tf.pad(scores, [[0, 0], [by, 0]], constant_values=-math.inf)
        return padded[:, : tf.shape(scores)[1]]

    def step(scores: Any, item: Any) -> Any:
        emission, number = item
        ways = tf.stack([scores, shifted(scores, 1), shifted(scores, 2) + skip])
        after = tf.reduce_logsumexp(ways, 0) + emission
        return tf.where(number < logit_length, after, scores)

    # Before the first step only the first state is possible.
    start = tf.concat([zero, tf.zeros_like(skip)[:, 1:] + _PENALTY], 1)
    steps = tf.transpose(emitted, [1, 0, 2]), tf.range(tf.shape(logs)[1])
    return foldl(step, steps, start)


def _with_blanks(labels: Any, label_length: Any, blank: Any) -> Any:
    """The states of the alignment: blank, label, blank, label, …, blank."""
    batch, count = tf.unstack(tf.shape(labels))
    labels = tf.where(tf.range(count) < label_length, labels, blank)
    pairs = tf.stack([tf.fill([batch, count], blank), labels], -1)
    states = tf.reshape(pairs, [batch, 2 * count])
    return tf.pad(states, [[0, 0], [0, 1]], constant_values=blank)
