"""Tensors from nothing and sequences of numbers, against NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec
from runtime.ops.arrays import sequences

DTYPES = ["int32", "float32", "bool", "complex64", "float16", "int64", "uint8"]


def static_shape(function: Any, *specs: TensorSpec) -> Any:
    graph = Graph("g")
    with building(graph):
        return function(*map(graph.add_input, specs)).shape


SCALAR = TensorSpec([], tf.int32)

# --- one value everywhere -------------------------------------------------------------


@pytest.mark.parametrize("shape", [[], [3], [2, 0], [2, 3]])
@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_and_ones(agree: Any, shape: Any, dtype: str) -> None:
    zeros, ones = agree(lambda: [tf.zeros(shape, dtype), tf.ones(shape, dtype)])

    np.testing.assert_array_equal(zeros, np.zeros(shape, dtype))
    np.testing.assert_array_equal(ones, np.ones(shape, dtype))
    assert zeros.dtype == ones.dtype == np.dtype(dtype)


def test_defaults_are_float32() -> None:
    assert tf.zeros(3).dtype is tf.ones(3).dtype is tf.eye(3).dtype is tf.float32


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.constant("a\0", shape=[2]),
        lambda: tf.fill([2], "a\0"),
        lambda: tf.stack([np.str_("a\0"), np.bytes_(b"a\0")]),
        lambda: tf.pad(tf.constant([], tf.string), [[1, 1]], constant_values="a\0"),
        lambda: tf.repeat("a\0", 2),
    ],
)
def test_texts_keep_the_nuls_at_their_end(make: Any) -> None:
    assert make().numpy().tolist() == [b"a\0", b"a\0"]


def test_strings() -> None:
    assert tf.zeros([2], tf.string).numpy().tolist() == [b"", b""]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="string tensor cannot hold"
    ):
        tf.ones([2], tf.string)


@pytest.mark.parametrize(
    "shape", [3, [3], (3,), tf.TensorShape([3]), np.array([3]), np.int64(3)]
)
def test_what_a_shape_may_be(shape: Any) -> None:
    assert tf.zeros(shape).shape == tf.fill(shape, 1).shape == [3]


def test_shapes_of_tensors(agree: Any) -> None:
    (mixed,) = agree(lambda n: tf.zeros([n, 2]), np.int32(3), static=False)
    (whole,) = agree(tf.ones, np.array([2, 3], np.int32), static=False)

    assert (mixed.shape, whole.shape) == ((3, 2), (2, 3))
    assert static_shape(lambda n: tf.zeros([n, 2]), SCALAR).as_list() == [None, 2]


@pytest.mark.parametrize("dtype", DTYPES)
def test_like(agree: Any, dtype: str) -> None:
    x = np.ones((2, 3), dtype)

    zeros, ones, ints = agree(
        lambda t: [tf.zeros_like(t), tf.ones_like(t), tf.ones_like(t, tf.int32)], x
    )

    assert zeros.dtype == ones.dtype == x.dtype
    assert not zeros.any()
    assert ones.all()
    assert ints.dtype == np.int32


@pytest.mark.parametrize("value", [7, 1.5, True, "text", np.int64(3), 1j])
def test_fill(agree: Any, value: Any) -> None:
    (found,) = agree(lambda: tf.fill([2, 2], value))

    assert found.tolist() == np.full((2, 2), tf.constant(value).numpy()).tolist()


def test_fill_from_tensors(agree: Any) -> None:
    (found,) = agree(
        lambda d, v: tf.fill(d, v),
        np.array([2, 2], np.int32),
        np.float32(3),
        static=False,
    )

    assert found.tolist() == [[3.0, 3.0], [3.0, 3.0]]


@pytest.mark.parametrize(("rows", "columns"), [(3, None), (2, 3), (3, 2), (0, 2)])
@pytest.mark.parametrize("batch", [None, [2], [2, 1]])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_eye(
    agree: Any, rows: int, columns: int | None, batch: Any, dtype: str
) -> None:
    (found,) = agree(lambda: tf.eye(rows, columns, batch, dtype))

    matrix = np.eye(rows, columns, dtype=dtype)
    np.testing.assert_array_equal(
        found, np.broadcast_to(matrix, (*(batch or []), *matrix.shape))
    )


def test_eye_of_a_tensor(agree: Any) -> None:
    (found,) = agree(lambda n: tf.eye(n, dtype=tf.int32), np.int32(2), static=False)

    assert found.tolist() == [[1, 0], [0, 1]]


# --- range ----------------------------------------------------------------------------

RANGES = [
    (5,),
    (0,),
    (2, 5),
    (1, 10, 3),
    (10, 1, -4),
    (5, 5),
    (0.0, 1.0, 0.25),
    (1.0, 0.0, -0.5),
    (3.5,),
    (0, 1, 0.3),
]


@pytest.mark.parametrize("args", RANGES)
def test_range(agree: Any, args: Any) -> None:
    (found,) = agree(lambda: tf.range(*args))

    floating = any(isinstance(arg, float) for arg in args)
    np.testing.assert_allclose(found, np.arange(*args), rtol=1e-6)
    assert found.dtype == (np.float32 if floating else np.int32)


@pytest.mark.parametrize("args", RANGES)
def test_range_of_tensors(agree: Any, args: Any) -> None:
    if len({type(arg) for arg in args}) > 1:
        pytest.skip("tensors of two dtypes have a test of their own")
    (found,) = agree(tf.range, *args, static=False)

    np.testing.assert_allclose(found, np.arange(*args), rtol=1e-6)


@pytest.mark.parametrize(
    "args",
    [
        (0, 2**63 - 1, (2**63 - 1) // 3),
        (-(2**63) + 1, 2**63 - 1, 2**62 + 1),
        (2**63 - 1, -(2**63), -(2**61)),
        (2**53, 2**53 + 5, 2),
    ],
)
def test_long_ranges_are_those_of_python(agree: Any, args: Any) -> None:
    bounds = [np.int64(bound) for bound in args]
    (known,) = agree(lambda: tf.range(*args))
    (found,) = agree(tf.range, *bounds, static=False)

    assert known.tolist() == found.tolist() == list(range(*args))


@pytest.mark.parametrize(
    ("args", "dtype"),
    [
        ((tf.constant(3, tf.int64),), "int64"),
        ((tf.constant(1), 3.0), "float32"),
        ((1, np.float64(3)), "float64"),
        ((2**40, 2**40 + 2), "int64"),
    ],
)
def test_the_widest_dtype_wins(args: Any, dtype: str) -> None:
    assert tf.range(*args).dtype == dtype
    assert tf.range(3, dtype=tf.float64).dtype is tf.float64


def test_static_length_of_a_range() -> None:
    assert static_shape(lambda n: tf.range(n), SCALAR).as_list() == [None]
    assert static_shape(lambda: tf.range(2, 9, 3)) == [3]
    assert static_shape(lambda x: tf.range(tf.shape(x)[0]), TensorSpec([4, None])) == [
        4
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((5, 3), "start <= limit"),
        ((3, 5, -1), "start >= limit"),
        ((1, 2, 0), "delta must not be 0"),
        ((0.0, math.inf), "length of a range cannot be inf"),
    ],
)
def test_ranges_that_do_not_exist(args: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.range(*args)

    run = tf.function(lambda *bounds: tf.range(*bounds), autograph=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(*map(tf.constant, args))


def test_a_range_is_of_numbers() -> None:
    with pytest.raises(TypeError, match="a range cannot be of bool"):
        tf.range(tf.constant(True))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="bounds of a range are scalars"
    ):
        tf.range([1, 2])


# --- linspace and one_hot -------------------------------------------------------------


@pytest.mark.parametrize("num", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_linspace(agree: Any, num: int, dtype: str) -> None:
    ends = np.array(1.0, dtype), np.array(3.0, dtype)

    (found,) = agree(lambda a, b: tf.linspace(a, b, num), *ends)
    (dynamic,) = agree(tf.linspace, *ends, np.int32(num), static=False)

    np.testing.assert_allclose(found, np.linspace(1.0, 3.0, num, dtype=dtype))
    np.testing.assert_array_equal(found, dynamic)
    assert found.dtype == np.dtype(dtype)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_linspace_of_vectors(agree: Any, axis: int) -> None:
    a, b = np.float32([0, 1]), np.float32([1, 3])

    (found,) = agree(lambda a, b: tf.linspace(a, b, 3, axis=axis), a, b)

    np.testing.assert_allclose(found, np.linspace(a, b, 3, axis=axis))


def test_linspace_errors() -> None:
    assert tf.linspace(0, 1, 3).dtype is tf.float32
    with pytest.raises(tf.errors.InvalidArgumentError, match="num must be at least 1"):
        tf.linspace(0.0, 1.0, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not take a int32"):
        tf.linspace(tf.constant(0), tf.constant(1), 3)


@pytest.mark.parametrize("axis", [None, -1, 0, 1])
@pytest.mark.parametrize("indices", [[1, 0, 2], [[0, 1], [3, -1]]])
def test_one_hot(agree: Any, axis: Any, indices: Any) -> None:
    (found,) = agree(lambda i: tf.one_hot(i, 3, axis=axis), indices)

    hot = (np.array(indices)[..., None] == np.arange(3)).astype("float32")
    np.testing.assert_array_equal(
        found, np.moveaxis(hot, -1, -1 if axis is None else axis)
    )
    assert found.dtype == np.float32


def test_one_hot_values(agree: Any) -> None:
    (found,) = agree(lambda i: tf.one_hot(i, 2, on_value=5, off_value=-1), [1])
    (dynamic,) = agree(
        lambda i, n: tf.one_hot(i, n, dtype=tf.int64), [1], 2, static=False
    )

    assert (found.tolist(), found.dtype) == ([[-1, 5]], np.int32)
    assert (dynamic.tolist(), dynamic.dtype) == ([[0, 1]], np.int64)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64])
@pytest.mark.parametrize("depth", [0, 3, 200])
def test_large_one_hot(monkeypatch: Any, dtype: Any, depth: int) -> None:
    """Written place by place, it is what comparing gives."""
    indices = np.array([[0, 2, 5], [127, 1, 0]], dtype)
    indices[0, 0] = np.array(-1).astype(dtype)  # Or the largest number.
    for axis in (-1, 0, 1):
        expected = tf.one_hot(indices, depth, axis=axis, dtype="int16").numpy()
        with monkeypatch.context() as patch:
            patch.setattr(sequences, "SMALL", 0)
            found = tf.one_hot(indices, depth, axis=axis, dtype="int16").numpy()
        assert found.shape == expected.shape
        assert found.tobytes() == expected.tobytes()


def test_one_hot_needs_integers() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not take a float32"):
        tf.one_hot([1.0], 3)


BAD = [
    (lambda: tf.fill([2], [1, 2]), r"the value must be a scalar, not of shape \(2,\)"),
    (lambda: tf.zeros([2, -1]), r"the shape \(2, -1\) has negative lengths"),
    (lambda: tf.fill([-1], 1), "negative lengths"),
    (lambda: tf.eye(-1), r"\(-1, -1\) has negative lengths"),
    (lambda: tf.one_hot([1], -1), r"\(1, -1\) has negative lengths"),
    (lambda: tf.eye(tf.constant([1])), "num_rows must be a scalar"),
    (lambda: tf.reshape([1], tf.constant([[1]])), "shape must be a vector"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.function(function, autograph=False)()


def test_matrices_of_unknown_batches() -> None:
    shape = static_shape(
        lambda s: tf.eye(2, batch_shape=s), TensorSpec([None], tf.int32)
    )

    assert shape.rank is None


def test_reprs() -> None:
    assert repr(tf.range(3)) == (
        "<tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 2], dtype=int32)>"
    )
    assert str(tf.eye(2, dtype=tf.int32)) == (
        "tf.Tensor(\n[[1 0]\n [0 1]], shape=(2, 2), dtype=int32)"
    )
