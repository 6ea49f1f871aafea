"""Long functions: their loops become functions of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines.native import outlined


def network(x: Any, w: Any) -> Any:
    """Products, loops, checks, early ends, and numbers that loops carry."""
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME")
        y = tf.nn.relu(y) * tf.reduce_mean(y)
        total = tf.reduce_sum(y)
    steps = 0
    while total > 1.0:
        total = total / 2.0 + tf.reduce_max(y) * 0.0
        steps += 1
    assert steps < 50, "too many steps"
    order = tf.argsort(tf.reshape(y, [-1]))
    return tape.gradient(total, w), steps, order, tf.cumsum(y, 1)


def inputs() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    x, w = random.normal(size=(2, 6, 5, 9)), random.normal(size=(3, 3, 9, 1))
    return tf.constant(x.astype("f")), tf.constant(w.astype("f"))


@pytest.mark.parametrize("is_open", [False, True])
def test_parts_of_a_long_function_do_the_same(
    monkeypatch: pytest.MonkeyPatch, is_open: bool
) -> None:
    x, w = inputs()
    shape = [None, *x.shape[1:]] if is_open else x.shape
    signature = [tf.TensorSpec(shape), tf.TensorSpec(w.shape)]

    def made() -> Any:
        return tf.function(network, input_signature=signature, executor="native")

    expected = made()(x, w)
    monkeypatch.setattr(outlined, "LONG", 1)
    concrete = made().get_concrete_function()

    assert concrete.executor == "native"
    text = concrete.llvm_ir(optimized=False)
    assert "noinline" in text
    for found, one in zip(concrete(x, w), expected):
        np.testing.assert_array_equal(found, one)


def test_a_check_in_a_part_ends_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlined, "LONG", 1)

    @tf.function(executor="native")
    def picked(x: Any, places: Any) -> Any:
        return tf.gather(x, places) * 2.0

    x = tf.range(9.0)
    np.testing.assert_array_equal(picked(x, [1, 8]), [2.0, 16.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        picked(x, [1, 9])


def test_short_functions_stay_whole() -> None:
    x, w = inputs()
    text = tf.function(network, executor="native").get_concrete_function(x, w).llvm_ir()
    assert "noinline" not in text
