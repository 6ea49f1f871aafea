"""Shapes and orders of axes, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec

DTYPES = ["int32", "float32", "bool", "complex64", "float16", "int64"]


def values(*shape: int, dtype: str = "float32") -> Any:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


# --- reshape --------------------------------------------------------------------------

RESHAPES = [
    ((6,), (2, 3)),
    ((2, 3), (-1,)),
    ((2, 3), (3, -1)),
    ((2, 3, 4), (-1, 4)),
    ((), (1, 1)),
    ((1,), ()),
    ((0, 3), (0, 5)),
    ((4, 0), (2, 0)),
    ((2, 2), (4, 1, 1)),
]


@pytest.mark.parametrize(("old", "new"), RESHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reshape(agree: Any, old: Any, new: Any, dtype: str) -> None:
    x = values(*old, dtype=dtype)

    (found,) = agree(lambda t: tf.reshape(t, new), x)

    np.testing.assert_array_equal(found, x.reshape(new))


def test_reshape_strings(agree: Any) -> None:
    (found,) = agree(lambda t: tf.reshape(t, [2, 1]), ["a", "b"])

    assert found.tolist() == [[b"a"], [b"b"]]


@pytest.mark.parametrize(("old", "new"), RESHAPES)
def test_reshape_to_a_tensor(agree: Any, old: Any, new: Any) -> None:
    x, shape = values(*old), np.array(new, np.int32)

    (found,) = agree(lambda t, s: tf.reshape(t, s), x, shape, static=False)

    np.testing.assert_array_equal(found, x.reshape(new))


def test_reshape_to_ints_and_tensors(agree: Any) -> None:
    x = values(2, 6)

    (found,) = agree(
        lambda t, n: tf.reshape(t, [n, -1, 2]), x, np.int32(3), static=False
    )

    np.testing.assert_array_equal(found, x.reshape(3, 2, 2))


def static_shape(function: Any, *specs: TensorSpec) -> Any:
    graph = Graph("g")
    with building(graph):
        return function(*map(graph.add_input, specs)).shape


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ([-1, 3], [None, 6], [None, 3]),
        ([4, -1], [2, 6], [4, 3]),
        ([-1], None, [None]),
        ([3, None], [2, 6], [3, 4]),
        ([None, -1], [2, 6], [None, None]),
    ],
)
def test_static_shape_of_reshape(new: Any, old: Any, expected: Any) -> None:
    def function(x: Any, n: Any) -> Any:
        return tf.reshape(x, [n if dim is None else dim for dim in new])

    scalar = TensorSpec([], tf.int32)

    assert static_shape(function, TensorSpec(old), scalar).as_list() == expected


def test_shapes_are_followed_through_programs() -> None:
    def function(x: Any) -> Any:
        batch, width = tf.shape(x)[0], tf.shape(x)[1]
        return tf.zeros([batch, width // 2, 2 * width])

    assert static_shape(function, TensorSpec([None, 6])).as_list() == [None, 3, 12]


def test_a_shape_alone_is_followed() -> None:
    found = static_shape(lambda x: tf.ones(tf.shape(x)), TensorSpec([None, 6]))

    assert found.as_list() == [None, 6]


def test_an_unknown_shape_of_known_length_gives_the_rank() -> None:
    shape = TensorSpec([3], tf.int32)

    assert static_shape(lambda s: tf.zeros(s), shape).as_list() == [None] * 3


# --- axes -----------------------------------------------------------------------------

TRANSPOSES = [
    ((2, 3), None),
    ((2, 3), [1, 0]),
    ((2, 3, 4), [1, 0, 2]),
    ((2, 3, 4), [-1, 0, 1]),
    ((2, 3, 4), None),
    ((5,), [0]),
    ((), None),
]


@pytest.mark.parametrize(("shape", "perm"), TRANSPOSES)
def test_transpose(agree: Any, shape: Any, perm: Any) -> None:
    x = values(*shape)

    (found,) = agree(lambda t: tf.transpose(t, perm), x)

    np.testing.assert_array_equal(found, x.transpose(perm))


def test_transpose_conjugated(agree: Any) -> None:
    x = np.array([[1 + 2j, 3j]], np.complex64)

    (found,) = agree(lambda t: tf.transpose(t, conjugate=True), x)

    np.testing.assert_array_equal(found, x.conj().T)


def test_transpose_by_a_tensor(agree: Any) -> None:
    x = values(2, 3, 4)

    (found,) = agree(tf.transpose, x, np.array([2, 0, 1], np.int32), static=False)

    assert found.shape == (4, 2, 3)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_expand_dims(agree: Any, axis: int) -> None:
    x = values(2, 3)

    (found,) = agree(lambda t: tf.expand_dims(t, axis), x)
    (dynamic,) = agree(tf.expand_dims, x, np.int32(axis), static=False)

    assert found.shape == dynamic.shape == np.expand_dims(x, axis).shape


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((1, 2, 1), None), ((1, 2, 1), [0]), ((1, 2, 1), -1), ((2,), None)],
)
def test_squeeze(agree: Any, shape: Any, axis: Any) -> None:
    x = values(*shape)

    (found,) = agree(lambda t: tf.squeeze(t, axis), x)

    assert (
        found.shape
        == np.squeeze(x, tuple(axis) if isinstance(axis, list) else axis).shape
    )


# --- about the shape ------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3, 4)])
@pytest.mark.parametrize("out_type", [tf.int32, tf.int64])
def test_shape_size_rank(agree: Any, shape: Any, out_type: Any) -> None:
    found = agree(
        lambda t: [tf.shape(t, out_type), tf.size(t, out_type), tf.rank(t)],
        values(*shape),
    )

    assert [item.tolist() for item in found] == [
        list(shape),
        np.prod(shape),
        len(shape),
    ]
    assert [item.dtype.name for item in found] == [out_type.name] * 2 + ["int32"]


def test_identity_and_stop_gradient(agree: Any) -> None:
    x = values(2, 3)

    for found in agree(lambda t: [tf.identity(t), tf.stop_gradient(t)], x):
        np.testing.assert_array_equal(found, x)


def test_shape_n() -> None:
    assert [s.numpy().tolist() for s in tf.shape_n([[1, 2], 3])] == [[2], []]


def test_ensure_shape_refines(agree: Any) -> None:
    x = values(2, 3)

    agree(lambda t: tf.ensure_shape(t, [None, 3]), x)

    assert static_shape(
        lambda t: tf.ensure_shape(t, [2, None]), TensorSpec([None, 3])
    ) == [
        2,
        3,
    ]


# --- errors ---------------------------------------------------------------------------

BAD = [
    (lambda x: tf.reshape(x, [4, 2]), "Reshape.*(2, 3) has 6 elements.*(4, 2)"),
    (lambda x: tf.reshape(x, [4, -1]), "Reshape.*do not fill the shape"),
    (lambda x: tf.reshape(x, [-1, -1]), "more than one -1"),
    (lambda x: tf.reshape(x, [-2, 3]), "negative lengths"),
    (lambda x: tf.transpose(x, [0]), "perm.*orders 1 axes.*has 2"),
    (lambda x: tf.transpose(x, [0, 0]), "names an axis twice"),
    (lambda x: tf.transpose(x, [0, 2]), "perm entry 2 is outside"),
    (lambda x: tf.expand_dims(x, 3), r"axis 3 is outside of \[-3, 3\)"),
    (lambda x: tf.squeeze(x, [0]), "axis 0 of the shape .* has length 2"),
    (lambda x: tf.ensure_shape(x, [2, 4]), "EnsureShape.*not compatible with"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors_eager_and_traced(function: Any, message: str) -> None:
    pattern = message.replace("(2, 3)", r"\(2, 3\)").replace("(4, 2)", r"\(4, 2\)")
    x = tf.constant(values(2, 3))

    with pytest.raises(tf.errors.InvalidArgumentError, match=pattern):
        function(x)
    with (
        building(Graph("g")),
        pytest.raises(tf.errors.InvalidArgumentError, match=pattern),
    ):
        function(x)


def test_errors_when_the_graph_runs() -> None:
    @tf.function(autograph=False)
    def reshaped(x: Any, n: Any) -> Any:
        return tf.reshape(x, [n, 4])

    with pytest.raises(tf.errors.InvalidArgumentError, match="has 6 elements"):
        reshaped(tf.ones([2, 3]), tf.constant(2))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: tf.zeros([2, None]), r"unknown dimension; use tf.shape\(x\)\[axis\]"),
        (
            lambda: tf.zeros(tf.TensorShape([None])),
            r"not fully known here; use tf.shape",
        ),
        (lambda: tf.reshape([1, 2], [2.0]), "shape must be an integer, not 2.0"),
        (lambda: tf.zeros([True]), "shape must be an integer, not True"),
        (lambda: tf.expand_dims([1], 0.5), "axis must be an integer"),
        (lambda: tf.reshape([1, 2], tf.constant([1.0])), "shape must be of integers"),
    ],
)
def test_arguments_that_are_no_shapes(function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        function()
