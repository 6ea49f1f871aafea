"""Losses over a sample of the classes: gradients, executors, training.

`tests/runtime/names` compares losses with those of TensorFlow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.autodiff.checks import check_grads

RNG = np.random.default_rng(0)
WEIGHTS, BIASES, INPUTS = (
    tf.constant(RNG.normal(size=size)) for size in ((8, 3), (8,), (2, 3))
)
LABELS = [[1, 3], [2, 2]]
SAMPLE = ([2, 5, 1, 7], [[0.5, 0.3], [0.2, 0.9]], [0.3, 0.4, 0.9, 0.8])
LOSSES = (tf.nn.sampled_softmax_loss, tf.nn.nce_loss)


def of(loss: Any) -> Any:
    return lambda w, b, x: loss(
        w, b, LABELS, x, 4, 8, 2, SAMPLE, remove_accidental_hits=True
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_those_of_small_steps(loss: Any) -> None:
    check_grads(of(loss), [WEIGHTS, BIASES, INPUTS])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("executor", ["numpy", "native", "xla"])
def test_executors_compute_the_same(loss: Any, executor: str) -> None:
    library = {"native": "llvmlite", "xla": "jax"}.get(executor)
    if library is not None:
        pytest.importorskip(library)
    given = WEIGHTS, BIASES, INPUTS
    found = tf.function(of(loss), executor=executor)(*given)
    np.testing.assert_allclose(found, of(loss)(*given), 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_variable_has_gradients_for_the_rows_of_the_sample(loss: Any) -> None:
    weights = tf.Variable(WEIGHTS)
    with tf.GradientTape() as tape:
        y = of(loss)(weights, BIASES, INPUTS)

    gradient = tape.gradient(y, weights)
    assert isinstance(gradient, tf.IndexedSlices)
    assert {*gradient.indices.numpy().tolist()} == {1, 2, 3, 5, 7}


@pytest.mark.parametrize("loss", LOSSES)
def test_all_classes_as_a_sample_of_their_own(loss: Any) -> None:
    """With every other class in the sample the softmax is that of all classes."""
    labels, sample = [[1], [2]], (range(8), np.ones((2, 1)), np.ones(8))
    found = loss(
        WEIGHTS, BIASES, labels, INPUTS, 8, 8, 1, sample, remove_accidental_hits=True
    )

    logits = INPUTS @ tf.transpose(WEIGHTS) + BIASES
    if loss is tf.nn.nce_loss:
        hot = tf.one_hot([1, 2], 8, dtype=tf.float64)
        each = tf.nn.sigmoid_cross_entropy_with_logits(hot, logits)
        expected = tf.reduce_sum(each, 1)
    else:
        expected = tf.nn.sparse_softmax_cross_entropy_with_logits([1, 2], logits)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_samples_of_its_own(loss: Any) -> None:
    found = tf.function(lambda: loss(WEIGHTS, BIASES, [[1], [2]], INPUTS, 4, 8))
    first, second = found().numpy(), found().numpy()

    assert np.isfinite(first).all()
    assert first.shape == (2,)
    assert (first != second).any() or (found().numpy() != first).any()
    with pytest.raises(tf.errors.InvalidArgumentError, match="range_max - 1 = 7"):
        loss(WEIGHTS, BIASES, [[1], [8]], INPUTS, 4, 8)
