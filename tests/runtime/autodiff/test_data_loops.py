"""Gradients of loops over data sets in functions, with tapes around and inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf

DATA = np.array([0.5, 1.5, 2.5, 3.5])


def _plain(data: Any, w: Any) -> Any:
    total = w * 1.0
    for x in data:
        total = total * tf.sin(x * w) + x * total
    return total


def _with_a_break(data: Any, w: Any) -> Any:
    total = w * 1.0
    for x in data:
        if total > 2.0:
            break
        total = total * (x + w)
    return total


def _with_rows(data: Any, w: Any) -> Any:
    total, rows = w * 1.0, []
    for i, x in data.batch(3).enumerate():
        rows.append(tf.reduce_sum(tf.sin(x * w)) * tf.cast(i + 1, w.dtype))
        total = total * tf.reduce_prod(x + w)
    return total + tf.reduce_sum(tf.stack(rows))


def _of_pairs(data: Any, w: Any) -> Any:
    pairs = tf.data.Dataset.zip((data, data.map(lambda x: x * x)))
    total = w * 1.0
    for x, y in pairs.take(3):
        if y > 3.0:
            continue
        total = total + tf.exp(-x * w) * y * total
    return total


def _by_hand(data: Any, w: Any) -> Any:
    iterator = iter(data)
    total = w * next(iterator)
    for x in iterator:
        total = total * tf.cos(x * w)
    return total


LOOPS = [_plain, _with_a_break, _with_rows, _of_pairs, _by_hand]


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_a_loop_over_a_data_set(f: Any) -> None:
    w = tf.Variable(0.7, dtype=tf.float64)
    data = tf.data.Dataset.from_tensor_slices(DATA)

    def derivatives(call: Any) -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = call(data, w)
            slope = tape.gradient(y, w)
        return y, slope, outer.gradient(slope, w)

    eager = derivatives(f)
    for found in (
        derivatives(tf.function(f)),  # a tape around it
        tf.function(lambda: derivatives(f))(),
    ):
        np.testing.assert_allclose(found, eager, 1e-10)
    ends = [f(data, tf.constant(0.7 + step, tf.float64)) for step in (1e-6, -1e-6)]
    np.testing.assert_allclose(eager[1], (ends[0] - ends[1]) / 2e-6, 1e-6)


def test_a_step_for_each_element() -> None:
    def train(data: Any, w: Any) -> Any:
        for x in data:
            with tf.GradientTape() as tape:
                loss = (w * x - 1.0) ** 2
            w.assign_sub(0.01 * tape.gradient(loss, w))
        return w.read_value()

    data = tf.data.Dataset.from_tensor_slices(DATA).repeat(3)
    eager = train(data, tf.Variable(0.7, dtype=tf.float64))
    w = tf.Variable(0.7, dtype=tf.float64)
    np.testing.assert_allclose(tf.function(train)(data, w), eager, 1e-12)
