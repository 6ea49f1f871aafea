"""Every reduction over shapes, dtypes, axes and keepdims, against NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec
from runtime.engines.numpy_source.executable import compile_graph
from runtime.ops.reduce import reductions

RANDOM = np.random.default_rng(0)


def values(shape: Any, dtype: str) -> Any:
    if dtype == "bool":
        return RANDOM.integers(0, 2, shape).astype(bool)
    if dtype.startswith("complex"):
        return (RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)).astype(
            dtype
        )
    return (4 * RANDOM.normal(size=shape)).astype(dtype)


def mean(x: Any, axis: Any, keepdims: bool) -> Any:
    if x.dtype.kind not in "iu":
        return np.mean(x, axis, keepdims=keepdims, dtype=x.dtype)
    return np.mean(x, axis, keepdims=keepdims).astype(x.dtype)


def typed(function: Any) -> Any:
    return lambda x, axis, keepdims: function(x, axis, dtype=x.dtype, keepdims=keepdims)


def plain(function: Any) -> Any:
    return lambda x, axis, keepdims: function(x, axis, keepdims=keepdims)


def norm(x: Any, axis: Any, keepdims: bool) -> Any:
    total = np.sum(np.abs(x).astype("float64") ** 2, axis, keepdims=keepdims)
    return np.sqrt(total).astype(x.dtype)


NUMBERS = ["float32", "float64", "int32", "int64", "uint8", "complex64"]
REAL = ["float32", "float64", "int32", "uint8"]
TABLE = {
    tf.reduce_sum: (typed(np.sum), NUMBERS),
    tf.reduce_prod: (typed(np.prod), NUMBERS),
    tf.reduce_mean: (mean, NUMBERS),
    tf.reduce_max: (plain(np.max), REAL),
    tf.reduce_min: (plain(np.min), REAL),
    tf.reduce_all: (plain(np.all), ["bool"]),
    tf.reduce_any: (plain(np.any), ["bool"]),
    tf.math.reduce_variance: (plain(np.var), ["float32", "float64", "complex64"]),
    tf.math.reduce_std: (plain(np.std), ["float32", "float64", "complex64"]),
    tf.math.reduce_euclidean_norm: (norm, ["float32", "complex64", "int32"]),
    tf.reduce_logsumexp: (
        lambda x, axis, keepdims: np.log(np.sum(np.exp(x), axis, keepdims=keepdims)),
        ["float32", "float64"],
    ),
}
AXES = [
    ((), [None]),
    ((3,), [None, 0, -1, [0]]),
    ((2, 3, 4), [None, 1, -1, [0, 2], [-2], []]),
]
SWEEP = [
    pytest.param(
        function,
        numpy,
        dtype,
        shape,
        axis,
        id=f"{function.__name__}-{dtype}-{shape}-{axis}",
    )
    for function, (numpy, dtypes) in TABLE.items()
    for dtype in dtypes
    for shape, axes in AXES
    for axis in axes
]


@pytest.mark.parametrize(("function", "numpy", "dtype", "shape", "axis"), SWEEP)
def test_against_numpy(
    agree: Any, function: Any, numpy: Any, dtype: str, shape: Any, axis: Any
) -> None:
    x = values(shape, dtype)
    numpy_axis = tuple(axis) if isinstance(axis, list) else axis

    found = agree(
        lambda t: [function(t, axis, keepdims) for keepdims in (False, True)],
        x,
        known=("full", "partial"),
    )

    for got, keepdims in zip(found, (False, True), strict=True):
        expected = np.asarray(numpy(x, numpy_axis, keepdims))
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("function", TABLE)
def test_the_dtype_stays(function: Any) -> None:
    for dtype in TABLE[function][1]:
        result = function(tf.constant(values((3,), dtype)))
        name = function.__name__
        real = name in ("reduce_variance", "reduce_std") and dtype == "complex64"
        assert result.dtype == ("float32" if real else dtype)


@pytest.mark.parametrize("axis", [0, [0, 1], [1]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_tensors_as_axes(agree: Any, axis: Any, keepdims: bool) -> None:
    x = values((2, 3, 4), "float32")

    found = agree(
        lambda t, a: [
            tf.reduce_sum(t, a, keepdims),
            tf.reduce_max(t, a, keepdims),
            tf.reduce_mean(t, a, keepdims),
        ],
        x,
        np.array(axis, np.int32),
        static=False,
    )

    numpy_axis = tuple(axis) if isinstance(axis, list) else axis
    np.testing.assert_allclose(
        found[0], x.sum(numpy_axis, keepdims=keepdims), rtol=1e-5
    )


def test_eager_tensors_as_axes() -> None:
    assert tf.reduce_sum([[1, 2]], tf.constant([0, 1])).numpy() == 3
    assert tf.reduce_sum([[1, 2]], np.array([1])).numpy().tolist() == [3]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (tf.reduce_sum, 0),
        (tf.reduce_prod, 1),
        (tf.reduce_max, -(2**31)),
        (tf.reduce_min, 2**31 - 1),
        (tf.reduce_mean, 0),
    ],
)
def test_nothing_to_reduce(agree: Any, function: Any, expected: int) -> None:
    (found,) = agree(function, np.zeros((0,), np.int32))

    assert found == expected


def test_nothing_to_reduce_in_floats() -> None:
    empty = tf.zeros([0, 2])

    assert np.isnan(tf.reduce_mean(empty, 0).numpy()).all()
    assert tf.reduce_max(empty, 0).numpy().tolist() == [-np.inf] * 2
    assert tf.reduce_min(empty, 0).numpy().tolist() == [np.inf] * 2
    assert tf.reduce_all(tf.zeros([0], tf.bool)).numpy()


def test_the_mean_of_integers_is_cut() -> None:
    """The guides: the mean squared error of int32 tensors is an int32."""
    x, y = tf.constant([1, 0, 4, 4, 7]), tf.constant([3, 6, 3, 0, 6])

    assert repr(tf.reduce_mean(tf.pow(x - y, 2))) == (
        "<tf.Tensor: shape=(), dtype=int32, numpy=11>"
    )
    assert tf.reduce_mean([-1, -2]).numpy() == -1


def test_sums_of_small_integers_wrap() -> None:
    assert tf.reduce_sum(tf.constant([200, 100], tf.uint8)).numpy() == 44


def test_the_source_is_what_one_would_write() -> None:
    graph = Graph("g")
    with building(graph):
        x = graph.add_input(TensorSpec([None, 300]))
        graph.outputs = [
            tf.reduce_sum(x),
            tf.reduce_max(x, 1, keepdims=True),
            tf.reduce_mean(x, 1),
        ]

    source = compile_graph(graph).source
    assert "np.add.reduce(x, axis=None)" in source
    assert "np.maximum.reduce(x, axis=1, keepdims=True)" in source
    assert "np.add.reduce(x, axis=1) / x.shape[1]" in source


@pytest.mark.parametrize(
    "values",
    [
        [2**62 + 1, 2**62 + 3],
        [2**63 - 1] * 7,
        [-(2**63)] * 5,
        [-(2**63), 2**63 - 1, 0],
        [-3, -4],
        [2**60 + 1] * 7,
    ],
)
def test_means_of_integers_are_exact(values: list[int]) -> None:
    quotient, rest = divmod(sum(values), len(values))
    mean = quotient + (quotient < 0 and rest != 0)  # rounded towards zero
    x = tf.constant([values, values], tf.int64)

    for fn in (tf.reduce_mean, tf.function(lambda x, axis: tf.reduce_mean(x, axis))):
        assert fn(x, None).numpy() == mean
        assert fn(x, 1).numpy().tolist() == [mean, mean]
        assert fn(x, 0).numpy().tolist() == values
    large = tf.constant([2**64 - 1, 2**64 - 3], tf.uint64)
    assert tf.reduce_mean(large).numpy() == 2**64 - 2
    assert tf.reduce_mean(tf.fill([2**22], 2**31 - 1)).numpy() == 2**31 - 1


def test_axes_in_the_middle_and_in_front(agree: Any) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4, 5, 2)).astype("float32")

    total, largest, mean = agree(
        lambda x: [
            tf.reduce_sum(x, [0, 2]),
            tf.reduce_max(x, [1, 2], keepdims=True),
            tf.reduce_mean(x, [2, -3]),
        ],
        x,
        known=("full", "partial"),
    )

    np.testing.assert_allclose(total, x.sum((0, 2)), rtol=1e-5)
    np.testing.assert_array_equal(largest, x.max((1, 2), keepdims=True))
    np.testing.assert_allclose(mean, x.mean((1, 2)), rtol=1e-4, atol=1e-6)


# --- argmax and argmin ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "axis", "output_type"),
    list(
        itertools.product(["float32", "int32", "bool"], [0, 1, -1], ["int64", "int32"])
    ),
)
def test_places_of_extremes(
    agree: Any, dtype: str, axis: int, output_type: str
) -> None:
    x = values((3, 4), dtype)

    largest, smallest = agree(
        lambda t: [tf.argmax(t, axis, output_type), tf.argmin(t, axis, output_type)], x
    )
    (dynamic,) = agree(lambda t, a: tf.argmax(t, a, output_type), x, axis, static=False)

    np.testing.assert_array_equal(largest, x.argmax(axis))
    np.testing.assert_array_equal(smallest, x.argmin(axis))
    np.testing.assert_array_equal(dynamic, largest)
    assert largest.dtype == output_type


def test_the_first_axis_is_the_default() -> None:
    assert tf.argmax([[1, 5], [2, 3]]).numpy().tolist() == [1, 0]
    assert tf.argmin([[1, 5], [2, 3]]).dtype is tf.int64


# --- others ---------------------------------------------------------------------------


def test_count_nonzero_and_zero_fraction(agree: Any) -> None:
    x = np.float32([[0, 1, 2], [0, 0, 3]])

    count, rows, part = agree(
        lambda t: [
            tf.math.count_nonzero(t),
            tf.math.count_nonzero(t, 1, keepdims=True, dtype=tf.int32),
            tf.math.zero_fraction(t),
        ],
        x,
    )

    assert (count.item(), count.dtype) == (3, np.int64)
    assert (rows.tolist(), rows.dtype) == ([[2], [1]], np.int32)
    assert part == 0.5
    assert tf.math.count_nonzero(["", "a"]).numpy() == 1


def test_moments(agree: Any) -> None:
    x = values((5, 3), "float32")

    mean, variance = agree(lambda t: tf.nn.moments(t, [0]), x)
    kept, _ = agree(lambda t: tf.nn.moments(t, 0, keepdims=True), x)

    np.testing.assert_allclose(mean, x.mean(0), rtol=1e-5)
    np.testing.assert_allclose(variance, x.var(0), rtol=1e-4)
    assert kept.shape == (1, 3)


def test_logsumexp_does_not_overflow(agree: Any) -> None:
    found = agree(
        lambda t: [tf.reduce_logsumexp(t), tf.reduce_logsumexp(t, 0, keepdims=True)],
        np.float32([1000, 1000]),
    )
    infinite = tf.reduce_logsumexp([-np.inf, -np.inf])

    np.testing.assert_allclose(found[0], 1000 + np.log(2))
    assert found[1].shape == (1,)
    assert infinite.numpy() == -np.inf


def test_clipping(agree: Any) -> None:
    x = np.float32([3, 4])

    clipped, kept, zero, unit = agree(
        lambda t: [
            tf.clip_by_norm(t, 1.0),
            tf.clip_by_norm(t, 10.0),
            tf.clip_by_norm(t * 0, 1.0),
            tf.math.l2_normalize(t),
        ],
        x,
    )

    np.testing.assert_allclose(clipped, x / 5)
    np.testing.assert_allclose(kept, x)
    np.testing.assert_array_equal(zero, [0, 0])
    np.testing.assert_allclose(unit, x / 5, rtol=1e-6)


def test_clipping_by_the_global_norm() -> None:
    tensors = [tf.constant([3.0]), None, tf.constant([4.0])]

    clipped, norm = tf.clip_by_global_norm(tensors, 1.0)
    broken, _ = tf.clip_by_global_norm([tf.constant([np.inf])], 1.0)

    assert norm.numpy() == tf.linalg.global_norm(tensors).numpy() == 5
    np.testing.assert_allclose(clipped[0].numpy(), [0.6])
    assert clipped[1] is None
    assert np.isnan(broken[0].numpy()).all()


# --- errors ---------------------------------------------------------------------------

BAD = [
    (lambda: tf.reduce_sum([[1]], 2), r"Sum: axis 2 is outside of \[-2, 2\)"),
    (lambda: tf.reduce_sum([[1]], [0, -2]), "name one axis twice"),
    (lambda: tf.reduce_sum(1, 0), "axis 0 is outside"),
    (lambda: tf.reduce_sum([True]), "Sum: it does not take a bool tensor"),
    (lambda: tf.reduce_any([1]), "Any: it does not take a int32"),
    (lambda: tf.reduce_max(["a"]), "Max: it does not take a string"),
    (lambda: tf.reduce_max([1j]), "Max: it does not take a complex128"),
    (lambda: tf.argmax(np.zeros((2, 0))[0]), r"axis 0 of the shape \(0,\) is empty"),
    (lambda: tf.argmax([[1]], 2), "axis 2 is outside"),
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


def test_the_variance_of_integers() -> None:
    with pytest.raises(TypeError, match=r"tf.cast it to floats"):
        tf.math.reduce_variance([1, 2])


@pytest.mark.parametrize("length", [2, 3, reductions.SHORT, reductions.SHORT + 1])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u4", "f2"])
def test_extremes_of_short_rows(monkeypatch: Any, dtype: str, length: int) -> None:
    for module in (reductions, reductions):
        monkeypatch.setattr(module, "FEW", 1)
    x = np.random.default_rng(0).standard_normal((5, 4, length)) * 50
    x = x.astype(dtype)
    if x.dtype.kind == "f":
        x[1, 2, 1], x[3, 0] = np.nan, -np.inf
    for function, expected in ((tf.reduce_max, np.max), (tf.reduce_min, np.min)):
        for axis in (-1, 2, 1, None, (1, 2)):
            for keepdims in (False, True):
                wanted = expected(x, axis, keepdims=keepdims)

                def call(
                    x: Any, function=function, axis=axis, keepdims=keepdims
                ) -> Any:
                    return function(x, axis, keepdims)

                np.testing.assert_array_equal(call(x), wanted)
                np.testing.assert_array_equal(tf.function(call)(x), wanted)
                strided = np.repeat(x, 2, 0)[::2]
                np.testing.assert_array_equal(call(strided), wanted)
