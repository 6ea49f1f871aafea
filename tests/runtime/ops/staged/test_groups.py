"""`tf.group`, `tf.tuple`, `tf.no_op`, `tf.bfloat16`, `tf.autograph.trace`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core import errors


def test_effects_in_a_group_happen_in_order() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        train = tf.group(v.assign_add(x), [v.assign(v * 2.0), tf.print("", end="")])
        with tf.control_dependencies([train, tf.no_op()]):
            return v + 0.0, train

    result, train = step(tf.constant(2.0))
    assert (float(result), train) == (6.0, None)
    assert tf.group(v.assign(0.0)) is None


def test_a_tuple_keeps_the_tensors() -> None:
    @tf.function
    def both(x: Any) -> Any:
        return tf.tuple((x, None, 2.0), control_inputs=[x])

    first, nothing, last = both(tf.constant(1.0))
    assert (float(first), nothing, float(last)) == (1.0, None, 2.0)
    assert [int(x) for x in tf.tuple([tf.Variable(3)])] == [3]


def test_what_is_no_tensor_is_refused() -> None:
    with pytest.raises(TypeError, match="not 'loss'"):
        tf.group(tf.constant(1), ["loss"])
    with pytest.raises(ValueError, match="at least one tensor"):
        tf.tuple([None])


@pytest.mark.parametrize("name", [tf.bfloat16, "bfloat16"])
def test_bfloat16_says_what_to_use(name: Any) -> None:
    for use in (tf.zeros, tf.TensorSpec):
        with pytest.raises(errors.UnimplementedError, match=r"tf\.float32, which has"):
            use([2], name)
    x = tf.constant(1.0)
    with pytest.raises(errors.UnimplementedError, match="NumPy has no such numbers"):
        tf.cast(x, name)
    assert x.dtype != name
    assert np.float32 != tf.bfloat16


def test_trace_prints_while_tracing(capsys: Any) -> None:
    @tf.function
    def double(x: Any) -> Any:
        tf.autograph.trace("x is", x)
        return x * 2

    tf.autograph.set_verbosity(3, alsologtostdout=True)
    assert int(double(tf.constant(2))) == int(double(tf.constant(2))) == 4
    assert capsys.readouterr().out == 'x is Tensor("x:0", shape=(), dtype=int32)\n'
