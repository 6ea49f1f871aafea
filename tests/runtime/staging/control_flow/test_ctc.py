"""``tf.nn.ctc_loss``: sums over alignments, gradients, executors, and refusals.

`tests/runtime/names` compares losses with those of TensorFlow.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.autodiff.checks import check_grads

LOGITS = np.random.default_rng(0).normal(size=(4, 3, 3))
LABELS = tf.constant([[1, 2, 9], [1, 1, -1], [2, 0, 0]])
LABEL_LENGTH = tf.constant([2, 2, 0])
LOGIT_LENGTH = tf.constant([4, 3, 2])


def loss(logits: Any) -> Any:
    return tf.nn.ctc_loss(LABELS, logits, LABEL_LENGTH, LOGIT_LENGTH)


def by_alignments(logits: Any, labels: list[int], blank: int = 0) -> float:
    """The definition: all ways to say these labels, one class for each step."""
    logs = logits - np.logaddexp.reduce(logits, -1, keepdims=True)
    ways = [
        sum(logs[step, c] for step, c in enumerate(way))
        for way in itertools.product(range(logits.shape[1]), repeat=len(logits))
        if [c for c, _ in itertools.groupby(way) if c != blank] == labels
    ]
    return -float(np.logaddexp.reduce(ways))


def test_the_sum_of_all_alignments() -> None:
    expected = [
        by_alignments(LOGITS[:length, i], LABELS[i].numpy().tolist()[:count])
        for i, (length, count) in enumerate(zip([4, 3, 2], [2, 2, 0]))
    ]

    np.testing.assert_allclose(loss(LOGITS), expected)
    batch_first = np.transpose(LOGITS, [1, 0, 2])[..., [1, 2, 0]]  # and the blank last
    found = tf.nn.ctc_loss(
        LABELS - 1, batch_first, LABEL_LENGTH, LOGIT_LENGTH, False, blank_index=-1
    )
    np.testing.assert_allclose(found, expected)


def test_gradients_are_those_of_small_steps() -> None:
    check_grads(loss, [tf.constant(LOGITS)])


def test_a_gradient_of_tensorflow() -> None:
    logits = tf.Variable(tf.sin(tf.reshape(tf.range(12.0), [3, 1, 4])))
    with tf.GradientTape() as tape:
        y = tf.nn.ctc_loss([[1, 2]], logits, [2], [3])

    expected = [
        [0.112499, -0.635102, 0.357004, 0.165599],
        [0.043731, 0.004423, -0.593421, 0.545266],
        [-0.141454, 0.293331, -0.223341, 0.071464],
    ]
    np.testing.assert_allclose(tape.gradient(y, logits)[:, 0], expected, 1e-4, 1e-5)


@pytest.mark.parametrize("executor", ["numpy", "native", "xla"])
def test_executors_compute_the_same(executor: str) -> None:
    library = {"native": "llvmlite", "xla": "jax"}.get(executor)
    if library is not None:
        pytest.importorskip(library)

    def both(logits: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(logits)
            y = loss(logits)
        return y, tape.gradient(y, logits)

    logits = tf.constant(LOGITS)
    spec = logits.spec if executor == "xla" else tf.TensorSpec([None] * 3, tf.float64)
    found = tf.function(both, input_signature=[spec], executor=executor)(logits)
    for one, expected in zip(found, both(logits)):
        np.testing.assert_allclose(one, expected, 1e-12, 1e-12)


def test_labels_that_do_not_fit_do_not_spoil_a_batch() -> None:
    logits = tf.Variable(LOGITS)
    with tf.GradientTape() as tape:
        y = tf.nn.ctc_loss(LABELS, logits, LABEL_LENGTH, [4, 2, 0])

    assert y[1] > 700
    assert y[2] == 0
    assert np.isfinite(tape.gradient(y, logits)).all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"label_length": None}, tf.errors.UnimplementedError, "no sparse tensors"),
        ({"labels": [1, 2, 3]}, ValueError, r"\[batch, labels\] and logits of three"),
        ({"labels": [[1], [3], [1]]}, tf.errors.InvalidArgumentError, "3 is not in"),
        ({"labels": [[1]]}, tf.errors.InvalidArgumentError, "must be equal"),
        ({"blank_index": 3}, ValueError, "3 is none of 3 classes"),
    ],
)
def test_refusals(change: Any, error: Any, message: str) -> None:
    given = dict(
        labels=LABELS, logits=LOGITS, label_length=[1, 1, 1], logit_length=[4, 4, 4]
    )
    for compute in (tf.nn.ctc_loss, tf.function(tf.nn.ctc_loss)):
        with pytest.raises(error, match=message):
            compute(**given | change)
