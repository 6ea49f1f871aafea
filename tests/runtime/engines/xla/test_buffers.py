"""Lists, arrays of tensors and unknown lengths: with room that grows when needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import runtime as tf

pytest.importorskip("jax")


@pytest.fixture
def by_xla() -> Iterator[None]:
    """The interpreter gives no result in the place of XLA."""
    no = mock.Mock(side_effect=AssertionError("the interpreter ran"))
    with mock.patch("runtime.engines.xla.executable.interpreter.run", no):
        yield


def check(function: Any, *arguments: Any) -> None:
    """Compare calls with one number on XLA with those by NumPy."""
    by_numpy = tf.function(function, executor="numpy")
    compiled = tf.function(function, executor="xla")
    for argument in map(tf.constant, arguments):
        expected, found = by_numpy(argument), compiled(argument)
        tf.nest.assert_same_structure(found, expected)
        for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected)):
            assert one.dtype is other.dtype
            np.testing.assert_array_equal(one.numpy(), other.numpy())


def squares(n: Any) -> Any:
    found = []
    for i in range(n):
        if i % 3:
            found.append(i * i)
    return found


@pytest.mark.usefixtures("by_xla")
def test_appended_elements() -> None:
    check(squares, 0, 3, 300)


@pytest.mark.usefixtures("by_xla")
def test_room_that_was_enough_is_remembered() -> None:
    compiled = tf.function(squares, executor="xla")
    concrete = compiled.get_concrete_function(tf.constant(3))
    room = concrete.executable._room
    assert len(compiled(tf.constant(3))) == 2
    before = room.size
    for _ in range(2):
        assert len(compiled(tf.constant(600))) == 400
        assert before < 400 <= room.size <= 1600


@pytest.mark.usefixtures("by_xla")
def test_methods_of_lists() -> None:
    def changed(n: Any) -> Any:
        items = [n]
        for i in range(n):
            items.insert(0, i)
            items.extend([i + 1, i + 2])
            items[-1] += n
            if i % 2:
                items.pop(1)
        del items[0]
        return items, len(items), sum(items), n in items, items.index(n), sorted(items)

    check(changed, 5, 30)


@pytest.mark.usefixtures("by_xla")
def test_arrays_of_unknown_elements_and_sizes() -> None:
    def written(n: Any) -> Any:
        grown = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        sized = tf.TensorArray(tf.int32, size=n)
        fixed = tf.TensorArray(tf.int32, size=4)
        for i in tf.range(n):
            grown = grown.write(2 * i, [tf.cast(i, tf.float32), 1.0])
            sized = sized.write(n - 1 - i, i)
            fixed = fixed.write(i % 4, [[i]])
        return grown.stack(), sized.stack(), sized.size(), fixed.stack(), sized.read(0)

    check(written, 5, 70)


@pytest.mark.usefixtures("by_xla")
def test_tensors_that_grow_in_loops() -> None:
    def joined(n: Any) -> Any:
        values = tf.zeros([0], tf.int32)
        for i in tf.range(n):
            if i % 2 == 0:
                values = tf.concat([values, [i, i + 1]], 0)
        half = values[1 : tf.shape(values)[0] // 2]
        return (
            values,
            half * 2,
            tf.reduce_any(values > 9),
            tf.shape(half),
            values[-1],
        )

    check(joined, 6, 200)


@pytest.mark.usefixtures("by_xla")
def test_stacks_of_gradients() -> None:
    @tf.function(executor="xla")
    def slope(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            while n > 0:
                y = tf.sin(y) * x
                n -= 1
        return tape.gradient(y, x)

    plain = tf.function(slope.python_function)
    for n in (0, 3, 100):
        given = tf.constant(1.5, tf.float64), tf.constant(n)
        np.testing.assert_allclose(slope(*given), plain(*given), rtol=1e-12)


def test_errors_are_those_of_lists() -> None:
    @tf.function(executor="xla")
    def read(n: Any, at: Any) -> Any:
        items = []
        for i in range(n):
            items.append(i)
        return items[at]

    assert read(tf.constant(3), tf.constant(-3)).numpy() == 0
    for place in (3, -4):
        with pytest.raises(IndexError, match="list index out of range"):
            read(tf.constant(3), tf.constant(place))


def test_what_has_no_known_length_is_refused_with_its_line() -> None:
    @tf.function(executor="xla")
    def transposed(x: Any, n: Any) -> Any:
        return tf.transpose(x[:n])

    with pytest.raises(tf.errors.UnimplementedError, match=r"test_buffers.py:\d+: XLA"):
        transposed(tf.ones([3, 2]), tf.constant(2))
