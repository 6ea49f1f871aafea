"""Lengths that no array can have, and shapes that are not what is said of them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import runtime as tf
from tests.runtime.engines.native import hostile


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of memory there")
def test_lengths_that_no_array_can_have_end_no_process() -> None:
    child = subprocess.run(
        [sys.executable, "-m", "tests.runtime.engines.native.hostile"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    *_, last = ["nothing", *child.stdout.splitlines()]
    assert last == "all were run", f"{last} ended the process: {child.stderr[-2000:]}"
    assert child.returncode == 0, child.stdout


@pytest.mark.parametrize("executor", ["numpy", "native"])
@pytest.mark.parametrize("said", hostile.SAID)
def test_set_shape_is_checked_when_the_program_runs(executor: str, said: int) -> None:
    @tf.function(executor=executor, input_signature=[tf.TensorSpec([None])])
    def positive(x: tf.Tensor) -> tf.Tensor:
        y = tf.boolean_mask(x, x > 0.0)
        y.set_shape([said])
        return y

    message = rf"has the shape \(3,\), and set_shape was told \({said},\)"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        positive(tf.constant([1.0, -1.0, 2.0, 3.0]))


def test_a_right_set_shape_is_known_and_changes_nothing() -> None:
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None])])
    def positive(x: tf.Tensor) -> tf.Tensor:
        y = tf.boolean_mask(x, x > 0.0)
        y.set_shape([3])
        return y * 2.0

    concrete = positive.get_concrete_function()
    assert (concrete.executor, concrete.outputs[0].shape) == ("native", [3])
    found = positive(tf.constant([1.0, -1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [2.0, 4.0, 6.0])


def test_a_call_that_needs_too_much_memory_leaves_later_calls_native() -> None:
    @tf.function(executor="native", input_signature=[tf.TensorSpec([], tf.int64)])
    def zeros(n: tf.Tensor) -> tf.Tensor:
        return tf.sort(tf.zeros([n]))

    with pytest.raises(tf.errors.ResourceExhaustedError, match="Unable to allocate"):
        zeros(tf.constant(2**50, tf.int64))
    program = zeros.get_concrete_function().executable._program
    assert program._work._stack < 1 << 20
    assert program.call([np.int64(3)])[0].shape == (3,)


@pytest.mark.parametrize("executor", ["numpy", "native"])
def test_negative_lengths_of_values_are_no_lengths(executor: str) -> None:
    @tf.function(executor=executor)
    def reshaped(x: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        return tf.reshape(x, [n, 2])

    with pytest.raises(tf.errors.InvalidArgumentError, match="negative lengths"):
        reshaped(tf.zeros([4]), tf.constant(-2))


@pytest.mark.parametrize("executor", ["numpy", "native"])
def test_a_range_of_2_to_the_63_numbers_is_not_empty(executor: str) -> None:
    numbers = tf.function(lambda n: tf.range(n), executor=executor)
    with pytest.raises(tf.errors.InvalidArgumentError, match="numbers is too long"):
        numbers(tf.constant(2**63 - 1, tf.int64))
