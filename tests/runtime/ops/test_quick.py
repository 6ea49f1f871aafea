"""The quick way of eager operations gives what the general way gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.ops.eager import attempt, use_quick_way

F = np.array([[1.5, -2.0, np.inf], [np.nan, 0.0, -0.0]], np.float32)
ARRAYS = {
    "f32": F,
    "f16": np.array([[1, 60000, 60000]], np.float16),
    "i32": np.array([[1, -2, 2**31 - 1], [5, 0, 7]], np.int32),
    "u8": np.array([200, 100, 3], np.uint8),
    "b": np.array([[True, False]]),
    "c": np.array([1 + 2j, 3], np.complex64),
    "scalar": np.array(2.5, np.float32),
    "number": np.array(1, np.int32),
    "empty": np.zeros((0, 3), np.float32),
    "cube": np.arange(8.0).reshape(2, 2, 2),
    "text": np.array([b"a", b"b"], object),
}
MASK = tf.constant([True, False])

CALLS: list[Callable[[Any], Any]] = [
    *(
        lambda x, f=f, axis=axis, keep=keep: f(x, axis, keep)
        for f in (
            tf.reduce_sum, tf.reduce_prod, tf.reduce_max, tf.reduce_min,
            tf.reduce_mean, tf.reduce_all, tf.reduce_any,
        )
        for axis in (None, 0, -1, 1, 5, [0], (0, 1), [], [0, 0], True, "x", 0.5)
        for keep in (False, True)
    ),
    *(
        lambda x, key=key: x[key]
        for key in (
            0, -1, 5, True, None, ..., (), (0, 1), (..., 0), (0, ..., None),
            (..., ...), slice(1), slice(None, None, -1), slice(0, 1, 0),
            (slice(1), 0), (0, 0, 0, 0), "a", 1.0, [0], MASK, np.int64(1),
            slice(np.int32(0), None), slice(True), tf.constant(1),
            tf.constant([0]), tf.constant(True), (slice(None), tf.constant(-1)),
            (tf.constant(9),), tf.constant(1.0),
        )
    ),
    *(
        lambda x, shape=shape: tf.reshape(x, shape)
        for shape in ([-1], (), [3, 2], (2, -1, 1), [-1, -1], [-2, 3], [7], [True],
                      [2.0], 6, [np.int64(6)], tf.constant([-1]), [None])
    ),
    *(
        lambda x, dtype=dtype: tf.cast(x, dtype)
        for dtype in ("int32", "float32", "uint8", "bool", "complex64", "string",
                      float, np.float16, "no dtype")
    ),
    lambda x: tf.matmul(x, x),
    lambda x: tf.matmul(x, x, transpose_b=True),
    lambda x: tf.matmul(x, x, adjoint_a=True),
    lambda x: tf.matmul(x, x, transpose_a=True, adjoint_a=True),
    lambda x: tf.matmul(x, x, transpose_a=True, output_type=tf.float64),
    lambda x: x @ x,
    tf.tanh,
    tf.sigmoid,
    tf.argmax,
    tf.transpose,
    lambda x: tf.transpose(x, [1, 0]),
    *(lambda x, axis=axis: tf.expand_dims(x, axis) for axis in (0, 1, -1, -2, 9, True)),
    *(lambda x, axis=axis: tf.unstack(x, axis=axis) for axis in (0, 1, -1, 9)),
    *(
        lambda x, depth=depth, axis=axis, dtype=dtype: tf.one_hot(
            x, depth, axis=axis, dtype=dtype
        )
        for depth in (0, 3, -1, True, 2.0)
        for axis in (None, 0, -1, 1, 7)
        for dtype in (None, "int8", "bool", "string")
    ),
    lambda x: tf.squeeze(x),
    lambda x: tf.squeeze(x, 0),
    lambda x: tf.concat([x, x], 0),
    lambda x: tf.concat([x, MASK], 0),
    lambda x: tf.stack([x, x], axis=1),
    lambda x: tf.split(x, 2),
    lambda x: tf.where(x == x, x, x),
    lambda x: tf.gather(x, [1, 0]),
    *(
        lambda x, places=places, axis=axis: tf.gather(x, places, axis=axis)
        for places in (
            0, 1, 9, -1, True, 1.0, 2**40, [0], tf.constant([1, 0]),
            tf.constant([[0, -1]]), tf.constant([9]), tf.constant([0.0]), MASK,
            tf.constant(1), tf.constant([1], tf.int64), tf.constant([0], tf.uint8),
        )
        for axis in (None, 0, 1, -1, 5, True)
    ),
    *(
        lambda x, other=other: tf.where(x == x, x, other)
        for other in (0.5, 1, 1e300, True, 1j, "a", tf.constant(2.0), np.float32(1),
                      tf.constant([1, 2]), [0.5])
    ),
    lambda x: tf.where(x, x, x),
    lambda x: tf.where(MASK, x, x),
    lambda x: tf.concat((x, x), -1),
    lambda x: tf.concat([x, x], True),
    lambda x: tf.concat([x], 7),
    lambda x: tf.concat([x, x[0]], 0),
    lambda x: tf.stack((x, x)),
    lambda x: tf.stack([x, x], -1),
    lambda x: tf.stack([x, x[0]]),
    lambda x: tf.stack([x, x], 9),
    *(lambda x, axis=axis: tf.nn.softmax(x, axis) for axis in (None, -1, 0, 7, "a")),
    *(
        lambda x, dims=dims, dtype=dtype, make=make: make(dims, dtype)
        for make in (tf.zeros, tf.ones)
        for dims in (2, [], (2, 3), [-1], -1, 2**40 * 0, [True], [2.0], None, "a", 1.5)
        for dtype in ("int32", tf.float16, tf.string, tf.bool, None, tf.complex64)
    ),
    *(
        lambda x, bounds=bounds: tf.range(*bounds)
        for bounds in ((5,), (0,), (-1,), (1, 5), (5, 1), (1, 9, 3), (9, 1, -3),
                       (1, 5, 0), (2.5,), (True,), (2**31, 2**31 + 2), (1, 2, 2**33),
                       (-(2**31), 3 - 2**31))
    ),
    *(
        lambda x, value=value: tf.constant(value)
        for value in ([1, 2], [2**31], [-(2**31), 2**31 - 1], [2**64], [1, True],
                      [[1, 2], [3, 4]], [[1], [2, 3]], [[1.5], [2]], [], [[]],
                      [[], []], [1, [2]], [["a"]], [[None]], (1, 2), [(1,), [2]])
    ),
    tf.zeros_like,
    lambda x: x + 1,
    lambda x: x / 0,
    lambda x: tf.add(x, F),
    lambda x: F * x,
    lambda x: tf.add(x, [1.0]),
]  # fmt: skip


@contextmanager
def general_way() -> Iterator[None]:
    use_quick_way(False)
    try:
        yield
    finally:
        use_quick_way(True)


def observed(call: Callable[[Any], Any], array: Any) -> Any:
    try:
        result = call(tf.constant(array))
    except Exception as error:
        return type(error), str(error)
    parts = result if isinstance(result, (list, tuple)) else [result]
    found = [(part.dtype, part.shape.as_list()) for part in parts]
    return found, [part._array.tobytes() for part in parts if part.dtype != tf.string]


@pytest.mark.parametrize("kind", ARRAYS)
def test_both_ways_agree(kind: str) -> None:
    array = ARRAYS[kind]
    for number, call in enumerate(CALLS):
        quick = observed(call, array)
        with general_way():
            assert quick == observed(call, array), (kind, number)


@pytest.mark.parametrize(
    "value", [[1.5], [1, 2], 1.5, 2, True, np.float32(1), [[1], [2.5]]]
)
def test_values_of_variables(value: Any) -> None:
    def changed(method: str, start: Any) -> Any:
        v = tf.Variable(start)
        try:
            assert getattr(v, method)(value) is v
        except Exception as error:
            return type(error), str(error)
        return v.numpy().tolist(), v.dtype, v.shape

    for method in ("assign", "assign_add", "assign_sub"):
        for start in ([1.0], [1, 2], 3.0, 3, True, [True], "a"):
            quick = changed(method, start)
            with general_way():
                assert quick == changed(method, start)


def test_the_programs_own_arrays_stay_its_own() -> None:
    mine = np.ones(2, np.float32)
    v = tf.Variable([0.0, 0.0])
    v.assign(mine)
    total = tf.constant([1.0, 1.0]) + mine
    constant = tf.constant(mine)
    mine[:] = 9

    assert v.numpy().tolist() == constant.numpy().tolist() == [1, 1]
    assert total.numpy().tolist() == [2, 2]


def test_a_variable_keeps_what_was_read_before() -> None:
    v = tf.Variable([1.0, 2.0])
    before = v[0]
    part = tf.reduce_sum(v)
    v.assign_add([1.0, 1.0])

    assert (float(before), float(part), v.numpy().tolist()) == (1, 3, [2, 3])


def test_nothing_warns() -> None:
    x = tf.constant([0.0, 3e38])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.cast(x * 10, "int32")
        tf.reduce_sum(x * 2), tf.math.log(-x), x / 0, tf.reduce_mean(x * x)
        tf.matmul([x], [x * 9], transpose_b=True)


def test_functions_of_the_program_see_its_context() -> None:
    setting: ContextVar[str] = ContextVar("setting", default="default")
    setting.set("mine")

    def read(x: Any) -> Any:
        return np.array(len(setting.get()), np.int32) + x

    for stateful in (True, False):
        result = tf.numpy_function(read, [tf.constant(1)], tf.int32, stateful=stateful)
        assert int(result) == 5


def test_an_attempt_that_does_not_fit() -> None:
    assert attempt(np.reshape, np.ones(3), (2,)) is None
    found = attempt(np.add.reduce, np.ones(3))
    assert float(found) == 3
