"""The derivatives of ops beside central differences, to the second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import runtime as tf
from tests.runtime.gradients.checks import check_grads, sample

X = sample(2, 3)
POSITIVE = sample(2, 3, low=0.3, high=2.0, seed=1)
INSIDE = sample(2, 3, low=-0.8, high=0.8, seed=2)
ROW = sample(3, low=0.4, high=1.7, seed=3)
SQUARE = tf.constant([[2.0, 0.3, -0.4], [0.5, 3.0, 0.2], [-0.1, 0.6, 2.5]], tf.float64)

UNARY: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "abs": (tf.abs, X),
    "acos": (tf.acos, INSIDE),
    "acosh": (tf.acosh, POSITIVE + 1.0),
    "asin": (tf.asin, INSIDE),
    "asinh": (tf.asinh, X),
    "atan": (tf.atan, X),
    "atanh": (tf.atanh, INSIDE),
    "cos": (tf.cos, X),
    "cosh": (tf.cosh, X),
    "elu": (tf.nn.elu, X),
    "erf": (tf.math.erf, X),
    "erfc": (tf.math.erfc, X),
    "erfinv": (tf.math.erfinv, INSIDE),
    "exp": (tf.exp, X),
    "expm1": (tf.math.expm1, X),
    "leaky_relu": (tf.nn.leaky_relu, X),
    "log": (tf.math.log, POSITIVE),
    "log1p": (tf.math.log1p, INSIDE),
    "log_sigmoid": (tf.math.log_sigmoid, X),
    "negative": (tf.negative, X),
    "reciprocal": (tf.math.reciprocal, POSITIVE),
    "relu": (tf.nn.relu, X),
    "relu6": (tf.nn.relu6, X),
    "rsqrt": (tf.math.rsqrt, POSITIVE),
    "selu": (tf.nn.selu, X),
    "sigmoid": (tf.sigmoid, X),
    "sin": (tf.sin, X),
    "sinh": (tf.sinh, X),
    "softplus": (tf.math.softplus, X),
    "softsign": (tf.nn.softsign, X),
    "sqrt": (tf.sqrt, POSITIVE),
    "square": (tf.square, X),
    "tan": (tf.tan, INSIDE),
    "tanh": (tf.tanh, X),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [2, 2, 3]), X),
    "concat": (lambda x: tf.concat([x, 2 * x, x * x], 1), X),
    "cumprod": (lambda x: tf.math.cumprod(x, 1), X),
    "cumulative_logsumexp": (
        lambda x: tf.math.cumulative_logsumexp(x, 1, exclusive=True)[:, 1:],
        X,
    ),
    "cumulative_logsumexp_reverse": (
        lambda x: tf.math.cumulative_logsumexp(x, 0, reverse=True),
        X,
    ),
    "digamma": (tf.math.digamma, POSITIVE),
    "digamma_negative": (lambda x: tf.math.digamma(x - 5.3), INSIDE),
    "lgamma": (tf.math.lgamma, POSITIVE),
    "cumsum": (lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True), X),
    "expand_dims": (lambda x: tf.expand_dims(x, 1), X),
    "gather": (lambda x: tf.gather(x, [1, 0, 1]), X),
    "gather_axis": (lambda x: tf.gather(x, [2, 0, 2], axis=1), X),
    "gather_nd": (lambda x: tf.gather_nd(x, [[0, 1], [1, 2], [0, 1]]), X),
    "index": (lambda x: x[1], X),
    "log_softmax": (tf.nn.log_softmax, X),
    "logsumexp": (tf.reduce_logsumexp, X),
    "norm": (tf.norm, X),
    "pad": (lambda x: tf.pad(x, [[1, 0], [0, 2]]), X),
    "reduce_max": (lambda x: tf.reduce_max(x, 1), X),
    "reduce_mean": (lambda x: tf.reduce_mean(x, 0, keepdims=True), X),
    "reduce_min": (tf.reduce_min, X),
    "reduce_prod": (lambda x: tf.reduce_prod(x, 1), X),
    "reduce_std": (tf.math.reduce_std, X),
    "reduce_sum": (lambda x: tf.reduce_sum(x, -1), X),
    "repeat": (lambda x: tf.repeat(x, 2, 1), X),
    "reshape": (lambda x: tf.reshape(x, [3, -1]), X),
    "reverse": (lambda x: tf.reverse(x, [1]), X),
    "roll": (lambda x: tf.roll(x, 1, 1), X),
    "scatter_nd": (lambda x: tf.scatter_nd([[1], [3]], x, [4, 3]), X),
    "slices": (lambda x: x[:, 1:] * x[:, :-1], X),
    "slices_by_steps": (lambda x: x[::-1, ::2], X),
    "softmax": (tf.nn.softmax, X),
    "sort": (tf.sort, X),
    "split": (lambda x: tf.split(x, [1, 2], 1)[1], X),
    "stack": (lambda x: tf.stack([x, x * x], 1), X),
    "tile": (lambda x: tf.tile(x, [2, 1]), X),
    "top_k": (lambda x: tf.math.top_k(x, 2).values, X),
    "transpose": (lambda x: tf.transpose(x), X),
    "unstack": (lambda x: tf.unstack(x)[0] * tf.unstack(x)[1], X),
    "where": (lambda x: tf.where(x > 0, x * x, tf.exp(x)), X),
    "cholesky": (lambda x: tf.linalg.cholesky(x @ tf.transpose(x)), SQUARE),
    "det": (tf.linalg.det, SQUARE),
    "inv": (tf.linalg.inv, SQUARE),
    "logdet": (lambda x: tf.linalg.slogdet(x)[1], SQUARE),
    "max_pool": (
        lambda x: tf.nn.max_pool2d(tf.reshape(x, [1, 4, 4, 1]), 3, 2, "SAME"),
        sample(16),
    ),
    "avg_pool": (
        lambda x: tf.nn.avg_pool2d(tf.reshape(x, [1, 4, 4, 1]), 3, 2, "SAME"),
        sample(16),
    ),
}

BINARY: dict[str, tuple[Callable[[Any, Any], Any], Any, Any]] = {
    "add": (tf.add, X, ROW),
    "subtract": (tf.subtract, ROW, X),
    "multiply": (tf.multiply, X, ROW),
    "divide": (tf.divide, X, ROW),
    "pow": (tf.pow, POSITIVE, ROW),
    "maximum": (tf.maximum, X, INSIDE),
    "minimum": (tf.minimum, X, INSIDE),
    "atan2": (tf.atan2, X, ROW),
    "floormod": (tf.math.floormod, X, ROW),
    "squared_difference": (tf.math.squared_difference, X, ROW),
    "xlogy": (tf.math.xlogy, X, ROW),
    "xdivy": (tf.math.xdivy, X, ROW),
    "divide_no_nan": (tf.math.divide_no_nan, X, ROW),
    "matmul": (tf.matmul, X, SQUARE),
    "matmul_ta": (lambda a, b: tf.matmul(a, b, transpose_a=True), X, INSIDE),
    "matmul_tb": (lambda a, b: tf.matmul(a, b, transpose_b=True), X, INSIDE),
    "matmul_tt": (
        lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True),
        X,
        sample(4, 2),
    ),
    "matmul_batch": (tf.matmul, sample(2, 2, 3), sample(3, 2, seed=5)),
    "matvec": (tf.linalg.matvec, SQUARE, ROW),
    "einsum": (lambda a, b: tf.einsum("ij,kj->ik", a, b), X, INSIDE),
    "tensordot": (lambda a, b: tf.tensordot(a, b, [[0, 1], [0, 1]]), X, INSIDE),
    "solve": (lambda a, b: tf.linalg.solve(a, b[:, None]), SQUARE, ROW),
    "triangular_solve": (
        lambda a, b: tf.linalg.triangular_solve(a, b[:, None], lower=False),
        SQUARE,
        ROW,
    ),
    "scatter_add": (
        lambda a, b: tf.tensor_scatter_nd_add(a, [[0], [0]], b),
        X,
        INSIDE,
    ),
    "scatter_update": (
        lambda a, b: tf.tensor_scatter_nd_update(a, [[1]], b[:1]),
        X,
        INSIDE,
    ),
    "cross_entropy": (
        lambda a, b: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(a), b),
        X,
        INSIDE,
    ),
    "conv2d": (
        lambda a, b: tf.nn.conv2d(a, b, [2, 1], "SAME"),
        sample(1, 4, 3, 2),
        sample(3, 2, 2, 2, seed=4),
    ),
    "conv2d_valid": (
        lambda a, b: tf.nn.conv2d(a, b, 1, "VALID", dilations=2),
        sample(1, 4, 4, 1),
        sample(2, 2, 1, 2, seed=4),
    ),
    "conv2d_groups": (
        lambda a, b: tf.nn.conv2d(a, b, 1, "SAME"),
        sample(1, 2, 2, 4),
        sample(2, 2, 2, 2, seed=4),
    ),
    "conv2d_transpose": (
        lambda a, b: tf.nn.conv2d_transpose(a, b, [1, 4, 4, 2], 2, "SAME"),
        sample(1, 2, 2, 2),
        sample(3, 2, 2, 2, seed=4),
    ),
    "depthwise": (
        lambda a, b: tf.nn.depthwise_conv2d(a, b, [1, 1, 1, 1], "SAME"),
        sample(1, 3, 3, 2),
        sample(2, 2, 2, 2, seed=4),
    ),
}


@pytest.mark.parametrize("name", UNARY)
def test_derivatives_of_one_operand(name: str) -> None:
    function, x = UNARY[name]
    check_grads(function, [x])


@pytest.mark.parametrize("name", BINARY)
def test_derivatives_of_two_operands(name: str) -> None:
    function, x, y = BINARY[name]
    check_grads(function, [x, y])
