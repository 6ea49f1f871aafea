"""Averages that follow variables, compared with what TensorFlow 2.21 gave."""

from __future__ import annotations

from typing import Any

import pytest

import runtime as tf


@pytest.mark.parametrize(
    ("decay", "count", "dtype", "expected"),
    [
        (0.9, None, tf.float32, 1.1),
        # 1 - decay is computed in float32.
        (0.9, None, tf.float64, 1.100000023841858),
        (0.9, 3, tf.float64, 1.692307710647583),
        (0.9, 5, tf.float64, 1.600000023841858),
        (0.9, None, tf.float16, 1.1),
    ],
)
def test_an_average(decay: float, count: Any, dtype: Any, expected: float) -> None:
    x = tf.Variable(1.0, dtype=dtype)
    averages = tf.train.ExponentialMovingAverage(decay, count)

    averages.apply([x])
    x.assign(2.0)
    averages.apply([x])

    found = averages.average(x)
    assert found.numpy() == expected or dtype != tf.float64
    assert float(found) == pytest.approx(expected, rel=1e-3)
    assert averages.variables == [found]
    assert not found.trainable


def test_averages_in_a_function() -> None:
    x, steps = tf.Variable(1.0), tf.Variable(0)
    plain = tf.train.ExponentialMovingAverage(0.5)
    counted = tf.train.ExponentialMovingAverage(0.9, steps)

    @tf.function
    def step(change: Any) -> Any:
        steps.assign_add(1)
        x.assign_add(change)
        plain.apply([x])
        counted.apply([x])
        return plain.average(x), counted.average(x)

    found = [[float(value) for value in step(tf.constant(1.0))] for _ in range(3)]

    # An average begins with what the variable was before the function ran.
    assert [first for first, _ in found] == [1.5, 2.25, 3.125]
    assert [second for _, second in found] == pytest.approx(
        [1.8181817531585693, 2.704545497894287, 3.6013987064361572], rel=1e-6
    )


def test_names() -> None:
    x = tf.Variable(1.0, name="w")
    averages = tf.train.ExponentialMovingAverage(0.5)

    assert averages.average(x) is None
    assert averages.average_name(x) == "w/ExponentialMovingAverage"
    averages.apply([x])
    assert averages.average(x).name == "w/ExponentialMovingAverage:0"


@pytest.mark.parametrize("value", [tf.constant(1.0), tf.Variable(1), "x"])
def test_averages_are_of_variables_of_floats(value: Any) -> None:
    with pytest.raises(TypeError, match="of variables of floats, not"):
        tf.train.ExponentialMovingAverage(0.5).apply([value])
