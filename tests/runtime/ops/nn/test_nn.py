"""Activations, losses, dropout and normalisation, against NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec

RANDOM = np.random.default_rng(0)
X = (3 * RANDOM.normal(size=(4, 5))).astype(np.float32)


def softmax(x: Any, axis: int = -1) -> Any:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


# --- activations ----------------------------------------------------------------------

ACTIVATIONS = [
    (tf.nn.relu, lambda x: np.maximum(x, 0)),
    (tf.nn.relu6, lambda x: np.clip(x, 0, 6)),
    (tf.nn.elu, lambda x: np.where(x > 0, x, np.expm1(x))),
    (tf.nn.selu, lambda x: 1.05070098 * np.where(x > 0, x, 1.67326324 * np.expm1(x))),
    (tf.nn.leaky_relu, lambda x: np.where(x > 0, x, 0.2 * x)),
    (lambda t: tf.nn.leaky_relu(t, 0.5), lambda x: np.where(x > 0, x, 0.5 * x)),
    (tf.nn.silu, lambda x: x * sigmoid(x)),
    (lambda t: tf.nn.swish(t, 2.0), lambda x: x * sigmoid(2 * x)),
    (
        tf.nn.gelu,
        lambda x: x * np.vectorize(lambda v: 0.5 * (1 + math.erf(v / 2**0.5)))(x),
    ),
    (
        lambda t: tf.nn.gelu(t, approximate=True),
        lambda x: 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))),
    ),
    (tf.nn.softmax, softmax),
    (lambda t: tf.nn.softmax(t, 0), lambda x: softmax(x, 0)),
    (tf.nn.log_softmax, lambda x: np.log(softmax(x))),
    (tf.nn.crelu, lambda x: np.maximum(np.concatenate([x, -x], -1), 0)),
    (tf.nn.tanh, np.tanh),
    (tf.nn.sigmoid, sigmoid),
    (tf.nn.softplus, lambda x: np.log1p(np.exp(x))),
    (tf.nn.softsign, lambda x: x / (1 + np.abs(x))),
]


@pytest.mark.parametrize(("function", "numpy"), ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations(agree: Any, function: Any, numpy: Any, dtype: str) -> None:
    x = X.astype(dtype)

    (found,) = agree(function, x, tolerance=1e-6)

    np.testing.assert_allclose(found, numpy(x), rtol=1e-4, atol=1e-6)
    assert found.dtype == x.dtype


def test_activations_of_integers() -> None:
    assert tf.nn.relu([-1, 2]).numpy().tolist() == [0, 2]
    assert tf.nn.leaky_relu([-1, 2]).dtype is tf.float32


def test_softmax_does_not_overflow(agree: Any) -> None:
    probabilities, logs = agree(
        lambda t: [tf.nn.softmax(t), tf.nn.log_softmax(t)], np.float32([1000, 0, -1000])
    )

    assert probabilities.tolist() == [1, 0, 0]
    assert logs.tolist() == [0, -1000, -2000]


def test_softmax_of_nothing() -> None:
    assert tf.nn.softmax(tf.zeros([0, 3])).shape == [0, 3]


# --- losses ---------------------------------------------------------------------------


def test_cross_entropies(agree: Any) -> None:
    probabilities, classes = (
        softmax(RANDOM.normal(size=(4, 5))).astype("float32"),
        [0, 4, 2, 1],
    )

    bits, weighted, dense, sparse = agree(
        lambda p, c, x: [
            tf.nn.sigmoid_cross_entropy_with_logits(labels=p, logits=x),
            tf.nn.weighted_cross_entropy_with_logits(p, x, 2.0),
            tf.nn.softmax_cross_entropy_with_logits(labels=p, logits=x),
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=c, logits=x),
        ],
        probabilities,
        classes,
        X,
        known=("full", "partial"),
        tolerance=1e-6,
    )

    p, q, logs = probabilities, sigmoid(X), np.log(softmax(X))
    expected = -p * np.log(q) - (1 - p) * np.log(1 - q)
    np.testing.assert_allclose(bits, expected, rtol=1e-4)
    expected = -2 * p * np.log(q) - (1 - p) * np.log(1 - q)
    np.testing.assert_allclose(weighted, expected, rtol=1e-4)
    np.testing.assert_allclose(dense, -(p * logs).sum(-1), rtol=1e-4)
    np.testing.assert_allclose(sparse, -logs[range(4), classes], rtol=1e-4)


@pytest.mark.parametrize("executor", ["numpy", "native"])
def test_gradients_of_cross_entropies_at_zero(executor: str) -> None:
    """An untrained model gives logits of 0, where the formula has kinks."""

    @tf.function(executor=executor)
    def slopes(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            plain = tf.nn.sigmoid_cross_entropy_with_logits([0.0, 0.3, 1.0], x)
            weighted = tf.nn.weighted_cross_entropy_with_logits([0.0, 1.0, 1.0], x, 3.0)
        return tape.gradient(plain, x), tape.gradient(weighted, x)

    plain, weighted = slopes(tf.zeros([3]))

    np.testing.assert_allclose(plain, [0.5, 0.2, -0.5], rtol=1e-6)
    np.testing.assert_allclose(weighted, [0.5, -1.5, -1.5], rtol=1e-6)


def test_sparse_cross_entropy_of_a_sequence() -> None:
    logits, labels = tf.zeros([2, 3, 4]), tf.zeros([2, 3], tf.int64)

    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)

    np.testing.assert_allclose(loss.numpy(), np.full((2, 3), np.log(4)), rtol=1e-6)


def test_l2_loss() -> None:
    assert tf.nn.l2_loss([3.0, 4.0]).numpy() == 12.5


def test_large_logits() -> None:
    loss = tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], [-1000.0, 1000.0])

    assert loss.numpy().tolist() == [1000, 1000]


# --- layers ---------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.5, 0.2, tf.constant(0.5)])
def test_dropout(rate: Any) -> None:
    x = tf.ones([1000])

    found = tf.nn.dropout(x, rate, seed=1).numpy()

    assert set(np.unique(found).tolist()) <= {
        0.0,
        float(np.float32(1 / (1 - float(rate)))),
    }
    assert abs(found.mean() - 1) < 0.1


def test_dropout_of_whole_rows(agree: Any) -> None:
    @tf.function(autograph=False)
    def dropped(x: Any) -> Any:
        return tf.nn.dropout(x, 0.5, noise_shape=[None, 1], seed=3)

    found = dropped(tf.ones([50, 4])).numpy()

    assert set(found.sum(1).tolist()) == {0.0, 8.0}
    assert (dropped(tf.ones([50, 4])).numpy() != found).any()


def test_no_dropout() -> None:
    x = tf.ones([3])

    assert tf.nn.dropout(x, 0) is x
    with pytest.raises(ValueError, match=r"rate must be in \[0, 1\)"):
        tf.nn.dropout(x, 1)
    with pytest.raises(ValueError, match="needs floating numbers"):
        tf.nn.dropout([1], 0.5)


def test_bias_and_normalisation(agree: Any) -> None:
    x, bias = X.reshape(2, 2, 5), np.arange(5, dtype="float32")

    last, second, normal, plain = agree(
        lambda t, b: [
            tf.nn.bias_add(t, b),
            tf.nn.bias_add(t, b[:2], data_format="NCHW"),
            tf.nn.batch_normalization(t, b, b + 1, b, b + 2, 1e-3),
            tf.nn.batch_normalization(t, b, b + 1, None, None, 1e-3),
        ],
        x,
        bias,
        known=("full", "partial"),
        tolerance=1e-6,
    )

    np.testing.assert_array_equal(last, x + bias)
    np.testing.assert_array_equal(second, x + bias[:2, None])
    unit = (x - bias) / np.sqrt(bias + 1 + 1e-3)
    np.testing.assert_allclose(normal, unit * (bias + 2) + bias, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(plain, unit, rtol=1e-4, atol=1e-5)


def test_embedding_lookup(agree: Any) -> None:
    table = np.float32([[3, 4], [0.3, 0.4]])

    rows, clipped = agree(
        lambda t, i: [
            tf.nn.embedding_lookup(t, i),
            tf.nn.embedding_lookup(t, i, max_norm=1.0),
        ],
        table,
        [1, 0, 0],
        known=("full", "partial"),
    )

    np.testing.assert_array_equal(rows, table[[1, 0, 0]])
    np.testing.assert_allclose(
        clipped, np.float32([[0.3, 0.4], [0.6, 0.8], [0.6, 0.8]])
    )


# --- errors ---------------------------------------------------------------------------

BAD = [
    (lambda: tf.nn.softmax([1, 2]), "Softmax: it does not take a int32"),
    (lambda: tf.nn.softmax([1.0], 1), "axis 1 is outside"),
    (lambda: tf.nn.log_softmax(1.0), "LogSoftmax: axis -1 is outside"),
    (lambda: tf.nn.bias_add([[1.0]], [[1.0]]), "bias must be a vector"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function()
    with (
        building(Graph("g")),
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        function()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda: tf.nn.sigmoid_cross_entropy_with_logits([1.0], [1.0, 2.0]),
            "must have one shape",
        ),
        (
            lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([[1]], [[1.0, 2.0]]),
            "they have one axis less",
        ),
        (lambda: tf.nn.bias_add([1.0], [1.0], "CHW"), "data_format must be"),
    ],
)
def test_arguments(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function()


def test_ranks_that_must_be_known() -> None:
    graph = Graph("g")
    with building(graph):
        x = graph.add_input(TensorSpec(None))
        labels = graph.add_input(TensorSpec(None, tf.int32))
        with pytest.raises(ValueError, match="rank of labels must be known"):
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
        with pytest.raises(ValueError, match="rank of the value must be known"):
            tf.nn.bias_add(x, [1.0], "NCHW")
