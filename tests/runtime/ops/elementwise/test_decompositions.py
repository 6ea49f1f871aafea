"""Elementwise composites: the kernel and the decomposition give the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.ops.apply import apply
from tests.runtime.ops.comparison import ULPS, Case, compare

FLOATS = (np.float16, np.float32, np.float64)
COMPLEX = (np.complex64, np.complex128)
INTS = (np.int8, np.int16, np.int32, np.int64)
UINTS = (np.uint8, np.uint16, np.uint32, np.uint64)

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, 3.25, 8.0, -8.0, 1e-3, -1e-4]
EXTREME = [np.inf, -np.inf, np.nan, 60.0, -60.0, 6e4, -6e4]
SHAPES = ((), (0,), (2, 0, 3))


def arrays(dtype: Any) -> Iterator[Any]:
    """Arrays with all that is special about a dtype; a scalar, empty ones."""
    kind = np.dtype(dtype).kind
    if kind == "f":
        yield np.array(SPECIAL + EXTREME, dtype)
    elif kind == "c":
        yield np.array([a + 1j * b for a in SPECIAL for b in SPECIAL], dtype)
    elif kind in "iu":
        info = np.iinfo(dtype)
        yield np.array([0, 1, 2, 3, 7, 100, info.max, info.min], dtype)
        yield np.array([[5], [info.max]], dtype)
    for shape in SHAPES:
        yield np.full(shape, 2, dtype)


def unary(op: str, function: Any, dtypes: Any, ulps: int = 0) -> Iterator[Case]:
    for dtype in dtypes:
        for array in arrays(dtype):
            yield Case(op, function, (array,), ulps)


def binary(op: str, function: Any, dtypes: Any, ulps: int = 0) -> Iterator[Case]:
    for dtype in dtypes:
        first, *others = arrays(dtype)
        yield Case(op, function, (first[:, None], first), ulps)
        for other in others:
            yield Case(op, function, (other, other), ulps)
            yield Case(op, function, (first[:1], other), ulps)


def cases() -> Iterator[Case]:
    numbers = (*INTS, *UINTS, *FLOATS, *COMPLEX)
    inexact = (*FLOATS, *COMPLEX)
    yield from unary("Square", tf.square, numbers)
    yield from unary("Reciprocal", tf.math.reciprocal, inexact)
    yield from unary("Sigmoid", tf.sigmoid, inexact, ULPS)
    yield from unary("Softplus", tf.math.softplus, FLOATS, ULPS)
    yield from unary("Softsign", tf.nn.softsign, FLOATS)
    real = (*INTS, *UINTS, *FLOATS)
    yield from unary("Relu", tf.nn.relu, real)
    yield from unary("Relu6", tf.nn.relu6, real)
    yield from unary("Elu", tf.nn.elu, FLOATS, ULPS)
    yield from unary("Selu", tf.nn.selu, FLOATS, ULPS)
    yield from unary("LeakyRelu", tf.nn.leaky_relu, FLOATS)
    yield from unary("Round", tf.round, (*INTS, *inexact))
    yield from unary("IsNan", tf.math.is_nan, FLOATS)
    yield from unary("IsInf", tf.math.is_inf, FLOATS)
    yield from unary("Angle", tf.math.angle, inexact, ULPS)
    yield from unary("ComplexAbs", tf.abs, COMPLEX, ULPS)
    yield from unary("Ndtri", tf.math.ndtri, FLOATS, ULPS)
    yield from unary("Erfcinv", tf.math.erfcinv, FLOATS, ULPS)
    yield from unary("ZerosLike", tf.zeros_like, (*numbers, np.bool_))
    yield from unary("OnesLike", tf.ones_like, (*numbers, np.bool_))
    yield Case("ZerosLike", tf.zeros_like, (np.array([b"a"], object),))
    for dtype in FLOATS:
        probabilities = np.array([0, 1e-7, 1e-3, 0.05, 0.5, 0.7, 1, 1.5, 2], dtype)
        yield Case("Ndtri", tf.math.ndtri, (probabilities,), ULPS)
        yield Case("Erfcinv", tf.math.erfcinv, (probabilities,), ULPS)
    big = np.array([3e38 + 3e38j, 1e-45 + 0j, complex(np.inf, np.nan), np.nan], "c8")
    yield Case("ComplexAbs", tf.abs, (big,), ULPS)
    yield from binary("DivNoNan", tf.math.divide_no_nan, inexact)
    yield from binary("MulNoNan", tf.math.multiply_no_nan, inexact)
    yield from binary("SquaredDifference", tf.math.squared_difference, numbers)
    yield from binary("Xdivy", tf.math.xdivy, inexact, ULPS)
    yield from binary("Xlogy", tf.math.xlogy, inexact, ULPS)
    yield from binary("Xlog1py", tf.math.xlog1py, inexact, ULPS)
    for dtype in numbers:
        for array in arrays(dtype):
            yield Case("AddN", lambda *xs: tf.add_n(xs), (array,) * 3)
    # Shapes that would broadcast are refused.
    three, row = np.ones((2, 1), np.float32), np.ones((1, 2), np.float32)
    for pair in ((three, row), (three, row[0]), (row, np.ones((), np.float32))):
        yield Case("AddN", lambda *xs: tf.add_n(xs), pair, known=("rank unknown",))
    for flag in (np.array(True), np.array(False)):
        for op in ("IsNone", "IsNotNone"):
            yield Case(op, lambda x, op=op: apply(op, x), (flag,))


@pytest.mark.parametrize("op", sorted({case.op for case in cases()}))
def test_elementwise(op: str) -> None:
    for case in cases():
        if case.op == op:
            compare(case)
