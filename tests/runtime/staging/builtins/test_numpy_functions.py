"""Functions of NumPy on tensors in a graph, beside NumPy: values, dtypes and errors."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import TracingError
from runtime.staging.builtins.numpy_functions import _BINARY, _OF_FLOATS, _UNARY
from tests.turns import by_turns

FLOATS = [0.0, -0.0, 0.5, -2.5, 1e300, -1e-310, math.inf, -math.inf, math.nan]
#: Values by dtype, with edges of each.
VALUES = {
    "bool": [True, False],
    "int8": [0, 1, -3, 100],
    "int32": [0, 1, -3, 2**31 - 1],
    "int64": [0, 1, -3, 2**53 + 1, -(2**63)],
    "uint8": [0, 1, 255],
    "float32": [*FLOATS[:4], 3e38, *FLOATS[-3:]],
    "float64": FLOATS,
}


def numpy_answer(function, *arrays):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(function(*arrays))
        except Exception as error:
            return error


def outcome(function, arrays):
    try:
        return function(*map(tf.constant, arrays))
    except Exception as error:
        return error


def check(function, *arrays, exact=True):
    """The graph's answer is NumPy's, to the last bit, or it is refused with a code."""
    expected = numpy_answer(function, *arrays)
    found = outcome(tf.function(lambda *xs: function(*xs)), arrays)
    if isinstance(found, Exception):
        # A dtype that the operation does not take, or what NumPy does not either.
        assert isinstance(expected, Exception) or getattr(found, "code", ""), found
        return False
    assert not isinstance(expected, Exception), (function, expected)
    assert found.dtype == expected.dtype, (arrays, found)
    compare = np.testing.assert_array_equal if exact else np.testing.assert_allclose
    compare(found.numpy(), expected)
    return True


#: Bits of these come from the library of the machine, by the width of its vectors.
ROUNDED = frozenset(["power"])


@pytest.mark.parametrize("name", by_turns(sorted({**_UNARY})))
def test_functions_of_one_array(name):
    function = getattr(np, name)
    took = [check(function, np.array(v, dtype)) for dtype, v in VALUES.items()]
    assert took[-1]


@pytest.mark.parametrize("name", by_turns(sorted({**_BINARY, **_OF_FLOATS})))
def test_functions_of_two_arrays(name):
    function = getattr(np, name)
    if name == "reciprocal":
        assert check(function, np.array([2.0, 0.0, -0.5]))
        assert not check(function, np.array([2, 1]))
        return
    exact = name not in ROUNDED
    pairs = [("int64", "int64"), ("float64", "float64"), ("int32", "float32")]
    for one, other in [*pairs, ("uint8", "int8"), ("bool", "int64"), ("bool", "bool")]:
        x = np.array(VALUES[one], one)
        y = np.array(VALUES[other][::-1], other)
        if name in ("power", "floor_divide", "remainder"):
            y = np.array([2, 1, 3], other)
        check(function, x[:, None], y, exact=exact)
    assert check(function, np.array([1.5, 2.0]), np.array([2.0, -1.0]), exact=exact)


REDUCTIONS = [
    lambda x: np.sum(x),
    lambda x: np.sum(x, axis=0),
    lambda x: np.mean(x, axis=1),
    lambda x: np.max(x, axis=0, keepdims=True),
    lambda x: np.min(x),
    lambda x: np.prod(x, 0),
    lambda x: np.any(x, axis=0),
    lambda x: np.all(x),
    lambda x: np.argmax(x),
    lambda x: np.argmin(x, axis=1),
    lambda x: np.cumsum(x),
    lambda x: np.cumsum(x, axis=1),
    lambda x: np.cumprod(x, axis=0),
    lambda x: np.var(x),
    lambda x: np.std(x, axis=0, ddof=1),
    lambda x: np.median(x),
    lambda x: np.sort(x),
    lambda x: np.sort(x, axis=None),
    lambda x: np.diff(x),
    lambda x: np.diff(x, n=2),
    lambda x: np.transpose(x),
    lambda x: np.reshape(x, (3, -1)),
    lambda x: np.reshape(x, -1),
    lambda x: np.clip(x, 1, 3),
    lambda x: np.where(x > 2, x, 0),
    lambda x: np.zeros_like(x),
    lambda x: np.ones_like(x, dtype=np.float32),
    lambda x: np.concatenate([x, np.array([[1.5, 2, 3]])]),
    lambda x: np.concatenate([x, x], axis=1),
    lambda x: np.stack([x, x], axis=-1),
    lambda x: np.logical_not(x),
    lambda x: np.logical_and(x, x > 1),
    lambda x: np.array(x, dtype=float),
    lambda x: np.array([x[0, 0], 2.5]),
    lambda x: np.array([[x[0, 0], 2], [3, x[1, 1]]]),
    lambda x: np.float64(x[0, 1]) / 3,
    lambda x: np.add(x[0, 1], 1),
    lambda x: np.multiply(x, 2.5),
    lambda x: np.maximum(x, 2),
]
PRODUCTS = [
    lambda x: np.dot(x[0], x[1]),
    lambda x: np.dot(x, x[0]),
    lambda x: np.dot(x[0, 0], x),
    lambda x: np.matmul(x, np.transpose(x)),
    lambda x: np.matmul(x[:, :2], x[0, :2]),
    lambda x: np.outer(x[0], x[1]),
    lambda x: np.linalg.norm(x),
    lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.linalg.det(x[:, :2]),
    lambda x: np.linalg.inv(x[:, :2]),
    lambda x: np.trace(x[:, :2]),
]
MATRICES = [
    np.array([[3, 1, 2], [2, 5, 5]]),
    np.array([[3, 1, 2], [2, 5, 5]], np.int32),
    np.array([[0.1, -1.5, 2.25], [7.0, 5.5, 0.3]]),
    np.array([[0.1, -1.5, 2.25], [7.0, 5.5, 0.3]], np.float32),
    np.array([[math.nan, 1, 2], [math.inf, -1, 0]]),
]


@pytest.mark.parametrize("place", range(len(MATRICES)))
def test_functions_of_matrices(place):
    for function in REDUCTIONS:
        assert check(function, MATRICES[place])
    for function in PRODUCTS if place < 4 else ():
        assert check(function, MATRICES[place], exact=False) or place == 3


COUNTED = [
    lambda n: np.zeros(n),
    lambda n: np.zeros((n, 2), dtype=int),
    lambda n: np.ones([n]),
    lambda n: np.arange(n),
    lambda n: np.arange(1, n, 2),
    lambda n: np.arange(n, dtype=float) / 3,
    lambda n: np.linspace(0, 1, n),
    lambda n: np.eye(n),
    lambda n: np.sqrt(n) + np.log(n),
    lambda n: np.array([n, n + 1]) * 2,
    lambda n: np.array([math.sqrt(n), 1]),
]


@pytest.mark.parametrize("number", [1, 5])
def test_functions_of_a_number(number):
    for function in COUNTED:
        assert check(function, np.array(number))


TABLE = np.array([3, 1, 4])
GRID = np.arange(12.0).reshape(3, 4)


def items(n, ns):
    return TABLE[n] + TABLE[-n], GRID[n][n], GRID[n:], GRID[ns], TABLE[TABLE > n]


def test_items_of_arrays():
    found = tf.function(items)(tf.constant(2), tf.constant([0, -1]))
    for one, other in zip(found, items(2, [0, -1])):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.asarray(other).dtype


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_beyond_an_array(index):
    with pytest.raises(IndexError) as expected:
        TABLE[index]
    with pytest.raises(IndexError) as found:
        tf.function(lambda n: TABLE[n])(tf.constant(index))
    assert str(found.value).partition("\n")[0] == str(expected.value)


def test_gradients_pass_through():
    x = tf.constant([1.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(lambda x: np.sum(np.sqrt(x) * np.dot(x, x)))(x)
    np.testing.assert_allclose(
        tape.gradient(y, x), [17 / 2 + 2 * 3, 17 / 4 + 8 * 3], rtol=1e-6
    )


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: np.unique(x), "given to numpy.unique.*use tf.unique"),
        (lambda x: np.fft.fft(x), "given to numpy.fft.fft.*tf.signal.fft"),
        (lambda x: np.convolve(x, x), "given to numpy.convolve.*tf.numpy_function"),
        (lambda x: np.sum(x, where=x > 1), "leave out where="),
        (lambda x: np.sqrt(x, out=x), "leave out out="),
        (lambda x: np.int64(x[0] / 2), r"use int\(x\)"),
        (lambda x: GRID[0, x[0]], r"array\[i\]\[j\]"),
        (lambda x: np.linalg.norm(tf.cast(x, tf.complex64)), "use tf.norm"),
        (lambda x: np.float64(tf.cast(x[0], tf.complex64)), "use tf.math.real"),
        (lambda x: np.linspace(0, tf.cast(x[1], tf.float32), 4), "to float64"),
    ],
)
def test_what_is_refused_says_what_to_use(function, text):
    with pytest.raises(TracingError, match=f"AG305.*{text}"):
        tf.function(function)(tf.constant([1, 2]))


OF_NONE = [
    (lambda x: np.max(x), (0,)),
    (lambda x: np.min(x), (0, 3)),
    (lambda x: np.max(x, axis=0), (0, 3)),
    (lambda x: np.min(x, axis=1, keepdims=True), (3, 0)),
    (lambda x: np.diff(x, -1), (3,)),
]


@pytest.mark.parametrize(("function", "shape"), OF_NONE)
def test_what_numpy_raises_for_no_elements(function, shape):
    with pytest.raises(ValueError, match=r"identity|negative") as expected:
        function(np.zeros(shape))
    signature = [tf.TensorSpec([None] * len(shape), tf.float64)]
    for staged in (
        tf.function(lambda x: function(x)),
        tf.function(lambda x: function(x), input_signature=signature),
    ):
        with pytest.raises(ValueError, match=r"identity|negative") as found:
            staged(tf.zeros(shape, tf.float64))
        assert str(found.value).partition("\n")[0] == str(expected.value)


def test_the_maximum_of_no_rows_along_the_other_axis_is_empty():
    signature = [tf.TensorSpec([None, None], tf.float64)]
    largest = tf.function(lambda x: np.max(x, axis=1), input_signature=signature)
    assert largest(tf.zeros([0, 3], tf.float64)).shape == (0,)
    assert largest(tf.constant([[1.0, 3.0]], tf.float64)).numpy().tolist() == [3.0]
