"""``x[...]``, against NumPy."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy
import numpy as np
import pytest
from hypothesis import given

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec
from runtime.engines.numpy_source.executable import compile_graph

X = np.arange(24).reshape(2, 3, 4)

KEYS = [
    0,
    -1,
    (1, 2),
    (1, 2, 3),
    np.s_[:],
    np.s_[1:],
    np.s_[:-1],
    np.s_[::-1],
    np.s_[::2, 1:3],
    np.s_[:, ::-2, -2:],
    np.s_[5:],
    np.s_[-9:9],
    np.s_[1:1],
    ...,
    np.s_[..., 0],
    np.s_[0, ..., 1:],
    np.s_[:, None],
    np.s_[None, ..., None],
    np.s_[0, None, :, None, 1],
    None,
    (),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_index(agree: Any, key: Any, dtype: str) -> None:
    x = X.astype(dtype)

    (found,) = agree(lambda t: t[key], x)

    np.testing.assert_array_equal(found, x[key])


@given(
    hypothesis.extra.numpy.basic_indices(
        (2, 3, 4), allow_newaxis=True, allow_ellipsis=True
    )
)
def test_any_index(key: Any) -> None:
    found = tf.constant(X)[key]

    np.testing.assert_array_equal(found.numpy(), X[key])


def test_strings(agree: Any) -> None:
    assert agree(lambda t: t[1], ["a", "b"])[0].item() == b"b"
    assert agree(lambda t, i: t[i:], ["a", "b"], 1, static=False)[0].tolist() == [b"b"]


@pytest.mark.parametrize("index", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_tensors_as_indices(agree: Any, index: int, dtype: str) -> None:
    i = np.array(index, dtype)

    found = agree(
        lambda t, i: [t[i], t[i, ..., i], t[:, i : i + 2], t[..., i, None], t[i:, i]],
        X,
        i,
        static=False,
    )

    expected = [
        X[i], X[i, ..., i], X[:, i : i + 2], X[..., i, None], X[i:, i],
    ]  # fmt: skip
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_eager_tensors_and_numpy_integers() -> None:
    x = tf.constant(X)

    assert x[tf.constant(1), np.int64(2), np.uint8(3)].numpy() == 23
    assert x[tf.Variable(1)].shape == [3, 4]


def test_masks(agree: Any) -> None:
    (found,) = agree(lambda t: t[t > 20], X, static=False, known=("full", "partial"))

    np.testing.assert_array_equal(found, X[X > 20])
    assert tf.constant([1, 2])[np.array([True, False])].numpy().tolist() == [1]


def test_static_shapes() -> None:
    graph = Graph("g")
    with building(graph):
        x = graph.add_input(TensorSpec([None, 3, 4]))
        n = graph.add_input(TensorSpec([], tf.int32))

        assert x[0].shape.as_list() == [3, 4]
        assert x[1:].shape.as_list() == [None, 3, 4]
        assert x[:0].shape.as_list() == [0, 3, 4]
        assert x[:, n].shape.as_list() == [None, 4]
        assert x[:, n:].shape.as_list() == [None, None, 4]
        assert x[:, -2:, None].shape.as_list() == [None, 2, 1, 4]
        assert x[..., :2].shape.as_list() == [None, 3, 2]


def test_the_source_is_the_index() -> None:
    graph = Graph("g")
    with building(graph):
        x, i = (
            graph.add_input(TensorSpec([2, 3, 4])),
            graph.add_input(TensorSpec([], "int32"), "i"),
        )
        graph.outputs = [x[i, 1:i, ..., ::-1, tf.newaxis]]

    assert "x[i, 1:i, ..., ::-1, None]" in compile_graph(graph).source


# --- slice and strided_slice ----------------------------------------------------------


@pytest.mark.parametrize(
    ("begin", "size"),
    [([0, 0, 0], [2, 3, 4]), ([1, 0, 2], [1, -1, 2]), ([2, 3, 4], [0, 0, 0])],
)
def test_slice(agree: Any, begin: Any, size: Any) -> None:
    (found,) = agree(lambda t: tf.slice(t, begin, size), X)
    (dynamic,) = agree(
        tf.slice, X, np.array(begin, np.int32), np.array(size, np.int32), static=False
    )

    index = tuple(slice(b, None if s < 0 else b + s) for b, s in zip(begin, size))
    np.testing.assert_array_equal(found, X[index])
    np.testing.assert_array_equal(dynamic, X[index])


def test_strided_slice(agree: Any) -> None:
    (found,) = agree(
        lambda t: tf.strided_slice(t, [0, 0, 1], [2, 3, 4], [1, 2, 1], begin_mask=4), X
    )
    (masked,) = agree(
        lambda t: tf.strided_slice(
            t,
            [1, 0, 0],
            [0, 0, 0],
            ellipsis_mask=2,
            new_axis_mask=4,
            shrink_axis_mask=1,
        ),
        X,
    )

    np.testing.assert_array_equal(found, X[0:2, 0:3:2, :4])
    np.testing.assert_array_equal(masked, X[1, ..., None])


def test_strided_slice_by_tensors(agree: Any) -> None:
    bounds = [np.array(b, np.int32) for b in ([0, 1], [2, 3])]

    (found,) = agree(tf.strided_slice, X, *bounds, static=False, known=("full",))

    np.testing.assert_array_equal(found, X[0:2, 1:3])


# --- errors ---------------------------------------------------------------------------

BAD = [
    (lambda x: x[2], "slice index 2 of dimension 0 out of bounds: its length is 2"),
    (lambda x: x[0, -4], "slice index -4 of dimension 1 out of bounds"),
    (lambda x: x[0, 0, 0, 0], r"4 indices are too many for the shape \(2, 3, 4\)"),
    (lambda x: x[::0], "step of a slice must not be 0"),
    (
        lambda x: tf.slice(x, [0, 0, 3], [2, 3, 2]),
        "2 elements from 3 on do not lie within",
    ),
    (lambda x: tf.slice(x, [0, 0], [2, 3]), "one entry for each axis"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors(function: Any, message: str) -> None:
    x = tf.constant(X)

    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function(x)
    with (
        building(Graph("g")),
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        function(x)


def test_errors_when_the_graph_runs() -> None:
    @tf.function(autograph=False)
    def at(x: Any, i: Any) -> Any:
        return x[:, i]

    with pytest.raises(
        tf.errors.InvalidArgumentError, match="slice index 3 of dimension 1"
    ):
        at(tf.constant(X), tf.constant(3))


@pytest.mark.parametrize(
    "key", [[0, 1], np.array([0]), tf.constant([0]), 1.5, "a", True]
)
def test_what_is_no_index(key: Any) -> None:
    with pytest.raises(TypeError, match="integer"):
        tf.constant(X)[key]


def test_two_ellipses() -> None:
    with pytest.raises(TypeError, match="only one Ellipsis"):
        tf.constant(X)[..., ...]
