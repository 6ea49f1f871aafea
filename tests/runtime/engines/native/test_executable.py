"""Functions as native code."""

import numpy as np

import runtime as tf


def test_a_loop_of_numbers_is_native():
    @tf.function(executor="native")
    def collatz(n):
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    assert collatz(tf.constant(27, tf.int64)).numpy() == 111
    concrete = collatz.get_concrete_function(tf.TensorSpec([], tf.int64))
    assert concrete.executor == "native"


def test_a_chain_of_arrays_is_one_nest():
    @tf.function(executor="native")
    def chain(x):
        return 0.5 * x * (1.0 + x * (0.25 + x))

    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    expected = np.float32(0.5) * x * (1 + x * (np.float32(0.25) + x))
    np.testing.assert_array_equal(chain(tf.constant(x)).numpy(), expected)
