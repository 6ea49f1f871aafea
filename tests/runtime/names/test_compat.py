"""Names of TensorFlow 1 do what those of TensorFlow 2 do."""

from __future__ import annotations

from typing import Any

import runtime as tf


def test_programs_with_names_of_tensorflow_1() -> None:
    variable, seen = tf.Variable(0), []

    @tf.function
    def walk(numbers: Any) -> Any:
        for number in numbers:
            tf.compat.v1.assign(variable, number)
            tf.compat.v1.assign_add(variable, 3)
            tf.compat.v1.assign_sub(variable, 1)
            tf.compat.v1.py_func(lambda n: seen.append(int(n)), [number], [])
        return tf.compat.v1.to_float(variable)

    assert walk(tf.constant([5, 6])).numpy() == 8.0
    assert (int(variable), seen) == (8, [5, 6])


def test_dtypes_of_casts() -> None:
    v1 = tf.compat.v1
    casts = (v1.to_float, v1.to_double, v1.to_int32, v1.to_int64)
    expected = [tf.float32, tf.float64, tf.int32, tf.int64]
    assert [cast(1.5).dtype for cast in casts] == expected


def test_initial_weights() -> None:
    make = tf.compat.v1.glorot_uniform_initializer
    tf.random.set_seed(1)
    for shape, limit in (((10, 20), 0.2**0.5), ([6], 0.5**0.5), ((2, 2, 3, 3), 0.5)):
        weights = make()(shape)
        largest = float(tf.reduce_max(tf.abs(weights)))

        assert (weights.shape, weights.dtype) == (tuple(shape), tf.float32)
        assert limit * 0.5 < largest <= limit + 1e-6
    assert make(seed=3, dtype=tf.float64)(()).dtype is tf.float64
