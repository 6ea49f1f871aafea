"""gather, where, masks, scatter: what picks and writes by tensors of indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec


def values(*shape: int, dtype: str = "float32") -> Any:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


RANDOM = np.random.default_rng(0)

# --- gather ---------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize(
    "indices", [1, [0, 1], [[1, 0], [1, 1]], np.zeros((0,), "int32")]
)
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_gather(agree: Any, axis: int, indices: Any, dtype: str) -> None:
    x = values(2, 3, 2, dtype=dtype)

    (found,) = agree(lambda t, i: tf.gather(t, i, axis=axis), x, indices)
    (dynamic,) = agree(
        lambda t, i, a: tf.gather(t, i, axis=a), x, indices, axis, static=False
    )

    np.testing.assert_array_equal(found, np.take(x, indices, axis))
    np.testing.assert_array_equal(found, dynamic)


@pytest.mark.parametrize(
    ("shape", "inner", "axis", "batch_dims"),
    [
        ((2, 4), (3,), 1, 1),
        ((2, 3, 4), (), 2, 2),
        ((2, 3, 4, 5), (6, 2), 2, 1),
        ((3,), (2,), 0, 0),
    ],
)
def test_gather_in_batches(
    agree: Any, shape: Any, inner: Any, axis: int, batch_dims: int
) -> None:
    x = values(*shape)
    indices = RANDOM.integers(0, shape[axis], (*shape[:batch_dims], *inner))

    (found,) = agree(
        lambda t, i: tf.gather(t, i, axis=axis, batch_dims=batch_dims), x, indices
    )

    for place in np.ndindex(shape[:batch_dims]):
        expected = np.take(x[place], indices[place], axis - batch_dims)
        np.testing.assert_array_equal(found[place], expected)


def test_gather_of_strings(agree: Any) -> None:
    assert agree(tf.gather, ["a", "b"], [1, 1])[0].tolist() == [b"b", b"b"]


@pytest.mark.parametrize(
    ("indices", "batch_dims"),
    [([[0, 1], [1, 2]], 0), ([[1]], 0), ([[], []], 0), ([[0], [2]], 1)],
)
def test_gather_nd(agree: Any, indices: Any, batch_dims: int) -> None:
    x, places = values(2, 3, 2), np.array(indices, np.int32)

    (found,) = agree(lambda t, i: tf.gather_nd(t, i, batch_dims), x, places)

    if batch_dims:
        expected = np.stack([x[n][tuple(row)] for n, row in enumerate(places)])
    else:
        expected = np.stack([x[tuple(row)] for row in places])
    np.testing.assert_array_equal(found, expected)


# --- where ----------------------------------------------------------------------------

WHERES = [
    ([True, False], [1, 2], [3, 4]),
    ([[True], [False]], [1, 2], 0),
    (True, [1.0, 2.0], [3.0, 4.0]),
    ([True, False], "yes", "no"),
]


@pytest.mark.parametrize(("condition", "x", "y"), WHERES)
def test_where(agree: Any, condition: Any, x: Any, y: Any) -> None:
    (found,) = agree(tf.where, condition, x, y)

    expected = np.where(condition, tf.constant(x).numpy(), tf.constant(y).numpy())
    np.testing.assert_array_equal(found, expected)


def test_where_with_python_numbers(agree: Any) -> None:
    (found,) = agree(lambda t: tf.where(t > 1, t, 0), np.float32([1, 2]))

    assert (found.tolist(), found.dtype) == ([0.0, 2.0], np.float32)


@pytest.mark.parametrize("condition", [[True, False, True], [[0, 1], [1, 1]], False])
def test_where_alone(agree: Any, condition: Any) -> None:
    (found,) = agree(tf.where, condition, static=False)

    np.testing.assert_array_equal(found, np.argwhere(condition))
    assert found.dtype == np.int64


@pytest.mark.parametrize(
    ("mask", "axis"),
    [
        ([True, False], None),
        ([[True, False, True], [False, True, True]], None),
        ([True, False, True], 1),
    ],
)
def test_boolean_mask(agree: Any, mask: Any, axis: Any) -> None:
    x = values(2, 3, 2)

    (found,) = agree(
        lambda t, m: tf.boolean_mask(t, m, axis),
        x,
        mask,
        static=False,
        known=("full", "partial"),
    )

    index = (slice(None), np.array(mask)) if axis == 1 else np.array(mask)
    np.testing.assert_array_equal(found, x[index])


# --- scatter --------------------------------------------------------------------------

SCATTERS = [
    ((5,), [[1], [3]], (2,)),
    ((5,), [[1], [1]], (2,)),
    ((2, 3), [[1]], (1, 3)),
    ((2, 3), [[0, 2], [1, 0]], (2,)),
    ((2, 3), np.zeros((0, 2), "int32"), (0,)),
    ((2, 3), [[[0, 2]], [[1, 0]]], (2, 1)),
]
NUMPY = {
    "tensor_scatter_nd_add": np.add.at,
    "tensor_scatter_nd_sub": np.subtract.at,
    "tensor_scatter_nd_max": np.maximum.at,
    "tensor_scatter_nd_min": np.minimum.at,
}


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize(("shape", "indices", "updates"), SCATTERS)
def test_scatter_into_a_tensor(
    agree: Any, name: str, shape: Any, indices: Any, updates: Any
) -> None:
    x, new, places = values(*shape), values(*updates) + 1, np.array(indices, np.int32)

    (found,) = agree(getattr(tf, name), x, places, new)

    expected = x.copy()
    NUMPY[name](expected, tuple(np.moveaxis(places, -1, 0)), new)
    np.testing.assert_array_equal(found, expected)


def test_equal_values_share_the_gradient_of_a_maximum() -> None:
    x, new = tf.constant([1.0, 5.0]), tf.constant([1.0, 1.0, 2.0, 0.0])
    with tf.GradientTape() as tape:
        tape.watch([x, new])
        found = tf.tensor_scatter_nd_max(x, [[0], [0], [1], [1]], new)
    with tf.GradientTape() as of_segments:
        of_segments.watch(new)
        largest = tf.math.segment_max(new, [0, 0, 1, 1])

    by_x, by_new = tape.gradient(found, [x, new])
    # As TensorFlow has them.
    np.testing.assert_allclose(by_x, [1 / 3, 1.0])
    np.testing.assert_allclose(by_new, [1 / 3, 1 / 3, 0.0, 0.0])
    shared = of_segments.gradient(largest, new)
    np.testing.assert_allclose(shared, [0.5, 0.5, 1.0, 0.0])


@pytest.mark.parametrize(("shape", "indices", "updates"), SCATTERS)
def test_update_and_scatter_nd(
    agree: Any, shape: Any, indices: Any, updates: Any
) -> None:
    x, new, places = values(*shape), values(*updates) + 1, np.array(indices, np.int32)
    index = tuple(np.moveaxis(places, -1, 0))

    (updated,) = agree(tf.tensor_scatter_nd_update, x, places, new)
    (fresh,) = agree(lambda i, u: tf.scatter_nd(i, u, shape), places, new)
    (dynamic,) = agree(
        tf.scatter_nd, places, new, np.array(shape, np.int32), static=False
    )

    expected, sums = x.copy(), np.zeros_like(x)
    expected[index] = new
    np.add.at(sums, index, new)
    np.testing.assert_array_equal(updated, expected)
    np.testing.assert_array_equal(fresh, sums)
    np.testing.assert_array_equal(dynamic, sums)


def test_the_tensor_itself_stays() -> None:
    x = tf.constant([1, 2])
    tf.tensor_scatter_nd_update(x, [[0]], [9])

    assert x.numpy().tolist() == [1, 2]


# --- errors ---------------------------------------------------------------------------

X = tf.constant(values(2, 3))
BAD = [
    (lambda: tf.gather(X, [0, 2]), r"GatherV2: indices\[1\] = 2 is not in \[0, 2\)"),
    (lambda: tf.gather(X, -1), r"indices = -1 is not in \[0, 2\)"),
    (lambda: tf.gather(X, [0.5]), "indices must be integers, not float32"),
    (lambda: tf.gather(X, [0], axis=2), "axis 2 is outside"),
    (lambda: tf.gather(X, [[0]], axis=1, batch_dims=1), "first 1 lengths of params"),
    (
        lambda: tf.gather(X, [[0], [1]], axis=0, batch_dims=1),
        "batch_dims 1 must not be larger",
    ),
    (lambda: tf.gather(1, 0), "at least one axis"),
    (lambda: tf.gather_nd(X, [[0, 3]]), r"= 3 is not in \[0, 3\), axis 1"),
    (lambda: tf.gather_nd(X, [[0, 0, 0]]), "indexes 3 axes, but params has the shape"),
    (lambda: tf.gather_nd(X, 0), "must have more than 0 axes"),
    (lambda: tf.where([1, 0], X, X), "does not take a int32"),
    (lambda: tf.where([True, False], X, X), "do not broadcast"),
    (lambda: tf.where(True, X, tf.constant(1)), "SelectV2.*float32 and int32"),
    (lambda: tf.scatter_nd([[5]], [1], [3]), r"= 5 is not in \[0, 3\)"),
    (lambda: tf.scatter_nd([[0, 0]], [1], [3]), "indexes 2 axes, but the target"),
    (lambda: tf.scatter_nd([[0]], [1, 2], [3]), r"updates must have the shape \(1,\)"),
    (lambda: tf.tensor_scatter_nd_add(X, [[0.0]], [1.0]), "indices must be integers"),
    (lambda: tf.tensor_scatter_nd_add(X, 1, [1.0]), "at least one axis"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.function(function, autograph=False)()


def test_an_unused_gather_is_not_run() -> None:
    """The guides show it: only what results and effects need runs in a graph."""

    def unused(x: Any) -> Any:
        tf.gather(x, [1])
        return x

    with pytest.raises(tf.errors.InvalidArgumentError):
        unused(tf.constant([0.0]))
    assert str(tf.function(unused)(tf.constant([0.0]))) == (
        "tf.Tensor([0.], shape=(1,), dtype=float32)"
    )


def test_arguments() -> None:
    with pytest.raises(ValueError, match="takes both x and y, or neither"):
        tf.where([True], 1)
    with pytest.raises(ValueError, match=r"mask of shape \(3,\) does not cover"):
        tf.boolean_mask(X, [True, False, True])
    with pytest.raises(ValueError, match="the mask needs a known rank"):
        tf.boolean_mask(X, True)


def test_masks_need_known_ranks() -> None:
    graph = Graph("g")
    with building(graph):
        x, mask = (
            graph.add_input(TensorSpec(None)),
            graph.add_input(TensorSpec([2], tf.bool)),
        )
        with pytest.raises(ValueError, match="rank of the tensor must be known"):
            tf.boolean_mask(x, mask)
