"""Groups of rows, counts, and masks from lengths, against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec
from runtime.ops.arrays import sequences
from runtime.ops.reduce import segments

RANDOM = np.random.default_rng(0)
REDUCTIONS = {
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
}
EMPTY = {"sum": 0, "mean": 0, "prod": 1}


def empty_of(name: str, dtype: Any) -> Any:
    if name in EMPTY:
        return EMPTY[name]
    limits = tf.as_dtype(dtype).limits
    return limits[0] if name == "max" else limits[1]


def values(shape: Any, dtype: str) -> Any:
    return RANDOM.integers(1, 5, shape).astype(dtype)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("shape", [(6,), (6, 2)])
def test_segments(agree: Any, name: str, dtype: str, shape: Any) -> None:
    if name == "mean" and dtype == "int32":
        pytest.skip("the mean is of floats")
    x, rising, any_order = values(shape, dtype), [0, 0, 1, 3, 3, 3], [2, 0, 2, -1, 0, 4]

    (ordered,) = agree(
        lambda t, ids: getattr(segments, f"segment_{name}")(t, ids),
        x,
        rising,
        static=False,
    )
    (unordered,) = agree(
        lambda t, ids: getattr(segments, f"unsorted_segment_{name}")(t, ids, 6),
        x,
        any_order,
    )
    (dynamic,) = agree(
        getattr(segments, f"unsorted_segment_{name}"), x, any_order, 6, static=False
    )

    for found, ids, empty in (
        (ordered, rising, 0),
        (unordered, any_order, empty_of(name, dtype)),
        (dynamic, any_order, empty_of(name, dtype)),
    ):
        for group, row in enumerate(found):
            members = x[np.array(ids) == group]
            expected = REDUCTIONS[name](members, 0) if len(members) else empty
            np.testing.assert_allclose(row, expected, rtol=1e-6)
        assert found.dtype == x.dtype


def test_ids_of_several_axes(agree: Any) -> None:
    x = values((2, 3, 2), "float32")

    (found,) = agree(
        lambda t, i: segments.unsorted_segment_sum(t, i, 2), x, [[0, 1, 0], [1, 1, 0]]
    )

    np.testing.assert_allclose(found[0], x[0, 0] + x[0, 2] + x[1, 2])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1, 2, 0, 1]),
        ({"minlength": 6}, [1, 2, 0, 1, 0, 0]),
        ({"maxlength": 2}, [1, 2]),
        ({"weights": [0.5, 1.0, 2.0, 4.0]}, [4.0, 3.0, 0.0, 0.5]),
        ({"dtype": tf.int64}, [1, 2, 0, 1]),
    ],
)
def test_bincount(agree: Any, options: Any, expected: Any) -> None:
    (found,) = agree(
        lambda t: segments.bincount(t, **options), [3, 1, 1, 0], static=False
    )

    assert found.tolist() == expected
    if "dtype" in options:
        assert found.dtype == np.int64


def test_confusion_matrix_of_other_integers() -> None:
    labels = tf.constant([0, 1], tf.int16)
    found = segments.confusion_matrix(labels, tf.constant([1, 1], tf.int64))

    assert found.numpy().tolist() == [[0, 1], [0, 1]]


def test_confusion_matrix(agree: Any) -> None:
    plain, wide, weighted = agree(
        lambda a, b: [
            segments.confusion_matrix(a, b),
            segments.confusion_matrix(a, b, 3, dtype=tf.float32),
            segments.confusion_matrix(a, b, weights=[1.0, 2.0, 3.0]),
        ],
        [0, 1, 1],
        [0, 0, 1],
        static=False,
    )

    assert plain.tolist() == [[1, 0], [1, 1]]
    assert wide.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert weighted.tolist() == [[1, 0], [2, 3]]


@pytest.mark.parametrize(
    ("lengths", "maxlen"), [([1, 3], None), ([[0, 2], [1, 5]], 4), (2, 3), ([1], 0)]
)
def test_sequence_mask(agree: Any, lengths: Any, maxlen: Any) -> None:
    found, floats = agree(
        lambda t: [
            sequences.sequence_mask(t, maxlen),
            sequences.sequence_mask(t, maxlen, tf.float32),
        ],
        lengths,
        static=maxlen is not None,
    )

    width = np.max(lengths) if maxlen is None else maxlen
    expected = np.arange(width) < np.array(lengths)[..., None]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(floats, expected.astype("float32"))


def test_the_mask_of_no_lengths() -> None:
    assert sequences.sequence_mask(tf.zeros([0], tf.int32)).shape == [0, 0]


def test_static_shapes() -> None:
    graph = Graph("g")
    with building(graph):
        lengths = graph.add_input(TensorSpec([None], tf.int32))

        assert sequences.sequence_mask(lengths, 5).shape.as_list() == [None, 5]
        assert segments.bincount(lengths, minlength=3, maxlength=3).shape == [3]


BAD = [
    (lambda: segments.segment_sum([1, 2], [1, 0]), "must be sorted"),
    (lambda: segments.segment_sum([1, 2], [[0], [1]]), "must be a vector"),
    (
        lambda: segments.segment_sum([1, 2], [0]),
        "must have the shape of the first axes",
    ),
    (lambda: segments.segment_sum([1, 2], [0.0, 1.0]), "must be integers"),
    (
        lambda: segments.unsorted_segment_sum([1], [3], 2),
        "less than num_segments = 2, not 3",
    ),
    (lambda: segments.bincount([-1]), "must not be negative"),
    (lambda: segments.confusion_matrix([0], [0, 1]), "must have one shape"),
    (lambda: segments.confusion_matrix([0], [3], 2), r"classes must be in \[0, 2\)"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.function(function, autograph=False)()
