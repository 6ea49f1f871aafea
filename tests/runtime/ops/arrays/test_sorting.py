"""Order among elements, running sums and products, segments of order."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building

RANDOM = np.random.default_rng(0)


def values(shape: Any, dtype: str) -> Any:
    return RANDOM.integers(0, 5, shape).astype(dtype)


# --- sort -----------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["ASCENDING", "DESCENDING"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((7,), -1), ((3, 4), 0), ((3, 4), 1), ((0,), 0)]
)
@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8"])
def test_sort_and_argsort(
    agree: Any, direction: str, shape: Any, axis: int, dtype: str
) -> None:
    x = values(shape, dtype)

    ordered, places = agree(
        lambda t: [tf.sort(t, axis, direction), tf.argsort(t, axis, direction)], x
    )

    expected = np.sort(x, axis)
    if direction == "DESCENDING":
        expected = np.flip(expected, axis)
    np.testing.assert_array_equal(ordered, expected)
    np.testing.assert_array_equal(np.take_along_axis(x, places, axis), expected)
    assert places.dtype == np.int32


def test_equal_elements_keep_their_order() -> None:
    assert tf.argsort([1, 0, 1, 0]).numpy().tolist() == [1, 3, 0, 2]
    assert tf.argsort([1, 0, 1, 0], direction="DESCENDING").numpy().tolist() == [
        0,
        2,
        1,
        3,
    ]


# --- top_k ----------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("shape", [(5,), (2, 5)])
def test_top_k(agree: Any, k: int, shape: Any) -> None:
    x = values(shape, "float32")

    largest, places = agree(lambda t: tf.math.top_k(t, k), x)
    dynamic, _ = agree(tf.math.top_k, x, k, static=False)

    np.testing.assert_array_equal(largest, -np.sort(-x, -1)[..., :k])
    np.testing.assert_array_equal(np.take_along_axis(x, places, -1), largest)
    np.testing.assert_array_equal(largest, dynamic)


@pytest.mark.parametrize("shape", [(400,), (3, 200)])
@pytest.mark.parametrize("values", [2, 1000])
@pytest.mark.parametrize("k", [0, 1, 5])
def test_a_few_of_many(shape: Any, values: int, k: int) -> None:
    x = RANDOM.integers(0, values, shape).astype("float32")

    largest, indices = tf.nn.top_k(x, k)

    places = np.argsort(-x, -1, kind="stable")[..., :k]
    np.testing.assert_array_equal(indices, places)
    np.testing.assert_array_equal(largest, np.take_along_axis(x, places, -1))


def test_top_k_takes_nan_for_the_largest() -> None:
    x = np.arange(100, dtype="float32")
    x[[7, 3]] = np.nan
    assert tf.nn.top_k(x, 3).indices.numpy().tolist() == [3, 7, 99]


def test_top_k_gives_a_named_tuple() -> None:
    result = tf.nn.top_k([1, 3, 3], 2)

    assert result.values.numpy().tolist() == [3, 3]
    assert result.indices.numpy().tolist() == [1, 2]


def test_in_top_k(agree: Any) -> None:
    predictions = np.float32(
        [[0.1, 0.9, 0.5], [0.1, 0.2, 0.3], [1, 1, 1], [np.nan, 0, 0]]
    )

    (found,) = agree(lambda t, p: tf.nn.in_top_k(t, p, 2), [2, 0, 0, 0], predictions)

    assert found.tolist() == [True, False, True, False]


# --- unique and searchsorted ----------------------------------------------------------


@pytest.mark.parametrize("x", [[3, 1, 3, 2, 1], [1.5], [], ["b", "a", "b"]])
def test_unique(agree: Any, x: Any) -> None:
    array = tf.constant(x, tf.float32 if not x else None).numpy()

    y, idx, count = agree(lambda t: tf.unique_with_counts(t), array, static=False)

    np.testing.assert_array_equal(y[idx], array)
    assert y.tolist() == list(dict.fromkeys(array.tolist()))
    assert count.tolist() == [array.tolist().count(item) for item in y.tolist()]


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "float32"])
def test_unique_of_far_numbers(dtype: str) -> None:
    kinds = np.array([3, 100, 1e18 if "64" in dtype else 7, 0]).astype(dtype)
    x = kinds[RANDOM.integers(0, 4, 50)]

    y, index, count = tf.unique_with_counts(x)

    expected = list(dict.fromkeys(x.tolist()))
    assert y.numpy().tolist() == expected
    np.testing.assert_array_equal(y.numpy()[index.numpy()], x)
    assert count.numpy().tolist() == [x.tolist().count(value) for value in expected]


def test_unique_gives_a_named_tuple() -> None:
    result = tf.unique([4, 4], tf.int64)

    assert result.y.numpy().tolist() == [4]
    assert result.idx.dtype is tf.int64


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("length", [0, 1, 5, 8])
def test_searchsorted_in_many_rows(side: Any, length: int) -> None:
    rows = np.sort(RANDOM.integers(0, 6, (2, 5, length)).astype("float32"))
    rows[:, 3:, 3:] = np.nan
    wanted = RANDOM.integers(-1, 7, (2, 5, 4)).astype("float32")
    wanted[0, :, 2] = np.nan

    found = tf.searchsorted(rows, wanted, side).numpy()

    for place in np.ndindex(2, 5):
        expected = np.searchsorted(rows[place], wanted[place], side)
        np.testing.assert_array_equal(found[place], expected)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("out_type", ["int32", "int64"])
def test_searchsorted(agree: Any, side: Any, out_type: str) -> None:
    rows = np.float32([[1, 3, 3, 5], [0, 0, 2, 4]])
    wanted = np.float32([[0, 3, 9], [0, 1, 4]])

    (vector,) = agree(
        lambda a, v: tf.searchsorted(a, v, side, out_type), rows[0], wanted[0]
    )
    (matrix,) = agree(lambda a, v: tf.searchsorted(a, v, side, out_type), rows, wanted)

    np.testing.assert_array_equal(vector, np.searchsorted(rows[0], wanted[0], side))
    for row, want, found in zip(rows, wanted, matrix, strict=True):
        np.testing.assert_array_equal(found, np.searchsorted(row, want, side))
    assert vector.dtype == out_type


# --- running sums ---------------------------------------------------------------------

SCANS = list(itertools.product([0, 1, -1], [False, True], [False, True]))


@pytest.mark.parametrize(("axis", "exclusive", "reverse"), SCANS)
@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8", "complex64"])
def test_cumsum_and_cumprod(
    agree: Any, axis: int, exclusive: bool, reverse: bool, dtype: str
) -> None:
    x = values((3, 4), dtype)

    found = agree(
        lambda t: [
            tf.cumsum(t, axis, exclusive, reverse),
            tf.math.cumprod(t, axis, exclusive, reverse),
        ],
        x,
    )

    for got, scan, start in zip(found, (np.cumsum, np.cumprod), (0, 1), strict=True):
        expected = np.flip(x, axis) if reverse else x
        if exclusive:
            first = np.full_like(expected.take([0], axis), start)
            expected = np.concatenate(
                [first, expected.take(range(x.shape[axis] - 1), axis)], axis
            )
        expected = scan(expected, axis, dtype=x.dtype)
        np.testing.assert_array_equal(
            got, np.flip(expected, axis) if reverse else expected
        )


def test_cumsum_along_a_tensor(agree: Any) -> None:
    (found,) = agree(tf.cumsum, np.int32([[1, 2], [3, 4]]), 1, static=False)

    assert found.tolist() == [[1, 3], [3, 7]]


@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative_logsumexp(agree: Any, reverse: bool) -> None:
    x = np.float32([1, 1000, 2])

    (found,) = agree(lambda t: tf.math.cumulative_logsumexp(t, reverse=reverse), x)
    exclusive = tf.math.cumulative_logsumexp(x, exclusive=True)

    expected = np.logaddexp.accumulate(x[::-1] if reverse else x)
    np.testing.assert_allclose(
        found, expected[::-1] if reverse else expected, rtol=1e-6
    )
    assert exclusive.numpy().tolist() == [-np.inf, 1, 1000]


# --- errors ---------------------------------------------------------------------------

BAD = [
    (lambda: tf.sort([1, 2], 1), "Sort: axis 1 is outside"),
    (lambda: tf.sort(1), "axis -1 is outside"),
    (lambda: tf.sort(["a"]), "does not take a string"),
    (lambda: tf.argsort([[1]], 2), "ArgSort: axis 2 is outside"),
    (lambda: tf.math.top_k([1, 2], 3), "k = 3 elements cannot be picked"),
    (lambda: tf.math.top_k([1, 2], -1), "k = -1 elements cannot be picked"),
    (lambda: tf.math.top_k(1), "at least one axis"),
    (lambda: tf.unique([[1]]), r"must be a vector, not \(1, 1\)"),
    (lambda: tf.searchsorted([[1]], [1]), "must have the same shape but for the last"),
    (
        lambda: tf.searchsorted(tf.constant([1]), tf.constant([1.0])),
        "different dtypes|int32 and float32",
    ),
    (lambda: tf.cumsum([1], 1), "Cumsum: axis 1 is outside"),
    (lambda: tf.cumsum([True]), "does not take a bool"),
    (lambda: tf.nn.in_top_k([[1]], [1.0], 1), "targets must be a vector"),
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


def test_arguments() -> None:
    with pytest.raises(ValueError, match="direction must be"):
        tf.sort([1], direction="UP")
    with pytest.raises(ValueError, match="side must be"):
        tf.searchsorted([1], [1], side="middle")
