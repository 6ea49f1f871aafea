"""concat, stack, unstack, split, meshgrid and what repeats or moves elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph import Graph
from runtime.core.graph.context import building
from runtime.core.types.specs import TensorSpec


def values(*shape: int, dtype: str = "int32") -> Any:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


# --- concat and stack -----------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["int32", "float32", "bool"])
def test_concat(agree: Any, axis: int, dtype: str) -> None:
    x, y = values(2, 3, dtype=dtype), values(2, 3, dtype=dtype)

    (found,) = agree(lambda *t: tf.concat(t, axis), x, y)
    (dynamic,) = agree(lambda a, b, n: tf.concat([a, b], n), x, y, axis, static=False)

    np.testing.assert_array_equal(found, np.concatenate([x, y], axis))
    np.testing.assert_array_equal(found, dynamic)


def test_concat_of_different_lengths(agree: Any) -> None:
    (found,) = agree(
        lambda *t: tf.concat(t, 0), values(2, 3), values(1, 3), values(0, 3)
    )

    assert found.shape == (3, 3)


def test_concat_of_one_and_of_strings(agree: Any) -> None:
    assert agree(lambda t: tf.concat(t, 0), values(2))[0].tolist() == [0, 1]
    assert agree(lambda *t: tf.concat(t, 0), ["a"], ["b"])[0].tolist() == [b"a", b"b"]


def test_python_numbers_take_the_dtype(agree: Any) -> None:
    x = np.float32([1.5])

    assert agree(lambda t: tf.concat([t, [2]], 0), x)[0].dtype == np.float32
    assert agree(lambda t: tf.stack([t[0], 2]), x)[0].tolist() == [1.5, 2.0]
    assert tf.stack([1, 2.5]).dtype is tf.float32


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_stack_and_unstack(agree: Any, axis: int) -> None:
    x, y = values(2, 3), values(2, 3) + 1

    (found,) = agree(lambda *t: tf.stack(t, axis), x, y)
    parts = agree(lambda t: tf.unstack(t, 2, axis), found)

    np.testing.assert_array_equal(found, np.stack([x, y], axis))
    np.testing.assert_array_equal(parts, [x, y])


def test_stack_of_scalars_and_of_a_tensor(agree: Any) -> None:
    assert agree(lambda *t: tf.stack(t), 1, 2, 3)[0].tolist() == [1, 2, 3]
    assert tf.stack(tf.constant([1, 2])).numpy().tolist() == [1, 2]


def test_unstack_gives_a_list_of_tensors() -> None:
    parts = tf.unstack(tf.constant([1, 2]))

    assert [repr(part) for part in parts] == [
        "<tf.Tensor: shape=(), dtype=int32, numpy=1>",
        "<tf.Tensor: shape=(), dtype=int32, numpy=2>",
    ]


def test_static_shapes_are_merged() -> None:
    graph = Graph("g")
    with building(graph):
        x = graph.add_input(TensorSpec([None, 3]))
        y = graph.add_input(TensorSpec([2, None]))

        assert tf.stack([x, y]).shape.as_list() == [2, 2, 3]
        assert tf.concat([x, y], 0).shape.as_list() == [None, 3]
        assert tf.concat([x, y], 1).shape.as_list() == [2, None]


# --- split ----------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_split_into_equal_parts(agree: Any, axis: int) -> None:
    x = values(4, 4)

    parts = agree(lambda t: tf.split(t, 2, axis), x)

    np.testing.assert_array_equal(parts, np.split(x, 2, axis))


@pytest.mark.parametrize("sizes", [[1, 3], [2, 2], [-1, 1], [0, -1], [4]])
def test_split_by_sizes(agree: Any, sizes: Any) -> None:
    x = values(4, 2)

    parts = agree(lambda t: tf.split(t, sizes), x)
    dynamic = agree(
        lambda t, s: tf.split(t, s, num=len(sizes)),
        x,
        np.array(sizes, np.int32),
        static=False,
    )

    np.testing.assert_array_equal(np.concatenate(parts), x)
    for part, other in zip(parts, dynamic, strict=True):
        np.testing.assert_array_equal(part, other)


def test_split_along_a_tensor(agree: Any) -> None:
    parts = agree(lambda t, axis: tf.split(t, 2, axis), values(2, 4), 1, static=False)

    assert [part.shape for part in parts] == [(2, 2), (2, 2)]


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_meshgrid(agree: Any, indexing: str, count: int) -> None:
    vectors = [values(2), values(3), values(4)][:count]

    grids = agree(lambda *t: tf.meshgrid(*t, indexing=indexing), *vectors)

    for grid, expected in zip(
        grids, np.meshgrid(*vectors, indexing=indexing), strict=True
    ):
        np.testing.assert_array_equal(grid, expected)


# --- more of the same -----------------------------------------------------------------


@pytest.mark.parametrize("multiples", [[1, 1], [2, 3], [0, 2]])
def test_tile(agree: Any, multiples: Any) -> None:
    x = values(2, 3)

    (found,) = agree(lambda t: tf.tile(t, multiples), x)
    (dynamic,) = agree(tf.tile, x, np.array(multiples, np.int32), static=False)

    np.testing.assert_array_equal(found, np.tile(x, multiples))
    np.testing.assert_array_equal(found, dynamic)


@pytest.mark.parametrize(
    ("repeats", "axis"),
    [(2, None), (2, 0), (0, 1), ([1, 2], 0), ([2, 0, 1], 1), ([2], -1)],
)
def test_repeat(agree: Any, repeats: Any, axis: Any) -> None:
    x = values(2, 3)

    (found,) = agree(lambda t: tf.repeat(t, repeats, axis), x)
    (dynamic,) = agree(
        lambda t, r: tf.repeat(t, r, axis),
        x,
        np.array(repeats, np.int32),
        static=False,
        known=("full", "partial"),
    )

    np.testing.assert_array_equal(found, np.repeat(x, repeats, axis))
    np.testing.assert_array_equal(found, dynamic)


@pytest.mark.parametrize(
    ("old", "new"),
    [((3,), (2, 3)), ((2, 1), (2, 4)), ((), (2,)), ((1,), (0,)), ((2,), (2,))],
)
def test_broadcast_to(agree: Any, old: Any, new: Any) -> None:
    x = values(*old)

    (found,) = agree(lambda t: tf.broadcast_to(t, new), x)
    (dynamic,) = agree(tf.broadcast_to, x, np.array(new, np.int32), static=False)

    np.testing.assert_array_equal(found, np.broadcast_to(x, new))
    np.testing.assert_array_equal(found, dynamic)


PADS = [
    ("CONSTANT", "constant", [[1, 2], [0, 1]]),
    ("REFLECT", "reflect", [[1, 0], [2, 1]]),
    ("SYMMETRIC", "symmetric", [[2, 1], [0, 3]]),
    ("constant", "constant", [[0, 0], [0, 0]]),
]


@pytest.mark.parametrize(("mode", "numpy_mode", "widths"), PADS)
def test_pad(agree: Any, mode: str, numpy_mode: Any, widths: Any) -> None:
    x = values(2, 3)

    (found,) = agree(lambda t: tf.pad(t, widths, mode), x)
    (dynamic,) = agree(
        lambda t, w: tf.pad(t, w, mode), x, np.array(widths, np.int32), static=False
    )

    np.testing.assert_array_equal(found, np.pad(x, widths, mode=numpy_mode))
    np.testing.assert_array_equal(found, dynamic)


def test_pad_with_a_value(agree: Any) -> None:
    (found,) = agree(lambda t: tf.pad(t, [[1, 0]], constant_values=9), [1.0])
    (dynamic,) = agree(
        lambda t, n: tf.pad(t, [[0, n]], constant_values=-1), [1], 2, static=False
    )

    assert (found.tolist(), dynamic.tolist()) == ([9.0, 1.0], [1, -1, -1])


@pytest.mark.parametrize("axis", [[0], [1], [0, 1], [-1], []])
def test_reverse(agree: Any, axis: Any) -> None:
    x = values(2, 3)

    (found,) = agree(lambda t: tf.reverse(t, axis), x)
    (dynamic,) = agree(tf.reverse, x, np.array(axis, np.int32), static=False)

    np.testing.assert_array_equal(found, np.flip(x, axis))
    np.testing.assert_array_equal(found, dynamic)


@pytest.mark.parametrize(
    ("shift", "axis"), [(1, 0), (-2, 1), ([1, 1], [0, 1]), (7, -1)]
)
def test_roll(agree: Any, shift: Any, axis: Any) -> None:
    x = values(2, 3)

    (found,) = agree(lambda t: tf.roll(t, shift, axis), x)

    np.testing.assert_array_equal(found, np.roll(x, shift, axis))


def test_roll_by_a_tensor(agree: Any) -> None:
    (found,) = agree(lambda t, n: tf.roll(t, n, 0), values(3), 1, static=False)

    assert found.tolist() == [2, 0, 1]


# --- errors ---------------------------------------------------------------------------

MATRIX = tf.constant(values(2, 3))
BAD = [
    (
        lambda: tf.concat([MATRIX, [[1]]], 0),
        r"ConcatV2.*\(2, 3\), \(1, 1\).*but for axis 0",
    ),
    (lambda: tf.concat([MATRIX, [1]], 0), "must have one rank of at least 1"),
    (lambda: tf.concat([1, 2], 0), "must have one rank of at least 1"),
    (lambda: tf.concat([MATRIX, MATRIX], 2), "axis 2 is outside"),
    (
        lambda: tf.concat([MATRIX, [[1.5]]], 0),
        "ConcatV2.*int32 and float32|but for axis",
    ),
    (lambda: tf.concat([MATRIX, tf.ones([2, 3])], 0), "ConcatV2.*int32 and float32"),
    (lambda: tf.stack([MATRIX, [1]]), "Pack.*must be equal"),
    (lambda: tf.unstack(MATRIX, 3), "has length 2, not num = 3"),
    (lambda: tf.split(MATRIX, 2, 1), "length 3, which does not divide into 2"),
    (lambda: tf.split(MATRIX, [1, 3], 1), "do not add up to the length 3"),
    (lambda: tf.split(MATRIX, [5, -2], 1), "must not be negative"),
    (lambda: tf.tile(MATRIX, [2]), "one entry for each axis"),
    (lambda: tf.tile(MATRIX, [2, -1]), "must not be negative"),
    (lambda: tf.broadcast_to(MATRIX, [2, 4]), "do(es)? not broadcast"),
    (lambda: tf.pad(MATRIX, [[1, 1]]), "one pair"),
    (lambda: tf.pad(MATRIX, [[0, 0], [3, 0]], "REFLECT"), "at most 2, not 3"),
    (lambda: tf.pad(MATRIX, [[0, -1], [3, 0]]), "must not be negative"),
    (lambda: tf.reverse(MATRIX, [2]), "axis 2 is outside"),
    (lambda: tf.reverse(MATRIX, [0, -2]), "name one axis twice"),
    (lambda: tf.repeat(MATRIX, [1, 2], 1), "one entry for each of the 3"),
]


@pytest.mark.parametrize(("function", "message"), BAD)
def test_errors_eager_and_traced(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function()
    with (
        building(Graph("g")),
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        function()


def test_an_axis_of_unknown_length_is_not_padded_by_too_much() -> None:
    pad = tf.function(lambda x: tf.pad(x, [[2, 0]], "REFLECT"))
    concrete = pad.get_concrete_function(tf.TensorSpec([None]))

    assert concrete(tf.constant([1.0, 2.0, 3.0])).shape == (5,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most 1, not 2"):
        concrete(tf.constant([1.0, 2.0]))


def test_what_tracing_has_to_know() -> None:
    graph = Graph("g")
    with building(graph):
        x = graph.add_input(TensorSpec([None]))
        sizes = graph.add_input(TensorSpec([None], tf.int32))
        with pytest.raises(
            ValueError, match="is not known while tracing; give it as num="
        ):
            tf.unstack(x)
        with pytest.raises(ValueError, match="number of parts is not known"):
            tf.split(x, sizes)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: tf.concat([], 0), "at least one"),
        (lambda: tf.stack([]), "at least one"),
        (lambda: tf.split([1], 0), "cannot be split into 0"),
        (lambda: tf.pad([1], [[0, 0]], "EDGE"), "mode must be one of"),
        (lambda: tf.meshgrid([1], indexing="ji"), "indexing must be"),
    ],
)
def test_arguments(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function()


@pytest.mark.parametrize("executor", ["numpy", "native"])
@pytest.mark.parametrize(
    ("function", "items"),
    [
        (lambda x, n: tf.tile(x, n), [2, 3]),
        (lambda x, n: tf.split(x, n, num=2), [1, 1, 1]),
        (lambda x, n: tf.slice(x, n, n), [1, 1]),
        (lambda x, n: tf.pad(x, tf.reshape(n, [-1, 2]), "REFLECT"), [1, 1, 1, 1]),
        (lambda x, n: tf.repeat(x, n), [2, -1, 1]),
        (lambda x, n: tf.linspace(0.0, 1.0, n[0]), [0]),
        (lambda x, n: tf.linalg.cross(n, n), [1, 2]),
    ],
)
@pytest.mark.parametrize("dims", [[3], [None], None])
def test_wrong_values_are_refused_when_the_graph_runs(
    function: Any, items: list[int], executor: str, dims: Any
) -> None:
    signature = [TensorSpec(dims), TensorSpec([None], tf.int32)]
    staged = tf.function(function, input_signature=signature, executor=executor)

    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot compute"):
        staged(tf.constant([1.0, 2.0, 3.0]), tf.constant(items))
